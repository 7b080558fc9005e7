/* interp/report.c - printing values, comparisons and times. */
#include <config.h>

#include "interp/report.h"

#include <math.h>
#include <string.h>

#include "interp/eval.h"
#include "partition/json.h"

enum { MAX_SOURCE_NAME = 24 };

struct gs_text gs_report_begin(struct gs_session *s)
{
  struct gs_arena *arena = gs_arena_new(&s->budget);
  return (struct gs_text){ .arena = arena != NULL ? arena : s->values };
}

static void free_text(struct gs_session *s, struct gs_text *text)
{
  if (text->arena != s->values)
    gs_arena_free(text->arena);
  text->arena = NULL;
}

bool gs_report_finish(struct gs_session *s, struct gs_text *text)
{
  bool ok = !gs_arena_failed(text->arena);
  if (ok)
    gs_session_write(s, gs_text_string(text));
  free_text(s, text);
  return ok || gs_session_out_of_memory(s, (struct gs_span){ 0 });
}

const char *gs_report_name(struct gs_session *s, const struct gs_ast *ast, struct gs_value value)
{
  if (ast != NULL && ast->kind == GS_AST_NAME)
    return ast->text;
  if (value.kind == GS_VALUE_TENSOR && value.node->name != NULL)
    return value.node->name;
  if (ast == NULL || ast->span.source == NULL || ast->span.end <= ast->span.begin ||
      ast->span.end - ast->span.begin > MAX_SOURCE_NAME)
    return "out";
  const char *source = ast->span.source->text + ast->span.begin;
  size_t length = ast->span.end - ast->span.begin;
  const char *name = gs_arena_string(s->values, source, length);
  return name == NULL || memchr(source, '\n', length) != NULL ? "out" : name;
}

static void element_json(struct gs_json *json, const struct gs_tensor *tensor, int64_t i)
{
  enum gs_dtype dtype = tensor->type.dtype;
  double number = gs_element_get(dtype, tensor->data, i);
  if (gs_dtype_kind(dtype) == GS_KIND_COMPLEX) {
    gs_json_open(json, '[');
    gs_json_number(json, number);
    gs_json_number(json, gs_element_get_imag(dtype, tensor->data, i));
    gs_json_close(json, ']');
  } else if (dtype == GS_DTYPE_PRED) {
    gs_json_bool(json, number != 0);
  } else if (gs_dtype_is_integer(dtype)) {
    gs_json_integer(json, gs_element_get_int(dtype, tensor->data, i));
  } else if (isfinite(number)) {
    gs_json_number(json, number);
  } else {
    gs_json_string(json, isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
  }
}

static void type_json(struct gs_json *json, const struct gs_type *type)
{
  gs_json_put_string(json, "dtype", gs_dtype_name(type->dtype));
  gs_json_key(json, "shape");
  gs_json_open(json, '[');
  for (int i = 0; i < type->rank; i++)
    gs_json_integer(json, type->dims[i]);
  gs_json_close(json, ']');
}

/* Begin an object whose first key, REPORT, names what it is about. */
static struct gs_json json_begin(struct gs_text *text, const char *report, const char *name)
{
  struct gs_json json = { .text = text };
  gs_json_open(&json, '{');
  gs_json_put_string(&json, report, name);
  return json;
}

static bool json_finish(struct gs_session *s, struct gs_text *text, struct gs_json *json)
{
  gs_json_close(json, '}');
  gs_text_add(text, "\n");
  return gs_report_finish(s, text);
}

void gs_report_elements(struct gs_session *s, struct gs_text *text, const struct gs_tensor *tensor)
{
  gs_tensor_print(text, tensor, (int)s->settings.precision);
}

bool gs_report_tensor(struct gs_session *s, const char *name, const struct gs_tensor *tensor)
{
  struct gs_text text = gs_report_begin(s);
  if (s->settings.format == GS_FORMAT_JSON) {
    struct gs_json json = json_begin(&text, "run", name);
    type_json(&json, &tensor->type);
    gs_json_key(&json, "values");
    gs_json_open(&json, '[');
    for (int64_t i = 0, n = gs_type_elements(&tensor->type); i < n; i++)
      element_json(&json, tensor, i);
    gs_json_close(&json, ']');
    return json_finish(s, &text, &json);
  }
  gs_text_printf(&text, "%s : ", name);
  gs_type_print(&text, &tensor->type);
  gs_text_add(&text, tensor->type.rank == 0 ? " = " : "\n");
  gs_report_elements(s, &text, tensor);
  if (text.length > 0 && text.data[text.length - 1] != '\n')
    gs_text_add(&text, "\n");
  return gs_report_finish(s, &text);
}

bool gs_report_line(struct gs_session *s, struct gs_text *text)
{
  if (s->settings.format != GS_FORMAT_JSON || text->length == 0)
    return gs_report_finish(s, text);
  struct gs_text line = gs_report_begin(s);
  text->data[--text->length] = '\0';
  struct gs_json json = json_begin(&line, "print", gs_text_string(text));
  free_text(s, text);
  return json_finish(s, &line, &json);
}

/* "y : f32[512,4096]  sharding [data, model]  per device f32[256,1024]" */
static bool report_node(struct gs_session *s, const struct gs_ast *ast, struct gs_value value)
{
  struct gs_node *node = value.node;
  const char *name = gs_report_name(s, ast, value);
  struct gs_outputs outputs = { &node, &name, 1, ast->span };
  struct gs_plan_entry *entry = s->mesh != NULL ? gs_plans_get(s, &outputs, false) : NULL;
  if (s->mesh != NULL && entry == NULL)
    return false;
  const struct gs_sharding *sharding =
      entry != NULL ? entry->plan->completion->shardings[node->id] : NULL;
  struct gs_text text = gs_report_begin(s);
  if (s->settings.format == GS_FORMAT_JSON) {
    struct gs_json json = json_begin(&text, "value", name);
    type_json(&json, &node->type);
    struct gs_text written = gs_session_text(s);
    if (sharding != NULL)
      gs_sharding_print_source(&written, sharding);
    gs_json_put_string(&json, "sharding", sharding != NULL ? gs_text_string(&written) : NULL);
    return json_finish(s, &text, &json);
  }
  gs_text_printf(&text, "%s : ", name);
  gs_type_print(&text, &node->type);
  if (sharding != NULL) {
    struct gs_type local = gs_sharding_local(sharding, &node->type);
    gs_text_add(&text, "  sharding ");
    gs_sharding_print(&text, sharding);
    gs_text_add(&text, "  per device ");
    gs_type_print(&text, &local);
  }
  gs_text_add(&text, "\n");
  return gs_report_finish(s, &text);
}

bool gs_report_value(struct gs_session *s, const struct gs_ast *ast, struct gs_value value)
{
  if (value.kind == GS_VALUE_NONE || value.kind == GS_VALUE_ABSENT)
    return true;
  if (value.kind == GS_VALUE_TENSOR)
    return report_node(s, ast, value);
  struct gs_text text = gs_report_begin(s);
  if (s->settings.format == GS_FORMAT_JSON) {
    struct gs_text written = gs_session_text(s);
    gs_value_print(&written, value, true);
    struct gs_json json = json_begin(&text, "value", gs_text_string(&written));
    return json_finish(s, &text, &json);
  }
  gs_value_print(&text, value, true);
  gs_text_add(&text, "\n");
  return gs_report_finish(s, &text);
}

/* "[3, 17]" */
static void index_print(struct gs_text *text, const struct gs_type *type, int64_t index)
{
  int64_t strides[GS_MAX_RANK];
  gs_type_strides(type, strides);
  gs_text_add(text, "[");
  for (int i = 0; i < type->rank; i++) {
    gs_text_printf(text, "%s%lld", i > 0 ? ", " : "", (long long)(index / strides[i]));
    index %= strides[i];
  }
  gs_text_add(text, "]");
}

bool gs_report_check(struct gs_session *s, const char *name, const struct gs_tensor *value,
                     const struct gs_tensor *reference, const struct gs_comparison *comparison)
{
  struct gs_text text = gs_report_begin(s);
  if (s->settings.format == GS_FORMAT_JSON) {
    struct gs_json json = json_begin(&text, "check", name);
    gs_json_key(&json, "equal");
    gs_json_bool(&json, comparison->equal);
    gs_json_put_number(&json, "max_abs_diff", comparison->largest);
    gs_json_put_number(&json, "max_rel_diff", comparison->relative);
    gs_json_key(&json, "first_wrong");
    if (comparison->wrong >= 0)
      gs_json_integer(&json, comparison->wrong);
    else
      gs_json_null(&json);
    return json_finish(s, &text, &json);
  }
  gs_text_printf(&text, "check %s: %s", name,
                 comparison->equal ? "equal to the unpartitioned result, " : "WRONG at ");
  if (!comparison->equal) {
    enum gs_dtype dtype = value->type.dtype;
    index_print(&text, &value->type, comparison->wrong);
    gs_text_printf(&text, ": %.9g instead of %.9g, ",
                   gs_element_get(dtype, value->data, comparison->wrong),
                   gs_element_get(dtype, reference->data, comparison->wrong));
  }
  gs_text_printf(&text, "largest difference %.2g", comparison->largest);
  if (comparison->largest != 0)
    gs_text_printf(&text, " (relative %.2g)", comparison->relative);
  gs_text_add(&text, "\n");
  return gs_report_finish(s, &text);
}

static void print_seconds(struct gs_text *text, double seconds)
{
  if (seconds >= 1)
    gs_text_printf(text, "%.3g s", seconds);
  else if (seconds >= 1e-3)
    gs_text_printf(text, "%.3g ms", seconds * 1e3);
  else
    gs_text_printf(text, "%.3g us", seconds * 1e6);
}

bool gs_report_time(struct gs_session *s, const char *name, const struct gs_timing *timing)
{
  struct gs_text text = gs_report_begin(s);
  if (s->settings.format == GS_FORMAT_JSON) {
    struct gs_json json = json_begin(&text, "time", name);
    gs_json_put_integer(&json, "runs", timing->runs);
    gs_json_put_number(&json, "median_s", timing->median);
    gs_json_put_number(&json, "fastest_s", timing->fastest);
    gs_json_put_number(&json, "compile_s", timing->compile);
    return json_finish(s, &text, &json);
  }
  gs_text_printf(&text, "time %s: ", name);
  print_seconds(&text, timing->median);
  gs_text_printf(&text, " a run (median of %d, fastest ", timing->runs);
  print_seconds(&text, timing->fastest);
  gs_text_add(&text, "), made ready in ");
  print_seconds(&text, timing->compile);
  gs_text_add(&text, "\n");
  return gs_report_finish(s, &text);
}

bool gs_report_cost(struct gs_session *s, const struct gs_plan_entry *entry)
{
  struct gs_program_totals totals;
  struct gs_text text = gs_report_begin(s);
  const char *name = entry->outputs.names[0];
  gs_program_total(text.arena, entry->plan->program, &totals);
  if (s->settings.format == GS_FORMAT_JSON) {
    struct gs_json json = json_begin(&text, "cost", name);
    gs_json_put_number(&json, "time_s", totals.time);
    gs_json_put_number(&json, "flops", totals.flops);
    gs_json_put_number(&json, "bytes", totals.bytes);
    gs_json_put_integer(&json, "peak_memory", totals.peak_memory);
    gs_json_put_number(&json, "padding_fraction", totals.padding);
    return json_finish(s, &text, &json);
  }
  const struct gs_mesh *mesh = entry->plan->mesh;
  gs_text_printf(&text, "cost %s: ", name);
  print_seconds(&text, totals.time);
  gs_text_printf(&text, " a run on %s devices (estimate): ",
                 mesh->profile != NULL ? mesh->profile : "generic");
  gs_print_count(&text, totals.flops);
  gs_text_add(&text, " FLOP, sends ");
  gs_print_bytes(&text, totals.bytes);
  gs_text_printf(&text, " in %d collective%s, peak memory ", totals.collectives,
                 totals.collectives == 1 ? "" : "s");
  gs_print_bytes(&text, (double)totals.peak_memory);
  gs_text_add(&text, " a device\n");
  return gs_report_finish(s, &text);
}
