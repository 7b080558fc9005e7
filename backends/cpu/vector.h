/* backends/cpu/vector.h - loops over contiguous elements, compiled for several processors.
 *
 * Elements are computed with in lanes: the C type of the element type, except that bf16 and f16 are
 * widened to float and rounded back after every operator.  The functions of a set are the same
 * source (vector_body.inc), compiled once for any processor and once for AVX2; gs_vector_best chooses.
 */
#ifndef GS_BACKENDS_CPU_VECTOR_H
#define GS_BACKENDS_CPU_VECTOR_H

#include <stdint.h>

#include "lang/dtype.h"
#include "lang/op.h"

#define GS_LANES(X) \
  X(F32, float) \
  X(F64, double) \
  X(S64, int64_t) \
  X(S32, int32_t) \
  X(S16, int16_t) \
  X(S8, int8_t) \
  X(U64, uint64_t) \
  X(U32, uint32_t) \
  X(U16, uint16_t) \
  X(U8, uint8_t) \
  X(PRED, uint8_t)

enum gs_lane {
#define X(id, type) GS_LANE_##id,
  GS_LANES(X)
#undef X
  GS_LANE_COUNT
};

/* OUT[i] = operator of ARGS[k][i] for N elements.  Bit k of SCALARS: operand k is one element for
 * all.  OUT overlaps no operand. */
typedef void gs_vector_apply(void *out, const void *const *args, unsigned scalars, int64_t n);
/* OUT[i] = IN[i] as another lane or stored type. */
typedef void gs_vector_convert(void *out, const void *in, int64_t n);
/* Reductions.  An accumulator is a double for float lanes, else a lane. */
typedef void gs_vector_reduce(void *accumulator, const void *in, int64_t n);
/* VALUES[i] combined with IN[i * STEP], in the lane itself. */
typedef void gs_vector_fold(void *values, const void *in, int64_t n, int64_t step);

struct gs_vector_set {
  gs_vector_apply *apply[GS_OP_COUNT][GS_LANE_COUNT];          /* by the last operand's lane */
  gs_vector_reduce *reduce[GS_OP_COUNT][GS_LANE_COUNT];        /* all of IN into one accumulator */
  gs_vector_reduce *accumulate[GS_OP_COUNT][GS_LANE_COUNT];    /* each into its own */
  gs_vector_fold *fold[GS_OP_COUNT][GS_LANE_COUNT];
  gs_vector_convert *widen[2], *shorten[2];                    /* 0: bf16, 1: f16, from and to float */
};

extern const struct gs_vector_set gs_vector_any, gs_vector_avx2;

/* The best set for this processor; what it does not have is in gs_vector_any. */
const struct gs_vector_set *gs_vector_best(void);
/* A conversion between lanes. */
gs_vector_convert *gs_vector_conversion(enum gs_lane from, enum gs_lane to);

/* The lane that elements of DTYPE are computed in; GS_LANE_COUNT for complex types. */
enum gs_lane gs_lane_of(enum gs_dtype dtype);
int64_t gs_lane_size(enum gs_lane lane);
/* Index into widen and shorten; -1 for types that are stored as their lane. */
int gs_lane_half(enum gs_dtype dtype);

/* What an accumulator of reduction OP starts as, and its final value stored as a lane. */
void gs_vector_start(enum gs_op op, enum gs_lane lane, void *accumulators, int64_t n);
void gs_vector_finish(enum gs_lane lane, const void *accumulators, void *out, int64_t n);
int64_t gs_accumulator_size(enum gs_lane lane);

#endif
