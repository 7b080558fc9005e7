/* backends/combine.h - adding up partial values of devices. */
#ifndef GS_BACKENDS_COMBINE_H
#define GS_BACKENDS_COMBINE_H

#include "lang/op.h"
#include "lang/tensor.h"

/* Partial values of one value: MEMBER gives the data of number 0, 1, ... COUNT-1. */
struct gs_partials {
  enum gs_op reduce;                   /* SUM PROD REDUCE_MAX REDUCE_MIN ALL ANY */
  enum gs_dtype dtype;
  int64_t count;
  const void *(*member)(const void *user, int64_t number);
  const void *user;
};

/* TO[i] is what elements FIRST + i of all members come to, for N elements.  Floats are added in
 * double, in order of the members, and rounded once. */
void gs_combine(const struct gs_partials *partials, int64_t first, void *to, int64_t n);

/* The elementwise operator that combines two values of the reduction REDUCE. */
enum gs_op gs_combiner(enum gs_op reduce);

#endif
