/* backends/reference/scalar.c - elementwise operators on single values. */
#include <config.h>

#include "backends/reference/scalar.h"

#include <math.h>

static double larger(double a, double b)
{
  return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}

static double smaller(double a, double b)
{
  return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
}

static double modulo(double a, double b)
{
  double rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static double softplus(double x)
{
  return larger(x, 0) + log1p(exp(-fabs(x)));
}

double gs_scalar_float(enum gs_op op, const double *a)
{
  switch (op) {
  case GS_OP_ABS: return fabs(a[0]);
  case GS_OP_NEG: return -a[0];
  case GS_OP_SIGN: return isnan(a[0]) ? NAN : a[0] > 0 ? 1 : a[0] < 0 ? -1 : a[0];
  case GS_OP_EXP: return exp(a[0]);
  case GS_OP_EXPM1: return expm1(a[0]);
  case GS_OP_LOG: return log(a[0]);
  case GS_OP_LOG1P: return log1p(a[0]);
  case GS_OP_SQRT: return sqrt(a[0]);
  case GS_OP_RSQRT: return 1 / sqrt(a[0]);
  case GS_OP_CBRT: return cbrt(a[0]);
  case GS_OP_SIN: return sin(a[0]);
  case GS_OP_COS: return cos(a[0]);
  case GS_OP_TAN: return tan(a[0]);
  case GS_OP_TANH: return tanh(a[0]);
  case GS_OP_SIGMOID: return 1 / (1 + exp(-a[0]));
  case GS_OP_ERF: return erf(a[0]);
  case GS_OP_FLOOR: return floor(a[0]);
  case GS_OP_CEIL: return ceil(a[0]);
  case GS_OP_ROUND: return nearbyint(a[0]);
  case GS_OP_IS_FINITE: return isfinite(a[0]) ? 1 : 0;
  case GS_OP_RELU: return larger(a[0], 0);
  case GS_OP_GELU: return 0.5 * a[0] * erfc(-a[0] * M_SQRT1_2);
  case GS_OP_SILU: return a[0] / (1 + exp(-a[0]));
  case GS_OP_SOFTPLUS: return softplus(a[0]);
  case GS_OP_ADD: return a[0] + a[1];
  case GS_OP_SUB: return a[0] - a[1];
  case GS_OP_MUL: return a[0] * a[1];
  case GS_OP_DIV: return a[0] / a[1];
  case GS_OP_REM: return fmod(a[0], a[1]);
  case GS_OP_MOD: return modulo(a[0], a[1]);
  case GS_OP_POW: return pow(a[0], a[1]);
  case GS_OP_MAX: return larger(a[0], a[1]);
  case GS_OP_MIN: return smaller(a[0], a[1]);
  case GS_OP_ATAN2: return atan2(a[0], a[1]);
  case GS_OP_EQ: return a[0] == a[1];
  case GS_OP_NE: return a[0] != a[1];
  case GS_OP_LT: return a[0] < a[1];
  case GS_OP_LE: return a[0] <= a[1];
  case GS_OP_GT: return a[0] > a[1];
  case GS_OP_GE: return a[0] >= a[1];
  case GS_OP_WHERE: return a[0] != 0 ? a[1] : a[2];
  case GS_OP_CLAMP: return smaller(larger(a[1], a[0]), a[2]);
  default: return NAN;
  }
}

static int64_t power(int64_t base, uint64_t exponent, bool negative)
{
  uint64_t result = 1, factor = (uint64_t)base;
  if (negative)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  for (; exponent > 0; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return (int64_t)result;
}

static int64_t unsigned_binary(enum gs_op op, uint64_t a, uint64_t b, uint64_t width)
{
  switch (op) {
  case GS_OP_DIV: return b == 0 ? -1 : (int64_t)(a / b);
  case GS_OP_REM: case GS_OP_MOD: return b == 0 ? (int64_t)a : (int64_t)(a % b);
  case GS_OP_MAX: return (int64_t)(a > b ? a : b);
  case GS_OP_MIN: return (int64_t)(a < b ? a : b);
  case GS_OP_LT: return a < b;
  case GS_OP_LE: return a <= b;
  case GS_OP_GT: return a > b;
  case GS_OP_GE: return a >= b;
  case GS_OP_SHR: return b >= width ? 0 : (int64_t)(a >> b);
  default: return 0;
  }
}

static int64_t signed_remainder(enum gs_op op, int64_t a, int64_t b)
{
  if (b == 0)
    return a;
  if (b == -1)
    return 0;
  int64_t rest = a % b;
  return op == GS_OP_MOD && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t signed_binary(enum gs_op op, int64_t a, int64_t b, uint64_t width)
{
  switch (op) {
  case GS_OP_DIV: return b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
  case GS_OP_REM: case GS_OP_MOD: return signed_remainder(op, a, b);
  case GS_OP_MAX: return a > b ? a : b;
  case GS_OP_MIN: return a < b ? a : b;
  case GS_OP_LT: return a < b;
  case GS_OP_LE: return a <= b;
  case GS_OP_GT: return a > b;
  case GS_OP_GE: return a >= b;
  case GS_OP_SHR: return (uint64_t)b >= width ? (a < 0 ? -1 : 0) : a >> b;
  default: return 0;
  }
}

int64_t gs_scalar_integer(enum gs_op op, enum gs_dtype dtype, const int64_t *a)
{
  uint64_t x = (uint64_t)a[0], width = 8 * gs_dtype_size(dtype);
  bool is_signed = gs_dtype_kind(dtype) == GS_KIND_SIGNED;
  switch (op) {
  case GS_OP_ABS: return is_signed && a[0] < 0 ? (int64_t)(0 - x) : a[0];
  case GS_OP_NEG: return (int64_t)(0 - x);
  case GS_OP_SIGN: return a[0] == 0 ? 0 : is_signed && a[0] < 0 ? -1 : 1;
  case GS_OP_RELU: return is_signed && a[0] < 0 ? 0 : a[0];
  case GS_OP_NOT: return dtype == GS_DTYPE_PRED ? a[0] == 0 : (int64_t)~x;
  case GS_OP_ADD: return (int64_t)(x + (uint64_t)a[1]);
  case GS_OP_SUB: return (int64_t)(x - (uint64_t)a[1]);
  case GS_OP_MUL: return (int64_t)(x * (uint64_t)a[1]);
  case GS_OP_POW: return power(a[0], (uint64_t)a[1], is_signed && a[1] < 0);
  case GS_OP_AND: return a[0] & a[1];
  case GS_OP_OR: return a[0] | a[1];
  case GS_OP_XOR: return a[0] ^ a[1];
  case GS_OP_SHL: return (uint64_t)a[1] >= width ? 0 : (int64_t)(x << a[1]);
  case GS_OP_EQ: return a[0] == a[1];
  case GS_OP_NE: return a[0] != a[1];
  case GS_OP_WHERE: return a[0] != 0 ? a[1] : a[2];
  case GS_OP_CLAMP: {
    int64_t low[] = { a[1], a[0] }, high[] = { 0, a[2] };
    high[0] = gs_scalar_integer(GS_OP_MAX, dtype, low);
    return gs_scalar_integer(GS_OP_MIN, dtype, high);
  }
  default:
    return is_signed ? signed_binary(op, a[0], a[1], width)
                     : unsigned_binary(op, x, (uint64_t)a[1], width);
  }
}

double complex gs_scalar_complex(enum gs_op op, const double complex *a)
{
  switch (op) {
  case GS_OP_ABS: return cabs(a[0]);
  case GS_OP_REAL: return creal(a[0]);
  case GS_OP_IMAG: return cimag(a[0]);
  case GS_OP_CONJ: return conj(a[0]);
  case GS_OP_COMPLEX: return CMPLX(creal(a[0]), creal(a[1]));
  case GS_OP_NEG: return -a[0];
  case GS_OP_SIGN: return a[0] == 0 ? 0 : a[0] / cabs(a[0]);
  case GS_OP_EXP: return cexp(a[0]);
  case GS_OP_EXPM1: return cexp(a[0]) - 1;
  case GS_OP_LOG: return clog(a[0]);
  case GS_OP_LOG1P: return clog(1 + a[0]);
  case GS_OP_SQRT: return csqrt(a[0]);
  case GS_OP_RSQRT: return 1 / csqrt(a[0]);
  case GS_OP_SIN: return csin(a[0]);
  case GS_OP_COS: return ccos(a[0]);
  case GS_OP_TAN: return ctan(a[0]);
  case GS_OP_TANH: return ctanh(a[0]);
  case GS_OP_SIGMOID: return 1 / (1 + cexp(-a[0]));
  case GS_OP_IS_FINITE: return isfinite(creal(a[0])) && isfinite(cimag(a[0]));
  case GS_OP_ADD: return a[0] + a[1];
  case GS_OP_SUB: return a[0] - a[1];
  case GS_OP_MUL: return a[0] * a[1];
  case GS_OP_DIV: return a[0] / a[1];
  case GS_OP_POW: return cpow(a[0], a[1]);
  case GS_OP_EQ: return a[0] == a[1];
  case GS_OP_NE: return a[0] != a[1];
  case GS_OP_WHERE: return a[0] != 0 ? a[1] : a[2];
  default: return NAN;
  }
}
