/* backends/cpu/fuse.h - elementwise steps and reductions put together, so that what passes between
 * them stays in the cache.
 *
 * A group ends in its root, the one step whose result is stored.  Its domain is an iteration space of
 * rows and columns: rows count the root's leading dims, columns its trailing ones, or those that a
 * reduction sums over.  A value of the group is full (one element per row and column) or per row (what
 * reductions give, and what is computed from that).  Everything else is read from memory through
 * strides over the domain, which say broadcasts and transpositions.
 */
#ifndef GS_BACKENDS_CPU_FUSE_H
#define GS_BACKENDS_CPU_FUSE_H

#include "backends/cpu/kernel.h"
#include "backends/cpu/vector.h"

enum { GS_FUSE_VALUES = 64, GS_FUSE_LEAVES = 60, GS_FUSE_DIMS = 2 * GS_MAX_RANK };

/* Rows are those of the outer dims, then those of the middle ones, which only a reduction over them
 * as the root has. */
enum gs_loop_region { GS_OUTER, GS_MIDDLE, GS_COLUMNS };

struct gs_domain {
  int ndims;
  int64_t size[GS_FUSE_DIMS];          /* all above 1 */
  int split;                           /* the first column dim; -1: undecided */
  int middle;                          /* the first middle dim; -1: none */
};

struct gs_fused_value {
  int step;
  bool is_leaf;
  enum gs_op op;
  int nargs, args[3];                  /* values */
  signed char map[GS_MAX_RANK];        /* the domain's dim for each dim of the step's type, or -1 */
};

struct gs_group {
  struct gs_domain domain;
  int nvalues, nleaves;
  struct gs_fused_value values[GS_FUSE_VALUES];                /* users first: the root is value 0 */
};

/* Memory for the values of a tile, which all kernels of a program use in turn. */
struct gs_scratch {
  int nthreads;
  int64_t size;                        /* bytes of one thread */
  char *memory;                        /* of all; to be freed after the kernels */
};

/* Find groups and make their kernels, by root, and kernels for the copies that remain.  NEEDED says of each step whether anything still asks
 * for its result in memory.  Kernels that exist stay.  False: out of memory. */
bool gs_cpu_fuse(const struct gs_program *program, struct gs_scratch *scratch,
                 struct gs_cpu_kernel **kernels, bool *needed);

/* The kernel of GROUP, for which SCRATCH is made large enough.  NULL: out of memory. */
struct gs_cpu_kernel *gs_fused_kernel_new(const struct gs_program *program, const struct gs_group *group,
                                          struct gs_scratch *scratch);

/* The functions for an operator whose last operand has DTYPE; NULL if there are none. */
gs_vector_apply *gs_fuse_function(enum gs_op op, enum gs_dtype dtype);
gs_vector_reduce *gs_fuse_reduction(enum gs_op op, enum gs_dtype dtype, bool each);

#endif
