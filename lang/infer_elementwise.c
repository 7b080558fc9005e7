/* lang/infer_elementwise.c - result types of operators that work element by element.
 *
 * Operands have the result's shape or rank 0; NumPy's broadcasting is done before, by
 * gs_build_elementwise.
 */
#include <config.h>

#include "lang/infer.h"

enum {
  FLOATS = 1 << GS_KIND_FLOAT,
  INTEGERS = 1 << GS_KIND_SIGNED | 1 << GS_KIND_UNSIGNED,
  PREDS = 1 << GS_KIND_PRED,
  COMPLEXES = 1 << GS_KIND_COMPLEX,
  REALS = FLOATS | INTEGERS,
  EVERYTHING = REALS | PREDS | COMPLEXES
};

/* "an integer, a float or a complex type" */
static const char *kinds_text(int kinds)
{
  static const struct { int kinds; const char *text; } texts[] = {
    { FLOATS, "a float type" },
    { INTEGERS, "an integer type" },
    { FLOATS | COMPLEXES, "a float or complex type" },
    { REALS, "an integer or float type" },
    { REALS | COMPLEXES, "an integer, float or complex type" },
    { REALS | PREDS, "pred, an integer or a float type" },
    { INTEGERS | PREDS, "pred or an integer type" }
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (texts[i].kinds == kinds)
      return texts[i].text;
  }
  return "another element type";
}

/* Whether operand INDEX has one of KINDS of element types. */
static bool check_kind(const struct gs_infer *in, int index, int kinds)
{
  const struct gs_node *x = in->args[index];
  enum gs_dtype_kind kind = gs_dtype_kind(x->type.dtype);
  if ((kinds >> kind & 1) != 0)
    return true;
  gs_infer_error(in, "%s is %s, but it needs %s", GS_OPERAND(x, index), GS_TYPE(&x->type),
                 kinds_text(kinds));
  const char *name = x->name != NULL ? x->name : "…";
  if (kind == GS_KIND_COMPLEX)
    return false;
  if ((kinds & FLOATS) != 0)
    gs_hint(in->diagnostics, "convert(%s, f32)", name);
  else if ((kinds & PREDS) != 0 && kind == GS_KIND_FLOAT)
    gs_hint(in->diagnostics, "compare it first: %s != 0", name);
  else
    gs_hint(in->diagnostics, "convert(%s, s32)", name);
  return false;
}

/* The common shape of the operands, as a type of DTYPE. */
static bool common_shape(const struct gs_infer *in, enum gs_dtype dtype)
{
  int shaped = 0;
  while (shaped < in->nargs - 1 && in->args[shaped]->type.rank == 0)
    shaped++;
  const struct gs_node *first = in->args[shaped];
  for (int i = shaped + 1; i < in->nargs; i++) {
    const struct gs_node *x = in->args[i];
    if (x->type.rank != 0 && !gs_shape_equal(&x->type, &first->type))
      return gs_infer_error(in, "shapes differ: %s is %s, %s is %s", GS_OPERAND(first, shaped),
                            GS_TYPE(&first->type), GS_OPERAND(x, i), GS_TYPE(&x->type));
  }
  *in->result = first->type;
  in->result->dtype = dtype;
  return true;
}

/* All operands have one of KINDS and the same type, which is the result's too. */
static bool same_type(const struct gs_infer *in, int kinds)
{
  return check_kind(in, 0, kinds)
         && gs_operands_same_dtype(in->diagnostics, in->at, in->name, in->args,
                                   in->nargs, 0)
         && common_shape(in, in->args[0]->type.dtype);
}

static bool to_pred(const struct gs_infer *in, int kinds)
{
  if (!same_type(in, kinds))
    return false;
  in->result->dtype = GS_DTYPE_PRED;
  return true;
}

bool gs_infer_arithmetic(const struct gs_infer *in)
{
  bool real = in->op == GS_OP_RELU || in->op == GS_OP_REM || in->op == GS_OP_MOD;
  if (!same_type(in, real ? REALS : REALS | COMPLEXES))
    return false;
  if (in->op == GS_OP_ABS && gs_dtype_kind(in->result->dtype) == GS_KIND_COMPLEX)
    in->result->dtype = in->result->dtype == GS_DTYPE_C64 ? GS_DTYPE_F32 : GS_DTYPE_F64;
  return true;
}

/* Functions without a complex counterpart that anyone would want. */
static bool is_real_function(enum gs_op op)
{
  static const enum gs_op ops[] = {
    GS_OP_CBRT, GS_OP_ERF, GS_OP_FLOOR, GS_OP_CEIL, GS_OP_ROUND, GS_OP_GELU, GS_OP_SILU,
    GS_OP_SOFTPLUS, GS_OP_ATAN2
  };
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    if (ops[i] == op)
      return true;
  }
  return false;
}

bool gs_infer_floating(const struct gs_infer *in)
{
  return same_type(in, is_real_function(in->op) ? FLOATS : FLOATS | COMPLEXES);
}

bool gs_infer_predicate(const struct gs_infer *in)
{
  return to_pred(in, FLOATS | COMPLEXES);
}

bool gs_infer_logical(const struct gs_infer *in)
{
  return same_type(in, INTEGERS | PREDS);
}

bool gs_infer_integral(const struct gs_infer *in)
{
  return same_type(in, INTEGERS);
}

bool gs_infer_ordered(const struct gs_infer *in)
{
  return same_type(in, REALS | PREDS);
}

bool gs_infer_equality(const struct gs_infer *in)
{
  return to_pred(in, EVERYTHING);
}

bool gs_infer_comparison(const struct gs_infer *in)
{
  return to_pred(in, REALS | PREDS);
}

bool gs_infer_convert(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  in->result->dtype = in->wanted->dtype;
  return true;
}

bool gs_infer_where(const struct gs_infer *in)
{
  const struct gs_node *p = in->args[0];
  if (p->type.dtype != GS_DTYPE_PRED) {
    gs_infer_error(in, "the condition %s is %s, but it needs pred", GS_OPERAND(p, 0),
                   GS_TYPE(&p->type));
    gs_hint(in->diagnostics, "compare it: where(%s != 0, a, b)", p->name != NULL ? p->name : "…");
    return false;
  }
  return gs_operands_same_dtype(in->diagnostics, in->at, "where", in->args, in->nargs, 1)
         && common_shape(in, in->args[1]->type.dtype);
}

bool gs_infer_clamp(const struct gs_infer *in)
{
  return same_type(in, REALS);
}

bool gs_infer_shard(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  return true;
}
