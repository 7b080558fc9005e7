/* tests/differential/shrink.c - making a failing recipe small.
 *
 * Edits are tried one after the other; one that leaves a valid recipe failing in the same way is
 * kept.  Each kind of edit is a function that makes its STEP-th edit.
 */
#include <config.h>

#include "tests/differential/check.h"

#include <string.h>
#include <time.h>

#include "tests/differential/bounds.h"

enum { PATIENCE = 60 };                /* seconds; programs that hang take long to shrink */

enum edited { EDITED, NOT_HERE, NO_MORE };

static enum edited drop_output(struct recipe *r, int step)
{
  if (step >= r->noutputs)
    return NO_MORE;
  if (r->noutputs == 1)
    return NOT_HERE;
  r->noutputs--;
  memmove(r->outputs + step, r->outputs + step + 1,
          (size_t)(r->noutputs - step) * sizeof r->outputs[0]);
  return EDITED;
}

/* A later node instead of the outputs there are: its operands. */
static enum edited move_output(struct recipe *r, int step)
{
  if (step >= r->noutputs * RECIPE_ARGS)
    return NO_MORE;
  int output = step / RECIPE_ARGS, arg = step % RECIPE_ARGS;
  const struct recipe_node *n = &r->nodes[r->outputs[output]];
  if (arg >= n->nargs)
    return NOT_HERE;
  r->outputs[output] = n->args[arg];
  return EDITED;
}

static enum edited make_input(struct recipe *r, int step)
{
  if (step >= r->nnodes)
    return NO_MORE;
  struct recipe_node *n = &r->nodes[r->nnodes - 1 - step];
  if (n->op == GS_OP_INPUT && n->attrs.input.fill.kind == GS_FILL_PATTERN)
    return NOT_HERE;
  struct gs_type type = n->type;
  memset(n, 0, sizeof *n);
  n->op = GS_OP_INPUT;
  n->type = type;
  return EDITED;
}

static enum edited bypass(struct recipe *r, int step)
{
  if (step >= r->nnodes * RECIPE_ARGS)
    return NO_MORE;
  int index = r->nnodes - 1 - step / RECIPE_ARGS, arg = step % RECIPE_ARGS;
  const struct recipe_node *n = &r->nodes[index];
  if (arg >= n->nargs || !gs_type_equal(&n->type, &r->nodes[n->args[arg]].type))
    return NOT_HERE;
  int instead = n->args[arg];
  for (int i = 0; i < r->nnodes; i++)
    for (int j = 0; j < r->nodes[i].nargs; j++)
      if (r->nodes[i].args[j] == index)
        r->nodes[i].args[j] = instead;
  for (int i = 0; i < r->noutputs; i++)
    if (r->outputs[i] == index)
      r->outputs[i] = instead;
  return EDITED;
}

static enum edited clear_axis(struct recipe *r, int step)
{
  int node = step / (GS_MAX_RANK * RECIPE_AXES), dim = step / RECIPE_AXES % GS_MAX_RANK;
  int at = step % RECIPE_AXES;
  if (node >= r->nnodes)
    return NO_MORE;
  struct recipe_dim *d = &r->nodes[node].dims[dim];
  if (r->nodes[node].op != GS_OP_SHARD || at >= d->naxes)
    return NOT_HERE;
  d->naxes--;
  memmove(d->axes + at, d->axes + at + 1, (size_t)(d->naxes - at) * sizeof d->axes[0]);
  return EDITED;
}

static enum edited clear_open(struct recipe *r, int step)
{
  int node = step / GS_MAX_RANK, dim = step % GS_MAX_RANK;
  if (node >= r->nnodes)
    return NO_MORE;
  if (!r->nodes[node].dims[dim].open)
    return NOT_HERE;
  r->nodes[node].dims[dim].open = false;
  return EDITED;
}

static bool mesh_used(const struct recipe *r, int mesh)
{
  for (int i = 0; i < r->nnodes; i++)
    if (r->nodes[i].op == GS_OP_SHARD && r->nodes[i].mesh == mesh)
      return true;
  return false;
}

/* Remove one of the further meshes, or number the devices of all in order. */
static enum edited simplify_meshes(struct recipe *r, int step)
{
  if (step > r->nmeshes)
    return NO_MORE;
  if (step == 0) {
    if (!r->meshes[0].ordered)
      return NOT_HERE;
    for (int i = 0; i < r->nmeshes; i++)
      r->meshes[i].ordered = r->meshes[i].anonymous = false;
    return EDITED;
  }
  if (step == r->nmeshes || mesh_used(r, step))
    return NOT_HERE;
  r->nmeshes--;
  memmove(r->meshes + step, r->meshes + step + 1,
          (size_t)(r->nmeshes - step) * sizeof r->meshes[0]);
  for (int i = 0; i < r->nnodes; i++)
    r->nodes[i].mesh -= r->nodes[i].mesh > step ? 1 : 0;
  return EDITED;
}

static bool remove_axis(struct recipe *r, int axis)
{
  struct recipe_mesh *m = &r->meshes[0];
  for (int i = 0; i < r->nnodes; i++) {
    for (int j = 0; j < GS_MAX_RANK; j++) {
      struct recipe_dim *d = &r->nodes[i].dims[j];
      for (int k = 0; k < d->naxes; k++) {
        if (d->axes[k] == axis)
          return false;
        d->axes[k] -= d->axes[k] > axis ? 1 : 0;
      }
    }
  }
  m->naxes--;
  memmove(m->sizes + axis, m->sizes + axis + 1, (size_t)(m->naxes - axis) * sizeof m->sizes[0]);
  return true;
}

static enum edited shrink_axis(struct recipe *r, int step)
{
  struct recipe_mesh *m = &r->meshes[0];
  int axis = step / 3, how = step % 3;
  if (axis >= m->naxes)
    return NO_MORE;
  if (r->nmeshes > 1 || m->ordered || m->naxes == 1 + (how == 0 ? 0 : -1))
    return NOT_HERE;
  if (how == 0)
    return remove_axis(r, axis) ? EDITED : NOT_HERE;
  int64_t size = how == 1 ? 2 : m->sizes[axis] - 1;
  if (size < 1 || size >= m->sizes[axis])
    return NOT_HERE;
  m->sizes[axis] = size;
  return EDITED;
}

/* Every dim of one size takes another. */
static enum edited shrink_size(struct recipe *r, int step)
{
  static const int smaller[] = { 1, 2, 3, 4 };
  int64_t old = step / 5 + 2, size = step % 5 < 4 ? smaller[step % 5] : old - 1;
  if (old > 64)
    return NO_MORE;
  if (size >= old)
    return NOT_HERE;
  bool found = false;
  for (int i = 0; i < r->nnodes; i++) {
    struct recipe_node *n = &r->nodes[i];
    for (int j = 0; j < n->type.rank; j++) {
      if (n->type.dims[j] != old)
        continue;
      n->type.dims[j] = size;
      found = true;
    }
  }
  return found ? EDITED : NOT_HERE;
}

static enum edited simplify_attributes(struct recipe *r, int step)
{
  int node = step / (GS_MAX_RANK * 3), dim = step / 3 % GS_MAX_RANK, how = step % 3;
  if (node >= r->nnodes)
    return NO_MORE;
  struct recipe_node *n = &r->nodes[node];
  union gs_attrs before = n->attrs, *a = &n->attrs;
  if (n->op == GS_OP_PAD)
    *(how == 0 ? &a->pad.low[dim] : how == 1 ? &a->pad.high[dim] : &a->pad.interior[dim]) = 0;
  else if (n->op == GS_OP_SLICE && how == 0)
    a->slice.start[dim] = 0;
  else if (n->op == GS_OP_SLICE && how == 1)
    a->slice.stride[dim] = 1;
  else if (n->op == GS_OP_SLICE && dim < n->type.rank && n->type.dims[dim] > 1)
    n->type.dims[dim]--;
  else if (n->op == GS_OP_ROLL && dim == 0)
    a->roll.shift = how == 0 ? 1 : a->roll.shift / 2;
  else if (n->op == GS_OP_REVERSE && how == 0)
    a->reverse.dims &= ~(UINT32_C(1) << dim);
  else if (gs_op_info(n->op)->group == GS_GROUP_REDUCTION && dim == 0 && how == 0)
    a->reduce.keep = false;
  else
    return NOT_HERE;
  bool changed = memcmp(&before, a, sizeof before) != 0 || n->op == GS_OP_SLICE;
  return changed ? EDITED : NOT_HERE;
}

static enum edited plain_types(struct recipe *r, int step)
{
  if (step > 0)
    return NO_MORE;
  bool changed = false;
  for (int i = 0; i < r->nnodes; i++) {
    enum gs_dtype *dtype = &r->nodes[i].type.dtype;
    if (gs_dtype_kind(*dtype) == GS_KIND_PRED || *dtype == GS_DTYPE_F32)
      continue;
    *dtype = GS_DTYPE_F32;
    changed = true;
  }
  return changed ? EDITED : NOT_HERE;
}

static enum edited (*const edits[])(struct recipe *, int) = {
  drop_output, make_input, move_output, bypass, clear_axis, simplify_meshes, shrink_axis,
  clear_open, plain_types, simplify_attributes, shrink_size
};

static bool still_fails(const struct recipe *r, enum outcome outcome,
                        const struct check_options *options)
{
  struct bounds bounds[RECIPE_NODES];
  struct result result;
  if (!bounds_compute(r, bounds))
    return false;
  (options->isolated ? check_isolated : check_recipe)(r, options, &result);
  return result.outcome == outcome;
}

void shrink_recipe(struct recipe *r, enum outcome outcome, const struct check_options *options,
                   int tries)
{
  struct check_options quiet = *options;
  quiet.trace = NULL;
  quiet.silent = true;
  time_t begun = time(NULL);
  bool smaller = true;
  while (smaller && tries > 0) {
    smaller = false;
    for (size_t kind = 0; kind < sizeof edits / sizeof edits[0]; kind++) {
      for (int step = 0; tries > 0;) {
        struct recipe candidate = *r;
        enum edited edited = edits[kind](&candidate, step);
        if (edited == NO_MORE || time(NULL) - begun > PATIENCE)
          break;
        step++;
        if (edited == NOT_HERE)
          continue;
        recipe_collect(&candidate);
        if (!recipe_retype(&candidate))
          continue;
        tries--;
        if (!still_fails(&candidate, outcome, &quiet))
          continue;
        *r = candidate;
        smaller = true;
        step--;
      }
    }
  }
}
