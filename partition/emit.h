/* partition/emit.h - from chosen strategies to the steps of the SPMD program. */
#ifndef GS_PARTITION_EMIT_H
#define GS_PARTITION_EMIT_H

#include "partition/choose.h"

/* The program of the needed nodes, in order, with everything that no output needs left out.
 * NULL when out of memory. */
struct gs_program *gs_emit(const struct gs_choose_request *request, const struct gs_choice *choices,
                           struct gs_node *const *outputs, const char *const *names, int noutputs);

#endif
