/* partition/rewriter.c - a program made from another one, step after step. */
#include <config.h>

#include "partition/rewriter.h"

#include <string.h>

bool gs_rewriter_init(struct gs_rewriter *r, struct gs_arena *arena, struct gs_sharding_table *table,
                      const struct gs_program *from)
{
  *r = (struct gs_rewriter){ .arena = arena, .table = table, .from = from, .scope = -1, .count = 1 };
  r->map = GS_NEW_ARRAY(arena, int, from->nsteps + 1);
  r->failed = r->map == NULL;
  return !r->failed;
}

int gs_rewriter_add(struct gs_rewriter *r, const struct gs_step *step)
{
  if (r->nsteps == r->capacity) {
    int capacity = r->capacity * 2 + 64;
    struct gs_step *grown = GS_NEW_ARRAY(r->arena, struct gs_step, capacity);
    if (grown == NULL) {
      r->failed = true;
      return 0;
    }
    if (r->nsteps > 0)
      memcpy(grown, r->steps, (size_t)r->nsteps * sizeof *grown);
    r->steps = grown;
    r->capacity = capacity;
  }
  r->steps[r->nsteps] = *step;
  return r->nsteps++;
}

union gs_attrs *gs_rewriter_attrs(struct gs_rewriter *r)
{
  union gs_attrs *attrs = GS_NEW(r->arena, union gs_attrs);
  r->failed = r->failed || attrs == NULL;
  return attrs;
}

int gs_rewriter_make(struct gs_rewriter *r, enum gs_op op, const int *args, int nargs, const union gs_attrs *attrs,
                     const struct gs_type *type, const struct gs_node *node)
{
  struct gs_step step = { .op = op, .nargs = nargs, .attrs = attrs, .type = *type, .global = *type, .node = node,
                          .scope = r->scope, .end = -1, .depth = r->depth, .count = r->count };
  step.sharding = gs_sharding_replicated(r->table, r->from->mesh, type->rank);
  step.args = gs_arena_copy(r->arena, args, (size_t)nargs * sizeof *args);
  r->failed = r->failed || step.sharding == NULL || (step.args == NULL && nargs > 0);
  return gs_rewriter_add(r, &step);
}

void gs_rewriter_copy(struct gs_rewriter *r, int i)
{
  struct gs_step step = r->from->steps[i];
  int *args = gs_arena_copy(r->arena, step.args, (size_t)step.nargs * sizeof *args);
  for (int k = 0; k < step.nargs && args != NULL; k++)
    args[k] = r->map[args[k]];
  r->failed = r->failed || (args == NULL && step.nargs > 0);
  step.args = args;
  step.scope = step.scope < 0 ? -1 : r->map[step.scope];
  r->map[i] = gs_rewriter_add(r, &step);
}

void gs_rewriter_enter(struct gs_rewriter *r, int i)
{
  const struct gs_step *old = &r->from->steps[i];
  r->scope = old->scope < 0 ? -1 : r->map[old->scope];
  r->depth = old->depth;
  r->count = old->count;
}

void gs_rewriter_replace(struct gs_rewriter *r, int i, int result)
{
  const struct gs_step *old = &r->from->steps[i];
  struct gs_step *made = &r->steps[result];
  r->map[i] = result;
  made->global = old->global;
  made->sharding = old->sharding;
  made->is_value = old->is_value;
  made->node = old->node;
}

struct gs_program *gs_rewriter_finish(struct gs_rewriter *r)
{
  const struct gs_program *from = r->from;
  struct gs_program *made = gs_arena_copy(r->arena, from, sizeof *made);
  struct gs_program_output *outputs =
      gs_arena_copy(r->arena, from->outputs, (size_t)from->noutputs * sizeof *outputs);
  if (r->failed || made == NULL || (outputs == NULL && from->noutputs > 0))
    return NULL;
  for (int i = 0; i < from->nsteps; i++)
    if (from->steps[i].end >= 0)
      r->steps[r->map[i]].end = r->map[from->steps[i].end];
  for (int i = 0; i < from->noutputs; i++)
    outputs[i].step = r->map[from->outputs[i].step];
  made->steps = r->steps;
  made->nsteps = r->nsteps;
  made->outputs = outputs;
  return made;
}
