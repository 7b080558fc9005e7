/* backends/reference/window.c - convolution, reductions over windows and their gradient. */
#include <config.h>

#include <complex.h>
#include <math.h>
#include <string.h>

#include "backends/reference/kernels.h"

/* ---- Convolution ---- */

struct conv {
  const struct gs_kernel_call *call;
  const struct gs_conv *c;
  int64_t in_strides[GS_MAX_RANK], kernel_strides[GS_MAX_RANK];
  int64_t group_in;                    /* input features of a group */
  bool singles, integers;
};

static void add_features(const struct conv *v, int64_t in, int64_t kernel, double *sum, int64_t *whole)
{
  int64_t step_in = v->in_strides[v->c->feature], step_kernel = v->kernel_strides[v->c->kernel_in];
  enum gs_dtype dtype = v->call->type->dtype;
  if (v->singles) {
    const float *x = v->call->args[0], *k = v->call->args[1];
    for (int64_t f = 0; f < v->group_in; f++)
      *sum += (double)x[in + f * step_in] * (double)k[kernel + f * step_kernel];
    return;
  }
  for (int64_t f = 0; f < v->group_in; f++) {
    int64_t a = in + f * step_in, b = kernel + f * step_kernel;
    if (v->integers)
      *whole = (int64_t)((uint64_t)*whole + (uint64_t)gs_element_get_int(dtype, v->call->args[0], a)
                                              * (uint64_t)gs_element_get_int(dtype, v->call->args[1], b));
    else
      *sum += gs_element_get(dtype, v->call->args[0], a) * gs_element_get(dtype, v->call->args[1], b);
  }
}

/* All kernel positions from spatial dim K on that see an element: IN and KERNEL are positions so far. */
static void add_positions(const struct conv *v, int k, const int64_t *index, int64_t in, int64_t kernel,
                          double *sum, int64_t *whole)
{
  const struct gs_conv *c = v->c;
  if (k == c->nspatial) {
    add_features(v, in, kernel, sum, whole);
    return;
  }
  const struct gs_window *w = &c->windows[k];
  int64_t size = v->call->arg_types[0]->dims[c->spatial[k]];
  int64_t taps = v->call->arg_types[1]->dims[c->kernel_spatial[k]];
  int64_t first = index[c->out_spatial[k]] * w->stride - w->low;
  for (int64_t j = 0; j < taps; j++) {
    int64_t at = first + j * w->dilate, tap = c->reversed >> k & 1 ? taps - 1 - j : j;
    if (at < 0 || at % w->base_dilate != 0 || at / w->base_dilate >= size)
      continue;
    add_positions(v, k + 1, index, in + at / w->base_dilate * v->in_strides[c->spatial[k]],
                  kernel + tap * v->kernel_strides[c->kernel_spatial[k]], sum, whole);
  }
}

void gs_reference_conv(const struct gs_kernel_call *call)
{
  const struct gs_conv *c = call->attrs->conv.conv;
  struct conv v = { .call = call, .c = c };
  int64_t index[GS_MAX_RANK] = { 0 }, at = 0;
  if (gs_type_elements(call->type) == 0)
    return;
  gs_type_strides(call->arg_types[0], v.in_strides);
  gs_type_strides(call->arg_types[1], v.kernel_strides);
  v.group_in = call->arg_types[1]->dims[c->kernel_in];
  v.singles = call->type->dtype == GS_DTYPE_F32;
  v.integers = gs_dtype_is_integer(call->type->dtype);
  int64_t outs = call->type->dims[c->out_feature], batches = call->type->dims[c->out_batch];
  do {
    double sum = 0;
    int64_t whole = 0, out = index[c->out_feature];
    int64_t group = out / (outs / c->groups), batch_group = out / (outs / c->batch_groups);
    int64_t in = (index[c->out_batch] + batch_group * batches) * v.in_strides[c->batch]
                 + group * v.group_in * v.in_strides[c->feature];
    add_positions(&v, 0, index, in, out * v.kernel_strides[c->kernel_out], &sum, &whole);
    if (v.integers)
      gs_element_set_int(call->type->dtype, call->result, at++, whole);
    else
      gs_element_set(call->type->dtype, call->result, at++, sum);
  } while (gs_reference_next(call->type, index));
}

/* ---- Windows ---- */

/* What is reduced so far, in the kind of number that the element type needs. */
struct reduced { double real; double complex both; int64_t whole; };

static void take_in(const struct gs_kernel_call *call, int64_t at, struct reduced *r)
{
  enum gs_dtype dtype = call->type->dtype;
  enum gs_op reduce = call->attrs->window.reduce;
  if (gs_dtype_kind(dtype) == GS_KIND_COMPLEX) {
    double complex x = CMPLX(gs_element_get(dtype, call->args[0], at),
                             gs_element_get_imag(dtype, call->args[0], at));
    r->both = reduce == GS_OP_PROD ? r->both * x : r->both + x;
    return;
  }
  if (gs_dtype_is_integer(dtype)) {
    int64_t x = gs_element_get_int(dtype, call->args[0], at);
    bool is_signed = gs_dtype_kind(dtype) == GS_KIND_SIGNED;
    bool less = is_signed ? r->whole < x : (uint64_t)r->whole < (uint64_t)x;
    r->whole = reduce == GS_OP_PROD         ? (int64_t)((uint64_t)r->whole * (uint64_t)x)
               : reduce == GS_OP_REDUCE_MAX ? (less ? x : r->whole)
               : reduce == GS_OP_REDUCE_MIN ? (less ? r->whole : x)
                                            : (int64_t)((uint64_t)r->whole + (uint64_t)x);
    return;
  }
  double x = gs_element_get(dtype, call->args[0], at);
  r->real = reduce == GS_OP_PROD         ? r->real * x
            : reduce == GS_OP_REDUCE_MAX ? (isnan(r->real) || r->real > x ? r->real : x)
            : reduce == GS_OP_REDUCE_MIN ? (isnan(r->real) || r->real < x ? r->real : x)
                                         : r->real + x;
}

static struct reduced start_of(enum gs_op reduce, enum gs_dtype dtype)
{
  int bits = (int)(8 * gs_dtype_size(dtype));
  bool is_signed = gs_dtype_kind(dtype) == GS_KIND_SIGNED;
  switch ((int)reduce) {
  case GS_OP_PROD: return (struct reduced){ 1, 1, 1 };
  case GS_OP_REDUCE_MAX:
    return (struct reduced){ -INFINITY, 0, is_signed ? INT64_MIN >> (64 - bits) : 0 };
  case GS_OP_REDUCE_MIN:
    return (struct reduced){ INFINITY, 0, is_signed ? INT64_MAX >> (64 - bits)
                                                    : (int64_t)(UINT64_MAX >> (64 - bits)) };
  default: return (struct reduced){ 0 };
  }
}

static void reduce_from(const struct gs_kernel_call *call, const int64_t *strides, int dim,
                        const int64_t *index, int64_t at, struct reduced *r)
{
  if (dim == call->type->rank) {
    take_in(call, at, r);
    return;
  }
  const struct gs_window *w = &call->attrs->window.dims[dim];
  int64_t size = call->arg_types[0]->dims[dim], first = index[dim] * w->stride - w->low;
  for (int64_t j = 0; j < w->size; j++) {
    int64_t position = first + j * w->dilate;
    if (position >= 0 && position % w->base_dilate == 0 && position / w->base_dilate < size)
      reduce_from(call, strides, dim + 1, index, at + position / w->base_dilate * strides[dim], r);
  }
}

void gs_reference_reduce_window(const struct gs_kernel_call *call)
{
  int64_t strides[GS_MAX_RANK], index[GS_MAX_RANK] = { 0 }, at = 0;
  enum gs_dtype dtype = call->type->dtype;
  if (gs_type_elements(call->type) == 0)
    return;
  gs_type_strides(call->arg_types[0], strides);
  do {
    struct reduced r = start_of(call->attrs->window.reduce, dtype);
    reduce_from(call, strides, 0, index, 0, &r);
    if (gs_dtype_kind(dtype) == GS_KIND_COMPLEX)
      gs_element_set_complex(dtype, call->result, at++, creal(r.both), cimag(r.both));
    else if (gs_dtype_is_integer(dtype))
      gs_element_set_int(dtype, call->result, at++, r.whole);
    else
      gs_element_set(dtype, call->result, at++, r.real);
  } while (gs_reference_next(call->type, index));
}

/* ---- Elements put where windows select ---- */

struct selection {
  const struct gs_kernel_call *call;
  int64_t strides[GS_MAX_RANK];
  int64_t begin[GS_MAX_RANK], size[GS_MAX_RANK];       /* of what is seen: where it lies in a whole of SIZE */
  int64_t best;                        /* element selected so far, -1: none */
};

static void find_place(const struct gs_kernel_call *call, struct selection *s)
{
  const struct gs_interval *seen = call->attrs->window.seen;
  gs_type_strides(call->type, s->strides);
  for (int i = 0; i < call->type->rank; i++) {
    s->begin[i] = 0;
    s->size[i] = call->type->dims[i];
    if (seen == NULL || call->place == NULL)
      continue;
    s->begin[i] = seen[i].length == 0 ? 0 : call->place->begin[i] / seen[i].length * seen[i].scale + seen[i].offset;
    s->size[i] = seen[i].size;
  }
}

/* Whether element A is selected rather than B, which comes before it.  NaN is. */
static bool is_better(const struct gs_kernel_call *call, int64_t a, int64_t b)
{
  enum gs_dtype dtype = call->type->dtype;
  bool least = call->attrs->window.reduce == GS_OP_REDUCE_MIN;
  if (gs_dtype_kind(dtype) == GS_KIND_FLOAT) {
    double x = gs_element_get(dtype, call->args[0], a), y = gs_element_get(dtype, call->args[0], b);
    return !isnan(y) && (isnan(x) || (least ? x < y : x > y));
  }
  int64_t x = gs_element_get_int(dtype, call->args[0], a), y = gs_element_get_int(dtype, call->args[0], b);
  if (gs_dtype_kind(dtype) == GS_KIND_SIGNED)
    return least ? x < y : x > y;
  return least ? (uint64_t)x < (uint64_t)y : (uint64_t)x > (uint64_t)y;
}

static void select_from(struct selection *s, int dim, const int64_t *index, int64_t at)
{
  const struct gs_type *type = s->call->type;
  if (dim == type->rank) {
    if (s->best < 0 || is_better(s->call, at, s->best))
      s->best = at;
    return;
  }
  const struct gs_window *w = &s->call->attrs->window.dims[dim];
  for (int64_t j = 0; j < w->size; j++) {
    int64_t position = index[dim] * w->stride - w->low + j * w->dilate, whole = s->begin[dim] + position;
    if (position >= 0 && position < type->dims[dim] && whole >= 0 && whole < s->size[dim])
      select_from(s, dim + 1, index, at + position * s->strides[dim]);
  }
}

void gs_reference_select_and_scatter(const struct gs_kernel_call *call)
{
  struct selection s = { .call = call };
  int64_t index[GS_MAX_RANK] = { 0 }, at = 0;
  enum gs_dtype dtype = call->type->dtype;
  if (gs_type_elements(call->type) == 0)
    return;
  memset(call->result, 0, (size_t)gs_type_bytes(call->type));
  if (gs_type_elements(call->arg_types[1]) == 0)
    return;
  find_place(call, &s);
  do {
    s.best = -1;
    select_from(&s, 0, index, 0);
    if (s.best < 0)
      ;
    else if (gs_dtype_is_integer(dtype))
      gs_element_set_int(dtype, call->result, s.best,
                         (int64_t)((uint64_t)gs_element_get_int(dtype, call->result, s.best)
                                   + (uint64_t)gs_element_get_int(dtype, call->args[1], at)));
    else
      gs_element_set(dtype, call->result, s.best, gs_element_get(dtype, call->result, s.best)
                                                      + gs_element_get(dtype, call->args[1], at));
    at++;
  } while (gs_reference_next(call->arg_types[1], index));
}
