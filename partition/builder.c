/* partition/builder.c - growing a program, sharing equal steps, dropping unused ones. */
#include <config.h>

#include "partition/builder.h"

#include <string.h>

bool gs_builder_init(struct gs_builder *b, struct gs_arena *arena)
{
  *b = (struct gs_builder){ .arena = arena, .capacity = 64, .table_size = 256 };
  b->steps = GS_NEW_ARRAY(arena, struct gs_step, b->capacity);
  b->table = GS_NEW_ARRAY(arena, int, b->table_size);
  if (b->steps == NULL || b->table == NULL)
    return false;
  memset(b->table, 0xff, (size_t)b->table_size * sizeof *b->table);
  return true;
}

static uint32_t hash_step(const struct gs_step *s)
{
  uint64_t hash = (uint64_t)s->op * 0x9e3779b97f4a7c15u ^ (uintptr_t)s->sharding;
  if (s->op == GS_OP_INPUT || s->op == GS_OP_PARAM)
    hash ^= (uint64_t)s->node->id << 20;
  for (int i = 0; i < s->nargs; i++)
    hash = (hash ^ (uint64_t)s->args[i]) * 0xff51afd7ed558ccdu;
  for (int i = 0; i < s->type.rank; i++)
    hash = (hash ^ (uint64_t)s->type.dims[i]) * 0xc4ceb9fe1a85ec53u;
  return (uint32_t)(hash ^ hash >> 31);
}

static bool same_constant(const struct gs_tensor *a, const struct gs_tensor *b)
{
  enum { SMALL = 64 };
  int64_t bytes = gs_type_bytes(&a->type);
  return a == b
         || (gs_type_equal(&a->type, &b->type) && bytes <= SMALL
             && memcmp(a->data, b->data, (size_t)bytes) == 0);
}

static bool same_attrs(const struct gs_step *a, const struct gs_step *b)
{
  if (a->attrs == b->attrs)
    return true;
  if (a->attrs == NULL || b->attrs == NULL)
    return false;
  if (a->op == GS_OP_CONSTANT)
    return same_constant(a->attrs->constant.tensor, b->attrs->constant.tensor);
  return memcmp(a->attrs, b->attrs, sizeof *a->attrs) == 0;
}

static bool same_step(const struct gs_step *a, const struct gs_step *b)
{
  if (a->op != b->op || a->nargs != b->nargs || a->sharding != b->sharding
      || !gs_type_equal(&a->type, &b->type) || !gs_type_equal(&a->global, &b->global))
    return false;
  if ((a->op == GS_OP_INPUT || a->op == GS_OP_PARAM) && a->node != b->node)
    return false;
  for (int i = 0; i < a->nargs; i++)
    if (a->args[i] != b->args[i])
      return false;
  return same_attrs(a, b);
}

static void table_put(struct gs_builder *b, int index)
{
  uint32_t mask = (uint32_t)b->table_size - 1, at = hash_step(&b->steps[index]) & mask;
  while (b->table[at] >= 0)
    at = (at + 1) & mask;
  b->table[at] = index;
}

static bool grow(struct gs_builder *b)
{
  struct gs_step *steps = GS_NEW_ARRAY(b->arena, struct gs_step, b->capacity * 2);
  int *table = GS_NEW_ARRAY(b->arena, int, b->table_size * 2);
  if (steps == NULL || table == NULL)
    return false;
  memcpy(steps, b->steps, (size_t)b->nsteps * sizeof *steps);
  memset(table, 0xff, (size_t)b->table_size * 2 * sizeof *table);
  b->steps = steps;
  b->table = table;
  b->capacity *= 2;
  b->table_size *= 2;
  for (int i = 0; i < b->nsteps; i++)
    table_put(b, i);
  return true;
}

int gs_builder_add(struct gs_builder *b, const struct gs_step *step)
{
  uint32_t mask = (uint32_t)b->table_size - 1;
  for (uint32_t at = hash_step(step) & mask; b->table[at] >= 0; at = (at + 1) & mask)
    if (same_step(&b->steps[b->table[at]], step))
      return b->table[at];
  if (b->nsteps == b->capacity && !grow(b)) {
    b->failed = true;
    return 0;
  }
  struct gs_step *made = &b->steps[b->nsteps];
  *made = *step;
  made->args = gs_arena_copy(b->arena, step->args, (size_t)step->nargs * sizeof *step->args);
  if (made->args == NULL && step->nargs > 0)
    b->failed = true;
  table_put(b, b->nsteps);
  return b->nsteps++;
}

struct gs_program *gs_builder_finish(struct gs_builder *b, const struct gs_mesh *mesh,
                                     const struct gs_program_output *outputs, int noutputs)
{
  struct gs_program *p = GS_NEW(b->arena, struct gs_program);
  int *place = GS_NEW_ARRAY(b->arena, int, b->nsteps + 1);
  struct gs_program_output *out = gs_arena_copy(b->arena, outputs, (size_t)noutputs * sizeof *out);
  if (b->failed || p == NULL || place == NULL || out == NULL)
    return NULL;
  for (int i = 0; i < noutputs; i++)
    place[out[i].step] = 1;
  for (int i = b->nsteps - 1; i >= 0; i--)
    for (int a = 0; place[i] && a < b->steps[i].nargs; a++)
      place[b->steps[i].args[a]] = 1;
  int n = 0;
  for (int i = 0; i < b->nsteps; i++) {
    if (!place[i])
      continue;
    struct gs_step *s = &b->steps[n];
    *s = b->steps[i];
    place[i] = n++;
    int *args = gs_arena_copy(b->arena, s->args, (size_t)s->nargs * sizeof *args);
    for (int a = 0; a < s->nargs; a++)
      args[a] = place[args[a]];
    s->args = args;
  }
  for (int i = 0; i < noutputs; i++)
    out[i].step = place[out[i].step];
  *p = (struct gs_program){ mesh, n, b->steps, noutputs, out };
  return p;
}
