/* lang/dtype.c - the table of element types and the 16-bit storage formats. */
#include <config.h>

#include "lang/dtype.h"

#include <string.h>

static const struct {
  const char *name, *npy;
  size_t size;
  enum gs_dtype_kind kind;
} table[] = {
#define X(id, name, bytes, kind, npy) [GS_DTYPE_##id] = { name, npy, bytes, GS_KIND_##kind },
  GS_DTYPES(X)
#undef X
};

const char *gs_dtype_name(enum gs_dtype dtype)
{
  return table[dtype].name;
}

size_t gs_dtype_size(enum gs_dtype dtype)
{
  return table[dtype].size;
}

enum gs_dtype_kind gs_dtype_kind(enum gs_dtype dtype)
{
  return table[dtype].kind;
}

const char *gs_dtype_npy(enum gs_dtype dtype)
{
  return table[dtype].npy;
}

bool gs_dtype_is_integer(enum gs_dtype dtype)
{
  return table[dtype].kind == GS_KIND_SIGNED || table[dtype].kind == GS_KIND_UNSIGNED;
}

bool gs_dtype_find(const char *name, size_t length, enum gs_dtype *dtype)
{
  for (int i = 0; i < GS_DTYPE_COUNT; i++) {
    if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0) {
      *dtype = (enum gs_dtype)i;
      return true;
    }
  }
  return false;
}

static uint32_t float_bits(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of_bits(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* BITS without its low SHIFT bits, rounded to nearest, halves to even. */
static uint32_t round_shift(uint32_t bits, unsigned shift)
{
  uint32_t odd = (bits >> shift) & 1;
  return (bits + ((1u << (shift - 1)) - 1) + odd) >> shift;
}

float gs_bf16_to_f32(uint16_t bits)
{
  return float_of_bits((uint32_t)bits << 16);
}

uint16_t gs_bf16_from_f32(float value)
{
  uint32_t bits = float_bits(value);
  if (value != value)                  /* rounding could carry a NaN into infinity */
    return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)round_shift(bits, 16);
}

float gs_f16_to_f32(uint16_t bits)
{
  uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
  uint32_t exponent = bits >> 10 & 0x1fu, fraction = bits & 0x3ffu;
  if (exponent == 0x1f)
    return float_of_bits(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {                 /* zero or subnormal: fraction * 2^-24 */
    float value = (float)fraction * 0x1p-24f;
    return float_of_bits(sign | float_bits(value));
  }
  return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t gs_f16_from_f32(float value)
{
  uint32_t bits = float_bits(value);
  uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)         /* NaN stays one */
    return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x477ff000u)        /* rounds to 65536 or more: infinity */
    return (uint16_t)(sign | 0x7c00u);
  if (magnitude >= 0x38800000u)        /* a normal number of f16 */
    return (uint16_t)(sign | (round_shift(magnitude, 13) - (112u << 10)));
  if (magnitude < 0x33000000u)         /* below half of the smallest subnormal */
    return (uint16_t)sign;
  uint32_t exponent = magnitude >> 23, fraction = (magnitude & 0x7fffffu) | 0x800000u;
  return (uint16_t)(sign | round_shift(fraction, 126 - exponent));
}
