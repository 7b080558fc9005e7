/* partition/emit_order.c - top_k and cumulative operators along a cut dim: little is sent. */
#include <config.h>

#include "partition/form.h"

#include <math.h>

/* Parts of the special factor, and the local type of the operand. */
static int64_t special_parts(const struct gs_form_query *q)
{
  for (int f = 0; f < q->rule->nfactors; f++)
    if (q->rule->factors[f].kind == GS_FACTOR_SPECIAL)
      return gs_axis_list_size(&q->factors[f]);
  return 1;
}

/* ---- top_k: the best of each part, gathered, the best of those ---- */

double gs_bytes_top_k(const struct gs_form_query *q)
{
  const struct gs_node *node = q->node;
  int last = node->type.rank - 1;
  int64_t parts = special_parts(q), size = node->args[0]->type.dims[last];
  int64_t block = gs_ceil_div(size, parts), kept = node->attrs->order.k < block ? node->attrs->order.k : block;
  double bytes = 0;
  struct gs_type local = gs_sharding_local(q->required[0], &node->args[0]->type);
  for (int a = 0; a < node->nargs && parts > 1 && block > 0; a++)
    bytes += (double)(parts - 1) * (double)gs_type_elements(&local) / (double)block * (double)kept
             * (double)gs_dtype_size(node->args[a]->type.dtype);
  return bytes;
}

/* What comes last in descending order. */
static double worst_value(enum gs_dtype dtype)
{
  return gs_emit_identity(GS_OP_REDUCE_MAX, dtype);
}

static int add_top_k(struct gs_emitter *e, const int *args, int nkeys, int payload, int64_t k,
                     const struct gs_type *global, const struct gs_sharding *sharding,
                     const struct gs_node *node)
{
  union gs_attrs *attrs = gs_emit_attrs(e);
  int *all = GS_NEW_ARRAY(e->b.arena, int, nkeys + 1);
  if (attrs == NULL || all == NULL) {
    e->b.failed = true;
    return args[0];
  }
  for (int i = 0; i < nkeys; i++)
    all[i] = args[i];
  all[nkeys] = args[payload];
  attrs->order.k = k;
  bool own = nkeys == 1 && payload == 0;
  return gs_emit_add(e, GS_OP_TOP_K, all, own ? 1 : nkeys + 1, attrs, global, sharding, node);
}

int gs_emit_top_k(struct gs_emitter *e, const struct gs_node *node, int *args,
                  const struct gs_strategy *strategy)
{
  static const char reason[] = "each device's largest are compared";
  int dim = node->type.rank - 1, nkeys = node->nargs > 1 ? node->nargs - 1 : 1;
  const struct gs_sharding *operand = strategy->required[0];
  const struct gs_dim_sharding cut = operand->dims[dim];
  if (cut.naxes == 0)
    return gs_emit_plain(e, node, args, strategy);
  int64_t block = e->b.steps[args[0]].type.dims[dim], k = node->attrs->order.k;
  int64_t kept = k < block ? k : block, parts = gs_sharding_parts(operand, dim);
  const struct gs_sharding *uncut = gs_sharding_replicated(e->r->table, operand->mesh, operand->rank);
  const struct gs_sharding *whole = gs_emit_with_dim(e, operand, dim, uncut);
  int *found = GS_NEW_ARRAY(e->b.arena, int, node->nargs);
  if (found == NULL || whole == NULL) {
    e->b.failed = true;
    return args[0];
  }
  for (int a = 0; a < nkeys; a++)
    args[a] = gs_emit_fill_padding(e, args[a], dim, worst_value(node->args[a]->type.dtype), node);
  for (int a = 0; a < node->nargs; a++) {
    struct gs_type type = node->args[a]->type;
    type.dims[dim] = parts * kept;
    int best = add_top_k(e, args, nkeys, a, kept, &type, operand, node);
    found[a] = gs_emit_gather(e, best, dim, &cut, &type, whole, node, reason);
  }
  return add_top_k(e, found, nkeys, node->nargs - 1, k, &node->type, strategy->produced, node);
}

/* ---- Cumulative operators: each part by itself, then what comes before it ---- */

static enum gs_op reduction_of(enum gs_op op)
{
  return op == GS_OP_CUMPROD  ? GS_OP_PROD
         : op == GS_OP_CUMMAX ? GS_OP_REDUCE_MAX
         : op == GS_OP_CUMMIN ? GS_OP_REDUCE_MIN : GS_OP_SUM;
}

static enum gs_op combination_of(enum gs_op op)
{
  return op == GS_OP_CUMPROD ? GS_OP_MUL : op == GS_OP_CUMMAX ? GS_OP_MAX : op == GS_OP_CUMMIN ? GS_OP_MIN : GS_OP_ADD;
}

/* Totals travel along each sub-axis of prime size p in turn: p - 1 of them. */
double gs_bytes_cumulative(const struct gs_form_query *q)
{
  int dim = q->node->attrs->order.dim;
  struct gs_type local = gs_sharding_local(q->produced, &q->node->type);
  struct gs_axis primes[GS_AXES_MAX];
  double rows = 0;
  if (local.dims[dim] == 0)
    return 0;
  int n = gs_axes_primes(q->produced->dims[dim].axes, q->produced->dims[dim].naxes, primes);
  if (n < 0)
    return -1;
  for (int i = 0; i < n; i++)
    rows += (double)primes[i].size - 1;
  return rows * (double)gs_type_bytes(&local) / (double)local.dims[dim];
}

/* STEP, of the parts along AXIS, with those that do not come before the own one (in direction BACK
 * behind it) overwritten by the identity of REDUCE. */
static int keep_before(struct gs_emitter *e, int step, int dim, const struct gs_axis *axis, bool back,
                       enum gs_op reduce, const struct gs_node *node)
{
  const struct gs_step s = e->b.steps[step];
  union gs_attrs *turn = gs_emit_attrs(e), *mask = gs_emit_attrs(e);
  if (turn == NULL || mask == NULL)
    return step;
  turn->reverse.dims = 1u << dim;
  if (back)
    step = gs_emit_add(e, GS_OP_REVERSE, &step, 1, turn, &s.global, s.sharding, node);
  mask->device.dim = dim;
  mask->device.naxes = 1;
  mask->device.axes = axis;
  mask->device.block = back ? 1 : -1;  /* part p keeps p of them; turned round, size - 1 - p */
  mask->device.size = back ? axis->size - 1 : 0;
  mask->device.fill = gs_emit_identity(reduce, s.type.dtype);
  return gs_emit_add(e, GS_OP_MASK, &step, 1, mask, &s.global, s.sharding, node);
}

/* For each part the combination of all parts before it, as dim DIM of size 1; TOTAL is each part's own. */
static int before_parts(struct gs_emitter *e, int total, int dim, const struct gs_node *node,
                        const struct gs_sharding *sharding)
{
  static const char reason[] = "each part begins with what the parts before it come to";
  struct gs_axis *primes = GS_NEW_ARRAY(e->b.arena, struct gs_axis, GS_AXES_MAX);
  enum gs_op reduce = reduction_of(node->op);
  struct gs_type group = node->type, one = node->type;
  int carry = -1;
  if (primes == NULL) {
    e->b.failed = true;
    return total;
  }
  int n = gs_axes_primes(sharding->dims[dim].axes, sharding->dims[dim].naxes, primes);
  const struct gs_sharding *uncut = gs_sharding_replicated(e->r->table, sharding->mesh, sharding->rank);
  const struct gs_sharding *whole = gs_emit_with_dim(e, sharding, dim, uncut);
  one.dims[dim] = 1;
  for (int i = 0; i < n && whole != NULL; i++) {
    struct gs_dim_sharding cut = { .naxes = 1, .axes = &primes[i] };
    group.dims[dim] = primes[i].size;
    int all = gs_emit_gather(e, total, dim, &cut, &group, whole, node, reason);
    int kept = keep_before(e, all, dim, &primes[i], node->attrs->order.reverse, reduce, node);
    int before = gs_emit_reduce(e, reduce, kept, dim, true, &one, whole, node);
    carry = carry < 0 ? before
                      : gs_emit_add(e, combination_of(node->op), (int[]){ before, carry }, 2, NULL, &one, whole,
                                    node);
    if (i < n - 1)
      total = gs_emit_reduce(e, reduce, all, dim, true, &one, whole, node);
  }
  return carry < 0 ? total : carry;
}

int gs_emit_cumulative(struct gs_emitter *e, const struct gs_node *node, int *args,
                       const struct gs_strategy *strategy)
{
  int dim = node->attrs->order.dim;
  const struct gs_sharding *sharding = strategy->produced;
  bool back = node->attrs->order.reverse;
  if (sharding->dims[dim].naxes == 0 || e->b.steps[args[0]].type.dims[dim] == 0)
    return gs_emit_plain(e, node, args, strategy);
  args[0] = gs_emit_mask(e, args[0], dim, reduction_of(node->op), node);
  int own = gs_emit_add(e, node->op, args, 1, node->attrs, &node->type, sharding, node);
  struct gs_type totals = node->type;
  int64_t block = e->b.steps[own].type.dims[dim];
  totals.dims[dim] = gs_sharding_parts(sharding, dim);
  int total = gs_emit_slice(e, own, dim, back ? 0 : block - 1, &totals, sharding, node);
  int carry = before_parts(e, total, dim, node, sharding);
  union gs_attrs *spread = gs_emit_attrs(e);
  if (spread == NULL)
    return own;
  for (int i = 0; i < node->type.rank; i++)
    spread->broadcast.dims[i] = i;
  carry = gs_emit_add(e, GS_OP_BROADCAST, &carry, 1, spread, &node->type, sharding, node);
  return gs_emit_add(e, combination_of(node->op), (int[]){ carry, own }, 2, NULL, &node->type, sharding, node);
}
