/* tests/unit/sketch.h - short ways to write meshes, shardings and graphs in tests. */
#ifndef GS_TESTS_UNIT_SKETCH_H
#define GS_TESTS_UNIT_SKETCH_H

#include "lang/graph.h"
#include "partition/partition.h"

struct sketch {
  struct gs_arena *arena;
  struct gs_diagnostics diagnostics;
  char first_error[256];
  struct gs_graph graph;
  const struct gs_mesh *mesh;
  struct gs_sharding_table *table;
};

/* MESH as "x=2 y=4". */
void sketch_init(struct sketch *s, const char *mesh);
void sketch_finish(struct sketch *s);
/* "xy,-,z?": dims separated by commas, one-letter axes major to minor, ? leaves the dim open;
 * "+x" at the end: partial sums over x. */
const struct gs_sharding *sketch_sharding(struct sketch *s, const char *text);
/* An f32 input; DIMS as "16,32". */
struct gs_node *sketch_input(struct sketch *s, const char *dims);
struct gs_node *sketch_shard(struct sketch *s, struct gs_node *x, const char *sharding);
struct gs_node *sketch_apply(struct sketch *s, enum gs_op op, struct gs_node *a, struct gs_node *b);
struct gs_node *sketch_einsum(struct sketch *s, const char *spec, struct gs_node *a, struct gs_node *b);
struct gs_node *sketch_reduce(struct sketch *s, enum gs_op op, struct gs_node *a, int dim);
/* The plan of Y alone. */
struct gs_plan *sketch_plan(struct sketch *s, struct gs_node *y, bool follow_completed);
/* The completed sharding of NODE as text: "[x, -]". */
const char *sketch_completed(struct sketch *s, const struct gs_plan *plan, const struct gs_node *node);
/* Steps of OP in the plan's program. */
int sketch_count(const struct gs_plan *plan, enum gs_op op);
double sketch_bytes(struct sketch *s, const struct gs_plan *plan);

#endif
