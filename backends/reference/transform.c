/* backends/reference/transform.c - triangular matrices. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "backends/reference/block.h"
#include "backends/reference/kernels.h"

/* Matrices one after the other; values are read back from the result where there is no memory. */

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

/* One right-hand side: its numbers are STEP apart in b and in the result.  ROOM, if there is, has the matrix in
 * front. */
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
      int64_t j = forward ? s : n - 1 - s, at = turned ? j * n + i : i * n + j;
      double known = room != NULL ? room[n * n + j] : gs_element_get(dtype, call->result, b + j * step);
      sum -= (room != NULL ? room[at] : gs_element_get(dtype, call->args[0], a + at)) * known;
    }
    if (!call->attrs->solve.unit)
      sum /= gs_element_get(dtype, call->args[0], a + i * n + i);
    if (room != NULL)
      room[n * n + i] = sum;
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
  double *room = malloc((size_t)(n * n + n) * sizeof *room);
  for (int64_t base = 0, a = 0; base < elements; base += rows * columns, a += n * n) {
    if (room != NULL)
      gs_block_load(call->type->dtype, call->args[0], a, 1, n * n, room);
    for (int64_t side = 0; side < sides; side++)
      substitute(call, a, base + (left ? side : side * columns), n, left ? columns : 1, room);
  }
  free(room);
}
