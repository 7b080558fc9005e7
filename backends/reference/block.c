/* backends/reference/block.c - elements by the block; the common element types in plain loops. */
#include <config.h>

#include "backends/reference/block.h"

/* Types that C converts as gs_element_get and gs_element_get_int do, and their integers as
 * gs_element_set_int. */
#define FLOAT_TYPES(X) X(F64, double) X(F32, float)
#define INTEGER_TYPES(X) \
  X(S64, int64_t) X(S32, int32_t) X(S16, int16_t) X(S8, int8_t) \
  X(U64, uint64_t) X(U32, uint32_t) X(U16, uint16_t) X(U8, uint8_t)

#define LOAD(id, type) \
  case GS_DTYPE_##id: \
    for (int64_t i = 0; i < n; i++) \
      to[i] = (TO)((const type *)data)[at + i * stride]; \
    return;

#define STORE(id, type) \
  case GS_DTYPE_##id: \
    for (int64_t i = 0; i < n; i++) \
      ((type *)data)[at + i] = (type)from[i]; \
    return;

#define TO double
void gs_block_load(enum gs_dtype dtype, const void *data, int64_t at, int64_t stride, int64_t n,
                   double *to)
{
  switch (dtype) {
    FLOAT_TYPES(LOAD)
    INTEGER_TYPES(LOAD)
    LOAD(PRED, uint8_t)
  default:
    for (int64_t i = 0; i < n; i++)
      to[i] = gs_element_get(dtype, data, at + i * stride);
  }
}
#undef TO

#define TO int64_t
void gs_block_load_int(enum gs_dtype dtype, const void *data, int64_t at, int64_t stride, int64_t n,
                       int64_t *to)
{
  switch (dtype) {
    INTEGER_TYPES(LOAD)
    LOAD(PRED, uint8_t)
  default:
    for (int64_t i = 0; i < n; i++)
      to[i] = gs_element_get_int(dtype, data, at + i * stride);
  }
}
#undef TO

void gs_block_store(enum gs_dtype dtype, void *data, int64_t at, int64_t n, const double *from)
{
  switch (dtype) {
    FLOAT_TYPES(STORE)
  default:
    for (int64_t i = 0; i < n; i++)
      gs_element_set(dtype, data, at + i, from[i]);
  }
}

void gs_block_store_int(enum gs_dtype dtype, void *data, int64_t at, int64_t n, const int64_t *from)
{
  switch (dtype) {
    INTEGER_TYPES(STORE)
  default:
    for (int64_t i = 0; i < n; i++)
      gs_element_set_int(dtype, data, at + i, from[i]);
  }
}
