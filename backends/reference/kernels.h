/* backends/reference/kernels.h - the functions named in the eval column of lang/ops.def. */
#ifndef GS_BACKENDS_REFERENCE_KERNELS_H
#define GS_BACKENDS_REFERENCE_KERNELS_H

#include "backends/reference/reference.h"

gs_reference_function gs_reference_argreduce, gs_reference_broadcast, gs_reference_cholesky,
    gs_reference_concat, gs_reference_fft, gs_reference_random, gs_reference_triangular_solve,
    gs_reference_conv, gs_reference_convert, gs_reference_copy, gs_reference_cumulative, gs_reference_einsum, gs_reference_elementwise,
    gs_reference_gather, gs_reference_iota, gs_reference_pad, gs_reference_reduce, gs_reference_reduce_window, gs_reference_reverse,
    gs_reference_roll, gs_reference_scatter,
    gs_reference_select_and_scatter, gs_reference_slice, gs_reference_sort, gs_reference_transpose;

/* A border or a collective of a manual region: ARGS and RESULTS have the data of each device of the region
 * (outside of it there is one), in row-major order of the manual axes' coordinates. */
void gs_reference_manual_values(const struct gs_node *node, const void *const *args, void *const *results);

/* Step INDEX to the next position of TYPE, row-major; false after the last. */
bool gs_reference_next(const struct gs_type *type, int64_t index[GS_MAX_RANK]);

#endif
