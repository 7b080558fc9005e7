/* lang/tensor_fill.c - the values of inputs that no file gives.
 *
 * Every fill is a function of the element's row-major index alone, so any part of a tensor can be
 * filled by itself.  Values are made in f64 by blocks and then rounded to the element type.
 */
#include <config.h>

#include "lang/tensor.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

/* Makes elements [first, first + count) of a fill of TYPE. */
typedef void fill_function(const struct gs_type *type, const struct gs_fill_spec *spec,
                           int64_t first, int count, double values[BLOCK]);

/* LANGUAGE: ((i * 2654435761 + k * 40503) mod 2^32) / 2^32 - 0.5. */
static void fill_pattern(const struct gs_type *type, const struct gs_fill_spec *spec, int64_t first,
                         int count, double values[BLOCK])
{
  uint64_t shift = (uint64_t)(int64_t)spec->argument * 40503u;
  bool integer = gs_dtype_is_integer(type->dtype), pred = type->dtype == GS_DTYPE_PRED;
  for (int t = 0; t < count; t++) {
    uint64_t mixed = (uint64_t)(first + t) * 2654435761u + shift;
    double value = (double)(uint32_t)mixed * 0x1p-32 - 0.5;
    if (integer)
      value = floor(16 * (value + 0.5));
    values[t] = pred ? value > 0 : value;
  }
}

static void fill_constant(const struct gs_type *type, const struct gs_fill_spec *spec,
                          int64_t first, int count, double values[BLOCK])
{
  (void)type;
  (void)first;
  double value = spec->kind == GS_FILL_FULL ? spec->argument : spec->kind == GS_FILL_ONES;
  for (int t = 0; t < count; t++)
    values[t] = value;
}

static void fill_iota(const struct gs_type *type, const struct gs_fill_spec *spec, int64_t first,
                      int count, double values[BLOCK])
{
  int dim = (int)spec->argument;
  if (dim < 0 || dim >= type->rank) {
    memset(values, 0, BLOCK * sizeof values[0]);
    return;
  }
  int64_t strides[GS_MAX_RANK];
  gs_type_strides(type, strides);
  for (int t = 0; t < count; t++)
    values[t] = (double)((first + t) / strides[dim] % type->dims[dim]);
}

/* Philox4x32 with ten rounds: four random words from a counter and a key. */
static void philox(uint64_t counter, uint64_t key, uint32_t words[4])
{
  uint32_t x0 = (uint32_t)counter, x1 = (uint32_t)(counter >> 32), x2 = 0, x3 = 0;
  uint32_t key0 = (uint32_t)key, key1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)x0 * 0xD2511F53u, b = (uint64_t)x2 * 0xCD9E8D57u;
    x0 = (uint32_t)(b >> 32) ^ x1 ^ key0;
    x1 = (uint32_t)b;
    x2 = (uint32_t)(a >> 32) ^ x3 ^ key1;
    x3 = (uint32_t)a;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  words[0] = x0;
  words[1] = x1;
  words[2] = x2;
  words[3] = x3;
}

/* A number in [0, 1) from the BITS high bits of two words. */
static double unit_interval(uint32_t high, uint32_t low, int bits)
{
  uint64_t word = (uint64_t)high << 32 | low;
  return (double)(word >> (64 - bits)) / (double)((uint64_t)1 << bits);
}

/* Bits of a number in [0, 1) that the type holds without rounding up to 1. */
static int fraction_bits(enum gs_dtype dtype)
{
  switch (gs_dtype_size(dtype)) {
  case 8: return dtype == GS_DTYPE_C64 ? 24 : 53;
  case 4: return 24;
  case 2: return dtype == GS_DTYPE_BF16 ? 8 : 11;
  default: return 53;
  }
}

static void fill_uniform(const struct gs_type *type, const struct gs_fill_spec *spec, int64_t first,
                         int count, double values[BLOCK])
{
  int bits = fraction_bits(type->dtype);
  for (int t = 0; t < count; t++) {
    uint32_t words[4];
    philox((uint64_t)(first + t), (uint64_t)(int64_t)spec->argument, words);
    values[t] = unit_interval(words[0], words[1], bits);
  }
}

/* Box and Muller's transform. */
static void fill_normal(const struct gs_type *type, const struct gs_fill_spec *spec, int64_t first,
                        int count, double values[BLOCK])
{
  static const double two_pi = 6.283185307179586;
  (void)type;
  for (int t = 0; t < count; t++) {
    uint32_t words[4];
    philox((uint64_t)(first + t), (uint64_t)(int64_t)spec->argument, words);
    double radius = sqrt(-2 * log(1 - unit_interval(words[0], words[1], 53)));
    double angle = two_pi * unit_interval(words[2], words[3], 53);
    values[t] = spec->mean + spec->std * radius * cos(angle);
  }
}

/* Round VALUES to the elements from FIRST on. */
static void store(struct gs_tensor *tensor, int64_t first, int count, const double values[BLOCK])
{
  enum gs_dtype dtype = tensor->type.dtype;
  if (dtype == GS_DTYPE_F32) {         /* the common case, for the vector unit */
    float *data = (float *)tensor->data + first;
    for (int t = 0; t < count; t++)
      data[t] = (float)values[t];
    return;
  }
  for (int t = 0; t < count; t++)
    gs_element_set(dtype, tensor->data, first + t, values[t]);
}

/* The values of FROM, converted where the types differ. */
static void fill_data(struct gs_tensor *tensor, const struct gs_tensor *from)
{
  int64_t elements = gs_type_elements(&tensor->type);
  enum gs_dtype to = tensor->type.dtype, dtype = from->type.dtype;
  if (dtype == to) {
    if (elements > 0)
      memcpy(tensor->data, from->data, (size_t)gs_type_bytes(&tensor->type));
    return;
  }
  bool integers = gs_dtype_is_integer(dtype) && gs_dtype_is_integer(to);
  for (int64_t i = 0; i < elements; i++) {
    if (integers)
      gs_element_set_int(to, tensor->data, i, gs_element_get_int(dtype, from->data, i));
    else
      gs_element_set_complex(to, tensor->data, i, gs_element_get(dtype, from->data, i),
                             gs_element_get_imag(dtype, from->data, i));
  }
}

void gs_tensor_fill(struct gs_tensor *tensor, const struct gs_fill_spec *spec)
{
  static fill_function *const functions[] = {
    [GS_FILL_PATTERN] = fill_pattern,
    [GS_FILL_ZEROS] = fill_constant,
    [GS_FILL_ONES] = fill_constant,
    [GS_FILL_FULL] = fill_constant,
    [GS_FILL_IOTA] = fill_iota,
    [GS_FILL_NORMAL] = fill_normal,
    [GS_FILL_UNIFORM] = fill_uniform
  };
  int64_t elements = gs_type_elements(&tensor->type);
  if (spec->kind == GS_FILL_DATA) {
    if (gs_shape_equal(&spec->data->type, &tensor->type))
      fill_data(tensor, spec->data);
    else if (elements > 0)
      memset(tensor->data, 0, (size_t)gs_type_bytes(&tensor->type));
    return;
  }
  for (int64_t first = 0; first < elements; first += BLOCK) {
    double values[BLOCK];
    int count = elements - first < BLOCK ? (int)(elements - first) : BLOCK;
    functions[spec->kind](&tensor->type, spec, first, count, values);
    store(tensor, first, count, values);
  }
}
