/* partition/attempts.h - several programs for one graph, of which the cheapest is the plan's. */
#ifndef GS_PARTITION_ATTEMPTS_H
#define GS_PARTITION_ATTEMPTS_H

#include "partition/choose.h"

/* What is known when planning comes to choose. */
struct gs_planning {
  struct gs_arena *arena;
  struct gs_graph *graph;
  struct gs_node *const *outputs;
  const char *const *names;
  int noutputs;
  const struct gs_partition_options *options;
  struct gs_sharding_table *table;
  struct gs_resharder *resharder;
  struct gs_slice_of_graph *slice;
  const struct gs_mesh *mesh;
  const struct gs_mesh **meshes;               /* by id: the mesh as seen where the node is */
  const struct gs_sharding **annotations;      /* by id */
  bool *fixed, *output;                        /* by id */
};

/* Make PLAN's program, from its completion; false when out of memory. */
bool gs_attempts_make(struct gs_plan *plan, struct gs_planning *j);

#endif
