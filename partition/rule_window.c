/* partition/rule_window.c - factor rules of convolution and of reductions over windows.
 *
 * A spatial dim of a convolution has two factors: positions of the result, and positions in the kernel.
 * Cut along the first each device computes its positions from an interval of the input; cut along
 * the second (the gradient of a kernel) from an interval for its part of the kernel, and the results
 * add up [PARTITIONING.md 6].
 */
#include <config.h>

#include "partition/rule_draft.h"

static bool stays(const struct gs_window *w)
{
  return w->size == 1 && w->stride == 1 && w->low == 0 && w->high == 0 && w->base_dilate == 1;
}

void gs_rule_reduce_window(struct gs_rule_draft *d)
{
  for (int i = 0; i < d->node->type.rank; i++) {
    bool pass = stays(&d->node->attrs->window.dims[i]);
    gs_rule_put(&d->result[i], gs_rule_add_factor(d, pass ? GS_FACTOR_PASS : GS_FACTOR_WINDOW,
                                                  d->node->type.dims[i], pass ? 1 : 2));
  }
  d->same_args = true;
}

static void spatial_factors(struct gs_rule_draft *d, const struct gs_conv *c, int k)
{
  struct gs_dim_rule *in = &d->arg[0][c->spatial[k]], *kernel = &d->arg[1][c->kernel_spatial[k]],
                     *out = &d->result[c->out_spatial[k]];
  bool pass = stays(&c->windows[k]);
  int position = gs_rule_add_factor(d, pass ? GS_FACTOR_PASS : GS_FACTOR_WINDOW,
                                    d->node->type.dims[c->out_spatial[k]], 1);
  gs_rule_put(in, position);
  gs_rule_put(out, position);
  if (pass || c->windows[k].base_dilate > 1)   /* gaps and parts of a kernel: not both */
    return;
  int tap = gs_rule_add_factor(d, GS_FACTOR_REDUCE, c->windows[k].size, 2);
  gs_rule_put(kernel, tap);
  gs_rule_put(in, tap);
  in->either = true;
}

void gs_rule_conv(struct gs_rule_draft *d)
{
  const struct gs_conv *c = d->node->attrs->conv.conv;
  const struct gs_type *x = &d->node->args[0]->type, *k = &d->node->args[1]->type;
  int64_t groups = c->groups * c->batch_groups;
  int group = groups > 1 ? gs_rule_add_factor(d, GS_FACTOR_PASS, groups, 1) : -1;
  int batch = gs_rule_add_factor(d, GS_FACTOR_PASS, x->dims[c->batch] / c->batch_groups, 1);
  int in = gs_rule_add_factor(d, GS_FACTOR_REDUCE, k->dims[c->kernel_in], 1);
  int out = gs_rule_add_factor(d, GS_FACTOR_PASS, k->dims[c->kernel_out] / groups, 1);
  d->factors[in].across = 2;
  if (c->batch_groups > 1)
    gs_rule_put(&d->arg[0][c->batch], group);
  if (c->groups > 1)
    gs_rule_put(&d->arg[0][c->feature], group);
  if (group >= 0) {
    gs_rule_put(&d->arg[1][c->kernel_out], group);
    gs_rule_put(&d->result[c->out_feature], group);
  }
  gs_rule_put(&d->arg[0][c->batch], batch);
  gs_rule_put(&d->arg[0][c->feature], in);
  gs_rule_put(&d->arg[1][c->kernel_in], in);
  gs_rule_put(&d->arg[1][c->kernel_out], out);
  gs_rule_put(&d->result[c->out_batch], batch);
  gs_rule_put(&d->result[c->out_feature], out);
  for (int i = 0; i < c->nspatial; i++)
    spatial_factors(d, c, i);
}
