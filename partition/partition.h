/* partition/partition.h - from a graph and a few annotations to the SPMD program. */
#ifndef GS_PARTITION_PARTITION_H
#define GS_PARTITION_PARTITION_H

#include "partition/program.h"

/* Whether gathers and reduce-scatters next to contractions become loops, see looped.h. */
enum gs_looped_mode { GS_LOOPED_AUTO, GS_LOOPED_NEVER, GS_LOOPED_ALWAYS };

struct gs_partition_options {
  bool follow_completed;               /* keep every completed sharding [PARTITIONING.md 3] */
  bool allow_uneven;                   /* completion may introduce padding */
  enum gs_looped_mode looped;
  int64_t combine;                     /* all-reduces of up to so many bytes are taken together; 0: none */
  bool record;                         /* keep every completion step, for trace */
  const _Atomic int *interrupt;        /* stop soon when non-zero; may be NULL */
};

/* Why a dim has the axes it has, and the same for what lost. */
enum gs_reason_kind {
  GS_REASON_NONE,                      /* nothing decided: open and uncut */
  GS_REASON_ANNOTATED,                 /* the user */
  GS_REASON_PROPAGATED                 /* completion, through an operator */
};
struct gs_reason {
  enum gs_reason_kind kind;
  int node;                            /* the operator it went through (or the annotated one) */
  int from_node, from_dim;             /* the value and dim it came from */
  int level;                           /* of PARTITIONING.md 2 */
  bool forward;                        /* from operand to result */
};
struct gs_conflict {
  int node;                            /* operator where two shardings met */
  int winner_node, winner_dim, loser_node, loser_dim;
};
struct gs_completion_event { int node, dim; const struct gs_sharding *after; struct gs_reason reason; };

/* A completed graph: for each node id the sharding (NULL: not needed by the outputs) and, per dim,
 * the reason. */
struct gs_completion {
  const struct gs_mesh *mesh;
  int nnodes;
  const struct gs_sharding **shardings;
  struct gs_reason (*reasons)[GS_MAX_RANK];
  int nconflicts;
  struct gs_conflict *conflicts;
  int nevents;                         /* only with options->record */
  struct gs_completion_event *events;
};

/* A value the planner runs in another sharding than the completed one, and the bytes that saves. */
struct gs_departure { int node; const struct gs_sharding *completed, *chosen; };

struct gs_plan {
  struct gs_graph *graph;
  const struct gs_mesh *mesh;
  struct gs_program *program;
  struct gs_completion *completion;
  int ndepartures;
  struct gs_departure *departures;
  double completed_bytes;              /* what the all-completed plan would send */
};

/* Plan the values OUTPUTS, shown as NAMES, of GRAPH.  MESH is the current mesh (NULL: a mesh of one
 * device); meshes of annotations that differ from it are joined with it.  Everything made lives
 * in ARENA.  Reports and returns NULL on error. */
struct gs_plan *gs_partition(struct gs_arena *arena, struct gs_graph *graph, const struct gs_mesh *mesh,
                             struct gs_node *const *outputs, const char *const *names, int noutputs,
                             const struct gs_partition_options *options);

#endif
