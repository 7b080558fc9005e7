/* interp/functions_source.c - where tensors come from: inputs, parameters, constants, files. */
#include <config.h>

#include "interp/builtin.h"

#include <string.h>

#include "interp/eval.h"
#include "lang/npy.h"

static bool make_fill(struct gs_call *call, struct gs_fill_spec spec, struct gs_value *out)
{
  struct gs_fill_spec *fill = GS_NEW(call->session->values, struct gs_fill_spec);
  if (fill == NULL)
    return gs_session_out_of_memory(call->session, call->span);
  *fill = spec;
  *out = (struct gs_value){ .kind = GS_VALUE_FILL, .fill = fill };
  return true;
}

/* A tensor of TYPE holding what SPEC says, as a constant. */
static bool filled_tensor(struct gs_call *call, const struct gs_type *type,
                          const struct gs_fill_spec *spec, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_tensor *tensor = gs_tensor_new(&s->budget, type);
  if (tensor == NULL)
    return gs_session_fail(s, call->span, "out of memory for %s", gs_type_string(s->values, type));
  gs_tensor_fill(tensor, spec);
  struct gs_node *node = gs_build_constant(&s->graph, call->span, tensor);
  gs_tensor_unref(tensor);
  return gs_operate_node(s, node, out);
}

/* A tensor of TYPE with VALUE everywhere. */
static bool full_tensor(struct gs_call *call, const struct gs_type *type, struct gs_value value,
                        struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *scalar = gs_operate_scalar(s, call->span, type->dtype, value);
  if (gs_node_is_poison(&s->graph, scalar))
    return false;
  return gs_operate_node(s,
                         gs_build_broadcast(&s->graph, call->span, scalar, type->rank, type->dims,
                                            NULL),
                         out);
}

/* zeros() and ones() are fills, zeros(type) and ones(type) tensors. */
static bool zeros_or_ones(struct gs_call *call, enum gs_fill kind, struct gs_value *out)
{
  const struct gs_type *type;
  if (!gs_arg_given(call, 0))
    return make_fill(call, (struct gs_fill_spec){ .kind = kind }, out);
  if (!gs_arg_type(call, 0, &type))
    return false;
  int64_t number = kind == GS_FILL_ONES;
  struct gs_value value =
      type->dtype == GS_DTYPE_PRED ? gs_value_bool(number != 0) : gs_value_int(number);
  return full_tensor(call, type, value, out);
}

static bool function_zeros(struct gs_call *call, struct gs_value *out)
{
  return zeros_or_ones(call, GS_FILL_ZEROS, out);
}

static bool function_ones(struct gs_call *call, struct gs_value *out)
{
  return zeros_or_ones(call, GS_FILL_ONES, out);
}

static bool function_full(struct gs_call *call, struct gs_value *out)
{
  const struct gs_type *type;
  double number;
  if (call->args[0].value.kind == GS_VALUE_TYPE) {
    if (!gs_arg_given(call, 1))
      return gs_session_fail(call->session, call->span, "full needs a value: full(type, 1.5)");
    return gs_arg_type(call, 0, &type) && full_tensor(call, type, call->args[1].value, out);
  }
  if (gs_arg_given(call, 1))
    return gs_arg_wrong(call, 0, "a tensor type such as f32[8,16]");
  return gs_arg_number(call, 0, &number) &&
         make_fill(call, (struct gs_fill_spec){ .kind = GS_FILL_FULL, .argument = number }, out);
}

/* The dim that counts, for iota(type, dim) and iota(dim). */
static bool function_iota(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  const struct gs_type *type;
  union gs_attrs attrs = { 0 };
  if (call->args[0].value.kind == GS_VALUE_INT && !gs_arg_given(call, 1)) {
    int64_t dim = call->args[0].value.integer;
    return make_fill(call,
                     (struct gs_fill_spec){ .kind = GS_FILL_IOTA, .argument = (double)dim }, out);
  }
  if (!gs_arg_given(call, 0)) {
    double dim = 0;
    if (gs_arg_given(call, 1) && !gs_arg_number(call, 1, &dim))
      return false;
    return make_fill(call, (struct gs_fill_spec){ .kind = GS_FILL_IOTA, .argument = dim }, out);
  }
  if (!gs_arg_type(call, 0, &type))
    return false;
  if (gs_arg_given(call, 1) && !gs_arg_dim(call, 1, type->rank, &attrs.iota.dim))
    return false;
  struct gs_node *node = gs_graph_add(&s->graph, GS_OP_IOTA, call->span, NULL, 0, &attrs, type);
  return gs_operate_node(s, node, out);
}

/* pattern(k) and pattern(type, k). */
static bool function_pattern(struct gs_call *call, struct gs_value *out)
{
  const struct gs_type *type;
  int64_t k = 0;
  bool typed = call->args[0].value.kind == GS_VALUE_TYPE;
  if ((typed ? gs_arg_given(call, 1) : gs_arg_given(call, 0)) && !gs_arg_int(call, typed, &k))
    return false;
  struct gs_fill_spec spec = { .kind = GS_FILL_PATTERN, .argument = (double)k };
  if (!typed)
    return make_fill(call, spec, out);
  return gs_arg_type(call, 0, &type) && filled_tensor(call, type, &spec, out);
}

/* normal(seed, std=, mean=) and uniform(seed); the command line's seed is added. */
static bool random_fill(struct gs_call *call, enum gs_fill kind, struct gs_value *out)
{
  struct gs_fill_spec spec = { .kind = kind, .std = 1 };
  int64_t seed = 0;
  if (gs_arg_given(call, 0) && !gs_arg_int(call, 0, &seed))
    return false;
  if (kind == GS_FILL_NORMAL && ((gs_arg_given(call, 2) && !gs_arg_number(call, 2, &spec.std)) ||
                                 (gs_arg_given(call, 3) && !gs_arg_number(call, 3, &spec.mean))))
    return false;
  spec.argument = (double)seed + (double)call->session->settings.seed;
  return make_fill(call, spec, out);
}

/* A tensor of random numbers from a key, argument 0, and a type. */
static bool random_tensor(struct gs_call *call, enum gs_random_kind kind, const struct gs_type *type,
                          struct gs_node **node)
{
  struct gs_session *s = call->session;
  union gs_attrs attrs;
  struct gs_node *key;
  int64_t number = 0;
  memset(&attrs, 0, sizeof attrs);
  attrs.random.kind = kind;
  if (call->args[0].value.kind == GS_VALUE_TENSOR)
    key = call->args[0].value.node;
  else if (call->args[0].value.kind == GS_VALUE_INT && gs_arg_int(call, 0, &number))
    key = gs_build_scalar_int(&s->graph, call->args[0].span, GS_DTYPE_S64, number);
  else
    return gs_session_fail(s, call->args[0].span, "%s: the key is an integer or a scalar tensor of integers, not %s",
                           call->builtin->name, gs_value_describe(s->values, call->args[0].value));
  *node = gs_graph_add(&s->graph, GS_OP_RANDOM, call->span, &key, 1, &attrs, type);
  return !gs_node_is_poison(&s->graph, *node);
}

/* X times SCALE plus OFFSET. */
static struct gs_node *scaled(struct gs_call *call, struct gs_node *x, double scale, double offset)
{
  struct gs_graph *g = &call->session->graph;
  if (scale != 1)
    x = gs_build_elementwise(g, GS_OP_MUL, call->span,
                             (struct gs_node *[]){ x, gs_build_scalar(g, call->span, x->type.dtype, scale) }, 2);
  if (offset != 0)
    x = gs_build_elementwise(g, GS_OP_ADD, call->span,
                             (struct gs_node *[]){ x, gs_build_scalar(g, call->span, x->type.dtype, offset) }, 2);
  return x;
}

/* uniform(key, type, low, high), normal(key, type, std, mean): arguments 2 and 3 are the two numbers. */
static bool random_floats(struct gs_call *call, enum gs_random_kind kind, struct gs_value *out)
{
  const struct gs_type *type;
  struct gs_node *node;
  double a = kind == GS_RANDOM_NORMAL, b = kind == GS_RANDOM_UNIFORM;
  if (!gs_arg_type(call, 1, &type) || !random_tensor(call, kind, type, &node)
      || (gs_arg_given(call, 2) && !gs_arg_number(call, 2, &a))
      || (gs_arg_given(call, 3) && !gs_arg_number(call, 3, &b)))
    return false;
  node = kind == GS_RANDOM_NORMAL ? scaled(call, node, a, b) : scaled(call, node, b - a, a);
  return gs_operate_node(call->session, node, out);
}

static bool function_bits(struct gs_call *call, struct gs_value *out)
{
  const struct gs_type *type;
  struct gs_node *node;
  return gs_arg_type(call, 1, &type) && random_tensor(call, GS_RANDOM_BITS, type, &node)
         && gs_operate_node(call->session, node, out);
}

/* x where a number drawn for the element is at least the rate, scaled so that the mean stays. */
static bool function_dropout(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_graph *g = &s->graph;
  struct gs_node *x, *drawn;
  double rate;
  struct gs_argument key = call->args[2];
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_number(call, 1, &rate))
    return false;
  if (gs_dtype_kind(x->type.dtype) != GS_KIND_FLOAT)
    return gs_session_fail(s, call->args[0].span, "dropout: not for %s, only floats",
                           gs_type_string(s->values, &x->type));
  if (!(rate >= 0 && rate < 1))
    return gs_session_fail(s, call->args[1].span, "dropout: the rate is %g; it is at least 0 and below 1", rate);
  struct gs_type type = x->type;
  type.dtype = GS_DTYPE_F32;
  call->args[0] = key;
  if (!random_tensor(call, GS_RANDOM_UNIFORM, &type, &drawn))
    return false;
  struct gs_node *test[2] = { drawn, gs_build_scalar(g, call->span, GS_DTYPE_F32, rate) };
  struct gs_node *choice[3] = { gs_build_elementwise(g, GS_OP_GE, call->span, test, 2),
                                scaled(call, x, 1 / (1 - rate), 0),
                                gs_build_scalar(g, call->span, x->type.dtype, 0) };
  return gs_operate_node(s, gs_build_elementwise(g, GS_OP_WHERE, call->span, choice, 3), out);
}

static bool function_normal(struct gs_call *call, struct gs_value *out)
{
  if (call->args[1].value.kind == GS_VALUE_TYPE)
    return random_floats(call, GS_RANDOM_NORMAL, out);
  if (gs_arg_given(call, 1)) {         /* normal(seed, std) of a fill */
    call->args[3] = call->args[2];
    call->args[2] = call->args[1];
  }
  return random_fill(call, GS_FILL_NORMAL, out);
}

static bool function_uniform(struct gs_call *call, struct gs_value *out)
{
  if (gs_arg_given(call, 1))
    return random_floats(call, GS_RANDOM_UNIFORM, out);
  return random_fill(call, GS_FILL_UNIFORM, out);
}

static bool make_leaf(struct gs_call *call, enum gs_op op, struct gs_value *out)
{
  struct gs_session *s = call->session;
  const struct gs_type *type;
  union gs_attrs attrs = { 0 };
  if (!gs_arg_type(call, 0, &type))
    return false;
  attrs.input.index = s->graph.ninputs;
  if (gs_arg_given(call, 1)) {
    if (call->args[1].value.kind != GS_VALUE_FILL)
      return gs_arg_wrong(call, 1, "a fill such as pattern(3) or normal(0, std=0.02)");
    attrs.input.fill = *call->args[1].value.fill;
    if (attrs.input.fill.kind == GS_FILL_IOTA &&
        (attrs.input.fill.argument < 0 || attrs.input.fill.argument >= (double)type->rank))
      return gs_session_fail(s, call->args[1].span, "iota along dim %g of a tensor of rank %d",
                             attrs.input.fill.argument, type->rank);
  } else {
    attrs.input.fill =
        (struct gs_fill_spec){ .kind = GS_FILL_PATTERN, .argument = (double)s->graph.ninputs };
  }
  return gs_operate_node(s, gs_graph_add(&s->graph, op, call->span, NULL, 0, &attrs, type), out);
}

static bool function_leaf(struct gs_call *call, struct gs_value *out)
{
  return make_leaf(call, call->builtin->op, out);
}

static bool function_params(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  *out = gs_value_list(s->values, GS_VALUE_LIST, 0);
  for (int i = 0; i < s->graph.nnodes && out->kind != GS_VALUE_ABSENT; i++)
    if (s->graph.nodes[i]->op == GS_OP_PARAM)
      *out = gs_value_append(s->values, *out, gs_value_tensor(s->graph.nodes[i]));
  return out->kind != GS_VALUE_ABSENT || gs_session_out_of_memory(s, call->span);
}

/* What a nested list of numbers comes to as a tensor. */
struct literal {
  struct gs_call *call;
  struct gs_type type;
  bool floats, bools, ints;
  void *data;
  int64_t next;
};

static bool literal_shape(struct literal *literal, struct gs_value value, int depth)
{
  struct gs_session *s = literal->call->session;
  struct gs_span at = literal->call->args[0].span;
  if (gs_value_is_sequence(value)) {
    if (depth == GS_MAX_RANK)
      return gs_session_fail(s, at, "tensor: more than %d lists inside each other", GS_MAX_RANK);
    if (literal->type.rank <= depth) {
      literal->type.rank = depth + 1;
      literal->type.dims[depth] = (int64_t)value.length;
    }
    if (literal->type.dims[depth] != (int64_t)value.length)
      return gs_session_fail(s, at, "tensor: a row of %u items among rows of %lld", value.length,
                             (long long)literal->type.dims[depth]);
    for (uint32_t i = 0; i < value.length; i++) {
      struct gs_value item = *gs_value_item(value, i);
      if (!gs_value_is_sequence(item) && literal->type.rank > depth + 1)
        return gs_session_fail(s, at, "tensor: %s among lists", gs_value_kind_name(item.kind));
      if (gs_value_is_sequence(item) && i > 0 && literal->type.rank == depth + 1)
        return gs_session_fail(s, at, "tensor: a list among numbers");
      if (!literal_shape(literal, item, depth + 1))
        return false;
    }
    return true;
  }
  if (!gs_value_is_number(value) && value.kind != GS_VALUE_BOOL)
    return gs_session_fail(s, at, "tensor: %s among the numbers", gs_value_kind_name(value.kind));
  literal->floats = literal->floats || value.kind == GS_VALUE_FLOAT;
  literal->ints = literal->ints || value.kind == GS_VALUE_INT;
  literal->bools = literal->bools || value.kind == GS_VALUE_BOOL;
  return true;
}

static void literal_fill(struct literal *literal, struct gs_value value)
{
  enum gs_dtype dtype = literal->type.dtype;
  if (gs_value_is_sequence(value)) {
    for (uint32_t i = 0; i < value.length; i++)
      literal_fill(literal, *gs_value_item(value, i));
  } else if (value.kind == GS_VALUE_FLOAT) {
    gs_element_set(dtype, literal->data, literal->next++, value.number);
  } else {
    int64_t integer = value.kind == GS_VALUE_BOOL ? value.boolean : value.integer;
    if (dtype == GS_DTYPE_PRED)
      integer = integer != 0;
    if (gs_dtype_is_integer(dtype) || dtype == GS_DTYPE_PRED)
      gs_element_set_int(dtype, literal->data, literal->next++, integer);
    else
      gs_element_set(dtype, literal->data, literal->next++, (double)integer);
  }
}

/* A constant; f32 unless dtype= says otherwise, pred when made of bools alone. */
static bool function_tensor(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  if (call->args[0].value.kind == GS_VALUE_TENSOR) {
    *out = call->args[0].value;
    return true;
  }
  struct literal literal = { .call = call };
  if (!literal_shape(&literal, call->args[0].value, 0))
    return false;
  literal.type.dtype = literal.bools && !literal.ints && !literal.floats ? GS_DTYPE_PRED
                                                                         : GS_DTYPE_F32;
  if (gs_arg_given(call, 1) && !gs_arg_dtype(call, 1, &literal.type.dtype))
    return false;
  struct gs_tensor *tensor = gs_tensor_new(&s->budget, &literal.type);
  if (tensor == NULL)
    return gs_session_out_of_memory(s, call->span);
  literal.data = tensor->data;
  literal_fill(&literal, call->args[0].value);
  struct gs_node *node = gs_build_constant(&s->graph, call->span, tensor);
  gs_tensor_unref(tensor);
  return gs_operate_node(s, node, out);
}

static bool function_load(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  const char *path, *member = NULL;
  if (!gs_arg_string(call, 0, &path) ||
      (gs_arg_given(call, 1) && !gs_arg_string(call, 1, &member)) ||
      !gs_session_files_allowed(s, call->span))
    return false;
  path = gs_session_resolve(s, path);
  struct gs_tensor *tensor =
      gs_npy_load(&s->budget, &s->diagnostics, call->args[0].span, path, member);
  if (tensor == NULL)
    return false;
  struct gs_node *node = gs_build_constant(&s->graph, call->span, tensor);
  gs_tensor_unref(tensor);
  return gs_operate_node(s, node, out);
}

const struct gs_builtin gs_builtins_source[] = {
  { "input", "type fill?", function_leaf, GS_OP_INPUT, GS_TOPIC_SOURCES,
    "input(f32[8,16], pattern(0))",
    "a tensor given from outside: --input NAME=FILE.npy, or its fill" },
  { "param", "type fill?", function_leaf, GS_OP_PARAM, GS_TOPIC_SOURCES,
    "param(f32[8,16], normal(0, std=0.02))", "a parameter: like input, and listed by params()" },
  { "params", "", function_params, GS_OP_PARAM, GS_TOPIC_SOURCES, "params()",
    "the list of all parameters made so far" },
  { "tensor", "values dtype?", function_tensor, GS_OP_CONSTANT, GS_TOPIC_SOURCES,
    "tensor([[1, 2], [3, 4]], dtype=s32)",
    "a constant from nested lists; f32 unless dtype is given" },
  { "iota", "type? dim?", function_iota, GS_OP_IOTA, GS_TOPIC_SOURCES,
    "iota(s32[8,16], dim=1)", "0, 1, 2, ... along dim; iota(dim) is a fill for input and param" },
  { "zeros", "type?", function_zeros, GS_OP_BROADCAST, GS_TOPIC_SOURCES, "zeros(f32[8,16])",
    "zeros of a type, or a fill" },
  { "ones", "type?", function_ones, GS_OP_BROADCAST, GS_TOPIC_SOURCES, "ones(f32[8,16])",
    "ones of a type, or a fill" },
  { "full", "type value?", function_full, GS_OP_BROADCAST, GS_TOPIC_SOURCES,
    "full(f32[8,16], 1.5)", "one value everywhere; full(1.5) is a fill" },
  { "pattern", "type? k?", function_pattern, GS_OP_CONSTANT, GS_TOPIC_SOURCES,
    "pattern(3)  pattern(f32[8,16], 3)", "the fill of tests: scattered values in [-0.5, 0.5)" },
  { "normal", "seed? type? std? mean?", function_normal, GS_OP_RANDOM, GS_TOPIC_SOURCES,
    "normal(0, std=0.02)  normal(key, f32[8,16])",
    "normally distributed numbers: a fill, or with a type a tensor whose numbers do not depend on the mesh" },
  { "uniform", "seed? type? low? high?", function_uniform, GS_OP_RANDOM, GS_TOPIC_SOURCES,
    "uniform(0)  uniform(key, f32[8,16], low=-1)",
    "numbers uniform in [0, 1): a fill, or with a type a tensor, in [low, high)" },
  { "bits", "key type", function_bits, GS_OP_RANDOM, GS_TOPIC_SOURCES, "bits(key, u32[8,16])",
    "random integers; like all numbers from a key they depend on it and on their position only" },
  { "dropout", "x rate key", function_dropout, GS_OP_RANDOM, GS_TOPIC_SOURCES, "dropout(x, 0.1, key)",
    "x with elements zeroed at a rate, the others scaled so that the mean stays" },
  { "load", "path member?", function_load, GS_OP_CONSTANT, GS_TOPIC_SOURCES, "load(\"x.npy\")",
    "the tensor in a .npy file, or a member of a .npz" },
  { 0 },
};
