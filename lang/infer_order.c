/* lang/infer_order.c - result types of sorting and cumulative operators. */
#include <config.h>

#include <inttypes.h>

#include "lang/infer.h"

static bool is_ordered(enum gs_dtype dtype)
{
  return gs_dtype_kind(dtype) != GS_KIND_COMPLEX;
}

/* Keys that can be ordered, all operands of one shape with dim DIM. */
static bool check_keys(const struct gs_infer *in, int dim)
{
  if (!gs_infer_check_dim(in, dim))
    return false;
  for (int i = 0; i < in->nargs; i++) {
    const struct gs_type *t = &in->args[i]->type;
    if (!gs_shape_equal(t, &in->args[0]->type))
      return gs_infer_error(in, "%s is %s but %s is %s: what is ordered together has one shape",
                            GS_OPERAND(in->args[0], 0), GS_TYPE(&in->args[0]->type),
                            GS_OPERAND(in->args[i], i), GS_TYPE(t));
    if ((i < in->nargs - 1 || in->nargs == 1) && !is_ordered(t->dtype))
      return gs_infer_error(in, "%s is %s, which has no order", GS_OPERAND(in->args[i], i), GS_TYPE(t));
  }
  return true;
}

bool gs_infer_sort(const struct gs_infer *in)
{
  *in->result = in->args[in->nargs - 1]->type;
  return check_keys(in, in->attrs->order.dim);
}

bool gs_infer_top_k(const struct gs_infer *in)
{
  int last = in->args[0]->type.rank - 1;
  int64_t k = in->attrs->order.k;
  *in->result = in->args[in->nargs - 1]->type;
  if (!check_keys(in, last < 0 ? 0 : last))
    return false;
  if (k < 0 || k > in->result->dims[last])
    return gs_infer_error(in, "k is %" PRId64 ", but the last dim of %s has %" PRId64 " elements", k,
                          GS_TYPE(in->result), in->result->dims[last]);
  in->result->dims[last] = k;
  return true;
}

static bool cumulative(const struct gs_infer *in, bool allowed)
{
  const struct gs_type *x = &in->args[0]->type;
  *in->result = *x;
  if (!allowed)
    return gs_infer_error(in, "not for %s", GS_TYPE(x));
  return gs_infer_check_dim(in, in->attrs->order.dim);
}

bool gs_infer_cumulative(const struct gs_infer *in)
{
  return cumulative(in, gs_dtype_kind(in->args[0]->type.dtype) != GS_KIND_PRED);
}

bool gs_infer_cumulative_order(const struct gs_infer *in)
{
  enum gs_dtype dtype = in->args[0]->type.dtype;
  return cumulative(in, is_ordered(dtype) && gs_dtype_kind(dtype) != GS_KIND_PRED);
}
