/* lang/tensor.c - tensors in host memory: storage and access to single elements. */
#include <config.h>

#include "lang/tensor.h"

#include <stdlib.h>
#include <string.h>

enum { DATA_ALIGNMENT = 64 };

struct gs_tensor *gs_tensor_new(struct gs_budget *budget, const struct gs_type *type)
{
  if (!gs_type_valid(type))
    return NULL;
  size_t bytes = (size_t)gs_type_bytes(type);
  if (!gs_budget_take(budget, bytes))
    return NULL;
  struct gs_tensor *tensor = malloc(sizeof *tensor);
  void *data = NULL;
  if (tensor != NULL && bytes > 0)
    data = aligned_alloc(DATA_ALIGNMENT,
                         (bytes + DATA_ALIGNMENT - 1) / DATA_ALIGNMENT * DATA_ALIGNMENT);
  if (tensor == NULL || (data == NULL && bytes > 0)) {
    free(tensor);
    gs_budget_give(budget, bytes);
    return NULL;
  }
  tensor->type = *type;
  tensor->data = data;
  tensor->budget = budget;
  atomic_init(&tensor->references, 1);
  return tensor;
}

struct gs_tensor *gs_tensor_ref(struct gs_tensor *tensor)
{
  atomic_fetch_add(&tensor->references, 1);
  return tensor;
}

void gs_tensor_unref(struct gs_tensor *tensor)
{
  if (tensor == NULL || atomic_fetch_sub(&tensor->references, 1) > 1)
    return;
  gs_budget_give(tensor->budget, (size_t)gs_type_bytes(&tensor->type));
  free(tensor->data);
  free(tensor);
}

/* Element types that are arithmetic types of C. */
#define C_TYPES(X) \
  X(F64, double) X(F32, float) \
  X(S64, int64_t) X(S32, int32_t) X(S16, int16_t) X(S8, int8_t) \
  X(U64, uint64_t) X(U32, uint32_t) X(U16, uint16_t) X(U8, uint8_t)

double gs_element_get(enum gs_dtype dtype, const void *data, int64_t index)
{
  switch (dtype) {
#define X(id, type) case GS_DTYPE_##id: return (double)((const type *)data)[index];
    C_TYPES(X)
#undef X
  case GS_DTYPE_PRED: return (double)((const uint8_t *)data)[index];
  case GS_DTYPE_BF16: return (double)gs_bf16_to_f32(((const uint16_t *)data)[index]);
  case GS_DTYPE_F16: return (double)gs_f16_to_f32(((const uint16_t *)data)[index]);
  case GS_DTYPE_C64: return (double)((const float *)data)[2 * index];
  case GS_DTYPE_C128: return ((const double *)data)[2 * index];
  case GS_DTYPE_COUNT: break;
  }
  return 0;
}

double gs_element_get_imag(enum gs_dtype dtype, const void *data, int64_t index)
{
  if (dtype == GS_DTYPE_C64)
    return (double)((const float *)data)[2 * index + 1];
  return dtype == GS_DTYPE_C128 ? ((const double *)data)[2 * index + 1] : 0;
}

/* VALUE truncated toward zero and kept within [-LIMIT, LIMIT); NaN gives 0. */
static int64_t saturate_signed(double value, double limit)
{
  if (value != value)
    return 0;
  if (value >= limit)
    return limit >= 0x1p63 ? INT64_MAX : (int64_t)limit - 1;
  return value < -limit ? (int64_t)-limit : (int64_t)value;
}

static uint64_t saturate_unsigned(double value, double limit)
{
  if (!(value > 0))
    return 0;
  if (value >= limit)
    return limit >= 0x1p64 ? UINT64_MAX : (uint64_t)limit - 1;
  return (uint64_t)value;
}

int64_t gs_element_get_int(enum gs_dtype dtype, const void *data, int64_t index)
{
  if (dtype == GS_DTYPE_S64 || dtype == GS_DTYPE_U64)
    return ((const int64_t *)data)[index];
  return saturate_signed(gs_element_get(dtype, data, index), 0x1p63);
}

/* VALUE as a float rounded to odd: rounding that once more to a narrower format gives what
 * rounding VALUE directly would. */
static float narrow(double value)
{
  float result = (float)value;
  if ((double)result == value || value != value)
    return result;
  uint32_t bits;
  memcpy(&bits, &result, sizeof bits);
  bool away = (result < 0 ? -(double)result : (double)result) > (value < 0 ? -value : value);
  bits = (away ? bits - 1 : bits) | 1;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* One more than the largest value of an integer type. */
static double integer_limit(enum gs_dtype dtype)
{
  int bits = 8 * (int)gs_dtype_size(dtype) - (gs_dtype_kind(dtype) == GS_KIND_SIGNED);
  double limit = 1;
  for (int i = 0; i < bits; i++)
    limit *= 2;
  return limit;
}

void gs_element_set(enum gs_dtype dtype, void *data, int64_t index, double value)
{
  switch (dtype) {
  case GS_DTYPE_F64: ((double *)data)[index] = value; break;
  case GS_DTYPE_F32: ((float *)data)[index] = (float)value; break;
  case GS_DTYPE_BF16: ((uint16_t *)data)[index] = gs_bf16_from_f32(narrow(value)); break;
  case GS_DTYPE_F16: ((uint16_t *)data)[index] = gs_f16_from_f32(narrow(value)); break;
  case GS_DTYPE_S64:
  case GS_DTYPE_S32:
  case GS_DTYPE_S16:
  case GS_DTYPE_S8:
    gs_element_set_int(dtype, data, index, saturate_signed(value, integer_limit(dtype)));
    break;
  case GS_DTYPE_U64:
  case GS_DTYPE_U32:
  case GS_DTYPE_U16:
  case GS_DTYPE_U8:
    gs_element_set_int(dtype, data, index, (int64_t)saturate_unsigned(value, integer_limit(dtype)));
    break;
  case GS_DTYPE_PRED: ((uint8_t *)data)[index] = value != 0; break;
  case GS_DTYPE_C64:
  case GS_DTYPE_C128: gs_element_set_complex(dtype, data, index, value, 0); break;
  case GS_DTYPE_COUNT: break;
  }
}

void gs_element_set_int(enum gs_dtype dtype, void *data, int64_t index, int64_t value)
{
  switch (dtype) {
#define X(id, type) case GS_DTYPE_##id: ((type *)data)[index] = (type)value; break;
    C_TYPES(X)
#undef X
  case GS_DTYPE_PRED: ((uint8_t *)data)[index] = value != 0; break;
  case GS_DTYPE_BF16:
  case GS_DTYPE_F16:
  case GS_DTYPE_C64:
  case GS_DTYPE_C128:
    gs_element_set(dtype, data, index, (double)value);
    break;
  case GS_DTYPE_COUNT: break;
  }
}

void gs_element_set_complex(enum gs_dtype dtype, void *data, int64_t index, double re, double im)
{
  if (dtype == GS_DTYPE_C64) {
    ((float *)data)[2 * index] = (float)re;
    ((float *)data)[2 * index + 1] = (float)im;
  } else if (dtype == GS_DTYPE_C128) {
    ((double *)data)[2 * index] = re;
    ((double *)data)[2 * index + 1] = im;
  } else {
    gs_element_set(dtype, data, index, re);
  }
}
