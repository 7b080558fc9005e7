/* lang/tensor.h - a tensor's values in host memory, row-major and contiguous.
 *
 * Reference counted: gs_tensor_new gives one reference, gs_tensor_unref takes one away.  The
 * count is atomic; the data is not guarded.  pred is one byte, 0 or 1.
 */
#ifndef GS_LANG_TENSOR_H
#define GS_LANG_TENSOR_H

#include "lang/type.h"

struct gs_tensor {
  struct gs_type type;
  void *data;                          /* 64-byte aligned; NULL only when there are no elements */
  struct gs_budget *budget;
  _Atomic int references;
};

/* Uninitialized data.  NULL when BUDGET or the system refuses. */
struct gs_tensor *gs_tensor_new(struct gs_budget *budget, const struct gs_type *type);
struct gs_tensor *gs_tensor_ref(struct gs_tensor *tensor);
void gs_tensor_unref(struct gs_tensor *tensor);              /* NULL is allowed */

/* Element INDEX (row-major), converted.  Complex gives the real part in get_float. */
double gs_element_get(enum gs_dtype dtype, const void *data, int64_t index);
int64_t gs_element_get_int(enum gs_dtype dtype, const void *data, int64_t index);
double gs_element_get_imag(enum gs_dtype dtype, const void *data, int64_t index);
/* Store, rounding to the type (integers truncate toward zero and saturate; NaN becomes 0). */
void gs_element_set(enum gs_dtype dtype, void *data, int64_t index, double value);
/* Store an integer; narrower integer types wrap. */
void gs_element_set_int(enum gs_dtype dtype, void *data, int64_t index, int64_t value);
void gs_element_set_complex(enum gs_dtype dtype, void *data, int64_t index, double re, double im);

/* How an input without a file is filled. */
enum gs_fill {
  GS_FILL_PATTERN,                     /* argument: k; LANGUAGE.md, "pattern(k)" */
  GS_FILL_ZEROS, GS_FILL_ONES,
  GS_FILL_FULL,                        /* argument: the value */
  GS_FILL_IOTA,                        /* argument: the dim that counts */
  GS_FILL_NORMAL,                      /* argument: seed; scaled by std, moved by mean */
  GS_FILL_UNIFORM,                     /* argument: seed; in [0, 1) */
  GS_FILL_DATA                         /* given values: the tensor itself */
};
struct gs_fill_spec {
  enum gs_fill kind;
  double argument;
  double mean, std;                    /* normal only */
  struct gs_tensor *data;              /* GS_FILL_DATA only; a reference is held */
};
void gs_tensor_fill(struct gs_tensor *tensor, const struct gs_fill_spec *spec);

/* Values for people: nested brackets as NumPy writes them, elided when more than about a
 * thousand elements, floats to PRECISION significant digits. */
void gs_tensor_print(struct gs_text *text, const struct gs_tensor *tensor, int precision);

#endif
