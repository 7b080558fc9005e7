/* backends/reference/block.h - elements by the block, as double or 64-bit integer.
 *
 * The same as gs_element_get and gs_element_set for each, but the element type is looked at once a
 * block, which makes the reference functions several times as fast.
 */
#ifndef GS_BACKENDS_REFERENCE_BLOCK_H
#define GS_BACKENDS_REFERENCE_BLOCK_H

#include "lang/tensor.h"

enum { GS_BLOCK = 256 };

/* TO[i] is element AT + i * STRIDE of DATA, for i below N. */
void gs_block_load(enum gs_dtype dtype, const void *data, int64_t at, int64_t stride, int64_t n,
                   double *to);
void gs_block_load_int(enum gs_dtype dtype, const void *data, int64_t at, int64_t stride, int64_t n,
                       int64_t *to);
/* Elements AT .. AT+N-1 of DATA become FROM[0] .. FROM[N-1]. */
void gs_block_store(enum gs_dtype dtype, void *data, int64_t at, int64_t n, const double *from);
void gs_block_store_int(enum gs_dtype dtype, void *data, int64_t at, int64_t n,
                        const int64_t *from);

#endif
