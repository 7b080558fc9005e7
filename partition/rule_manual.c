/* partition/rule_manual.c - factor rules of manual regions: automatic axes pass, manual ones stop at the
 * border. */
#include <config.h>

#include "partition/rule_draft.h"

/* Of the whole value each dim is the manual axes' parts, then what a shard has. */
void gs_rule_manual(struct gs_rule_draft *d)
{
  bool enters = d->node->op == GS_OP_TO_SHARD;
  const struct gs_type *shard = enters ? &d->node->type : &d->node->args[0]->type;
  for (int i = 0; i < shard->rank; i++) {
    struct gs_dim_rule *whole = enters ? &d->arg[0][i] : &d->result[i];
    struct gs_dim_rule *part = enters ? &d->result[i] : &d->arg[0][i];
    int64_t parts = d->node->attrs->manual.parts[i];
    if (parts > 1)
      gs_rule_put(whole, gs_rule_add_factor(d, GS_FACTOR_OPAQUE, parts, 0));
    int f = gs_rule_add_factor(d, GS_FACTOR_PASS, shard->dims[i], 0);
    gs_rule_put(whole, f);
    gs_rule_put(part, f);
  }
}

/* Collectives that change dims: those cannot be cut otherwise. */
void gs_rule_manual_dims(struct gs_rule_draft *d)
{
  const struct gs_type *x = &d->node->args[0]->type;
  for (int i = 0; i < x->rank; i++) {
    if (x->dims[i] == d->node->type.dims[i] && i != d->node->attrs->manual.dim) {
      int f = gs_rule_add_factor(d, GS_FACTOR_PASS, x->dims[i], 0);
      gs_rule_put(&d->arg[0][i], f);
      gs_rule_put(&d->result[i], f);
      continue;
    }
    gs_rule_put(&d->arg[0][i], gs_rule_add_factor(d, GS_FACTOR_OPAQUE, x->dims[i], 0));
    gs_rule_put(&d->result[i], gs_rule_add_factor(d, GS_FACTOR_OPAQUE, d->node->type.dims[i], 0));
  }
}
