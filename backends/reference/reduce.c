/* backends/reference/reduce.c - reductions over dims, and indices of extremes. */
#include <config.h>

#include <math.h>

#include "backends/combine.h"
#include "backends/reference/block.h"
#include "backends/reference/kernels.h"
#include "backends/reference/scalar.h"

/* Which elements make one result: kept dims are walked outside, reduced ones inside. */
struct walk {
  struct gs_type kept, reduced;        /* shapes only */
  int64_t kept_strides[GS_MAX_RANK], reduced_strides[GS_MAX_RANK];
};

static void start_walk(const struct gs_kernel_call *call, struct walk *w)
{
  const struct gs_type *in = call->arg_types[0];
  int64_t strides[GS_MAX_RANK];
  gs_type_strides(in, strides);
  w->kept = w->reduced = (struct gs_type){ .dtype = in->dtype };
  for (int i = 0; i < in->rank; i++) {
    bool reduced = call->attrs->reduce.dims >> i & 1;
    struct gs_type *to = reduced ? &w->reduced : &w->kept;
    (reduced ? w->reduced_strides : w->kept_strides)[to->rank] = strides[i];
    to->dims[to->rank++] = in->dims[i];
  }
}

static int64_t offset(const struct gs_type *type, const int64_t *index, const int64_t *strides)
{
  int64_t at = 0;
  for (int i = 0; i < type->rank; i++)
    at += index[i] * strides[i];
  return at;
}

static double start_float(enum gs_op op)
{
  return op == GS_OP_PROD         ? 1
         : op == GS_OP_REDUCE_MAX ? -INFINITY
         : op == GS_OP_REDUCE_MIN ? INFINITY
                                  : 0;
}

static int64_t start_integer(enum gs_op op, enum gs_dtype dtype)
{
  int bits = (int)(8 * gs_dtype_size(dtype));
  bool is_signed = gs_dtype_kind(dtype) == GS_KIND_SIGNED;
  switch (op) {
  case GS_OP_PROD: case GS_OP_ALL: return 1;
  case GS_OP_REDUCE_MAX: return is_signed ? INT64_MIN >> (64 - bits) : 0;
  case GS_OP_REDUCE_MIN:
    return is_signed ? INT64_MAX >> (64 - bits) : (int64_t)(UINT64_MAX >> (64 - bits));
  default: return 0;
  }
}

/* A stretch of the elements that make one result. */
struct run { int64_t at, stride, count; };

/* Combine VALUE with the elements of a run. */
static double combine_float(const struct gs_kernel_call *call, const struct run *r, double value)
{
  enum gs_op op = gs_combiner(call->op);
  double block[GS_BLOCK], a[2] = { value, 0 };
  for (int64_t i = 0; i < r->count; i += GS_BLOCK) {
    int64_t n = r->count - i < GS_BLOCK ? r->count - i : GS_BLOCK;
    gs_block_load(call->arg_types[0]->dtype, call->args[0], r->at + i * r->stride, r->stride, n,
                  block);
    for (int64_t k = 0; k < n; k++) {
      a[1] = block[k];
      a[0] = gs_scalar_float(op, a);
    }
  }
  return a[0];
}

static int64_t combine_integer(const struct gs_kernel_call *call, const struct run *r,
                               int64_t value)
{
  enum gs_op op = gs_combiner(call->op);
  enum gs_dtype dtype = call->arg_types[0]->dtype;
  int64_t block[GS_BLOCK], a[2] = { value, 0 };
  for (int64_t i = 0; i < r->count; i += GS_BLOCK) {
    int64_t n = r->count - i < GS_BLOCK ? r->count - i : GS_BLOCK;
    gs_block_load_int(dtype, call->args[0], r->at + i * r->stride, r->stride, n, block);
    for (int64_t k = 0; k < n; k++) {
      a[1] = block[k];
      a[0] = gs_scalar_integer(op, dtype, a);
    }
  }
  return a[0];
}

static double complex combine_complex(const struct gs_kernel_call *call, const struct run *r,
                                      double complex value)
{
  enum gs_op op = gs_combiner(call->op);
  enum gs_dtype dtype = call->arg_types[0]->dtype;
  double complex a[2] = { value, 0 };
  for (int64_t i = 0; i < r->count; i++) {
    int64_t at = r->at + i * r->stride;
    a[1] = CMPLX(gs_element_get(dtype, call->args[0], at),
                 gs_element_get_imag(dtype, call->args[0], at));
    a[0] = gs_scalar_complex(op, a);
  }
  return a[0];
}

/* The result at RESULT, whose first element is at BASE. */
static void reduce_one(const struct gs_kernel_call *call, const struct walk *w, int64_t base,
                       int64_t result)
{
  enum gs_dtype_kind kind = gs_dtype_kind(w->kept.dtype);
  int64_t index[GS_MAX_RANK] = { 0 };
  int last = w->reduced.rank - 1;
  struct gs_type outside = w->reduced;           /* the reduced dims but the last */
  double value = start_float(call->op);
  double complex complex_value = call->op == GS_OP_PROD ? 1 : 0;
  int64_t integer = start_integer(call->op, w->kept.dtype);
  outside.rank = last < 0 ? 0 : last;
  for (bool more = gs_type_elements(&w->reduced) > 0; more;
       more = gs_reference_next(&outside, index)) {
    struct run r = { base + offset(&outside, index, w->reduced_strides), 0, 1 };
    if (last >= 0) {
      r.stride = w->reduced_strides[last];
      r.count = w->reduced.dims[last];
    }
    if (kind == GS_KIND_FLOAT)
      value = combine_float(call, &r, value);
    else if (kind == GS_KIND_COMPLEX)
      complex_value = combine_complex(call, &r, complex_value);
    else
      integer = combine_integer(call, &r, integer);
  }
  if (kind == GS_KIND_FLOAT)
    gs_element_set(call->type->dtype, call->result, result, value);
  else if (kind == GS_KIND_COMPLEX)
    gs_element_set_complex(call->type->dtype, call->result, result, creal(complex_value),
                           cimag(complex_value));
  else
    gs_element_set_int(call->type->dtype, call->result, result, integer);
}

/* For each result position in turn: BASE is the first element that it comes from. */
typedef void one_result(const struct gs_kernel_call *call, const struct walk *w, int64_t base,
                        int64_t result);

static void for_results(const struct gs_kernel_call *call, one_result *one)
{
  struct walk w;
  int64_t index[GS_MAX_RANK] = { 0 };
  start_walk(call, &w);
  int64_t results = gs_type_elements(call->type);
  for (int64_t r = 0; r < results; r++) {
    one(call, &w, offset(&w.kept, index, w.kept_strides), r);
    gs_reference_next(&w.kept, index);
  }
}

void gs_reference_reduce(const struct gs_kernel_call *call)
{
  for_results(call, reduce_one);
}

static bool beats(const struct gs_kernel_call *call, enum gs_dtype dtype, int64_t at, int64_t best)
{
  bool largest = call->op == GS_OP_ARGMAX;
  if (gs_dtype_kind(dtype) == GS_KIND_FLOAT) {
    double x = gs_element_get(dtype, call->args[0], at);
    double y = gs_element_get(dtype, call->args[0], best);
    if (isnan(x) || isnan(y))
      return isnan(x) && !isnan(y);
    return largest ? x > y : x < y;
  }
  int64_t a[] = { gs_element_get_int(dtype, call->args[0], at),
                  gs_element_get_int(dtype, call->args[0], best) };
  return gs_scalar_integer(largest ? GS_OP_GT : GS_OP_LT, dtype, a) != 0;
}

static void first_extreme(const struct gs_kernel_call *call, const struct walk *w, int64_t base,
                          int64_t result)
{
  int64_t best = 0, stride = w->reduced_strides[0];
  for (int64_t i = 1; i < w->reduced.dims[0]; i++)
    if (beats(call, w->kept.dtype, base + i * stride, base + best * stride))
      best = i;
  gs_element_set_int(call->type->dtype, call->result, result, best);
}

void gs_reference_argreduce(const struct gs_kernel_call *call)
{
  for_results(call, first_extreme);
}
