/* partition/builder.h - an SPMD program while it is made: a growing list of steps without repeats. */
#ifndef GS_PARTITION_BUILDER_H
#define GS_PARTITION_BUILDER_H

#include "partition/program.h"

struct gs_builder {
  struct gs_arena *arena;
  const struct gs_region *regions;     /* the graph's */
  int nregions;
  int region;                          /* where steps are added now */
  struct gs_step *steps;               /* in the order they were made; steps[i].scope is their region */
  int nsteps, capacity;
  int *table, table_size;              /* open addressing over steps; -1 is empty */
  bool failed;                         /* out of memory: the program is not usable */
};

bool gs_builder_init(struct gs_builder *b, struct gs_arena *arena, const struct gs_graph *graph);
/* Index of a step equal to STEP: an earlier one of this region or one around it (same operator, operands,
 * attributes, type and sharding), or a new copy.  STEP->attrs, if any, was zeroed before it was filled. */
int gs_builder_add(struct gs_builder *b, const struct gs_step *step);
/* Take collectives together that follow each other.  PLACE marks the needed steps by index with 1; those
 * that it replaces are unmarked.  False: out of memory. */
bool gs_builder_simplify(struct gs_builder *b, const struct gs_program_output *outputs, int noutputs,
                         int *place);
/* The program of OUTPUTS, with the steps they do not need left out and the bodies of loops and branches
 * between the steps that open and close them.  NULL: out of memory. */
struct gs_program *gs_builder_finish(struct gs_builder *b, const struct gs_mesh *mesh,
                                     const struct gs_program_output *outputs, int noutputs);

#endif
