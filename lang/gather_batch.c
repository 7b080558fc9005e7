/* lang/gather_batch.c - index components that only count become batch dims.
 *
 * Where an index counts 0, 1, … along a dim of the indices that is as long as the indexed dim, nothing has
 * to be looked up: a device that holds a part of both needs no more.
 */
#include <config.h>

#include <string.h>

#include "lang/gather.h"
#include "lang/infer.h"

/* Dim DIM of FROM, larger than 1, in TO, when the two differ by dims of size 1 alone; else -1. */
static int same_dim(const struct gs_type *from, const struct gs_type *to, int dim)
{
  int found = -1, j = 0;
  for (int i = 0; i < from->rank; i++) {
    if (from->dims[i] == 1)
      continue;
    while (j < to->rank && to->dims[j] == 1)
      j++;
    if (j == to->rank || to->dims[j] != from->dims[i])
      return -1;
    found = i == dim ? j : found;
    j++;
  }
  for (; j < to->rank; j++)
    if (to->dims[j] != 1)
      return -1;
  return found;
}

static bool can_count(const struct gs_type *type)
{
  size_t bits = 8 * gs_dtype_size(type->dtype) - 1;
  for (int i = 0; i < type->rank; i++)
    if (bits < 63 && type->dims[i] > (int64_t)1 << bits)
      return false;
  return gs_dtype_is_integer(type->dtype);
}

static bool constant_counts(const struct gs_node *node)
{
  const struct gs_tensor *t = node->attrs->constant.tensor;
  for (int64_t k = 0; node->type.rank == 1 && k < node->type.dims[0]; k++)
    if (gs_element_get_int(t->type.dtype, t->data, k) != k)
      return false;
  return node->type.rank == 1;
}

/* The operand of concat NODE along dim ALONG that holds position *K, which becomes that in it. */
static struct gs_node *operand_at(const struct gs_node *node, int along, int64_t *k)
{
  int i = 0;
  while (i < node->nargs - 1 && *k >= node->args[i]->type.dims[along])
    *k -= node->args[i++]->type.dims[along];
  return node->args[i];
}

static int counting_dim(const struct gs_node *node, int along, int64_t k);

/* The dim of NODE, a reshape or a broadcast, along which its operand counts. */
static int counting_through(const struct gs_node *node, int along, int64_t k)
{
  const struct gs_node *arg = node->args[0];
  bool broadcast = node->op == GS_OP_BROADCAST;
  int inside = -1, dim;
  if (along >= 0 && broadcast) {
    for (int i = 0; i < arg->type.rank; i++)
      inside = node->attrs->broadcast.dims[i] == along && arg->type.dims[i] != 1 ? i : inside;
  } else if (along >= 0 && node->type.dims[along] != 1) {
    inside = same_dim(&node->type, &arg->type, along);
    if (inside < 0)
      return -1;
  }
  dim = counting_dim(arg, inside, inside < 0 ? 0 : k);
  if (dim < 0 || arg->type.dims[dim] == 1)
    return -1;
  if (!broadcast)
    return same_dim(&arg->type, &node->type, dim);
  int to = node->attrs->broadcast.dims[dim];
  return node->type.dims[to] == arg->type.dims[dim] ? to : -1;
}

/* The dim along which NODE counts at position K of dim ALONG (-1: everywhere); -1: it does not. */
static int counting_dim(const struct gs_node *node, int along, int64_t k)
{
  int dim;
  if (!can_count(&node->type))
    return -1;
  switch ((int)node->op) {
  case GS_OP_IOTA:
    return node->attrs->iota.dim != along ? node->attrs->iota.dim : -1;
  case GS_OP_CONSTANT:
    return along < 0 && constant_counts(node) ? 0 : -1;
  case GS_OP_CONVERT:
    return counting_dim(node->args[0], along, k);
  case GS_OP_CONCAT:
    if (node->attrs->concat.dim != along)
      return -1;
    node = operand_at(node, along, &k);
    return counting_dim(node, along, k);
  case GS_OP_TRANSPOSE:
    dim = counting_dim(node->args[0], along < 0 ? -1 : node->attrs->transpose.dims[along], k);
    for (int i = 0; dim >= 0 && i < node->type.rank; i++)
      if (node->attrs->transpose.dims[i] == dim)
        return i;
    return -1;
  case GS_OP_RESHAPE:
  case GS_OP_BROADCAST:
    return counting_through(node, along, k);
  default:
    return -1;
  }
}

/* NODE at position K of dim ALONG, which keeps size 1. */
static struct gs_node *component(struct gs_graph *g, struct gs_span at, struct gs_node *node, int along,
                                 int64_t k)
{
  if (node->type.dims[along] == 1)
    return node;
  if (node->op == GS_OP_CONCAT && node->attrs->concat.dim == along) {
    node = operand_at(node, along, &k);
    return component(g, at, node, along, k);
  }
  if (node->op == GS_OP_TRANSPOSE) {
    struct gs_node *inner = component(g, at, node->args[0], node->attrs->transpose.dims[along], k);
    if (gs_node_is_poison(g, inner))
      return inner;
    return gs_graph_add(g, GS_OP_TRANSPOSE, at, &inner, 1, node->attrs, NULL);
  }
  int64_t starts[GS_MAX_RANK] = { 0 }, ends[GS_MAX_RANK], steps[GS_MAX_RANK];
  for (int i = 0; i < node->type.rank; i++) {
    ends[i] = node->type.dims[i];
    steps[i] = 1;
  }
  starts[along] = k;
  ends[along] = k + 1;
  return gs_build_slice(g, at, node, starts, ends, steps);
}

/* Index vectors of components KEPT of INDICES. */
static struct gs_node *kept_components(struct gs_graph *g, struct gs_span at, struct gs_node *indices,
                                       const int *kept, int count)
{
  struct gs_node *parts[GS_MAX_RANK];
  int along = indices->type.rank - 1;
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  if (count == 0) {                    /* vectors of no elements */
    struct gs_type none = indices->type;
    none.dims[along] = 0;
    return gs_graph_add(g, GS_OP_IOTA, at, NULL, 0, &attrs, &none);
  }
  for (int k = 0; k < count; k++) {
    parts[k] = component(g, at, indices, along, kept[k]);
    if (gs_node_is_poison(g, parts[k]))
      return parts[k];
  }
  attrs.concat.dim = along;
  return count == 1 ? parts[0] : gs_graph_add(g, GS_OP_CONCAT, at, parts, count, &attrs, NULL);
}

struct gs_node *gs_gather_find_batches(struct gs_graph *g, struct gs_span at, const struct gs_node *x,
                                       struct gs_node *indices, union gs_attrs *attrs)
{
  int along = indices->type.rank - 1, kept[GS_MAX_RANK], n = 0, count = attrs->gather.nindexed;
  uint32_t taken = 1u << along;
  for (int k = 0; k < attrs->gather.nbatch; k++)
    taken |= 1u << attrs->gather.indices_batch[k];
  for (int k = 0; k < count; k++) {
    signed char indexed = attrs->gather.indexed[k];
    int dim = counting_dim(indices, along, k);
    if (dim >= 0 && !(taken >> dim & 1) && indices->type.dims[dim] == x->type.dims[indexed]
        && (attrs->gather.collapsed >> indexed & 1)) {
      taken |= 1u << dim;
      attrs->gather.operand_batch[attrs->gather.nbatch] = indexed;
      attrs->gather.indices_batch[attrs->gather.nbatch++] = (signed char)dim;
      attrs->gather.collapsed &= ~(1u << indexed);
    } else {
      attrs->gather.indexed[n] = indexed;
      kept[n++] = k;
    }
  }
  attrs->gather.nindexed = n;
  return n == count ? indices : kept_components(g, at, indices, kept, n);
}
