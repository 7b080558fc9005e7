/* tests/differential/compare.h - whether two tensors hold the same values. */
#ifndef GS_TESTS_COMPARE_H
#define GS_TESTS_COMPARE_H

#include "lang/tensor.h"

/* True when every element of GOT is within TOLERANCE of that of WANT (0: equal; always so for
 * integers and pred), NaN where it is NaN and infinite where it is infinite.  Otherwise false and
 * the first difference in TEXT of SIZE bytes. */
bool compare_tensors(const struct gs_tensor *want, const struct gs_tensor *got, double tolerance,
                     char *text, size_t size);

/* Index of element AT as "[1,2]" into TEXT. */
void compare_index(const struct gs_type *type, int64_t at, char *text, size_t size);

#endif
