/* backends/cpu/fuse.c - which steps make a group.
 *
 * Groups grow from their root against the order of steps, so that all users of a step are known when
 * it comes up.  It joins when nobody outside wants it; broadcasts and the like of what does not join
 * are only ways to read, and may be gone through by any number of groups.
 */
#include <config.h>

#include "backends/cpu/fuse.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/copy.h"
#include "backends/cpu/memory.h"

/* An operand that has been met and not looked at. */
struct use {
  int step;
  signed char map[GS_MAX_RANK];
  int user, operand;                   /* value and its operand */
  bool leaf;                           /* can only be read */
};

struct grower {
  const struct gs_program *program;
  const int *uses;                     /* by step: operands it is, and outputs */
  int *inside, *counted_for;           /* by step: those in the group with this root */
  int root;
  int first;                           /* step of the segment */
  struct gs_group *group;
  struct use pending[3 * GS_FUSE_VALUES];
  int npending;
};

gs_vector_apply *gs_fuse_function(enum gs_op op, enum gs_dtype dtype)
{
  enum gs_lane lane = gs_lane_of(dtype);
  if (lane == GS_LANE_COUNT)
    return NULL;
  gs_vector_apply *best = gs_vector_best()->apply[op][lane];
  return best != NULL ? best : gs_vector_any.apply[op][lane];
}

gs_vector_reduce *gs_fuse_reduction(enum gs_op op, enum gs_dtype dtype, bool each)
{
  enum gs_lane lane = gs_lane_of(dtype);
  if (lane == GS_LANE_COUNT)
    return NULL;
  const struct gs_vector_set *sets[] = { gs_vector_best(), &gs_vector_any };
  for (int i = 0; i < 2; i++) {
    gs_vector_reduce *found = each ? sets[i]->accumulate[op][lane] : sets[i]->reduce[op][lane];
    if (found != NULL)
      return found;
  }
  return NULL;
}

static const struct gs_step *operand(const struct gs_program *program, int step, int arg)
{
  return &program->steps[program->steps[step].args[arg]];
}

static bool is_reduction(enum gs_op op)
{
  return gs_op_info(op)->group == GS_GROUP_REDUCTION;
}

/* Whether a group can compute the step. */
static bool is_computable(const struct gs_program *program, int index)
{
  const struct gs_step *step = &program->steps[index];
  if (gs_op_info(step->op)->group != GS_GROUP_ELEMENTWISE && !is_reduction(step->op))
    return false;
  if (gs_type_elements(&step->type) == 0 || gs_lane_of(step->type.dtype) == GS_LANE_COUNT)
    return false;
  for (int a = 0; a < step->nargs; a++)
    if (gs_type_elements(&operand(program, index, a)->type) == 0)
      return false;
  enum gs_dtype dtype = operand(program, index, step->nargs - 1)->type.dtype;
  if (step->op == GS_OP_CONVERT)
    return gs_lane_of(dtype) != GS_LANE_COUNT;
  if (is_reduction(step->op))
    return gs_fuse_reduction(step->op, dtype, true) != NULL;
  return gs_fuse_function(step->op, dtype) != NULL;
}

/* ---- The domain ---- */

static bool is_reduced(const struct gs_step *step, int dim)
{
  return step->attrs->reduce.dims >> dim & 1;
}

/* Whether the last dim that counts is one that STEP reduces, or none that it reduces counts. */
static bool reduces_last(const struct gs_step *step, const struct gs_type *in)
{
  bool kept = false;
  for (int i = in->rank - 1; i >= 0; i--) {
    if (in->dims[i] != 1 && is_reduced(step, i))
      return !kept;
    kept = kept || in->dims[i] != 1;
  }
  return true;
}

static int add_dim(struct gs_domain *d, int64_t size)
{
  if (size == 1)
    return -1;
  d->size[d->ndims] = size;
  return d->ndims++;
}

/* The dims of reduction STEP's operand, mapped: kept ones like those of the result. */
static void map_kept(const struct gs_step *step, const struct gs_type *in, const signed char *result,
                     signed char *map)
{
  int at = 0;
  for (int i = 0; i < in->rank; i++) {
    map[i] = -1;
    if (!is_reduced(step, i))
      map[i] = result[at++];
    else
      at += step->attrs->reduce.keep;
  }
}

/* Map reduced dims to the domain's from FIRST on, which are as many and as large.  False: they are
 * not. */
static bool map_reduced(const struct gs_step *step, const struct gs_type *in, const struct gs_domain *d,
                        int first, signed char *map)
{
  int at = first;
  for (int i = 0; i < in->rank; i++) {
    if (!is_reduced(step, i) || in->dims[i] == 1)
      continue;
    if (at == d->ndims || d->size[at] != in->dims[i])
      return false;
    map[i] = (signed char)at++;
  }
  return at == d->ndims;
}

static void append_reduced(const struct gs_step *step, const struct gs_type *in, struct gs_domain *d,
                           signed char *map)
{
  for (int i = 0; i < in->rank; i++)
    if (is_reduced(step, i))
      map[i] = (signed char)add_dim(d, in->dims[i]);
}

/* The domain of a root that sums over dims before its last one: outer, reduced, inner. */
static void reduce_rows_domain(const struct gs_step *step, const struct gs_type *in, struct gs_domain *d,
                               signed char *map)
{
  int first = 0;
  while (!is_reduced(step, first) || in->dims[first] == 1)
    first++;
  for (int i = 0; i < first; i++)
    map[i] = (signed char)add_dim(d, in->dims[i]);
  d->middle = d->ndims;
  append_reduced(step, in, d, map);
  d->split = d->ndims;
  for (int i = first; i < in->rank; i++)
    if (!is_reduced(step, i))
      map[i] = (signed char)add_dim(d, in->dims[i]);
}

static uint32_t mask_of(const struct gs_type *type, const signed char *map)
{
  uint32_t mask = 0;
  for (int i = 0; i < type->rank; i++)
    if (map[i] >= 0)
      mask |= 1u << map[i];
  return mask;
}

/* Whether a value that varies along the dims of MASK can be computed: it is full, or per row.  The
 * first value per row decides what rows are. */
static bool has_level(const struct gs_domain *d, uint32_t mask, int *split)
{
  *split = d->split;
  if (mask == (1u << d->ndims) - 1)
    return true;
  if (d->middle >= 0 || (mask & (mask + 1)) != 0)
    return false;
  int dims = 0;
  for (; mask >> dims & 1; dims++)
    continue;
  *split = dims;
  return d->split < 0 || d->split == dims;
}

/* ---- Growing ---- */

static void count_inside(struct grower *g, int step)
{
  if (g->counted_for[step] != g->root)
    g->inside[step] = 0;
  g->counted_for[step] = g->root;
  g->inside[step]++;
}

/* Whether no use of the step is outside the group. */
static bool is_closed(const struct grower *g, int step)
{
  return g->counted_for[step] == g->root && g->inside[step] == g->uses[step];
}

static int new_value(struct grower *g, const struct use *use, bool leaf)
{
  const struct gs_step *step = &g->program->steps[use->step];
  struct gs_fused_value *v = &g->group->values[g->group->nvalues];
  *v = (struct gs_fused_value){ .step = use->step, .is_leaf = leaf, .op = step->op };
  memcpy(v->map, use->map, sizeof v->map);
  g->group->nleaves += leaf;
  return g->group->nvalues++;
}

static void push(struct grower *g, int step, const signed char *map, int user, int arg, bool leaf)
{
  struct use *use = &g->pending[g->npending++];
  *use = (struct use){ .step = step, .user = user, .operand = arg, .leaf = leaf };
  memcpy(use->map, map, sizeof use->map);
}

/* Operands of the value that has just joined. */
static void push_operands(struct grower *g, int value, const signed char *map)
{
  struct gs_fused_value *v = &g->group->values[value];
  const struct gs_step *step = &g->program->steps[v->step];
  v->nargs = step->nargs;
  for (int a = 0; a < step->nargs; a++) {
    static const signed char none[GS_MAX_RANK] = { 0 };
    bool scalar = operand(g->program, v->step, a)->type.rank == 0 && step->type.rank > 0;
    count_inside(g, step->args[a]);
    push(g, step->args[a], scalar ? none : map, value, a, scalar && !is_reduction(step->op));
  }
}

/* A reshape that only adds or drops dims of size 1. */
static bool maps_reshape(const struct gs_type *from, const struct gs_type *to, const signed char *map,
                         signed char *result)
{
  int j = 0;
  for (int i = 0; i < from->rank; i++) {
    result[i] = -1;
    if (from->dims[i] == 1)
      continue;
    while (j < to->rank && to->dims[j] == 1)
      j++;
    if (j == to->rank || to->dims[j] != from->dims[i])
      return false;
    result[i] = map[j++];
  }
  return true;
}

/* Whether the step is only a way to read its operand; how the operand is mapped then. */
static bool sees_through(const struct gs_program *program, int index, const signed char *map,
                         signed char *result)
{
  const struct gs_step *step = &program->steps[index];
  const struct gs_type *in = step->nargs > 0 ? &operand(program, index, 0)->type : NULL;
  memset(result, 0, GS_MAX_RANK);
  switch (step->op) {
  case GS_OP_SHARD:
    memcpy(result, map, GS_MAX_RANK);
    return true;
  case GS_OP_RESHAPE:
    return maps_reshape(in, &step->type, map, result);
  case GS_OP_BROADCAST:
    for (int i = 0; i < in->rank; i++)
      result[i] = in->dims[i] == 1 ? -1 : map[step->attrs->broadcast.dims[i]];
    return true;
  case GS_OP_TRANSPOSE:                /* unless every element would be read from another place */
    if (step->attrs->transpose.dims[in->rank - 1] != in->rank - 1)
      return false;
    for (int i = 0; i < in->rank; i++)
      result[step->attrs->transpose.dims[i]] = map[i];
    return true;
  default:
    return false;
  }
}

/* The map of the operand of USE's step, which computes; false when it cannot join. */
static bool join_domain(struct grower *g, const struct use *use, signed char *map)
{
  const struct gs_step *step = &g->program->steps[use->step];
  struct gs_domain *d = &g->group->domain;
  uint32_t mask = mask_of(&step->type, use->map);
  int split;
  if (!has_level(d, mask, &split))
    return false;
  memcpy(map, use->map, GS_MAX_RANK);
  if (!is_reduction(step->op)) {
    d->split = split;
    return true;
  }
  const struct gs_type *in = &operand(g->program, use->step, 0)->type;
  memset(map, 0, GS_MAX_RANK);
  map_kept(step, in, use->map, map);
  if (mask != (1u << d->ndims) - 1) {
    if (!map_reduced(step, in, d, split, map))
      return false;
    d->split = split;
    return true;
  }
  if (d->split >= 0 || !reduces_last(step, in))
    return false;
  d->split = d->ndims;
  append_reduced(step, in, d, map);
  return true;
}

/* Take the pending uses of the latest step; their number.  They are moved to the end. */
static int take_latest(struct grower *g)
{
  int latest = -1, count = 0;
  for (int i = 0; i < g->npending; i++)
    latest = g->pending[i].step > latest ? g->pending[i].step : latest;
  for (int i = g->npending - 1; i >= 0; i--) {
    if (g->pending[i].step != latest)
      continue;
    struct use use = g->pending[i];
    int to = g->npending - 1 - count++;
    g->pending[i] = g->pending[to];
    g->pending[to] = use;
  }
  g->npending -= count;
  return count;
}

static bool same_map(const struct gs_type *type, const struct use *a, const struct use *b)
{
  return memcmp(a->map, b->map, (size_t)type->rank) == 0;
}

static void read_as_leaves(struct grower *g, const struct use *uses, int count)
{
  const struct gs_type *type = &g->program->steps[uses[0].step].type;
  for (int i = 0; i < count; i++) {
    int value = -1;
    for (int j = 0; j < i && value < 0; j++)
      if (same_map(type, &uses[i], &uses[j]))
        value = g->group->values[uses[j].user].args[uses[j].operand];
    if (value < 0)
      value = new_value(g, &uses[i], true);
    g->group->values[uses[i].user].args[uses[i].operand] = value;
  }
}

/* Whether all uses are one and the same, and none outside. */
static bool may_join(const struct grower *g, const struct use *uses, int count)
{
  int step = uses[0].step;
  bool room = g->group->nvalues + g->npending + count + 3 < GS_FUSE_LEAVES;
  if (!room || step < g->first || !is_closed(g, step))
    return false;
  for (int i = 0; i < count; i++)
    if (uses[i].leaf || !same_map(&g->program->steps[step].type, &uses[i], &uses[0]))
      return false;
  return is_computable(g->program, step);
}

static void look_at(struct grower *g, const struct use *uses, int count)
{
  int step = uses[0].step;
  const struct gs_step *s = &g->program->steps[step];
  signed char map[GS_MAX_RANK];
  if (may_join(g, uses, count) && join_domain(g, &uses[0], map)) {
    int value = new_value(g, &uses[0], false);
    for (int i = 0; i < count; i++)
      g->group->values[uses[i].user].args[uses[i].operand] = value;
    push_operands(g, value, map);
    return;
  }
  if (!sees_through(g->program, step, uses[0].map, map)) {
    read_as_leaves(g, uses, count);
    return;
  }
  bool leaf = s->op == GS_OP_TRANSPOSE || !is_closed(g, step) || step < g->first;
  if (!leaf)
    count_inside(g, s->args[0]);
  for (int i = 0; i < count; i++) {
    sees_through(g->program, step, uses[i].map, map);
    push(g, s->args[0], map, uses[i].user, uses[i].operand, leaf || uses[i].leaf);
  }
}

static void start_group(struct grower *g, int root)
{
  const struct gs_step *step = &g->program->steps[root];
  struct gs_domain *d = &g->group->domain;
  struct use use = { .step = root };
  signed char map[GS_MAX_RANK] = { 0 };
  g->group->nvalues = g->group->nleaves = g->npending = 0;
  *d = (struct gs_domain){ .split = -1, .middle = -1 };
  const struct gs_type *in = &operand(g->program, root, 0)->type;
  if (is_reduction(step->op) && !reduces_last(step, in)) {
    reduce_rows_domain(step, in, d, map);
    new_value(g, &use, false);
  } else {
    for (int i = 0; i < step->type.rank; i++)
      use.map[i] = (signed char)add_dim(d, step->type.dims[i]);
    new_value(g, &use, false);
    memcpy(map, use.map, sizeof map);
    if (is_reduction(step->op)) {
      map_kept(step, in, use.map, map);
      d->split = d->ndims;
      append_reduced(step, in, d, map);
    }
  }
  push_operands(g, 0, map);
}

static void grow(struct grower *g, int root)
{
  start_group(g, root);
  while (g->npending > 0) {
    struct use uses[3 * GS_FUSE_VALUES];
    int count = take_latest(g);
    memcpy(uses, g->pending + g->npending, (size_t)count * sizeof *uses);
    look_at(g, uses, count);
  }
}

static void count_uses(const struct gs_program *program, int *uses)
{
  for (int i = 0; i < program->nsteps; i++)
    for (int a = 0; a < program->steps[i].nargs; a++)
      uses[program->steps[i].args[a]]++;
  for (int i = 0; i < program->noutputs; i++)
    uses[program->outputs[i].step]++;
}

static void find_segments(const struct gs_program *program, int *first)
{
  bool collective = false;
  for (int i = 0; i < program->nsteps; i++) {
    bool now = gs_buffers_stands_alone(&program->steps[i]);
    first[i] = now || collective || i == 0 ? i : first[i - 1];
    collective = now;
  }
}

/* The steps that KERNEL, or without one the step itself, reads. */
static void need_operands(const struct gs_program *program, int step, const struct gs_cpu_kernel *kernel,
                          bool *needed)
{
  int count = kernel != NULL ? kernel->nargs : program->steps[step].nargs;
  const int *args = kernel != NULL ? kernel->args : program->steps[step].args;
  for (int a = 0; a < count; a++)
    needed[args[a]] = true;
}

bool gs_cpu_fuse(const struct gs_program *program, struct gs_scratch *scratch,
                 struct gs_cpu_kernel **kernels, bool *needed)
{
  size_t n = (size_t)program->nsteps + 1;
  struct gs_group *group = calloc(1, sizeof *group);
  int *uses = calloc(4 * n, sizeof *uses);
  bool ok = group != NULL && uses != NULL;
  int *first = ok ? uses + n : NULL;   /* by step: where its segment begins */
  struct grower g = { .program = program, .uses = uses, .group = group };
  if (ok) {
    g.inside = uses + 2 * n;
    g.counted_for = uses + 3 * n;
    count_uses(program, uses);
    find_segments(program, first);
  }
  memset(needed, 0, n * sizeof *needed);
  for (int i = 0; i < program->noutputs; i++)
    needed[program->outputs[i].step] = true;
  for (int i = program->nsteps - 1; i >= 0 && ok; i--) {
    bool control = gs_op_info(program->steps[i].op)->group == GS_GROUP_CONTROL;
    needed[i] = needed[i] || control;
    if (!needed[i])
      continue;
    if (control) {
      need_operands(program, i, NULL, needed);
      continue;
    }
    if (kernels[i] == NULL && is_computable(program, i)) {
      g.first = first[i];
      g.root = i;
      grow(&g, i);
      kernels[i] = gs_fused_kernel_new(program, group, scratch);
      ok = kernels[i] != NULL;
    } else if (kernels[i] == NULL) {
      kernels[i] = gs_cpu_copy_new(program, i);
    }
    need_operands(program, i, kernels[i], needed);
  }
  free(group);
  free(uses);
  if (ok && scratch->size > 0) {
    scratch->memory = aligned_alloc(64, (size_t)(scratch->size * scratch->nthreads));
    ok = scratch->memory != NULL;
  }
  return ok;
}
