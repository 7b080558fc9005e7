/* tests/differential/recipe.h - a program as plain data, to be made, cut down, built and printed.
 *
 * A recipe holds no pointers: it is copied by assignment and changed freely.  Types of all nodes
 * follow from the leaves and the attributes (recipe_retype); a change that leaves no program is
 * found there, or by the bounds of its values (bounds.h).
 */
#ifndef GS_TESTS_RECIPE_H
#define GS_TESTS_RECIPE_H

#include "partition/partition.h"

enum {
  RECIPE_NODES = 48, RECIPE_ARGS = 4, RECIPE_OUTPUTS = 4, RECIPE_MESHES = 3, RECIPE_AXES = 6,
  RECIPE_DEVICES = 64, RECIPE_VALUES = 48, RECIPE_SPEC = 48
};

/* Meshes after the first are over the same devices in the same order. */
struct recipe_mesh {
  int naxes;
  int64_t sizes[RECIPE_AXES];
  bool anonymous, ordered;
  int64_t order[RECIPE_DEVICES];
};

struct recipe_dim {
  int naxes;
  int axes[RECIPE_AXES];
  bool open;
};

struct recipe_node {
  enum gs_op op;
  int nargs;
  int args[RECIPE_ARGS];
  struct gs_type type;                 /* of the result */
  union gs_attrs attrs;                /* members without pointers only */
  int mesh;                            /* SHARD */
  struct recipe_dim dims[GS_MAX_RANK];
  char spec[RECIPE_SPEC];              /* EINSUM */
  double values[RECIPE_VALUES];        /* CONSTANT: repeated when there are more elements */
};

struct recipe {
  uint64_t seed;
  int nmeshes;
  struct recipe_mesh meshes[RECIPE_MESHES];
  int nnodes;
  struct recipe_node nodes[RECIPE_NODES];
  int noutputs;
  int outputs[RECIPE_OUTPUTS];
};

int64_t recipe_mesh_devices(const struct recipe_mesh *mesh);
/* Name of an axis into TEXT of at least 8 bytes: "a0", or "0" when anonymous. */
void recipe_axis_name(const struct recipe *recipe, int mesh, int axis, char *text);
bool recipe_is_leaf(enum gs_op op);
/* Rows of the table that a program may hold. */
bool recipe_is_visible(enum gs_op op);

/* The infer column of the table: which operand types an operator takes and how its type follows.
 * A row with a new kind of inference does not compile here until it is tested. */
enum recipe_class {
  CLASS_leaf, CLASS_iota, CLASS_arithmetic, CLASS_floating, CLASS_predicate, CLASS_logical,
  CLASS_convert, CLASS_ordered, CLASS_integral, CLASS_equality, CLASS_comparison, CLASS_where,
  CLASS_clamp, CLASS_shard, CLASS_reshape, CLASS_transpose, CLASS_broadcast, CLASS_reverse,
  CLASS_pad, CLASS_concat, CLASS_slice, CLASS_roll, CLASS_reduce_sum, CLASS_reduce_order,
  CLASS_reduce_pred, CLASS_reduce_index, CLASS_einsum, CLASS_component, CLASS_conjugate, CLASS_complex, CLASS_bitcast, CLASS_fft, CLASS_cholesky,
  CLASS_triangular_solve, CLASS_random, CLASS_conv, CLASS_reduce_window, CLASS_select_and_scatter, CLASS_gather, CLASS_scatter, CLASS_sort, CLASS_top_k, CLASS_cumulative,
  CLASS_cumulative_order, CLASS_to_shard, CLASS_from_shard, CLASS_psum, CLASS_manual_gather,
  CLASS_manual_scatter, CLASS_manual_exchange, CLASS_ppermute, CLASS_axis_index, CLASS_carried, CLASS_carry, CLASS_control,
  CLASS_loop_result, CLASS_cond_result, CLASS_device
};
enum recipe_class recipe_class(enum gs_op op);
/* Whether operand ARGUMENT of OP may have DTYPE. */
bool recipe_accepts(enum gs_op op, int argument, enum gs_dtype dtype);

/* NumPy's broadcast of two shapes; false if they do not fit. */
bool recipe_broadcast(const struct gs_type *a, const struct gs_type *b, struct gs_type *shape);

/* The type of node INDEX from those before it; false when it cannot be. */
bool recipe_type_node(struct recipe *recipe, int index);
/* All types anew; false when some node cannot be. */
bool recipe_retype(struct recipe *recipe);
/* Nodes no output needs go away; the order stays. */
void recipe_collect(struct recipe *recipe);

/* A recipe in the library's own terms. */
struct recipe_built {
  struct gs_arena *arena;
  struct gs_graph graph;
  struct gs_sharding_table *table;
  const struct gs_mesh *meshes[RECIPE_MESHES];
  struct gs_node *nodes[RECIPE_NODES];
  struct gs_node *outputs[RECIPE_OUTPUTS];
  const char *names[RECIPE_OUTPUTS];
};
/* NULL, or what is wrong, in the built arena.  Release in either case. */
const char *recipe_build(const struct recipe *recipe, struct gs_diagnostics *diagnostics,
                         struct recipe_built *built);
void recipe_release(struct recipe_built *built);

/* The program in the language. */
void recipe_print(struct gs_text *text, const struct recipe *recipe);

#endif
