/* partition/program_verify.c - whether an SPMD program keeps the promises of program.h. */
#include <config.h>

#include "partition/program.h"

#include "partition/axes.h"

struct verifier {
  struct gs_arena *arena;
  const struct gs_program *program;
  const struct gs_step *step;
  int index;
  const char *wrong;                   /* the first thing found */
};

static bool fail(struct verifier *v, const char *what)
{
  if (v->wrong == NULL) {
    v->wrong = gs_arena_printf(v->arena, "step %d (%s): %s", v->index,
                               v->step == NULL ? "output" : gs_op_info(v->step->op)->name, what);
    if (v->wrong == NULL)
      v->wrong = what;
  }
  return false;
}

static const struct gs_type *operand(const struct verifier *v, int i)
{
  return &v->program->steps[v->step->args[i]].type;
}

static bool check_axes(struct verifier *v, const struct gs_axis *axes, int naxes)
{
  const struct gs_mesh *mesh = v->program->mesh;
  for (int i = 0; i < naxes; i++) {
    struct gs_axis a = axes[i];
    if (a.axis < 0 || a.axis >= mesh->naxes || a.pre < 1 || a.size < 1
        || mesh->axes[a.axis].size % (a.pre * a.size) != 0)
      return fail(v, "an axis that the mesh does not have");
    if (gs_axes_overlap(axes, i, axes + i, 1))
      return fail(v, "an axis twice");
  }
  return true;
}

static bool check_sharding(struct verifier *v)
{
  const struct gs_sharding *s = v->step->sharding;
  if (s == NULL || !gs_mesh_equal(s->mesh, v->program->mesh))
    return fail(v, "no sharding on the program's mesh");
  if (s->rank != v->step->type.rank || v->step->global.rank != s->rank)
    return fail(v, "ranks of type and sharding differ");
  if (v->step->global.dtype != v->step->type.dtype)
    return fail(v, "local and whole element types differ");
  struct gs_axis all[GS_STEP_AXES];
  int count = 0;
  for (int i = 0; i <= s->rank; i++) {
    int naxes = i < s->rank ? s->dims[i].naxes : s->npartial;
    const struct gs_axis *axes = i < s->rank ? s->dims[i].axes : s->partial;
    for (int k = 0; k < naxes && count < GS_STEP_AXES; k++)
      all[count++] = axes[k];
  }
  if (!check_axes(v, all, count))
    return false;
  struct gs_type local = gs_sharding_local(s, &v->step->global);
  return !v->step->is_value || gs_type_equal(&local, &v->step->type)
         || fail(v, "the local type does not follow from the sharding");
}

/* RESULT and operand I agree but for dims A and B (-1: none). */
static bool same_but(struct verifier *v, int i, int a, int b)
{
  const struct gs_type *t = operand(v, i), *r = &v->step->type;
  if (t->rank != r->rank)
    return fail(v, "operand and result have different ranks");
  for (int d = 0; d < r->rank; d++)
    if (d != a && d != b && t->dims[d] != r->dims[d])
      return fail(v, "operand and result differ in a dim that does not take part");
  return true;
}

/* SHORT parts, times N, hold LONG. */
static bool holds(struct verifier *v, int64_t part, int64_t n, int64_t whole)
{
  return whole <= part * n || fail(v, "the parts together do not hold the whole dim");
}

static bool check_exchange(struct verifier *v)
{
  const union gs_attrs *a = v->step->attrs;
  for (int i = 0; i < v->step->nargs; i++)
    if (!same_but(v, i, a->device.dim, -1))
      return false;
  for (int i = 0; i < a->device.npieces; i++) {
    const struct gs_exchange_piece *p = &a->device.pieces[i];
    if (p->operand < 0 || p->operand >= v->step->nargs || p->divide < 1)
      return fail(v, "an exchange piece names no operand");
    if (p->count <= 0)
      continue;
    int64_t last = p->source + (p->count - 1) / p->divide * p->step;
    int64_t held = operand(v, p->operand)->dims[a->device.dim]
                   * gs_axes_size(a->device.axes, a->device.naxes);
    if (p->source < 0 || last < 0 || p->source >= held || last >= held)
      return fail(v, "an exchange piece reads outside of its operand");
  }
  return true;
}

static bool check_permute(struct verifier *v)
{
  const struct gs_sharding *from = v->step->attrs->device.from, *to = v->step->attrs->device.to;
  if (!same_but(v, 0, -1, -1))
    return false;
  if (from == NULL || to == NULL || from->rank != v->step->type.rank || to->rank != from->rank)
    return fail(v, "a permute between shardings of other ranks");
  return true;
}

static bool check_device(struct verifier *v)
{
  const union gs_attrs *a = v->step->attrs;
  const struct gs_type *r = &v->step->type, *t = operand(v, 0);
  int dim = a->device.dim, split = a->device.split_dim;
  bool by_dim = v->step->op != GS_OP_ALL_REDUCE && v->step->op != GS_OP_ZERO_PARTIAL
                && v->step->op != GS_OP_PERMUTE;
  if (v->step->op == GS_OP_PERMUTE)
    return check_permute(v);
  if (!check_axes(v, a->device.axes, a->device.naxes))
    return false;
  if (by_dim && (dim < 0 || dim >= r->rank || r->rank != t->rank))
    return fail(v, "no such dim");
  int64_t n = gs_axes_size(a->device.axes, a->device.naxes);
  switch ((int)v->step->op) {
  case GS_OP_ALL_GATHER:
    return same_but(v, 0, dim, -1) && holds(v, t->dims[dim], n, r->dims[dim]);
  case GS_OP_REDUCE_SCATTER:
  case GS_OP_SHARD_SLICE:
    return same_but(v, 0, dim, -1) && holds(v, r->dims[dim], n, t->dims[dim]);
  case GS_OP_ALL_TO_ALL:
    if (split < 0 || split >= r->rank || split == dim)
      return fail(v, "no such dim to split");
    return same_but(v, 0, dim, split) && holds(v, t->dims[dim], n, r->dims[dim])
           && holds(v, r->dims[split], n, t->dims[split]);
  case GS_OP_EXCHANGE:
  case GS_OP_OWN_PART:
    return check_exchange(v);
  default:
    return same_but(v, 0, -1, -1);
  }
}

static bool check_elementwise(struct verifier *v)
{
  for (int i = 0; i < v->step->nargs; i++)
    if (operand(v, i)->rank != 0 && !same_but(v, i, -1, -1))
      return false;
  return true;
}

/* Operand K of step LIST has the type of step K behind LOOP. */
static bool fits_carried(struct verifier *v, const struct gs_step *list, int loop)
{
  const struct gs_step *steps = v->program->steps;
  if (list->nargs != steps[loop].nargs)
    return fail(v, "another number of values than the loop carries");
  for (int k = 0; k < list->nargs; k++) {
    const struct gs_step *value = &steps[loop + 1 + k];
    if (loop + 1 + k >= v->program->nsteps || value->op != GS_OP_LOOP_VALUE || value->scope != loop
        || value->attrs->carried.index != k)
      return fail(v, "what the loop carries does not stand behind it");
    if (!gs_type_equal(&steps[list->args[k]].type, &value->type)
        || steps[list->args[k]].sharding != value->sharding)
      return fail(v, "what the loop carries changes its type or sharding");
  }
  return true;
}

static bool check_control(struct verifier *v)
{
  const struct gs_step *step = v->step, *steps = v->program->steps;
  bool opens = step->op == GS_OP_LOOP || step->op == GS_OP_COND;
  if (opens && (step->end <= v->index || step->end >= v->program->nsteps
                || steps[step->end].scope != v->index))
    return fail(v, "a scope that is not closed");
  switch ((int)step->op) {
  case GS_OP_LOOP: return fits_carried(v, step, v->index);
  case GS_OP_LOOP_END: return fits_carried(v, step, step->scope);
  case GS_OP_LOOP_RESULT:
    return steps[step->args[0]].op == GS_OP_LOOP || fail(v, "the result of what is no loop");
  case GS_OP_COND_RESULT:
    return steps[step->args[0]].op == GS_OP_COND || fail(v, "the result of what is no branch");
  default: return true;
  }
}

static bool check_step(struct verifier *v)
{
  const struct gs_step *step = v->step;
  const struct gs_op_info *info = gs_op_info(step->op);
  if (step->node == NULL)
    return fail(v, "comes from no node");
  bool control = info->group == GS_GROUP_CONTROL;
  if (!control && (info->nargs < 0 ? step->nargs < 1 : step->nargs != info->nargs))
    return fail(v, "a wrong number of operands");
  for (int i = 0; i < step->nargs; i++)
    if (step->args[i] < 0 || step->args[i] >= v->index)
      return fail(v, "an operand that is not computed before");
  if (!check_sharding(v))
    return false;
  switch ((int)info->group) {
  case GS_GROUP_COLLECTIVE:
    if (step->reason == NULL && gs_step_group_size(step) > 1)
      return fail(v, "a collective without a reason");
    return check_device(v);
  case GS_GROUP_DEVICE:
    return check_device(v);
  case GS_GROUP_CONTROL:
    return check_control(v);
  case GS_GROUP_ELEMENTWISE:
  case GS_GROUP_SHARDING:
    return check_elementwise(v);
  default:
    return true;
  }
}

const char *gs_program_verify(struct gs_arena *arena, const struct gs_program *program)
{
  struct verifier v = { .arena = arena, .program = program };
  for (v.index = 0; v.index < program->nsteps; v.index++) {
    v.step = &program->steps[v.index];
    if (!check_step(&v))
      return v.wrong;
  }
  v.step = NULL;
  for (int i = 0; i < program->noutputs; i++) {
    const struct gs_program_output *out = &program->outputs[i];
    v.index = out->step;
    if (out->step < 0 || out->step >= program->nsteps || out->node == NULL || out->name == NULL)
      fail(&v, "no such step");
    else if (!gs_type_equal(&program->steps[out->step].global, &out->node->type))
      fail(&v, "another type than the value's");
    else if (program->steps[out->step].sharding->npartial > 0)
      fail(&v, "left as partial values");
  }
  return v.wrong;
}
