/* partition/rule_gather.c - factor rules of gather and scatter [PARTITIONING.md 7].
 *
 * Dims of the operand that slices take whole pass, and so do the dims of the indices.  A device that
 * holds a part of an indexed dim gathers what lies in it, the others give zero; it scatters what falls
 * into it.  Indices and updates that are cut make partial results, which the operand joins.
 */
#include <config.h>

#include "lang/gather.h"
#include "partition/rule_draft.h"

/* Factors of the operand's dims; RESULT are the dims of the slices, OWN also receives every one (the
 * result of a scatter) or is NULL. */
static void operand_factors(struct gs_rule_draft *d, const struct gs_gather_map *map,
                            struct gs_dim_rule *result, struct gs_dim_rule *own)
{
  const struct gs_type *x = &d->node->args[0]->type;
  const union gs_attrs *a = d->node->attrs;
  for (int i = 0; i < x->rank; i++) {
    int to = map->operand_to_result[i], batch = map->batch_of[i];
    bool starts_at_0 = map->component[i] < 0 || a->gather.clamp;         /* a slice as long as the dim */
    bool whole = batch >= 0 || (to >= 0 && a->gather.sizes[i] == x->dims[i] && starts_at_0);
    int f = gs_rule_add_factor(d, whole || own != NULL ? GS_FACTOR_PASS : GS_FACTOR_SELECT, x->dims[i], 1);
    d->factors[f].reduce = x->dtype == GS_DTYPE_PRED ? GS_OP_ANY : GS_OP_SUM;
    gs_rule_put(&d->arg[0][i], f);
    if (own != NULL)
      gs_rule_put(&own[i], f);
    if (batch >= 0) {
      gs_rule_put(&d->arg[1][batch], f);
      gs_rule_put(&result[map->indices_to_result[batch]], f);
    } else if (to >= 0) {
      gs_rule_put(&result[to], whole ? f : gs_rule_add_factor(d, GS_FACTOR_OPAQUE, a->gather.sizes[i], 1));
    }
  }
}

/* Factors of the indices' dims that are no batch dims. */
static void index_factors(struct gs_rule_draft *d, const struct gs_gather_map *map,
                          struct gs_dim_rule *result, enum gs_factor_kind kind, enum gs_op reduce)
{
  const struct gs_type *indices = &d->node->args[1]->type;
  for (int j = 0; j < indices->rank; j++) {
    bool last = j == indices->rank - 1;
    if (d->arg[1][j].count > 0)
      continue;
    int f = gs_rule_add_factor(d, last ? GS_FACTOR_OPAQUE : kind, indices->dims[j], 1);
    d->factors[f].reduce = reduce;
    gs_rule_put(&d->arg[1][j], f);
    if (!last)
      gs_rule_put(&result[map->indices_to_result[j]], f);
  }
}

void gs_rule_gather(struct gs_rule_draft *d)
{
  struct gs_gather_map map;
  gs_gather_map_make(d->node->attrs, d->node->args[0]->type.rank, d->node->args[1]->type.rank, &map);
  operand_factors(d, &map, d->result, NULL);
  index_factors(d, &map, d->result, GS_FACTOR_PASS, GS_OP_SUM);
}

void gs_rule_scatter(struct gs_rule_draft *d)
{
  struct gs_gather_map map;
  enum gs_op combine = d->node->attrs->gather.combine;
  gs_gather_map_make(d->node->attrs, d->node->args[0]->type.rank, d->node->args[1]->type.rank, &map);
  operand_factors(d, &map, d->arg[2], d->result);
  /* What is put last wins: the order of updates must not be cut. */
  index_factors(d, &map, d->arg[2], combine == GS_OP_COUNT ? GS_FACTOR_OPAQUE : GS_FACTOR_REDUCE, combine);
  d->joined = 0;
}
