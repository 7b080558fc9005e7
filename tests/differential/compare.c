/* tests/differential/compare.c - whether two tensors hold the same values. */
#include <config.h>

#include "tests/differential/compare.h"

#include <math.h>
#include <stdio.h>

void compare_index(const struct gs_type *type, int64_t at, char *text, size_t size)
{
  int64_t strides[GS_MAX_RANK];
  size_t length = 0;
  gs_type_strides(type, strides);
  length += (size_t)snprintf(text, size, "[");
  for (int i = 0; i < type->rank && length < size; i++)
    length += (size_t)snprintf(text + length, size - length, "%s%lld", i > 0 ? "," : "",
                               (long long)(at / strides[i] % type->dims[i]));
  if (length < size)
    snprintf(text + length, size - length, "]");
}

static bool close_enough(double want, double got, double tolerance)
{
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got);
  return want == got || fabs(want - got) <= tolerance;
}

static bool same_element(const struct gs_tensor *want, const struct gs_tensor *got, int64_t i,
                         double tolerance)
{
  enum gs_dtype dtype = want->type.dtype;
  enum gs_dtype_kind kind = gs_dtype_kind(dtype);
  if (kind != GS_KIND_FLOAT && kind != GS_KIND_COMPLEX)
    return gs_element_get_int(dtype, want->data, i) == gs_element_get_int(dtype, got->data, i);
  if (kind == GS_KIND_COMPLEX &&
      !close_enough(gs_element_get_imag(dtype, want->data, i),
                    gs_element_get_imag(dtype, got->data, i), tolerance))
    return false;
  return close_enough(gs_element_get(dtype, want->data, i), gs_element_get(dtype, got->data, i),
                      tolerance);
}

bool compare_tensors(const struct gs_tensor *want, const struct gs_tensor *got, double tolerance,
                     char *text, size_t size)
{
  if (!gs_type_equal(&want->type, &got->type)) {
    snprintf(text, size, "the types differ");
    return false;
  }
  int64_t elements = gs_type_elements(&want->type), wrong = 0, first = 0;
  for (int64_t i = elements - 1; i >= 0; i--) {
    if (same_element(want, got, i, tolerance))
      continue;
    wrong++;
    first = i;
  }
  if (wrong == 0)
    return true;
  char index[100];
  compare_index(&want->type, first, index, sizeof index);
  snprintf(text, size, "%s is %.9g, not %.9g within %.3g (%lld of %lld differ)", index,
           gs_element_get(want->type.dtype, got->data, first),
           gs_element_get(want->type.dtype, want->data, first), tolerance, (long long)wrong,
           (long long)elements);
  return false;
}
