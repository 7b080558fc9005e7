/* lang/tensor_print.c - a tensor's values for people: nested brackets, aligned columns, the middle
 * of long dims left out.
 */
#include <config.h>

#include "lang/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SHOWN_WHOLE = 1000,                  /* more elements than this are elided */
  EDGE = 3,                            /* elements kept at each end of an elided dim, at most */
  CELL = 128,                          /* bytes of one element's text */
  LINE_WIDTH = 78
};

/* How floats are written: as many decimals as some value needs, or all in scientific notation. */
struct number_format {
  bool scientific;
  int decimals;
};

struct printer {
  struct gs_text *text;
  const struct gs_tensor *tensor;
  int precision;
  int64_t edge;                        /* elements kept at each end of a dim */
  struct number_format format;
  int width;
  int64_t strides[GS_MAX_RANK];
};

typedef void visit_function(struct printer *p, int64_t index, void *state);

/* Whether position I of a dim of SIZE is left out. */
static bool is_left_out(const struct printer *p, int64_t size, int64_t i)
{
  return i >= p->edge && i < size - p->edge;
}

/* How many elements are shown. */
static int64_t count_shown(const struct printer *p)
{
  int64_t count = 1;
  for (int i = 0; i < p->tensor->type.rank; i++) {
    int64_t size = p->tensor->type.dims[i];
    count *= size - p->edge > p->edge ? 2 * p->edge : size;
  }
  return count;
}

/* Call VISIT for every element that is shown, in order. */
static void visit_shown(struct printer *p, int dim, int64_t offset, visit_function *visit,
                        void *state)
{
  const struct gs_type *type = &p->tensor->type;
  if (dim == type->rank) {
    visit(p, offset, state);
    return;
  }
  for (int64_t i = 0; i < type->dims[dim]; i++) {
    if (is_left_out(p, type->dims[dim], i))
      i = type->dims[dim] - p->edge;
    visit_shown(p, dim + 1, offset + i * p->strides[dim], visit, state);
  }
}

/* A float with P's precision and no needless zeros: "0.25", "1e-05", "3", "nan". */
static int shortest_float(char *to, double value, int precision)
{
  return snprintf(to, CELL, "%.*g", precision, value);
}

/* What the values ask of the common format. */
struct float_range {
  double largest, smallest;            /* of the magnitudes that are not 0 */
  int decimals;                        /* digits after the point that some value needs */
};

static void measure_float(struct printer *p, int64_t index, void *state)
{
  struct float_range *range = state;
  enum gs_dtype dtype = p->tensor->type.dtype;
  double parts[2] = {
    gs_element_get(dtype, p->tensor->data, index),
    gs_element_get_imag(dtype, p->tensor->data, index)
  };
  for (int i = 0; i < 2; i++) {
    double magnitude = fabs(parts[i]);
    if (!isfinite(magnitude) || magnitude == 0)
      continue;
    range->largest = fmax(range->largest, magnitude);
    range->smallest = fmin(range->smallest, magnitude);
    /* digits needed after the point: those of the value's own shortest text */
    char text[CELL];
    snprintf(text, sizeof text, "%.*e", p->precision - 1, magnitude);
    char *exponent = strchr(text, 'e');
    int digits = (int)(exponent - text);
    while (digits > 1 && text[digits - 1] == '0')
      digits--;
    int significant = digits > 2 ? digits - 1 : 1;
    int after = significant - 1 - (int)strtol(exponent + 1, NULL, 10);
    if (after > range->decimals)
      range->decimals = after;
  }
}

/* One format for all values, so that columns line up and no digits are lost. */
static struct number_format choose_format(struct printer *p)
{
  struct float_range range = { .smallest = INFINITY };
  visit_shown(p, 0, 0, measure_float, &range);
  bool wide = range.largest >= 1e8 || (range.smallest < 1e-4 && range.largest > 0)
              || range.largest / range.smallest > 1e6;
  struct number_format format = { .scientific = range.largest > 0 && wide };
  /* decimals that still are within the precision of the largest value */
  int before = range.largest >= 1 ? (int)floor(log10(range.largest)) + 1 : 0;
  int most = p->precision - before;
  format.decimals = range.decimals < most ? range.decimals : most;
  if (format.decimals < 0)
    format.decimals = 0;
  if (format.scientific)
    format.decimals = p->precision - 1;
  return format;
}

static int format_float(const struct printer *p, char *to, double value)
{
  if (!isfinite(value))
    return snprintf(to, CELL, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
  if (p->format.scientific)
    return snprintf(to, CELL, "%.*e", p->format.decimals, value);
  return snprintf(to, CELL, "%.*f", p->format.decimals, value);
}

/* One element as text into TO, of CELL bytes.  Returns its length. */
static int format_element(const struct printer *p, char *to, int64_t index)
{
  enum gs_dtype dtype = p->tensor->type.dtype;
  const void *data = p->tensor->data;
  switch (gs_dtype_kind(dtype)) {
  case GS_KIND_PRED:
    return snprintf(to, CELL, "%s", gs_element_get_int(dtype, data, index) != 0 ? "true" : "false");
  case GS_KIND_SIGNED:
    return snprintf(to, CELL, "%" PRId64, gs_element_get_int(dtype, data, index));
  case GS_KIND_UNSIGNED:
    return snprintf(to, CELL, "%" PRIu64, (uint64_t)gs_element_get_int(dtype, data, index));
  case GS_KIND_FLOAT:
    return format_float(p, to, gs_element_get(dtype, data, index));
  case GS_KIND_COMPLEX: {
    int length = format_float(p, to, gs_element_get(dtype, data, index));
    double imag = gs_element_get_imag(dtype, data, index);
    char part[CELL];
    format_float(p, part, fabs(imag));
    return length + snprintf(to + length, (size_t)(CELL - length), "%c%.40si",
                             signbit(imag) ? '-' : '+', part);
  }
  }
  return 0;
}

static void measure_width(struct printer *p, int64_t index, void *state)
{
  (void)state;
  char cell[CELL];
  int length = format_element(p, cell, index);
  if (length > p->width)
    p->width = length;
}

/* The elements of the last dim from OFFSET, wrapped at the line's width. */
static void print_row(struct printer *p, int64_t offset)
{
  int last = p->tensor->type.rank - 1, column = last + 1;
  int64_t size = p->tensor->type.dims[last];
  gs_text_add(p->text, "[");
  for (int64_t i = 0; i < size; i++) {
    if (i > 0) {
      gs_text_add(p->text, ",");
      bool full = column + 2 + p->width + 2 > LINE_WIDTH;
      if (full)
        gs_text_printf(p->text, "\n%*s", last + 1, "");
      else
        gs_text_add(p->text, " ");
      column = full ? last + 1 : column + 2;
    }
    if (is_left_out(p, size, i)) {
      gs_text_add(p->text, "...");
      column += 3;
      i = size - p->edge - 1;
      continue;
    }
    char cell[CELL];
    format_element(p, cell, offset + i);
    gs_text_printf(p->text, "%*s", p->width, cell);
    column += p->width;
  }
  gs_text_add(p->text, "]");
}

static void print_block(struct printer *p, int dim, int64_t offset)
{
  const struct gs_type *type = &p->tensor->type;
  if (dim == type->rank - 1) {
    print_row(p, offset);
    return;
  }
  gs_text_add(p->text, "[");
  for (int64_t i = 0; i < type->dims[dim]; i++) {
    if (i > 0) {                       /* a blank line between blocks of two dims and more */
      gs_text_add(p->text, ",\n");
      for (int blank = dim + 2; blank < type->rank; blank++)
        gs_text_add(p->text, "\n");
      gs_text_printf(p->text, "%*s", dim + 1, "");
    }
    if (is_left_out(p, type->dims[dim], i)) {
      gs_text_add(p->text, "...");
      i = type->dims[dim] - p->edge - 1;
      continue;
    }
    print_block(p, dim + 1, offset + i * p->strides[dim]);
  }
  gs_text_add(p->text, "]");
}

void gs_tensor_print(struct gs_text *text, const struct gs_tensor *tensor, int precision)
{
  struct printer p = {
    .text = text, .tensor = tensor, .precision = precision < 1 ? 1 : precision > 17 ? 17 : precision
  };
  const struct gs_type *type = &tensor->type;
  if (gs_type_elements(type) == 0) {
    gs_text_add(text, "[]");
    return;
  }
  p.edge = gs_type_elements(type) > SHOWN_WHOLE ? EDGE : INT64_MAX / 2;
  while (p.edge <= EDGE && p.edge > 1 && count_shown(&p) > SHOWN_WHOLE)
    p.edge--;
  gs_type_strides(type, p.strides);
  enum gs_dtype_kind kind = gs_dtype_kind(type->dtype);
  if (type->rank == 0 && kind == GS_KIND_FLOAT) {
    char cell[CELL];
    shortest_float(cell, gs_element_get(type->dtype, tensor->data, 0), p.precision);
    gs_text_add(text, cell);
    return;
  }
  if (kind == GS_KIND_FLOAT || kind == GS_KIND_COMPLEX)
    p.format = choose_format(&p);
  visit_shown(&p, 0, 0, measure_width, NULL);
  if (type->rank == 0) {
    char cell[CELL];
    format_element(&p, cell, 0);
    gs_text_add(text, cell);
    return;
  }
  print_block(&p, 0, 0);
}
