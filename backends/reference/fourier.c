/* backends/reference/fourier.c - Fourier transforms. */
#include <config.h>

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "backends/reference/kernels.h"

static const double pi = 3.14159265358979323846;

static double complex root_of_unity(int64_t k, int64_t n, double sign)
{
  double angle = sign * 2 * pi * (double)(k % n) / (double)n;
  return CMPLX(cos(angle), sin(angle));
}

/* a * b; that of the language looks for infinities first. */
static double complex product(double complex a, double complex b)
{
  return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* 4 rather than 2. */
static int64_t next_factor(int64_t n)
{
  if (n % 4 == 0)
    return 4;
  for (int64_t p = 2; p * p <= n; p++)
    if (n % p == 0)
      return p;
  return n;
}

static int64_t largest_factor(int64_t n)
{
  int64_t p = 1;
  for (; n > 1; n /= p)
    p = next_factor(n);
  return p;
}

/* A transform of WHOLE numbers, with its roots of unity and room for as many numbers as its largest
 * factor. */
struct transform { int64_t whole; const double complex *roots; double complex *room; };

/* Four transforms of M numbers each are those of 4 M, but for the turns by roots TURN apart. */
static void combine_four(const struct transform *t, double complex *out, int64_t m, int64_t turn)
{
  double sign = cimag(t->roots[t->whole / 4]);
  for (int64_t k = 0; k < m; k++) {
    double complex a = out[k], b = product(out[m + k], t->roots[k * turn]);
    double complex c = product(out[2 * m + k], t->roots[2 * k * turn]);
    double complex d = product(out[3 * m + k], t->roots[3 * k * turn]);
    double complex sum = b + d, difference = b - d;
    double complex turned = CMPLX(-sign * cimag(difference), sign * creal(difference));
    out[k] = a + c + sum;
    out[m + k] = a - c + turned;
    out[2 * m + k] = a + c - sum;
    out[3 * m + k] = a - c - turned;
  }
}

static void combine(const struct transform *t, double complex *out, int64_t p, int64_t m, int64_t turn)
{
  for (int64_t k = 0; k < m; k++) {
    for (int64_t r = 0; r < p; r++)
      t->room[r] = product(out[r * m + k], t->roots[r * k * turn]);
    for (int64_t q = 0; q < p; q++) {
      double complex sum = t->room[0];
      for (int64_t r = 1; r < p; r++)
        sum += product(t->room[r], t->roots[r * q % p * (t->whole / p)]);
      out[q * m + k] = sum;
    }
  }
}

/* OUT is the transform of N numbers at IN, STEP apart: by mixed radix (J. Cooley and J. Tukey, 1965). */
static void transform(const struct transform *t, const double complex *in, int64_t step, double complex *out,
                      int64_t n)
{
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  int64_t p = next_factor(n), m = n / p;
  for (int64_t r = 0; r < p; r++)
    if (m == 1)
      out[r] = in[r * step];
    else
      transform(t, in + r * step, step * p, out + r * m, m);
  if (p == 4)
    combine_four(t, out, m, t->whole / n);
  else
    combine(t, out, p, m, t->whole / n);
}

/* What transforms lines of N numbers.  Where N has a large prime factor the transform is written as a
 * convolution, which transforms of LENGTH, a power of two, do (L. Bluestein, 1970); else LENGTH is 0. */
struct plan {
  int64_t n, length;
  double complex *memory, *line, *result;
  double complex *chirp, *kernel, *spread, *spectrum;
  struct transform transform;
};

static void plan_chirp(struct plan *p, double sign)
{
  for (int64_t k = 0; k < p->n; k++)
    p->chirp[k] = root_of_unity((int64_t)((unsigned __int128)k * (unsigned __int128)k % (2 * (uint64_t)p->n)),
                                2 * p->n, sign);
  for (int64_t k = 0; k < p->length; k++)
    p->spread[k] = 0;
  for (int64_t k = 0; k < p->n; k++)
    p->spread[k] = p->spread[(p->length - k) % p->length] = conj(p->chirp[k]);
  transform(&p->transform, p->spread, 1, p->kernel, p->length);
}

/* False: out of memory. */
static bool plan_lines(struct plan *p, int64_t n, double sign)
{
  enum { LARGE = 50 };
  *p = (struct plan){ .n = n };
  if (n > INT64_MAX / 1024)
    return false;
  if (largest_factor(n) > LARGE)
    for (p->length = 1; p->length < 2 * n - 1;)
      p->length *= 2;
  int64_t whole = p->length > 0 ? p->length : n;
  p->memory = malloc((size_t)(3 * n + 5 * whole) * sizeof *p->memory);
  if (p->memory == NULL)
    return false;
  double complex *roots = p->memory + 3 * n;
  p->line = p->memory;
  p->result = p->line + n;
  p->chirp = p->result + n;
  p->kernel = roots + 2 * whole;
  p->spread = p->kernel + whole;
  p->spectrum = p->spread + whole;
  p->transform = (struct transform){ whole, roots, roots + whole };
  for (int64_t k = 0; k < whole; k++)
    roots[k] = root_of_unity(k, whole, p->length > 0 ? -1 : sign);
  if (p->length > 0)
    plan_chirp(p, sign);
  return true;
}

/* The plan's line to its result. */
static void run_plan(const struct plan *p)
{
  if (p->length == 0) {
    transform(&p->transform, p->line, 1, p->result, p->n);
    return;
  }
  for (int64_t k = 0; k < p->length; k++)
    p->spread[k] = k < p->n ? product(p->line[k], p->chirp[k]) : 0;
  transform(&p->transform, p->spread, 1, p->spectrum, p->length);
  for (int64_t k = 0; k < p->length; k++)        /* conjugates, so that the way back is the same transform */
    p->spectrum[k] = conj(product(p->spectrum[k], p->kernel[k]));
  transform(&p->transform, p->spectrum, 1, p->spread, p->length);
  for (int64_t k = 0; k < p->n; k++)
    p->result[k] = product(conj(p->spread[k]), p->chirp[k]) / (double)p->length;
}

/* The lines along the transformed dim. */
struct lines { int64_t outer, inner, in_size, out_size, n; enum gs_fft_kind kind; };

static struct lines lines_of(const struct gs_kernel_call *call)
{
  const struct gs_type *x = call->arg_types[0];
  int dim = call->attrs->fft.dim;
  struct lines l = { .outer = 1, .inner = 1, .in_size = x->dims[dim], .out_size = call->type->dims[dim],
                     .kind = call->attrs->fft.kind };
  for (int i = 0; i < x->rank; i++)
    *(i < dim ? &l.outer : &l.inner) *= i == dim ? 1 : x->dims[i];
  l.n = l.kind == GS_IRFFT ? l.out_size : l.in_size;
  return l;
}

static double complex get(const struct gs_kernel_call *call, int64_t at)
{
  enum gs_dtype dtype = call->arg_types[0]->dtype;
  const float *singles = call->args[0];
  if (dtype == GS_DTYPE_C64)
    return CMPLX((double)singles[2 * at], (double)singles[2 * at + 1]);
  if (dtype == GS_DTYPE_F32)
    return CMPLX((double)singles[at], 0);
  return CMPLX(gs_element_get(dtype, call->args[0], at), gs_element_get_imag(dtype, call->args[0], at));
}

/* Number K of the line at BASE; of a real result the coefficients past the middle are the conjugates of
 * those before it, and those that have no partner count as real. */
static double complex input_number(const struct gs_kernel_call *call, const struct lines *l, int64_t base, int64_t k)
{
  if (l->kind != GS_IRFFT)
    return get(call, base + k * l->inner);
  if (k == 0 || 2 * k == l->n)
    return creal(get(call, base + k * l->inner));
  return 2 * k < l->n ? get(call, base + k * l->inner) : conj(get(call, base + (l->n - k) * l->inner));
}

static void put(const struct gs_kernel_call *call, const struct lines *l, int64_t base, int64_t k, double complex z)
{
  bool inverse = l->kind == GS_IFFT || l->kind == GS_IRFFT;
  z = inverse ? z / (double)l->n : z;
  float *single = (float *)call->result + 2 * (base + k * l->inner);
  if (call->type->dtype == GS_DTYPE_C64) {
    single[0] = (float)creal(z);
    single[1] = (float)cimag(z);
    return;
  }
  gs_element_set_complex(call->type->dtype, call->result, base + k * l->inner, creal(z), cimag(z));
}

/* By the definition, without memory. */
static void line_by_definition(const struct gs_kernel_call *call, const struct lines *l, int64_t in, int64_t out,
                               double sign)
{
  for (int64_t k = 0; k < l->out_size; k++) {
    double complex sum = 0;
    for (int64_t j = 0; j < l->n; j++)
      sum += input_number(call, l, in, j) * root_of_unity(j * k % l->n, l->n, sign);
    put(call, l, out, k, sum);
  }
}

void gs_reference_fft(const struct gs_kernel_call *call)
{
  struct lines l = lines_of(call);
  struct plan p;
  double sign = l.kind == GS_IFFT || l.kind == GS_IRFFT ? 1 : -1;
  if (gs_type_elements(call->type) == 0 || l.n == 0)
    return;
  bool planned = plan_lines(&p, l.n, sign);
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t i = 0; i < l.inner; i++) {
      int64_t in = o * l.in_size * l.inner + i, out = o * l.out_size * l.inner + i;
      if (!planned) {
        line_by_definition(call, &l, in, out, sign);
        continue;
      }
      for (int64_t k = 0; k < l.n; k++)
        p.line[k] = input_number(call, &l, in, k);
      run_plan(&p);
      for (int64_t k = 0; k < l.out_size; k++)
        put(call, &l, out, k, p.result[k]);
    }
  free(p.memory);
}
