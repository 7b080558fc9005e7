/* backends/cpu/copy.h - steps that only move elements, as copies of boxes between strided arrays. */
#ifndef GS_BACKENDS_CPU_COPY_H
#define GS_BACKENDS_CPU_COPY_H

#include "backends/cpu/kernel.h"

/* A box of elements: along dim i SIZE[i] of them, FROM[i] bytes apart where they are read, TO[i] bytes
 * where they are written; the first at START_FROM and START_TO. */
struct gs_box {
  int ndims;
  int64_t size[GS_MAX_RANK], from[GS_MAX_RANK], to[GS_MAX_RANK];
  int64_t start_from, start_to;
};

/* Put the dims of a box of elements of ELEMENT bytes into the order in which it is copied fastest, and
 * merge what can be merged. */
void gs_box_arrange(struct gs_box *box, int64_t element);
/* Copy an arranged box; elements must not overlap. */
void gs_box_copy(const struct gs_box *box, int64_t element, const void *from, void *to);

/* A kernel for the step, a transpose, broadcast, slice, pad, concat, reverse or roll; NULL for other
 * steps, or out of memory. */
struct gs_cpu_kernel *gs_cpu_copy_new(const struct gs_program *program, int step);

#endif
