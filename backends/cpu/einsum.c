/* backends/cpu/einsum.c - contractions by oneDNN's matrix product.
 *
 * The labels of an einsum fall into batch (in both operands and the result), rows (left operand and
 * result), columns (right operand and result) and summed ones.  Neighbouring labels that lie in
 * memory like one dim are taken as one; what is left over becomes loops around the product. Strides
 * say all transpositions, so nothing is copied unless no dim of a matrix is contiguous, or the
 * elements are 16-bit: these are widened to f32, multiplied, and rounded once.
 */
#include <config.h>

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/kernel.h"

enum role { BATCH, ROW, COLUMN, SUMMED };

/* One label, or several that lie in memory like one. */
struct dim {
  enum role role;
  int64_t size, a, b, c;
}; /* strides in elements; 0 where absent */

struct einsum {
  struct gs_cpu_kernel kernel;
  struct dim loops[GS_MAX_LABELS];
  int nloops;
  struct dim row, column, summed;      /* the product's; size 1 where there is none */
  bool swapped;                        /* operands changed places, so that columns are contiguous */
  bool pack_a, pack_b, half;
  enum gs_dtype dtype;
  struct gs_type a_type, b_type, c_type;
  int64_t panel;                       /* rows of the right matrix copied at a time; 0: none */
  int64_t scratch_size;                /* floats a thread needs */
  float **scratch;                     /* by thread */
  int nthreads;
  bool alone;
};

static void find_dims(const struct gs_step *step, const struct gs_type *types[2], struct dim *dims)
{
  const union gs_attrs *at = step->attrs;
  int64_t strides[3][GS_MAX_RANK];
  gs_type_strides(types[0], strides[0]);
  gs_type_strides(types[1], strides[1]);
  gs_type_strides(&step->type, strides[2]);
  for (int l = 0; l < at->einsum.nlabels; l++)
    dims[l] = (struct dim){ .size = 1 };
  for (int i = 0; i < types[0]->rank; i++) {
    dims[(int)at->einsum.label[0][i]].a += strides[0][i];
    dims[(int)at->einsum.label[0][i]].size = types[0]->dims[i];
  }
  for (int i = 0; i < types[1]->rank; i++) {
    dims[(int)at->einsum.label[1][i]].b += strides[1][i];
    dims[(int)at->einsum.label[1][i]].size = types[1]->dims[i];
  }
  bool in_a[GS_MAX_LABELS] = { false }, in_b[GS_MAX_LABELS] = { false },
       in_c[GS_MAX_LABELS] = { false };
  for (int i = 0; i < types[0]->rank; i++)
    in_a[(int)at->einsum.label[0][i]] = true;
  for (int i = 0; i < types[1]->rank; i++)
    in_b[(int)at->einsum.label[1][i]] = true;
  for (int i = 0; i < step->type.rank; i++) {
    dims[(int)at->einsum.out[i]].c += strides[2][i];
    in_c[(int)at->einsum.out[i]] = true;
  }
  for (int l = 0; l < at->einsum.nlabels; l++)
    dims[l].role = !in_c[l] ? SUMMED : in_a[l] && in_b[l] ? BATCH : in_a[l] ? ROW : COLUMN;
}

/* Whether OUTER and INNER together step through memory like one dim. */
static bool merges(const struct dim *outer, const struct dim *inner)
{
  return outer->role == inner->role && outer->a == inner->a * inner->size
         && outer->b == inner->b * inner->size && outer->c == inner->c * inner->size;
}

/* Merge what can be merged; dims of size 1 go.  The count is returned. */
static int merge_dims(struct dim *dims, int count)
{
  int n = 0;
  for (int i = 0; i < count; i++)
    if (dims[i].size != 1)
      dims[n++] = dims[i];
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < n && !changed; i++)
      for (int j = 0; j < n && !changed; j++) {
        if (i == j || !merges(&dims[i], &dims[j]))
          continue;
        dims[j].size *= dims[i].size;
        dims[i] = dims[--n];
        changed = true;
      }
  }
  return n;
}

/* Take the dim of ROLE that suits the product best: contiguous somewhere, then the largest. */
static struct dim take_dim(struct dim *dims, int *count, enum role role)
{
  int best = -1;
  for (int i = 0; i < *count; i++) {
    if (dims[i].role != role)
      continue;
    bool unit = dims[i].a == 1 || dims[i].b == 1 || dims[i].c == 1;
    bool best_unit = best >= 0 && (dims[best].a == 1 || dims[best].b == 1 || dims[best].c == 1);
    if (best < 0 || (unit && !best_unit) || (unit == best_unit && dims[i].size > dims[best].size))
      best = i;
  }
  if (best < 0)
    return (struct dim){ .role = role, .size = 1 };
  struct dim taken = dims[best];
  dims[best] = dims[--*count];
  return taken;
}

static void swap_operands(struct einsum *e)
{
  struct dim row = e->row;
  e->swapped = true;
  e->row = e->column;
  e->column = row;
  struct dim *all[] = { &e->row, &e->column, &e->summed };
  for (int i = 0; i < 3 + e->nloops; i++) {
    struct dim *d = i < 3 ? all[i] : &e->loops[i - 3];
    int64_t a = d->a;
    d->a = d->b;
    d->b = a;
    d->role = d->role == ROW ? COLUMN : d->role == COLUMN ? ROW : d->role;
  }
}

/* A matrix of M by N with these strides is one that the product takes as it is. */
static bool is_matrix(int64_t m, int64_t stride_m, int64_t n, int64_t stride_n)
{
  return (stride_n == 1 && (stride_m >= n || m == 1))
         || (stride_m == 1 && (stride_n >= m || n == 1)) || (m == 1 && n == 1)
         || (n == 1 && stride_m >= 1) || (m == 1 && stride_n >= 1);
}

/* Choose the product's dims and loops by merged DIMS.  False: its result has no contiguous dim. */
static bool choose_dims(struct einsum *e, struct dim *dims, int count)
{
  e->row = take_dim(dims, &count, ROW);
  e->column = take_dim(dims, &count, COLUMN);
  e->summed = take_dim(dims, &count, SUMMED);
  e->nloops = count;
  memcpy(e->loops, dims, (size_t)count * sizeof *dims);
  if (e->column.c != 1 && (e->row.c == 1 || e->column.size == 1))
    swap_operands(e);
  return e->column.c == 1 || (e->column.size == 1 && e->row.size == 1);
}

/* Replace operand strides by those of a packed copy: loops outside, ROW (or the other) dim, SUMMED
 * innermost.  Returns the copy's elements. */
static int64_t pack_strides(struct einsum *e, bool left)
{
  int64_t size = 1;
  struct dim *own = left ? &e->row : &e->column;
  *(left ? &e->summed.a : &e->summed.b) = 1;
  size *= e->summed.size;
  *(left ? &own->a : &own->b) = size;
  size *= own->size;
  for (int i = 0; i < e->nloops; i++) {
    int64_t *stride = left ? &e->loops[i].a : &e->loops[i].b;
    if (*stride == 0)
      continue;
    *stride = size;
    size *= e->loops[i].size;
  }
  return size;
}

/* Strides before packing, to read the operand by. */
struct unpacked { struct dim loops[GS_MAX_LABELS], own, summed; };

struct packing { int nloops; bool left; struct unpacked from; };

struct packed_einsum {
  struct einsum e;
  struct packing a, b;
  int64_t a_size, b_size, c_size;
};

static void prepare_packing(struct einsum *e, struct packing *p, bool left, int64_t *size)
{
  p->left = left;
  p->nloops = e->nloops;
  memcpy(p->from.loops, e->loops, sizeof e->loops);
  p->from.own = left ? e->row : e->column;
  p->from.summed = e->summed;
  *size = pack_strides(e, left);
}

static float load(enum gs_dtype dtype, const void *data, int64_t at)
{
  return dtype == GS_DTYPE_F32    ? ((const float *)data)[at]
         : dtype == GS_DTYPE_BF16 ? gs_bf16_to_f32(((const uint16_t *)data)[at])
                                  : gs_f16_to_f32(((const uint16_t *)data)[at]);
}

/* Step through loops; false after the last.  Offsets follow along. */
static bool next_loop(const struct dim *loops, int nloops, int64_t *index, int64_t *a, int64_t *b,
                      int64_t *c)
{
  for (int i = nloops - 1; i >= 0; i--) {
    *a += loops[i].a;
    *b += loops[i].b;
    *c += loops[i].c;
    if (++index[i] < loops[i].size)
      return true;
    *a -= loops[i].a * loops[i].size;
    *b -= loops[i].b * loops[i].size;
    *c -= loops[i].c * loops[i].size;
    index[i] = 0;
  }
  return false;
}

static void pack(const struct einsum *e, const struct packing *p, const void *from, float *to)
{
  struct dim loops[GS_MAX_LABELS];
  int64_t index[GS_MAX_LABELS] = { 0 }, read = 0, write = 0, unused = 0;
  int n = 0;
  for (int i = 0; i < p->nloops; i++) {
    int64_t source = p->left ? p->from.loops[i].a : p->from.loops[i].b;
    int64_t target = p->left ? e->loops[i].a : e->loops[i].b;
    if (source != 0)
      loops[n++] = (struct dim){ .size = p->from.loops[i].size, .a = source, .b = target };
  }
  int64_t own = p->left ? p->from.own.a : p->from.own.b;
  int64_t summed = p->left ? p->from.summed.a : p->from.summed.b;
  do {
    float *out = to + write;
    for (int64_t i = 0; i < p->from.own.size; i++)
      for (int64_t k = 0; k < p->from.summed.size; k++)
        *out++ = load(e->dtype, from, read + i * own + k * summed);
  } while (next_loop(loops, n, index, &read, &write, &unused));
}

/* Rows of the right matrix lie a power of two apart, so that they meet in the same few places of
 * the cache: where oneDNN would not copy them, copying PANEL of them apart first halves the time.
 */
enum { PANEL = 256, GAP = 16 };

static bool needs_panels(const struct einsum *e)
{
  enum { BAD = 512, FEW = 32 };
  double m = (double)e->row.size, n = (double)e->column.size;
  bool copied = 1 / m + 1 / n < 0.0038;          /* oneDNN's own measure */
  return !e->alone && !copied && e->column.b == 1 && e->summed.b % BAD == 0 && m >= FEW && n >= FEW
         && e->summed.size >= FEW;
}

/* C = or += A B by oneDNN, B being K rows of it. */
static void multiply_large(const struct einsum *e, const float *a, const float *b, int64_t k,
                           int64_t row_b, float *c, bool add)
{
  int64_t m = e->row.size, n = e->column.size;
  bool plain_a = e->summed.a == 1 || e->summed.size == 1, plain_b = e->column.b == 1 || n == 1;
  int64_t lda = !plain_a ? e->summed.a : m == 1 ? k : e->row.a;
  int64_t ldb = !plain_b ? e->column.b : k == 1 ? n : row_b;
  dnnl_sgemm(plain_a ? 'N' : 'T', plain_b ? 'N' : 'T', m, n, k, 1.0f, a, lda, b, ldb,
             add ? 1.0f : 0.0f, c, m == 1 ? n : e->row.c);
}

static void multiply_panels(const struct einsum *e, const float *a, const float *b, float *c,
                            bool add, float *panel)
{
  int64_t n = e->column.size, k = e->summed.size;
  for (int64_t t = 0; t < k; t += e->panel) {
    int64_t rows = k - t < e->panel ? k - t : e->panel;
    for (int64_t r = 0; r < rows; r++)
      memcpy(panel + r * (n + GAP), b + (t + r) * e->summed.b, (size_t)n * sizeof(float));
    multiply_large(e, a + t * e->summed.a, panel, rows, n + GAP, c, add || t > 0);
  }
}

/* C (row-major) = or += A B, all strides given; small products without the call's overhead. */
static void multiply(const struct einsum *e, const float *a, const float *b, float *c, bool add,
                     float *panel)
{
  enum { SMALL = 4096 };
  int64_t m = e->row.size, n = e->column.size, k = e->summed.size;
  int64_t am = e->row.a, ak = e->summed.a, bk = e->summed.b, bn = e->column.b, cm = e->row.c;
  if (e->panel > 0) {
    multiply_panels(e, a, b, c, add, panel);
    return;
  }
  if (m * n * k > SMALL) {
    multiply_large(e, a, b, k, bk, c, add);
    return;
  }
  for (int64_t i = 0; i < m; i++) {
    float *row = c + i * cm;
    for (int64_t j = 0; j < n && !add; j++)
      row[j] = 0;
    for (int64_t t = 0; t < k; t++) {
      float x = a[i * am + t * ak];
      const float *y = b + t * bk;
      for (int64_t j = 0; j < n; j++)
        row[j] += x * y[j * bn];
    }
  }
}

static void run_loops(const struct einsum *e, const float *a, const float *b, float *c,
                      float *panel)
{
  int64_t index[GS_MAX_LABELS] = { 0 }, at_a = 0, at_b = 0, at_c = 0;
  do {
    bool again = false;                /* a summed loop comes back to the same result */
    for (int i = 0; i < e->nloops; i++)
      again = again || (e->loops[i].role == SUMMED && index[i] > 0);
    multiply(e, a + at_a, b + at_b, c + at_c, again, panel);
  } while (next_loop(e->loops, e->nloops, index, &at_a, &at_b, &at_c));
}

static void store_half(const struct einsum *e, const float *from, void *to)
{
  int64_t n = gs_type_elements(&e->c_type);
  uint16_t *out = to;
  for (int64_t i = 0; i < n; i++)
    out[i] =
        e->c_type.dtype == GS_DTYPE_BF16 ? gs_bf16_from_f32(from[i]) : gs_f16_from_f32(from[i]);
}

static void run(const struct gs_cpu_kernel *kernel, const void *const *args, void *result,
                int64_t position, int thread)
{
  const struct packed_einsum *p = (const struct packed_einsum *)kernel;
  const struct einsum *e = &p->e;
  const void *a = args[e->swapped ? 1 : 0], *b = args[e->swapped ? 0 : 1];
  float *scratch = e->scratch != NULL ? e->scratch[thread] : NULL;
  (void)position;
  omp_set_num_threads(e->alone ? e->nthreads : 1);
  if (e->pack_a) {
    pack(e, &p->a, a, scratch);
    a = scratch;
    scratch += p->a_size;
  }
  if (e->pack_b) {
    pack(e, &p->b, b, scratch);
    b = scratch;
    scratch += p->b_size;
  }
  run_loops(e, a, b, e->half ? scratch : result, scratch);
  if (e->half)
    store_half(e, scratch, result);
}

static void release(struct gs_cpu_kernel *kernel)
{
  struct packed_einsum *p = (struct packed_einsum *)kernel;
  for (int t = 0; p->e.scratch != NULL && t < p->e.nthreads; t++)
    free(p->e.scratch[t]);
  free(p->e.scratch);
  free(p);
}

static bool make_scratch(struct packed_einsum *p)
{
  struct einsum *e = &p->e;
  e->panel = needs_panels(e) ? PANEL : 0;
  e->scratch_size = p->a_size + p->b_size + p->c_size + e->panel * (e->column.size + GAP);
  if (e->scratch_size == 0)
    return true;
  e->scratch = calloc((size_t)e->nthreads, sizeof *e->scratch);
  for (int t = 0; e->scratch != NULL && t < e->nthreads; t++) {
    e->scratch[t] = malloc((size_t)e->scratch_size * sizeof(float));
    if (e->scratch[t] == NULL)
      return false;
  }
  return e->scratch != NULL;
}

struct gs_cpu_kernel *gs_cpu_einsum_new(const struct gs_program *program, int index, int nthreads,
                                        bool alone)
{
  const struct gs_step *step = &program->steps[index];
  const struct gs_type *types[2] = { &program->steps[step->args[0]].type,
                                     &program->steps[step->args[1]].type };
  struct dim dims[GS_MAX_LABELS];
  bool half = step->type.dtype == GS_DTYPE_BF16 || step->type.dtype == GS_DTYPE_F16;
  if ((step->type.dtype != GS_DTYPE_F32 && !half) || gs_type_elements(&step->type) == 0
      || gs_type_elements(types[0]) == 0 || gs_type_elements(types[1]) == 0)
    return NULL;
  struct packed_einsum *p = calloc(1, sizeof *p);
  if (p == NULL)
    return NULL;
  struct einsum *e = &p->e;
  e->kernel = (struct gs_cpu_kernel){ .run = run, .release = release, .nargs = step->nargs,
                                      .args = step->args };
  e->dtype = types[0]->dtype;
  e->half = half;
  e->c_type = step->type;
  e->nthreads = nthreads;
  e->alone = alone;
  find_dims(step, types, dims);
  bool fits = choose_dims(e, dims, merge_dims(dims, step->attrs->einsum.nlabels));
  e->pack_a = half || !is_matrix(e->row.size, e->row.a, e->summed.size, e->summed.a);
  e->pack_b = half || !is_matrix(e->summed.size, e->summed.b, e->column.size, e->column.b);
  if (fits && e->pack_a)
    prepare_packing(e, &p->a, true, &p->a_size);
  if (fits && e->pack_b)
    prepare_packing(e, &p->b, false, &p->b_size);
  p->c_size = half ? gs_type_elements(&step->type) : 0;
  if (fits && make_scratch(p))
    return &e->kernel;
  release(&e->kernel);
  return NULL;
}
