/* lang/infer_shape.c - result types of sources and of operators that move elements. */
#include <config.h>

#include "lang/infer.h"

#include <inttypes.h>

bool gs_infer_leaf(const struct gs_infer *in)
{
  *in->result = in->op == GS_OP_CONSTANT ? in->attrs->constant.tensor->type : *in->wanted;
  return true;
}

bool gs_infer_iota(const struct gs_infer *in)
{
  int dim = in->attrs->iota.dim;
  const struct gs_type *type = in->wanted;
  enum gs_dtype_kind kind = gs_dtype_kind(type->dtype);
  if (kind == GS_KIND_PRED || kind == GS_KIND_COMPLEX)
    return gs_infer_error(in, "the type is %s, but it needs an integer or float type",
                          GS_TYPE(type));
  if (type->rank == 0)
    return gs_infer_error(in, "a scalar has no dim to count along");
  if (dim < 0 || dim >= type->rank)
    return gs_infer_error(in, "%s has dims 0 to %d, not %d", GS_TYPE(type), type->rank - 1, dim);
  *in->result = *type;
  return true;
}

bool gs_infer_reshape(const struct gs_infer *in)
{
  const struct gs_node *x = in->args[0];
  *in->result = *in->wanted;
  in->result->dtype = x->type.dtype;
  if (!gs_type_valid(in->result))
    return true;                       /* too large or negative: said in one place for all */
  int64_t found = gs_type_elements(&x->type), wanted = gs_type_elements(in->result);
  if (found == wanted)
    return true;
  return gs_infer_error(in, "%s is %s with %" PRId64 " elements, %s has %" PRId64, GS_OPERAND(x, 0),
                        GS_TYPE(&x->type), found, GS_TYPE(in->result), wanted);
}

bool gs_infer_transpose(const struct gs_infer *in)
{
  const struct gs_node *x = in->args[0];
  *in->result = x->type;
  uint32_t seen = 0;
  for (int i = 0; i < x->type.rank; i++) {
    int dim = in->attrs->transpose.dims[i];
    if (!gs_infer_check_dim(in, dim))
      return false;
    if ((seen >> dim & 1) != 0)
      return gs_infer_error(in, "dim %d stands twice in the order; %s needs each of 0 to %d once",
                            dim, GS_TYPE(&x->type), x->type.rank - 1);
    seen |= 1u << dim;
    in->result->dims[i] = x->type.dims[dim];
  }
  return true;
}

bool gs_infer_broadcast(const struct gs_infer *in)
{
  const struct gs_node *x = in->args[0];
  *in->result = *in->wanted;
  in->result->dtype = x->type.dtype;
  uint32_t seen = 0;
  for (int i = 0; i < x->type.rank; i++) {
    int dim = in->attrs->broadcast.dims[i];
    if (dim < 0 || dim >= in->result->rank)
      return gs_infer_error(in, "dim %d of %s goes to dim %d, but %s has rank %d", i,
                            GS_OPERAND(x, 0), dim, GS_TYPE(in->result), in->result->rank);
    if ((seen >> dim & 1) != 0)
      return gs_infer_error(in, "two dims of %s go to dim %d of the result", GS_OPERAND(x, 0), dim);
    seen |= 1u << dim;
    int64_t size = x->type.dims[i], wanted = in->result->dims[dim];
    if (size != wanted && size != 1)
      return gs_infer_error(in, "dim %d of %s is %" PRId64 ", but dim %d of %s is %" PRId64
                            "; only dims of size 1 are repeated", i, GS_OPERAND(x, 0), size, dim,
                            GS_TYPE(in->result), wanted);
  }
  return true;
}

bool gs_infer_reverse(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  return gs_infer_check_dim_set(in, in->attrs->reverse.dims);
}

/* Size after padding SIZE; false when it overflows. */
static bool padded_size(int64_t size, int64_t low, int64_t high, int64_t interior, int64_t *result)
{
  int64_t between = 0;
  return (size < 2 || gs_mul_size(size - 1, interior, &between))
         && gs_add_size(size, between, &size) && gs_add_size(size, low, &size)
         && gs_add_size(size, high, result);
}

bool gs_infer_pad(const struct gs_infer *in)
{
  const struct gs_node *x = in->args[0], *value = in->args[1];
  if (value->type.rank != 0 || value->type.dtype != x->type.dtype)
    return gs_infer_error(in, "the value %s is %s, but %s is %s and needs %s[]",
                          GS_OPERAND(value, 1), GS_TYPE(&value->type), GS_OPERAND(x, 0),
                          GS_TYPE(&x->type), gs_dtype_name(x->type.dtype));
  *in->result = x->type;
  for (int i = 0; i < x->type.rank; i++) {
    int64_t low = in->attrs->pad.low[i], high = in->attrs->pad.high[i];
    int64_t interior = in->attrs->pad.interior[i], *size = &in->result->dims[i];
    if (interior < 0)
      return gs_infer_error(in, "interior is %" PRId64 " for dim %d, it cannot be negative",
                            interior, i);
    if (!padded_size(x->type.dims[i], low, high, interior, size))
      return gs_infer_error(in, "dim %d becomes larger than can be addressed", i);
    if (*size < 0)
      return gs_infer_error(in, "dim %d of %s is %" PRId64 "; low %" PRId64 " and high %" PRId64
                            " would leave %" PRId64 " elements", i, GS_OPERAND(x, 0),
                            x->type.dims[i], low, high, *size);
  }
  return true;
}

bool gs_infer_concat(const struct gs_infer *in)
{
  const struct gs_node *first = in->args[0];
  int dim = in->attrs->concat.dim;
  if (!gs_infer_check_dim(in, dim)
      || !gs_operands_same_dtype(in->diagnostics, in->at, "concat", in->args, in->nargs, 0))
    return false;
  *in->result = first->type;
  for (int k = 1; k < in->nargs; k++) {
    const struct gs_node *x = in->args[k];
    if (x->type.rank != first->type.rank)
      return gs_infer_error(in, "ranks differ: %s is %s, %s is %s", GS_OPERAND(first, 0),
                            GS_TYPE(&first->type), GS_OPERAND(x, k), GS_TYPE(&x->type));
    for (int i = 0; i < first->type.rank; i++) {
      if (i != dim && x->type.dims[i] != first->type.dims[i])
        return gs_infer_error(in, "dim %d is %" PRId64 " in %s but %" PRId64
                              " in %s; only dim %d may differ", i, first->type.dims[i],
                              GS_OPERAND(first, 0), x->type.dims[i], GS_OPERAND(x, k), dim);
    }
    if (!gs_add_size(in->result->dims[dim], x->type.dims[dim], &in->result->dims[dim]))
      return gs_infer_error(in, "dim %d becomes larger than can be addressed", dim);
  }
  return true;
}

bool gs_infer_slice(const struct gs_infer *in)
{
  const struct gs_node *x = in->args[0];
  *in->result = *in->wanted;
  in->result->dtype = x->type.dtype;
  if (in->result->rank != x->type.rank)
    return gs_infer_error(in, "%s is %s, but the part has rank %d", GS_OPERAND(x, 0),
                          GS_TYPE(&x->type), in->result->rank);
  for (int i = 0; i < x->type.rank; i++) {
    int64_t start = in->attrs->slice.start[i], stride = in->attrs->slice.stride[i];
    int64_t count = in->result->dims[i], size = x->type.dims[i];
    if (stride < 1)
      return gs_infer_error(in, "the step of dim %d is %" PRId64 ", it has to be at least 1", i,
                            stride);
    bool inside = start >= 0 && start <= size && count >= 0
                  && (count == 0 || (start < size && count - 1 <= (size - 1 - start) / stride));
    if (!inside)
      return gs_infer_error(in, "%" PRId64 " elements from %" PRId64 " in steps of %" PRId64
                            " reach outside dim %d of %s, %s", count, start, stride, i,
                            GS_OPERAND(x, 0), GS_TYPE(&x->type));
  }
  return true;
}

bool gs_infer_roll(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  return gs_infer_check_dim(in, in->attrs->roll.dim);
}
