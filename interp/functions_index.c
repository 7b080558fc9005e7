/* interp/functions_index.c - gather, scatter and what is said with them. */
#include <config.h>

#include "interp/builtin.h"

#include <string.h>

#include "interp/eval.h"

/* Integers from argument I: a tensor, or a number or list of numbers, negative ones from the end of SIZE
 * elements. */
static bool index_argument(struct gs_call *call, int i, int64_t size, struct gs_node **node)
{
  struct gs_session *s = call->session;
  struct gs_value value = call->args[i].value;
  if (value.kind == GS_VALUE_TENSOR) {
    *node = value.node;
    if (gs_dtype_is_integer(value.node->type.dtype))
      return true;
    return gs_session_fail(s, call->args[i].span, "%s: indices are integers, not %s", call->builtin->name,
                           gs_value_describe(s->values, value));
  }
  bool list = gs_value_is_sequence(value);
  int64_t count = list ? value.length : 1;
  struct gs_type type = { .dtype = GS_DTYPE_S32, .rank = list, .dims = { list ? count : 0 } };
  struct gs_tensor *tensor = gs_tensor_new(&s->budget, &type);
  if (tensor == NULL)
    return gs_session_out_of_memory(s, call->span);
  bool ok = true;
  for (int64_t k = 0; k < count && ok; k++) {
    struct gs_value item = list ? *gs_value_item(value, (size_t)k) : value;
    if (item.kind != GS_VALUE_INT)
      ok = gs_session_fail(s, call->args[i].span, "%s: an index is an integer, not %s", call->builtin->name,
                           gs_value_describe(s->values, item));
    else if (item.integer < -size || item.integer >= size)
      ok = gs_session_fail(s, call->args[i].span, "%s: index %lld is outside of %lld elements",
                           call->builtin->name, (long long)item.integer, (long long)size);
    else
      gs_element_set_int(type.dtype, tensor->data, k, item.integer + (item.integer < 0 ? size : 0));
  }
  *node = ok ? gs_build_constant(&s->graph, call->args[i].span, tensor) : NULL;
  gs_tensor_unref(tensor);
  return ok && !gs_node_is_poison(&s->graph, *node);
}

static bool function_take(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x, *indices;
  int dim = 0;
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  if (x->type.rank == 0)
    return gs_session_fail(s, call->args[0].span, "take: a scalar has no elements to take");
  if ((gs_arg_given(call, 2) && !gs_arg_dim(call, 2, x->type.rank, &dim))
      || !index_argument(call, 1, x->type.dims[dim], &indices))
    return false;
  if (x->type.dims[dim] == 0 && gs_type_elements(&indices->type) > 0)
    return gs_session_fail(s, call->span, "take: there is nothing to take along dim %d of size 0", dim);
  return gs_operate_node(s, gs_build_take(&s->graph, call->span, x, indices, dim), out);
}

/* Indices of x's shape but along DIM: the others count. */
static bool function_take_along(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x, *indices, *all[GS_MAX_RANK];
  int dim, dims[GS_MAX_RANK];
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_tensor(call, 1, &indices)
      || !gs_arg_dim(call, 2, x->type.rank, &dim))
    return false;
  bool fits = x->type.rank == indices->type.rank && gs_dtype_is_integer(indices->type.dtype);
  for (int i = 0; i < x->type.rank && fits; i++)
    fits = i == dim || x->type.dims[i] == indices->type.dims[i];
  if (!fits)
    return gs_session_fail(s, call->span, "take_along: indices %s do not fit %s but for dim %d",
                           gs_type_string(s->values, &indices->type), gs_type_string(s->values, &x->type), dim);
  for (int i = 0; i < x->type.rank; i++) {
    union gs_attrs attrs;
    memset(&attrs, 0, sizeof attrs);
    attrs.iota.dim = dims[i] = i;
    all[i] = i == dim ? indices
                      : gs_graph_add(&s->graph, GS_OP_IOTA, call->span, NULL, 0, &attrs, &indices->type);
    if (gs_node_is_poison(&s->graph, all[i]))
      return false;
  }
  return gs_operate_node(s, gs_build_pick(&s->graph, call->span, x, dims, all, x->type.rank, false), out);
}

/* One scalar integer a dim of X from argument I: a list mixing numbers and tensors, or a tensor [rank]. */
static bool starts_argument(struct gs_call *call, int i, const struct gs_node *x,
                            struct gs_node *starts[GS_MAX_RANK])
{
  struct gs_session *s = call->session;
  struct gs_value value = call->args[i].value;
  struct gs_span at = call->args[i].span;
  bool tensor = value.kind == GS_VALUE_TENSOR;
  int64_t count = tensor && value.node->type.rank == 1 ? value.node->type.dims[0]
                  : gs_value_is_sequence(value)        ? (int64_t)value.length : -1;
  if (count != x->type.rank)
    return gs_session_fail(s, at, "%s: starts are a list of %d integers, one for each dim of %s",
                           call->builtin->name, x->type.rank, gs_type_string(s->values, &x->type));
  for (int d = 0; d < x->type.rank; d++) {
    struct gs_value item = tensor ? value : *gs_value_item(value, (size_t)d);
    if (tensor) {
      int64_t start = d, end = d + 1, step = 1;
      starts[d] = gs_build_slice(&s->graph, at, value.node, &start, &end, &step);
      starts[d] = gs_build_reshape(&s->graph, at, starts[d], 0, NULL);
    } else if (item.kind == GS_VALUE_INT) {
      int64_t from_end = item.integer < 0 ? x->type.dims[d] : 0;
      starts[d] = gs_build_scalar_int(&s->graph, at, GS_DTYPE_S64, item.integer + from_end);
    } else if (item.kind == GS_VALUE_TENSOR && item.node->type.rank == 0) {
      starts[d] = item.node;
    } else {
      return gs_session_fail(s, at, "%s: start %d is %s, not an integer or a scalar", call->builtin->name, d,
                             gs_value_describe(s->values, item));
    }
    if (gs_node_is_poison(&s->graph, starts[d]))
      return false;
    if (!gs_dtype_is_integer(starts[d]->type.dtype))
      return gs_session_fail(s, at, "%s: start %d is %s, not an integer", call->builtin->name, d,
                             gs_type_string(s->values, &starts[d]->type));
  }
  return true;
}

static bool function_dynamic_slice(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x, *starts[GS_MAX_RANK];
  int64_t sizes[GS_MAX_RANK];
  int rank;
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_shape(call, 2, false, sizes, &rank))
    return false;
  if (rank != x->type.rank)
    return gs_session_fail(s, call->args[2].span, "dynamic_slice: %d sizes for %s", rank,
                           gs_type_string(s->values, &x->type));
  return starts_argument(call, 1, x, starts)
         && gs_operate_node(s, gs_build_dynamic_slice(&s->graph, call->span, x, starts, sizes), out);
}

static bool function_dynamic_update(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x, *update, *starts[GS_MAX_RANK];
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_tensor(call, 1, &update)
      || !starts_argument(call, 2, x, starts))
    return false;
  return gs_operate_node(s, gs_build_dynamic_update(&s->graph, call->span, x, update, starts), out);
}

static bool function_one_hot(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *indices, *pair[2];
  int64_t classes;
  enum gs_dtype dtype = GS_DTYPE_F32;
  if (!gs_arg_int(call, 1, &classes) || (gs_arg_given(call, 2) && !gs_arg_dtype(call, 2, &dtype))
      || !index_argument(call, 0, classes > 0 ? classes : 1, &indices))
    return false;
  if (classes < 0 || indices->type.rank == GS_MAX_RANK)
    return gs_session_fail(s, call->span, "one_hot: %lld classes for %s", (long long)classes,
                           gs_type_string(s->values, &indices->type));
  struct gs_type counts = { .dtype = indices->type.dtype, .rank = 1, .dims = { classes } };
  struct gs_type wide = indices->type;
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  wide.dims[wide.rank++] = 1;
  pair[0] = gs_build_reshape(&s->graph, call->span, indices, wide.rank, wide.dims);
  pair[1] = gs_graph_add(&s->graph, GS_OP_IOTA, call->span, NULL, 0, &attrs, &counts);
  struct gs_node *equal = gs_build_elementwise(&s->graph, GS_OP_EQ, call->span, pair, 2);
  return gs_operate_node(s, gs_build_convert(&s->graph, call->span, equal, dtype), out);
}

/* ---- XLA's dimension numbers ---- */

static bool dim_set(struct gs_call *call, int i, uint32_t *set)
{
  int64_t dims[GS_MAX_RANK];
  int count;
  *set = 0;
  if (!gs_arg_given(call, i))
    return true;
  if (!gs_arg_ints(call, i, dims, GS_MAX_RANK, &count))
    return false;
  for (int k = 0; k < count; k++) {
    if (dims[k] < 0 || dims[k] >= GS_MAX_RANK)
      return gs_session_fail(call->session, call->args[i].span, "%s: there is no dim %lld",
                             call->builtin->name, (long long)dims[k]);
    *set |= 1u << dims[k];
  }
  return true;
}

static bool dim_list(struct gs_call *call, int i, signed char *list, int *count)
{
  int64_t dims[GS_MAX_RANK];
  *count = 0;
  if (!gs_arg_given(call, i))
    return true;
  if (!gs_arg_ints(call, i, dims, GS_MAX_RANK, count))
    return false;
  for (int k = 0; k < *count; k++) {
    if (dims[k] < 0 || dims[k] >= GS_MAX_RANK)
      return gs_session_fail(call->session, call->args[i].span, "%s: there is no dim %lld",
                             call->builtin->name, (long long)dims[k]);
    list[k] = (signed char)dims[k];
  }
  return true;
}

/* The indices with their vector dim last; ATTRS' batch dims, which are those of the indices as given,
 * follow. */
static bool vectors_last(struct gs_call *call, int i, struct gs_node **indices, union gs_attrs *attrs)
{
  struct gs_graph *g = &call->session->graph;
  int rank = (*indices)->type.rank;
  int64_t at = rank - 1, dims[GS_MAX_RANK];
  if (gs_arg_given(call, i) && !gs_arg_int(call, i, &at))
    return false;
  if (at < 0 || at > rank || (at == rank && rank == GS_MAX_RANK))
    return gs_session_fail(call->session, call->args[i].span, "%s: index_vector_dim %lld of indices %s",
                           call->builtin->name, (long long)at,
                           gs_type_string(call->session->values, &(*indices)->type));
  for (int k = 0; k < attrs->gather.nbatch; k++) {
    if (attrs->gather.indices_batch[k] == at)
      return gs_session_fail(call->session, call->span, "%s: dim %lld of the indices holds the index vectors, it cannot "
                             "be a batch dim too", call->builtin->name, (long long)at);
    if (attrs->gather.indices_batch[k] > at)
      attrs->gather.indices_batch[k]--;
  }
  if (at == rank) {
    memcpy(dims, (*indices)->type.dims, sizeof dims);
    dims[rank] = 1;
    *indices = gs_build_reshape(g, call->span, *indices, rank + 1, dims);
  } else if (at < rank - 1) {
    union gs_attrs order;
    memset(&order, 0, sizeof order);
    for (int d = 0; d < rank; d++)
      order.transpose.dims[d] = d == rank - 1 ? (int)at : d < at ? d : d + 1;
    *indices = gs_graph_add(g, GS_OP_TRANSPOSE, call->span, indices, 1, &order, NULL);
  }
  return !gs_node_is_poison(g, *indices);
}

/* Arguments from FIRST on: offset dims, collapsed dims, index map, batch dims of both. */
static bool dimension_numbers(struct gs_call *call, int first, union gs_attrs *attrs)
{
  int operand, indices;
  if (!dim_set(call, first, &attrs->gather.offset_dims) || !dim_set(call, first + 1, &attrs->gather.collapsed)
      || !dim_list(call, first + 2, attrs->gather.indexed, &attrs->gather.nindexed)
      || !dim_list(call, first + 3, attrs->gather.operand_batch, &operand)
      || !dim_list(call, first + 4, attrs->gather.indices_batch, &indices))
    return false;
  if (operand != indices)
    return gs_session_fail(call->session, call->span, "%s: %d batch dims of the operand but %d of the indices",
                           call->builtin->name, operand, indices);
  attrs->gather.nbatch = operand;
  return true;
}

static bool function_gather(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x, *indices;
  union gs_attrs attrs;
  int rank;
  memset(&attrs, 0, sizeof attrs);
  attrs.gather.clamp = true;
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_tensor(call, 1, &indices)
      || !dimension_numbers(call, 2, &attrs) || !gs_arg_shape(call, 7, false, attrs.gather.sizes, &rank)
      || !vectors_last(call, 8, &indices, &attrs))
    return false;
  if (rank != x->type.rank)
    return gs_session_fail(s, call->args[7].span, "gather: %d sizes for %s", rank,
                           gs_type_string(s->values, &x->type));
  return gs_operate_node(s, gs_build_gather(&s->graph, call->span, x, indices, &attrs), out);
}

static bool combine_kind(struct gs_call *call, int i, enum gs_op *combine)
{
  static const struct { const char *name; enum gs_op op; } kinds[] = {
    { "set", GS_OP_COUNT }, { "add", GS_OP_SUM }, { "mul", GS_OP_PROD },
    { "min", GS_OP_REDUCE_MIN }, { "max", GS_OP_REDUCE_MAX }
  };
  const char *kind;
  if (!gs_arg_string(call, i, &kind))
    return false;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (strcmp(kinds[k].name, kind) == 0) {
      *combine = kinds[k].op;
      return true;
    }
  gs_session_fail(call->session, call->args[i].span, "scatter: there is no kind \"%s\"", kind);
  gs_hint(&call->session->diagnostics, "kinds are \"set\", \"add\", \"mul\", \"min\" and \"max\"");
  return false;
}

/* Updates *U of X with the dims of INDICES in the place of DIM: a scalar is put everywhere. */
static bool check_updates(struct gs_call *call, const struct gs_node *x, const struct gs_node *indices,
                          int dim, struct gs_node **u)
{
  struct gs_session *s = call->session;
  int own = indices->type.rank;
  struct gs_type wanted = { .dtype = x->type.dtype, .rank = x->type.rank - 1 + own };
  if (wanted.rank > GS_MAX_RANK)
    return gs_session_fail(s, call->args[1].span, "scatter: updates of more than %d dims", GS_MAX_RANK);
  for (int i = 0; i < wanted.rank; i++)
    wanted.dims[i] = i < dim ? x->type.dims[i] : i < dim + own ? indices->type.dims[i - dim] : x->type.dims[i - own + 1];
  if ((*u)->type.rank == 0)
    *u = gs_build_broadcast(&s->graph, call->args[2].span, *u, wanted.rank, wanted.dims, NULL);
  if (gs_node_is_poison(&s->graph, *u))
    return false;
  return gs_shape_equal(&(*u)->type, &wanted)
         || gs_session_fail(s, call->args[2].span, "scatter: indices %s along dim %d of %s ask for updates %s, not %s",
                            gs_type_string(s->values, &indices->type), dim, gs_type_string(s->values, &x->type),
                            gs_type_string(s->values, &wanted), gs_type_string(s->values, &(*u)->type));
}

/* Indices of any rank along DIM of X; the updates are X with their dims in its place. */
static bool simple_scatter(struct gs_call *call, struct gs_node *x, struct gs_node **u, union gs_attrs *attrs,
                           struct gs_node **indices)
{
  struct gs_session *s = call->session;
  int dim = 0;
  if (x->type.rank == 0)
    return gs_session_fail(s, call->args[0].span, "scatter: a scalar has no elements to put anything in");
  if ((gs_arg_given(call, 4) && !gs_arg_dim(call, 4, x->type.rank, &dim))
      || !index_argument(call, 1, x->type.dims[dim], indices) || !check_updates(call, x, *indices, dim, u))
    return false;
  int rank = (*indices)->type.rank;
  int64_t dims[GS_MAX_RANK];
  if (rank == GS_MAX_RANK)
    return gs_session_fail(s, call->args[1].span, "scatter: indices of more than %d dims", GS_MAX_RANK - 1);
  memcpy(dims, (*indices)->type.dims, sizeof dims);
  dims[rank] = 1;
  *indices = gs_build_reshape(&s->graph, call->span, *indices, rank + 1, dims);
  attrs->gather.collapsed = 1u << dim;
  attrs->gather.nindexed = 1;
  attrs->gather.indexed[0] = (signed char)dim;
  for (int r = 0; r < (*u)->type.rank; r++)
    if (r < dim || r >= dim + rank)
      attrs->gather.offset_dims |= 1u << r;
  return !gs_node_is_poison(&s->graph, *indices);
}

static bool function_scatter(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x, *indices, *u;
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  if (!gs_arg_tensor(call, 0, &x) || !combine_kind(call, 3, &attrs.gather.combine)
      || (gs_arg_given(call, 11) && !gs_arg_bool(call, 11, &attrs.gather.clamp)))
    return false;
  struct gs_value update = call->args[2].value;
  if (gs_value_is_number(update)) {
    u = gs_operate_scalar(s, call->args[2].span, x->type.dtype, update);
    if (gs_node_is_poison(&s->graph, u))
      return false;
  } else if (!gs_arg_tensor(call, 2, &u)) {
    return false;
  }
  bool general = false;
  for (int i = 5; i <= 10; i++)
    general = general || gs_arg_given(call, i);
  if (!general) {
    if (!simple_scatter(call, x, &u, &attrs, &indices))
      return false;
  } else if (!gs_arg_tensor(call, 1, &indices) || !dimension_numbers(call, 5, &attrs)
             || !vectors_last(call, 10, &indices, &attrs)) {
    return false;
  }
  return gs_operate_node(s, gs_build_scatter(&s->graph, call->span, x, indices, u, &attrs), out);
}

const struct gs_builtin gs_builtins_index[] = {
  { "take", "x indices dim?", function_take, GS_OP_GATHER, GS_TOPIC_INDEXING, "take(x, i, 0)",
    "elements of x along dim where i says, an integer tensor or list; outside ones are clamped" },
  { "take_along", "x indices dim", function_take_along, GS_OP_GATHER, GS_TOPIC_INDEXING,
    "take_along(x, i, 1)", "along dim, for each position of the other dims, the elements i says" },
  { "gather", "x indices offset_dims? collapsed? index_map? operand_batch? indices_batch? sizes "
    "index_vector_dim?", function_gather, GS_OP_GATHER, GS_TOPIC_INDEXING,
    "gather(x, i, offset_dims=[1], collapsed=[0], index_map=[0], sizes=[1, 8])",
    "slices of x by XLA's dimension numbers; starts are clamped so that slices fit" },
  { "scatter", "x indices u kind dim? window_dims? inserted? index_map? operand_batch? indices_batch? "
    "index_vector_dim? clamp?", function_scatter, GS_OP_SCATTER, GS_TOPIC_INDEXING, "scatter(x, i, u, \"add\")",
    "x with u combined in along dim where i says; kinds set add mul min max; outside ones are left out" },
  { "dynamic_slice", "x starts sizes", function_dynamic_slice, GS_OP_GATHER, GS_TOPIC_INDEXING,
    "dynamic_slice(x, [i, 0], [1, 8])", "a part that begins where scalars say, moved so that it fits" },
  { "dynamic_update", "x u starts", function_dynamic_update, GS_OP_SCATTER, GS_TOPIC_INDEXING,
    "dynamic_update(x, u, [i, 0])", "x with u put where scalars say, moved so that it fits" },
  { "one_hot", "indices n dtype?", function_one_hot, GS_OP_EQ, GS_TOPIC_INDEXING, "one_hot(i, 10)",
    "1 where the last, new dim counts to the index, else 0" },
  { 0 },
};
