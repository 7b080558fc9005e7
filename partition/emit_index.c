/* partition/emit_index.c - argmax and argmin along a cut dim. */
#include <config.h>

#include "partition/form.h"

double gs_bytes_index(const struct gs_form_query *q)
{
  double bytes = 0;
  struct gs_type local = gs_sharding_local(q->produced, &q->node->type);
  for (int f = 0; f < q->rule->nfactors; f++) {
    int64_t parts = gs_axis_list_size(&q->factors[f]);
    if (parts > 1 && q->rule->factors[f].kind == GS_FACTOR_SPECIAL)
      bytes += (double)(parts - 1) * (double)gs_type_elements(&local)
               * (double)(4 + gs_dtype_size(q->node->args[0]->type.dtype));
  }
  return bytes;
}

/* The dim an argmax reduces, when it is cut; -1 otherwise. */
static int cut_index_dim(struct gs_emitter *e, const struct gs_node *node, const int *args)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  for (int i = 0; node->nargs == 1 && i < rule->args[0].rank; i++)
    for (int k = 0; k < rule->args[0].dims[i].count; k++)
      if (rule->factors[rule->args[0].dims[i].factors[k]].kind == GS_FACTOR_SPECIAL
          && e->b.steps[args[0]].sharding->dims[i].naxes > 0)
        return i;
  return -1;
}

/* argmax along a cut dim: each device's best (value, global index), gathered, the first best of
 * those. Lower parts hold lower indices, so ties go to the lower index as on one device. */
static int emit_cut(struct gs_emitter *e, const struct gs_node *node, int x, int dim,
                      const struct gs_sharding *produced)
{
  const struct gs_step operand = e->b.steps[x];
  const struct gs_dim_sharding cut = operand.sharding->dims[dim];
  int64_t parts = gs_sharding_parts(operand.sharding, dim), block = operand.type.dims[dim];
  struct gs_type values = operand.global, indices, hits, one;
  values.dims[dim] = parts;
  indices = hits = one = values;
  one.dims[dim] = 1;
  indices.dtype = one.dtype = node->type.dtype;
  hits.dtype = GS_DTYPE_PRED;
  const struct gs_sharding *uncut = gs_sharding_replicated(e->r->table, produced->mesh, values.rank);
  const struct gs_sharding *whole = gs_emit_with_dim(e, operand.sharding, dim, uncut);
  static const char reason[] = "each device's best value and its index are compared";
  x = gs_emit_mask(e, x, dim, node->op, node);
  enum gs_op best = node->op == GS_OP_ARGMAX ? GS_OP_REDUCE_MAX : GS_OP_REDUCE_MIN;
  int v = gs_emit_reduce(e, best, x, dim, true, &values, operand.sharding, node);
  int local = gs_emit_reduce(e, node->op, x, dim, true, &indices, operand.sharding, node);
  int offset = gs_emit_iota(e, dim, &cut, block, &indices, operand.sharding, node);
  int index = gs_emit_add(e, GS_OP_ADD, (int[]){ local, offset }, 2, NULL, &indices, operand.sharding, node);
  int all_v = gs_emit_gather(e, v, dim, &cut, &values, whole, node, reason);
  int all_i = gs_emit_gather(e, index, dim, &cut, &indices, whole, node, reason);
  int which = gs_emit_reduce(e, node->op, all_v, dim, true, &one, whole, node);
  union gs_attrs *attrs = gs_emit_attrs(e);
  if (attrs == NULL)
    return x;
  for (int i = 0; i < values.rank; i++)
    attrs->broadcast.dims[i] = i;
  int spread = gs_emit_add(e, GS_OP_BROADCAST, &which, 1, attrs, &indices, whole, node);
  int count = gs_emit_iota(e, dim, NULL, 0, &indices, whole, node);
  int hit = gs_emit_add(e, GS_OP_EQ, (int[]){ count, spread }, 2, NULL, &hits, whole, node);
  int weight = gs_emit_add(e, GS_OP_CONVERT, &hit, 1, NULL, &indices, whole, node);
  int picked = gs_emit_add(e, GS_OP_MUL, (int[]){ weight, all_i }, 2, NULL, &indices, whole, node);
  return gs_emit_reduce(e, GS_OP_SUM, picked, dim, node->attrs->reduce.keep, &node->type, produced, node);
}


int gs_emit_index(struct gs_emitter *e, const struct gs_node *node, int *args,
                  const struct gs_strategy *strategy)
{
  int dim = cut_index_dim(e, node, args);
  if (dim >= 0)
    return emit_cut(e, node, args[0], dim, strategy->produced);
  return gs_emit_plain(e, node, args, strategy);
}
