/* bench/plan.c - how long planning takes, from text to plan, and how much memory it holds.
 *
 *   plan [RUNS]
 *
 * Every measurement is a process of its own, so that peaks of memory do not mix.  "text to plan" is
 * parsing, evaluating, completing and partitioning in a fresh session; making the session is timed
 * apart.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/clock.h"
#include "gspmd.h"
#include "partition/partition.h"

enum { MAX_RUNS = 99, LONG_TURNS = 20000 };

/* The paper's 2D Transformer layer, finalized sharding, with dims that 1024 x 1024 devices cut. */
static const char layer_text[] =
  "mesh(x=2, y=4)\n"
  "B, S, M, H, N, D = (1024, 1024, 8192, 65536, 1024, 128)\n"
  "fn attend(h, wq, wk, wv, wo) {\n"
  "  q = shard(einsum(\"bsm,mnd->bsnd\", h, wq), [x, -1, y, -1])\n"
  "  k = shard(einsum(\"bsm,mnd->bsnd\", h, wk), [x, -1, y, -1])\n"
  "  v = shard(einsum(\"bsm,mnd->bsnd\", h, wv), [x, -1, y, -1])\n"
  "  causal = iota(s32[S, S], dim=0) >= iota(s32[S, S], dim=1)\n"
  "  scores = einsum(\"bsnd,btnd->bnst\", q, k) / (D ** 0.5)\n"
  "  p = softmax(where(causal, scores, -1e9), dim=3)\n"
  "  a = shard(einsum(\"bnst,btnd->bsnd\", p, v), [x, -1, y, -1])\n"
  "  einsum(\"bsnd,ndm->bsm\", a, wo)\n"
  "}\n"
  "fn layer(h) {\n"
  "  wq = shard(param(f32[M, N, D]), [x, y, -1])\n"
  "  wk = shard(param(f32[M, N, D]), [x, y, -1])\n"
  "  wv = shard(param(f32[M, N, D]), [x, y, -1])\n"
  "  wo = shard(param(f32[N, D, M]), [y, -1, x])\n"
  "  w1 = shard(param(f32[M, H]), [x, y])\n"
  "  w2 = shard(param(f32[H, M]), [y, x])\n"
  "  h = shard(h + attend(h, wq, wk, wv, wo), [x, -1, y])\n"
  "  f = shard(relu(einsum(\"bsm,mh->bsh\", h, w1)), [x, -1, y])\n"
  "  shard(h + einsum(\"bsh,hm->bsm\", f, w2), [x, -1, y])\n"
  "}\n"
  "out = shard(input(f32[B, S, M]), [x, -1, y])\n"
  "for i in range(LAYERS) { out = layer(out) }\n";

/* Five operators a turn, a contraction among them. */
static const char long_text[] =
  "mesh(x=2, y=4)\n"
  "out = shard(input(f32[1024, 512]), [x, y])\n"
  "w = shard(param(f32[512, 512]), [x, y])\n"
  "for i in range(LAYERS) {\n"
  "  out = shard(tanh(out @ w) + out * 0.5, [x, y])\n"
  "}\n";

struct measurement {
  const char *title, *text, *mesh;
  int repeats;                         /* what LAYERS stands for */
  int runs;                            /* 0: as asked for */
  double target_seconds, target_bytes;
};

static const struct measurement measurements[] = {
  { "Transformer layer, 8 devices", layer_text, "x=2,y=4", 1, 0, 0.005, 0 },
  { "Transformer layer, 2^20 devices", layer_text, "x=1024,y=1024", 1, 0, 0.005, 0 },
  { "64 layers, 8 devices", layer_text, "x=2,y=4", 64, 0, 0.150, 0 },
  { "64 layers, 2^20 devices", layer_text, "x=1024,y=1024", 64, 0, 0.150, 0 },
  { "100,000 operators, 8 devices", long_text, "x=2,y=4", LONG_TURNS, 1, 2.0, 1024.0 * 1048576 },
};

struct result {
  double session, plan;                /* seconds */
  int operators, steps;
};

static void complain(void *user, const char *text, size_t length)
{
  (void)user;
  fwrite(text, 1, length, stderr);
}

/* TEXT with the number in place of LAYERS, to be freed; NULL when out of memory. */
static char *with_repeats(const char *text, int repeats)
{
  const char *place = strstr(text, "LAYERS");
  size_t size = strlen(text) + 16;
  char *filled = malloc(size);
  if (filled != NULL && place != NULL)
    snprintf(filled, size, "%.*s%d%s", (int)(place - text), text, repeats,
             place + strlen("LAYERS"));
  return filled;
}

static bool plan_once(const struct measurement *m, const char *text, struct result *result)
{
  struct gs_session_options options = { .message = complain, .mesh = m->mesh, .quiet = true };
  const char *const names[] = { "out" };
  double start = clock_seconds();
  struct gs_session *session = gs_session_new(&options);
  double ready = clock_seconds();
  if (session == NULL || !gs_session_run_text(session, "bench", text, strlen(text))) {
    gs_session_free(session);
    return false;
  }
  const struct gs_plan *plan = gs_session_plan(session, names, 1);
  double end = clock_seconds();
  if (plan != NULL)
    *result = (struct result){ .session = ready - start, .plan = end - ready,
                               .operators = plan->graph->nnodes, .steps = plan->program->nsteps };
  gs_session_free(session);
  return plan != NULL;
}

static int by_plan_time(const void *left, const void *right)
{
  double a = ((const struct result *)left)->plan, b = ((const struct result *)right)->plan;
  return (a > b) - (a < b);
}

/* In the child: the median of all runs, into the pipe. */
static int measure(const struct measurement *m, int runs, int pipe_end)
{
  struct result results[MAX_RUNS];
  char *text = with_repeats(m->text, m->repeats);
  if (text == NULL)
    return 1;
  for (int i = 0; i < runs; i++)
    if (!plan_once(m, text, &results[i]))
      return 1;
  free(text);
  qsort(results, (size_t)runs, sizeof results[0], by_plan_time);
  ssize_t written = write(pipe_end, &results[runs / 2], sizeof results[0]);
  return written == (ssize_t)sizeof results[0] ? 0 : 1;
}

/* Measure in a child; false if it failed. */
static bool measure_apart(const struct measurement *m, int runs, struct result *result,
                          double *peak)
{
  int ends[2];
  if (pipe(ends) != 0)
    return false;
  pid_t child = fork();
  if (child == 0)
    _exit(measure(m, runs, ends[1]));
  close(ends[1]);
  bool ok = child > 0 && read(ends[0], result, sizeof *result) == (ssize_t)sizeof *result;
  close(ends[0]);
  int status = 1;
  struct rusage usage = { 0 };
  if (child > 0)
    ok = wait4(child, &status, 0, &usage) == child && status == 0 && ok;
  *peak = 1024.0 * (double)usage.ru_maxrss;
  return ok;
}

static const char *verdict(const struct measurement *m, const struct result *result, double peak)
{
  bool met = result->plan <= m->target_seconds &&
             (m->target_bytes <= 0 || peak <= m->target_bytes);
  return met ? "met" : "missed";
}

int main(int argc, char **argv)
{
  int asked = argc > 1 ? atoi(argv[1]) : 15;
  if (asked < 1 || asked > MAX_RUNS) {
    fprintf(stderr, "usage: plan [RUNS], at most %d\n", MAX_RUNS);
    return 2;
  }
  printf("%-33s %9s %7s %10s %10s %9s  %s\n", "text to plan, median", "operators", "steps",
         "plan ms", "session ms", "peak MiB", "target");
  int failures = 0;
  for (size_t i = 0; i < sizeof measurements / sizeof measurements[0]; i++) {
    const struct measurement *m = &measurements[i];
    struct result result;
    double peak;
    fflush(stdout);
    if (!measure_apart(m, m->runs > 0 ? m->runs : asked, &result, &peak)) {
      printf("%-33s failed\n", m->title);
      failures++;
      continue;
    }
    printf("%-33s %9d %7d %10.2f %10.2f %9.1f  %g ms%s: %s\n", m->title, result.operators,
           result.steps, 1e3 * result.plan, 1e3 * result.session, peak / 1048576,
           1e3 * m->target_seconds, m->target_bytes > 0 ? ", 1 GiB" : "",
           verdict(m, &result, peak));
  }
  return failures == 0 ? 0 : 1;
}
