/* partition/complete.h - completion: shardings of a few values to shardings of all. */
#ifndef GS_PARTITION_COMPLETE_H
#define GS_PARTITION_COMPLETE_H

#include "partition/partition.h"
#include "partition/rule.h"

/* The part of a graph that the outputs need, with what every later stage asks for. */
struct gs_slice_of_graph {
  struct gs_graph *graph;
  int count;                           /* needed nodes */
  const int *order;                    /* their ids, ascending */
  const bool *needed;                  /* by id */
  const int *first_user, *users;       /* users of id i: users[first_user[i]] .. first_user[i+1] */
  const int *kinds;                    /* by id: equal for nodes alike, see signature.h */
  const struct gs_rule **rules;        /* by id */
  const double *turns;                 /* by id: how often the node runs, in loops; while loops count once */
};
/* NULL: out of memory. */
struct gs_slice_of_graph *gs_slice_of_graph(struct gs_arena *arena, struct gs_graph *graph,
                                            struct gs_node *const *outputs, int noutputs);

/* Complete [PARTITIONING.md 2].  ANNOTATIONS[id] is the sharding of a shard node on MESHES[id], else NULL;
 * MESHES[id] is MESH as seen where the node is, in a manual region or outside.  NULL: out of memory. */
struct gs_completion *gs_complete(struct gs_arena *arena, struct gs_sharding_table *table,
                                  const struct gs_slice_of_graph *slice, const struct gs_mesh *mesh,
                                  const struct gs_mesh *const *meshes,
                                  const struct gs_sharding *const *annotations,
                                  const struct gs_partition_options *options);

#endif
