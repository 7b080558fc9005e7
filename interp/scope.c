/* interp/scope.c - hash tables of variables. */
#include <config.h>

#include "interp/scope.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

static uint32_t hash_of(const char *name)
{
  uint32_t hash = 2166136261u;
  for (const unsigned char *c = (const unsigned char *)name; *c != 0; c++)
    hash = (hash ^ *c) * 16777619u;
  return hash;
}

struct gs_scope *gs_scope_new(struct gs_arena *arena, struct gs_scope *parent)
{
  struct gs_scope *scope = GS_NEW(arena, struct gs_scope);
  if (scope != NULL)
    scope->parent = parent;
  return scope;
}

void gs_scope_reuse(struct gs_scope *scope, struct gs_scope *parent)
{
  scope->parent = parent;
  scope->captured = false;
  if (scope->count > 0)
    memset(scope->bindings, 0, scope->capacity * sizeof *scope->bindings);
  scope->count = 0;
}

/* The slot that holds NAME or the empty one where it would go. */
static struct gs_binding *slot_of(struct gs_scope *scope, const char *name, uint32_t hash)
{
  uint32_t mask = scope->capacity - 1;
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    struct gs_binding *slot = &scope->bindings[i];
    if (slot->name == NULL || (slot->hash == hash && strcmp(slot->name, name) == 0))
      return slot;
  }
}

static struct gs_binding *find_hashed(struct gs_scope *scope, const char *name, uint32_t hash)
{
  if (scope->count == 0)
    return NULL;
  struct gs_binding *slot = slot_of(scope, name, hash);
  return slot->name != NULL ? slot : NULL;
}

struct gs_binding *gs_scope_find_here(struct gs_scope *scope, const char *name)
{
  return find_hashed(scope, name, hash_of(name));
}

struct gs_binding *gs_scope_find(struct gs_scope *scope, const char *name)
{
  uint32_t hash = hash_of(name);
  for (; scope != NULL; scope = scope->parent) {
    struct gs_binding *binding = find_hashed(scope, name, hash);
    if (binding != NULL)
      return binding;
  }
  return NULL;
}

static bool grow(struct gs_arena *arena, struct gs_scope *scope)
{
  uint32_t old_capacity = scope->capacity;
  struct gs_binding *old = scope->bindings;
  uint32_t capacity = old_capacity == 0 ? FIRST_CAPACITY : old_capacity * 2;
  struct gs_binding *bindings = GS_NEW_ARRAY(arena, struct gs_binding, capacity);
  if (bindings == NULL)
    return false;
  scope->bindings = bindings;
  scope->capacity = capacity;
  for (uint32_t i = 0; i < old_capacity; i++)
    if (old[i].name != NULL)
      *slot_of(scope, old[i].name, old[i].hash) = old[i];
  return true;
}

bool gs_scope_set(struct gs_arena *arena, struct gs_scope *scope, const char *name,
                  struct gs_value value)
{
  if (scope->count + scope->count / 2 + 1 >= scope->capacity && !grow(arena, scope))
    return false;
  uint32_t hash = hash_of(name);
  struct gs_binding *slot = slot_of(scope, name, hash);
  if (slot->name == NULL) {
    slot->name = name;
    slot->hash = hash;
    scope->count++;
  }
  slot->value = value;
  return true;
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **gs_scope_names(struct gs_arena *arena, const struct gs_scope *scope, size_t *count)
{
  *count = 0;
  const char **names = GS_NEW_ARRAY(arena, const char *, scope->count + 1);
  if (names == NULL)
    return NULL;
  for (uint32_t i = 0; i < scope->capacity; i++)
    if (scope->bindings[i].name != NULL)
      names[(*count)++] = scope->bindings[i].name;
  qsort(names, *count, sizeof *names, compare_names);
  return names;
}
