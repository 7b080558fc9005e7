/* partition/rule_order.c - factor rules of sorting and cumulative operators: the ordered dim is special,
 * every other dim passes. */
#include <config.h>

#include "partition/rule_draft.h"

static void ordered_dims(struct gs_rule_draft *d, int dim)
{
  for (int i = 0; i < d->node->type.rank; i++)
    gs_rule_put(&d->result[i], gs_rule_add_factor(d, i == dim ? GS_FACTOR_SPECIAL : GS_FACTOR_PASS,
                                                  d->node->args[0]->type.dims[i], i == dim ? 2 : 1));
  d->same_args = true;
}

void gs_rule_sort(struct gs_rule_draft *d)
{
  ordered_dims(d, d->node->attrs->order.dim);
}

void gs_rule_cumulative(struct gs_rule_draft *d)
{
  ordered_dims(d, d->node->attrs->order.dim);
}

/* The k that are left are of another dim. */
void gs_rule_top_k(struct gs_rule_draft *d)
{
  int last = d->node->type.rank - 1;
  for (int i = 0; i <= last; i++) {
    int f = gs_rule_add_factor(d, i == last ? GS_FACTOR_SPECIAL : GS_FACTOR_PASS,
                               d->node->args[0]->type.dims[i], i == last ? 2 : 1);
    for (int a = 0; a < 3; a++)
      gs_rule_put(&d->arg[a][i], f);
    gs_rule_put(&d->result[i], i < last ? f : gs_rule_add_factor(d, GS_FACTOR_OPAQUE,
                                                                 d->node->type.dims[i], 2));
  }
}
