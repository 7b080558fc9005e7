/* backends/reference/backend.c - the reference evaluator as a backend. */
#include <config.h>

#include <stdlib.h>

#include "backends/reference/reference.h"

struct gs_executable {
  struct gs_host host;
  const struct gs_plan *plan;
  struct gs_node **outputs;
};

static struct gs_executable *compile(const struct gs_host *host, const struct gs_plan *plan)
{
  const struct gs_program *program = plan->program;
  struct gs_executable *e = calloc(1, sizeof *e);
  struct gs_node **outputs = calloc((size_t)program->noutputs + 1, sizeof(struct gs_node *));
  if (e == NULL || outputs == NULL) {
    gs_error(host->diagnostics, (struct gs_span){ 0 }, "out of memory");
    free(outputs);
    free(e);
    return NULL;
  }
  for (int i = 0; i < program->noutputs; i++)
    outputs[i] = program->outputs[i].node;
  *e = (struct gs_executable){ *host, plan, outputs };
  return e;
}

static enum gs_status run(struct gs_executable *e, struct gs_tensor *const *inputs, int ninputs,
                          struct gs_tensor **outputs)
{
  return gs_reference_evaluate(&e->host, e->plan->graph, e->outputs, e->plan->program->noutputs,
                               inputs, ninputs, outputs);
}

static void release(struct gs_executable *e)
{
  if (e != NULL)
    free(e->outputs);
  free(e);
}

const struct gs_backend gs_backend_reference = {
  .abi = GS_BACKEND_ABI, .name = "reference",
  .description = "the unpartitioned program, one plain loop nest an operator",
  .compile = compile, .run = run, .release = release
};
