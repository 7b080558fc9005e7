/* tests/xla_case.c - one case of the XLA corpus: its program and what XLA did with it. */
#include <config.h>

#include "tests/xla_case.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/differential/compare.h"

static char *read_text(const char *path, size_t *length)
{
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return NULL;
  char *text = NULL;
  size_t size = 0, got = 1;
  while (got > 0) {
    char *more = realloc(text, size + 4097);
    if (more == NULL)
      break;
    text = more;
    got = fread(text + size, 1, 4096, file);
    size += got;
    text[size] = '\0';
  }
  fclose(file);
  *length = size;
  return text;
}

/* "dir/GROUP/NAME.gsl" taken apart. */
static bool split_path(struct xla_case *c, const char *path)
{
  const char *name = strrchr(path, '/');
  if (name == NULL)
    return false;
  const char *group = name;
  while (group > path && group[-1] != '/')
    group--;
  size_t length = strlen(name + 1);
  if (length < 5 || length - 4 >= sizeof c->name || (size_t)(name - group) >= sizeof c->group)
    return false;
  memcpy(c->group, group, (size_t)(name - group));
  memcpy(c->name, name + 1, length - 4);
  return true;
}

const char *xla_case_read(struct xla_case *c, const char *path)
{
  memset(c, 0, sizeof *c);
  char json_path[4096];
  size_t length = strlen(path);
  if (!split_path(c, path) || length + 2 > sizeof json_path)
    return "not a path of a case";
  memcpy(json_path, path, length - 3);
  memcpy(json_path + length - 3, "json", 5);
  c->program = read_text(path, &c->length);
  c->root = json_load_file(json_path, 0, NULL);
  c->outputs = json_object_get(c->root, "outputs");
  if (c->program == NULL || !json_is_array(c->outputs) || json_array_size(c->outputs) > XLA_OUTPUTS)
    return "the program or its .json cannot be read";
  c->noutputs = (int)json_array_size(c->outputs);
  for (int i = 0; i < c->noutputs; i++) {
    c->names[i] = json_string_value(json_object_get(json_array_get(c->outputs, (size_t)i), "name"));
    if (c->names[i] == NULL)
      return "an output has no name";
  }
  return NULL;
}

void xla_case_free(struct xla_case *c)
{
  free(c->program);
  json_decref(c->root);
  memset(c, 0, sizeof *c);
}

/* Shardy's fields are the case's own, those of the older partitioner in a member. */
static const json_t *partitioner(const struct xla_case *c, int which)
{
  return which == 0 ? c->root : json_object_get(c->root, "gspmd");
}

static double number(const json_t *object, const char *key)
{
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : -1;
}

static const json_t *output_dims(const json_t *fields, int output)
{
  const json_t *o = json_array_get(json_object_get(fields, "outputs"), (size_t)output);
  const json_t *sharding = json_object_get(o, "sharding");
  return json_object_get(sharding != NULL ? sharding : o, "dims");
}

static int64_t axis_size(const struct xla_case *c, const char *name)
{
  const json_t *axes = json_object_get(json_object_get(c->root, "mesh"), "axes");
  for (size_t i = 0; i < json_array_size(axes); i++) {
    const json_t *axis = json_array_get(axes, i);
    if (strcmp(json_string_value(json_array_get(axis, 0)), name) == 0)
      return json_integer_value(json_array_get(axis, 1));
  }
  return 1;
}

/* Whether XLA's axes of a dim start ours; *ALL: they are all of ours. */
static bool axes_start(const struct xla_case *c, const json_t *axes, const struct gs_sharding *s,
                       int dim, bool *all)
{
  int at = 0;
  *all = false;
  for (size_t i = 0; i < json_array_size(axes); i++) {
    const char *name = json_string_value(json_array_get(axes, i));
    if (axis_size(c, name) == 1)
      continue;
    if (at == s->dims[dim].naxes)
      return false;
    struct gs_axis axis = s->dims[dim].axes[at++];
    if (axis.pre != 1 || axis.size != s->mesh->axes[axis.axis].size ||
        strcmp(s->mesh->axes[axis.axis].name, name) != 0)
      return false;
  }
  *all = at == s->dims[dim].naxes;
  return true;
}

static enum xla_relation compare_output(const struct xla_case *c, const json_t *dims,
                                        const struct gs_sharding *ours)
{
  enum xla_relation relation = XLA_EQUAL;
  if (!json_is_array(dims) ||
      (json_array_size(dims) != (size_t)ours->rank && json_array_size(dims) > 0))
    return XLA_DIFFERENT;
  for (int i = 0; i < ours->rank; i++) {
    bool all;
    if (!axes_start(c, json_array_get(dims, (size_t)i), ours, i, &all))
      return XLA_DIFFERENT;
    if (!all)
      relation = XLA_FINER;
  }
  return relation;
}

enum xla_relation xla_compare_shardings(const struct xla_case *c,
                                        const struct gs_sharding *const *ours, double *bytes)
{
  enum xla_relation nearest = XLA_NONE;
  *bytes = -1;
  for (int which = 0; which < 2; which++) {
    const json_t *fields = partitioner(c, which);
    enum xla_relation relation = XLA_EQUAL;
    if (number(fields, "total_bytes") < 0)
      continue;
    for (int i = 0; i < c->noutputs; i++) {
      enum xla_relation one = compare_output(c, output_dims(fields, i), ours[i]);
      relation = one > relation ? one : relation;
    }
    double sends = number(fields, relation == XLA_FINER ? "total_bytes_before_outputs"
                                                        : "total_bytes");
    if (relation < nearest || (relation == nearest && sends < *bytes))
      *bytes = sends;
    nearest = relation < nearest ? relation : nearest;
  }
  return nearest;
}

void xla_print_sharding(const struct xla_case *c, int output, char *text, size_t size)
{
  const json_t *dims = output_dims(c->root, output);
  size_t length = (size_t)snprintf(text, size, "[");
  for (size_t i = 0; i < json_array_size(dims) && length < size; i++) {
    const json_t *axes = json_array_get(dims, i);
    size_t naxes = json_array_size(axes);
    length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "",
                               naxes > 1 ? "[" : naxes == 0 ? "-" : "");
    for (size_t j = 0; j < naxes && length < size; j++)
      length += (size_t)snprintf(text + length, size - length, "%s%s", j > 0 ? ", " : "",
                                 json_string_value(json_array_get(axes, j)));
    if (naxes > 1 && length < size)
      length += (size_t)snprintf(text + length, size - length, "]");
  }
  if (length < size)
    snprintf(text + length, size - length, "]");
}

double xla_tolerance(const struct xla_case *c, enum gs_dtype dtype, double largest)
{
  /* values of 16 bits take part */
  const char *reference = json_string_value(json_object_get(c->root, "reference"));
  bool coarse = reference != NULL && strstr(reference, "declared types") != NULL;
  switch (gs_dtype_kind(dtype)) {
  case GS_KIND_FLOAT:
  case GS_KIND_COMPLEX:
    return (coarse || gs_dtype_size(dtype) == 2 ? 3e-2 : 2e-5) * (1 + largest);
  case GS_KIND_SIGNED:
  case GS_KIND_UNSIGNED:
  case GS_KIND_PRED:
    break;
  }
  return 0;
}

static double recorded(const json_t *value)
{
  if (json_is_string(value))
    return strtod(json_string_value(value), NULL);
  return json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
}

static bool near(double want, double got, double tolerance)
{
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got);
  return want == got || fabs(want - got) <= tolerance;
}

static double largest_element(const struct gs_tensor *value)
{
  double largest = 0;
  int64_t elements = gs_type_elements(&value->type);
  for (int64_t i = 0; i < elements; i++) {
    double size = fabs(gs_element_get(value->type.dtype, value->data, i));
    if (isfinite(size) && size > largest)
      largest = size;
  }
  return largest;
}

static bool type_matches(const json_t *output, const struct gs_type *type)
{
  const json_t *shape = json_object_get(output, "shape");
  const char *dtype = json_string_value(json_object_get(output, "dtype"));
  if (json_array_size(shape) != (size_t)type->rank || dtype == NULL ||
      strcmp(dtype, gs_dtype_name(type->dtype)) != 0)
    return false;
  for (int i = 0; i < type->rank; i++)
    if (json_integer_value(json_array_get(shape, (size_t)i)) != type->dims[i])
      return false;
  return true;
}

/* The sums find what the recorded elements leave out; errors of rounding grow as the root. */
static bool compare_sums(const json_t *output, const struct gs_tensor *value, double tolerance,
                         char *text, size_t size)
{
  double sum = 0, abs_sum = 0;
  int64_t elements = gs_type_elements(&value->type);
  for (int64_t i = 0; i < elements; i++) {
    double element = gs_element_get(value->type.dtype, value->data, i);
    sum += element;
    abs_sum += fabs(element);
  }
  double want = recorded(json_object_get(output, "sum"));
  double want_abs = recorded(json_object_get(output, "abs_sum"));
  double slack = 4 * tolerance * sqrt((double)elements) + 1e-9 * fabs(want_abs);
  if (near(want, sum, slack) && near(want_abs, abs_sum, slack))
    return true;
  snprintf(text, size, "sum %.9g, not %.9g; of sizes %.9g, not %.9g", sum, want, abs_sum, want_abs);
  return false;
}

bool xla_compare_values(const struct xla_case *c, int output, const struct gs_tensor *value,
                        char *text, size_t size)
{
  const json_t *recorded_output = json_array_get(c->outputs, (size_t)output);
  const json_t *values = json_object_get(recorded_output, "values");
  const json_t *indices = json_object_get(values, "indices"), *at = json_object_get(values, "at");
  char type[GS_TYPE_TEXT], index[100];
  if (!type_matches(recorded_output, &value->type)) {
    snprintf(text, size, "type %s", gs_type_format(&value->type, type));
    return false;
  }
  double tolerance = xla_tolerance(c, value->type.dtype, largest_element(value));
  int64_t start = json_integer_value(json_object_get(indices, "start"));
  int64_t step = json_integer_value(json_object_get(indices, "step"));
  int64_t elements = gs_type_elements(&value->type);
  for (size_t i = 0; i < json_array_size(at); i++) {
    int64_t position = start + (int64_t)i * step;
    double want = recorded(json_array_get(at, i));
    double got = position < elements ? gs_element_get(value->type.dtype, value->data, position) : 0;
    if (position < elements && near(want, got, tolerance))
      continue;
    compare_index(&value->type, position, index, sizeof index);
    snprintf(text, size, "%s is %.9g, not %.9g", index, got, want);
    return false;
  }
  return compare_sums(recorded_output, value, tolerance, text, size);
}

/* NAME stands in the program as "fn NAME(" or "NAME =". */
static bool program_defines(const char *program, const char *name, size_t length)
{
  for (const char *at = strstr(program, name); at != NULL; at = strstr(at + 1, name)) {
    bool starts = at == program || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
    const char *after = at + length;
    bool ends = !(isalnum((unsigned char)*after) || *after == '_');
    if (!starts || !ends)
      continue;
    if (at - program >= 3 && memcmp(at - 3, "fn ", 3) == 0)
      return true;
    after += strspn(after, " ");
    if (after[0] == '=' && after[1] != '=')
      return true;
  }
  return false;
}

bool xla_missing_function(const struct xla_case *c, bool (*known)(void *user, const char *name),
                          void *user, char *name, size_t size)
{
  static const char *const keywords[] = { "fn", "for", "in", "if", "else", "while", "return",
                                          "and", "or", "not" };
  for (const char *at = c->program; *at != '\0';) {
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
      length++;
    bool call = length > 0 && at[length] == '(' && !isdigit((unsigned char)at[0]);
    if (call && length < size) {
      bool keyword = false;
      memcpy(name, at, length);
      name[length] = '\0';
      for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        keyword = keyword || strcmp(keywords[i], name) == 0;
      if (!keyword && !program_defines(c->program, name, length) && !known(user, name))
        return true;
    }
    at += length > 0 ? length : 1;
    if (*at == '#')
      at += strcspn(at, "\n");
  }
  return false;
}
