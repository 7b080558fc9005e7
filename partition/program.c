/* partition/program.c - what an SPMD program costs one device: bytes sent, FLOPs, memory, time.
 *
 * Bytes are those of a ring [LANGUAGE.md, "bytes"]; local parts count with their padding, since
 * that is what is sent.
 */
#include <config.h>

#include "partition/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/axes.h"
#include "partition/profile.h"

int64_t gs_permute_source(const struct gs_step *step, const struct gs_mesh *mesh, int64_t position)
{
  const struct gs_sharding *from = step->attrs->device.from, *to = step->attrs->device.to;
  int64_t source = position;
  for (int i = 0; i < to->rank; i++) {
    int64_t part = gs_mesh_part(mesh, to->dims[i].axes, to->dims[i].naxes, position);
    source = gs_mesh_with_part(mesh, from->dims[i].axes, from->dims[i].naxes, source, part);
  }
  return source;
}

int gs_step_axes(const struct gs_step *step, struct gs_axis axes[GS_STEP_AXES])
{
  int naxes = 0;
  if (step->op != GS_OP_PERMUTE) {
    naxes = step->attrs->device.naxes < GS_STEP_AXES ? step->attrs->device.naxes : GS_STEP_AXES;
    if (naxes > 0)
      memcpy(axes, step->attrs->device.axes, (size_t)naxes * sizeof *axes);
    return naxes;
  }
  const struct gs_sharding *from = step->attrs->device.from, *to = step->attrs->device.to;
  struct gs_atoms atoms = { 0 };
  for (int i = 0; i < to->rank; i++) {
    const struct gs_dim_sharding *a = &from->dims[i], *b = &to->dims[i];
    bool same = a->naxes == b->naxes;
    for (int j = 0; same && j < a->naxes; j++)
      same = gs_axis_equal(a->axes[j], b->axes[j]);
    if (!same && (!gs_atoms_add(&atoms, a->axes, a->naxes)
                  || !gs_atoms_add(&atoms, b->axes, b->naxes)))
      return 0;
  }
  for (; naxes < atoms.count && naxes < GS_STEP_AXES; naxes++)
    axes[naxes] = atoms.items[naxes];
  return naxes;
}

int64_t gs_step_group_size(const struct gs_step *step)
{
  struct gs_axis axes[GS_STEP_AXES];
  if (!gs_op_is_collective(step->op))
    return 1;
  return gs_axes_size(axes, gs_step_axes(step, axes));
}

/* Bytes of TYPE with dim DIM of another size. */
static double bytes_with_dim(const struct gs_type *type, int dim, double size)
{
  double bytes = (double)gs_dtype_size(type->dtype) * size;
  for (int i = 0; i < type->rank; i++)
    if (i != dim)
      bytes *= (double)type->dims[i];
  return bytes;
}

/* What part PART sends, or the most that any does: -1. */
static double exchange_bytes(const struct gs_program *program, const struct gs_step *step, int64_t part)
{
  enum { FEW = 16 };
  int64_t few[FEW], *blocks = few;
  int dim = step->attrs->device.dim;
  struct gs_arena *scratch = NULL;
  if (step->nargs > FEW) {
    scratch = gs_arena_new(NULL);
    blocks = scratch == NULL ? NULL : GS_NEW_ARRAY(scratch, int64_t, step->nargs);
  }
  double elements = 0;
  for (int i = 0; blocks != NULL && i < step->nargs; i++)
    blocks[i] = program->steps[step->args[i]].type.dims[dim];
  int64_t parts = gs_step_group_size(step), scale = step->attrs->device.scale,
          offset = step->attrs->device.offset, length = step->type.dims[dim];
  int npieces = step->attrs->device.npieces;
  const struct gs_exchange_piece *pieces = step->attrs->device.pieces;
  if (blocks != NULL)
    elements = part < 0 ? gs_exchange_elements(parts, scale, offset, length, npieces, pieces, blocks)
                        : gs_exchange_part_elements(parts, scale, offset, length, npieces, pieces, blocks, part);
  gs_arena_free(scratch);
  return bytes_with_dim(&step->type, dim, elements);
}

double gs_step_bytes(const struct gs_program *program, const struct gs_step *step)
{
  if (!gs_op_is_collective(step->op))
    return 0;
  double n = (double)gs_step_group_size(step);
  if (n <= 1)
    return 0;
  const struct gs_type *operand = &program->steps[step->args[0]].type;
  int split = step->attrs->device.split_dim;
  switch ((int)step->op) {
  case GS_OP_ALL_GATHER:
    return (n - 1) * (double)gs_type_bytes(operand);
  case GS_OP_ALL_REDUCE:
    return 2 * (n - 1) / n * (double)gs_type_bytes(operand);
  case GS_OP_REDUCE_SCATTER:           /* the operand as it is sent: n results long */
    return (n - 1) * (double)gs_type_bytes(&step->type);
  case GS_OP_ALL_TO_ALL:               /* likewise padded along the dim that is split */
    return (n - 1) * bytes_with_dim(operand, split, (double)step->type.dims[split]);
  case GS_OP_PERMUTE:
    return (double)gs_type_bytes(operand);
  case GS_OP_EXCHANGE:
    return exchange_bytes(program, step, -1);
  default:
    return 0;
  }
}

double gs_step_device_bytes(const struct gs_program *program, const struct gs_step *step, int64_t position)
{
  if (step->op == GS_OP_EXCHANGE && gs_step_group_size(step) > 1)
    return exchange_bytes(program, step,
                          gs_mesh_part(program->mesh, step->attrs->device.axes, step->attrs->device.naxes, position));
  if (step->op == GS_OP_PERMUTE && gs_permute_source(step, program->mesh, position) == position)
    return 0;
  return gs_step_bytes(program, step);
}

enum gs_op gs_step_kind(const struct gs_program *program, const struct gs_step *step)
{
  const union gs_attrs *a = step->attrs;
  if (step->op != GS_OP_EXCHANGE || a->device.offset != 0 || step->type.dims[a->device.dim] != a->device.scale
      || a->device.scale == 0)
    return step->op;
  for (int k = 0; k < step->nargs; k++)
    if (program->steps[step->args[k]].type.dims[a->device.dim] != a->device.scale)
      return step->op;
  for (int k = 0; k < a->device.npieces; k++) {
    const struct gs_exchange_piece *p = &a->device.pieces[k];
    if (p->step != 1 || p->divide != 1 || p->first % a->device.scale != 0 || p->source % a->device.scale != 0
        || p->count % a->device.scale != 0)
      return step->op;
  }
  return GS_OP_PERMUTE;
}

bool gs_step_shift(const struct gs_program *program, const struct gs_step *step, int64_t *shift, bool *wraps)
{
  const union gs_attrs *a = step->attrs;
  int64_t n = gs_step_group_size(step), covered = 0;
  if (step->op != GS_OP_EXCHANGE || gs_step_kind(program, step) != GS_OP_PERMUTE || a->device.npieces == 0)
    return false;
  for (int k = 0; k < a->device.npieces; k++) {
    const struct gs_exchange_piece *p = &a->device.pieces[k];
    int64_t by = (p->first - p->source) / a->device.scale;
    if (k > 0 && (by - *shift) % n != 0)
      return false;
    if (k == 0 || llabs(by) < llabs(*shift))
      *shift = by;
    covered += p->count;
  }
  *wraps = covered == n * a->device.scale;
  return *wraps || a->device.npieces == 1;
}

/* The size of einsum label LABEL in operands of types A and B. */
static double label_size(const union gs_attrs *attrs, int label, const struct gs_type *a,
                         const struct gs_type *b)
{
  const struct gs_type *types[2] = { a, b };
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < types[k]->rank; i++)
      if (attrs->einsum.label[k][i] == label)
        return (double)types[k]->dims[i];
  return 1;
}

/* Operations of OP on operands of types A and B (where it has them): weight times the points of its
 * factor space. */
static double flops_of(enum gs_op op, const union gs_attrs *attrs, const struct gs_type *a,
                       const struct gs_type *b, const struct gs_type *result)
{
  const struct gs_op_info *info = gs_op_info(op);
  double points = 1;
  if (info->flops == 0)
    return 0;
  if (op == GS_OP_FFT)
    points = (double)gs_type_elements(a) * log2(2 + (double)a->dims[attrs->fft.dim]);
  else if (op == GS_OP_CHOLESKY)
    points = (double)gs_type_elements(a) * (double)a->dims[a->rank - 1] / 3;
  else if (op == GS_OP_TRIANGULAR_SOLVE)
    points = (double)gs_type_elements(result) * (double)a->dims[a->rank - 1] / 2;
  else if (op == GS_OP_CONV)
    points = (double)gs_type_elements(result)
             * ((double)gs_type_elements(b) / fmax(1, (double)b->dims[attrs->conv.conv->kernel_out]));
  else if (op == GS_OP_REDUCE_WINDOW || op == GS_OP_SELECT_AND_SCATTER) {
    points = (double)gs_type_elements(op == GS_OP_REDUCE_WINDOW ? result : b);
    for (int i = 0; i < result->rank; i++)
      points *= (double)attrs->window.dims[i].size;
  } else if (info->group == GS_GROUP_CONTRACTION)
    for (int label = 0; label < attrs->einsum.nlabels; label++)
      points *= label_size(attrs, label, a, b);
  else
    points = (double)gs_type_elements(info->group == GS_GROUP_REDUCTION || info->group == GS_GROUP_ORDER ? a : result);
  return info->flops * points;
}

double gs_step_flops(const struct gs_program *program, const struct gs_step *step)
{
  const struct gs_type *a = step->nargs > 0 ? &program->steps[step->args[0]].type : NULL;
  const struct gs_type *b = step->nargs > 1 ? &program->steps[step->args[1]].type : NULL;
  return flops_of(step->op, step->attrs, a, b, &step->type);
}

/* Every node that the outputs need, once, or as often as the loops around it turn; arguments have
 * smaller ids, bodies smaller ids than the loops. */
static double whole_flops(struct gs_arena *scratch, const struct gs_program *program)
{
  int top = -1, regions = 0;
  for (int i = 0; i < program->noutputs; i++)
    if (program->outputs[i].node->id > top)
      top = program->outputs[i].node->id;
  const struct gs_node **needed = GS_NEW_ARRAY(scratch, const struct gs_node *, top + 1);
  if (needed == NULL)
    return 0;
  for (int i = 0; i < program->noutputs; i++)
    needed[program->outputs[i].node->id] = program->outputs[i].node;
  for (int id = top; id >= 0; id--)
    for (int i = 0; needed[id] != NULL && i < needed[id]->nargs; i++)
      needed[needed[id]->args[i]->id] = needed[id]->args[i];
  for (int id = 0; id <= top; id++)
    if (needed[id] != NULL && needed[id]->region > regions)
      regions = needed[id]->region;
  double *turns = GS_NEW_ARRAY(scratch, double, regions + 1), sum = 0;
  for (int r = 0; turns != NULL && r <= regions; r++)
    turns[r] = 1;
  for (int id = top; id >= 0 && turns != NULL; id--) {
    const struct gs_node *n = needed[id];
    if (n == NULL)
      continue;
    bool counted = n->op == GS_OP_LOOP && n->attrs->control.trips >= 0;
    for (int k = 0; k < 2 && (n->op == GS_OP_LOOP || n->op == GS_OP_COND); k++)
      if (n->attrs->control.regions[k] <= regions && n->attrs->control.regions[k] > 0)
        turns[n->attrs->control.regions[k]] =
            turns[n->region] * (counted ? (double)n->attrs->control.trips : 1);
    sum += turns[n->region]
           * flops_of(n->op, n->attrs, n->nargs > 0 ? &n->args[0]->type : NULL,
                      n->nargs > 1 ? &n->args[1]->type : NULL, &n->type);
  }
  return sum;
}

int gs_step_alias(const struct gs_program *program, int index)
{
  const struct gs_step *step = &program->steps[index];
  if (step->op == GS_OP_LOOP_RESULT)
    return step->args[0] + 1 + step->attrs->carried.index;
  return step->op == GS_OP_SHARD || step->op == GS_OP_RESHAPE ? step->args[0] : index;
}

int gs_step_begin(const struct gs_program *program, int index)
{
  const struct gs_step *step = &program->steps[index];
  return step->op == GS_OP_LOOP_VALUE ? step->scope : step->op == GS_OP_COND_RESULT ? step->args[0] : index;
}

int gs_step_last_use(const struct gs_program *program, int owner, int user)
{
  const struct gs_step *steps = program->steps;
  int home = steps[owner].scope, last = user;
  if (steps[owner].op == GS_OP_LOOP_VALUE)     /* written again at the end of each turn */
    home = steps[home].scope;
  for (int s = steps[user].scope; s >= 0 && s != home; s = steps[s].scope)
    if (steps[s].op == GS_OP_LOOP)
      last = steps[s].end;
  return last;
}

static bool is_given(const struct gs_step *step)
{
  return step->op == GS_OP_INPUT || step->op == GS_OP_PARAM || step->op == GS_OP_CONSTANT;
}

/* Given tensors stay all the time; another value lives from its step to the last that reads it,
 * an output to the end. */
static int64_t peak_memory(struct gs_arena *scratch, const struct gs_program *program)
{
  int n = program->nsteps;
  int *owner = GS_NEW_ARRAY(scratch, int, n + 1), *last = GS_NEW_ARRAY(scratch, int, n + 1);
  int64_t *change = GS_NEW_ARRAY(scratch, int64_t, n + 2);     /* of live bytes before each step */
  if (owner == NULL || last == NULL || change == NULL)
    return 0;
  for (int i = 0; i < n; i++) {
    const struct gs_step *step = &program->steps[i];
    int alias = gs_step_alias(program, i);
    owner[i] = alias == i ? i : owner[alias];
    int own = gs_step_last_use(program, i, i);
    last[i] = is_given(step) ? n : own;
    for (int k = 0; k < step->nargs; k++) {
      int from = owner[step->args[k]], use = gs_step_last_use(program, from, i);
      last[from] = use > last[from] ? use : last[from];
    }
    if (alias != i && own > last[owner[i]])
      last[owner[i]] = own;
  }
  for (int i = 0; i < program->noutputs; i++)
    last[owner[program->outputs[i].step]] = n;
  for (int i = 0; i < n; i++) {
    if (owner[i] != i)
      continue;
    int64_t bytes = gs_type_bytes(&program->steps[i].type);
    change[is_given(&program->steps[i]) ? 0 : gs_step_begin(program, i)] += bytes;
    change[last[i] < n ? last[i] + 1 : n] -= bytes;
  }
  int64_t live = 0, peak = 0;
  for (int i = 0; i < n; i++) {
    live += change[i];
    peak = live > peak ? live : peak;
  }
  return peak;
}

static void add_step(const struct gs_program *program, const struct gs_step *step,
                     const struct gs_profile *profile, struct gs_program_totals *totals)
{
  double bytes = gs_step_bytes(program, step), flops = gs_step_flops(program, step);
  totals->time += step->count * gs_profile_step_time(profile, program, step, bytes, flops);
  bytes *= step->count;
  totals->flops += step->count * flops;
  if (gs_step_group_size(step) > 1) {
    /* An exchange in which every device has what it needs is none. */
    totals->collectives += step->op != GS_OP_EXCHANGE || bytes > 0;
    totals->bytes += bytes;
    totals->bytes_by_op[gs_step_kind(program, step)] += bytes;
  }
}

void gs_program_total(struct gs_arena *arena, const struct gs_program *program,
                      struct gs_program_totals *totals)
{
  struct gs_arena_mark mark = gs_arena_mark(arena);
  const struct gs_profile *profile = gs_profile_of_mesh(program->mesh);
  double held = 0, padding = 0;
  memset(totals, 0, sizeof *totals);
  for (int i = 0; i < program->nsteps; i++) {
    const struct gs_step *step = &program->steps[i];
    add_step(program, step, profile, totals);
    if (gs_step_alias(program, i) != i)
      continue;
    double bytes = (double)gs_type_bytes(&step->type);
    held += bytes;
    padding += bytes * gs_sharding_padding(step->sharding, &step->global);
  }
  totals->padding = held > 0 ? padding / held : 0;
  totals->whole_flops = whole_flops(arena, program);
  totals->peak_memory = peak_memory(arena, program);
  gs_arena_rewind(arena, mark);
}
