/* tests/differential/check.c - build, plan, verify, run and compare one recipe. */
#include <config.h>

#include "tests/differential/check.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "backends/reference/reference.h"
#include "partition/print.h"
#include "tests/differential/bounds.h"
#include "tests/differential/compare.h"
#include "tests/differential/simulate.h"

struct checking {
  const struct recipe *recipe;
  struct recipe_built built;
  struct gs_diagnostics diagnostics;
  char reported[200];                  /* the first error */
  struct gs_host host;
  struct gs_tensor *wanted[RECIPE_OUTPUTS];
  struct bounds bounds[RECIPE_NODES];
  const struct check_options *options;
  FILE *trace;
  struct result *result;
};

static void collect(void *user, const struct gs_diagnostic *diagnostic)
{
  struct checking *c = user;
  if (diagnostic->severity == GS_ERROR && c->reported[0] == '\0')
    snprintf(c->reported, sizeof c->reported, "%s", diagnostic->message);
}

__attribute__((format(printf, 3, 4)))
static bool fail(struct checking *c, enum outcome outcome, const char *format, ...)
{
  struct result *r = c->result;
  va_list args;
  va_start(args, format);
  int length = vsnprintf(r->message, sizeof r->message, format, args);
  va_end(args);
  r->outcome = outcome;
  if (c->reported[0] != '\0' && length >= 0 && (size_t)length < sizeof r->message)
    snprintf(r->message + length, sizeof r->message - (size_t)length, ": %s", c->reported);
  return false;
}

/* What the bounds say must hold of the reference's values: a test of both. */
static bool plausible(struct checking *c, int output)
{
  const struct gs_tensor *t = c->wanted[output];
  const struct bounds *b = &c->bounds[c->recipe->outputs[output]];
  double rounding = gs_dtype_size(t->type.dtype) == 2 ? 1e-2 : 1e-6;
  double slack = b->error + rounding * (1 + fabs(b->low) + fabs(b->high));
  int64_t elements = gs_type_elements(&t->type);
  for (int64_t i = 0; i < elements; i++) {
    double value = gs_element_get(t->type.dtype, t->data, i);
    if (b->wild || (value >= b->low - slack && value <= b->high + slack))
      continue;
    char index[100];
    compare_index(&t->type, i, index, sizeof index);
    return fail(c, OUTCOME_REFERENCE, "reference: out%d%s is %.9g, outside [%.9g, %.9g]", output,
                index, value, b->low, b->high);
  }
  return true;
}

static bool evaluate(struct checking *c)
{
  const struct recipe *r = c->recipe;
  enum gs_status status = gs_reference_evaluate(&c->host, &c->built.graph, c->built.outputs,
                                                r->noutputs, NULL, 0, c->wanted);
  if (status != GS_OK)
    return fail(c, OUTCOME_REFERENCE, "the reference evaluator failed");
  for (int i = 0; i < r->noutputs; i++)
    if (!plausible(c, i))
      return false;
  return true;
}

static void trace_plan(struct checking *c, const struct gs_plan *plan, const char *title)
{
  if (c->trace == NULL)
    return;
  struct gs_text text = { .arena = c->built.arena };
  struct gs_print_options options = { .format = GS_FORMAT_TEXT, .width = 110, .device = -1 };
  gs_print_plan(&text, plan, &options);
  fprintf(c->trace, "--- %s\n%s", title, gs_text_string(&text));
}

static void trace_values(struct checking *c, const char *title, const struct gs_tensor *tensor)
{
  if (c->trace == NULL)
    return;
  struct gs_text text = { .arena = c->built.arena };
  gs_tensor_print(&text, tensor, 6);
  fprintf(c->trace, "%s = %s\n", title, gs_text_string(&text));
}

static bool compare_outputs(struct checking *c, struct gs_tensor **got, const char *title)
{
  for (int i = 0; i < c->recipe->noutputs; i++) {
    char difference[200];
    const struct bounds *b = &c->bounds[c->recipe->outputs[i]];
    double tolerance = b->error > 0 ? 3 * b->error : 0;
    if (compare_tensors(c->wanted[i], got[i], tolerance, difference, sizeof difference))
      continue;
    trace_values(c, "reference", c->wanted[i]);
    trace_values(c, "partitioned", got[i]);
    return fail(c, OUTCOME_DIFFERENT, "%s: out%d%s", title, i, difference);
  }
  return true;
}

static bool run_simulated(struct checking *c, const struct gs_plan *plan, const char *title,
                          struct gs_tensor **got)
{
  char wrong[200];
  return simulate_plan(plan, got, wrong, sizeof wrong) ||
         fail(c, OUTCOME_DIFFERENT, "%s: simulated: %s", title, wrong);
}

static bool run_backend(struct checking *c, const struct gs_plan *plan, const char *title,
                        struct gs_tensor **got)
{
  struct gs_executable *executable = gs_backend_cpu.compile(&c->host, plan);
  if (executable == NULL)
    return fail(c, OUTCOME_UNCOMPILED, "%s: the backend did not compile the plan", title);
  bool good = gs_backend_cpu.run(executable, NULL, 0, got) == GS_OK ||
              fail(c, OUTCOME_UNRUN, "%s: the backend failed", title);
  gs_backend_cpu.release(executable);
  return good;
}

static bool run_plan(struct checking *c, const struct gs_plan *plan, const char *title,
                     bool simulate)
{
  struct gs_tensor *got[RECIPE_OUTPUTS] = { NULL };
  bool good = (simulate ? run_simulated : run_backend)(c, plan, title, got) &&
              compare_outputs(c, got, title);
  for (int i = 0; i < c->recipe->noutputs; i++)
    gs_tensor_unref(got[i]);
  return good;
}

/* Add to a failure of the backend whether the plan is wrong already. */
static void blame(struct checking *c, const struct gs_plan *plan)
{
  struct result *said = c->result, again = { .outcome = OUTCOME_PASSED };
  FILE *trace = c->trace;
  c->result = &again;
  c->trace = NULL;
  const char *culprit = run_plan(c, plan, "", true) ? "the plan is right, the backend is wrong"
                                                    : "the plan is wrong";
  c->result = said;
  c->trace = trace;
  size_t length = strlen(said->message);
  snprintf(said->message + length, sizeof said->message - length, "; %s", culprit);
}

/* An output that is annotated, every dim closed, on the only mesh, keeps that very sharding. */
static bool keeps_annotations(struct checking *c, const struct gs_plan *plan, const char *title)
{
  const struct recipe *r = c->recipe;
  for (int i = 0; i < r->noutputs; i++) {
    const struct recipe_node *n = &r->nodes[r->outputs[i]];
    bool open = false;
    for (int j = 0; j < n->type.rank; j++)
      open = open || n->dims[j].open;
    if (n->op != GS_OP_SHARD || open || r->nmeshes > 1)
      continue;
    struct gs_text want = { .arena = c->built.arena }, got = want;
    gs_sharding_print(&want, c->built.outputs[i]->attrs->shard.annotation);
    gs_sharding_print(&got, plan->program->steps[plan->program->outputs[i].step].sharding);
    if (strcmp(gs_text_string(&want), gs_text_string(&got)) != 0)
      return fail(c, OUTCOME_SHARDING, "%s: out%d is sharded %s, not %s", title, i,
                  gs_text_string(&got), gs_text_string(&want));
  }
  return true;
}

/* The objective of a plan without a profile [PARTITIONING.md 10]. */
static double objective(struct checking *c, const struct gs_plan *plan)
{
  struct gs_program_totals totals;
  gs_program_total(c->built.arena, plan->program, &totals);
  return totals.bytes + totals.flops / 1000;
}

static bool check_plan(struct checking *c, const struct gs_partition_options *options,
                       const char *title, double *cost)
{
  const struct recipe *r = c->recipe;
  struct gs_plan *plan = gs_partition(c->built.arena, &c->built.graph, c->built.meshes[0],
                                      c->built.outputs, c->built.names, r->noutputs, options);
  if (plan == NULL)
    return fail(c, OUTCOME_UNPLANNED, "%s: no plan", title);
  trace_plan(c, plan, title);
  const char *wrong = gs_program_verify(c->built.arena, plan->program);
  if (wrong != NULL)
    return fail(c, OUTCOME_INVALID, "%s: invalid program: %s", title, wrong);
  *cost = objective(c, plan);
  if (!keeps_annotations(c, plan, title))
    return false;
  bool good = run_plan(c, plan, title, c->options->simulate);
  if (!good && !c->options->simulate)
    blame(c, plan);
  return good;
}

void check_recipe(const struct recipe *r, const struct check_options *options,
                  struct result *result)
{
  static const struct {
    const char *title;
    struct gs_partition_options options;
  } ways[] = {
    { "plan", { .combine = 1 << 20 } },
    { "plan of the completed shardings", { .follow_completed = true } },
    { "plan with looped einsums", { .follow_completed = true, .looped = GS_LOOPED_ALWAYS, .combine = 64 } },
    { "plan with uneven completion", { .allow_uneven = true } },
  };
  struct checking c = {
    .recipe = r, .options = options, .trace = options->trace, .result = result
  };
  c.diagnostics = (struct gs_diagnostics){ .sink = collect, .user = &c };
  c.host = (struct gs_host){
    .diagnostics = &c.diagnostics, .nthreads = 1 + (int)(r->seed % 2), .poison_padding = true
  };
  *result = (struct result){ .outcome = OUTCOME_PASSED };
  const char *refused = recipe_build(r, &c.diagnostics, &c.built);
  double cost[4] = { 0 };
  bool good = refused == NULL;
  if (!good)
    fail(&c, OUTCOME_REFUSED, "%s", refused);
  else if (!bounds_compute(r, c.bounds))
    good = fail(&c, OUTCOME_REFUSED, "the recipe has no bounds");
  good = good && evaluate(&c);
  for (int i = 0; i < (r->seed % 4 == 0 ? 4 : 3) && good; i++)
    good = check_plan(&c, &ways[i].options, ways[i].title, &cost[i]);
  result->dearer = good && cost[0] > cost[1] * 1.0001 + 1;
  for (int i = 0; i < r->noutputs; i++)
    gs_tensor_unref(c.wanted[i]);
  recipe_release(&c.built);
}
