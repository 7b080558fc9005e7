/* partition/builder.c - growing a program, sharing equal steps, dropping unused ones. */
#include <config.h>

#include "partition/builder.h"

#include <string.h>

bool gs_builder_init(struct gs_builder *b, struct gs_arena *arena, const struct gs_graph *graph)
{
  *b = (struct gs_builder){ .arena = arena, .regions = graph->regions, .nregions = graph->nregions,
                            .capacity = 64, .table_size = 256 };
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
  for (uint32_t at = hash_step(step) & mask; b->table[at] >= 0; at = (at + 1) & mask) {
    const struct gs_step *known = &b->steps[b->table[at]];
    if (same_step(known, step) && gs_region_is_inside(b->regions, b->region, known->scope))
      return b->table[at];
  }
  if (b->nsteps == b->capacity && !grow(b)) {
    b->failed = true;
    return 0;
  }
  struct gs_step *made = &b->steps[b->nsteps];
  *made = *step;
  made->scope = b->region;
  made->args = gs_arena_copy(b->arena, step->args, (size_t)step->nargs * sizeof *step->args);
  if (made->args == NULL && step->nargs > 0)
    b->failed = true;
  table_put(b, b->nsteps);
  return b->nsteps++;
}

/* Putting the steps in order. */
struct layout {
  const struct gs_builder *b;
  int *place;                          /* by step made: 1 if needed, then where it stands */
  int *first, *next;                   /* needed steps by region, linked in the order they were made */
  struct gs_step *steps;
  int nsteps;
};

/* What closes a body is needed when what opens it is, and so is what the body carries. */
static void mark_bodies(const struct gs_builder *b, const int *closing, int *place, int opening)
{
  const struct gs_step *s = &b->steps[opening];
  if (s->op != GS_OP_LOOP && s->op != GS_OP_COND)
    return;
  for (int k = 0; k < 2; k++)
    for (int i = closing[s->attrs->control.regions[k]]; i >= 0 && s->attrs->control.regions[k] > 0;
         i = b->steps[i].end)
      place[i] = 1;
}

/* Mark the needed steps.  Steps that open or close bodies of a region are chained by `end`. */
static bool mark_needed(struct gs_builder *b, const struct gs_program_output *out, int noutputs, int *place)
{
  int *closing = GS_NEW_ARRAY(b->arena, int, b->nregions + 1);
  if (closing == NULL)
    return false;
  for (int r = 0; r <= b->nregions; r++)
    closing[r] = -1;
  for (int i = 0; i < b->nsteps; i++) {
    struct gs_step *s = &b->steps[i];
    s->end = -1;
    if (s->op != GS_OP_LOOP_VALUE && s->op != GS_OP_LOOP_TEST && s->op != GS_OP_LOOP_END
        && s->op != GS_OP_BRANCH_END)
      continue;
    s->end = closing[s->scope];
    closing[s->scope] = i;
  }
  for (int i = 0; i < noutputs; i++)
    place[out[i].step] = 1;
  for (int i = b->nsteps - 1; i >= 0; i--) {
    if (place[i] == 0)
      continue;
    mark_bodies(b, closing, place, i);
    for (int a = 0; a < b->steps[i].nargs; a++)
      place[b->steps[i].args[a]] = 1;
  }
  return true;
}

static void link_regions(struct layout *l)
{
  for (int r = 0; r <= l->b->nregions; r++)
    l->first[r] = -1;
  for (int i = l->b->nsteps - 1; i >= 0; i--)
    if (l->place[i] != 0) {
      int region = l->b->steps[i].scope;
      l->next[i] = l->first[region];
      l->first[region] = i;
    }
}

/* The steps of REGION; SCOPE is the step that opened it, COUNT how often it runs. */
static void lay_out(struct layout *l, int region, int scope, int depth, double count)
{
  for (int i = l->first[region]; i >= 0; i = l->next[i]) {
    int at = l->nsteps++;
    struct gs_step *s = &l->steps[at];
    *s = l->b->steps[i];
    s->scope = scope;
    s->depth = depth;
    s->count = count;
    s->end = -1;
    l->place[i] = at;
    if (s->op == GS_OP_LOOP || s->op == GS_OP_COND) {
      int64_t trips = s->op == GS_OP_LOOP ? s->attrs->control.trips : 1;
      for (int k = 0; k < 2 && s->attrs->control.regions[k] > 0; k++)
        lay_out(l, s->attrs->control.regions[k], at, depth + 1, count * (trips < 0 ? 1 : (double)trips));
      s->end = l->nsteps - 1;
      l->steps[s->end].depth = depth;
    }
  }
}

static bool renumber_operands(struct layout *l)
{
  for (int i = 0; i < l->nsteps; i++) {
    struct gs_step *s = &l->steps[i];
    int *args = gs_arena_copy(l->b->arena, s->args, (size_t)s->nargs * sizeof *args);
    if (args == NULL && s->nargs > 0)
      return false;
    for (int a = 0; a < s->nargs; a++)
      args[a] = l->place[args[a]];
    s->args = args;
  }
  return true;
}

struct gs_program *gs_builder_finish(struct gs_builder *b, const struct gs_mesh *mesh,
                                     const struct gs_program_output *outputs, int noutputs)
{
  struct gs_program *p = GS_NEW(b->arena, struct gs_program);
  struct layout l = { .b = b };
  struct gs_program_output *out = gs_arena_copy(b->arena, outputs, (size_t)noutputs * sizeof *out);
  l.place = GS_NEW_ARRAY(b->arena, int, b->nsteps + 1);
  l.next = GS_NEW_ARRAY(b->arena, int, b->nsteps + 1);
  l.first = GS_NEW_ARRAY(b->arena, int, b->nregions + 1);
  l.steps = GS_NEW_ARRAY(b->arena, struct gs_step, b->nsteps + 1);
  if (b->failed || p == NULL || out == NULL || l.place == NULL || l.next == NULL || l.first == NULL
      || l.steps == NULL || !mark_needed(b, out, noutputs, l.place)
      || !gs_builder_simplify(b, out, noutputs, l.place))
    return NULL;
  link_regions(&l);
  lay_out(&l, 0, -1, 0, 1);
  if (!renumber_operands(&l))
    return NULL;
  for (int i = 0; i < noutputs; i++)
    out[i].step = l.place[out[i].step];
  *p = (struct gs_program){ mesh, l.nsteps, l.steps, noutputs, out };
  return p;
}
