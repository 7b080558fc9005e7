/* lang/build_gather.c - ways to say gather and scatter. */
#include <config.h>

#include <string.h>

#include "lang/gather.h"
#include "lang/infer.h"

/* A gather or scatter over ARGS. */
static struct gs_node *add(struct gs_graph *g, enum gs_op op, struct gs_span at, struct gs_node **args,
                           int nargs, const union gs_attrs *attrs)
{
  union gs_attrs own = *attrs;
  struct gs_node *made = gs_graph_add(g, op, at, args, nargs, attrs, NULL);
  if (gs_node_is_poison(g, made))
    return made;
  struct gs_node *left = gs_gather_find_batches(g, at, args[0], args[1], &own);
  if (left == args[1] || gs_node_is_poison(g, left))
    return left == args[1] ? made : left;
  args[1] = left;
  return gs_graph_add(g, op, at, args, nargs, &own, NULL);
}

struct gs_node *gs_build_gather(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                struct gs_node *indices, const union gs_attrs *attrs)
{
  return add(g, GS_OP_GATHER, at, (struct gs_node *[]){ x, indices }, 2, attrs);
}

struct gs_node *gs_build_scatter(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                 struct gs_node *indices, struct gs_node *updates,
                                 const union gs_attrs *attrs)
{
  union gs_attrs own = *attrs;
  struct gs_gather_map map;
  if (gs_node_is_poison(g, x) || gs_node_is_poison(g, indices) || gs_node_is_poison(g, updates))
    return &g->poison;
  gs_gather_map_make(&own, x->type.rank, indices->type.rank, &map);
  for (int i = 0; i < x->type.rank; i++) {
    int from = map.operand_to_result[i];
    own.gather.sizes[i] = from >= 0 && from < updates->type.rank ? updates->type.dims[from] : 1;
  }
  return add(g, GS_OP_SCATTER, at, (struct gs_node *[]){ x, indices, updates }, 3, &own);
}

/* INDICES with a last dim of size 1. */
static struct gs_node *as_vectors(struct gs_graph *g, struct gs_span at, struct gs_node *indices)
{
  int64_t dims[GS_MAX_RANK];
  int rank = indices->type.rank;
  if (rank == GS_MAX_RANK) {
    gs_error(g->diagnostics, at, "indices of more than %d dims", GS_MAX_RANK - 1);
    return &g->poison;
  }
  memcpy(dims, indices->type.dims, sizeof dims);
  dims[rank] = 1;
  return gs_build_reshape(g, at, indices, rank + 1, dims);
}

/* The dims of the operand that a pick leaves alone, and a slice's sizes. */
static void pick_slices(const struct gs_type *x, const int *dims, int count, union gs_attrs *attrs)
{
  memcpy(attrs->gather.sizes, x->dims, sizeof attrs->gather.sizes);
  for (int k = 0; k < count; k++) {
    attrs->gather.sizes[dims[k]] = 1;
    attrs->gather.collapsed |= 1u << dims[k];
  }
}

/* Constant indices that go up in equal steps: a slice. */
static bool is_progression(const struct gs_node *indices, int64_t size, int64_t *start, int64_t *step)
{
  if (indices->op != GS_OP_CONSTANT || indices->type.rank != 1 || indices->type.dims[0] == 0)
    return false;
  const struct gs_tensor *t = indices->attrs->constant.tensor;
  int64_t n = indices->type.dims[0], before = gs_element_get_int(t->type.dtype, t->data, 0);
  *start = before;
  *step = n > 1 ? gs_element_get_int(t->type.dtype, t->data, 1) - before : 1;
  for (int64_t k = 1; k < n; k++) {
    int64_t next = gs_element_get_int(t->type.dtype, t->data, k);
    if (next - before != *step)
      return false;
    before = next;
  }
  return *step >= 1 && *start >= 0 && before < size;
}

static struct gs_node *slice_dim(struct gs_graph *g, struct gs_span at, struct gs_node *x, int dim,
                                 int64_t start, int64_t step, int64_t count)
{
  int64_t starts[GS_MAX_RANK] = { 0 }, ends[GS_MAX_RANK], steps[GS_MAX_RANK];
  for (int i = 0; i < x->type.rank; i++) {
    ends[i] = x->type.dims[i];
    steps[i] = 1;
  }
  starts[dim] = start;
  steps[dim] = step;
  ends[dim] = start + (count - 1) * step + 1;
  return gs_build_slice(g, at, x, starts, ends, steps);
}

struct gs_node *gs_build_pick(struct gs_graph *g, struct gs_span at, struct gs_node *x, const int *dims,
                              struct gs_node *const *indices, int count, bool front)
{
  union gs_attrs attrs;
  struct gs_node *vectors[GS_MAX_RANK];
  int64_t start, step;
  if (count == 1 && is_progression(indices[0], x->type.dims[dims[0]], &start, &step))
    return slice_dim(g, at, x, dims[0], start, step, indices[0]->type.dims[0]);
  memset(&attrs, 0, sizeof attrs);
  attrs.gather.clamp = true;
  pick_slices(&x->type, dims, count, &attrs);
  int rank = indices[0]->type.rank, first = front ? 0 : dims[0], total = rank + x->type.rank - count;
  for (int k = 0; k < count; k++) {
    attrs.gather.indexed[attrs.gather.nindexed++] = (signed char)dims[k];
    vectors[k] = as_vectors(g, at, indices[k]);
    if (gs_node_is_poison(g, vectors[k]))
      return &g->poison;
  }
  for (int r = 0; r < total && r < 32; r++)
    if (r < first || r >= first + rank)
      attrs.gather.offset_dims |= 1u << r;
  union gs_attrs along = { .concat = { .dim = rank } };
  struct gs_node *all =
      count == 1 ? vectors[0] : gs_graph_add(g, GS_OP_CONCAT, at, vectors, count, &along, NULL);
  return gs_build_gather(g, at, x, all, &attrs);
}

struct gs_node *gs_build_take(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                              struct gs_node *indices, int dim)
{
  if (gs_node_is_poison(g, x) || gs_node_is_poison(g, indices))
    return &g->poison;
  return gs_build_pick(g, at, x, &dim, &indices, 1, false);
}

/* The index vector for the dims of X that a slice of SIZES does not take whole; NULL when it takes all. */
static struct gs_node *start_vector(struct gs_graph *g, struct gs_span at, const struct gs_node *x,
                                    struct gs_node *const *starts, const int64_t *sizes,
                                    union gs_attrs *attrs)
{
  struct gs_node *parts[GS_MAX_RANK];
  int n = 0;
  memset(attrs, 0, sizeof *attrs);
  attrs->gather.clamp = true;
  attrs->gather.combine = GS_OP_COUNT;
  for (int i = 0; i < x->type.rank; i++) {
    attrs->gather.sizes[i] = sizes[i];
    attrs->gather.offset_dims |= 1u << i;
    if (sizes[i] == x->type.dims[i])
      continue;
    attrs->gather.indexed[attrs->gather.nindexed++] = (signed char)i;
    parts[n] = gs_build_convert(g, at, starts[i], GS_DTYPE_S64);
    parts[n] = gs_build_reshape(g, at, parts[n], 1, (int64_t[]){ 1 });
    if (gs_node_is_poison(g, parts[n++]))
      return &g->poison;
  }
  union gs_attrs along = { .concat = { .dim = 0 } };
  return n == 0 ? NULL : n == 1 ? parts[0] : gs_graph_add(g, GS_OP_CONCAT, at, parts, n, &along, NULL);
}

/* The value of a constant scalar, through conversions. */
static bool constant_scalar(const struct gs_node *node, int64_t *value)
{
  while (node->op == GS_OP_CONVERT)
    node = node->args[0];
  if (node->op != GS_OP_CONSTANT || node->type.rank != 0 || !gs_dtype_is_integer(node->type.dtype))
    return false;
  *value = gs_element_get_int(node->type.dtype, node->attrs->constant.tensor->data, 0);
  return true;
}

struct gs_node *gs_build_dynamic_slice(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                       struct gs_node *const *starts, const int64_t *sizes)
{
  union gs_attrs attrs;
  int64_t start[GS_MAX_RANK], end[GS_MAX_RANK], ones[GS_MAX_RANK];
  bool known = true;
  for (int i = 0; i < x->type.rank; i++) {
    int64_t most = x->type.dims[i] - sizes[i];
    start[i] = 0;
    ones[i] = 1;
    if (most < 0 || sizes[i] < 0) {
      gs_error(g->diagnostics, at, "dynamic_slice: %lld elements along dim %d of %s", (long long)sizes[i], i,
               GS_TYPE(&x->type));
      return &g->poison;
    }
    known = known && (most == 0 || constant_scalar(starts[i], &start[i]));
    start[i] = start[i] < 0 ? 0 : start[i] > most ? most : start[i];
    end[i] = start[i] + sizes[i];
  }
  if (known)
    return gs_build_slice(g, at, x, start, end, ones);
  struct gs_node *vector = start_vector(g, at, x, starts, sizes, &attrs);
  return gs_build_gather(g, at, x, vector, &attrs);
}

struct gs_node *gs_build_dynamic_update(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                        struct gs_node *update, struct gs_node *const *starts)
{
  union gs_attrs attrs;
  if (update->type.rank != x->type.rank || update->type.dtype != x->type.dtype) {
    gs_error(g->diagnostics, at, "dynamic_update: the update is %s, it has to be like %s but for sizes",
             GS_TYPE(&update->type), GS_TYPE(&x->type));
    return &g->poison;
  }
  for (int i = 0; i < x->type.rank; i++)
    if (update->type.dims[i] > x->type.dims[i]) {
      gs_error(g->diagnostics, at, "dynamic_update: the update %s is larger than %s along dim %d",
               GS_TYPE(&update->type), GS_TYPE(&x->type), i);
      return &g->poison;
    }
  struct gs_node *vector = start_vector(g, at, x, starts, update->type.dims, &attrs);
  return vector == NULL ? update : gs_build_scatter(g, at, x, vector, update, &attrs);
}
