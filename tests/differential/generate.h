/* tests/differential/generate.h - random programs, the same for the same seed. */
#ifndef GS_TESTS_GENERATE_H
#define GS_TESTS_GENERATE_H

#include "tests/differential/bounds.h"
#include "tests/differential/dice.h"

struct generator {
  struct recipe *recipe;
  struct dice dice;
  struct bounds bounds[RECIPE_NODES];
};

void generate_recipe(struct recipe *recipe, uint64_t seed);

/* Pieces, each appending to the recipe and returning the index of the result, or -1. */

/* Append NODE; its type and bounds are worked out.  -1, appending nothing, if it cannot be. */
int generate_add(struct generator *g, const struct recipe_node *node);
int64_t generate_size(struct dice *dice);
enum gs_dtype generate_dtype(struct dice *dice);
int generate_leaf(struct generator *g, const struct gs_type *type);
int generate_scalar(struct generator *g, enum gs_dtype dtype, double value);
/* An existing node (or a new leaf) that OP takes as operand ARGUMENT. */
int generate_pick(struct generator *g, enum gs_op op, int argument);
/* One operator of the shape, reduction or contraction group. */
int generate_shape(struct generator *g, enum gs_op op);
int generate_reduce(struct generator *g, enum gs_op op);
int generate_einsum(struct generator *g);
/* X brought into the domain of operand ARGUMENT of OP. */
int generate_fit(struct generator *g, int x, enum gs_op op, int argument);
/* Meshes, and an annotation of X. */
void generate_meshes(struct generator *g);
int generate_shard(struct generator *g, int x);

#endif
