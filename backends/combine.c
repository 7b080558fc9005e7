/* backends/combine.c - adding up partial values of devices. */
#include <config.h>

#include "backends/combine.h"

#include "backends/reference/scalar.h"

enum gs_op gs_combiner(enum gs_op reduce)
{
  switch (reduce) {
  case GS_OP_PROD: return GS_OP_MUL;
  case GS_OP_REDUCE_MAX: return GS_OP_MAX;
  case GS_OP_REDUCE_MIN: return GS_OP_MIN;
  case GS_OP_ALL: return GS_OP_AND;
  case GS_OP_ANY: return GS_OP_OR;
  default: return GS_OP_ADD;
  }
}

static void combine_floats(enum gs_op op, enum gs_dtype dtype, void *to, const void *from,
                           int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    double a[] = { gs_element_get(dtype, to, i), gs_element_get(dtype, from, i) };
    gs_element_set(dtype, to, i, gs_scalar_float(op, a));
  }
}

static void combine_integers(enum gs_op op, enum gs_dtype dtype, void *to, const void *from,
                             int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    int64_t a[] = { gs_element_get_int(dtype, to, i), gs_element_get_int(dtype, from, i) };
    gs_element_set_int(dtype, to, i, gs_scalar_integer(op, dtype, a));
  }
}

static void combine_complex(enum gs_op op, enum gs_dtype dtype, void *to, const void *from,
                            int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    double complex a[] = { CMPLX(gs_element_get(dtype, to, i), gs_element_get_imag(dtype, to, i)),
                           CMPLX(gs_element_get(dtype, from, i),
                                 gs_element_get_imag(dtype, from, i)) };
    double complex value = gs_scalar_complex(op, a);
    gs_element_set_complex(dtype, to, i, creal(value), cimag(value));
  }
}

void gs_combine(enum gs_op reduce, enum gs_dtype dtype, void *to, const void *from, int64_t n)
{
  enum gs_op op = gs_combiner(reduce);
  if (dtype == GS_DTYPE_F32 && op == GS_OP_ADD) {
    float *a = to;
    const float *b = from;
    for (int64_t i = 0; i < n; i++)
      a[i] += b[i];
    return;
  }
  switch (gs_dtype_kind(dtype)) {
  case GS_KIND_FLOAT: combine_floats(op, dtype, to, from, n); break;
  case GS_KIND_COMPLEX: combine_complex(op, dtype, to, from, n); break;
  case GS_KIND_SIGNED: case GS_KIND_UNSIGNED: case GS_KIND_PRED:
    combine_integers(op, dtype, to, from, n);
    break;
  }
}
