/* backends/cpu/extreme.c - argmax and argmin along one dim, many results side by side.
 *
 * The operand is [outer, count, inner].  A row whose elements lie one behind the other is looked at as
 * several interleaved ones, whose results are then compared.
 */
#include <config.h>

#include <stdlib.h>

#include "backends/cpu/kernel.h"
#include "backends/cpu/vector.h"

enum { SIDE = 64 };

/* Element K of N rows side by side; where one is better than the best so far, K is noted. */
typedef void step_function(const void *in, int64_t n, int32_t k, void *best, int32_t *index);
typedef bool better_function(const void *best, int a, int b, int32_t index_a, int32_t index_b);

struct extreme {
  struct gs_cpu_kernel kernel;
  int64_t outer, count, inner, size;
  step_function *step;
  better_function *better;
};

/* NaN is better than all numbers; of equals the first. */
#define BETTER(T, name, compare) \
  static void step_##name(const void *in, int64_t n, int32_t k, void *best, int32_t *index) \
  { \
    const T *a = in; \
    T *restrict b = best; \
    if (k == 0) { \
      for (int64_t i = 0; i < n; i++) { \
        b[i] = a[i]; \
        index[i] = 0; \
      } \
      return; \
    } \
    for (int64_t i = 0; i < n; i++) { \
      T x = a[i], y = b[i]; \
      bool wins = ((x compare y) | (x != x)) & (y == y); \
      b[i] = wins ? x : y; \
      index[i] = wins ? k : index[i]; \
    } \
  } \
  static bool better_##name(const void *best, int i, int j, int32_t index_i, int32_t index_j) \
  { \
    T x = ((const T *)best)[i], y = ((const T *)best)[j]; \
    bool none_x = x != x, none_y = y != y; \
    if (none_x | none_y) \
      return none_x && (!none_y || index_i < index_j); \
    return x compare y || (x == y && index_i < index_j); \
  }
BETTER(float, max_float, >)
BETTER(float, min_float, <)
BETTER(double, max_double, >)
BETTER(double, min_double, <)
BETTER(int32_t, max_int, >)
BETTER(int32_t, min_int, <)

union best { float singles[SIDE]; double doubles[SIDE]; int32_t integers[SIDE]; };

static void side_by_side(const struct extreme *e, const char *in, int32_t *out)
{
  union best best;
  int32_t index[SIDE];
  for (int64_t begin = 0; begin < e->inner; begin += SIDE) {
    int64_t n = e->inner - begin < SIDE ? e->inner - begin : SIDE;
    for (int64_t k = 0; k < e->count; k++)
      e->step(in + (k * e->inner + begin) * e->size, n, (int32_t)k, &best, index);
    for (int64_t i = 0; i < n; i++)
      out[begin + i] = index[i];
  }
}

static int32_t of_row(const struct extreme *e, const char *in)
{
  union best best;
  int32_t index[SIDE] = { 0 };
  int64_t turns = e->count / SIDE, n = turns > 0 ? SIDE : 1;
  for (int64_t k = 0; k < turns; k++)
    e->step(in + k * SIDE * e->size, SIDE, (int32_t)k, &best, index);
  if (turns == 0)
    e->step(in, 1, 0, &best, index);
  for (int i = 0; i < n; i++)
    index[i] = index[i] * SIDE + i;
  int found = 0;
  for (int i = 1; i < n; i++)
    if (e->better(&best, i, found, index[i], index[found]))
      found = i;
  char *winner = (char *)&best + found * e->size;
  for (int64_t k = turns > 0 ? turns * SIDE : 1; k < e->count; k++)
    e->step(in + k * e->size, 1, (int32_t)k, winner, &index[found]);
  return index[found];
}

static void run(const struct gs_cpu_kernel *kernel, const void *const *args, void *result, int64_t position,
                int thread)
{
  const struct extreme *e = (const struct extreme *)kernel;
  int32_t *out = result;
  (void)position;
  (void)thread;
  for (int64_t o = 0; o < e->outer; o++, out += e->inner) {
    const char *in = (const char *)args[0] + o * e->count * e->inner * e->size;
    if (e->inner == 1)
      *out = of_row(e, in);
    else
      side_by_side(e, in, out);
  }
}

static void release(struct gs_cpu_kernel *kernel)
{
  free(kernel);
}

struct gs_cpu_kernel *gs_cpu_extreme_new(const struct gs_program *program, int index)
{
  const struct gs_step *step = &program->steps[index];
  const struct gs_type *x = &program->steps[step->args[0]].type;
  uint32_t dims = step->attrs->reduce.dims;
  bool max = step->op == GS_OP_ARGMAX, wide = x->dtype == GS_DTYPE_F64, whole = x->dtype == GS_DTYPE_S32;
  struct extreme e = { .outer = 1, .count = 1, .inner = 1, .size = (int64_t)gs_dtype_size(x->dtype) }, *made;
  if ((x->dtype != GS_DTYPE_F32 && !wide && !whole) || dims == 0 || (dims & (dims - 1)) != 0)
    return NULL;
  for (int i = 0; i < x->rank; i++)
    *(dims >> i & 1 ? &e.count : dims >> i != 0 ? &e.outer : &e.inner) *= x->dims[i];
  if (e.count == 0 || e.count > INT32_MAX || (made = malloc(sizeof *made)) == NULL)
    return NULL;
  e.step = wide    ? (max ? step_max_double : step_min_double)
           : whole ? (max ? step_max_int : step_min_int)
                   : (max ? step_max_float : step_min_float);
  e.better = wide    ? (max ? better_max_double : better_min_double)
             : whole ? (max ? better_max_int : better_min_int)
                     : (max ? better_max_float : better_min_float);
  e.kernel = (struct gs_cpu_kernel){ .run = run, .release = release, .nargs = 1, .args = step->args };
  *made = e;
  return &made->kernel;
}
