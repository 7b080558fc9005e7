/* backends/cpu/vector_math.h - functions of one element without branches, so that loops over them
 * become vector code; compiled once for each processor.
 *
 * The most used ones are computed in float, with errors of at most 2 or 3 units in the last place;
 * the logarithms and their like in double, rounded once.  Polynomials are minimax fits made for the
 * ranges named beside them.  Functions of double are the C library's.
 */

#ifndef GS_BACKENDS_CPU_VECTOR_MATH_H
#define GS_BACKENDS_CPU_VECTOR_MATH_H

#include <math.h>
#include <stdint.h>

#ifdef __FMA__
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define FMAD(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#define FMAD(a, b, c) ((a) * (b) + (c))
#endif

static inline uint32_t bits_of(float x)
{
  union { float f; uint32_t u; } both = { .f = x };
  return both.u;
}

static inline float float_of(uint32_t bits)
{
  union { uint32_t u; float f; } both = { .u = bits };
  return both.f;
}

static inline uint64_t bits_of_double(double x)
{
  union { double f; uint64_t u; } both = { .f = x };
  return both.u;
}

static inline double double_of(uint64_t bits)
{
  union { uint64_t u; double f; } both = { .u = bits };
  return both.f;
}

static inline float fabs_float(float x)
{
  return float_of(bits_of(x) & 0x7fffffffu);
}

static inline float larger_float(float a, float b)
{
  return (a > b) | (a != a) ? a : b;
}

static inline float smaller_float(float a, float b)
{
  return (a < b) | (a != a) ? a : b;
}

static inline float sqrt_float(float x)
{
  return __builtin_sqrtf(x);
}

/* exp(x + tail), tail small against x: 2^k e^r with |r| <= ln(2)/2; 2^k in two factors so that
 * denormal results and the largest ones come out right. */
static inline float exp_sum(float x, float tail)
{
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  float shifted = FMA(x, 1.44269504f, 12582912.0f);  /* its low bits: x/ln(2), rounded */
  float k = shifted - 12582912.0f;
  float r = FMA(k, -0.693359375f, x);
  r = FMA(k, 2.12194440e-4f, r) + tail;
  float p = FMA(r, 0.00139505594f, 0.00836892879f);
  p = FMA(r, p, 0.0416662048f);
  p = FMA(r, p, 0.166665185f);
  p = FMA(r, p, 0.50000001f);
  p = FMA(r * r, p, r) + 1.0f;
  int32_t whole = (int32_t)(bits_of(shifted) - 0x4b400000u), half = whole >> 1;
  float first = float_of((uint32_t)(half + 127) << 23);
  float second = float_of((uint32_t)(whole - half + 127) << 23);
  return p * first * second;
}

static inline float exp_float(float x)
{
  return exp_sum(x, 0.0f);
}

static inline float tanh_float(float x)
{
  float u = x * x, a = fabs_float(x);
  float p = FMA(u, 0.00199631508f, -0.00801170477f); /* |x| < 0.67 */
  p = FMA(u, p, 0.0216315886f);
  p = FMA(u, p, -0.0539338035f);
  p = FMA(u, p, 0.133331013f);
  p = FMA(u, p, -0.333333281f);
  float near = FMA(x * u, p, x);
  float far = 1.0f - 2.0f / (exp_float(2.0f * a) + 1.0f);
  return u < 0.45f ? near : x < 0 ? -far : far;
}

static inline float sigmoid_float(float x)
{
  float e = exp_float(-fabs_float(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

/* The normal distribution's tail at A >= 0: e^(-a^2/2) g(a), where g(a) is smooth; relatively exact. */
static inline float normal_tail(float a)
{
  a = a > 15.0f ? 15.0f : a;
  float t = 1.0f / FMA(a, 0.3f, 1.0f);
  float g = FMA(t, 0.0384025668f, -0.169284039f);
  g = FMA(t, g, 0.228903481f);
  g = FMA(t, g, -0.0767845451f);
  g = FMA(t, g, 0.14272731f);
  g = FMA(t, g, 0.09460198f);
  g = FMA(t, g, 0.121941157f);
  g = FMA(t, g, 0.11948478f);
  g = FMA(t, g, 7.33899571e-06f);
  float head = float_of(bits_of(a) & 0xfffff000u);   /* so that its square is exact */
  return g * exp_sum(-0.5f * head * head, -0.5f * (a - head) * (a + head));
}

static inline float gelu_float(float x)
{
  float a = fabs_float(x), tail = normal_tail(a);
  return x < 0 ? x * tail : x - (a > 15.0f ? 15.0f : a) * tail;
}

static inline float erf_float(float x)
{
  float u = x * x, a = fabs_float(x);
  float p = FMA(u, 7.85386176e-05f, -0.000801019376f);         /* |x| < 1 */
  p = FMA(u, p, 0.0051883277f);
  p = FMA(u, p, -0.0268538119f);
  p = FMA(u, p, 0.112835851f);
  p = FMA(u, p, -0.376126258f);
  p = FMA(u, p, 1.12837917f);
  float far = 1.0f - 2.0f * normal_tail(1.41421356f * a);
  return u < 1.0f ? x * p : x < 0 ? -far : far;
}

/* In double, for |x| < 700. */
static inline double exp_fast(double x)
{
  double shifted = FMAD(x, 1.4426950408889634, 6755399441055744.0), k = shifted - 6755399441055744.0;
  double r = FMAD(k, -0.6931471805599453, x);
  double p = 1.0 / 39916800;
  p = FMAD(r, p, 1.0 / 3628800);
  p = FMAD(r, p, 1.0 / 362880);
  p = FMAD(r, p, 1.0 / 40320);
  p = FMAD(r, p, 1.0 / 5040);
  p = FMAD(r, p, 1.0 / 720);
  p = FMAD(r, p, 1.0 / 120);
  p = FMAD(r, p, 1.0 / 24);
  p = FMAD(r, p, 1.0 / 6);
  p = FMAD(r, p, 0.5);
  p = FMAD(r * r, p, r) + 1.0;
  return p * double_of((bits_of_double(shifted) + 1023) << 52);
}

/* Of a positive normal number: x = 2^k m, m near 1, and an odd series in (m-1)/(m+1). */
static inline double log_fast(double x)
{
  uint64_t bits = bits_of_double(x) - 0x3fe6a09e00000000u;
  double m = double_of((bits & 0x000fffffffffffffu) + 0x3fe6a09e00000000u);
  double k = double_of(((bits >> 52 ^ 0x800) & 0xfff) | 0x4330000000000000u) - 4503599627372544.0;
  double s = (m - 1.0) / (m + 1.0), u = s * s;
  double p = 1.0 / 17;
  p = FMAD(u, p, 1.0 / 15);
  p = FMAD(u, p, 1.0 / 13);
  p = FMAD(u, p, 1.0 / 11);
  p = FMAD(u, p, 1.0 / 9);
  p = FMAD(u, p, 1.0 / 7);
  p = FMAD(u, p, 1.0 / 5);
  p = FMAD(u, p, 1.0 / 3);
  return FMAD(k, 0.6931471805599453, 2.0 * FMAD(s * u, p, s));
}

static inline float log_float(float x)
{
  double value = log_fast((double)x);
  value = x > 0 ? value : x == 0 ? -INFINITY : NAN;
  return x < INFINITY ? (float)value : x;            /* also NaN */
}

/* log(1 + x) in double for x > -1 that is a float or not much smaller than one. */
static inline double log1p_fast(double x)
{
  double series = x * FMAD(x, FMAD(x, FMAD(x, -0.25, 1.0 / 3), -0.5), 1.0), far = log_fast(1.0 + x);
  return (x < 0 ? -x : x) < 0x1p-10 ? series : far;
}

static inline float log1p_float(float x)
{
  double value = log1p_fast((double)x);
  value = x > -1.0f ? value : x == -1.0f ? -INFINITY : NAN;
  return x < INFINITY ? (float)value : x;
}

static inline float expm1_float(float x)
{
  double d = (double)(x > 89.0f ? 89.0f : x);
  d = d < -104.0 ? -104.0 : d;
  double series = d * FMAD(d, FMAD(d, FMAD(d, 1.0 / 24, 1.0 / 6), 0.5), 1.0), far = exp_fast(d) - 1.0;
  return (float)((d < 0 ? -d : d) < 0x1p-10 ? series : far);
}

static inline float softplus_float(float x)
{
  double a = -(double)fabs_float(x);
  a = a < -300.0 ? -300.0 : a;
  return (float)((double)larger_float(x, 0) + log1p_fast(exp_fast(a)));
}

static inline float modulo_float(float a, float b)
{
  float rest = fmodf(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? (float)((double)rest + (double)b) : rest;
}

/* The power that programs write most is a product. */
static inline float pow_float(float x, float y)
{
  return y == 2.0f ? x * x : (float)pow((double)x, (double)y);
}

/* Nearest integer, halves to even: adding 2^23 leaves no fraction. */
static inline float round_float(float x)
{
  float a = fabs_float(x), r = (a + 8388608.0f) - 8388608.0f;
  r = float_of(bits_of(r) | (bits_of(x) & 0x80000000u));
  return a < 8388608.0f ? r : x;
}

static inline float floor_float(float x)
{
  float r = round_float(x);
  r = r > x ? r - 1.0f : r;
  return float_of(bits_of(r) | (bits_of(x) & 0x80000000u));
}

static inline float ceil_float(float x)
{
  return -floor_float(-x);
}

static inline float bf16_value(uint16_t bits)
{
  return float_of((uint32_t)bits << 16);
}

static inline uint16_t bf16_bits(float x)
{
  uint32_t u = bits_of(x), rounded = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
  return (uint16_t)(x != x ? u >> 16 | 0x40 : rounded);
}

static inline float f16_value(uint16_t bits)
{
  uint32_t magnitude = bits & 0x7fffu;
  float normal = float_of((magnitude << 13) + 0x38000000u);
  float tiny = (float)(int32_t)magnitude * 0x1p-24f;
  float special = float_of(magnitude << 13 | 0x7f800000u);
  float value = magnitude < 0x400 ? tiny : magnitude < 0x7c00 ? normal : special;
  return float_of(bits_of(value) | (uint32_t)(bits & 0x8000u) << 16);
}

static inline uint16_t f16_bits(float x)
{
  uint32_t sign = bits_of(x) >> 16 & 0x8000u, a = bits_of(x) & 0x7fffffffu;
  uint32_t normal = (a + 0xfffu + (a >> 13 & 1) - 0x38000000u) >> 13;
  uint32_t tiny = bits_of(float_of(a) + 0.5f) - 0x3f000000u;   /* a last place of 0.5 is 2^-24 */
  uint32_t value = a < 0x38800000u ? tiny : a < 0x477ff000u ? normal : 0x7c00u;
  value = a > 0x7f800000u ? 0x7e00u | (a >> 13 & 0x3ffu) : value;
  return (uint16_t)(sign | value);
}

#define LIBRARY(name, value) \
  static inline double name##_double(double x) \
  { \
    return value; \
  }
LIBRARY(fabs, fabs(x))
LIBRARY(sqrt, __builtin_sqrt(x))
LIBRARY(exp, exp(x))
LIBRARY(expm1, expm1(x))
LIBRARY(log, log(x))
LIBRARY(log1p, log1p(x))
LIBRARY(tanh, tanh(x))
LIBRARY(sigmoid, 1 / (1 + exp(-x)))
LIBRARY(erf, erf(x))
LIBRARY(gelu, 0.5 * x * erfc(-x * M_SQRT1_2))
LIBRARY(softplus, ((x > 0) | (x != x) ? x : 0) + log1p(exp(-fabs(x))))
LIBRARY(floor, floor(x))
LIBRARY(ceil, ceil(x))
LIBRARY(round, nearbyint(x))

static inline double larger_double(double a, double b)
{
  return (a > b) | (a != a) ? a : b;
}

static inline double smaller_double(double a, double b)
{
  return (a < b) | (a != a) ? a : b;
}

static inline double modulo_double(double a, double b)
{
  double rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static inline double pow_double(double x, double y)
{
  return pow(x, y);
}

#endif
