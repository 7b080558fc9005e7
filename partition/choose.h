/* partition/choose.h - which sharding every value has and how every operator runs, chosen together.
 *
 * Completed shardings are constraints only for annotated values and outputs; elsewhere they are the
 * first candidate [PARTITIONING.md 3].
 */
#ifndef GS_PARTITION_CHOOSE_H
#define GS_PARTITION_CHOOSE_H

#include "partition/reshard.h"
#include "partition/ways.h"

struct gs_choice {
  const struct gs_sharding *sharding;          /* of the value */
  const struct gs_strategy *strategy;          /* NULL for leaves */
  const struct gs_ways *ways;                  /* those it was chosen from */
};

struct gs_choose_request {
  struct gs_arena *arena;
  struct gs_sharding_table *table;
  struct gs_resharder *resharder;
  const struct gs_slice_of_graph *slice;
  const struct gs_completion *completion;
  const struct gs_mesh *const *meshes;         /* by id: the mesh, as seen where the node is */
  const bool *fixed;                           /* by id: annotated */
  const bool *output;                          /* by id: an output; may come out finer than completed */
  const struct gs_partition_options *options;
  struct gs_ways_table *ways;                  /* of this slice */
  bool shared;                                 /* expect users of a value to want it in the same sharding */
  const bool *wide;                            /* by id: look at more ways to run it; NULL: nowhere */
};

/* Choices by node id, by the cost model; NULL when out of memory. */
struct gs_choice *gs_choose(const struct gs_choose_request *request);
/* The same with every value in its completed sharding. */
struct gs_choice *gs_choose_completed(const struct gs_choose_request *request);

#endif
