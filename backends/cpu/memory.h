/* backends/cpu/memory.h - where each step's result lives in a device's arena. */
#ifndef GS_BACKENDS_CPU_MEMORY_H
#define GS_BACKENDS_CPU_MEMORY_H

#include "backends/cpu/kernel.h"

struct gs_buffers {
  int64_t size;                        /* bytes of one device's arena, a multiple of 64 */
  int64_t *offset;                     /* by step; -1: not in the arena (see shares) */
  int *alias;                          /* by step: the step whose buffer it uses; itself if its own */
};

/* Steps whose value every device has whole, so that all may read one copy. */
bool gs_buffers_shares(const struct gs_step *step);

/* Plan buffers by live range, for steps that are NEEDED; what a step reads is said by its kernel if
 * there is one in KERNELS.  False: out of memory. */
bool gs_buffers_plan(const struct gs_program *program, struct gs_cpu_kernel *const *kernels,
                     const bool *needed, struct gs_buffers *buffers);
void gs_buffers_free(struct gs_buffers *buffers);

#endif
