/* backends/reference/scalar.h - elementwise operators on single values.
 *
 * Operands and result are of one element type, but for comparisons (result 0 or 1), where (the
 * first operand is a pred) and is_finite.  Semantics are XLA's: integers wrap; division by zero
 * gives all ones and its remainder the dividend; shifts by the width or more give 0 (or the sign).
 */
#ifndef GS_BACKENDS_REFERENCE_SCALAR_H
#define GS_BACKENDS_REFERENCE_SCALAR_H

#include <complex.h>

#include "lang/dtype.h"
#include "lang/op.h"

double gs_scalar_float(enum gs_op op, const double *a);
/* On values of DTYPE sign- or zero-extended to 64 bits; the result is to be cut to DTYPE. */
int64_t gs_scalar_integer(enum gs_op op, enum gs_dtype dtype, const int64_t *a);
double complex gs_scalar_complex(enum gs_op op, const double complex *a);

#endif
