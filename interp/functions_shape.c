/* interp/functions_shape.c - functions that move elements: reshape, transpose, pad, concat, ... */
#include <config.h>

#include "interp/builtin.h"

#include <string.h>

#include "interp/eval.h"
#include "interp/regex.h"

static bool function_reshape(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  int64_t dims[GS_MAX_RANK];
  int rank;
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_shape(call, 1, true, dims, &rank))
    return false;
  return gs_operate_node(s, gs_build_reshape(&s->graph, call->span, x, rank, dims), out);
}

static bool function_transpose(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  union gs_attrs attrs = { 0 };
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  int rank = x->type.rank;
  if (gs_arg_given(call, 1)) {
    uint32_t set;
    int count;
    if (!gs_arg_dims(call, 1, rank, &set, attrs.transpose.dims, &count))
      return false;
    if (count != rank)
      return gs_session_fail(s, call->args[1].span, "transpose: %d dims for %s, which has %d",
                             count, gs_value_describe(s->values, call->args[0].value), rank);
  } else {
    for (int i = 0; i < rank; i++)
      attrs.transpose.dims[i] = rank - 1 - i;
  }
  struct gs_node *node = gs_graph_add(&s->graph, GS_OP_TRANSPOSE, call->span, &x, 1, &attrs, NULL);
  return gs_operate_node(s, node, out);
}

static bool function_broadcast(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_value value = call->args[0].value;
  struct gs_node *x;
  int64_t shape[GS_MAX_RANK];
  int rank, dims[GS_MAX_RANK], count = 0;
  if (gs_value_is_number(value)) {
    x = gs_operate_scalar(s, call->args[0].span,
                          value.kind == GS_VALUE_INT ? GS_DTYPE_S32 : GS_DTYPE_F32, value);
    if (gs_node_is_poison(&s->graph, x))
      return false;
  } else if (!gs_arg_tensor(call, 0, &x)) {
    return false;
  }
  if (!gs_arg_shape(call, 1, false, shape, &rank))
    return false;
  if (gs_arg_given(call, 2)) {
    uint32_t set;
    if (!gs_arg_dims(call, 2, rank, &set, dims, &count))
      return false;
    if (count != x->type.rank)
      return gs_session_fail(s, call->args[2].span, "broadcast: %d dims for %s, which has %d",
                             count, gs_value_describe(s->values, value), x->type.rank);
  }
  return gs_operate_node(s,
                         gs_build_broadcast(&s->graph, call->span, x, rank, shape,
                                            gs_arg_given(call, 2) ? dims : NULL),
                         out);
}

static bool function_expand(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  int dim;
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_dim(call, 1, x->type.rank + 1, &dim))
    return false;
  if (x->type.rank == GS_MAX_RANK)
    return gs_session_fail(s, call->span, "expand: the result has more than %d dims", GS_MAX_RANK);
  int64_t dims[GS_MAX_RANK];
  for (int i = 0; i <= x->type.rank; i++)
    dims[i] = i == dim ? 1 : x->type.dims[i < dim ? i : i - 1];
  x = gs_build_reshape(&s->graph, call->span, x, x->type.rank + 1, dims);
  return gs_operate_node(s, x, out);
}

static bool function_squeeze(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  uint32_t set = 0;
  bool given = gs_arg_given(call, 1);
  if (given && !gs_arg_dims(call, 1, x->type.rank, &set, NULL, NULL))
    return false;
  int64_t dims[GS_MAX_RANK];
  int rank = 0;
  for (int i = 0; i < x->type.rank; i++) {
    bool asked = (set >> i & 1) != 0;
    if (asked && x->type.dims[i] != 1)
      return gs_session_fail(s, call->args[1].span, "squeeze: dim %d has size %lld, not 1", i,
                             (long long)x->type.dims[i]);
    if (!(asked || (!given && x->type.dims[i] == 1)))
      dims[rank++] = x->type.dims[i];
  }
  return gs_operate_node(s, gs_build_reshape(&s->graph, call->span, x, rank, dims), out);
}

static bool function_reverse(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  union gs_attrs attrs = { 0 };
  if (!gs_arg_tensor(call, 0, &x) ||
      !gs_arg_dims(call, 1, x->type.rank, &attrs.reverse.dims, NULL, NULL))
    return false;
  struct gs_node *node = gs_graph_add(&s->graph, GS_OP_REVERSE, call->span, &x, 1, &attrs, NULL);
  return gs_operate_node(s, node, out);
}

/* One number per dim; what is not given is 0. */
static bool amounts(struct gs_call *call, int i, int rank, int64_t *numbers)
{
  int count;
  memset(numbers, 0, GS_MAX_RANK * sizeof *numbers);
  if (!gs_arg_given(call, i))
    return true;
  if (!gs_arg_ints(call, i, numbers, GS_MAX_RANK, &count))
    return false;
  if (count == rank)
    return true;
  return gs_session_fail(call->session, call->args[i].span,
                         "%s: %d number%s in %.*s for a tensor of rank %d", call->builtin->name,
                         count, count == 1 ? "" : "s", call->parameters[i].length,
                         call->parameters[i].name, rank);
}

static bool function_pad(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *args[2];
  union gs_attrs attrs = { 0 };
  if (!gs_arg_tensor(call, 0, &args[0]) ||
      !amounts(call, 1, args[0]->type.rank, attrs.pad.low) ||
      !amounts(call, 2, args[0]->type.rank, attrs.pad.high) ||
      !amounts(call, 3, args[0]->type.rank, attrs.pad.interior))
    return false;
  enum gs_dtype dtype = args[0]->type.dtype;
  struct gs_value value = call->args[4].value;
  if (value.kind == GS_VALUE_ABSENT)
    value = dtype == GS_DTYPE_PRED ? gs_value_bool(false) : gs_value_int(0);
  args[1] = value.kind == GS_VALUE_TENSOR ? value.node
                                          : gs_operate_scalar(s, call->args[4].span, dtype, value);
  if (gs_node_is_poison(&s->graph, args[1]))
    return false;
  struct gs_node *node = gs_graph_add(&s->graph, GS_OP_PAD, call->span, args, 2, &attrs, NULL);
  return gs_operate_node(s, node, out);
}

/* Concatenate; the operands have at least one dim. */
static bool concatenate(struct gs_call *call, struct gs_node **nodes, int count, int dim,
                        struct gs_value *out)
{
  struct gs_session *s = call->session;
  union gs_attrs attrs = { .concat = { .dim = dim } };
  struct gs_node *node =
      gs_graph_add(&s->graph, GS_OP_CONCAT, call->span, nodes, count, &attrs, NULL);
  return gs_operate_node(s, node, out);
}

static bool function_concat(struct gs_call *call, struct gs_value *out)
{
  struct gs_node **nodes;
  int count, dim = 0;
  if (!gs_arg_tensors(call, 0, &nodes, &count))
    return false;
  if (count == 0)
    return gs_session_fail(call->session, call->span, "concat of an empty list");
  if (nodes[0]->type.rank == 0)
    return gs_session_fail(call->session, call->args[0].span,
                           "concat: scalars have no dim to go along; stack makes one");
  if (gs_arg_given(call, 1) && !gs_arg_dim(call, 1, nodes[0]->type.rank, &dim))
    return false;
  return concatenate(call, nodes, count, dim, out);
}

static bool function_stack(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node **nodes;
  int count, dim = 0;
  if (!gs_arg_tensors(call, 0, &nodes, &count))
    return false;
  if (count == 0)
    return gs_session_fail(s, call->span, "stack of an empty list");
  struct gs_type type = nodes[0]->type;
  if (gs_arg_given(call, 1) && !gs_arg_dim(call, 1, type.rank + 1, &dim))
    return false;
  if (type.rank == GS_MAX_RANK)
    return gs_session_fail(s, call->span, "stack: the result has more than %d dims", GS_MAX_RANK);
  int64_t dims[GS_MAX_RANK];
  for (int i = 0; i <= type.rank; i++)
    dims[i] = i == dim ? 1 : type.dims[i < dim ? i : i - 1];
  for (int k = 0; k < count; k++) {
    if (!gs_shape_equal(&nodes[k]->type, &type))
      return gs_session_fail(s, call->args[0].span, "stack: operand %d is %s but the first is %s",
                             k + 1, gs_type_string(s->values, &nodes[k]->type),
                             gs_type_string(s->values, &type));
    nodes[k] = gs_build_reshape(&s->graph, call->span, nodes[k], type.rank + 1, dims);
  }
  return concatenate(call, nodes, count, dim, out);
}

static struct gs_node *slice_dim(struct gs_call *call, struct gs_node *x, int dim, int64_t start,
                                 int64_t end)
{
  int64_t starts[GS_MAX_RANK] = { 0 }, ends[GS_MAX_RANK], strides[GS_MAX_RANK];
  for (int i = 0; i < x->type.rank; i++) {
    ends[i] = x->type.dims[i];
    strides[i] = 1;
  }
  starts[dim] = start;
  ends[dim] = end;
  return gs_build_slice(&call->session->graph, call->span, x, starts, ends, strides);
}

/* Sizes of the parts: N equal ones, or a list of sizes. */
static bool part_sizes(struct gs_call *call, int64_t size, int64_t **sizes, int *count)
{
  struct gs_session *s = call->session;
  struct gs_value n = call->args[1].value;
  struct gs_span at = call->args[1].span;
  if (n.kind == GS_VALUE_INT) {
    if (n.integer < 1 || size % n.integer != 0 || n.integer > GS_VALUE_MAX_ITEMS)
      return gs_session_fail(s, at, "split: %lld elements into %lld equal parts", (long long)size,
                             (long long)n.integer);
    *count = (int)n.integer;
  } else if (gs_value_is_sequence(n)) {
    *count = (int)n.length;
  } else {
    return gs_arg_wrong(call, 1, "a number of parts or a list of their sizes");
  }
  *sizes = GS_NEW_ARRAY(s->values, int64_t, *count + 1);
  if (*sizes == NULL)
    return gs_session_out_of_memory(s, call->span);
  int64_t sum = 0;
  for (int i = 0; i < *count; i++) {
    (*sizes)[i] = n.kind == GS_VALUE_INT ? size / n.integer : 0;
    if (n.kind != GS_VALUE_INT) {
      struct gs_value item = *gs_value_item(n, (size_t)i);
      if (item.kind != GS_VALUE_INT || item.integer < 0 || item.integer > size)
        return gs_session_fail(s, at, "split: size %d is not between 0 and %lld", i,
                               (long long)size);
      (*sizes)[i] = item.integer;
    }
    sum += (*sizes)[i];
    if (sum > size)
      break;
  }
  if (sum != size)
    return gs_session_fail(s, at, "split: the sizes add up to %lld, not %lld", (long long)sum,
                           (long long)size);
  return true;
}

static bool function_split(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  int dim = 0, count = 0;
  int64_t *sizes = NULL, start = 0;
  if (call->args[0].value.kind == GS_VALUE_STRING)
    return gs_regex_split(call, out);
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  if (x->type.rank == 0)
    return gs_session_fail(s, call->span, "split: a scalar has no dims");
  if ((gs_arg_given(call, 2) && !gs_arg_dim(call, 2, x->type.rank, &dim)) ||
      !part_sizes(call, x->type.dims[dim], &sizes, &count))
    return false;
  *out = gs_value_list(s->values, GS_VALUE_LIST, (size_t)count);
  if (out->kind == GS_VALUE_ABSENT)
    return gs_session_out_of_memory(s, call->span);
  for (int i = 0; i < count; i++, start += sizes[i - 1])
    if (!gs_operate_node(s, slice_dim(call, x, dim, start, start + sizes[i]),
                         gs_value_item(*out, (size_t)i)))
      return false;
  return true;
}

static bool function_slice(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  int64_t start[GS_MAX_RANK], end[GS_MAX_RANK], stride[GS_MAX_RANK];
  if (!gs_arg_tensor(call, 0, &x) || !amounts(call, 1, x->type.rank, start) ||
      !amounts(call, 2, x->type.rank, end) || !amounts(call, 3, x->type.rank, stride))
    return false;
  for (int i = 0; i < x->type.rank; i++) {
    if (!gs_arg_given(call, 3))
      stride[i] = 1;
    start[i] += start[i] < 0 ? x->type.dims[i] : 0;
    end[i] += end[i] < 0 ? x->type.dims[i] : 0;
  }
  return gs_operate_node(s, gs_build_slice(&s->graph, call->span, x, start, end, stride), out);
}

static bool function_roll(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  union gs_attrs attrs = { 0 };
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_int(call, 1, &attrs.roll.shift))
    return false;
  if (gs_arg_given(call, 2) && !gs_arg_dim(call, 2, x->type.rank, &attrs.roll.dim))
    return false;
  struct gs_node *node = gs_graph_add(&s->graph, GS_OP_ROLL, call->span, &x, 1, &attrs, NULL);
  return gs_operate_node(s, node, out);
}

/* Repeat x REPEATS[i] times along dim i: [a, b] becomes [1, a, 1, b], is broadcast and merged. */
static bool function_tile(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  int64_t repeats[GS_MAX_RANK], apart[GS_MAX_RANK], wide[GS_MAX_RANK], merged[GS_MAX_RANK];
  int rank, n = 0;
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_shape(call, 1, false, repeats, &rank))
    return false;
  if (rank != x->type.rank)
    return gs_session_fail(s, call->args[1].span, "tile: %d numbers for a tensor of rank %d", rank,
                           x->type.rank);
  for (int i = 0; i < rank; i++) {
    if (n + 2 > GS_MAX_RANK)
      return gs_session_fail(s, call->span, "tile: too many dims");
    if (repeats[i] != 1) {
      apart[n] = 1;
      wide[n++] = repeats[i];
    }
    apart[n] = wide[n] = x->type.dims[i];
    n++;
    if (!gs_mul_size(x->type.dims[i], repeats[i], &merged[i]))
      return gs_session_fail(s, call->span, "tile: dim %d gets too large", i);
  }
  x = gs_build_reshape(&s->graph, call->span, x, n, apart);
  x = gs_build_broadcast(&s->graph, call->span, x, n, wide, NULL);
  return gs_operate_node(s, gs_build_reshape(&s->graph, call->span, x, rank, merged), out);
}

const struct gs_builtin gs_builtins_shape[] = {
  { "reshape", "x shape", function_reshape, GS_OP_RESHAPE, GS_TOPIC_SHAPE,
    "reshape(x, [4, -1])", "the same elements in another shape; one dim may be -1" },
  { "transpose", "x perm?", function_transpose, GS_OP_TRANSPOSE, GS_TOPIC_SHAPE,
    "transpose(x, [1, 0])", "dims in another order; without perm back to front" },
  { "broadcast", "x shape dims?", function_broadcast, GS_OP_BROADCAST, GS_TOPIC_SHAPE,
    "broadcast(x, [4, 8, 16], dims=[0, 2])", "x repeated to a shape; dims says where x's dims go" },
  { "expand", "x dim", function_expand, GS_OP_RESHAPE, GS_TOPIC_SHAPE, "expand(x, 1)",
    "a new dim of size 1 before dim" },
  { "squeeze", "x dim?", function_squeeze, GS_OP_RESHAPE, GS_TOPIC_SHAPE, "squeeze(x, 1)",
    "without the dims of size 1 (or only those given)" },
  { "reverse", "x dims", function_reverse, GS_OP_REVERSE, GS_TOPIC_SHAPE, "reverse(x, [0])",
    "back to front along dims" },
  { "pad", "x low high interior? value?", function_pad, GS_OP_PAD, GS_TOPIC_SHAPE,
    "pad(x, [1, 0], [1, 0], interior=[0, 0], value=0)",
    "value before, after and between the elements; one number per dim, negative ones cut" },
  { "concat", "xs dim?", function_concat, GS_OP_CONCAT, GS_TOPIC_SHAPE, "concat([a, b], 0)",
    "one after the other along dim" },
  { "stack", "xs dim?", function_stack, GS_OP_CONCAT, GS_TOPIC_SHAPE, "stack([a, b], 0)",
    "one after the other along a new dim" },
  { "split", "x n dim?", function_split, GS_OP_SLICE, GS_TOPIC_SHAPE,
    "split(x, 4, 1)  split(x, [2, 6], 0)  split(\"a, b\", \", *\")",
    "a list of parts along dim; of a string by a regular expression" },
  { "slice", "x start end stride?", function_slice, GS_OP_SLICE, GS_TOPIC_SHAPE,
    "slice(x, [0, 2], [4, 8], [1, 2])",
    "a part: first index, end and step of each dim, as x[0:4, 2:8:2]" },
  { "roll", "x shift dim?", function_roll, GS_OP_ROLL, GS_TOPIC_SHAPE, "roll(x, 3, 0)",
    "moved by shift along dim; what falls off comes in again" },
  { "tile", "x repeats", function_tile, GS_OP_BROADCAST, GS_TOPIC_SHAPE, "tile(x, [2, 1])",
    "x repeated, one number per dim" },
  { 0 },
};
