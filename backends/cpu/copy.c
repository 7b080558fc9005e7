/* backends/cpu/copy.c - steps that only move elements, as copies of boxes between strided arrays. */
#include <config.h>

#include "backends/cpu/copy.h"

#include <stdlib.h>
#include <string.h>

/* ---- One box ---- */

static void swap_dims(struct gs_box *box, int a, int b)
{
  int64_t *const members[] = { box->size, box->from, box->to };
  for (int m = 0; m < 3; m++) {
    int64_t kept = members[m][a];
    members[m][a] = members[m][b];
    members[m][b] = kept;
  }
}

void gs_box_arrange(struct gs_box *box, int64_t element)
{
  int n = 0;
  for (int i = 0; i < box->ndims; i++) {
    if (box->size[i] == 1)
      continue;
    bool merges = n > 0 && box->from[n - 1] == box->from[i] * box->size[i]
                  && box->to[n - 1] == box->to[i] * box->size[i];
    int to = merges ? n - 1 : n++;
    box->size[to] = merges ? box->size[to] * box->size[i] : box->size[i];
    box->from[to] = box->from[i];
    box->to[to] = box->to[i];
  }
  box->ndims = n;
  /* Where the last dim is read from afar, the one that is read side by side comes next to it. */
  if (n < 2 || box->from[n - 1] == element || box->from[n - 1] == 0)
    return;
  for (int i = 0; i < n - 2; i++)
    if (box->from[i] == element)
      swap_dims(box, i, n - 2);
}

/* BYTES of copies of one element; what is there already is copied on. */
static void fill(char *to, const char *value, int64_t element, int64_t bytes)
{
  int64_t done = element < bytes ? element : bytes;
  memcpy(to, value, (size_t)done);
  for (int64_t more; done < bytes; done += more) {
    more = done < bytes - done ? done : bytes - done;
    more = more < 4096 ? more : 4096 / element * element;
    memcpy(to + done, to, (size_t)more);
  }
}

#define COPY_ROW(type) \
  for (int64_t i = 0; i < n; i++) \
    *(type *)(void *)(to + i * to_step) = *(const type *)(const void *)(from + i * from_step);

static void copy_row(const char *from, int64_t from_step, char *to, int64_t to_step, int64_t n,
                     int64_t element)
{
  if (from_step == element && to_step == element) {
    memcpy(to, from, (size_t)(n * element));
    return;
  }
  if (from_step == 0 && to_step == element) {
    fill(to, from, element, n * element);
    return;
  }
  switch (element) {
  case 1: COPY_ROW(uint8_t) break;
  case 2: COPY_ROW(uint16_t) break;
  case 4: COPY_ROW(uint32_t) break;
  case 8: COPY_ROW(uint64_t) break;
  default:
    for (int64_t i = 0; i < n; i++)
      memcpy(to + i * to_step, from + i * from_step, (size_t)element);
  }
}

/* The last two dims, whose strides cross: by squares that are read and written a cache line at a
 * time, with a buffer between, so that it does not matter which addresses the cache cannot keep
 * together. */
static void copy_squares(const struct gs_box *box, int64_t element, const char *from, char *to)
{
  enum { LINE = 64 };
  _Alignas(LINE) char lines[LINE * LINE];
  int a = box->ndims - 2, b = box->ndims - 1;
  int64_t side = LINE / element;
  for (int64_t i = 0; i < box->size[a]; i += side) {
    int64_t rows = box->size[a] - i < side ? box->size[a] - i : side;
    for (int64_t j = 0; j < box->size[b]; j += side) {
      int64_t columns = box->size[b] - j < side ? box->size[b] - j : side;
      for (int64_t c = 0; c < columns; c++)
        memcpy(lines + c * LINE, from + i * element + (j + c) * box->from[b], (size_t)(rows * element));
      for (int64_t r = 0; r < rows; r++)
        copy_row(lines + r * element, LINE, to + (i + r) * box->to[a] + j * box->to[b], box->to[b],
                 columns, element);
    }
  }
}

/* The box without its first dims: what a call of the loop below does. */
static void copy_inner(const struct gs_box *box, int64_t element, const char *from, char *to, bool crossed)
{
  int last = box->ndims - 1;
  if (crossed)
    copy_squares(box, element, from, to);
  else if (last < 0)
    memcpy(to, from, (size_t)element);
  else
    copy_row(from, box->from[last], to, box->to[last], box->size[last], element);
}

void gs_box_copy(const struct gs_box *box, int64_t element, const void *from, void *to)
{
  int last = box->ndims - 1;
  bool crossed = last >= 1 && box->from[last] != element && box->from[last] != 0
                 && box->from[last - 1] == element;
  int loops = crossed ? last - 1 : last;
  int64_t index[GS_MAX_RANK] = { 0 };
  const char *in = (const char *)from + box->start_from;
  char *out = (char *)to + box->start_to;
  for (int i = 0; i < box->ndims; i++)
    if (box->size[i] == 0)
      return;
  for (int i = 0; i >= 0;) {
    copy_inner(box, element, in, out, crossed);
    for (i = loops - 1; i >= 0; i--) {
      in += box->from[i];
      out += box->to[i];
      if (++index[i] < box->size[i])
        break;
      in -= box->from[i] * box->size[i];
      out -= box->to[i] * box->size[i];
      index[i] = 0;
    }
  }
}

/* ---- From a step to boxes ---- */

struct copy {
  struct gs_cpu_kernel kernel;
  int64_t element, bytes;              /* of an element, of the result */
  bool fills;                          /* the last operand is put everywhere first */
  int nboxes;
  struct gs_box boxes[];               /* box i is read from operand i, or all from the only one */
};

struct made { const struct gs_step *step; const struct gs_type *in; struct gs_box *box; };

/* The box of the whole result, read as if the operand were laid out alike but for its strides. */
static void start_box(const struct made *m, const int64_t *to_strides, int64_t element)
{
  m->box->ndims = m->step->type.rank;
  for (int i = 0; i < m->box->ndims; i++) {
    m->box->size[i] = m->step->type.dims[i];
    m->box->to[i] = to_strides[i] * element;
  }
}

static void slice_box(const struct made *m, const int64_t *strides, int64_t element)
{
  const union gs_attrs *at = m->step->attrs;
  for (int i = 0; i < m->box->ndims; i++) {
    m->box->from[i] = at->slice.stride[i] * strides[i] * element;
    m->box->start_from += at->slice.start[i] * strides[i] * element;
  }
}

static void reverse_box(const struct made *m, const int64_t *strides, int64_t element)
{
  for (int i = 0; i < m->box->ndims; i++) {
    bool reversed = m->step->attrs->reverse.dims >> i & 1;
    m->box->from[i] = (reversed ? -strides[i] : strides[i]) * element;
    m->box->start_from += reversed ? (m->box->size[i] - 1) * strides[i] * element : 0;
  }
}

/* Of the operand, what is not cut off: element i goes to low + i * (interior + 1). */
static void pad_box(const struct made *m, const int64_t *strides, int64_t element)
{
  const union gs_attrs *at = m->step->attrs;
  for (int i = 0; i < m->box->ndims; i++) {
    int64_t gap = at->pad.interior[i] + 1, low = at->pad.low[i], size = m->box->size[i];
    int64_t first = low < 0 ? (-low + gap - 1) / gap : 0;
    int64_t end = size > low ? (size - 1 - low) / gap + 1 : 0;
    end = end < m->in->dims[i] ? end : m->in->dims[i];
    m->box->size[i] = end > first ? end - first : 0;
    m->box->from[i] = strides[i] * element;
    m->box->start_from += first * m->box->from[i];
    m->box->start_to += (low + first * gap) * m->box->to[i];
    m->box->to[i] *= gap;
  }
}

static void straight_box(const struct made *m, const int64_t *strides, int64_t element)
{
  for (int i = 0; i < m->box->ndims; i++)
    m->box->from[i] = strides[i] * element;
}

/* Part PART of a rolled tensor: 0, what moves on; 1, what comes in again at the beginning. */
static void roll_box(const struct made *m, const int64_t *strides, int64_t element, int part)
{
  int dim = m->step->attrs->roll.dim;
  int64_t size = m->box->size[dim];
  int64_t shift = size == 0 ? 0 : (m->step->attrs->roll.shift % size + size) % size;
  straight_box(m, strides, element);
  m->box->size[dim] = part == 0 ? size - shift : shift;
  *(part == 0 ? &m->box->start_to : &m->box->start_from) +=
      (part == 0 ? shift * m->box->to[dim] : (size - shift) * m->box->from[dim]);
}

/* Operand PART of a concatenation, after BEFORE rows. */
static void concat_box(const struct made *m, const int64_t *strides, int64_t element, int64_t before)
{
  int dim = m->step->attrs->concat.dim;
  straight_box(m, strides, element);
  m->box->size[dim] = m->in->dims[dim];
  m->box->start_to = before * m->box->to[dim];
}

static void permuted_box(const struct made *m, const int64_t *strides, int64_t element)
{
  const union gs_attrs *at = m->step->attrs;
  if (m->step->op == GS_OP_TRANSPOSE)
    for (int i = 0; i < m->box->ndims; i++)
      m->box->from[i] = strides[at->transpose.dims[i]] * element;
  else
    for (int i = 0; i < m->in->rank; i++)
      m->box->from[at->broadcast.dims[i]] = m->in->dims[i] == 1 ? 0 : strides[i] * element;
}

static void make_boxes(struct copy *c, const struct gs_program *program, const struct gs_step *step)
{
  int64_t strides[GS_MAX_RANK], to_strides[GS_MAX_RANK], before = 0;
  gs_type_strides(&step->type, to_strides);
  for (int i = 0; i < c->nboxes; i++) {
    int arg = step->op == GS_OP_CONCAT ? i : 0;
    struct made m = { step, &program->steps[step->args[arg]].type, &c->boxes[i] };
    gs_type_strides(m.in, strides);
    start_box(&m, to_strides, c->element);
    switch (step->op) {
    case GS_OP_SLICE: slice_box(&m, strides, c->element); break;
    case GS_OP_REVERSE: reverse_box(&m, strides, c->element); break;
    case GS_OP_PAD: pad_box(&m, strides, c->element); break;
    case GS_OP_ROLL: roll_box(&m, strides, c->element, i); break;
    case GS_OP_CONCAT: concat_box(&m, strides, c->element, before); break;
    default: permuted_box(&m, strides, c->element); break;
    }
    if (step->op == GS_OP_CONCAT)
      before += m.in->dims[step->attrs->concat.dim];
    gs_box_arrange(&c->boxes[i], c->element);
  }
}

/* ---- The kernel ---- */

static void run(const struct gs_cpu_kernel *kernel, const void *const *args, void *result,
                int64_t position, int thread)
{
  const struct copy *c = (const struct copy *)kernel;
  (void)position;
  (void)thread;
  if (c->bytes == 0)
    return;
  if (c->fills)
    fill(result, args[kernel->nargs - 1], c->element, c->bytes);
  for (int i = 0; i < c->nboxes; i++)
    gs_box_copy(&c->boxes[i], c->element, args[kernel->nargs == c->nboxes ? i : 0], result);
}

static void run_units(const struct gs_cpu_kernel *kernel, const void *const *args, void *result,
                      int64_t begin, int64_t end, int thread)
{
  const struct copy *c = (const struct copy *)kernel;
  struct gs_box part = c->boxes[0];
  (void)thread;
  part.size[0] = end - begin;
  part.start_from += begin * part.from[0];
  part.start_to += begin * part.to[0];
  gs_box_copy(&part, c->element, args[0], result);
}

static void release(struct gs_cpu_kernel *kernel)
{
  free(kernel);
}

struct gs_cpu_kernel *gs_cpu_copy_new(const struct gs_program *program, int index)
{
  const struct gs_step *step = &program->steps[index];
  int nboxes = 1;
  switch (step->op) {
  case GS_OP_TRANSPOSE: case GS_OP_BROADCAST: case GS_OP_SLICE: case GS_OP_REVERSE: case GS_OP_PAD: break;
  case GS_OP_ROLL: nboxes = 2; break;
  case GS_OP_CONCAT: nboxes = step->nargs; break;
  default: return NULL;
  }
  struct copy *c = calloc(1, sizeof *c + (size_t)nboxes * sizeof *c->boxes);
  if (c == NULL)
    return NULL;
  c->element = (int64_t)gs_dtype_size(step->type.dtype);
  c->bytes = gs_type_bytes(&step->type);
  c->fills = step->op == GS_OP_PAD;
  c->nboxes = nboxes;
  make_boxes(c, program, step);
  c->kernel = (struct gs_cpu_kernel){ .run = run, .release = release, .nargs = step->nargs,
                                      .args = step->args };
  /* Only steps that write each element once can be cut. */
  if (nboxes == 1 && !c->fills && c->boxes[0].ndims > 1 && c->bytes >= 1 << 16) {
    c->kernel.run_units = run_units;
    c->kernel.units = c->boxes[0].size[0];
  }
  return &c->kernel;
}
