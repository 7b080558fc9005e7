/* partition/print_parts.c - operators, their attributes and scalars as the user writes them. */
#include <config.h>

#include "partition/print_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool gs_is_scalar_constant(enum gs_op op, const struct gs_type *type)
{
  return op == GS_OP_CONSTANT && type->rank == 0;
}

void gs_print_float(struct gs_text *text, double value, bool single)
{
  char buffer[40];
  if (value == floor(value) && fabs(value) < 1e6) {
    gs_text_printf(text, signbit(value) ? "-%.0f" : "%.0f", fabs(value));
    return;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    double back = strtod(buffer, NULL);
    if (back == value || (single && (float)back == (float)value) || isnan(value))
      break;
  }
  gs_text_add(text, buffer);
}

void gs_print_scalar(struct gs_text *text, const struct gs_tensor *tensor)
{
  enum gs_dtype dtype = tensor->type.dtype;
  switch (gs_dtype_kind(dtype)) {
  case GS_KIND_PRED:
    gs_text_add(text, gs_element_get_int(dtype, tensor->data, 0) != 0 ? "true" : "false");
    break;
  case GS_KIND_SIGNED:
    gs_text_printf(text, "%" PRId64, gs_element_get_int(dtype, tensor->data, 0));
    break;
  case GS_KIND_UNSIGNED:
    gs_text_printf(text, "%" PRIu64, (uint64_t)gs_element_get_int(dtype, tensor->data, 0));
    break;
  case GS_KIND_FLOAT:
  case GS_KIND_COMPLEX:
    gs_print_float(text, gs_element_get(dtype, tensor->data, 0), dtype != GS_DTYPE_F64);
    break;
  }
  if (gs_dtype_kind(dtype) == GS_KIND_COMPLEX)
    gs_text_printf(text, "%+.9gi", gs_element_get_imag(dtype, tensor->data, 0));
}

void gs_print_dims(struct gs_text *text, const int64_t *dims, int count)
{
  gs_text_add(text, "[");
  for (int i = 0; i < count; i++)
    gs_text_printf(text, "%s%" PRId64, i > 0 ? ", " : "", dims[i]);
  gs_text_add(text, "]");
}

static void print_numbers(struct gs_text *text, const int *numbers, int count)
{
  int64_t dims[GS_MAX_RANK];
  for (int i = 0; i < count; i++)
    dims[i] = numbers[i];
  gs_print_dims(text, dims, count);
}

static void print_set(struct gs_text *text, uint32_t set, bool bare_one)
{
  int numbers[GS_MAX_RANK], count = 0;
  for (int i = 0; i < GS_MAX_RANK; i++)
    if ((set >> i & 1) != 0)
      numbers[count++] = i;
  if (count == 1 && bare_one)
    gs_text_printf(text, "%d", numbers[0]);
  else
    print_numbers(text, numbers, count);
}

static void print_subscripts(struct gs_text *text, const union gs_attrs *attrs,
                             const struct gs_type *operand, const struct gs_type *result)
{
  gs_text_add(text, "[");
  for (int i = 0; i < result->rank; i++) {
    int64_t start = attrs->slice.start[i], stride = attrs->slice.stride[i], n = result->dims[i];
    int64_t end = n == 0 ? start : start + (n - 1) * stride + 1;
    gs_text_add(text, i > 0 ? ", " : "");
    if (start == 0 && stride == 1 && n == operand->dims[i])
      gs_text_add(text, ":");
    else
      gs_text_printf(text, "%" PRId64 ":%" PRId64, start, end);
    if (stride != 1)
      gs_text_printf(text, ":%" PRId64, stride);
  }
  gs_text_add(text, "]");
}

static void print_padding(struct gs_text *text, const union gs_attrs *attrs, int rank)
{
  bool interior = false;
  for (int i = 0; i < rank; i++)
    interior = interior || attrs->pad.interior[i] != 0;
  gs_text_add(text, ", ");
  gs_print_dims(text, attrs->pad.low, rank);
  gs_text_add(text, ", ");
  gs_print_dims(text, attrs->pad.high, rank);
  if (interior) {
    gs_text_add(text, ", interior=");
    gs_print_dims(text, attrs->pad.interior, rank);
  }
}

static void print_reduction(struct gs_text *text, const union gs_attrs *attrs)
{
  gs_text_add(text, ", dim=");
  print_set(text, attrs->reduce.dims, true);
  if (attrs->reduce.keep)
    gs_text_add(text, ", keep=true");
}

static void print_chars(struct gs_text *text, const char *name, const signed char *numbers, int count)
{
  int wide[GS_MAX_RANK];
  if (count == 0)
    return;
  for (int i = 0; i < count; i++)
    wide[i] = numbers[i];
  gs_text_printf(text, ", %s=", name);
  print_numbers(text, wide, count);
}

/* XLA's dimension numbers, as gather and scatter take them. */
static void print_indexing(struct gs_text *text, enum gs_op op, const union gs_attrs *attrs, int rank)
{
  bool scatter = op == GS_OP_SCATTER;
  if (scatter)
    gs_text_printf(text, ", \"%s\"",
                   attrs->gather.combine == GS_OP_SUM          ? "add"
                   : attrs->gather.combine == GS_OP_PROD       ? "mul"
                   : attrs->gather.combine == GS_OP_REDUCE_MAX ? "max"
                   : attrs->gather.combine == GS_OP_REDUCE_MIN ? "min" : "set");
  gs_text_printf(text, ", %s=", scatter ? "window_dims" : "offset_dims");
  print_set(text, attrs->gather.offset_dims, false);
  gs_text_printf(text, ", %s=", scatter ? "inserted" : "collapsed");
  print_set(text, attrs->gather.collapsed, false);
  print_chars(text, "index_map", attrs->gather.indexed, attrs->gather.nindexed);
  print_chars(text, "operand_batch", attrs->gather.operand_batch, attrs->gather.nbatch);
  print_chars(text, "indices_batch", attrs->gather.indices_batch, attrs->gather.nbatch);
  if (!scatter) {
    gs_text_add(text, ", sizes=");
    gs_print_dims(text, attrs->gather.sizes, rank);
  } else if (attrs->gather.clamp) {
    gs_text_add(text, ", clamp=true");
  }
}

/* ", NAME=[…]" of a part of windows, unless all are USUAL. */
static void print_window_part(struct gs_text *text, const char *name, const struct gs_window *w, int count,
                              size_t offset, int64_t usual)
{
  int64_t numbers[GS_MAX_RANK];
  bool unusual = false;
  for (int i = 0; i < count; i++) {
    numbers[i] = *(const int64_t *)(const void *)((const char *)&w[i] + offset);
    unusual = unusual || numbers[i] != usual;
  }
  if (!unusual)
    return;
  gs_text_printf(text, ", %s=", name);
  gs_print_dims(text, numbers, count);
}

static void print_window_padding(struct gs_text *text, const struct gs_window *w, int count)
{
  bool any = false;
  for (int i = 0; i < count; i++)
    any = any || w[i].low != 0 || w[i].high != 0;
  for (int i = 0; i < count && any; i++)
    gs_text_printf(text, "%s[%" PRId64 ", %" PRId64 "]", i == 0 ? ", pad=[" : ", ", w[i].low, w[i].high);
  gs_text_add(text, any ? "]" : "");
}

static void print_conv(struct gs_text *text, const struct gs_conv *c)
{
  print_window_part(text, "stride", c->windows, c->nspatial, offsetof(struct gs_window, stride), 1);
  print_window_padding(text, c->windows, c->nspatial);
  print_window_part(text, "lhs_dilate", c->windows, c->nspatial, offsetof(struct gs_window, base_dilate), 1);
  print_window_part(text, "rhs_dilate", c->windows, c->nspatial, offsetof(struct gs_window, dilate), 1);
  if (c->groups > 1)
    gs_text_printf(text, ", groups=%" PRId64, c->groups);
  if (c->batch_groups > 1)
    gs_text_printf(text, ", batch_groups=%" PRId64, c->batch_groups);
  if (c->reversed != 0)
    gs_text_add(text, ", reversed=true");
}

static void print_windows(struct gs_text *text, const union gs_attrs *attrs, int rank)
{
  const struct gs_window *w = attrs->window.dims;
  gs_text_printf(text, ", \"%s\"",
                 attrs->window.reduce == GS_OP_REDUCE_MAX   ? "max"
                 : attrs->window.reduce == GS_OP_REDUCE_MIN ? "min" : gs_op_info(attrs->window.reduce)->name);
  print_window_part(text, "window", w, rank, offsetof(struct gs_window, size), -1);
  print_window_part(text, "stride", w, rank, offsetof(struct gs_window, stride), 1);
  print_window_padding(text, w, rank);
  print_window_part(text, "dilate", w, rank, offsetof(struct gs_window, dilate), 1);
  print_window_part(text, "base_dilate", w, rank, offsetof(struct gs_window, base_dilate), 1);
}

void gs_print_attributes(struct gs_text *text, enum gs_op op, const union gs_attrs *attrs,
                         const struct gs_type *operand, const struct gs_type *result)
{
  if (gs_op_info(op)->group == GS_GROUP_REDUCTION) {
    print_reduction(text, attrs);
    return;
  }
  switch ((int)op) {
  case GS_OP_TRANSPOSE:
    gs_text_add(text, ", ");
    print_numbers(text, attrs->transpose.dims, result->rank);
    break;
  case GS_OP_BROADCAST:
    gs_text_add(text, ", ");
    gs_print_dims(text, result->dims, result->rank);
    gs_text_add(text, ", dims=");
    print_numbers(text, attrs->broadcast.dims, operand->rank);
    break;
  case GS_OP_RESHAPE:
    gs_text_add(text, ", ");
    gs_print_dims(text, result->dims, result->rank);
    break;
  case GS_OP_REVERSE:
    gs_text_add(text, ", ");
    print_set(text, attrs->reverse.dims, false);
    break;
  case GS_OP_ROLL:
    gs_text_printf(text, ", %" PRId64 ", %d", attrs->roll.shift, attrs->roll.dim);
    break;
  case GS_OP_CONCAT:
    gs_text_printf(text, ", %d", attrs->concat.dim);
    break;
  case GS_OP_CONVERT:
    gs_text_printf(text, ", %s", gs_dtype_name(result->dtype));
    break;
  case GS_OP_PAD:
    print_padding(text, attrs, result->rank);
    break;
  case GS_OP_SLICE:
    print_subscripts(text, attrs, operand, result);
    break;
  case GS_OP_FFT:
    gs_text_printf(text, ", dims=[%d]", attrs->fft.dim);
    if (attrs->fft.kind == GS_IRFFT)
      gs_text_printf(text, ", n=%" PRId64, attrs->fft.size);
    break;
  case GS_OP_TRIANGULAR_SOLVE:
    gs_text_printf(text, ", lower=%s, left=%s%s%s", attrs->solve.lower ? "true" : "false",
                   attrs->solve.left ? "true" : "false", attrs->solve.transpose ? ", transpose=true" : "",
                   attrs->solve.unit ? ", unit=true" : "");
    break;
  case GS_OP_RANDOM:
    gs_text_add(text, ", ");
    gs_type_print(text, result);
    break;
  case GS_OP_BITCAST:
    gs_text_printf(text, ", %s", gs_dtype_name(result->dtype));
    break;
  case GS_OP_CONV:
    print_conv(text, attrs->conv.conv);
    break;
  case GS_OP_REDUCE_WINDOW:
  case GS_OP_SELECT_AND_SCATTER:
    print_windows(text, attrs, result->rank);
    break;
  case GS_OP_TOP_K:
    gs_text_printf(text, ", %" PRId64, attrs->order.k);
    break;
  case GS_OP_SORT: case GS_OP_CUMSUM: case GS_OP_CUMPROD: case GS_OP_CUMMAX: case GS_OP_CUMMIN:
    gs_text_printf(text, ", %d%s%s", attrs->order.dim, attrs->order.descending ? ", descending=true" : "",
                   attrs->order.reverse ? ", reverse=true" : "");
    break;
  case GS_OP_GATHER:
  case GS_OP_SCATTER:
    print_indexing(text, op, attrs, operand->rank);
    break;
  case GS_OP_IOTA:
    gs_text_printf(text, ", dim=%d", attrs->iota.dim);
    break;
  default:
    break;
  }
}

void gs_print_route(struct gs_text *text, const union gs_attrs *attrs)
{
  enum { SHOWN = 4 };
  int n = attrs->manual.npairs;
  if (n == 0)
    gs_text_printf(text, ", %" PRId64, attrs->manual.shift);
  for (int i = 0; i < n && i < SHOWN; i++)
    gs_text_printf(text, "%s[%" PRId64 ", %" PRId64 "]", i == 0 ? ", [" : ", ", attrs->manual.pairs[i][0],
                   attrs->manual.pairs[i][1]);
  gs_text_add(text, n > SHOWN ? ", …]" : n > 0 ? "]" : "");
}

const char *gs_function_name(enum gs_op op, const union gs_attrs *attrs)
{
  static const char *const ffts[] = { "fft", "ifft", "rfft", "irfft" };
  static const char *const randoms[] = { "bits", "uniform", "normal" };
  if (op == GS_OP_FFT)
    return ffts[attrs->fft.kind];
  if (op == GS_OP_RANDOM)
    return randoms[attrs->random.kind];
  if (op == GS_OP_PSUM)
    switch ((int)attrs->manual.reduce) {
    case GS_OP_REDUCE_MAX: case GS_OP_ANY: return "pmax";
    case GS_OP_REDUCE_MIN: case GS_OP_ALL: return "pmin";
    default: break;
    }
  return gs_op_info(op)->name;
}

const char *gs_partial_word(enum gs_op kind)
{
  switch ((int)kind) {
  case GS_OP_PROD: return "products";
  case GS_OP_REDUCE_MAX: return "maxima";
  case GS_OP_REDUCE_MIN: return "minima";
  case GS_OP_ALL: return "ands";
  case GS_OP_ANY: return "ors";
  default: return "sums";
  }
}

void gs_print_sharding(struct gs_text *text, const struct gs_sharding *s)
{
  gs_paint_from(text, GS_ROLE_SHARDING);
  gs_sharding_print(text, s);
  gs_paint_from(text, GS_ROLE_PLAIN);
}
