/* lang/infer_reduce.c - result types of reductions. */
#include <config.h>

#include "lang/infer.h"

#include <inttypes.h>

/* The operand's type without the reduced dims, or with size 1 there. */
static bool reduce_shape(const struct gs_infer *in)
{
  const struct gs_type *from = &in->args[0]->type;
  uint32_t dims = in->attrs->reduce.dims;
  if (!gs_infer_check_dim_set(in, dims))
    return false;
  *in->result = gs_type_scalar(from->dtype);
  for (int i = 0; i < from->rank; i++) {
    bool reduced = (dims >> i & 1) != 0;
    if (!reduced || in->attrs->reduce.keep)
      in->result->dims[in->result->rank++] = reduced ? 1 : from->dims[i];
  }
  return true;
}

/* "x is pred[8], but it needs an integer or float type", and what to write: BEFORE x AFTER. */
static bool wrong_type(const struct gs_infer *in, const char *needs, const char *before,
                       const char *after)
{
  const struct gs_node *x = in->args[0];
  gs_infer_error(in, "%s is %s, but it needs %s", GS_OPERAND(x, 0), GS_TYPE(&x->type), needs);
  if (before != NULL)
    gs_hint(in->diagnostics, "%s%s%s", before, x->name != NULL ? x->name : "…", after);
  return false;
}

bool gs_infer_reduce_sum(const struct gs_infer *in)
{
  if (in->args[0]->type.dtype == GS_DTYPE_PRED)
    return wrong_type(in, "an integer, float or complex type", "convert(", ", s32)");
  return reduce_shape(in);
}

bool gs_infer_reduce_order(const struct gs_infer *in)
{
  if (gs_dtype_kind(in->args[0]->type.dtype) == GS_KIND_COMPLEX)
    return wrong_type(in, "a type with an order", NULL, NULL);
  return reduce_shape(in);
}

bool gs_infer_reduce_pred(const struct gs_infer *in)
{
  if (in->args[0]->type.dtype != GS_DTYPE_PRED)
    return wrong_type(in, "pred", "compare it: ", " != 0");
  return reduce_shape(in);
}

bool gs_infer_reduce_index(const struct gs_infer *in)
{
  const struct gs_type *from = &in->args[0]->type;
  uint32_t dims = in->attrs->reduce.dims;
  if (gs_dtype_kind(from->dtype) == GS_KIND_COMPLEX)
    return wrong_type(in, "a type with an order", NULL, NULL);
  if (dims == 0 || (dims & (dims - 1)) != 0) {
    gs_infer_error(in, "an index along one dim is what it gives; %s is %s",
                   GS_OPERAND(in->args[0], 0), GS_TYPE(from));
    gs_hint(in->diagnostics, "name the dim, as in dim=%d%s", from->rank > 0 ? from->rank - 1 : 0,
            from->rank > 1 ? ", or reshape to one dim first" : "");
    return false;
  }
  if (!reduce_shape(in))
    return false;
  int64_t size = from->dims[__builtin_ctz(dims)];
  if (size == 0 || size > INT32_MAX)
    return gs_infer_error(in, "dim %d of %s has %" PRId64 " elements, %s", __builtin_ctz(dims),
                          GS_OPERAND(in->args[0], 0), size,
                          size == 0 ? "none to point at" : "more than s32 can count");
  in->result->dtype = GS_DTYPE_S32;
  return true;
}
