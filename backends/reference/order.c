/* backends/reference/order.c - sorting, top_k and cumulative operators.
 *
 * A key becomes an unsigned number that is ordered like it: NaN is greatest, -0 equals 0.  One key of at
 * most 32 bits is sorted by radix together with its position, which also makes it stable; other keys one after
 * the other, the one that counts least first, or, when there is little to sort, by merging positions.
 */
#include <config.h>

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/reference/block.h"
#include "backends/reference/kernels.h"

/* A float's bits, ordered like the float. */
static uint64_t order_double(double value)
{
  uint64_t bits;
  if (isnan(value))
    return UINT64_MAX;
  value = value == 0 ? 0 : value;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint32_t order_single(float value)
{
  uint32_t bits;
  if (isnan(value))
    return UINT32_MAX;
  value = value == 0 ? 0 : value;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

static uint64_t order_key(enum gs_dtype dtype, const void *data, int64_t at)
{
  if (gs_dtype_kind(dtype) == GS_KIND_FLOAT)
    return order_double(gs_element_get(dtype, data, at));
  uint64_t bits = (uint64_t)gs_element_get_int(dtype, data, at);
  return gs_dtype_kind(dtype) == GS_KIND_SIGNED ? bits ^ UINT64_C(1) << 63 : bits;
}

/* One row along the sorted dim: element i of operand a is at BASE + i * STRIDE. */
struct row {
  const struct gs_kernel_call *call;
  int nkeys;
  int64_t base, stride, count;
};

/* Whether element A of the row comes before B; equal ones in order of position. */
static bool comes_before(const struct row *r, int64_t a, int64_t b)
{
  for (int k = 0; k < r->nkeys; k++) {
    enum gs_dtype dtype = r->call->arg_types[k]->dtype;
    uint64_t x = order_key(dtype, r->call->args[k], r->base + a * r->stride);
    uint64_t y = order_key(dtype, r->call->args[k], r->base + b * r->stride);
    if (x != y)
      return (x < y) != (r->call->attrs->order.descending || r->call->op == GS_OP_TOP_K);
  }
  return a < b;
}

/* Sort N numbers by their upper 32 bits, stably, with as much ROOM again. */
static void radix_sort(uint64_t *numbers, uint64_t *room, int64_t n)
{
  enum { BITS = 11, BUCKETS = 1 << BITS };
  for (int shift = 32; shift < 64; shift += BITS) {
    int64_t starts[BUCKETS + 1] = { 0 };
    for (int64_t i = 0; i < n; i++)
      starts[(numbers[i] >> shift & (BUCKETS - 1)) + 1]++;
    for (int b = 0; b < BUCKETS; b++)
      starts[b + 1] += starts[b];
    for (int64_t i = 0; i < n; i++)
      room[starts[numbers[i] >> shift & (BUCKETS - 1)]++] = numbers[i];
    uint64_t *other = numbers;
    numbers = room;
    room = other;
  }
}

static void insertion_sort(uint64_t *numbers, int64_t n)
{
  for (int64_t i = 1; i < n; i++) {
    uint64_t moved = numbers[i];
    int64_t at = i;
    for (; at > 0 && numbers[at - 1] > moved; at--)
      numbers[at] = numbers[at - 1];
    numbers[at] = moved;
  }
}

/* The KEPT least of N numbers come to the front, in order. */
static void select_least(uint64_t *numbers, int64_t n, int64_t kept)
{
  insertion_sort(numbers, kept);
  for (int64_t i = kept; i < n; i++) {
    int64_t at = kept - 1;
    uint64_t number = numbers[i];
    if (number > numbers[at])
      continue;
    for (; at > 0 && numbers[at - 1] > number; at--)
      numbers[at] = numbers[at - 1];
    numbers[at] = number;
  }
}

/* Keys of at most 32 bits above positions. */
static void short_keys(const struct row *r, uint64_t *numbers)
{
  bool down = r->call->attrs->order.descending || r->call->op == GS_OP_TOP_K;
  enum gs_dtype dtype = r->call->arg_types[0]->dtype;
  enum gs_dtype_kind kind = gs_dtype_kind(dtype);
  double floats[GS_BLOCK];
  int64_t integers[GS_BLOCK];
  for (int64_t begin = 0; begin < r->count; begin += GS_BLOCK) {
    int64_t n = r->count - begin < GS_BLOCK ? r->count - begin : GS_BLOCK, from = r->base + begin * r->stride;
    if (kind == GS_KIND_FLOAT)
      gs_block_load(dtype, r->call->args[0], from, r->stride, n, floats);
    else
      gs_block_load_int(dtype, r->call->args[0], from, r->stride, n, integers);
    for (int64_t i = 0; i < n; i++) {
      uint32_t key = kind == GS_KIND_FLOAT    ? order_single((float)floats[i])
                     : kind == GS_KIND_SIGNED ? (uint32_t)integers[i] ^ UINT32_C(1) << 31
                                              : (uint32_t)integers[i];
      numbers[begin + i] = (uint64_t)(down ? ~key : key) << 32 | (uint64_t)(begin + i);
    }
  }
}

/* Positions in order into ORDER, the first KEPT of them, by one short key; ROOM for twice as many numbers. */
static void sort_short(const struct row *r, int64_t kept, uint64_t *room, int64_t *order)
{
  enum { FEW = 64 };
  uint64_t *sorted = room;
  short_keys(r, room);
  if (r->count <= FEW) {
    insertion_sort(room, r->count);
  } else if (kept <= FEW && kept <= r->count / 4) {
    select_least(room, r->count, kept);
  } else {
    radix_sort(room, room + r->count, r->count);
    sorted = room + r->count;          /* three passes: in the other half */
  }
  for (int64_t i = 0; i < kept; i++)
    order[i] = (int64_t)(uint32_t)sorted[i];
}

/* Likewise by any keys: runs of doubling length are merged. */
static void sort_merging(const struct row *r, int64_t *room, int64_t *order)
{
  int64_t n = r->count, *from = order, *to = room;
  for (int64_t i = 0; i < n; i++)
    from[i] = i;
  for (int64_t length = 1; length < n; length *= 2) {
    for (int64_t begin = 0; begin < n; begin += 2 * length) {
      int64_t middle = begin + length < n ? begin + length : n, end = middle + length < n ? middle + length : n;
      for (int64_t a = begin, b = middle, at = begin; at < end; at++)
        to[at] = a < middle && (b == end || !comes_before(r, from[b], from[a])) ? from[a++] : from[b++];
    }
    int64_t *other = from;
    from = to;
    to = other;
  }
  if (from != order)
    memcpy(order, from, (size_t)n * sizeof *order);
}

/* A key and the position of its element. */
struct place { uint64_t key; int64_t position; };

/* Key K of the elements in ORDER, N of them. */
static void long_keys(const struct row *r, int k, const int64_t *order, struct place *places)
{
  bool down = r->call->attrs->order.descending || r->call->op == GS_OP_TOP_K;
  enum gs_dtype dtype = r->call->arg_types[k]->dtype;
  const void *data = r->call->args[k];
  for (int64_t i = 0; i < r->count; i++) {
    int64_t at = r->base + order[i] * r->stride;
    uint64_t key = dtype == GS_DTYPE_F64   ? order_double(((const double *)data)[at])
                   : dtype == GS_DTYPE_S64 ? (uint64_t)((const int64_t *)data)[at] ^ UINT64_C(1) << 63
                                           : order_key(dtype, data, at);
    places[i] = (struct place){ down ? ~key : key, order[i] };
  }
}

/* Sort N places, stably, with as much ROOM again; where they are then. */
static struct place *sort_places(struct place *places, struct place *room, int64_t n)
{
  enum { BITS = 8, DIGITS = 64 / BITS, BUCKETS = 1 << BITS };
  int64_t counts[DIGITS][BUCKETS] = { { 0 } };
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < DIGITS; d++)
      counts[d][places[i].key >> d * BITS & (BUCKETS - 1)]++;
  for (int d = 0; d < DIGITS; d++) {
    int shift = d * BITS;
    if (counts[d][places[0].key >> shift & (BUCKETS - 1)] == n)
      continue;                        /* all have the same digit */
    int64_t start = 0;
    for (int b = 0; b < BUCKETS; b++) {
      int64_t count = counts[d][b];
      counts[d][b] = start;
      start += count;
    }
    for (int64_t i = 0; i < n; i++)
      room[counts[d][places[i].key >> shift & (BUCKETS - 1)]++] = places[i];
    struct place *other = places;
    places = room;
    room = other;
  }
  return places;
}

/* Likewise by any keys, digit by digit. */
static void sort_long(const struct row *r, struct place *room, int64_t *order)
{
  for (int64_t i = 0; i < r->count; i++)
    order[i] = i;
  for (int k = r->nkeys - 1; k >= 0; k--) {
    long_keys(r, k, order, room);
    const struct place *sorted = sort_places(room, room + r->count, r->count);
    for (int64_t i = 0; i < r->count; i++)
      order[i] = sorted[i].position;
  }
}

/* 64-bit integers without anything that goes along: the numbers themselves; ROOM for twice as many. */
static void sort_integers(const struct row *r, int64_t result, int64_t kept, uint64_t *room)
{
  enum { BITS = 8, BUCKETS = 1 << BITS };
  enum gs_dtype dtype = r->call->type->dtype;
  uint64_t flip = gs_dtype_kind(dtype) == GS_KIND_SIGNED ? UINT64_C(1) << 63 : 0;
  uint64_t *numbers = room, *other = room + r->count, *turned;
  flip ^= r->call->attrs->order.descending ? UINT64_MAX : 0;
  gs_block_load_int(dtype, r->call->args[0], r->base, r->stride, r->count, (int64_t *)numbers);
  for (int64_t i = 0; i < r->count; i++)
    numbers[i] ^= flip;
  for (int shift = 0; shift < 64; shift += BITS) {
    int64_t starts[BUCKETS + 1] = { 0 };
    for (int64_t i = 0; i < r->count; i++)
      starts[(numbers[i] >> shift & (BUCKETS - 1)) + 1]++;
    if (starts[(numbers[0] >> shift & (BUCKETS - 1)) + 1] == r->count)
      continue;
    for (int b = 0; b < BUCKETS; b++)
      starts[b + 1] += starts[b];
    for (int64_t i = 0; i < r->count; i++)
      other[starts[numbers[i] >> shift & (BUCKETS - 1)]++] = numbers[i];
    turned = numbers;
    numbers = other;
    other = turned;
  }
  int64_t *sorted = r->call->result;
  for (int64_t i = 0; i < kept; i++)
    sorted[result + i * r->stride] = (int64_t)(numbers[i] ^ flip);
}

/* Without memory to sort in: the position of each element is the number of those before it. */
static void write_by_counting(const struct row *r, int64_t result, int64_t kept)
{
  int last = r->call->nargs - 1;
  size_t size = gs_dtype_size(r->call->type->dtype);
  for (int64_t i = 0; i < r->count; i++) {
    int64_t before = 0;
    for (int64_t j = 0; j < r->count; j++)
      before += j != i && comes_before(r, j, i);
    if (before < kept)
      memcpy((char *)r->call->result + (size_t)(result + before * r->stride) * size,
             (const char *)r->call->args[last] + (size_t)(r->base + i * r->stride) * size, size);
  }
}

/* Elements of SIZE bytes from FROM, in ORDER, to TO; both STRIDE elements apart.  With SIZE known a copy is a move. */
static inline void copy_in_order(char *to, const char *from, int64_t stride, int64_t kept, const int64_t *order,
                                 size_t size)
{
  for (int64_t i = 0; i < kept; i++)
    memcpy(to + (size_t)(i * stride) * size, from + (size_t)(order[i] * stride) * size, size);
}

static void write_in_order(const struct row *r, int64_t result, int64_t kept, const int64_t *order)
{
  int last = r->call->nargs - 1;
  size_t size = gs_dtype_size(r->call->type->dtype);
  const char *from = (const char *)r->call->args[last] + (size_t)r->base * size;
  char *to = (char *)r->call->result + (size_t)result * size;
  if (size == 4)
    copy_in_order(to, from, r->stride, kept, order, 4);
  else if (size == 8)
    copy_in_order(to, from, r->stride, kept, order, 8);
  else
    copy_in_order(to, from, r->stride, kept, order, size);
}

void gs_reference_sort(const struct gs_kernel_call *call)
{
  enum { LONG = 300 };
  const struct gs_type *x = call->arg_types[0];
  int dim = call->op == GS_OP_TOP_K ? x->rank - 1 : call->attrs->order.dim;
  int64_t inner = 1, outer = 1, count = x->dims[dim], kept = call->type->dims[dim];
  for (int i = 0; i < x->rank; i++)
    *(i < dim ? &outer : &inner) *= i == dim ? 1 : x->dims[i];
  struct row r = { .call = call, .nkeys = call->nargs > 1 ? call->nargs - 1 : 1, .stride = inner, .count = count };
  bool is_short = r.nkeys == 1 && gs_dtype_size(x->dtype) <= 4 && count < UINT32_MAX;
  if (count == 0 || kept == 0)
    return;
  bool is_long = !is_short && count >= LONG;
  bool is_plain = is_long && call->nargs == 1 && call->op == GS_OP_SORT && gs_dtype_is_integer(x->dtype);
  uint64_t *room = malloc((size_t)count * (is_long ? 5 : 3) * sizeof *room);
  int64_t *order = room != NULL ? (int64_t *)(void *)(room + (is_long ? 4 : 2) * count) : NULL;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      int64_t result = o * kept * inner + i;
      r.base = o * count * inner + i;
      if (room == NULL) {
        write_by_counting(&r, result, kept);
        continue;
      }
      if (is_plain) {
        sort_integers(&r, result, kept, room);
        continue;
      }
      if (is_short)
        sort_short(&r, kept, room, order);
      else if (is_long)
        sort_long(&r, (struct place *)(void *)room, order);
      else
        sort_merging(&r, (int64_t *)(void *)room, order);
      write_in_order(&r, result, kept, order);
    }
  free(room);
}

/* ---- Cumulative ---- */

static double next_float(enum gs_op op, double sum, double x)
{
  switch ((int)op) {
  case GS_OP_CUMPROD: return sum * x;
  case GS_OP_CUMMAX: return isnan(sum) || sum > x ? sum : x;
  case GS_OP_CUMMIN: return isnan(sum) || sum < x ? sum : x;
  default: return sum + x;
  }
}

static int64_t next_integer(enum gs_op op, bool is_signed, int64_t sum, int64_t x)
{
  bool less = is_signed ? sum < x : (uint64_t)sum < (uint64_t)x;
  switch ((int)op) {
  case GS_OP_CUMPROD: return (int64_t)((uint64_t)sum * (uint64_t)x);
  case GS_OP_CUMMAX: return less ? x : sum;
  case GS_OP_CUMMIN: return less ? sum : x;
  default: return (int64_t)((uint64_t)sum + (uint64_t)x);
  }
}

static void accumulate(const struct gs_kernel_call *call, int64_t base, int64_t stride, int64_t count)
{
  enum gs_dtype dtype = call->type->dtype;
  enum gs_dtype_kind kind = gs_dtype_kind(dtype);
  bool back = call->attrs->order.reverse;
  double sum = 0;
  double complex complex_sum = 0;
  int64_t whole = 0;
  for (int64_t k = 0; k < count; k++) {
    int64_t at = base + (back ? count - 1 - k : k) * stride;
    if (kind == GS_KIND_FLOAT) {
      double x = gs_element_get(dtype, call->args[0], at);
      sum = k == 0 ? x : next_float(call->op, sum, x);
      gs_element_set(dtype, call->result, at, sum);
    } else if (kind == GS_KIND_COMPLEX) {
      double complex x = CMPLX(gs_element_get(dtype, call->args[0], at),
                               gs_element_get_imag(dtype, call->args[0], at));
      complex_sum = k == 0 ? x : call->op == GS_OP_CUMPROD ? complex_sum * x : complex_sum + x;
      gs_element_set_complex(dtype, call->result, at, creal(complex_sum), cimag(complex_sum));
    } else {
      int64_t x = gs_element_get_int(dtype, call->args[0], at);
      whole = k == 0 ? x : next_integer(call->op, kind == GS_KIND_SIGNED, whole, x);
      gs_element_set_int(dtype, call->result, at, whole);
    }
  }
}

/* Rows one behind the other, summed up at a time: the loop over INNER is one the compiler can vectorize. */
static void accumulate_singles(const struct gs_kernel_call *call, int64_t outer, int64_t count, int64_t inner)
{
  const float *from = call->args[0];
  float *to = call->result;
  bool back = call->attrs->order.reverse;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t begin = 0; begin < inner; begin += 128) {
      int64_t n = inner - begin < 128 ? inner - begin : 128;
      double sums[128] = { 0 };
      for (int64_t k = 0; k < count; k++) {
        int64_t row = (o * count + (back ? count - 1 - k : k)) * inner + begin;
        for (int64_t i = 0; i < n; i++) {
          sums[i] += (double)from[row + i];
          to[row + i] = (float)sums[i];
        }
      }
    }
}

void gs_reference_cumulative(const struct gs_kernel_call *call)
{
  const struct gs_type *x = call->arg_types[0];
  int dim = call->attrs->order.dim;
  int64_t inner = 1, outer = 1, count = x->dims[dim];
  for (int i = 0; i < x->rank; i++)
    *(i < dim ? &outer : &inner) *= i == dim ? 1 : x->dims[i];
  if (call->op == GS_OP_CUMSUM && x->dtype == GS_DTYPE_F32) {
    accumulate_singles(call, outer, count, inner);
    return;
  }
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++)
      accumulate(call, o * count * inner + i, inner, count);
}
