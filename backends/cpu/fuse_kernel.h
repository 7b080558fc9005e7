/* backends/cpu/fuse_kernel.h - a group made ready to run: nodes in order, and how the domain is cut.
 *
 * The domain is worked on in tiles, a few rows by all or some columns, small enough that the tile's
 * part of every value stays in the cache.  Where a row is too long for that and has reductions, the
 * tiles of a row are gone through once for each reduction that depends on another (passes), and
 * what comes before is computed again.
 */
#ifndef GS_BACKENDS_CPU_FUSE_KERNEL_H
#define GS_BACKENDS_CPU_FUSE_KERNEL_H

#include "backends/cpu/fuse.h"

enum gs_extent { GS_CONSTANT, GS_PER_ROW, GS_FULL };

struct gs_fused_node {
  bool is_leaf;
  enum gs_extent extent;
  enum gs_op op;
  enum gs_lane lane;                   /* of the result */
  int64_t size;                        /* bytes of its lane */
  int half;                            /* as gs_lane_half */
  gs_vector_apply *apply;              /* one of these three */
  gs_vector_convert *convert;
  gs_vector_reduce *reduce;
  enum gs_lane from;                   /* lane of a conversion's or reduction's operand */
  int nargs, args[3];
  uint64_t passes;                     /* bit by pass */
  int depth;                           /* reductions on the way to it */
  int64_t buffer;                      /* offset in a thread's scratch memory */
  int64_t sums;                        /* likewise a reduction's accumulators */
  /* Of a leaf: */
  int64_t strides[GS_FUSE_DIMS];       /* elements */
  int64_t stored;                      /* bytes of an element in memory */
  bool linear;                         /* rows and columns lie as in a tensor of the domain's shape */
};

struct gs_fused_kernel {
  struct gs_cpu_kernel kernel;
  int leaf_steps[GS_FUSE_LEAVES];      /* by leaf: the nodes' first */
  int ndims, split;
  int64_t size[GS_FUSE_DIMS];
  int64_t outer, middle, columns;      /* rows are outer * middle */
  bool sums_rows;                      /* the root reduces the middle dims */
  int nnodes, nleaves;                 /* leaves come first, the root last */
  int64_t tile_rows, tile_columns;
  bool by_rows;                        /* a unit is whole rows: there are reductions along them */
  int npasses;
  int64_t halves, spread;              /* offsets in scratch: 16-bit elements, a per-row value made full */
  const struct gs_scratch *scratch;
  struct gs_fused_node nodes[];
};

/* Run the kernel's units BEGIN to END; gs_fused_units counts them. */
int64_t gs_fused_units(const struct gs_fused_kernel *k);
void gs_fused_run(const struct gs_fused_kernel *k, const void *const *args, void *result, int64_t begin,
                  int64_t end, int thread);

#endif
