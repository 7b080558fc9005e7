/* interp/builtin.c - finding functions by name, reading their parameter texts, names that are
 * nearly right. */
#include <config.h>

#include "interp/builtin.h"

#include <stdlib.h>
#include <string.h>

#include "interp/scope.h"

/* Where rows say the same name the earlier table wins. */
static const struct gs_builtin *const tables[] = {
  gs_builtins_source, gs_builtins_sharding, gs_builtins_shape, gs_builtins_math,
  gs_builtins_ask, gs_builtins_list, gs_builtins_text, gs_builtins_window, gs_builtins_index, gs_builtins_order, gs_builtins_transform, gs_builtins_control, gs_builtins_manual, gs_builtins_operator,
};
enum { TABLES = sizeof tables / sizeof tables[0], MAX_NAME = 64 };

static const char *const topic_names[GS_TOPIC_COUNT] = {
  [GS_TOPIC_SOURCES] = "where tensors come from",
  [GS_TOPIC_SHARDING] = "meshes and shardings",
  [GS_TOPIC_ELEMENTWISE] = "elementwise",
  [GS_TOPIC_SHAPE] = "shape",
  [GS_TOPIC_REDUCTIONS] = "reductions",
  [GS_TOPIC_CONTRACTION] = "contraction",
  [GS_TOPIC_WINDOWS] = "windows",
  [GS_TOPIC_INDEXING] = "indexing",
  [GS_TOPIC_ORDER] = "order",
  [GS_TOPIC_TRANSFORMS] = "transforms",
  [GS_TOPIC_CONTROL] = "control",
  [GS_TOPIC_MANUAL] = "manual regions",
  [GS_TOPIC_LIBRARY] = "library",
  [GS_TOPIC_ASKING] = "asking",
  [GS_TOPIC_VALUES] = "values and lists",
  [GS_TOPIC_TEXT] = "text",
};

const char *gs_topic_name(enum gs_topic topic)
{
  return topic_names[topic];
}

const struct gs_builtin *gs_builtin_find(const char *name)
{
  for (int t = 0; t < TABLES; t++)
    for (const struct gs_builtin *row = tables[t]; row->name != NULL; row++)
      if (row->name[0] == name[0] && strcmp(row->name, name) == 0)
        return row;
  return NULL;
}

const struct gs_builtin *gs_builtin_at(int index)
{
  for (int t = 0; t < TABLES; t++)
    for (const struct gs_builtin *row = tables[t]; row->name != NULL; row++)
      if (gs_builtin_find(row->name) == row && index-- == 0)
        return row;
  return NULL;
}

int gs_builtin_parameters(const char *text, struct gs_parameter parameters[GS_MAX_PARAMETERS])
{
  int count = 0;
  bool after_rest = false;
  while (*text != '\0' && count < GS_MAX_PARAMETERS) {
    struct gs_parameter *parameter = &parameters[count++];
    *parameter = (struct gs_parameter){ .quoted = *text == '\'', .named_only = after_rest };
    if (*text == '\'')
      text++;
    size_t length = strcspn(text, " ?*");
    parameter->name = text;
    parameter->length = (int)length;
    text += length;
    parameter->extra = strncmp(text, "**", 2) == 0;
    parameter->rest = *text == '*' && !parameter->extra;
    parameter->optional = *text == '?';
    after_rest = after_rest || parameter->rest;
    text += strspn(text, "?*");
    text += strspn(text, " ");
  }
  return count;
}

/* Insertions, deletions, replacements and swaps of neighbours that make B of A; at most LIMIT + 1
 * matters. */
static size_t edit_distance(const char *a, const char *b, size_t limit)
{
  size_t rows[3][MAX_NAME + 1];
  size_t la = strlen(a), lb = strlen(b);
  if (la > MAX_NAME || lb > MAX_NAME || la > lb + limit || lb > la + limit)
    return limit + 1;
  for (size_t j = 0; j <= lb; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= la; i++) {
    size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= lb; j++) {
      size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
      if (before[j] + 1 < best)
        best = before[j] + 1;
      if (now[j - 1] + 1 < best)
        best = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          earlier[j - 2] + 1 < best)
        best = earlier[j - 2] + 1;
      now[j] = best;
    }
  }
  return rows[la % 3][lb];
}

/* The nearest so far. */
struct nearest {
  const char *wanted, *name;
  size_t distance;
};

static struct nearest nearest_start(const char *wanted)
{
  size_t length = strlen(wanted);
  return (struct nearest){ .wanted = wanted, .distance = length <= 4 ? 2 : length <= 7 ? 3 : 4 };
}

static void nearest_offer(struct nearest *nearest, const char *name)
{
  size_t distance = edit_distance(nearest->wanted, name, nearest->distance);
  /* A name of which nothing would be left is not near. */
  if (distance < nearest->distance && distance < strlen(nearest->wanted)) {
    nearest->distance = distance;
    nearest->name = name;
  }
}

const char *gs_nearest(const char *name, const char *const *names, size_t count)
{
  struct nearest nearest = nearest_start(name);
  for (size_t i = 0; i < count; i++)
    nearest_offer(&nearest, names[i]);
  return nearest.name;
}

static void offer_scope(struct gs_session *s, struct nearest *nearest, const struct gs_scope *scope)
{
  size_t count;
  const char **names = gs_scope_names(s->values, scope, &count);
  for (size_t i = 0; names != NULL && i < count; i++)
    nearest_offer(nearest, names[i]);
}

const char *gs_nearest_name(struct gs_session *s, struct gs_scope *scope, const char *name)
{
  struct nearest nearest = nearest_start(name);
  for (; scope != NULL; scope = scope->parent)
    offer_scope(s, &nearest, scope);
  for (int i = 0; s->mesh != NULL && i < s->mesh->naxes; i++)
    nearest_offer(&nearest, s->mesh->axes[i].name);
  for (int t = 0; t < TABLES; t++)
    for (const struct gs_builtin *row = tables[t]; row->name != NULL; row++)
      nearest_offer(&nearest, row->name);
  for (int dtype = 0; dtype < GS_DTYPE_COUNT; dtype++)
    nearest_offer(&nearest, gs_dtype_name((enum gs_dtype)dtype));
  gs_session_load_library(s);
  offer_scope(s, &nearest, s->library);
  return nearest.name;
}
