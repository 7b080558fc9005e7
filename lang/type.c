/* lang/type.c - sizes, comparison and printing of tensor types. */
#include <config.h>

#include "lang/type.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const int64_t LARGEST = (int64_t)1 << 62;

int64_t gs_type_elements(const struct gs_type *type)
{
  int64_t elements = 1;
  for (int i = 0; i < type->rank; i++)
    elements *= type->dims[i];
  return elements;
}

int64_t gs_type_bytes(const struct gs_type *type)
{
  return gs_type_elements(type) * (int64_t)gs_dtype_size(type->dtype);
}

bool gs_type_valid(const struct gs_type *type)
{
  if (type->rank < 0 || type->rank > GS_MAX_RANK)
    return false;
  /* An empty dim does not excuse the others: strides and slices must not overflow either. */
  int64_t bytes = (int64_t)gs_dtype_size(type->dtype);
  for (int i = 0; i < type->rank; i++) {
    if (type->dims[i] < 0)
      return false;
    if (type->dims[i] > 0 && (!gs_mul_size(bytes, type->dims[i], &bytes) || bytes > LARGEST))
      return false;
  }
  return true;
}

bool gs_type_equal(const struct gs_type *a, const struct gs_type *b)
{
  return a->dtype == b->dtype && gs_shape_equal(a, b);
}

bool gs_shape_equal(const struct gs_type *a, const struct gs_type *b)
{
  return a->rank == b->rank
         && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]) == 0;
}

struct gs_type gs_type_scalar(enum gs_dtype dtype)
{
  return (struct gs_type){ .dtype = dtype };
}

void gs_type_strides(const struct gs_type *type, int64_t strides[GS_MAX_RANK])
{
  int64_t stride = 1;
  for (int i = GS_MAX_RANK - 1; i >= 0; i--) {
    strides[i] = i < type->rank ? stride : 0;
    if (i < type->rank)
      stride *= type->dims[i];
  }
}

const char *gs_type_format(const struct gs_type *type, char buffer[GS_TYPE_TEXT])
{
  int length = snprintf(buffer, GS_TYPE_TEXT, "%s[", gs_dtype_name(type->dtype));
  for (int i = 0; i < type->rank; i++)
    length += snprintf(buffer + length, (size_t)(GS_TYPE_TEXT - length), "%s%" PRId64,
                       i > 0 ? "," : "", type->dims[i]);
  snprintf(buffer + length, (size_t)(GS_TYPE_TEXT - length), "]");
  return buffer;
}

void gs_type_print(struct gs_text *text, const struct gs_type *type)
{
  gs_text_add(text, gs_type_format(type, (char[GS_TYPE_TEXT]){ 0 }));
}

const char *gs_type_string(struct gs_arena *arena, const struct gs_type *type)
{
  return gs_arena_printf(arena, "%s", gs_type_format(type, (char[GS_TYPE_TEXT]){ 0 }));
}
