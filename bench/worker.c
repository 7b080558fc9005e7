/* bench/worker.c - runs benchmark programs on the cpu backend, as often as standard input asks.
 *
 *   worker MESH FILE.gsl...        MESH as for --mesh: x=2,y=4
 *
 * Each program's result is `out`; its inputs are pattern(k), those of parameters times 0.05.  Each
 * line "INDEX COUNT" on standard input runs program INDEX that many times, after one run that is
 * not counted; the answer is one line: the sum of |out|, then the seconds of each run.  A run takes
 * whole input tensors and gives the whole result: cutting and putting together is within the time.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/backend.h"
#include "bench/clock.h"
#include "gspmd.h"

enum { MAX_PROGRAMS = 8, MAX_INPUTS = 32 };

struct program {
  struct gs_session *session;
  const struct gs_plan *plan;
  struct gs_executable *executable;
  struct gs_tensor *inputs[MAX_INPUTS];
  int ninputs;
};

static void complain(void *user, const char *text, size_t length)
{
  (void)user;
  fwrite(text, 1, length, stderr);
}

static void complain_run(void *user, const struct gs_diagnostic *diagnostic)
{
  (void)user;
  fprintf(stderr, "worker: %s\n", diagnostic->message);
}

static struct gs_tensor *make_input(const struct gs_node *node)
{
  struct gs_tensor *tensor = gs_tensor_new(NULL, &node->type);
  if (tensor == NULL)
    return NULL;
  struct gs_fill_spec fill = { .kind = GS_FILL_PATTERN, .argument = node->attrs->input.index };
  gs_tensor_fill(tensor, &fill);
  int64_t count = gs_type_elements(&node->type);
  for (int64_t i = 0; node->op == GS_OP_PARAM && i < count; i++)
    gs_element_set(node->type.dtype, tensor->data, i,
                   0.05 * gs_element_get(node->type.dtype, tensor->data, i));
  return tensor;
}

static bool make_inputs(struct program *p)
{
  const struct gs_graph *graph = gs_session_graph(p->session);
  p->ninputs = graph->ninputs;
  if (p->ninputs > MAX_INPUTS)
    return false;
  for (int i = 0; i < graph->nnodes; i++) {
    const struct gs_node *node = graph->nodes[i];
    if (node->op != GS_OP_INPUT && node->op != GS_OP_PARAM)
      continue;
    struct gs_tensor **input = &p->inputs[node->attrs->input.index];
    *input = make_input(node);
    if (*input == NULL)
      return false;
  }
  return true;
}

static bool load(struct program *p, const char *mesh, const char *path, const struct gs_host *host)
{
  struct gs_session_options options = { .message = complain, .mesh = mesh, .quiet = true };
  p->session = gs_session_new(&options);
  if (p->session == NULL || !gs_session_run_file(p->session, path))
    return false;
  const char *const names[] = { "out" };
  p->plan = gs_session_plan(p->session, names, 1);
  if (p->plan == NULL || !make_inputs(p))
    return false;
  p->executable = gs_backend_cpu.compile(host, p->plan);
  return p->executable != NULL;
}

static void unload(struct program *p)
{
  if (p->executable != NULL)
    gs_backend_cpu.release(p->executable);
  for (int i = 0; i < p->ninputs && i < MAX_INPUTS; i++)
    gs_tensor_unref(p->inputs[i]);
  gs_session_free(p->session);
}

static double absolute_sum(const struct gs_tensor *tensor)
{
  double sum = 0;
  int64_t count = gs_type_elements(&tensor->type);
  for (int64_t i = 0; i < count; i++)
    sum += fabs(gs_element_get(tensor->type.dtype, tensor->data, i));
  return sum;
}

/* One answer: see the top of this file. */
static bool answer(struct program *p, int count)
{
  for (int i = 0; i <= count; i++) {
    struct gs_tensor *out;
    double start = clock_seconds();
    if (gs_backend_cpu.run(p->executable, p->inputs, p->ninputs, &out) != GS_OK)
      return false;
    double seconds = clock_seconds() - start;
    if (i == 0)
      printf("%.9g", absolute_sum(out));
    else
      printf(" %.9f", seconds);
    gs_tensor_unref(out);
  }
  putchar('\n');
  return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
  int nprograms = argc - 2;
  if (nprograms < 1 || nprograms > MAX_PROGRAMS) {
    fprintf(stderr, "usage: worker MESH FILE.gsl...\n");
    return 2;
  }
  struct gs_diagnostics diagnostics = { .sink = complain_run };
  struct gs_host host = { .diagnostics = &diagnostics };
  struct program programs[MAX_PROGRAMS] = { 0 };
  bool ok = true;
  for (int i = 0; ok && i < nprograms; i++)
    ok = load(&programs[i], argv[1], argv[i + 2], &host);
  char line[64];
  while (ok && fgets(line, sizeof line, stdin) != NULL) {
    char *rest;
    long index = strtol(line, &rest, 10);
    long count = strtol(rest, NULL, 10);
    ok = index >= 0 && index < nprograms && count > 0 && count < 1000000 &&
         answer(&programs[index], (int)count);
  }
  for (int i = 0; i < nprograms; i++)
    unload(&programs[i]);
  return ok ? 0 : 1;
}
