/* partition/strategy_given.c - operators that leave nothing to choose: loops, branches, the borders of manual
 * regions. */
#include <config.h>

#include "partition/strategy.h"

#include <string.h>

#include "partition/axes.h"

bool gs_strategy_is_given(enum gs_op op)
{
  return gs_op_info(op)->group == GS_GROUP_CONTROL || op == GS_OP_TO_SHARD || op == GS_OP_FROM_SHARD;
}

/* Loops and branches have one way to run: what is carried keeps the sharding it has in the body, a
 * branch's value is made as it is wanted. */
static int control_strategy(const struct gs_strategy_request *r, struct gs_strategy *strategies)
{
  const struct gs_node *node = r->node;
  const struct gs_sharding *scalar = gs_sharding_replicated(r->table, r->mesh, 0);
  const struct gs_sharding **required = GS_NEW_ARRAY(r->arena, const struct gs_sharding *, node->nargs + 1);
  const struct gs_sharding *kept =
      node->op == GS_OP_COND_RESULT ? r->result->items[0] : node->nargs > 1 ? r->args[1].items[0] : scalar;
  if (scalar == NULL || required == NULL)
    return -1;
  for (int a = 0; a < node->nargs; a++)
    required[a] = node->op == GS_OP_LOOP && a < node->nargs - (node->attrs->control.trips < 0)
                      ? r->args[a].items[0]
                  : node->args[a]->type.rank == 0 ? scalar : kept;
  bool own = node->op == GS_OP_LOOP || node->op == GS_OP_COND;
  strategies[0] = (struct gs_strategy){ required, own ? scalar : kept, 0 };
  return 1;
}

/* The mesh of the other side of a border: inside a manual region some axes are manual. */
static const struct gs_mesh *other_mesh(const struct gs_strategy_request *r)
{
  return r->args[0].items[0]->mesh;
}

/* AXES of dim I of SHARDING, which is whole or a shard's; of a whole one without the manual ones it begins
 * with.  False when a whole one does not begin with them. */
static bool automatic_axes(const struct gs_strategy_request *r, const struct gs_sharding *sharding, bool whole,
                           int i, struct gs_axis_list *axes)
{
  const struct gs_sharding *spec = r->node->attrs->manual.spec;
  int skip = whole && spec != NULL ? spec->dims[i].naxes : 0;
  const struct gs_dim_sharding *dim = &sharding->dims[i];
  axes->count = 0;
  for (int k = 0; k < skip; k++)
    if (k >= dim->naxes || !gs_axis_equal(dim->axes[k], spec->dims[i].axes[k]))
      return false;
  for (int k = skip; k < dim->naxes; k++)
    gs_axis_list_add(axes, dim->axes[k]);
  /* Parts of parts are parts of the whole only where nothing is padded. */
  const struct gs_type *shard = r->node->op == GS_OP_TO_SHARD ? &r->node->type : &r->node->args[0]->type;
  return r->node->attrs->manual.parts[i] == 1 || shard->dims[i] % gs_axis_list_size(axes) == 0;
}

/* Whether AXES cut dim I of the whole value and of a SHARD at the same places: padding at the end of each
 * shard is not where the whole value has it. */
static bool cuts_alike(const struct gs_strategy_request *r, const struct gs_type *shard, int i,
                       const struct gs_axis_list *axes)
{
  return r->node->attrs->manual.parts[i] == 1 || shard->dims[i] % gs_axis_list_size(axes) == 0;
}

/* The whole side's sharding, or the shard's, with AXES as the automatic ones; NULL when they clash. */
static const struct gs_sharding *side(const struct gs_strategy_request *r, const struct gs_axis_list *automatic,
                                      int rank, bool whole, const struct gs_mesh *mesh)
{
  const struct gs_sharding *spec = r->node->attrs->manual.spec;
  struct gs_axis_list lists[GS_MAX_RANK];
  struct gs_dim_sharding dims[GS_MAX_RANK] = { { 0 } };
  for (int i = 0; i < rank; i++) {
    lists[i].count = 0;
    for (int k = 0; whole && spec != NULL && k < spec->dims[i].naxes; k++)
      gs_axis_list_add(&lists[i], spec->dims[i].axes[k]);
    for (int k = 0; k < automatic[i].count; k++)
      gs_axis_list_add(&lists[i], automatic[i].items[k]);
    dims[i] = (struct gs_dim_sharding){ .naxes = lists[i].count, .axes = lists[i].items };
  }
  return gs_sharding_make(r->table, mesh, rank, dims, NULL, 0, GS_OP_SUM);
}

/* The border of a manual region with the automatic axes that one of SHARDING's sides has. */
static bool add_border(const struct gs_strategy_request *r, const struct gs_sharding *sharding, bool whole,
                       struct gs_strategy *strategy)
{
  bool enters = r->node->op == GS_OP_TO_SHARD;
  const struct gs_mesh *inside = enters ? r->mesh : other_mesh(r), *outside = enters ? other_mesh(r) : r->mesh;
  struct gs_axis_list automatic[GS_MAX_RANK];
  const struct gs_type *shard = enters ? &r->node->type : &r->node->args[0]->type;
  int rank = shard->rank;
  if (sharding->npartial > 0)
    return false;
  for (int i = 0; i < rank; i++) {
    if (!automatic_axes(r, sharding, whole, i, &automatic[i]))
      return false;
    if (!cuts_alike(r, shard, i, &automatic[i]))
      automatic[i].count = 0;
    for (int k = 0; k < automatic[i].count; k++)
      if (inside->manual >> automatic[i].items[k].axis & 1)
        return false;
  }
  const struct gs_sharding *outer = side(r, automatic, rank, true, outside);
  const struct gs_sharding *inner = side(r, automatic, rank, false, inside);
  const struct gs_sharding **required = GS_NEW(r->arena, const struct gs_sharding *);
  if (required == NULL || outer == NULL || inner == NULL)
    return false;
  *required = enters ? outer : inner;
  *strategy = (struct gs_strategy){ required, enters ? inner : outer, 0 };
  return true;
}

static int border_strategies(const struct gs_strategy_request *r, struct gs_strategy *strategies)
{
  bool enters = r->node->op == GS_OP_TO_SHARD;
  int n = 0;
  for (int i = 0; i < r->args[0].count; i++)
    n += add_border(r, r->args[0].items[i], enters, &strategies[n]);
  for (int i = 0; i < r->result->count; i++)
    n += add_border(r, r->result->items[i], !enters, &strategies[n]);
  if (n < GS_MAX_STRATEGIES)           /* without automatic axes it always works */
    n += add_border(r, gs_sharding_replicated(r->table, enters ? r->mesh : other_mesh(r), r->node->type.rank),
                    false, &strategies[n]);
  return n == 0 ? -1 : n;
}

int gs_strategies_given(const struct gs_strategy_request *r, struct gs_strategy *strategies)
{
  return gs_op_info(r->node->op)->group == GS_GROUP_CONTROL ? control_strategy(r, strategies)
                                                            : border_strategies(r, strategies);
}
