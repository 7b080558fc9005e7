/* backends/registry.c - the backends built into the library. */
#include <config.h>

#include <string.h>

#include "backends/backend.h"

static const struct gs_backend *const built_in[] = { &gs_backend_cpu, &gs_backend_reference };

enum { BUILT_IN = sizeof built_in / sizeof *built_in };

const struct gs_backend *gs_backend_at(int index)
{
  return index >= 0 && index < BUILT_IN ? built_in[index] : NULL;
}

const struct gs_backend *gs_backend_find(const char *name)
{
  for (int i = 0; i < BUILT_IN; i++)
    if (strcmp(built_in[i]->name, name) == 0)
      return built_in[i];
  return NULL;
}
