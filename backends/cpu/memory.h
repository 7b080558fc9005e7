/* backends/cpu/memory.h - where each step's result lives in a device's arena. */
#ifndef GS_BACKENDS_CPU_MEMORY_H
#define GS_BACKENDS_CPU_MEMORY_H

#include "backends/cpu/kernel.h"

struct gs_buffers {
  int64_t size;                        /* bytes of one device's arena, a multiple of 64 */
  int64_t *offset;                     /* by step; -1: not in the arena, but part of a whole tensor */
  int *alias;                          /* by step: the step whose buffer it uses; itself if its own */
  bool *in_place;                      /* by step: it runs, and writes into its first operand's buffer */
  int *output;                         /* by step: the output whose tensor its buffer is; -1: none */
};

/* Inputs, parameters and constants. */
bool gs_buffers_is_data(const struct gs_step *step);

/* Is a segment of its own: communicates, or opens or closes the scope of a loop or a branch. */
bool gs_buffers_stands_alone(const struct gs_step *step);

/* Where the part of the device at POSITION begins in the whole tensor, in bytes; only for steps whose
 * parts each lie there in one piece, without padding. */
int64_t gs_buffers_begin(const struct gs_step *step, int64_t position);

/* Plan buffers by live range, for steps that are NEEDED; what a step reads is said by its kernel if
 * there is one in KERNELS.  False: out of memory. */
bool gs_buffers_plan(const struct gs_program *program, struct gs_cpu_kernel *const *kernels,
                     const bool *needed, struct gs_buffers *buffers);
void gs_buffers_free(struct gs_buffers *buffers);

#endif
