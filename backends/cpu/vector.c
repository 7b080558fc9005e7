/* backends/cpu/vector.c - lanes, conversions between them, and what reductions start from. */
#include <config.h>

#include "backends/cpu/vector.h"

#include <math.h>
#include <string.h>

#define SIZE(id, type) [GS_LANE_##id] = sizeof(type),
static const int64_t lane_sizes[] = { GS_LANES(SIZE) };

enum gs_lane gs_lane_of(enum gs_dtype dtype)
{
  switch (dtype) {
  case GS_DTYPE_F64: return GS_LANE_F64;
  case GS_DTYPE_F32: case GS_DTYPE_BF16: case GS_DTYPE_F16: return GS_LANE_F32;
  case GS_DTYPE_S64: return GS_LANE_S64;
  case GS_DTYPE_S32: return GS_LANE_S32;
  case GS_DTYPE_S16: return GS_LANE_S16;
  case GS_DTYPE_S8: return GS_LANE_S8;
  case GS_DTYPE_U64: return GS_LANE_U64;
  case GS_DTYPE_U32: return GS_LANE_U32;
  case GS_DTYPE_U16: return GS_LANE_U16;
  case GS_DTYPE_U8: return GS_LANE_U8;
  case GS_DTYPE_PRED: return GS_LANE_PRED;
  case GS_DTYPE_C64: case GS_DTYPE_C128: case GS_DTYPE_COUNT: break;
  }
  return GS_LANE_COUNT;
}

int64_t gs_lane_size(enum gs_lane lane)
{
  return lane_sizes[lane];
}

int gs_lane_half(enum gs_dtype dtype)
{
  return dtype == GS_DTYPE_BF16 ? 0 : dtype == GS_DTYPE_F16 ? 1 : -1;
}

static bool is_float(enum gs_lane lane)
{
  return lane == GS_LANE_F32 || lane == GS_LANE_F64;
}

int64_t gs_accumulator_size(enum gs_lane lane)
{
  return is_float(lane) ? (int64_t)sizeof(double) : lane_sizes[lane];
}

#define INTEGERS(X) \
  X(S64, int64_t) X(S32, int32_t) X(S16, int16_t) X(S8, int8_t) \
  X(U64, uint64_t) X(U32, uint32_t) X(U16, uint16_t) X(U8, uint8_t)

/* The least and greatest value of an integer lane, by its type. */
#define LEAST(type) ((type)-1 < (type)1 ? (type)((uint64_t)1 << (8 * sizeof(type) - 1)) : (type)0)
#define GREATEST(type) ((type)~LEAST(type))

static double start_double(enum gs_op op)
{
  return op == GS_OP_PROD ? 1 : op == GS_OP_REDUCE_MAX ? -INFINITY : op == GS_OP_REDUCE_MIN ? INFINITY : 0;
}

void gs_vector_start(enum gs_op op, enum gs_lane lane, void *accumulators, int64_t n)
{
  switch (lane) {
  case GS_LANE_F32:
  case GS_LANE_F64:
    for (int64_t i = 0; i < n; i++)
      ((double *)accumulators)[i] = start_double(op);
    break;
#define START(id, type) \
  case GS_LANE_##id: \
    for (int64_t i = 0; i < n; i++) \
      ((type *)accumulators)[i] = op == GS_OP_REDUCE_MAX   ? LEAST(type) \
                                  : op == GS_OP_REDUCE_MIN ? GREATEST(type) \
                                                           : (type)(op == GS_OP_PROD); \
    break;
  INTEGERS(START)
  case GS_LANE_PRED:
    for (int64_t i = 0; i < n; i++)
      ((uint8_t *)accumulators)[i] = op == GS_OP_ALL || op == GS_OP_REDUCE_MIN;
    break;
  case GS_LANE_COUNT: break;
  }
}

void gs_vector_finish(enum gs_lane lane, const void *accumulators, void *out, int64_t n)
{
  const double *sums = accumulators;
  float *rounded = out;
  if (lane == GS_LANE_F32) {
    for (int64_t i = 0; i < n; i++)
      rounded[i] = (float)sums[i];
  } else if (n > 0) {
    memcpy(out, accumulators, (size_t)(n * lane_sizes[lane]));
  }
}

/* A float as an integer: truncated toward zero, kept within the type; NaN gives 0. */
#define TO_INTEGER(id, type) \
  static inline type to_##id(double x) \
  { \
    const double limit = 2 * (double)(GREATEST(type) / 2 + 1); \
    if (!(x < limit)) \
      return x != x ? (type)0 : GREATEST(type); \
    return x > (double)LEAST(type) ? (type)x : LEAST(type); \
  }
INTEGERS(TO_INTEGER)

#define CONVERT(from, from_type, to, to_type, value) \
  static void from##_to_##to(void *out, const void *in, int64_t n) \
  { \
    const from_type *a = in; \
    to_type *restrict result = out; \
    for (int64_t i = 0; i < n; i++) { \
      from_type x = a[i]; \
      result[i] = (to_type)(value); \
    } \
  }
#define FROM_INTEGER(id, type) \
  CONVERT(id, type, F32, float, x) \
  CONVERT(id, type, F64, double, x) \
  CONVERT(id, type, S64, int64_t, x) \
  CONVERT(id, type, S32, int32_t, x) \
  CONVERT(id, type, S16, int16_t, x) \
  CONVERT(id, type, S8, int8_t, x) \
  CONVERT(id, type, U64, uint64_t, x) \
  CONVERT(id, type, U32, uint32_t, x) \
  CONVERT(id, type, U16, uint16_t, x) \
  CONVERT(id, type, U8, uint8_t, x) \
  CONVERT(id, type, PRED, uint8_t, x != 0)
#define FROM_FLOAT(id, type) \
  CONVERT(id, type, F32, float, x) \
  CONVERT(id, type, F64, double, x) \
  CONVERT(id, type, S64, int64_t, to_S64((double)x)) \
  CONVERT(id, type, S32, int32_t, to_S32((double)x)) \
  CONVERT(id, type, S16, int16_t, to_S16((double)x)) \
  CONVERT(id, type, S8, int8_t, to_S8((double)x)) \
  CONVERT(id, type, U64, uint64_t, to_U64((double)x)) \
  CONVERT(id, type, U32, uint32_t, to_U32((double)x)) \
  CONVERT(id, type, U16, uint16_t, to_U16((double)x)) \
  CONVERT(id, type, U8, uint8_t, to_U8((double)x)) \
  CONVERT(id, type, PRED, uint8_t, x != 0)
FROM_FLOAT(F32, float)
FROM_FLOAT(F64, double)
FROM_INTEGER(PRED, uint8_t)
INTEGERS(FROM_INTEGER)

#define ROW(from, type) \
  [GS_LANE_##from] = { \
    [GS_LANE_F32] = from##_to_F32, [GS_LANE_F64] = from##_to_F64, [GS_LANE_S64] = from##_to_S64, \
    [GS_LANE_S32] = from##_to_S32, [GS_LANE_S16] = from##_to_S16, [GS_LANE_S8] = from##_to_S8, \
    [GS_LANE_U64] = from##_to_U64, [GS_LANE_U32] = from##_to_U32, [GS_LANE_U16] = from##_to_U16, \
    [GS_LANE_U8] = from##_to_U8, [GS_LANE_PRED] = from##_to_PRED \
  },
static gs_vector_convert *const conversions[GS_LANE_COUNT][GS_LANE_COUNT] = { GS_LANES(ROW) };

gs_vector_convert *gs_vector_conversion(enum gs_lane from, enum gs_lane to)
{
  return conversions[from][to];
}

const struct gs_vector_set *gs_vector_best(void)
{
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return &gs_vector_avx2;
#endif
  return &gs_vector_any;
}
