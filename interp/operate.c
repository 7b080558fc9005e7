/* interp/operate.c - infix operators over every kind of value.
 *
 * Numbers are computed here; as soon as a tensor takes part the graph grows, and a plain number
 * takes the tensor's element type (weak typing).
 */
#include <config.h>

#include "interp/eval.h"

#include <math.h>
#include <string.h>

/* The tensor operator behind an infix one. */
static const enum gs_op tensor_ops[] = {
  [GS_AST_NEG] = GS_OP_NEG, [GS_AST_NOT] = GS_OP_NOT, [GS_AST_AND] = GS_OP_AND,
  [GS_AST_OR] = GS_OP_OR,   [GS_AST_EQ] = GS_OP_EQ,   [GS_AST_NE] = GS_OP_NE,
  [GS_AST_LT] = GS_OP_LT,   [GS_AST_LE] = GS_OP_LE,   [GS_AST_GT] = GS_OP_GT,
  [GS_AST_GE] = GS_OP_GE,   [GS_AST_ADD] = GS_OP_ADD, [GS_AST_SUB] = GS_OP_SUB,
  [GS_AST_MUL] = GS_OP_MUL, [GS_AST_DIV] = GS_OP_DIV, [GS_AST_REM] = GS_OP_REM,
  [GS_AST_MATMUL] = GS_OP_EINSUM, [GS_AST_POW] = GS_OP_POW,
};

bool gs_operate_node(struct gs_session *s, struct gs_node *node, struct gs_value *out)
{
  *out = gs_value_tensor(node);
  if (!gs_node_is_poison(&s->graph, node))
    return true;
  s->flow = GS_FLOW_STOP;
  return false;
}

/* Whether INTEGER is a value of DTYPE. */
static bool integer_fits(enum gs_dtype dtype, int64_t integer)
{
  int bits = (int)gs_dtype_size(dtype) * 8;
  if (gs_dtype_kind(dtype) == GS_KIND_UNSIGNED)
    return integer >= 0 && (bits >= 63 || integer < (int64_t)1 << bits);
  return bits >= 64 || (integer >= -((int64_t)1 << (bits - 1)) &&
                        integer < (int64_t)1 << (bits - 1));
}

static struct gs_node *scalar_mismatch(struct gs_session *s, struct gs_span at,
                                       enum gs_dtype dtype, struct gs_value value)
{
  struct gs_text text = { .arena = s->values };
  gs_value_print(&text, value, true);
  gs_session_fail(s, at, "%s %s meets a tensor of %s", gs_value_kind_name(value.kind),
                  gs_text_string(&text), gs_dtype_name(dtype));
  if (gs_value_is_number(value) || value.kind == GS_VALUE_BOOL)
    gs_hint(&s->diagnostics, "convert(x, %s) makes the tensor's type fit",
            value.kind == GS_VALUE_BOOL ? "pred" : value.kind == GS_VALUE_FLOAT ? "f32" : "s32");
  return &s->graph.poison;
}

struct gs_node *gs_operate_scalar(struct gs_session *s, struct gs_span at, enum gs_dtype dtype,
                                  struct gs_value value)
{
  enum gs_dtype_kind kind = gs_dtype_kind(dtype);
  if (value.kind == GS_VALUE_BOOL && kind == GS_KIND_PRED)
    return gs_build_scalar_int(&s->graph, at, dtype, value.boolean);
  if (value.kind == GS_VALUE_INT && gs_dtype_is_integer(dtype)) {
    if (integer_fits(dtype, value.integer))
      return gs_build_scalar_int(&s->graph, at, dtype, value.integer);
    gs_session_fail(s, at, "%lld is not a value of %s", (long long)value.integer,
                    gs_dtype_name(dtype));
    return &s->graph.poison;
  }
  if (gs_value_is_number(value) && (kind == GS_KIND_FLOAT || kind == GS_KIND_COMPLEX))
    return gs_build_scalar(&s->graph, at, dtype, gs_value_number(value));
  return scalar_mismatch(s, at, dtype, value);
}

/* The element type plain VALUES get without a tensor among them. */
static enum gs_dtype default_dtype(const struct gs_value *values, int count)
{
  enum gs_dtype dtype = GS_DTYPE_PRED;
  for (int i = 0; i < count; i++) {
    if (values[i].kind == GS_VALUE_FLOAT)
      return GS_DTYPE_F32;
    if (values[i].kind == GS_VALUE_INT)
      dtype = GS_DTYPE_S32;
  }
  return dtype;
}

bool gs_operate_elementwise(struct gs_session *s, struct gs_span at, enum gs_op op,
                            const struct gs_value *args, int nargs, struct gs_value *out)
{
  enum { MAX_OPERANDS = 4 };
  struct gs_node *nodes[MAX_OPERANDS];
  /* The first operand of where is a pred of its own; the others settle the type among them. */
  int first = op == GS_OP_WHERE ? 1 : 0;
  bool found = false;
  enum gs_dtype dtype = default_dtype(args + first, nargs - first);
  for (int i = first; i < nargs && !found; i++)
    if (args[i].kind == GS_VALUE_TENSOR) {
      dtype = args[i].node->type.dtype;
      found = true;
    }
  for (int i = 0; i < nargs; i++) {
    if (args[i].kind == GS_VALUE_TENSOR) {
      nodes[i] = args[i].node;
      continue;
    }
    if (!gs_value_is_number(args[i]) && args[i].kind != GS_VALUE_BOOL) {
      gs_session_fail(s, at, "%s takes tensors and numbers, not %s", gs_op_info(op)->name,
                      gs_value_kind_name(args[i].kind));
      return false;
    }
    nodes[i] = gs_operate_scalar(s, at, i < first ? GS_DTYPE_PRED : dtype, args[i]);
    if (gs_node_is_poison(&s->graph, nodes[i]))
      return false;
  }
  return gs_operate_node(s, gs_build_elementwise(&s->graph, op, at, nodes, nargs), out);
}

static bool wrong_operands(struct gs_session *s, struct gs_span at, enum gs_ast_op op,
                           const struct gs_value operands[2])
{
  return gs_session_fail(s, at, "%s between %s and %s", gs_ast_op_name(op),
                         gs_value_describe(s->values, operands[0]),
                         gs_value_describe(s->values, operands[1]));
}

static bool integer_power(int64_t base, int64_t exponent, int64_t *result)
{
  *result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(*result, base, result))
      return false;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
      return false;
  }
  return true;
}

/* Integers stay integers where the result is one; division that leaves a remainder gives a
 * float. */
static bool operate_integers(struct gs_session *s, struct gs_span at, enum gs_ast_op op, int64_t a,
                             int64_t b, struct gs_value *out)
{
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
  case GS_AST_ADD:
    overflow = __builtin_add_overflow(a, b, &result);
    break;
  case GS_AST_SUB:
    overflow = __builtin_sub_overflow(a, b, &result);
    break;
  case GS_AST_MUL:
    overflow = __builtin_mul_overflow(a, b, &result);
    break;
  case GS_AST_DIV:
  case GS_AST_REM:
    if (b == 0)
      return gs_session_fail(s, at, "division of %lld by zero", (long long)a);
    overflow = a == INT64_MIN && b == -1;
    if (!overflow && op == GS_AST_DIV && a % b != 0) {
      *out = gs_value_float((double)a / (double)b);
      return true;
    }
    if (!overflow)
      result = op == GS_AST_DIV ? a / b : a % b;
    break;
  default:
    if (b < 0) {
      *out = gs_value_float(pow((double)a, (double)b));
      return true;
    }
    overflow = !integer_power(a, b, &result);
  }
  if (overflow)
    return gs_session_fail(s, at, "%lld %s %lld is too large for an integer", (long long)a,
                           gs_ast_op_name(op), (long long)b);
  *out = gs_value_int(result);
  return true;
}

static bool compare_result(enum gs_ast_op op, int order)
{
  switch (op) {
  case GS_AST_LT:
    return order < 0;
  case GS_AST_LE:
    return order <= 0;
  case GS_AST_GT:
    return order > 0;
  default:
    return order >= 0;
  }
}

static bool compare_numbers(enum gs_ast_op op, struct gs_value a, struct gs_value b)
{
  if (a.kind == GS_VALUE_INT && b.kind == GS_VALUE_INT)
    return compare_result(op, (a.integer > b.integer) - (a.integer < b.integer));
  double x = gs_value_number(a), y = gs_value_number(b);
  return !isnan(x) && !isnan(y) && compare_result(op, (x > y) - (x < y));
}

static bool operate_numbers(struct gs_session *s, struct gs_span at, enum gs_ast_op op,
                            const struct gs_value operands[2], struct gs_value *out)
{
  if (op >= GS_AST_LT && op <= GS_AST_GE) {
    *out = gs_value_bool(compare_numbers(op, operands[0], operands[1]));
    return true;
  }
  if (op == GS_AST_MATMUL)
    return wrong_operands(s, at, op, operands);
  if (operands[0].kind == GS_VALUE_INT && operands[1].kind == GS_VALUE_INT)
    return operate_integers(s, at, op, operands[0].integer, operands[1].integer, out);
  double a = gs_value_number(operands[0]), b = gs_value_number(operands[1]);
  double result = op == GS_AST_ADD   ? a + b
                  : op == GS_AST_SUB ? a - b
                  : op == GS_AST_MUL ? a * b
                  : op == GS_AST_DIV ? a / b
                  : op == GS_AST_REM ? fmod(a, b)
                                     : pow(a, b);
  *out = gs_value_float(result);
  return true;
}

static bool concatenate_strings(struct gs_session *s, struct gs_span at,
                                const struct gs_value operands[2], struct gs_value *out)
{
  size_t a = operands[0].length, b = operands[1].length;
  char *joined = a + b <= GS_VALUE_MAX_ITEMS ? gs_arena_alloc(s->values, a + b + 1) : NULL;
  if (joined == NULL)
    return gs_session_out_of_memory(s, at);
  memcpy(joined, operands[0].text, a);
  memcpy(joined + a, operands[1].text, b);
  *out = (struct gs_value){ .kind = GS_VALUE_STRING, .length = (uint32_t)(a + b), .text = joined };
  return true;
}

static bool concatenate_lists(struct gs_session *s, struct gs_span at,
                              const struct gs_value operands[2], struct gs_value *out)
{
  *out = operands[0];
  for (uint32_t i = 0; i < operands[1].length; i++) {
    *out = gs_value_append(s->values, *out, *gs_value_item(operands[1], i));
    if (out->kind == GS_VALUE_ABSENT || gs_arena_failed(s->values))
      return gs_session_out_of_memory(s, at);
  }
  return true;
}

/* LIST * COUNT, as in [-1] * 3. */
static bool repeat_list(struct gs_session *s, struct gs_span at, struct gs_value list,
                        int64_t count, struct gs_value *out)
{
  int64_t length = 0;
  if (count < 0)
    count = 0;
  if (!gs_mul_size((int64_t)list.length, count, &length) || length > GS_VALUE_MAX_ITEMS)
    return gs_session_fail(s, at, "a list of %u items %lld times is too long", list.length,
                           (long long)count);
  *out = gs_value_list(s->values, list.kind, (size_t)length);
  if (out->kind == GS_VALUE_ABSENT)
    return gs_session_out_of_memory(s, at);
  for (int64_t i = 0; i < length; i++)
    *gs_value_item(*out, (size_t)i) = *gs_value_item(list, (size_t)(i % list.length));
  return true;
}

static bool operate_others(struct gs_session *s, struct gs_span at, enum gs_ast_op op,
                           const struct gs_value operands[2], struct gs_value *out)
{
  struct gs_value a = operands[0], b = operands[1];
  if (op == GS_AST_ADD && a.kind == GS_VALUE_STRING && b.kind == GS_VALUE_STRING)
    return concatenate_strings(s, at, operands, out);
  if (op == GS_AST_ADD && gs_value_is_sequence(a) && a.kind == b.kind)
    return concatenate_lists(s, at, operands, out);
  if (op == GS_AST_MUL && gs_value_is_sequence(a) && b.kind == GS_VALUE_INT)
    return repeat_list(s, at, a, b.integer, out);
  if (op >= GS_AST_LT && op <= GS_AST_GE && a.kind == GS_VALUE_STRING &&
      b.kind == GS_VALUE_STRING) {
    *out = gs_value_bool(compare_result(op, strcmp(a.text, b.text)));
    return true;
  }
  wrong_operands(s, at, op, operands);
  if (op == GS_AST_ADD && (a.kind == GS_VALUE_STRING || b.kind == GS_VALUE_STRING))
    gs_hint(&s->diagnostics, "str(x) makes a string of a value");
  return false;
}

bool gs_operate_binary(struct gs_session *s, struct gs_span at, enum gs_ast_op op,
                       const struct gs_value operands[2], struct gs_value *out)
{
  struct gs_value a = operands[0], b = operands[1];
  bool tensor_a = a.kind == GS_VALUE_TENSOR, tensor_b = b.kind == GS_VALUE_TENSOR;
  if ((op == GS_AST_EQ || op == GS_AST_NE) &&
      (a.kind == GS_VALUE_NONE || b.kind == GS_VALUE_NONE)) {
    *out = gs_value_bool((a.kind == b.kind) == (op == GS_AST_EQ));
    return true;
  }
  if (op == GS_AST_MATMUL && tensor_a && tensor_b)
    return gs_operate_node(s, gs_build_matmul(&s->graph, at, a.node, b.node), out);
  if (op != GS_AST_MATMUL && (tensor_a || tensor_b)) {
    struct gs_value other = tensor_a ? b : a;
    if (other.kind == GS_VALUE_TENSOR || gs_value_is_number(other) || other.kind == GS_VALUE_BOOL)
      return gs_operate_elementwise(s, at, tensor_ops[op], operands, 2, out);
    return wrong_operands(s, at, op, operands);
  }
  if (op == GS_AST_EQ || op == GS_AST_NE) {
    *out = gs_value_bool(gs_value_equal(a, b) == (op == GS_AST_EQ));
    return true;
  }
  if (gs_value_is_number(a) && gs_value_is_number(b))
    return operate_numbers(s, at, op, operands, out);
  return operate_others(s, at, op, operands, out);
}

bool gs_operate_unary(struct gs_session *s, struct gs_span at, enum gs_ast_op op, struct gs_value a,
                      struct gs_value *out)
{
  if (a.kind == GS_VALUE_TENSOR)
    return gs_operate_elementwise(s, at, tensor_ops[op], &a, 1, out);
  if (op == GS_AST_NOT) {
    bool truth;
    if (!gs_eval_truth(s, at, a, &truth))
      return false;
    *out = gs_value_bool(!truth);
    return true;
  }
  if (a.kind == GS_VALUE_FLOAT) {
    *out = gs_value_float(-a.number);
    return true;
  }
  if (a.kind != GS_VALUE_INT)
    return gs_session_fail(s, at, "- of %s", gs_value_kind_name(a.kind));
  if (a.integer == INT64_MIN)
    return gs_session_fail(s, at, "-(%lld) is too large for an integer", (long long)a.integer);
  *out = gs_value_int(-a.integer);
  return true;
}
