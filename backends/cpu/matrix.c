/* backends/cpu/matrix.c - cholesky and triangular_solve of f32 matrices, by blocks of rows: what is known goes into
 * a block by one product of matrices, which oneDNN does; then the block is solved by itself (G. Golub and
 * C. Van Loan, Matrix Computations, 3.1 and 4.2).
 */
#include <config.h>

#include <math.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/kernel.h"

enum { BLOCK = 64, LEAST = 48 };

struct solver {
  struct gs_cpu_kernel kernel;
  int64_t count, n, sides;             /* matrices, their rows, right-hand sides of each */
  bool left, unit;
  bool turned, forward;                /* of m x = b, m is the matrix transposed; rows are solved from the first */
};

/* A row-major matrix, of which TURNED takes the transpose. */
struct view { const float *at; int64_t width; bool turned; };

/* C, of M rows and N columns WIDTH apart, loses A times B. */
static void subtract_product(struct view a, struct view b, float *c, int64_t width, int64_t m, int64_t n, int64_t k)
{
  if (m > 0 && n > 0 && k > 0)
    dnnl_sgemm(a.turned ? 'T' : 'N', b.turned ? 'T' : 'N', m, n, k, -1, a.at, a.width, b.at, b.width, 1, c, width);
}

/* ---- Cholesky ---- */

/* Rows from FIRST to END of the factor's columns BEGIN to UNTIL, in which A still stands; what columns before
 * BEGIN give is taken off already. */
static void factor_rows(float *l, int64_t n, int64_t first, int64_t end, int64_t begin, int64_t until)
{
  for (int64_t i = first; i < end; i++)
    for (int64_t j = begin; j < until && j <= i; j++) {
      double sum = (double)l[i * n + j];
      for (int64_t k = begin; k < j; k++)
        sum -= (double)l[i * n + k] * (double)l[j * n + k];
      l[i * n + j] = (float)(i == j ? sqrt(sum) : sum / (double)l[j * n + j]);
    }
}

static void factorize(float *l, int64_t n)
{
  for (int64_t begin = 0; begin < n; begin += BLOCK) {
    int64_t until = begin + BLOCK < n ? begin + BLOCK : n;
    factor_rows(l, n, begin, n, begin, until);
    for (int64_t j = until; j < n; j += BLOCK) {
      int64_t end = j + BLOCK < n ? j + BLOCK : n;
      subtract_product((struct view){ l + j * n + begin, n, false }, (struct view){ l + j * n + begin, n, true },
                       l + j * n + j, n, n - j, end - j, until - begin);
    }
  }
}

static void run_cholesky(const struct gs_cpu_kernel *kernel, const void *const *args, void *result, int64_t position,
                         int thread)
{
  const struct solver *s = (const struct solver *)kernel;
  int64_t n = s->n;
  (void)position;
  (void)thread;
  omp_set_num_threads(1);              /* many small products */
  memcpy(result, args[0], (size_t)(s->count * n * n) * sizeof(float));
  for (int64_t k = 0; k < s->count; k++) {
    float *l = (float *)result + k * n * n;
    factorize(l, n);
    for (int64_t i = 0; i < n; i++)
      memset(l + i * n + i + 1, 0, (size_t)(n - 1 - i) * sizeof *l);
  }
}

/* ---- Triangular solve: m x = b, element i, j of m being a[i, j], or a[j, i] when turned ---- */

static float element(const struct solver *s, const float *a, int64_t i, int64_t j)
{
  return s->turned ? a[j * s->n + i] : a[i * s->n + j];
}

/* Rows of x BEGIN to END, right-hand sides side by side. */
static void solve_rows(const struct solver *s, const float *a, float *x, int64_t begin, int64_t end)
{
  for (int64_t r = begin; r < end; r++) {
    int64_t i = s->forward ? r : end - 1 - (r - begin);
    float *row = x + i * s->sides;
    for (int64_t q = begin; q < r; q++) {
      int64_t j = s->forward ? q : end - 1 - (q - begin);
      float factor = element(s, a, i, j);
      const float *known = x + j * s->sides;
      for (int64_t k = 0; k < s->sides; k++)
        row[k] -= factor * known[k];
    }
    float diagonal = element(s, a, i, i);
    for (int64_t k = 0; k < s->sides && !s->unit; k++)
      row[k] /= diagonal;
  }
}

/* Columns of x BEGIN to END, a right-hand side a row. */
static void solve_columns(const struct solver *s, const float *a, float *x, int64_t begin, int64_t end)
{
  for (int64_t side = 0; side < s->sides; side++)
    for (int64_t r = begin; r < end; r++) {
      int64_t i = s->forward ? r : end - 1 - (r - begin);
      float *row = x + side * s->n;
      double sum = (double)row[i];
      for (int64_t q = begin; q < r; q++) {
        int64_t j = s->forward ? q : end - 1 - (q - begin);
        sum -= (double)element(s, a, i, j) * (double)row[j];
      }
      row[i] = (float)(s->unit ? sum : sum / (double)element(s, a, i, i));
    }
}

static void solve(const struct solver *s, const float *a, float *x)
{
  int64_t n = s->n, blocks = (n + BLOCK - 1) / BLOCK;
  for (int64_t b = 0; b < blocks; b++) {
    int64_t begin = (s->forward ? b : blocks - 1 - b) * BLOCK, end = begin + BLOCK < n ? begin + BLOCK : n;
    int64_t from = s->forward ? 0 : end, known = s->forward ? begin : n - end;
    const float *part = s->turned ? a + from * n + begin : a + begin * n + from;
    if (s->left) {
      subtract_product((struct view){ part, n, s->turned }, (struct view){ x + from * s->sides, s->sides, false },
                       x + begin * s->sides, s->sides, end - begin, s->sides, known);
      solve_rows(s, a, x, begin, end);
    } else {
      subtract_product((struct view){ x + from, n, false }, (struct view){ part, n, !s->turned }, x + begin, n,
                       s->sides, end - begin, known);
      solve_columns(s, a, x, begin, end);
    }
  }
}

static void run_solve(const struct gs_cpu_kernel *kernel, const void *const *args, void *result, int64_t position,
                      int thread)
{
  const struct solver *s = (const struct solver *)kernel;
  (void)position;
  (void)thread;
  omp_set_num_threads(1);              /* many small products */
  memcpy(result, args[1], (size_t)(s->count * s->n * s->sides) * sizeof(float));
  for (int64_t k = 0; k < s->count; k++)
    solve(s, (const float *)args[0] + k * s->n * s->n, (float *)result + k * s->n * s->sides);
}

static void release(struct gs_cpu_kernel *kernel)
{
  free(kernel);
}

struct gs_cpu_kernel *gs_cpu_matrix_new(const struct gs_program *program, int index)
{
  const struct gs_step *step = &program->steps[index];
  const struct gs_type *a = &program->steps[step->args[0]].type;
  struct solver *s;
  int64_t n = a->dims[a->rank - 1];
  if (step->type.dtype != GS_DTYPE_F32 || n < LEAST || gs_type_elements(&step->type) == 0
      || (s = calloc(1, sizeof *s)) == NULL)
    return NULL;
  bool solves = step->op == GS_OP_TRIANGULAR_SOLVE;
  s->kernel = (struct gs_cpu_kernel){ .run = solves ? run_solve : run_cholesky, .release = release,
                                      .nargs = step->nargs, .args = step->args };
  s->n = n;
  s->count = gs_type_elements(a) / (n * n);
  s->sides = gs_type_elements(&step->type) / (s->count * n);
  if (solves) {
    s->left = step->attrs->solve.left;
    s->unit = step->attrs->solve.unit;
    s->turned = step->attrs->solve.transpose != !s->left;
    s->forward = step->attrs->solve.lower != s->turned;
  }
  return &s->kernel;
}
