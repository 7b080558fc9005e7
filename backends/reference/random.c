/* backends/reference/random.c - numbers by counting: a function of the key and of an element's position in the
 * whole tensor, so that they are the same on any mesh.
 *
 * Threefry-2x32 with 20 rounds (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011):
 * the counter is the row-major position, 64 bits, the key 64 bits.  Of the two words x0, x1
 *   bits     x0, or x1 x0 for 64 bits; narrower types take the upper bits of x0
 *   uniform  the upper bits of x0 (of x0 x1 for f64), as many as the type's mantissa holds, over 2^bits
 *   normal   sqrt(-2 ln u) cos(2 pi v), u = (x0 + 1) / 2^32, v = x1 / 2^32 (G. Box and M. Muller, 1958)
 */
#include <config.h>

#include <math.h>

#include "backends/reference/block.h"
#include "backends/reference/kernels.h"

static uint32_t rotate(uint32_t x, int by)
{
  return x << by | x >> (32 - by);
}

/* Words for COUNT positions from FIRST on. */
static void threefry(uint64_t key, uint64_t first, int64_t count, uint32_t *x0, uint32_t *x1)
{
  static const int rotations[8] = { 13, 15, 26, 6, 17, 29, 16, 24 };
  uint32_t k[3] = { (uint32_t)key, (uint32_t)(key >> 32) };
  k[2] = 0x1bd11bda ^ k[0] ^ k[1];
  for (int64_t i = 0; i < count; i++) {
    x0[i] = (uint32_t)(first + (uint64_t)i) + k[0];
    x1[i] = (uint32_t)((first + (uint64_t)i) >> 32) + k[1];
  }
  for (uint32_t round = 0; round < 20; round++) {
    int by = rotations[round % 8];
    for (int64_t i = 0; i < count; i++) {
      x0[i] += x1[i];
      x1[i] = rotate(x1[i], by) ^ x0[i];
    }
    if (round % 4 != 3)
      continue;
    uint32_t turn = round / 4 + 1, a = k[turn % 3], b = k[(turn + 1) % 3] + turn;
    for (int64_t i = 0; i < count; i++) {
      x0[i] += a;
      x1[i] += b;
    }
  }
}

static void store_bits(const struct gs_kernel_call *call, int64_t at, int64_t n, const uint32_t *x0, const uint32_t *x1)
{
  int64_t block[GS_BLOCK];
  int unused = 32 - 8 * (int)gs_dtype_size(call->type->dtype);
  for (int64_t i = 0; i < n; i++)
    block[i] = unused < 0 ? (int64_t)((uint64_t)x1[i] << 32 | x0[i]) : (int64_t)(x0[i] >> unused);
  gs_block_store_int(call->type->dtype, call->result, at, n, block);
}

static void store_uniform(const struct gs_kernel_call *call, int64_t at, int64_t n, const uint32_t *x0,
                          const uint32_t *x1)
{
  double block[GS_BLOCK];
  enum gs_dtype dtype = call->type->dtype;
  int bits = dtype == GS_DTYPE_F32 ? 24 : dtype == GS_DTYPE_F16 ? 11 : 8;
  double scale = ldexp(1, -bits);
  for (int64_t i = 0; i < n; i++)
    block[i] = dtype == GS_DTYPE_F64 ? (double)(((uint64_t)x0[i] << 32 | x1[i]) >> 11) * 0x1p-53
                                     : (double)(x0[i] >> (32 - bits)) * scale;
  gs_block_store(dtype, call->result, at, n, block);
}

static void store_normal(const struct gs_kernel_call *call, int64_t at, int64_t n, const uint32_t *x0,
                         const uint32_t *x1)
{
  double block[GS_BLOCK];
  for (int64_t i = 0; i < n; i++)
    block[i] = sqrt(-2 * log(((double)x0[i] + 1) * 0x1p-32)) * cos(6.28318530717958647693 * (double)x1[i] * 0x1p-32);
  gs_block_store(call->type->dtype, call->result, at, n, block);
}

void gs_reference_random(const struct gs_kernel_call *call)
{
  const struct gs_type *type = call->type;
  struct gs_type rows = *type;
  int64_t index[GS_MAX_RANK] = { 0 }, at = 0, length = type->rank == 0 ? 1 : type->dims[type->rank - 1];
  uint64_t key = (uint64_t)gs_element_get_int(call->arg_types[0]->dtype, call->args[0], 0);
  uint32_t x0[GS_BLOCK], x1[GS_BLOCK];
  if (gs_type_elements(type) == 0)
    return;
  if (rows.rank > 0)
    rows.dims[--rows.rank] = 0;
  do {
    uint64_t first = 0;
    for (int i = 0; i < type->rank; i++) {
      int64_t begin = call->place != NULL ? call->place->begin[i] : 0;
      int64_t size = call->place != NULL ? call->place->size[i] : type->dims[i];
      first = first * (uint64_t)size + (uint64_t)(begin + (i < rows.rank ? index[i] : 0));
    }
    for (int64_t k = 0; k < length; k += GS_BLOCK) {
      int64_t n = length - k < GS_BLOCK ? length - k : GS_BLOCK;
      threefry(key, first + (uint64_t)k, n, x0, x1);
      switch (call->attrs->random.kind) {
      case GS_RANDOM_BITS: store_bits(call, at + k, n, x0, x1); break;
      case GS_RANDOM_UNIFORM: store_uniform(call, at + k, n, x0, x1); break;
      case GS_RANDOM_NORMAL: store_normal(call, at + k, n, x0, x1); break;
      }
    }
    at += length;
  } while (gs_reference_next(&rows, index));
}
