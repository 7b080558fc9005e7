/* backends/combine.h - adding up partial values of devices. */
#ifndef GS_BACKENDS_COMBINE_H
#define GS_BACKENDS_COMBINE_H

#include "lang/op.h"
#include "lang/tensor.h"

/* TO[i] = TO[i] combined with FROM[i] by the reduction REDUCE (SUM PROD REDUCE_MAX REDUCE_MIN ALL
 * ANY), for N elements of DTYPE. */
void gs_combine(enum gs_op reduce, enum gs_dtype dtype, void *to, const void *from, int64_t n);

/* The elementwise operator that combines two values of the reduction REDUCE. */
enum gs_op gs_combiner(enum gs_op reduce);

#endif
