/* lang/dtype.h - element types: one row each. */
#ifndef GS_LANG_DTYPE_H
#define GS_LANG_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*       id    name    bytes  kind     npy descriptor (bf16 has none of its own, see npy.h) */
#define GS_DTYPES(X) \
  X(F64,  "f64",  8,  FLOAT,    "<f8")  \
  X(F32,  "f32",  4,  FLOAT,    "<f4")  \
  X(BF16, "bf16", 2,  FLOAT,    "<f4")  \
  X(F16,  "f16",  2,  FLOAT,    "<f2")  \
  X(S64,  "s64",  8,  SIGNED,   "<i8")  \
  X(S32,  "s32",  4,  SIGNED,   "<i4")  \
  X(S16,  "s16",  2,  SIGNED,   "<i2")  \
  X(S8,   "s8",   1,  SIGNED,   "|i1")  \
  X(U64,  "u64",  8,  UNSIGNED, "<u8")  \
  X(U32,  "u32",  4,  UNSIGNED, "<u4")  \
  X(U16,  "u16",  2,  UNSIGNED, "<u2")  \
  X(U8,   "u8",   1,  UNSIGNED, "|u1")  \
  X(PRED, "pred", 1,  PRED,     "|b1")  \
  X(C64,  "c64",  8,  COMPLEX,  "<c8")  \
  X(C128, "c128", 16, COMPLEX,  "<c16")

enum gs_dtype {
#define X(id, name, bytes, kind, npy) GS_DTYPE_##id,
  GS_DTYPES(X)
#undef X
  GS_DTYPE_COUNT
};

enum gs_dtype_kind {
  GS_KIND_FLOAT, GS_KIND_SIGNED, GS_KIND_UNSIGNED, GS_KIND_PRED, GS_KIND_COMPLEX
};

const char *gs_dtype_name(enum gs_dtype dtype);
size_t gs_dtype_size(enum gs_dtype dtype);
enum gs_dtype_kind gs_dtype_kind(enum gs_dtype dtype);
const char *gs_dtype_npy(enum gs_dtype dtype);
/* Signed or unsigned integer. */
bool gs_dtype_is_integer(enum gs_dtype dtype);
/* The type called NAME of LENGTH characters; false if there is none. */
bool gs_dtype_find(const char *name, size_t length, enum gs_dtype *dtype);

/* Storage formats, rounding to nearest even. */
float gs_bf16_to_f32(uint16_t bits);
uint16_t gs_bf16_from_f32(float value);
float gs_f16_to_f32(uint16_t bits);
uint16_t gs_f16_from_f32(float value);

#endif
