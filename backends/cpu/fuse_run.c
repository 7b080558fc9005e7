/* backends/cpu/fuse_run.c - run a fused kernel, tile by tile. */
#include <config.h>

#include "backends/cpu/fuse_kernel.h"

#include <string.h>

/* The tile at work. */
struct tile {
  const struct gs_fused_kernel *k;
  const void *const *args;
  char *result, *scratch;
  int64_t row, rows, column, columns;  /* first and count */
  const char *at[GS_FUSE_VALUES];      /* by node: its elements */
};

/* ---- Reading ---- */

/* Where row ROW of a leaf begins. */
static int64_t row_offset(const struct gs_fused_kernel *k, const struct gs_fused_node *n, int64_t row)
{
  int64_t offset = 0;
  if (k->split == 1)
    return row * n->strides[0];
  for (int d = k->split - 1; d >= 0; d--) {
    offset += row % k->size[d] * n->strides[d];
    row /= k->size[d];
  }
  return offset;
}

#define GATHER(type) \
  for (int64_t i = 0; i < n; i++) \
    ((type *)to)[i] = ((const type *)from)[i * stride];

/* N elements of SIZE bytes, STRIDE elements apart. */
static void gather(void *to, const void *from, int64_t size, int64_t stride, int64_t n)
{
  if (stride == 1) {
    memcpy(to, from, (size_t)(n * size));
    return;
  }
  switch (size) {
  case 1: GATHER(uint8_t) break;
  case 2: GATHER(uint16_t) break;
  case 4: GATHER(uint32_t) break;
  default: GATHER(uint64_t) break;
  }
}

/* The tile's columns of the row that begins at OFFSET elements. */
static void gather_row(const struct tile *t, const struct gs_fused_node *n, const char *data, int64_t offset,
                       char *to)
{
  const struct gs_fused_kernel *k = t->k;
  int last = k->ndims - 1;
  int64_t column = t->column, left = t->columns;
  while (left > 0) {
    int64_t at = offset, rest = column, inner = last < k->split ? 1 : k->size[last];
    int64_t stride = last < k->split ? 1 : n->strides[last], from = rest % inner;
    for (int d = last; d >= k->split; d--) {
      at += rest % k->size[d] * n->strides[d];
      rest /= k->size[d];
    }
    int64_t run = inner - from < left ? inner - from : left;
    gather(to, data + at * n->stored, n->stored, stride, run);
    to += run * n->stored;
    column += run;
    left -= run;
  }
}

/* COUNT elements that lie at FROM as stored: as lanes. */
static void widen(const struct gs_fused_node *n, char *to, const char *from, int64_t count)
{
  gs_vector_best()->widen[n->half](to, from, count);
}

static void load_full(struct tile *t, int index, const char *data)
{
  const struct gs_fused_kernel *k = t->k;
  const struct gs_fused_node *n = &k->nodes[index];
  char *buffer = t->scratch + n->buffer, *to = n->half >= 0 ? t->scratch + k->halves : buffer;
  bool one_run = k->ndims - k->split <= 1 && (k->ndims == k->split || n->strides[k->ndims - 1] == 1);
  if ((t->rows == 1 && one_run) || (n->linear && (t->rows == 1 || t->columns == k->columns))) {
    data += (row_offset(k, n, t->row) + t->column) * n->stored;
    t->at[index] = n->half >= 0 ? buffer : data;
    if (n->half >= 0)
      widen(n, buffer, data, t->rows * t->columns);
    return;
  }
  for (int64_t r = 0; r < t->rows; r++)
    gather_row(t, n, data, row_offset(k, n, t->row + r), to + r * t->columns * n->stored);
  if (n->half >= 0)
    widen(n, buffer, to, t->rows * t->columns);
  t->at[index] = buffer;
}

static void load(struct tile *t, int index)
{
  const struct gs_fused_kernel *k = t->k;
  const struct gs_fused_node *n = &k->nodes[index];
  const char *data = t->args[index];
  char *buffer = t->scratch + n->buffer, *to = n->half >= 0 ? t->scratch + k->halves : buffer;
  int64_t count = n->extent == GS_PER_ROW ? t->rows : 1;
  if (n->extent == GS_FULL) {
    load_full(t, index, data);
    return;
  }
  for (int64_t r = 0; r < count; r++) {
    int64_t from = n->extent == GS_PER_ROW ? row_offset(k, n, t->row + r) : 0;
    memcpy(to + r * n->stored, data + from * n->stored, (size_t)n->stored);
  }
  if (n->half >= 0)
    widen(n, buffer, to, count);
  t->at[index] = buffer;
}

/* ---- Computing ---- */

/* Operand A of a node as if it were full. */
static const char *full_operand(const struct tile *t, const struct gs_fused_node *n, int a)
{
  const struct gs_fused_node *from = &t->k->nodes[n->args[a]];
  const char *data = t->at[n->args[a]];
  if (from->extent == GS_FULL || (from->extent == n->extent && n->reduce == NULL))
    return data;
  char *to = t->scratch + t->k->spread;
  int64_t columns = n->extent == GS_FULL || n->reduce != NULL ? t->columns : 1;
  for (int64_t r = 0; r < t->rows; r++)
    for (int64_t c = 0; c < columns; c++)
      memcpy(to + (r * columns + c) * from->size,
             data + (from->extent == GS_PER_ROW ? r * from->size : 0), (size_t)from->size);
  return to;
}

static void apply(const struct tile *t, const struct gs_fused_node *n, char *to, int64_t count)
{
  const void *args[3];
  unsigned scalars = 0, per_row = 0;
  for (int a = 0; a < n->nargs; a++) {
    const struct gs_fused_node *from = &t->k->nodes[n->args[a]];
    args[a] = t->at[n->args[a]];
    scalars |= (unsigned)(from->extent != n->extent) << a;
    per_row |= (unsigned)(from->extent == GS_PER_ROW && n->extent == GS_FULL) << a;
  }
  if (per_row == 0) {
    n->apply(to, args, scalars, count);
    return;
  }
  for (int64_t r = 0; r < t->rows; r++) {
    n->apply(to + r * t->columns * n->size, args, scalars, t->columns);
    for (int a = 0; a < n->nargs; a++) {
      int64_t size = t->k->nodes[n->args[a]].size;
      int64_t step = per_row >> a & 1 ? size : scalars >> a & 1 ? 0 : t->columns * size;
      args[a] = (const char *)args[a] + step;
    }
  }
}

/* Round to a 16-bit type's values; at OUT, unless NULL, they are stored. */
static void round_half(const struct tile *t, const struct gs_fused_node *n, char *values, char *out,
                       int64_t count)
{
  const struct gs_vector_set *set = gs_vector_best();
  char *halves = out != NULL ? out : t->scratch + t->k->halves;
  set->shorten[n->half](halves, values, count);
  if (out == NULL)
    set->widen[n->half](values, halves, count);
}

/* Where the root's elements of this tile go. */
static char *result_address(const struct tile *t, const struct gs_fused_node *root)
{
  int64_t at = root->extent == GS_FULL ? t->row * t->k->columns + t->column : t->row;
  return t->result + at * root->stored;
}

static void reduce_tile(const struct tile *t, const struct gs_fused_node *n, char *sums)
{
  const char *from = full_operand(t, n, 0);
  int64_t size = t->k->nodes[n->args[0]].size, step = gs_accumulator_size(n->from);
  if (t->column == 0)
    gs_vector_start(n->op, n->from, sums, t->rows);
  for (int64_t r = 0; r < t->rows; r++)
    n->reduce(sums + r * step, from + r * t->columns * size, t->columns);
}

static void compute(struct tile *t, int index)
{
  const struct gs_fused_kernel *k = t->k;
  const struct gs_fused_node *n = &k->nodes[index];
  bool is_root = index == k->nnodes - 1;
  int64_t count = n->extent == GS_FULL ? t->rows * t->columns : t->rows;
  char *out = is_root ? result_address(t, n) : NULL;
  char *to = out != NULL && n->half < 0 ? out : t->scratch + n->buffer;
  if (n->reduce != NULL) {
    reduce_tile(t, n, t->scratch + n->sums);
    if (t->column + t->columns < k->columns)
      return;
    gs_vector_finish(n->lane, t->scratch + n->sums, to, count);
  } else if (n->convert != NULL) {
    n->convert(to, full_operand(t, n, 0), count);
  } else {
    apply(t, n, to, count);
  }
  if (n->half >= 0)
    round_half(t, n, to, out, count);
  t->at[index] = to;
}

/* The nodes of pass PASS; those per row only in its FIRST tile of a row. */
static void run_tile(struct tile *t, int pass, bool first, int nnodes)
{
  for (int i = 0; i < nnodes; i++) {
    const struct gs_fused_node *n = &t->k->nodes[i];
    if (!(n->passes >> pass & 1) || (n->extent != GS_FULL && n->reduce == NULL && !first))
      continue;
    if (n->is_leaf)
      load(t, i);
    else
      compute(t, i);
  }
}

/* ---- Units of work: a tile, a row in several passes, or columns that are summed over rows ---- */

static int64_t count_tiles(int64_t total, int64_t tile)
{
  return (total + tile - 1) / tile;
}

int64_t gs_fused_units(const struct gs_fused_kernel *k)
{
  int64_t columns = count_tiles(k->columns, k->tile_columns);
  if (k->sums_rows)
    return k->outer * columns;
  return k->by_rows || columns == 1 ? count_tiles(k->outer, k->tile_rows) : k->outer * columns;
}

static void set_columns(struct tile *t, int64_t number)
{
  t->column = number * t->k->tile_columns;
  t->columns = t->k->columns - t->column < t->k->tile_columns ? t->k->columns - t->column
                                                              : t->k->tile_columns;
}

static void set_rows(struct tile *t, int64_t first, int64_t end)
{
  t->row = first;
  t->rows = end - first < t->k->tile_rows ? end - first : t->k->tile_rows;
}

static void run_passes(struct tile *t, int64_t unit)
{
  const struct gs_fused_kernel *k = t->k;
  int64_t tiles = count_tiles(k->columns, k->tile_columns);
  set_rows(t, unit * k->tile_rows, k->outer);
  for (int pass = 0; pass < k->npasses; pass++)
    for (int64_t c = 0; c < tiles; c++) {
      set_columns(t, c);
      run_tile(t, pass, c == 0, k->nnodes);
    }
}

static void sum_rows(struct tile *t, int64_t unit)
{
  const struct gs_fused_kernel *k = t->k;
  const struct gs_fused_node *root = &k->nodes[k->nnodes - 1];
  int64_t tiles = count_tiles(k->columns, k->tile_columns), outer = unit / tiles;
  int64_t end = (outer + 1) * k->middle, step = k->nodes[root->args[0]].size;
  char *sums = t->scratch + root->sums;
  set_columns(t, unit % tiles);
  gs_vector_start(root->op, root->from, sums, t->columns);
  for (int64_t row = outer * k->middle; row < end; row += k->tile_rows) {
    set_rows(t, row, end);
    run_tile(t, 0, true, k->nnodes - 1);
    const char *from = full_operand(t, root, 0);
    for (int64_t r = 0; r < t->rows; r++)
      root->reduce(sums, from + r * t->columns * step, t->columns);
  }
  char *out = t->result + (outer * k->columns + t->column) * root->stored;
  char *values = root->half >= 0 ? t->scratch + k->spread : out;
  gs_vector_finish(root->lane, sums, values, t->columns);
  if (root->half >= 0)
    round_half(t, root, values, out, t->columns);
}

void gs_fused_run(const struct gs_fused_kernel *k, const void *const *args, void *result, int64_t begin,
                  int64_t end, int thread)
{
  struct tile t = { .k = k, .args = args, .result = result, .scratch = k->scratch->memory + thread * k->scratch->size };
  int64_t tiles = count_tiles(k->columns, k->tile_columns);
  for (int64_t unit = begin; unit < end; unit++) {
    if (k->sums_rows) {
      sum_rows(&t, unit);
    } else if (k->by_rows) {
      run_passes(&t, unit);
    } else {
      set_rows(&t, tiles == 1 ? unit * k->tile_rows : unit / tiles, k->outer);
      set_columns(&t, tiles == 1 ? 0 : unit % tiles);
      run_tile(&t, 0, true, k->nnodes);
    }
  }
}
