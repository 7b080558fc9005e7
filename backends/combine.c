/* backends/combine.c - adding up partial values of devices, block by block. */
#include <config.h>

#include "backends/combine.h"

#include "backends/reference/block.h"
#include "backends/reference/scalar.h"

enum gs_op gs_combiner(enum gs_op reduce)
{
  switch (reduce) {
  case GS_OP_PROD: return GS_OP_MUL;
  case GS_OP_REDUCE_MAX: return GS_OP_MAX;
  case GS_OP_REDUCE_MIN: return GS_OP_MIN;
  case GS_OP_ALL: return GS_OP_AND;
  case GS_OP_ANY: return GS_OP_OR;
  default: return GS_OP_ADD;
  }
}

enum { BLOCK = 1024 };

/* What a block of elements came to so far. */
union sums { double floats[BLOCK]; int64_t integers[BLOCK]; double complex complexes[BLOCK]; };

/* The common case, in a loop that becomes vector code. */
static void add_singles(double *sums, const float *from, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    sums[i] += (double)from[i];
}

static void add_floats(enum gs_op op, enum gs_dtype dtype, double *sums, const void *from,
                       int64_t at, int64_t n)
{
  double a[2], block[BLOCK];
  if (op == GS_OP_ADD && dtype == GS_DTYPE_F32) {
    add_singles(sums, (const float *)from + at, n);
    return;
  }
  gs_block_load(dtype, from, at, 1, n, block);
  for (int64_t i = 0; i < n; i++) {
    a[0] = sums[i];
    a[1] = block[i];
    sums[i] = gs_scalar_float(op, a);
  }
}

static void add_integers(enum gs_op op, enum gs_dtype dtype, int64_t *sums, const void *from,
                         int64_t at, int64_t n)
{
  int64_t a[2], block[BLOCK];
  gs_block_load_int(dtype, from, at, 1, n, block);
  for (int64_t i = 0; i < n; i++) {
    a[0] = sums[i];
    a[1] = block[i];
    sums[i] = gs_scalar_integer(op, dtype, a);
  }
}

static double complex get_complex(enum gs_dtype dtype, const void *from, int64_t at)
{
  return CMPLX(gs_element_get(dtype, from, at), gs_element_get_imag(dtype, from, at));
}

static void add_complexes(enum gs_op op, enum gs_dtype dtype, double complex *sums,
                          const void *from, int64_t at, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    double complex a[2] = { sums[i], get_complex(dtype, from, at + i) };
    sums[i] = gs_scalar_complex(op, a);
  }
}

/* The first member's elements AT .. AT+N-1 start the sums of a block. */
static void start(const struct gs_partials *p, union sums *sums, int64_t at, int64_t n)
{
  const void *from = p->member(p->user, 0);
  switch (gs_dtype_kind(p->dtype)) {
  case GS_KIND_FLOAT: gs_block_load(p->dtype, from, at, 1, n, sums->floats); break;
  case GS_KIND_COMPLEX:
    for (int64_t i = 0; i < n; i++)
      sums->complexes[i] = get_complex(p->dtype, from, at + i);
    break;
  case GS_KIND_SIGNED: case GS_KIND_UNSIGNED: case GS_KIND_PRED:
    gs_block_load_int(p->dtype, from, at, 1, n, sums->integers);
    break;
  }
}

static void add(const struct gs_partials *p, int64_t member, union sums *sums, int64_t at,
                int64_t n)
{
  const void *from = p->member(p->user, member);
  enum gs_op op = gs_combiner(p->reduce);
  switch (gs_dtype_kind(p->dtype)) {
  case GS_KIND_FLOAT: add_floats(op, p->dtype, sums->floats, from, at, n); break;
  case GS_KIND_COMPLEX: add_complexes(op, p->dtype, sums->complexes, from, at, n); break;
  case GS_KIND_SIGNED: case GS_KIND_UNSIGNED: case GS_KIND_PRED:
    add_integers(op, p->dtype, sums->integers, from, at, n);
    break;
  }
}

static void store(const struct gs_partials *p, const union sums *sums, void *to, int64_t at,
                  int64_t n)
{
  switch (gs_dtype_kind(p->dtype)) {
  case GS_KIND_FLOAT: gs_block_store(p->dtype, to, at, n, sums->floats); break;
  case GS_KIND_COMPLEX:
    for (int64_t i = 0; i < n; i++)
      gs_element_set_complex(p->dtype, to, at + i, creal(sums->complexes[i]),
                             cimag(sums->complexes[i]));
    break;
  case GS_KIND_SIGNED: case GS_KIND_UNSIGNED: case GS_KIND_PRED:
    gs_block_store_int(p->dtype, to, at, n, sums->integers);
    break;
  }
}

void gs_combine(const struct gs_partials *p, int64_t first, void *to, int64_t n)
{
  union sums sums;
  for (int64_t at = 0; at < n; at += BLOCK) {
    int64_t count = n - at < BLOCK ? n - at : BLOCK;
    start(p, &sums, first + at, count);
    for (int64_t member = 1; member < p->count; member++)
      add(p, member, &sums, first + at, count);
    store(p, &sums, to, at, count);
  }
}
