/* lang/infer_window.c - result types of convolution and of reductions over windows. */
#include <config.h>

#include <inttypes.h>

#include "lang/infer.h"

int64_t gs_window_positions(const struct gs_window *w, int64_t size)
{
  int64_t spread = size == 0 ? 0 : (size - 1) * w->base_dilate + 1;
  int64_t seen = (w->size - 1) * w->dilate + 1, padded = spread + w->low + w->high;
  return padded < seen || w->size == 0 ? 0 : (padded - seen) / w->stride + 1;
}

/* Sizes that positions can be computed with, WHAT naming the dim. */
static bool check_window(const struct gs_infer *in, const char *what, int dim, const struct gs_window *w,
                         int64_t size)
{
  const int64_t limit = INT64_C(1) << 40;
  if (w->size < 0)
    return gs_infer_error(in, "the window has %" PRId64 " elements along %s %d", w->size, what, dim);
  if (w->stride < 1)
    return gs_infer_error(in, "stride %" PRId64 " along %s %d; it is at least 1", w->stride, what, dim);
  if (w->dilate < 1 || w->base_dilate < 1)
    return gs_infer_error(in, "dilation %" PRId64 " along %s %d; it is at least 1",
                          w->dilate < 1 ? w->dilate : w->base_dilate, what, dim);
  if (w->size > limit || w->stride > limit || w->dilate > limit || w->base_dilate > limit || size > limit
      || w->low > limit || w->high > limit || w->low < -limit || w->high < -limit
      || (w->size > 0 && w->dilate > limit / w->size) || (size > 0 && w->base_dilate > limit / size))
    return gs_infer_error(in, "sizes along %s %d are larger than can be addressed", what, dim);
  return true;
}

/* "dim 3 of x, f32[2,8,8,3], has 3 elements". */
static bool wrong_size(const struct gs_infer *in, const char *what, int arg, int dim, const char *wanted,
                       int64_t number)
{
  const struct gs_type *t = &in->args[arg]->type;
  return gs_infer_error(in, "%s dim %d of %s, %s, has %" PRId64 " elements; %s %" PRId64, what, dim,
                        GS_OPERAND(in->args[arg], arg), GS_TYPE(t), t->dims[dim], wanted, number);
}

static bool check_groups(const struct gs_infer *in, const struct gs_conv *c)
{
  const struct gs_type *x = &in->args[0]->type, *k = &in->args[1]->type;
  int64_t features = x->dims[c->feature], outs = k->dims[c->kernel_out];
  if (c->groups < 1 || c->batch_groups < 1 || (c->groups > 1 && c->batch_groups > 1))
    return gs_infer_error(in, "%" PRId64 " groups and %" PRId64 " batch groups: both are at least 1, one is 1",
                          c->groups, c->batch_groups);
  if (features % c->groups != 0)
    return wrong_size(in, "feature", 0, c->feature, "they do not divide into groups:", c->groups);
  if (x->dims[c->batch] % c->batch_groups != 0)
    return wrong_size(in, "batch", 0, c->batch, "they do not divide into groups:", c->batch_groups);
  if (outs % (c->groups * c->batch_groups) != 0)
    return wrong_size(in, "output feature", 1, c->kernel_out, "they do not divide into groups:",
                      c->groups * c->batch_groups);
  if (k->dims[c->kernel_in] != features / c->groups)
    return wrong_size(in, "input feature", 1, c->kernel_in, "a group of the input has", features / c->groups);
  return true;
}

bool gs_infer_conv(const struct gs_infer *in)
{
  const struct gs_conv *c = in->attrs->conv.conv;
  const struct gs_type *x = &in->args[0]->type, *k = &in->args[1]->type;
  enum gs_dtype_kind kind = gs_dtype_kind(x->dtype);
  if (!gs_operands_same_dtype(in->diagnostics, in->at, "conv", in->args, 2, 0))
    return false;
  if (kind == GS_KIND_PRED || kind == GS_KIND_COMPLEX)
    return gs_infer_error(in, "not for %s", GS_TYPE(x));
  if (x->rank != c->nspatial + 2 || k->rank != c->nspatial + 2)
    return gs_infer_error(in, "the layout \"%s\" is for tensors of rank %d, not %s and %s", c->layout,
                          c->nspatial + 2, GS_TYPE(x), GS_TYPE(k));
  if (!check_groups(in, c))
    return false;
  *in->result = (struct gs_type){ .dtype = x->dtype, .rank = x->rank };
  in->result->dims[c->out_batch] = x->dims[c->batch] / c->batch_groups;
  in->result->dims[c->out_feature] = k->dims[c->kernel_out];
  for (int i = 0; i < c->nspatial; i++) {
    int64_t size = x->dims[c->spatial[i]];
    if (!check_window(in, "spatial dim", i, &c->windows[i], size))
      return false;
    in->result->dims[c->out_spatial[i]] = gs_window_positions(&c->windows[i], size);
  }
  return true;
}

bool gs_infer_select_and_scatter(const struct gs_infer *in)
{
  const struct gs_type *x = &in->args[0]->type, *u = &in->args[1]->type;
  enum gs_dtype_kind kind = gs_dtype_kind(x->dtype);
  struct gs_type positions = *x;
  if (!gs_operands_same_dtype(in->diagnostics, in->at, "select_and_scatter", in->args, 2, 0))
    return false;
  if (kind == GS_KIND_PRED || kind == GS_KIND_COMPLEX)
    return gs_infer_error(in, "not for %s", GS_TYPE(x));
  for (int i = 0; i < x->rank; i++) {
    if (!check_window(in, "dim", i, &in->attrs->window.dims[i], x->dims[i]))
      return false;
    positions.dims[i] = gs_window_positions(&in->attrs->window.dims[i], x->dims[i]);
  }
  *in->result = *x;
  return gs_type_equal(&positions, u)
         || gs_infer_error(in, "%s is %s; the windows of %s, %s, have positions %s", GS_OPERAND(in->args[1], 1),
                           GS_TYPE(u), GS_OPERAND(in->args[0], 0), GS_TYPE(x), GS_TYPE(&positions));
}

bool gs_infer_reduce_window(const struct gs_infer *in)
{
  const struct gs_type *x = &in->args[0]->type;
  enum gs_dtype_kind kind = gs_dtype_kind(x->dtype);
  enum gs_op reduce = in->attrs->window.reduce;
  if (kind == GS_KIND_PRED || (kind == GS_KIND_COMPLEX && reduce != GS_OP_SUM && reduce != GS_OP_PROD))
    return gs_infer_error(in, "not for %s", GS_TYPE(x));
  *in->result = *x;
  for (int i = 0; i < x->rank; i++) {
    if (!check_window(in, "dim", i, &in->attrs->window.dims[i], x->dims[i]))
      return false;
    in->result->dims[i] = gs_window_positions(&in->attrs->window.dims[i], x->dims[i]);
  }
  return true;
}
