/* backends/reference/einsum.c - products of two operands summed over labels. */
#include <config.h>

#include <stdlib.h>

#include "backends/reference/block.h"
#include "backends/reference/kernels.h"
#include "backends/reference/scalar.h"

/* Labels of the result walked outside, summed ones inside, with their strides in each operand. */
struct labels {
  struct gs_type outer, inner;         /* shapes only */
  int64_t outer_strides[2][GS_MAX_RANK], inner_strides[2][GS_MAX_LABELS];
};

static void find_strides(const struct gs_kernel_call *call, int64_t strides[2][GS_MAX_LABELS],
                         int64_t sizes[GS_MAX_LABELS])
{
  for (int a = 0; a < 2; a++) {
    int64_t own[GS_MAX_RANK];
    gs_type_strides(call->arg_types[a], own);
    for (int l = 0; l < call->attrs->einsum.nlabels; l++)
      strides[a][l] = 0;
    for (int i = 0; i < call->arg_types[a]->rank; i++) {
      int l = call->attrs->einsum.label[a][i];
      strides[a][l] += own[i];
      sizes[l] = call->arg_types[a]->dims[i];
    }
  }
}

static bool in_result(const struct gs_kernel_call *call, int label)
{
  for (int i = 0; i < call->type->rank; i++)
    if (call->attrs->einsum.out[i] == label)
      return true;
  return false;
}

static void sort_labels(const struct gs_kernel_call *call, struct labels *s)
{
  int64_t strides[2][GS_MAX_LABELS], sizes[GS_MAX_LABELS] = { 0 };
  find_strides(call, strides, sizes);
  s->outer = *call->type;
  s->inner = (struct gs_type){ .dtype = call->type->dtype };
  for (int a = 0; a < 2; a++)
    for (int i = 0; i < call->type->rank; i++)
      s->outer_strides[a][i] = strides[a][(int)call->attrs->einsum.out[i]];
  for (int l = 0; l < call->attrs->einsum.nlabels; l++) {
    if (in_result(call, l) || s->inner.rank == GS_MAX_RANK)
      continue;
    for (int a = 0; a < 2; a++)
      s->inner_strides[a][s->inner.rank] = strides[a][l];
    s->inner.dims[s->inner.rank++] = sizes[l];
  }
}

static int64_t offset(int rank, const int64_t *index, const int64_t *strides)
{
  int64_t at = 0;
  for (int i = 0; i < rank; i++)
    at += index[i] * strides[i];
  return at;
}

/* Factors along the last summed label: where they begin in each operand, how far apart they lie,
 * and how many there are. */
struct run { int64_t at[2], stride[2], count; };

/* SUM and the products of a run: floats in double, integers in 64 bits. */
static double sum_floats(const struct gs_kernel_call *call, const struct run *r, double sum)
{
  double x[GS_BLOCK], y[GS_BLOCK];
  for (int64_t i = 0; i < r->count; i += GS_BLOCK) {
    int64_t n = r->count - i < GS_BLOCK ? r->count - i : GS_BLOCK;
    gs_block_load(call->arg_types[0]->dtype, call->args[0], r->at[0] + i * r->stride[0],
                  r->stride[0], n, x);
    gs_block_load(call->arg_types[1]->dtype, call->args[1], r->at[1] + i * r->stride[1],
                  r->stride[1], n, y);
    for (int64_t k = 0; k < n; k++)
      sum += x[k] * y[k];
  }
  return sum;
}

static uint64_t sum_integers(const struct gs_kernel_call *call, const struct run *r, uint64_t sum)
{
  int64_t x[GS_BLOCK], y[GS_BLOCK];
  for (int64_t i = 0; i < r->count; i += GS_BLOCK) {
    int64_t n = r->count - i < GS_BLOCK ? r->count - i : GS_BLOCK;
    gs_block_load_int(call->arg_types[0]->dtype, call->args[0], r->at[0] + i * r->stride[0],
                      r->stride[0], n, x);
    gs_block_load_int(call->arg_types[1]->dtype, call->args[1], r->at[1] + i * r->stride[1],
                      r->stride[1], n, y);
    for (int64_t k = 0; k < n; k++)
      sum += (uint64_t)x[k] * (uint64_t)y[k];
  }
  return sum;
}

static double complex sum_complex(const struct gs_kernel_call *call, const struct run *r,
                                  double complex sum)
{
  enum gs_dtype dtype = call->arg_types[0]->dtype;
  for (int64_t i = 0; i < r->count; i++) {
    int64_t x = r->at[0] + i * r->stride[0], y = r->at[1] + i * r->stride[1];
    sum +=
        CMPLX(gs_element_get(dtype, call->args[0], x), gs_element_get_imag(dtype, call->args[0], x))
        * CMPLX(gs_element_get(dtype, call->args[1], y),
                gs_element_get_imag(dtype, call->args[1], y));
  }
  return sum;
}

/* Result number RESULT, whose first factors are at A and B. */
static void sum_products(const struct gs_kernel_call *call, const struct labels *s, int64_t a,
                         int64_t b, int64_t result)
{
  enum gs_dtype_kind kind = gs_dtype_kind(call->arg_types[0]->dtype);
  int64_t index[GS_MAX_RANK] = { 0 };
  int last = s->inner.rank - 1;
  struct gs_type outside = s->inner;   /* the summed labels but the last */
  double sum = 0;
  double complex complex_sum = 0;
  uint64_t integer_sum = 0;
  outside.rank = last < 0 ? 0 : last;
  for (bool more = gs_type_elements(&s->inner) > 0; more;
       more = gs_reference_next(&outside, index)) {
    struct run r = { .at = { a + offset(outside.rank, index, s->inner_strides[0]),
                             b + offset(outside.rank, index, s->inner_strides[1]) },
                     .count = last < 0 ? 1 : s->inner.dims[last] };
    for (int k = 0; k < 2 && last >= 0; k++)
      r.stride[k] = s->inner_strides[k][last];
    if (kind == GS_KIND_FLOAT)
      sum = sum_floats(call, &r, sum);
    else if (kind == GS_KIND_COMPLEX)
      complex_sum = sum_complex(call, &r, complex_sum);
    else
      integer_sum = sum_integers(call, &r, integer_sum);
  }
  if (kind == GS_KIND_FLOAT)
    gs_element_set(call->type->dtype, call->result, result, sum);
  else if (kind == GS_KIND_COMPLEX)
    gs_element_set_complex(call->type->dtype, call->result, result, creal(complex_sum),
                           cimag(complex_sum));
  else
    gs_element_set_int(call->type->dtype, call->result, result,
                       kind == GS_KIND_PRED ? integer_sum != 0 : (int64_t)integer_sum);
}

/* COUNT results of floats beside each other, all the same summed element by element: each sum is
 * the same as one by one, but memory is read along the result's last dim. */
static void sum_side_by_side(const struct gs_kernel_call *call, const struct labels *s, int64_t a,
                             int64_t b, int64_t result, int64_t count)
{
  int64_t index[GS_MAX_RANK] = { 0 };
  int64_t step_a = s->outer_strides[0][s->outer.rank - 1],
          step_b = s->outer_strides[1][s->outer.rank - 1];
  double sum[GS_BLOCK] = { 0 }, x[GS_BLOCK], y[GS_BLOCK];
  for (bool more = gs_type_elements(&s->inner) > 0; more;
       more = gs_reference_next(&s->inner, index)) {
    gs_block_load(call->arg_types[0]->dtype, call->args[0],
                  a + offset(s->inner.rank, index, s->inner_strides[0]), step_a, count, x);
    gs_block_load(call->arg_types[1]->dtype, call->args[1],
                  b + offset(s->inner.rank, index, s->inner_strides[1]), step_b, count, y);
    for (int64_t i = 0; i < count; i++)
      sum[i] += x[i] * y[i];
  }
  gs_block_store(call->type->dtype, call->result, result, count, sum);
}

/* Whether the sums of floats had better go side by side: their factors lie apart in memory. */
static bool is_sideways(const struct gs_kernel_call *call, const struct labels *s)
{
  enum { FEW = 16 };
  int inner = s->inner.rank - 1, outer = s->outer.rank - 1;
  return gs_dtype_kind(call->arg_types[0]->dtype) == GS_KIND_FLOAT && outer >= 0
         && s->outer.dims[outer] >= FEW
         && (inner < 0 || s->inner_strides[0][inner] != 1 || s->inner_strides[1][inner] != 1);
}

void gs_reference_einsum(const struct gs_kernel_call *call)
{
  struct labels s;
  int64_t index[GS_MAX_RANK] = { 0 }, results = gs_type_elements(call->type), count = 1;
  sort_labels(call, &s);
  bool sideways = is_sideways(call, &s);
  int last = s.outer.rank - 1;
  for (int64_t r = 0; r < results; r += count) {
    int64_t a = offset(s.outer.rank, index, s.outer_strides[0]);
    int64_t b = offset(s.outer.rank, index, s.outer_strides[1]);
    if (sideways) {
      count =
          s.outer.dims[last] - index[last] < GS_BLOCK ? s.outer.dims[last] - index[last] : GS_BLOCK;
      sum_side_by_side(call, &s, a, b, r, count);
      index[last] += count - 1;
    } else {
      sum_products(call, &s, a, b, r);
    }
    gs_reference_next(call->type, index);
  }
}
