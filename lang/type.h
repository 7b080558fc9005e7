/* lang/type.h - the type of a tensor: element type and shape. */
#ifndef GS_LANG_TYPE_H
#define GS_LANG_TYPE_H

#include "lang/arena.h"
#include "lang/dtype.h"

enum { GS_MAX_RANK = 12 };

struct gs_type {
  enum gs_dtype dtype;
  int rank;                            /* 0 is a scalar */
  int64_t dims[GS_MAX_RANK];           /* each >= 0; past rank all zero */
};

/* The number of elements.  A type accepted by gs_type_valid never overflows. */
int64_t gs_type_elements(const struct gs_type *type);
/* Elements times element size. */
int64_t gs_type_bytes(const struct gs_type *type);
/* Whether the bytes, and every dim's product, fit 2^62. */
bool gs_type_valid(const struct gs_type *type);
bool gs_type_equal(const struct gs_type *a, const struct gs_type *b);
bool gs_shape_equal(const struct gs_type *a, const struct gs_type *b);
struct gs_type gs_type_scalar(enum gs_dtype dtype);
/* Row-major strides in elements. */
void gs_type_strides(const struct gs_type *type, int64_t strides[GS_MAX_RANK]);
/* "f32[8,16]" into BUFFER, which is returned. */
enum { GS_TYPE_TEXT = 8 + GS_MAX_RANK * 21 };
const char *gs_type_format(const struct gs_type *type, char buffer[GS_TYPE_TEXT]);
/* The same into TEXT. */
void gs_type_print(struct gs_text *text, const struct gs_type *type);
/* The same into ARENA. */
const char *gs_type_string(struct gs_arena *arena, const struct gs_type *type);

#endif
