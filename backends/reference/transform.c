/* backends/reference/transform.c - Fourier transforms and triangular matrices. */
#include <config.h>

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/reference/kernels.h"

static const double pi = 3.14159265358979323846;

static double complex root_of_unity(int64_t k, int64_t n, double sign)
{
  double angle = sign * 2 * pi * (double)(k % n) / (double)n;
  return CMPLX(cos(angle), sin(angle));
}

static int64_t smallest_factor(int64_t n)
{
  for (int64_t p = 2; p * p <= n; p++)
    if (n % p == 0)
      return p;
  return n;
}

/* A transform of WHOLE numbers, with its roots of unity and room for as many numbers as its largest
 * prime factor. */
struct transform { int64_t whole; const double complex *roots; double complex *room; };

/* OUT is the transform of N numbers at IN, STEP apart: by mixed radix (J. Cooley and J. Tukey, 1965). */
static void transform(const struct transform *t, const double complex *in, int64_t step, double complex *out,
                      int64_t n)
{
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  int64_t p = smallest_factor(n), m = n / p, turn = t->whole / n;
  for (int64_t r = 0; r < p; r++)
    transform(t, in + r * step, step * p, out + r * m, m);
  for (int64_t k = 0; k < m; k++) {
    if (p == 2) {
      double complex a = out[k], b = out[m + k] * t->roots[k * turn];
      out[k] = a + b;
      out[m + k] = a - b;
      continue;
    }
    for (int64_t r = 0; r < p; r++)
      t->room[r] = out[r * m + k] * t->roots[r * k * turn];
    for (int64_t q = 0; q < p; q++) {
      double complex sum = t->room[0];
      for (int64_t r = 1; r < p; r++)
        sum += t->room[r] * t->roots[r * q % p * (t->whole / p)];
      out[q * m + k] = sum;
    }
  }
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
  double sign = l.kind == GS_IFFT || l.kind == GS_IRFFT ? 1 : -1;
  if (gs_type_elements(call->type) == 0 || l.n == 0)
    return;
  double complex *room = malloc((size_t)l.n * 4 * sizeof *room);
  for (int64_t k = 0; k < l.n && room != NULL; k++)
    room[k] = root_of_unity(k, l.n, sign);
  for (int64_t o = 0; o < l.outer; o++)
    for (int64_t i = 0; i < l.inner; i++) {
      int64_t in = o * l.in_size * l.inner + i, out = o * l.out_size * l.inner + i;
      if (room == NULL) {
        line_by_definition(call, &l, in, out, sign);
        continue;
      }
      double complex *line = room + l.n, *result = room + 2 * l.n;
      struct transform t = { l.n, room, room + 3 * l.n };
      for (int64_t k = 0; k < l.n; k++)
        line[k] = input_number(call, &l, in, k);
      transform(&t, line, 1, result, l.n);
      for (int64_t k = 0; k < l.out_size; k++)
        put(call, &l, out, k, result[k]);
    }
  free(room);
}

/* ---- Matrices: one after the other, values read back from the result where there is no memory ---- */

struct matrix { const struct gs_kernel_call *call; int64_t n, base; double *room; };

static double factor_at(const struct matrix *m, int64_t i, int64_t j)
{
  return m->room != NULL ? m->room[i * m->n + j]
                         : gs_element_get(m->call->type->dtype, m->call->result, m->base + i * m->n + j);
}

static void set_factor(const struct matrix *m, int64_t i, int64_t j, double value)
{
  if (m->room != NULL)
    m->room[i * m->n + j] = value;
  gs_element_set(m->call->type->dtype, m->call->result, m->base + i * m->n + j, value);
}

/* Row by row; what lies above the diagonal is not looked at (G. Golub and C. Van Loan, Matrix
 * Computations, 4.2). */
static void factorize(const struct matrix *m)
{
  enum gs_dtype dtype = m->call->type->dtype;
  for (int64_t i = 0; i < m->n; i++)
    for (int64_t j = 0; j < m->n; j++) {
      if (j > i) {
        set_factor(m, i, j, 0);
        continue;
      }
      double sum = gs_element_get(dtype, m->call->args[0], m->base + i * m->n + j);
      for (int64_t k = 0; k < j; k++)
        sum -= factor_at(m, i, k) * factor_at(m, j, k);
      set_factor(m, i, j, i == j ? sqrt(sum) : sum / factor_at(m, j, j));
    }
}

void gs_reference_cholesky(const struct gs_kernel_call *call)
{
  const struct gs_type *a = call->type;
  struct matrix m = { .call = call, .n = a->dims[a->rank - 1] };
  int64_t elements = gs_type_elements(a);
  if (elements == 0)
    return;
  m.room = malloc((size_t)(m.n * m.n) * sizeof *m.room);
  for (; m.base < elements; m.base += m.n * m.n)
    factorize(&m);
  free(m.room);
}

/* One right-hand side: its numbers are STEP apart in b and in the result. */
static void substitute(const struct gs_kernel_call *call, int64_t a, int64_t b, int64_t n, int64_t step, double *room)
{
  enum gs_dtype dtype = call->type->dtype;
  bool left = call->attrs->solve.left;
  /* x @ a = b is a' @ x' = b'. */
  bool turned = call->attrs->solve.transpose != !left;
  bool forward = call->attrs->solve.lower != turned;
  for (int64_t r = 0; r < n; r++) {
    int64_t i = forward ? r : n - 1 - r;
    double sum = gs_element_get(dtype, call->args[1], b + i * step);
    for (int64_t s = 0; s < r; s++) {
      int64_t j = forward ? s : n - 1 - s;
      double known = room != NULL ? room[j] : gs_element_get(dtype, call->result, b + j * step);
      sum -= gs_element_get(dtype, call->args[0], turned ? a + j * n + i : a + i * n + j) * known;
    }
    if (!call->attrs->solve.unit)
      sum /= gs_element_get(dtype, call->args[0], a + i * n + i);
    if (room != NULL)
      room[i] = sum;
    gs_element_set(dtype, call->result, b + i * step, sum);
  }
}

void gs_reference_triangular_solve(const struct gs_kernel_call *call)
{
  const struct gs_type *b = call->type;
  int64_t rows = b->dims[b->rank - 2], columns = b->dims[b->rank - 1], elements = gs_type_elements(b);
  bool left = call->attrs->solve.left;
  int64_t n = left ? rows : columns, sides = left ? columns : rows;
  if (elements == 0)
    return;
  double *room = malloc((size_t)n * sizeof *room);
  for (int64_t base = 0, a = 0; base < elements; base += rows * columns, a += n * n)
    for (int64_t side = 0; side < sides; side++)
      substitute(call, a, base + (left ? side : side * columns), n, left ? columns : 1, room);
  free(room);
}
