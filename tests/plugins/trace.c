/* tests/plugins/trace.c - a backend that writes down every step of a program, then has another one run it.
 *
 * It stands for what others write: it is built without the library and finds it in the process that opens it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"

struct gs_executable {
  const struct gs_host *host;
  const struct gs_plan *plan;
  const struct gs_backend *runner;
  struct gs_executable *running;
  FILE *log;
};

static void release(struct gs_executable *e)
{
  if (e->running != NULL)
    e->runner->release(e->running);
  if (e->log != NULL)
    fclose(e->log);
  free(e);
}

/* A setting's value, or OTHERWISE. */
static const char *setting(const struct gs_host *host, const char *name, const char *otherwise, char *room, size_t size)
{
  size_t length;
  const char *value = gs_backend_setting(host, name, &length);
  if (value == NULL || length >= size)
    return otherwise;
  memcpy(room, value, length);
  room[length] = '\0';
  return room;
}

static struct gs_executable *compile(const struct gs_host *host, const struct gs_plan *plan)
{
  char path[256], name[64];
  const struct gs_span nowhere = { 0 };
  struct gs_executable *e = calloc(1, sizeof *e);
  if (e == NULL)
    return NULL;
  *e = (struct gs_executable){ .host = host, .plan = plan };
  e->log = fopen(setting(host, "log", "trace.log", path, sizeof path), "a");
  e->runner = gs_backend_find(host->backends, setting(host, "on", "cpu", name, sizeof name));
  if (e->log == NULL)
    gs_error(host->diagnostics, nowhere, "trace: cannot write the log");
  else if (e->runner == NULL)
    gs_error(host->diagnostics, nowhere, "trace: there is no backend to run on");
  else
    e->running = e->runner->compile(host, plan);
  if (e->running == NULL) {
    release(e);
    return NULL;
  }
  return e;
}

static enum gs_status run(struct gs_executable *e, struct gs_tensor *const *inputs, int ninputs,
                          struct gs_tensor **outputs)
{
  const struct gs_program *p = e->plan->program;
  fprintf(e->log, "run on %s: %d steps, %" PRId64 " devices\n", e->runner->name, p->nsteps, p->mesh->ndevices);
  for (int i = 0; i < p->nsteps; i++)
    fprintf(e->log, "%d %s\n", i + 1, gs_op_info(p->steps[i].op)->name);
  fflush(e->log);
  return e->runner->run(e->running, inputs, ninputs, outputs);
}

static const struct gs_backend_setting_name settings[] = {
  { "log", "the file that is written to" }, { "on", "the backend that runs programs" }, { NULL, NULL }
};

static const struct gs_backend backend = {
  .abi = GS_BACKEND_ABI, .name = "trace", .description = "writes down every step", .compile = compile, .run = run,
  .release = release, .settings = settings
};

const struct gs_backend *gs_backend_entry(void);

const struct gs_backend *gs_backend_entry(void)
{
  return &backend;
}
