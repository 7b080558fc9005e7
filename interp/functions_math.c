/* interp/functions_math.c - elementwise operators, reductions and contractions as functions. */
#include <config.h>

#include "interp/builtin.h"

#include <math.h>
#include <string.h>

#include "interp/eval.h"

/* What an operator does to a plain number. */
static double relu_of(double x)
{
  return x > 0 ? x : isnan(x) ? x : 0;
}

static double sign_of(double x)
{
  return x > 0 ? 1 : x < 0 ? -1 : x;
}

static double rsqrt_of(double x)
{
  return 1 / sqrt(x);
}

static double sigmoid_of(double x)
{
  return 1 / (1 + exp(-x));
}

static double gelu_of(double x)
{
  return 0.5 * x * (1 + erf(x * sqrt(0.5)));
}

static double silu_of(double x)
{
  return x * sigmoid_of(x);
}

static double softplus_of(double x)
{
  return fmax(x, 0) + log1p(exp(-fabs(x)));
}

typedef double number_function(double);

static number_function *number_function_of(enum gs_op op)
{
  static const struct { enum gs_op op; number_function *function; } table[] = {
    { GS_OP_ABS, fabs },     { GS_OP_SIGN, sign_of },       { GS_OP_EXP, exp },
    { GS_OP_EXPM1, expm1 },  { GS_OP_LOG, log },            { GS_OP_LOG1P, log1p },
    { GS_OP_SQRT, sqrt },    { GS_OP_RSQRT, rsqrt_of },     { GS_OP_CBRT, cbrt },
    { GS_OP_SIN, sin },      { GS_OP_COS, cos },            { GS_OP_TAN, tan },
    { GS_OP_TANH, tanh },    { GS_OP_SIGMOID, sigmoid_of }, { GS_OP_ERF, erf },
    { GS_OP_FLOOR, floor },  { GS_OP_CEIL, ceil },          { GS_OP_ROUND, nearbyint },
    { GS_OP_RELU, relu_of }, { GS_OP_GELU, gelu_of },       { GS_OP_SILU, silu_of },
    { GS_OP_SOFTPLUS, softplus_of },
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i].op == op)
      return table[i].function;
  return NULL;
}

/* The infix operator that computes OP on plain numbers. */
static bool infix_of(enum gs_op op, enum gs_ast_op *infix)
{
  static const struct { enum gs_op op; enum gs_ast_op infix; } table[] = {
    { GS_OP_ADD, GS_AST_ADD }, { GS_OP_SUB, GS_AST_SUB }, { GS_OP_MUL, GS_AST_MUL },
    { GS_OP_DIV, GS_AST_DIV }, { GS_OP_REM, GS_AST_REM }, { GS_OP_POW, GS_AST_POW },
    { GS_OP_EQ, GS_AST_EQ },   { GS_OP_NE, GS_AST_NE },   { GS_OP_LT, GS_AST_LT },
    { GS_OP_LE, GS_AST_LE },   { GS_OP_GT, GS_AST_GT },   { GS_OP_GE, GS_AST_GE },
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i].op == op) {
      *infix = table[i].infix;
      return true;
    }
  return false;
}

/* The larger or smaller of two values that can be compared. */
static bool pick(struct gs_call *call, enum gs_op op, const struct gs_value values[2],
                 struct gs_value *out)
{
  struct gs_value less;
  if (!gs_operate_binary(call->session, call->span, op == GS_OP_MAX ? GS_AST_GT : GS_AST_LT, values,
                         &less))
    return false;
  *out = values[less.boolean ? 0 : 1];
  return true;
}

/* Plain numbers only; *DONE tells whether OP has a meaning for them. */
static bool on_numbers(struct gs_call *call, enum gs_op op, const struct gs_value *values,
                       int count, bool *done, struct gs_value *out)
{
  enum gs_ast_op infix;
  number_function *function = number_function_of(op);
  *done = true;
  if (count == 1 && op == GS_OP_NEG)
    return gs_operate_unary(call->session, call->span, GS_AST_NEG, values[0], out);
  if (count == 1 && values[0].kind == GS_VALUE_INT && (op == GS_OP_ABS || op == GS_OP_SIGN)) {
    if (op == GS_OP_ABS && values[0].integer < 0)
      return gs_operate_unary(call->session, call->span, GS_AST_NEG, values[0], out);
    *out = op == GS_OP_ABS
               ? values[0]
               : gs_value_int((values[0].integer > 0) - (values[0].integer < 0));
    return true;
  }
  if (count == 1 && function != NULL) {
    *out = gs_value_float(function(gs_value_number(values[0])));
    return true;
  }
  if (count == 2 && infix_of(op, &infix))
    return gs_operate_binary(call->session, call->span, infix, values, out);
  if (count == 2 && (op == GS_OP_MAX || op == GS_OP_MIN))
    return pick(call, op, values, out);
  *done = false;
  return true;
}

static bool elementwise(struct gs_call *call, enum gs_op op, struct gs_value *out)
{
  struct gs_value values[GS_MAX_PARAMETERS];
  int count = 0;
  bool numbers = true;
  for (; count < call->nparameters && call->args[count].value.kind != GS_VALUE_ABSENT; count++) {
    values[count] = call->args[count].value;
    numbers = numbers && gs_value_is_number(values[count]);
  }
  if (numbers) {
    bool done;
    if (!on_numbers(call, op, values, count, &done, out))
      return false;
    if (done)
      return true;
  }
  return gs_operate_elementwise(call->session, call->span, op, values, count, out);
}

static bool function_elementwise(struct gs_call *call, struct gs_value *out)
{
  return elementwise(call, call->builtin->op, out);
}

static bool function_convert(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_value value = call->args[0].value;
  struct gs_node *x;
  enum gs_dtype dtype;
  if (!gs_arg_dtype(call, 1, &dtype))
    return false;
  if (gs_value_is_number(value)) {
    x = value.kind == GS_VALUE_INT
            ? gs_build_scalar_int(&s->graph, call->span, GS_DTYPE_S64, value.integer)
            : gs_build_scalar(&s->graph, call->span, GS_DTYPE_F64, value.number);
  } else if (!gs_arg_tensor(call, 0, &x)) {
    return false;
  }
  if (gs_node_is_poison(&s->graph, x))
    return false;
  return gs_operate_node(s, gs_build_convert(&s->graph, call->span, x, dtype), out);
}

/* sum, prod, max, min over a list of values. */
static bool fold_list(struct gs_call *call, enum gs_op op, struct gs_value *out)
{
  struct gs_value list = call->args[0].value;
  if (list.length == 0) {
    if (op != GS_OP_SUM && op != GS_OP_PROD)
      return gs_session_fail(call->session, call->args[0].span, "%s of an empty list",
                             call->builtin->name);
    *out = gs_value_int(op == GS_OP_PROD);
    return true;
  }
  *out = *gs_value_item(list, 0);
  for (uint32_t i = 1; i < list.length; i++) {
    struct gs_value pair[2] = { *out, *gs_value_item(list, i) };
    bool tensors = pair[0].kind == GS_VALUE_TENSOR || pair[1].kind == GS_VALUE_TENSOR;
    bool ok;
    if (op == GS_OP_SUM || op == GS_OP_PROD)
      ok = gs_operate_binary(call->session, call->span,
                             op == GS_OP_SUM ? GS_AST_ADD : GS_AST_MUL, pair, out);
    else if (tensors)
      ok = gs_operate_elementwise(call->session, call->span, op, pair, 2, out);
    else
      ok = pick(call, op, pair, out);
    if (!ok)
      return false;
  }
  return true;
}

static bool reduce(struct gs_call *call, enum gs_op op, int dim_argument, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  bool keep = false;
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  uint32_t dims = (1u << x->type.rank) - 1;
  bool index = op == GS_OP_ARGMAX || op == GS_OP_ARGMIN;
  if (gs_arg_given(call, dim_argument)) {
    if (!gs_arg_dims(call, dim_argument, x->type.rank, &dims, NULL, NULL))
      return false;
  } else if (index && x->type.rank != 1) {
    x = gs_build_reshape(&s->graph, call->span, x, 1, (const int64_t[]){ -1 });
    dims = 1;
  }
  if (gs_arg_given(call, dim_argument + 1) && !gs_arg_bool(call, dim_argument + 1, &keep))
    return false;
  return gs_operate_node(s, gs_build_reduce(&s->graph, op, call->span, x, dims, keep), out);
}

static bool function_reduce(struct gs_call *call, struct gs_value *out)
{
  enum gs_op op = call->builtin->op;
  if ((op == GS_OP_SUM || op == GS_OP_PROD) && gs_value_is_sequence(call->args[0].value))
    return fold_list(call, op, out);
  return reduce(call, op, 1, out);
}

/* max and min: of two operands elementwise, of one over dims, of a list its extreme item. */
static bool extreme(struct gs_call *call, enum gs_op elementwise_op, enum gs_op reduce_op,
                    struct gs_value *out)
{
  if (gs_arg_given(call, 1)) {
    if (gs_arg_given(call, 2) || gs_arg_given(call, 3))
      return gs_session_fail(call->session, call->span,
                             "%s of two operands is elementwise and takes no dim",
                             call->builtin->name);
    call->args[2].value.kind = GS_VALUE_ABSENT;
    return elementwise(call, elementwise_op, out);
  }
  if (gs_value_is_sequence(call->args[0].value))
    return fold_list(call, elementwise_op, out);
  return reduce(call, reduce_op, 2, out);
}

static bool function_max(struct gs_call *call, struct gs_value *out)
{
  return extreme(call, GS_OP_MAX, GS_OP_REDUCE_MAX, out);
}

static bool function_min(struct gs_call *call, struct gs_value *out)
{
  return extreme(call, GS_OP_MIN, GS_OP_REDUCE_MIN, out);
}

static bool function_einsum(struct gs_call *call, struct gs_value *out)
{
  const char *spec;
  struct gs_node **nodes;
  int count;
  if (!gs_arg_string(call, 0, &spec) || !gs_arg_tensors(call, -1, &nodes, &count))
    return false;
  struct gs_session *s = call->session;
  if (count == 0)
    return gs_session_fail(s, call->span, "einsum \"%s\" has no operands", spec);
  return gs_operate_node(s, gs_build_einsum(&s->graph, call->span, spec, nodes, count), out);
}

/* batch=[[0], [0]] or contract=[[2], [1]]: dims of the left and of the right operand. */
static bool dims_pair(struct gs_call *call, int i, struct gs_node *const operands[2],
                      int dims[2][GS_MAX_RANK], int *count)
{
  struct gs_argument *argument = &call->args[i], saved = *argument;
  struct gs_value pair;
  int counts[2];
  *count = 0;
  if (!gs_arg_given(call, i))
    return true;
  if (!gs_arg_sequence(call, i, &pair))
    return false;
  if (pair.length != 2)
    return gs_arg_wrong(call, i, "two lists of dims, left and right");
  for (int side = 0; side < 2; side++) {
    uint32_t set;
    argument->value = *gs_value_item(pair, (size_t)side);
    if (!gs_arg_dims(call, i, operands[side]->type.rank, &set, dims[side], &counts[side]))
      return false;
  }
  *argument = saved;
  if (counts[0] != counts[1])
    return gs_session_fail(call->session, argument->span,
                           "dot_general: %d dims on the left but %d on the right", counts[0],
                           counts[1]);
  *count = counts[0];
  return true;
}

static bool function_dot_general(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *operands[2];
  int batch[2][GS_MAX_RANK], contract[2][GS_MAX_RANK], nbatch, ncontract;
  if (!gs_arg_tensor(call, 0, &operands[0]) || !gs_arg_tensor(call, 1, &operands[1]) ||
      !dims_pair(call, 2, operands, batch, &nbatch) ||
      !dims_pair(call, 3, operands, contract, &ncontract))
    return false;
  return gs_operate_node(s,
                         gs_build_dot_general(&s->graph, call->span, operands[0], operands[1],
                                              batch[0], batch[1], nbatch, contract[0], contract[1],
                                              ncontract),
                         out);
}

const struct gs_builtin gs_builtins_math[] = {
  { "clamp", "lo x hi", function_elementwise, GS_OP_CLAMP, GS_TOPIC_ELEMENTWISE,
    "clamp(lo, x, hi)", "x, at least lo and at most hi" },
  { "convert", "x dtype", function_convert, GS_OP_CONVERT, GS_TOPIC_ELEMENTWISE,
    "convert(x, bf16)", "another element type; floats to integers truncate toward zero" },
  { "max", "a b? dim? keep?", function_max, GS_OP_MAX, GS_TOPIC_REDUCTIONS,
    "max(a, b)  max(x, dim=1, keep=false)", "the larger of two, or the largest over dims" },
  { "min", "a b? dim? keep?", function_min, GS_OP_MIN, GS_TOPIC_REDUCTIONS,
    "min(a, b)  min(x, dim=1, keep=false)", "the smaller of two, or the smallest over dims" },
  { "einsum", "spec operands*", function_einsum, GS_OP_EINSUM, GS_TOPIC_CONTRACTION,
    "einsum(\"bm,mh->bh\", x, w)",
    "products summed over the labels that vanish; any number of operands, also ... and aa" },
  { "dot_general", "a b batch? contract?", function_dot_general, GS_OP_EINSUM, GS_TOPIC_CONTRACTION,
    "dot_general(a, b, batch=[[0], [0]], contract=[[2], [1]])",
    "XLA's product: batch dims first, then what is left of a and of b" },
  { 0 },
};

/* One row for each elementwise operator and reduction of lang/ops.def. */
#define PARAMETERS_1 "x"
#define PARAMETERS_2 "a b"
#define PARAMETERS_3 "p a b"
#define ROW_LEAF(...)
#define ROW_SHARDING(...)
#define ROW_SHAPE(...)
#define ROW_CONTRACTION(...)
#define ROW_INDEXING(...)
#define ROW_ORDER(...)
#define ROW_TRANSFORM(...)
#define ROW_RANDOM(...)
#define ROW_WINDOW(...)
#define ROW_CONTROL(...)
#define ROW_MANUAL(...)
#define ROW_COLLECTIVE(...)
#define ROW_DEVICE(...)
#define ROW_ELEMENTWISE(id, name, nargs, usage, help) \
  { name, PARAMETERS_##nargs, function_elementwise, GS_OP_##id, GS_TOPIC_ELEMENTWISE, usage, help },
#define ROW_REDUCTION(id, name, nargs, usage, help) \
  { name, "x dim? keep?", function_reduce, GS_OP_##id, GS_TOPIC_REDUCTIONS, usage, help },
#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) \
  ROW_##group(id, name, nargs, usage, help)
const struct gs_builtin gs_builtins_operator[] = {
#include "lang/ops.def"
  { 0 },
};
#undef GS_OP
