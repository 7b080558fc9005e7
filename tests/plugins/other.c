/* tests/plugins/other.c - a backend of another version of the interface. */
#include "backends/backend.h"

static const struct gs_backend backend = { .abi = GS_BACKEND_ABI + 1, .name = "other", .description = "of another time" };

const struct gs_backend *gs_backend_entry(void);

const struct gs_backend *gs_backend_entry(void)
{
  return &backend;
}
