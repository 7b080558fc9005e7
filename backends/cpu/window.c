/* backends/cpu/window.c - reductions over windows, a row of results at a time.
 *
 * A row is what lies along the last dim that windows go over, with the dims behind it.  For each position in
 * the window what it sees of the operand is folded into the row by a loop over contiguous elements; only
 * where windows step over elements of the last dim itself are these apart.
 */
#include <config.h>

#include <stdlib.h>

#include "backends/cpu/kernel.h"
#include "backends/cpu/vector.h"

struct pool {
  struct gs_cpu_kernel kernel;
  const struct gs_window *windows;
  struct gs_type in, out;
  int64_t in_strides[GS_MAX_RANK];
  int last;                            /* the last dim with windows */
  int64_t inner;                       /* elements of the dims behind it */
  int64_t size;                        /* bytes of an element */
  enum gs_op op;
  enum gs_lane lane;
  gs_vector_fold *fold;
  double start;                        /* of float lanes */
};

static bool stays(const struct gs_window *w)
{
  return w->size == 1 && w->stride == 1 && w->low == 0 && w->high == 0 && w->base_dilate == 1;
}

static int64_t ceil_to(int64_t a, int64_t b)
{
  return a <= 0 ? 0 : (a + b - 1) / b;
}

/* What the last dim's windows see of the operand row at IN, folded into the results at ROW: those from BEGIN
 * to UNTIL. */
static void fold_block(const struct pool *p, const char *in, char *row, int64_t begin, int64_t until)
{
  const struct gs_window *w = &p->windows[p->last];
  int64_t size = p->in.dims[p->last], step = p->inner * p->size;
  for (int64_t j = 0; j < w->size; j++) {
    /* Position o sees element o * stride + shift. */
    int64_t shift = j * w->dilate - w->low, first = ceil_to(-shift, w->stride);
    int64_t end = ceil_to(size - shift, w->stride);
    first = first < begin ? begin : first;
    end = end > until ? until : end;
    if (end <= first)
      continue;
    const char *from = in + (first * w->stride + shift) * step;
    if (w->stride == 1 || p->inner == 1) {
      p->fold(row + first * step, from, (end - first) * p->inner, w->stride);
      continue;
    }
    for (int64_t o = first; o < end; o++, from += w->stride * step)
      p->fold(row + o * step, from, p->inner, 1);
  }
}

/* All of a row, by blocks that stay in the cache while window positions go over them. */
static void fold_row(const struct pool *p, const char *in, char *row)
{
  enum { BLOCK = 1 << 14 };
  int64_t positions = p->out.dims[p->last], block = BLOCK / (p->inner * p->size);
  block = block < 1 ? 1 : block;
  for (int64_t begin = 0; begin < positions; begin += block)
    fold_block(p, in, row, begin, begin + block < positions ? begin + block : positions);
}

/* All positions in the window along dims from DIM on, for the row of results at INDEX. */
static void fold_rows(const struct pool *p, int dim, const int64_t *index, const char *in, char *row)
{
  if (dim == p->last) {
    fold_row(p, in, row);
    return;
  }
  const struct gs_window *w = &p->windows[dim];
  for (int64_t j = 0; j < w->size; j++) {
    int64_t at = index[dim] * w->stride - w->low + j * w->dilate;
    if (at >= 0 && at % w->base_dilate == 0 && at / w->base_dilate < p->in.dims[dim])
      fold_rows(p, dim + 1, index, in + at / w->base_dilate * p->in_strides[dim] * p->size, row);
  }
}

static void start_row(const struct pool *p, char *row, int64_t n)
{
  if (p->lane == GS_LANE_F32)
    for (int64_t i = 0; i < n; i++)
      ((float *)(void *)row)[i] = (float)p->start;
  else if (p->lane == GS_LANE_F64)
    for (int64_t i = 0; i < n; i++)
      ((double *)(void *)row)[i] = p->start;
  else
    gs_vector_start(p->op, p->lane, row, n);
}

static void run_rows(const struct gs_cpu_kernel *kernel, const void *const *args, void *result, int64_t begin,
                     int64_t end, int thread)
{
  const struct pool *p = (const struct pool *)kernel;
  int64_t n = p->out.dims[p->last] * p->inner;
  (void)thread;
  for (int64_t r = begin; r < end; r++) {
    int64_t index[GS_MAX_RANK], rest = r;
    char *row = (char *)result + r * n * p->size;
    for (int i = p->last - 1; i >= 0; i--) {
      index[i] = rest % p->out.dims[i];
      rest /= p->out.dims[i];
    }
    start_row(p, row, n);
    fold_rows(p, 0, index, args[0], row);
  }
}

static void run(const struct gs_cpu_kernel *kernel, const void *const *args, void *result, int64_t position,
                int thread)
{
  (void)position;
  run_rows(kernel, args, result, 0, kernel->units, thread);
}

static void release(struct gs_cpu_kernel *kernel)
{
  free(kernel);
}

struct gs_cpu_kernel *gs_cpu_window_new(const struct gs_program *program, int index)
{
  const struct gs_step *step = &program->steps[index];
  struct pool p = { .windows = step->attrs->window.dims, .in = program->steps[step->args[0]].type,
                    .out = step->type, .last = step->type.rank - 1, .inner = 1,
                    .op = step->attrs->window.reduce, .lane = gs_lane_of(step->type.dtype),
                    .size = (int64_t)gs_dtype_size(step->type.dtype) };
  while (p.last >= 0 && stays(&p.windows[p.last]))
    p.inner *= p.out.dims[p.last--];
  if (p.last < 0 || p.lane == GS_LANE_COUNT || gs_lane_half(step->type.dtype) >= 0
      || p.windows[p.last].base_dilate != 1 || gs_type_elements(&p.out) == 0)
    return NULL;
  p.fold = gs_vector_best()->fold[p.op][p.lane];
  p.fold = p.fold == NULL ? gs_vector_any.fold[p.op][p.lane] : p.fold;
  if (p.fold == NULL)
    return NULL;
  if (p.lane == GS_LANE_F32 || p.lane == GS_LANE_F64)
    gs_vector_start(p.op, p.lane, &p.start, 1);
  gs_type_strides(&p.in, p.in_strides);
  p.kernel = (struct gs_cpu_kernel){ .run = run, .release = release, .run_units = run_rows, .nargs = 1,
                                     .args = step->args,
                                     .units = gs_type_elements(&p.out) / (p.out.dims[p.last] * p.inner) };
  struct pool *made = malloc(sizeof *made);
  if (made == NULL)
    return NULL;
  *made = p;
  return &made->kernel;
}
