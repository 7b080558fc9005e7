/* interp/compare.c - is a partitioned result the unpartitioned one? */
#include <config.h>

#include "interp/report.h"

#include <math.h>

/* Rounding that may be expected of each element type, for values of magnitude 1. */
static double tolerance_of(enum gs_dtype dtype)
{
  switch (dtype) {
  case GS_DTYPE_F64:
  case GS_DTYPE_C128:
    return 1e-11;
  case GS_DTYPE_F32:
  case GS_DTYPE_C64:
    return 2e-5;
  case GS_DTYPE_BF16:
  case GS_DTYPE_F16:
    return 3e-2;
  default:
    return 0;
  }
}

/* 0 for equal values, infinities and NaN among them. */
static double difference(double a, double b)
{
  if (a == b || (isnan(a) && isnan(b)))
    return 0;
  double d = fabs(a - b);
  return isnan(d) ? (double)INFINITY : d;
}

static double element_difference(enum gs_dtype dtype, const struct gs_tensor *value,
                                 const struct gs_tensor *reference, int64_t i)
{
  if (gs_dtype_is_integer(dtype)) {
    int64_t a = gs_element_get_int(dtype, value->data, i);
    int64_t b = gs_element_get_int(dtype, reference->data, i);
    return a == b ? 0 : fmax(fabs((double)a - (double)b), 1);
  }
  double d = difference(gs_element_get(dtype, value->data, i),
                        gs_element_get(dtype, reference->data, i));
  if (gs_dtype_kind(dtype) == GS_KIND_COMPLEX)
    d = hypot(d, difference(gs_element_get_imag(dtype, value->data, i),
                            gs_element_get_imag(dtype, reference->data, i)));
  return d;
}

/* Mark what step I reads, and the body that it closes. */
static void mark_operands(const struct gs_program *program, int i, bool *needed)
{
  const struct gs_step *step = &program->steps[i];
  for (int k = 0; k < step->nargs; k++)
    needed[step->args[k]] = true;
  for (int scope = step->scope; scope >= 0; scope = program->steps[scope].scope)
    needed[scope] = true;
  if (step->end >= 0)
    needed[step->end] = true;
}

double gs_tolerance(struct gs_arena *scratch, const struct gs_program *program, int step)
{
  bool *needed = GS_NEW_ARRAY(scratch, bool, program->nsteps);
  double tolerance = 0;
  if (needed == NULL)
    return tolerance_of(program->steps[step].type.dtype);
  needed[step] = true;
  /* Steps read earlier ones, but for those of bodies: what closes one is read by what opens it. */
  for (int before = -1, count = 0; count != before;) {
    before = count;
    count = 0;
    for (int i = program->nsteps - 1; i >= 0; i--)
      if (needed[i]) {
        mark_operands(program, i, needed);
        count++;
      }
  }
  for (int i = 0; i < program->nsteps; i++)
    if (needed[i])
      tolerance = fmax(tolerance, tolerance_of(program->steps[i].type.dtype));
  return tolerance;
}

struct gs_comparison gs_compare(const struct gs_tensor *value, const struct gs_tensor *reference,
                                double tolerance)
{
  struct gs_comparison result = { .equal = true, .wrong = -1 };
  enum gs_dtype dtype = reference->type.dtype;
  int64_t n = gs_type_elements(&reference->type);
  double magnitude = 0;
  for (int64_t i = 0; i < n; i++) {
    double x = fabs(gs_element_get(dtype, reference->data, i));
    if (isfinite(x) && x > magnitude)
      magnitude = x;
  }
  bool exact = gs_dtype_is_integer(dtype) || dtype == GS_DTYPE_PRED;
  double bound = exact ? 0 : tolerance * (1 + magnitude);
  for (int64_t i = 0; i < n; i++) {
    double d = element_difference(dtype, value, reference, i);
    if (d > result.largest)
      result.largest = d;
    if (d > bound && result.wrong < 0)
      result.wrong = i;
  }
  result.equal = result.wrong < 0;
  result.relative = magnitude > 0 ? result.largest / magnitude : result.largest;
  return result;
}
