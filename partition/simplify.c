/* partition/simplify.c - collectives that follow each other taken together, so that less is sent
 * [PARTITIONING.md 9]: an all-reduce of which each device keeps a part is a reduce-scatter, also
 * where elementwise operators stand between, and two all-reduces in a row are one over the axes of both. */
#include <config.h>

#include "partition/builder.h"

#include "partition/axes.h"

/* The step behind operand AT of a step in SCOPE, if nothing else needs it; else -1. */
static int behind(const struct gs_builder *b, const int *uses, int at, int scope)
{
  while (b->steps[at].op == GS_OP_SHARD && uses[at] == 1)
    at = b->steps[at].args[0];
  return uses[at] == 1 && b->steps[at].scope == scope ? at : -1;
}

/* The all-reduce behind step I, whose value nothing else needs; -1: there is none. */
static int reduced_before(const struct gs_builder *b, const int *uses, int i)
{
  int at = behind(b, uses, b->steps[i].args[0], b->steps[i].scope);
  return at >= 0 && b->steps[at].op == GS_OP_ALL_REDUCE ? at : -1;
}

/* The number of the one operand of elementwise step S that is no scalar; -1: S is nothing like that. */
static int whole_operand(const struct gs_builder *b, const struct gs_step *s)
{
  int found = -1;
  if (gs_op_info(s->op)->group != GS_GROUP_ELEMENTWISE)
    return -1;
  for (int a = 0; a < s->nargs; a++) {
    if (b->steps[s->args[a]].type.rank == 0)
      continue;
    if (found >= 0)
      return -1;
    found = a;
  }
  return found;
}

/* Whether the value that step I keeps a part of follows from an all-reduce element by element. */
static bool follows_from_reduction(const struct gs_builder *b, const int *uses, int i)
{
  int at = behind(b, uses, b->steps[i].args[0], b->steps[i].scope);
  for (int k; at >= 0 && b->steps[at].op != GS_OP_ALL_REDUCE;) {
    k = whole_operand(b, &b->steps[at]);
    at = k < 0 ? -1 : behind(b, uses, b->steps[at].args[k], b->steps[at].scope);
  }
  return at >= 0;
}

/* Steps from I's operand on down to LAST are not needed any more; I's operand is OPERAND. */
static bool skip_to(struct gs_builder *b, int *place, int i, int last, int operand)
{
  int *args = gs_arena_alloc(b->arena, sizeof *args);
  if (args == NULL)
    return false;
  for (int at = b->steps[i].args[0]; at > last; at = b->steps[at].args[0])
    place[at] = 0;
  *args = operand;
  b->steps[i].args = args;
  place[last] = last == operand;
  return true;
}

/* Step I keeps a part of what elementwise step J gives: J then keeps that part of its operand, and I is what
 * J was. */
static bool keep_first(struct gs_builder *b, int *place, int i, int j)
{
  struct gs_step keeping = b->steps[i], computing = b->steps[j];
  int k = whole_operand(b, &computing);
  int *args = gs_arena_copy(b->arena, computing.args, (size_t)computing.nargs * sizeof *args);
  if (args == NULL || !skip_to(b, place, i, j, j))
    return false;
  b->steps[j].op = keeping.op;
  b->steps[j].attrs = keeping.attrs;
  b->steps[j].nargs = 1;
  b->steps[j].args = computing.args + k;
  b->steps[j].is_value = false;
  enum gs_dtype dtype = b->steps[computing.args[k]].type.dtype;
  b->steps[j].type = keeping.type;
  b->steps[j].global = keeping.global;
  b->steps[j].type.dtype = b->steps[j].global.dtype = dtype;
  b->steps[j].sharding = keeping.sharding;
  args[k] = j;
  computing.args = args;
  computing.type = keeping.type;
  computing.global = keeping.global;
  computing.sharding = keeping.sharding;
  b->steps[i] = computing;
  return true;
}

/* Attributes like FROM over AXES; NULL when out of memory. */
static union gs_attrs *attrs_over(struct gs_builder *b, const union gs_attrs *from, const struct gs_axis *axes,
                                  int naxes)
{
  union gs_attrs *attrs = gs_arena_copy(b->arena, from, sizeof *attrs);
  struct gs_axis *own = gs_arena_copy(b->arena, axes, (size_t)naxes * sizeof *own);
  if (attrs == NULL || own == NULL)
    return NULL;
  attrs->device.axes = own;
  attrs->device.naxes = naxes;
  return attrs;
}

/* All-reduces J and then I become one, I. */
static bool join(struct gs_builder *b, int *place, int i, int j)
{
  const union gs_attrs *first = b->steps[j].attrs, *second = b->steps[i].attrs;
  struct gs_axis axes[GS_AXES_MAX];
  int n = second->device.naxes, both = first->device.naxes + n;
  if (first->device.reduce != second->device.reduce || both > GS_AXES_MAX
      || gs_axes_overlap(first->device.axes, first->device.naxes, second->device.axes, second->device.naxes))
    return true;
  for (int k = 0; k < both; k++)
    axes[k] = k < n ? second->device.axes[k] : first->device.axes[k - n];
  b->steps[i].attrs = attrs_over(b, second, axes, both);
  return b->steps[i].attrs != NULL && skip_to(b, place, i, j, b->steps[j].args[0]);
}

/* The axes of all-reduce J of which AXES are none; their number, -1 when AXES are not among them. */
static int other_axes(const struct gs_step *j, const struct gs_axis *axes, int naxes, struct gs_axis *rest)
{
  int found = 0, n = 0;
  for (int k = 0; k < j->attrs->device.naxes; k++) {
    bool among = false;
    for (int a = 0; a < naxes; a++)
      among = among || gs_axis_equal(axes[a], j->attrs->device.axes[k]);
    found += among;
    if (!among && n < GS_AXES_MAX)
      rest[n++] = j->attrs->device.axes[k];
  }
  return found == naxes ? n : -1;
}

/* Of what all-reduce J gives each device keeps a part, step I: a reduce-scatter and, over the axes that cut
 * nothing, an all-reduce of the parts. */
static bool keep_less(struct gs_builder *b, int *place, int i, int j)
{
  struct gs_step *part = &b->steps[i], *reduction = &b->steps[j];
  struct gs_axis rest[GS_AXES_MAX];
  int n = other_axes(reduction, part->attrs->device.axes, part->attrs->device.naxes, rest);
  if (n < 0)
    return true;
  union gs_attrs *scatter = gs_arena_copy(b->arena, part->attrs, sizeof *scatter);
  union gs_attrs *finish = attrs_over(b, reduction->attrs, rest, n);
  if (scatter == NULL || finish == NULL)
    return false;
  scatter->device.reduce = reduction->attrs->device.reduce;
  struct gs_step *scattering = n > 0 ? reduction : part;
  scattering->op = GS_OP_REDUCE_SCATTER;
  scattering->attrs = scatter;
  scattering->type = part->type;
  scattering->global = part->global;
  scattering->sharding = part->sharding;
  part->reason = reduction->reason;
  if (n > 0) {
    part->op = GS_OP_ALL_REDUCE;
    part->attrs = finish;
    reduction->is_value = false;
  }
  return skip_to(b, place, i, j, n > 0 ? j : reduction->args[0]);
}

bool gs_builder_simplify(struct gs_builder *b, const struct gs_program_output *outputs, int noutputs,
                         int *place)
{
  int *uses = GS_NEW_ARRAY(b->arena, int, b->nsteps + 1);
  bool ok = uses != NULL;
  for (int i = 0; i < noutputs && ok; i++)
    uses[outputs[i].step]++;
  for (int i = 0; i < b->nsteps && ok; i++)
    for (int a = 0; a < b->steps[i].nargs && place[i] != 0; a++)
      uses[b->steps[i].args[a]]++;
  for (int i = 0; i < b->nsteps && ok; i++) {
    enum gs_op op = b->steps[i].op;
    if (place[i] == 0 || (op != GS_OP_ALL_REDUCE && op != GS_OP_SHARD_SLICE))
      continue;
    int at = i, j = reduced_before(b, uses, i);
    while (j < 0 && ok && op == GS_OP_SHARD_SLICE && follows_from_reduction(b, uses, at)) {
      int computing = behind(b, uses, b->steps[at].args[0], b->steps[at].scope);
      ok = keep_first(b, place, at, computing);
      at = computing;
      j = reduced_before(b, uses, at);
    }
    if (j >= 0 && ok)
      ok = op == GS_OP_ALL_REDUCE ? join(b, place, at, j) : keep_less(b, place, at, j);
  }
  return ok;
}
