/* backends/reference/einsum.c - products of two operands summed over labels. */
#include <config.h>

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

static void sum_products(const struct gs_kernel_call *call, const struct labels *s, int64_t a,
                         int64_t b, int64_t n, int64_t result)
{
  enum gs_dtype dtype = call->arg_types[0]->dtype;
  enum gs_dtype_kind kind = gs_dtype_kind(dtype);
  int64_t index[GS_MAX_RANK] = { 0 };
  double sum = 0;
  double complex complex_sum = 0;
  uint64_t integer_sum = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t x = a + offset(s->inner.rank, index, s->inner_strides[0]);
    int64_t y = b + offset(s->inner.rank, index, s->inner_strides[1]);
    if (kind == GS_KIND_FLOAT)
      sum += gs_element_get(dtype, call->args[0], x) * gs_element_get(dtype, call->args[1], y);
    else if (kind == GS_KIND_COMPLEX)
      complex_sum += CMPLX(gs_element_get(dtype, call->args[0], x), gs_element_get_imag(dtype, call->args[0], x))
                     * CMPLX(gs_element_get(dtype, call->args[1], y), gs_element_get_imag(dtype, call->args[1], y));
    else
      integer_sum += (uint64_t)gs_element_get_int(dtype, call->args[0], x)
                     * (uint64_t)gs_element_get_int(dtype, call->args[1], y);
    gs_reference_next(&s->inner, index);
  }
  if (kind == GS_KIND_FLOAT)
    gs_element_set(call->type->dtype, call->result, result, sum);
  else if (kind == GS_KIND_COMPLEX)
    gs_element_set_complex(call->type->dtype, call->result, result, creal(complex_sum), cimag(complex_sum));
  else
    gs_element_set_int(call->type->dtype, call->result, result,
                       kind == GS_KIND_PRED ? integer_sum != 0 : (int64_t)integer_sum);
}

/* One summed label of f32 operands: the common case, without the general walk. */
static float dot(const float *a, const float *b, int64_t n, int64_t step_a, int64_t step_b)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += (double)a[i * step_a] * (double)b[i * step_b];
  return (float)sum;
}

void gs_reference_einsum(const struct gs_kernel_call *call)
{
  struct labels s;
  int64_t index[GS_MAX_RANK] = { 0 };
  sort_labels(call, &s);
  int64_t results = gs_type_elements(call->type), n = gs_type_elements(&s.inner);
  bool simple = s.inner.rank == 1 && call->arg_types[0]->dtype == GS_DTYPE_F32
                && call->type->dtype == GS_DTYPE_F32;
  for (int64_t r = 0; r < results; r++) {
    int64_t a = offset(s.outer.rank, index, s.outer_strides[0]);
    int64_t b = offset(s.outer.rank, index, s.outer_strides[1]);
    if (simple)
      ((float *)call->result)[r] = dot((const float *)call->args[0] + a, (const float *)call->args[1] + b,
                                       n, s.inner_strides[0][0], s.inner_strides[1][0]);
    else
      sum_products(call, &s, a, b, n, r);
    gs_reference_next(call->type, index);
  }
}
