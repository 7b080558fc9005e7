/* interp/functions_ask.c - plan, graph, explain, run, check, ...: what is asked about tensors. */
#include <config.h>

#include "interp/ask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interp/eval.h"
#include "interp/report.h"
#include "lang/npy.h"

/* Tensors among VALUE, which may be a list or tuple of them, put behind OUTPUTS. */
static bool collect(struct gs_session *s, struct gs_value value, const struct gs_argument *arg,
                    const char *name, struct gs_outputs *outputs, int *room)
{
  if (value.kind == GS_VALUE_TENSOR) {
    if (outputs->count == *room) {
      *room *= 2;
      struct gs_node **nodes = GS_NEW_ARRAY(s->values, struct gs_node *, *room);
      const char **names = GS_NEW_ARRAY(s->values, const char *, *room);
      if (nodes == NULL || names == NULL)
        return gs_session_out_of_memory(s, arg->span);
      size_t count = (size_t)outputs->count;
      memcpy(nodes, outputs->nodes, count * sizeof(struct gs_node *));
      memcpy(names, outputs->names, count * sizeof(const char *));
      outputs->nodes = nodes;
      outputs->names = names;
    }
    outputs->nodes[outputs->count] = value.node;
    outputs->names[outputs->count++] = name;
    return true;
  }
  if (!gs_value_is_sequence(value))
    return gs_session_fail(s, arg->span, "a tensor is wanted here, not %s",
                           gs_value_kind_name(value.kind));
  for (uint32_t i = 0; i < value.length; i++) {
    struct gs_value item = *gs_value_item(value, i);
    const char *item_name = item.kind == GS_VALUE_TENSOR && item.node->name != NULL
                                ? item.node->name
                                : gs_arena_printf(s->values, "%s[%u]", name, i);
    if (item_name == NULL)
      return gs_session_out_of_memory(s, arg->span);
    if (!collect(s, item, arg, item_name, outputs, room))
      return false;
  }
  return true;
}

bool gs_ask_outputs(struct gs_call *call, struct gs_outputs *outputs)
{
  struct gs_session *s = call->session;
  int room = call->nrest + 1;
  *outputs = (struct gs_outputs){ .nodes = GS_NEW_ARRAY(s->values, struct gs_node *, room),
                                  .names = GS_NEW_ARRAY(s->values, const char *, room),
                                  .span = call->span };
  if (outputs->nodes == NULL || outputs->names == NULL)
    return gs_session_out_of_memory(s, call->span);
  for (int i = 0; i < call->nrest; i++) {
    const struct gs_argument *arg = &call->rest[i];
    const char *name = gs_report_name(s, arg->ast, arg->value);
    if (!collect(s, arg->value, arg, name, outputs, &room))
      return false;
  }
  if (outputs->count > 0)
    return true;
  gs_session_fail(s, call->span, "%s of which tensor?", call->builtin->name);
  gs_hint(&s->diagnostics, "%s", call->builtin->usage);
  return false;
}

/* text json dot html, as a bare word, a string, or a variable that holds one. */
static bool format_of(struct gs_call *call, int i, enum gs_format *format)
{
  static const char *const names[] = {
    [GS_FORMAT_TEXT] = "text", [GS_FORMAT_JSON] = "json", [GS_FORMAT_DOT] = "dot",
    [GS_FORMAT_HTML] = "html",
  };
  enum { COUNT = sizeof names / sizeof names[0] };
  struct gs_session *s = call->session;
  struct gs_value value = call->args[i].value;
  if (value.kind == GS_VALUE_ABSENT)
    return true;
  const char *word = NULL;
  if (value.kind == GS_VALUE_QUOTED && value.ast->kind == GS_AST_NAME &&
      gs_scope_find(call->scope, value.ast->text) == NULL)
    word = value.ast->text;
  else if (value.kind == GS_VALUE_QUOTED && !gs_eval(s, call->scope, value.ast, &value))
    return false;
  if (word == NULL && value.kind == GS_VALUE_STRING)
    word = value.text;
  for (int k = 0; word != NULL && k < COUNT; k++)
    if (strcmp(names[k], word) == 0) {
      *format = (enum gs_format)k;
      return true;
    }
  gs_session_fail(s, call->args[i].span, "%s: format is text, json, dot or html",
                  call->builtin->name);
  return false;
}

typedef void print_function(struct gs_text *text, const struct gs_plan *plan,
                            const struct gs_print_options *options);

/* Print one view of ENTRY's plan, with its warnings. */
static bool print_view(struct gs_session *s, const struct gs_plan_entry *entry,
                       print_function *print, const struct gs_print_options *options)
{
  struct gs_text text = gs_report_begin(s);
  print(&text, entry->plan, options);
  bool json = options->format == GS_FORMAT_JSON;
  if (json && text.length > 0 && text.data[text.length - 1] != '\n')
    gs_text_add(&text, "\n");
  return gs_report_finish(s, &text);
}

/* plan, graph, explain, trace, show: the same but for the printer. */
static const struct view { const char *name; print_function *print; bool record; } views[] = {
  { "plan", gs_print_plan, false },       { "graph", gs_print_graph, false },
  { "explain", gs_print_explain, false }, { "trace", gs_print_trace, true },
  { "show", gs_print_show, false },
};

static const struct view *view_of(const struct gs_builtin *builtin)
{
  size_t i = 0;
  while (strcmp(views[i].name, builtin->name) != 0)
    i++;
  return &views[i];
}

static bool function_view(struct gs_call *call, struct gs_value *out)
{
  (void)out;
  struct gs_session *s = call->session;
  const struct view *view = view_of(call->builtin);
  struct gs_outputs outputs;
  struct gs_print_options options = gs_session_print_options(s);
  if (!gs_ask_outputs(call, &outputs) || !format_of(call, 1, &options.format))
    return false;
  struct gs_plan_entry *entry = gs_plans_get(s, &outputs, view->record);
  if (entry == NULL)
    return false;
  if (call->nparameters > 2 && gs_arg_given(call, 2)) {
    if (!gs_arg_int(call, 2, &options.device))
      return false;
    int64_t ndevices = entry->plan->mesh->ndevices;
    if (options.device < 0 || options.device >= ndevices)
      return gs_session_fail(s, call->args[2].span, "device %lld of a mesh with %lld",
                             (long long)options.device, (long long)ndevices);
  }
  if (view->print == gs_print_plan)
    gs_plans_shown(s, entry);
  return print_view(s, entry, view->print, &options);
}

bool gs_ask_plan(struct gs_session *s, const struct gs_outputs *outputs)
{
  struct gs_print_options options = gs_session_print_options(s);
  struct gs_plan_entry *entry = gs_plans_get(s, outputs, false);
  if (entry == NULL)
    return false;
  gs_plans_shown(s, entry);
  return print_view(s, entry, gs_print_plan, &options);
}

static bool function_cost(struct gs_call *call, struct gs_value *out)
{
  (void)out;
  struct gs_outputs outputs;
  if (!gs_ask_outputs(call, &outputs))
    return false;
  struct gs_plan_entry *entry = gs_plans_get(call->session, &outputs, false);
  return entry != NULL && gs_report_cost(call->session, entry);
}

static bool function_diff(struct gs_call *call, struct gs_value *out)
{
  (void)out;
  struct gs_session *s = call->session;
  if (s->shown[0] == NULL) {
    gs_session_fail(s, call->span, "diff compares the last two plans shown, and there %s",
                    s->shown[1] == NULL ? "is none yet" : "is only one yet");
    gs_hint(&s->diagnostics, ":plan y, then change an annotation (:shard x [...]), then :plan y");
    return false;
  }
  struct gs_print_options options = gs_session_print_options(s);
  struct gs_text text = gs_report_begin(s);
  gs_print_diff(&text, s->shown[0]->plan, s->shown[1]->plan, &options);
  return gs_report_finish(s, &text);
}

void gs_ask_release(struct gs_tensor **values, int count)
{
  for (int i = 0; values != NULL && i < count; i++)
    gs_tensor_unref(values[i]);
}

/* Room for the values of OUTPUTS. */
static struct gs_tensor **values_for(struct gs_session *s, const struct gs_outputs *outputs)
{
  struct gs_tensor **values = GS_NEW_ARRAY(s->values, struct gs_tensor *, outputs->count);
  if (values == NULL)
    gs_session_out_of_memory(s, outputs->span);
  return values;
}

struct gs_tensor **gs_ask_run(struct gs_session *s, const struct gs_outputs *outputs)
{
  struct gs_plan_entry *entry = gs_plans_get(s, outputs, false);
  struct gs_tensor **values = entry != NULL ? values_for(s, outputs) : NULL;
  return values != NULL && gs_plans_run(s, entry, values) ? values : NULL;
}

static struct gs_comparison compare_output(struct gs_session *s, const struct gs_plan_entry *entry, int i,
                                           const struct gs_tensor *value, const struct gs_tensor *reference)
{
  const struct gs_program *program = entry->plan->program;
  struct gs_arena_mark mark = gs_arena_mark(s->values);
  double tolerance = gs_tolerance(s->values, program, program->outputs[i].step);
  gs_arena_rewind(s->values, mark);
  return gs_compare(value, reference, tolerance);
}

bool gs_ask_check(struct gs_session *s, const struct gs_outputs *outputs)
{
  struct gs_plan_entry *entry = gs_plans_get(s, outputs, false);
  if (entry == NULL || s->settings.dry_run)
    return entry != NULL;
  struct gs_tensor **values = values_for(s, outputs), **references = values_for(s, outputs);
  if (values == NULL || references == NULL || !gs_plans_run(s, entry, values))
    return false;
  bool ok = gs_plans_reference(s, entry, references);
  for (int i = 0; ok && i < outputs->count; i++) {
    struct gs_comparison comparison = compare_output(s, entry, i, values[i], references[i]);
    s->failures += !comparison.equal;
    ok = gs_report_check(s, outputs->names[i], values[i], references[i], &comparison);
  }
  gs_ask_release(values, outputs->count);
  gs_ask_release(references, outputs->count);
  return ok;
}

static bool function_check(struct gs_call *call, struct gs_value *out)
{
  (void)out;
  struct gs_outputs outputs;
  return gs_ask_outputs(call, &outputs) && gs_ask_check(call->session, &outputs);
}

/* A computed tensor as a value to go on with: a scalar as a number, else a constant. */
static bool value_of(struct gs_call *call, struct gs_tensor *tensor, struct gs_value *out)
{
  struct gs_session *s = call->session;
  enum gs_dtype dtype = tensor->type.dtype;
  if (tensor->type.rank > 0 || gs_dtype_kind(dtype) == GS_KIND_COMPLEX)
    return gs_operate_node(s, gs_build_constant(&s->graph, call->span, tensor), out);
  if (dtype == GS_DTYPE_PRED)
    *out = gs_value_bool(gs_element_get(dtype, tensor->data, 0) != 0);
  else if (gs_dtype_is_integer(dtype))
    *out = gs_value_int(gs_element_get_int(dtype, tensor->data, 0));
  else
    *out = gs_value_float(gs_element_get(dtype, tensor->data, 0));
  return true;
}

/* As a statement run prints; inside an expression it gives the values. */
static bool function_run(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_outputs outputs;
  if (!gs_ask_outputs(call, &outputs))
    return false;
  if (s->settings.dry_run) {
    if (outputs.count == 1)
      *out = gs_value_tensor(outputs.nodes[0]);
    return gs_plans_get(s, &outputs, false) != NULL;
  }
  struct gs_tensor **values = gs_ask_run(s, &outputs);
  bool ok = values != NULL;
  if (ok && !call->statement && outputs.count > 1) {
    *out = gs_value_list(s->values, GS_VALUE_TUPLE, (size_t)outputs.count);
    ok = out->kind != GS_VALUE_ABSENT || gs_session_out_of_memory(s, call->span);
  }
  for (int i = 0; ok && i < outputs.count; i++) {
    if (call->statement)
      ok = gs_report_tensor(s, outputs.names[i], values[i]);
    else
      ok = value_of(call, values[i], outputs.count > 1 ? gs_value_item(*out, (size_t)i) : out);
  }
  gs_ask_release(values, outputs.count);
  return ok;
}

/* The tensors among the arguments of print are computed together. */
static bool run_printed(struct gs_call *call, struct gs_tensor ***values)
{
  struct gs_session *s = call->session;
  struct gs_outputs outputs = { .nodes = GS_NEW_ARRAY(s->values, struct gs_node *, call->nrest + 1),
                                .names = GS_NEW_ARRAY(s->values, const char *, call->nrest + 1),
                                .span = call->span };
  if (outputs.nodes == NULL || outputs.names == NULL)
    return gs_session_out_of_memory(s, call->span);
  for (int i = 0; i < call->nrest; i++) {
    const struct gs_argument *arg = &call->rest[i];
    if (arg->value.kind != GS_VALUE_TENSOR)
      continue;
    outputs.nodes[outputs.count] = arg->value.node;
    outputs.names[outputs.count++] = gs_report_name(s, arg->ast, arg->value);
  }
  if (outputs.count == 0)
    return true;
  if (s->settings.dry_run)
    return gs_plans_get(s, &outputs, false) != NULL;
  *values = gs_ask_run(s, &outputs);
  return *values != NULL;
}

static bool function_print(struct gs_call *call, struct gs_value *out)
{
  (void)out;
  struct gs_session *s = call->session;
  struct gs_tensor **values = NULL;
  if (!run_printed(call, &values))
    return false;
  struct gs_text text = gs_report_begin(s);
  int computed = 0;
  for (int i = 0; i < call->nrest; i++) {
    if (i > 0)
      gs_text_add(&text, " ");
    if (call->rest[i].value.kind == GS_VALUE_TENSOR && values != NULL)
      gs_report_elements(s, &text, values[computed++]);
    else
      gs_value_print(&text, call->rest[i].value, false);
  }
  gs_ask_release(values, computed);
  gs_text_add(&text, "\n");
  return gs_report_line(s, &text);
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare_times(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Enough runs for a steady median, but not more than about a second. */
static bool function_time(struct gs_call *call, struct gs_value *out)
{
  (void)out;
  enum { MAX_RUNS = 1001 };
  struct gs_session *s = call->session;
  struct gs_outputs outputs;
  struct gs_timing timing = { 0 };
  double times[MAX_RUNS], total = 0;
  int64_t wanted = 0;
  if (!gs_ask_outputs(call, &outputs) || (gs_arg_given(call, 1) && !gs_arg_int(call, 1, &wanted)))
    return false;
  struct gs_plan_entry *entry = gs_plans_get(s, &outputs, false);
  if (entry == NULL || s->settings.dry_run)
    return entry != NULL;
  double begin = now();
  struct gs_tensor **values = values_for(s, &outputs);
  if (values == NULL || !gs_plans_compile(s, entry))
    return false;
  timing.compile = now() - begin;
  int64_t most = wanted > 0 ? wanted : 101;
  double enough = wanted > 0 ? (double)INFINITY : 1;
  while (timing.runs < MAX_RUNS && timing.runs < most && (timing.runs < 3 || total < enough)) {
    begin = now();
    if (!gs_plans_run(s, entry, values))
      return false;
    times[timing.runs] = now() - begin;
    total += times[timing.runs++];
    gs_ask_release(values, outputs.count);
  }
  qsort(times, (size_t)timing.runs, sizeof *times, compare_times);
  timing.median = times[timing.runs / 2];
  timing.fastest = times[0];
  return gs_report_time(s, outputs.names[0], &timing);
}

bool gs_ask_save(struct gs_session *s, const struct gs_outputs *outputs, const char *const *paths)
{
  if (!gs_session_files_allowed(s, outputs->span))
    return false;
  if (s->settings.dry_run)
    return gs_plans_get(s, outputs, false) != NULL;
  struct gs_tensor **values = gs_ask_run(s, outputs);
  bool ok = values != NULL;
  for (int i = 0; ok && i < outputs->count; i++)
    ok = gs_npy_save(&s->diagnostics, outputs->span, paths[i], values[i]);
  gs_ask_release(values, outputs->count);
  return ok;
}

static bool function_save(struct gs_call *call, struct gs_value *out)
{
  (void)out;
  struct gs_session *s = call->session;
  struct gs_node *x;
  const char *path, *name;
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_string(call, 1, &path))
    return false;
  name = gs_report_name(s, call->args[0].ast, call->args[0].value);
  struct gs_outputs outputs = { &x, &name, 1, call->span };
  return gs_ask_save(s, &outputs, &path);
}

static bool function_assert(struct gs_call *call, struct gs_value *out)
{
  (void)out;
  struct gs_session *s = call->session;
  struct gs_value condition = call->args[0].value;
  const char *message = NULL;
  bool truth;
  if (gs_arg_given(call, 1) && !gs_arg_string(call, 1, &message))
    return false;
  if (condition.kind == GS_VALUE_TENSOR) {
    if (condition.node->type.rank > 0 || condition.node->type.dtype != GS_DTYPE_PRED) {
      gs_arg_wrong(call, 0, "a bool or a scalar of pred");
      gs_hint(&s->diagnostics, "all(p) and any(p) make one of many");
      return false;
    }
    const char *name = gs_report_name(s, call->args[0].ast, condition);
    struct gs_outputs outputs = { &condition.node, &name, 1, call->span };
    if (s->settings.dry_run)
      return gs_plans_get(s, &outputs, false) != NULL;
    struct gs_tensor **values = gs_ask_run(s, &outputs);
    if (values == NULL || !value_of(call, values[0], &condition))
      return false;
    gs_ask_release(values, 1);
  }
  if (!gs_eval_truth(s, call->args[0].span, condition, &truth))
    return false;
  if (truth)
    return true;
  s->failures++;
  s->failed_asserts++;
  return gs_session_fail(s, call->args[0].span, "assertion failed%s%s", message != NULL ? ": " : "",
                         message != NULL ? message : "");
}

#define ASK(name, parameters, function, usage, help) \
  { name, parameters, function, GS_OP_COUNT, GS_TOPIC_ASKING, usage, help }

const struct gs_builtin gs_builtins_ask[] = {
  ASK("plan", "tensors* 'format? device?", function_view, "plan(y, device=3, format=json)",
      "the program every device runs: steps, collectives, totals"),
  ASK("graph", "tensors* 'format?", function_view, "graph(y, format=dot)",
      "the logical graph with the completed shardings"),
  ASK("explain", "tensors* 'format?", function_view, "explain(y)",
      "why every dim has its sharding and why every collective is there"),
  ASK("trace", "tensors* 'format?", function_view, "trace(y)",
      "completion of the shardings step by step"),
  ASK("show", "tensors* 'format?", function_view, "show(x)", "which device holds which block"),
  ASK("cost", "tensors*", function_cost, "cost(y)",
      "an estimate of time, memory and communication"),
  ASK("diff", "", function_diff, "diff()", "the last two plans shown, side by side"),
  ASK("run", "tensors*", function_run, "run(y)  v = run(loss)",
      "execute and print the values; inside an expression: give them"),
  ASK("print", "values*", function_print, "print(\"loss\", loss)",
      "values of any kind on one line; tensors are executed"),
  ASK("time", "tensors* runs?", function_time, "time(y, runs=20)",
      "execute many times and measure"),
  ASK("check", "tensors*", function_check, "check(y)",
      "partitioned against unpartitioned values: the largest difference"),
  ASK("save", "x path", function_save, "save(y, \"y.npy\")", "execute and write the whole value"),
  ASK("assert", "condition message?", function_assert, "assert(len(xs) == 3, \"three\")",
      "stop the script (exit status 3) unless the condition holds"),
  { 0 },
};
