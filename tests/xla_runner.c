/* tests/xla_runner.c - the XLA corpus: values equal, shardings equal or finer, bytes no more.
 *
 *   xla_runner [--data tests/xla] [--exceptions tests/golden-exceptions] [--group NAME]
 *              [--case NAME] [--list] [--verbose] [--csv] [--tap]
 *
 * tests/xla/README.md says how a case is compared; of XLA's two partitioners those count that shard
 * the outputs as we do (or, if none does, coarser).  A case that calls a function of a later stage
 * (the list below) is skipped and its function counted; a case listed with a reason in the
 * exceptions may differ in the way the line says.
 */
#include <config.h>

#include "tests/xla_case.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/reference/reference.h"
#include "include/gspmd.h"
#include "partition/print.h"
#include "tests/corpus.h"
#include "tests/differential/compare.h"

/* Functions whose absence skips a case; that of any other fails it. */
static const char *const later[] = {
  "argsort", "avg_pool", "axis_index", "bits", "cholesky", "cond", "conv", "cummax", "cumprod",
  "cumsum", "dropout", "dynamic_slice", "dynamic_update", "fft", "gather", "grad", "ifft", "irfft",
  "loop", "manual", "max_pool", "normal", "one_hot", "pipeline", "pmean", "ppermute", "psum",
  "reduce_scatter", "reduce_window", "remat", "rfft", "scan", "scatter", "sort", "stop_gradient",
  "take", "top_k", "triangular_solve", "uniform", "value_and_grad", "while_loop"
};

enum { EXCEPTIONS = 200, MISSING = sizeof later / sizeof later[0] };

struct exception {
  char name[128], kind[16], reason[256];
};

struct runner {
  struct corpus_options options;
  struct exception exceptions[EXCEPTIONS];
  int nexceptions;
  int missing[MISSING];                /* cases skipped for want of later[i] */
};

/* One case under way. */
struct running {
  const struct runner *runner;
  const struct xla_case *c;
  struct gs_session *session;
  char title[130];
  char error[300];                     /* the first reported */
  struct corpus_report *report;
};

static void collect(void *user, const struct gs_diagnostic *diagnostic)
{
  struct running *r = user;
  if (diagnostic->severity == GS_ERROR && r->error[0] == '\0')
    snprintf(r->error, sizeof r->error, "%s", diagnostic->message);
}

struct search {
  const char *name;
  bool found;
};

static void match(void *user, const char *candidate)
{
  struct search *s = user;
  size_t length = strlen(s->name);     /* a function may be offered as "sum(" */
  bool starts = strncmp(candidate, s->name, length) == 0;
  if (starts && (candidate[length] == '\0' || candidate[length] == '('))
    s->found = true;
}

static bool known_function(void *user, const char *name)
{
  const struct running *r = user;
  struct search search = { .name = name };
  gs_session_complete(r->session, name, strlen(name), match, &search);
  return search.found;
}

/* The reason of an exception for this case and KIND of difference, or NULL. */
static const char *exception_reason(const struct running *r, const char *kind)
{
  for (int i = 0; i < r->runner->nexceptions; i++) {
    const struct exception *e = &r->runner->exceptions[i];
    if (strcmp(e->name, r->title) == 0 && strcmp(e->kind, kind) == 0)
      return e->reason;
  }
  return NULL;
}

/* A difference of KIND: a failure, unless it is listed. */
static void differ(struct running *r, const char *kind, const char *message)
{
  const char *reason = exception_reason(r, kind);
  corpus_fail(r->report, reason != NULL ? r->report->verdict : FAILED, "%s: %s%s%s", kind, message,
              reason != NULL ? "; listed: " : "", reason != NULL ? reason : "");
}

/* The outputs' shardings beside Shardy's. */
static const char *describe_shardings(const struct running *r, struct gs_arena *arena,
                                      const struct gs_sharding *const *ours)
{
  struct gs_text text = { .arena = arena };
  for (int i = 0; i < r->c->noutputs; i++) {
    char theirs[200];
    xla_print_sharding(r->c, i, theirs, sizeof theirs);
    gs_text_printf(&text, "%s%s is ", i > 0 ? ", " : "", r->c->names[i]);
    gs_sharding_print(&text, ours[i]);
    gs_text_printf(&text, ", XLA's %s", theirs);
  }
  return gs_text_string(&text);
}

static void compare_plan(struct running *r, const struct gs_plan *plan, struct gs_arena *arena)
{
  static const char *const relations[] = { "equal", "finer", "different", "none" };
  const struct gs_sharding *ours[XLA_OUTPUTS];
  for (int i = 0; i < r->c->noutputs; i++)
    ours[i] = plan->program->steps[plan->program->outputs[i].step].sharding;
  enum xla_relation relation = xla_compare_shardings(r->c, ours, &r->report->theirs);
  if (relation == XLA_DIFFERENT)
    differ(r, "sharding", describe_shardings(r, arena, ours));
  struct gs_program_totals totals;
  gs_program_total(arena, plan->program, &totals);
  r->report->relation = relations[relation];
  r->report->ours = totals.bytes;
  if (r->report->theirs >= 0 && totals.bytes > r->report->theirs + 0.5)
    differ(r, "bytes", gs_arena_printf(arena, "sends %.0f, XLA %.0f (shardings %s)", totals.bytes,
                                       r->report->theirs, relations[relation]));
}

static void print_plan(const struct gs_plan *plan, struct gs_arena *arena)
{
  struct gs_text text = { .arena = arena };
  struct gs_print_options options = { .format = GS_FORMAT_TEXT, .width = 110, .device = -1 };
  gs_print_plan(&text, plan, &options);
  fputs(gs_text_string(&text), stdout);
}

/* All elements against our own reference: the recorded ones are a sample. */
static void compare_with_reference(struct running *r, struct gs_tensor **values)
{
  struct gs_diagnostics diagnostics = { .sink = collect, .user = r };
  struct gs_host host = { .diagnostics = &diagnostics };
  struct gs_node *nodes[XLA_OUTPUTS];
  struct gs_tensor *wanted[XLA_OUTPUTS] = { NULL };
  for (int i = 0; i < r->c->noutputs; i++)
    nodes[i] = gs_session_tensor(r->session, r->c->names[i]);
  if (gs_reference_evaluate(&host, gs_session_graph(r->session), nodes, r->c->noutputs, NULL, 0,
                            wanted) != GS_OK) {
    corpus_fail(r->report, FAILED, "reference: %s", r->error);
    return;
  }
  for (int i = 0; i < r->c->noutputs; i++) {
    char difference[300];
    double largest = 0;
    int64_t elements = gs_type_elements(&wanted[i]->type);
    for (int64_t j = 0; j < elements; j++) {
      double size = fabs(gs_element_get(wanted[i]->type.dtype, wanted[i]->data, j));
      largest = isfinite(size) && size > largest ? size : largest;
    }
    if (!compare_tensors(wanted[i], values[i], xla_tolerance(r->c, wanted[i]->type.dtype, largest),
                         difference, sizeof difference))
      differ(r, "values", difference);
    gs_tensor_unref(wanted[i]);
  }
}

static void compare_values(struct running *r)
{
  struct gs_tensor *values[XLA_OUTPUTS] = { NULL };
  if (gs_session_run(r->session, r->c->names, r->c->noutputs, values) != GS_SESSION_OK) {
    corpus_fail(r->report, FAILED, "run: %s", r->error);
    return;
  }
  for (int i = 0; i < r->c->noutputs; i++) {
    char difference[300], text[400];
    if (xla_compare_values(r->c, i, values[i], difference, sizeof difference))
      continue;
    snprintf(text, sizeof text, "%s %s", r->c->names[i], difference);
    differ(r, "values", text);
  }
  compare_with_reference(r, values);
  for (int i = 0; i < r->c->noutputs; i++)
    gs_tensor_unref(values[i]);
}

/* None of the programs needs a value replicated in full. */
static void check_warnings(struct running *r, const struct gs_plan *plan, struct gs_arena *arena)
{
  struct gs_text text = { .arena = arena };
  struct gs_print_options options = { .format = GS_FORMAT_TEXT, .width = 200, .device = -1 };
  gs_print_warnings(&text, plan, &options);
  if (strstr(gs_text_string(&text), "full replication") != NULL)
    corpus_fail(r->report, FAILED, "%s", gs_text_string(&text));
}

static void run_program(struct running *r, struct runner *runner, struct gs_arena *arena)
{
  if (!gs_session_run_text(r->session, r->title, r->c->program, r->c->length)) {
    char missing[64];
    bool lacks = xla_missing_function(r->c, known_function, r, missing, sizeof missing);
    size_t at = 0;
    while (lacks && at < MISSING && strcmp(later[at], missing) != 0)
      at++;
    if (lacks && at < MISSING) {
      runner->missing[at]++;
      corpus_fail(r->report, SKIPPED, "no function %s", missing);
    } else {
      corpus_fail(r->report, FAILED, "%s%s%s", r->error, lacks ? "; no function " : "",
                  lacks ? missing : "");
    }
    return;
  }
  const struct gs_plan *plan = gs_session_plan(r->session, r->c->names, r->c->noutputs);
  if (plan == NULL) {
    corpus_fail(r->report, FAILED, "plan: %s", r->error);
    return;
  }
  if (runner->options.verbose)
    print_plan(plan, arena);
  const char *wrong = gs_program_verify(arena, plan->program);
  if (wrong != NULL)
    corpus_fail(r->report, FAILED, "invalid program: %s", wrong);
  compare_plan(r, plan, arena);
  check_warnings(r, plan, arena);
  compare_values(r);
}

static void run_case(struct runner *runner, const struct xla_case *c, struct corpus_report *report)
{
  struct running r = { .runner = runner, .c = c, .report = report };
  snprintf(r.title, sizeof r.title, "%s/%s", c->group, c->name);
  struct gs_session_options options = { .sink = collect, .user = &r, .poison_padding = true };
  struct gs_arena *arena = gs_arena_new(NULL);
  r.session = gs_session_new(&options);
  if (r.session == NULL || arena == NULL)
    corpus_fail(report, FAILED, "no session");
  else
    run_program(&r, runner, arena);
  gs_session_free(r.session);
  gs_arena_free(arena);
}

/* Lines "GROUP/NAME KIND: REASON"; "#" starts a comment. */
static bool read_exceptions(struct runner *runner)
{
  if (runner->options.exceptions == NULL)
    return true;
  FILE *file = fopen(runner->options.exceptions, "r");
  if (file == NULL)
    return false;
  char line[512];
  bool good = true;
  while (good && fgets(line, sizeof line, file) != NULL) {
    struct exception *e = &runner->exceptions[runner->nexceptions];
    if (line[0] == '#' || line[strspn(line, " \n")] == '\0')
      continue;
    good = runner->nexceptions + 1 < EXCEPTIONS &&
           sscanf(line, "%127s %15[a-z]: %255[^\n]", e->name, e->kind, e->reason) == 3;
    runner->nexceptions++;
  }
  fclose(file);
  return good;
}

static void run_path(struct runner *runner, const char *path, struct corpus_totals *group)
{
  struct xla_case c;
  struct corpus_report report = { .verdict = PASSED, .ours = -1, .theirs = -1 };
  const char *wrong = xla_case_read(&c, path);
  char title[130];
  snprintf(title, sizeof title, "%s/%s", c.group, c.name);
  const struct corpus_options *o = &runner->options;
  bool wanted = (o->group == NULL || strcmp(o->group, c.group) == 0) &&
                (o->name == NULL || strcmp(o->name, c.name) == 0 || strcmp(o->name, title) == 0);
  if (wanted && o->list) {
    printf("%s\n", title);
  } else if (wanted) {
    if (wrong != NULL)
      corpus_fail(&report, FAILED, "%s", wrong);
    else
      run_case(runner, &c, &report);
    corpus_count(o, title, &report, group);
  }
  xla_case_free(&c);
}

static void print_missing(const struct runner *runner)
{
  bool any = false;
  for (size_t i = 0; i < MISSING; i++) {
    if (runner->missing[i] == 0)
      continue;
    printf("%s%s %d", any ? ", " : runner->options.tap ? "# skipped for want of: "
                                                       : "skipped for want of: ",
           later[i], runner->missing[i]);
    any = true;
  }
  if (any)
    printf("\n");
}

/* The folder a path of a case lies in, as long as the comparison asks. */
static bool same_folder(const char *a, const char *b)
{
  size_t length = (size_t)(strrchr(a, '/') - a);
  return strncmp(a, b, length + 1) == 0;
}

static int run_all(struct runner *runner, const glob_t *paths)
{
  struct corpus_totals all = { 0 };
  const struct corpus_options *o = &runner->options;
  for (size_t i = 0; i < paths->gl_pathc;) {
    struct corpus_totals group = { .before = all.passed + all.failed + all.skipped };
    const char *first = paths->gl_pathv[i];
    for (; i < paths->gl_pathc && same_folder(first, paths->gl_pathv[i]); i++)
      run_path(runner, paths->gl_pathv[i], &group);
    struct xla_case named;
    if (xla_case_read(&named, first) == NULL && group.passed + group.failed + group.skipped > 0)
      corpus_print_totals(o, named.group, &group);
    xla_case_free(&named);
    corpus_add(&all, &group);
  }
  if (!o->list) {
    if (!o->csv)
      print_missing(runner);
    corpus_print_totals(o, "xla", &all);
    corpus_finish(o, &all);
  }
  return o->tap || (all.failed == 0 && (o->list || all.passed > 0)) ? 0 : 1;
}

int main(int argc, char **argv)
{
  static struct runner runner;
  char pattern[4096];
  glob_t paths;
  if (!corpus_parse(argc, argv, "tests/xla", &runner.options))
    return 2;
  if (!read_exceptions(&runner)) {
    fprintf(stderr, "%s: cannot read %s\n", argv[0], runner.options.exceptions);
    return 2;
  }
  snprintf(pattern, sizeof pattern, "%s/*/*.gsl", runner.options.data);
  if (glob(pattern, 0, NULL, &paths) != 0) {
    fprintf(stderr, "%s: no cases in %s\n", argv[0], runner.options.data);
    return 2;
  }
  int status = run_all(&runner, &paths);
  globfree(&paths);
  return fflush(stdout) == 0 ? status : 1;
}
