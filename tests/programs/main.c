/* tests/programs/main.c - random programs over every operator: partitioned against unpartitioned.
 *
 *   programs [--seeds FIRST LAST | --seed N] [--fork] [--print] [--tap]
 *
 * A failing program is cut down statement by statement and printed, to be run by hand.  With --fork each
 * seed has a process of its own, so that a crash is a result too.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/reference/reference.h"
#include "tests/differential/compare.h"
#include "tests/differential/recipe.h"
#include "tests/programs/programs.h"

enum { ENOUGH_SEEDS = 1000, MAX_FAILURES = 20 };

struct options { uint64_t first, last; bool fork, print, tap; };

struct outcome { bool failed; char message[400]; };

static void fail(struct outcome *o, const char *what, const char *detail)
{
  o->failed = true;
  snprintf(o->message, sizeof o->message, "%s%s", what, detail);
}

static double largest_of(const struct gs_tensor *t)
{
  double largest = 0;
  for (int64_t i = 0; i < gs_type_elements(&t->type); i++) {
    double x = fabs(gs_element_get(t->type.dtype, t->data, i));
    largest = isfinite(x) && x > largest ? x : largest;
  }
  return largest;
}

static void keep_message(void *user, const struct gs_diagnostic *d)
{
  char *text = user;
  if (d->severity == GS_ERROR && text[0] == '\0')
    snprintf(text, 200, "%s", d->message);
}

/* Value NAME, TOLERANCE relative to the largest (0: equal). */
static void check_value(struct gs_session *session, const char *name, double tolerance, int threads,
                        struct outcome *o)
{
  char text[400] = "";
  struct gs_diagnostics diagnostics = { .sink = keep_message, .user = text };
  struct gs_host host = { .diagnostics = &diagnostics, .nthreads = threads, .poison_padding = true };
  struct gs_node *node = gs_session_tensor(session, name);
  const struct gs_plan *plan = gs_session_plan(session, &name, 1);
  struct gs_tensor *got = NULL, *want = NULL;
  struct gs_arena *arena = gs_arena_new(NULL);
  const char *wrong = plan == NULL ? "no plan" : gs_program_verify(arena, plan->program);
  struct gs_executable *e = wrong == NULL ? gs_backend_cpu.compile(&host, plan) : NULL;
  if (wrong != NULL)
    fail(o, "invalid program: ", wrong);
  else if (e == NULL || gs_backend_cpu.run(e, NULL, 0, &got) != GS_OK
           || gs_reference_evaluate(&host, plan->graph, &node, 1, NULL, 0, &want) != GS_OK)
    fail(o, "does not run: ", text);
  else if (!compare_tensors(want, got, tolerance * (1 + largest_of(want)), text, sizeof text))
    fail(o, name, text);
  if (e != NULL)
    gs_backend_cpu.release(e);
  gs_arena_free(arena);
  gs_tensor_unref(got);
  gs_tensor_unref(want);
}

/* STATEMENTS but for number WITHOUT (-1: all) on a session of their own.  The last value is compared. */
static struct gs_session *rerun(const struct program *p, const bool *left_out, int without)
{
  static const struct gs_session_options options = { .quiet = true };
  struct gs_session *session = gs_session_new(&options);
  for (int i = 0; i < p->nstatements && session != NULL; i++) {
    if (i == without || left_out[i])
      continue;
    if (!gs_session_run_text(session, "program", p->statements[i], strlen(p->statements[i]))) {
      gs_session_free(session);
      return NULL;
    }
  }
  return session;
}

static void print_program(const struct program *p, const bool *left_out, const char *name, const char *prefix)
{
  for (int i = 0; i < p->nstatements; i++)
    if (!left_out[i])
      printf("%s%s", prefix, p->statements[i]);
  printf("%scheck(%s)\n\n", prefix, name);
}

/* Drop statements as long as the value still comes out wrong. */
static void shrink(const struct program *p, const struct program_value *v, double tolerance, int threads,
                   const struct options *options)
{
  bool left_out[PROGRAM_STATEMENTS] = { false };
  for (int i = p->nstatements - 1; i >= 0; i--) {
    struct outcome again = { false, "" };
    struct gs_session *session = rerun(p, left_out, i);
    if (session != NULL && gs_session_tensor(session, v->name) != NULL)
      check_value(session, v->name, tolerance, threads, &again);
    gs_session_free(session);
    left_out[i] = again.failed;
  }
  print_program(p, left_out, v->name, options->tap ? "# " : "");
}

static double tolerance_of(const struct program_value *v)
{
  return v->exact ? 0 : v->type.dtype == GS_DTYPE_F64 || v->type.dtype == GS_DTYPE_C128 ? 1e-9 : 2e-4;
}

static void count_operators(const struct program *p, long *operators)
{
  const struct gs_graph *graph = gs_session_graph(p->session);
  for (int i = 0; i < graph->nnodes; i++)
    operators[graph->nodes[i]->op]++;
}

/* Check the last value, and another one. */
static bool run_seed(uint64_t seed, const struct options *options, long *operators)
{
  static struct program p;
  struct outcome outcome = { false, "" };
  bool none[PROGRAM_STATEMENTS] = { false };
  program_generate(&p, seed);
  if (options->print)
    print_program(&p, none, p.nvalues > 0 ? p.values[p.nvalues - 1].name : "0", "");
  count_operators(&p, operators);
  for (int k = 0; k < 2 && p.nvalues > 0 && !outcome.failed; k++) {
    const struct program_value *v = &p.values[k == 0 ? p.nvalues - 1 : dice_below(&p.dice, p.nvalues)];
    int threads = 1 + (int)(seed % 2);
    check_value(p.session, v->name, tolerance_of(v), threads, &outcome);
    if (!outcome.failed)
      continue;
    printf("%sseed %llu: %s\n", options->tap ? "# " : "", (unsigned long long)seed, outcome.message);
    shrink(&p, v, tolerance_of(v), threads, options);
  }
  program_release(&p);
  return !outcome.failed;
}

/* The same in a process of its own; its counts of operators come back through a pipe. */
static bool run_apart(uint64_t seed, const struct options *options, long *operators)
{
  int ends[2], status = 0;
  long counts[GS_OP_COUNT] = { 0 };
  fflush(NULL);
  if (pipe(ends) != 0)
    return false;
  pid_t pid = fork();
  if (pid == 0) {
    alarm(120);
    bool good = run_seed(seed, options, counts);
    fflush(NULL);
    _exit(write(ends[1], counts, sizeof counts) == (ssize_t)sizeof counts && good ? 0 : 1);
  }
  close(ends[1]);
  if (pid > 0 && read(ends[0], counts, sizeof counts) == (ssize_t)sizeof counts)
    for (int op = 0; op < GS_OP_COUNT; op++)
      operators[op] += counts[op];
  close(ends[0]);
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    return false;
  if (WIFSIGNALED(status))
    printf("%sseed %llu: the process ended by signal %d\n", options->tap ? "# " : "", (unsigned long long)seed,
           WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Rows of the table that users reach and no program had. */
/* Every row of the operator table that users can reach is met here or by the differential tester. */
static int missing_operators(const long *operators)
{
  int missing = 0;
  for (int op = 0; op < GS_OP_COUNT; op++) {
    enum gs_op_group group = gs_op_info((enum gs_op)op)->group;
    bool made_by_planner = group == GS_GROUP_COLLECTIVE || group == GS_GROUP_DEVICE
                           || (group == GS_GROUP_CONTROL && op >= GS_OP_LOOP_TEST);
    bool covered = !made_by_planner && !recipe_is_visible((enum gs_op)op);
    if (!covered || operators[op] > 0)
      continue;
    missing++;
    printf("# no program has %s\n", gs_op_info((enum gs_op)op)->name);
  }
  return missing;
}

static bool parse_number(const char *text, uint64_t *number)
{
  char *end;
  errno = 0;
  *number = text == NULL ? 0 : strtoull(text, &end, 10);
  return text != NULL && errno == 0 && end != text && *end == '\0';
}

static bool parse_options(int argc, char **argv, struct options *o)
{
  *o = (struct options){ .first = 1, .last = 1000 };
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--fork") == 0)
      o->fork = true;
    else if (strcmp(argv[i], "--print") == 0)
      o->print = true;
    else if (strcmp(argv[i], "--tap") == 0)
      o->tap = true;
    else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc && parse_number(argv[i + 1], &o->first))
      o->last = (i++, o->first);
    else if (strcmp(argv[i], "--seeds") == 0 && i + 2 < argc && parse_number(argv[i + 1], &o->first)
             && parse_number(argv[i + 2], &o->last))
      i += 2;
    else
      return false;
  }
  return o->first <= o->last;
}

int main(int argc, char **argv)
{
  struct options o;
  static long operators[GS_OP_COUNT];
  long failed = 0, before = 0;
  int blocks = 0, missing = 0;
  if (!parse_options(argc, argv, &o)) {
    fprintf(stderr, "usage: programs [--seeds FIRST LAST | --seed N] [--fork] [--print] [--tap]\n");
    return 2;
  }
  uint64_t seed = o.first;
  for (; seed <= o.last && failed < MAX_FAILURES; seed++) {
    failed += !(o.fork ? run_apart : run_seed)(seed, &o, operators);
    bool ends = (seed - o.first) % 100 == 99 || seed == o.last || failed >= MAX_FAILURES;
    if (o.tap && ends) {
      printf("%s %d - programs up to seed %llu\n", failed > before ? "not ok" : "ok", ++blocks,
             (unsigned long long)seed);
      before = failed;
    }
  }
  bool enough = o.last - o.first + 1 >= ENOUGH_SEEDS && failed < MAX_FAILURES;
  if (enough)
    missing = missing_operators(operators);
  if (o.tap)
    printf("%s %d - every operator is met\n1..%d\n", missing == 0 ? "ok" : "not ok", blocks + 1, blocks + 1);
  printf("%sprograms: %llu checked, %ld failed, %d operators never met\n", o.tap ? "# " : "",
         (unsigned long long)(seed - o.first), failed, missing);
  return fflush(stdout) == 0 && (o.tap || (failed == 0 && missing == 0)) ? 0 : 1;
}
