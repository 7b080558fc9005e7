/* lang/graph.h - the program as a graph of tensor operators, for one logical device.
 *
 * A node is one operator; its value is one tensor.  Nodes are made by the gs_build functions
 * below (and gs_graph_add beneath them), which check and infer the type; they live in the graph's
 * arena and never change, except for the annotation of a shard node and a node's name.  Arguments
 * always have smaller ids than the node, so the order of ids is a topological one.
 *
 * An error gives the poison node: reported once, then carried along silently.
 */
#ifndef GS_LANG_GRAPH_H
#define GS_LANG_GRAPH_H

#include "lang/diag.h"
#include "lang/op.h"
#include "lang/tensor.h"

struct gs_sharding;                    /* partition/sharding.h */
struct gs_axis;
struct gs_mesh;                        /* partition/mesh.h */

enum { GS_MAX_LABELS = 52 };

/* One source piece of an exchange, see partition/program.h. */
struct gs_exchange_piece {
  int operand;
  int64_t first, count;                /* result positions [first, first+count) come from it */
  int64_t source, step, divide;        /* first+t reads source + (t/divide)*step, if divide | t */
};

/* The body of a loop or a branch: nodes that are computed when and as often as that says.  Regions are
 * numbered from 1, region 0 is the program itself.  Nodes of a body may use values of the regions
 * around it; nothing outside uses a value of the body but the nodes that close it. */
struct gs_region {
  int parent;
  int begin, end;                      /* ids of the nodes made while it was open, inner regions too */
};

/* A window along one dim: position o of the result sees positions o*stride - low + j*dilate, j below
 * size, of the operand with base_dilate - 1 gaps between its elements. */
struct gs_window { int64_t size, stride, low, high, base_dilate, dilate; };
/* Positions of the result over SIZE elements; negative sizes do not occur. */
int64_t gs_window_positions(const struct gs_window *window, int64_t size);

/* Along one dim, which part of a whole of SIZE elements a device sees: part p the LENGTH positions from
 * scale * p + offset on.  What lies outside of the whole is not there. */
struct gs_interval { int64_t scale, offset, length, size; };

/* A convolution: which dim is what, and a window for each spatial dim. */
struct gs_conv {
  const char *layout;                  /* "NHWC,HWIO->NHWC": for messages and plans */
  int nspatial;
  signed char batch, feature, spatial[GS_MAX_RANK];                /* dims of the first operand */
  signed char kernel_in, kernel_out, kernel_spatial[GS_MAX_RANK];  /* of the second */
  signed char out_batch, out_feature, out_spatial[GS_MAX_RANK];    /* of the result */
  int64_t groups, batch_groups;        /* at most one of them above 1 */
  uint32_t reversed;                   /* bit k: the kernel is turned round along spatial dim k */
  struct gs_window windows[GS_MAX_RANK];
};

/* Forward ones sum x[j] exp(-2 pi i j k / n), inverse ones divide by n; R: one side is real, and only
 * the n/2 + 1 coefficients that say everything are kept. */
enum gs_fft_kind { GS_FFT, GS_IFFT, GS_RFFT, GS_IRFFT };
enum gs_random_kind { GS_RANDOM_BITS, GS_RANDOM_UNIFORM, GS_RANDOM_NORMAL };

/* A manual region: its body speaks of one device's shards along some mesh axes. */
struct gs_manual {
  const struct gs_manual *parent;      /* the region that it stands in, or NULL */
  const struct gs_mesh *mesh;
  uint32_t axes;                       /* bit a: axis a of the mesh is manual here, the parent's with them */
  int naxes;                           /* of the mesh, and their sizes */
  int64_t sizes[16];
};

/* What an operator has beside its operands; which member is valid follows from the operator. */
union gs_attrs {
  struct { int index; struct gs_fill_spec fill; } input;       /* index: g->ninputs before it */
  struct { struct gs_tensor *tensor; } constant;
  struct {                             /* on a device the count starts at part(axes) * block */
    int dim; int naxes; const struct gs_axis *axes; int64_t block;
  } iota;
  struct { int dims[GS_MAX_RANK]; } transpose;   /* result dim i is operand dim dims[i] */
  struct { int dims[GS_MAX_RANK]; } broadcast;   /* operand dim i is result dim dims[i] */
  struct { uint32_t dims; bool keep; } reduce;   /* bit i: dim i is reduced; keep: to size 1 */
  struct { uint32_t dims; } reverse;
  struct { int64_t low[GS_MAX_RANK], high[GS_MAX_RANK], interior[GS_MAX_RANK]; } pad;
  struct {                             /* stride >= 1; the result's dims say how many */
    int64_t start[GS_MAX_RANK], stride[GS_MAX_RANK];
  } slice;
  struct { int dim; } concat;
  struct { int dim; int64_t shift; } roll;
  struct {                             /* labels are numbers 0..nlabels-1, -1 past a tensor's rank;
                                        * each stands in at least two of the operands and the
                                        * result, and is summed over if absent from the result */
    const char *spec;                  /* "bm,mh->bh": for messages and plans */
    int nlabels;
    signed char label[2][GS_MAX_RANK], out[GS_MAX_RANK];
  } einsum;
  struct { const struct gs_sharding *annotation; struct gs_span span; } shard;
  struct {                             /* gather, scatter: XLA's dimension numbers.  A slice has SIZES of
                                        * the operand's dims and begins where a vector of indices, along
                                        * their last dim, says. */
    uint32_t offset_dims;              /* result (scatter: updates) dims that are a slice's */
    uint32_t collapsed;                /* operand dims of size 1 in a slice that those leave out */
    int nindexed, nbatch;
    signed char indexed[GS_MAX_RANK];  /* the operand dim of each component of an index vector */
    signed char operand_batch[GS_MAX_RANK], indices_batch[GS_MAX_RANK];     /* the same position in both */
    int64_t sizes[GS_MAX_RANK];
    enum gs_op combine;                /* scatter: SUM PROD REDUCE_MAX REDUCE_MIN; GS_OP_COUNT: put */
    bool clamp;                        /* starts are moved so that slices fit; else what is outside of
                                        * the operand is left out (scatter) */
  } gather;
  struct { const struct gs_conv *conv; } conv;
  struct {                             /* windows: one for each dim */
    enum gs_op reduce;                 /* SELECT_AND_SCATTER: REDUCE_MAX, REDUCE_MIN */
    const struct gs_window *dims;
    const struct gs_interval *seen;    /* SELECT_AND_SCATTER on a device, one for each dim; else NULL */
  } window;
  struct { enum gs_fft_kind kind; int dim; int64_t size; } fft;        /* of the result: IRFFT only */
  struct { bool left, lower, transpose, unit; } solve;
  struct { enum gs_random_kind kind; } random;
  struct { int dim; bool descending, reverse; int64_t k; } order;      /* sort, top_k, cumulative */
  struct {                             /* manual regions */
    const struct gs_sharding *spec;    /* TO_SHARD, FROM_SHARD: the manual axes of each dim; NULL: none */
    uint32_t cutting;                  /* bit a: axis a of the mesh is one of them */
    int64_t parts[GS_MAX_RANK];        /* how many parts they make of each dim */
    int naxes;                         /* collectives: axes of the mesh, major to minor */
    signed char axes[16];
    enum gs_op reduce;                 /* psum, reduce_scatter: SUM REDUCE_MAX REDUCE_MIN */
    int dim, concat;
    int64_t shift;                     /* ppermute: from device i to i + shift … */
    int npairs; const int64_t (*pairs)[2];     /* … or, if there are pairs, from [0] to [1] */
  } manual;
  struct { int region, index; } carried;         /* LOOP_VALUE, LOOP_RESULT, COND_RESULT: which one */
  struct {                             /* LOOP, COND, and what closes their bodies */
    int regions[2];                    /* the body; the branches for true and for false */
    int64_t trips;                     /* of a loop; -1: as long as its last operand holds */
  } control;
  struct {                             /* collectives, device operators: partition/program.h */
    int dim, split_dim;
    int naxes; const struct gs_axis *axes;
    enum gs_op reduce;                 /* SUM PROD REDUCE_MAX REDUCE_MIN ALL ANY */
    int64_t block, size;
    double fill;
    int npieces; const struct gs_exchange_piece *pieces;
    int64_t scale, offset;             /* exchange: position 0 is scale * part(axes) + offset */
    const struct gs_sharding *from, *to;                       /* permute */
  } device;
};

struct gs_node {
  enum gs_op op;
  int id;
  int region;                          /* that it is made in */
  const struct gs_manual *manual;      /* the manual region it is in, or NULL */
  int nargs;
  struct gs_node **args;
  struct gs_type type;
  const union gs_attrs *attrs;         /* NULL where the operator has none */
  struct gs_span span;
  const char *name;                    /* the first variable bound to it, or NULL */
};

struct gs_graph {
  struct gs_arena *arena;
  struct gs_budget *budget;
  struct gs_diagnostics *diagnostics;
  struct gs_node **nodes;              /* by id */
  int nnodes, capacity;
  struct gs_region *regions;           /* [0] is not used */
  int nregions, region_capacity;
  int region;                          /* the innermost open one */
  const struct gs_manual *manual;      /* the open manual region, or NULL */
  const char *calling;                 /* the function, known to the user, that adds nodes now; NULL: operators */
  int ninputs;                         /* inputs and parameters made so far; gs_graph_add counts */
  struct gs_node poison;
};

/* Empty graph in ARENA; tensors of its constants count against BUDGET (may be NULL). */
void gs_graph_init(struct gs_graph *g, struct gs_arena *arena, struct gs_budget *budget,
                   struct gs_diagnostics *diagnostics);
/* Drop the tensors held by constants and fills.  The arena stays. */
void gs_graph_finish(struct gs_graph *g);

/* Open the body of a loop or a branch inside the current region: nodes made until it is closed are in
 * it.  Its number, or 0 when out of memory (then there is nothing to close). */
int gs_graph_open_region(struct gs_graph *g);
void gs_graph_close_region(struct gs_graph *g);
/* Whether REGION is OUTER or lies in it. */
bool gs_region_is_inside(const struct gs_region *regions, int region, int outer);

bool gs_node_is_poison(const struct gs_graph *g, const struct gs_node *node);

/* Make a node of OP over ARGS.  ATTRS is copied.  For INPUT, PARAM, CONSTANT, IOTA, RESHAPE,
 * BROADCAST, CONVERT and SLICE, TYPE gives the wanted result type (dims; for CONVERT the dtype);
 * elsewhere it is NULL and inferred.  Elementwise operands have the result's shape or rank 0. */
struct gs_node *gs_graph_add(struct gs_graph *g, enum gs_op op, struct gs_span at,
                             struct gs_node *const *args, int nargs, const union gs_attrs *attrs,
                             const struct gs_type *type);

/* What an infer function sees. It fills RESULT or reports and returns false. */
struct gs_infer {
  struct gs_diagnostics *diagnostics;
  struct gs_span at;
  const char *name;                    /* for messages */
  enum gs_op op;
  struct gs_node *const *args;
  int nargs;
  const union gs_attrs *attrs;
  const struct gs_type *wanted;        /* may be NULL */
  struct gs_type *result;
};
typedef bool gs_infer_function(const struct gs_infer *in);

/* Builders for what users write; each reports and returns poison on error. */
/* A scalar constant of DTYPE. */
struct gs_node *gs_build_scalar(struct gs_graph *g, struct gs_span at, enum gs_dtype dtype,
                                double value);
struct gs_node *gs_build_scalar_int(struct gs_graph *g, struct gs_span at, enum gs_dtype dtype,
                                    int64_t value);
/* Takes a reference of its own. */
struct gs_node *gs_build_constant(struct gs_graph *g, struct gs_span at, struct gs_tensor *tensor);
/* An elementwise operator with NumPy broadcasting of the operands (inserts broadcasts; operands of
 * rank 0 stay). */
struct gs_node *gs_build_elementwise(struct gs_graph *g, enum gs_op op, struct gs_span at,
                                     struct gs_node *const *args, int nargs);
struct gs_node *gs_build_convert(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                 enum gs_dtype dtype);
/* NumPy's broadcast_to; with DIMS (one result dim per operand dim, or NULL) XLA's. */
struct gs_node *gs_build_broadcast(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                   int rank, const int64_t *dims_wanted, const int *dims);
struct gs_node *gs_build_reshape(struct gs_graph *g, struct gs_span at, struct gs_node *x, int rank,
                                 const int64_t *dims);        /* one dim may be -1 */
/* Einsum with any number of operands, "..." and repeated labels; becomes a chain of two-operand
 * einsums (cheapest pair first), reductions, diagonals by a masked sum. */
struct gs_node *gs_build_einsum(struct gs_graph *g, struct gs_span at, const char *spec,
                                struct gs_node *const *args, int nargs);
/* a @ b as NumPy's matmul. */
struct gs_node *gs_build_matmul(struct gs_graph *g, struct gs_span at, struct gs_node *a,
                                struct gs_node *b);
struct gs_node *gs_build_dot_general(struct gs_graph *g, struct gs_span at, struct gs_node *a,
                                     struct gs_node *b, const int *batch_a, const int *batch_b,
                                     int nbatch, const int *contract_a, const int *contract_b,
                                     int ncontract);
/* Value number INDEX, of TYPE, that the body of the loop in the current region carries. */
struct gs_node *gs_build_loop_value(struct gs_graph *g, struct gs_span at, const struct gs_type *type,
                                    int index);
/* Slices of X that begin where INDICES say: integers, their last dim the vector dim.  A scatter's ATTRS
 * need no sizes. */
struct gs_node *gs_build_gather(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                struct gs_node *indices, const union gs_attrs *attrs);
struct gs_node *gs_build_scatter(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                 struct gs_node *indices, struct gs_node *updates,
                                 const union gs_attrs *attrs);
/* X[..., INDICES, ...] along DIM: indices of any rank, clamped. */
struct gs_node *gs_build_take(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                              struct gs_node *indices, int dim);
/* X with elements picked at the same time along several DIMS, ascending: INDICES[k], of equal shapes, for
 * DIMS[k].  Their dims come to stand where the first of DIMS was, or in FRONT. */
struct gs_node *gs_build_pick(struct gs_graph *g, struct gs_span at, struct gs_node *x, const int *dims,
                              struct gs_node *const *indices, int count, bool front);
/* The slice of SIZES that begins at STARTS, one integer scalar a dim, moved so that it fits; and X with
 * UPDATE put there. */
struct gs_node *gs_build_dynamic_slice(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                       struct gs_node *const *starts, const int64_t *sizes);
struct gs_node *gs_build_dynamic_update(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                        struct gs_node *update, struct gs_node *const *starts);

/* A loop over NINIT carried values.  gs_build_loop_begin opens the body's region and gives the values
 * that the body sees; gs_build_loop_end closes it and gives what the loop carries after its end.
 * NEXTS are the body's results, of the types of INITS.  The body runs TRIPS times or, when TRIPS is
 * -1, as long as CONDITION holds, a scalar pred computed in the body's region from its values.
 * False: reported, and the region is closed. */
bool gs_build_loop_begin(struct gs_graph *g, struct gs_span at, struct gs_node *const *inits, int ninits,
                         struct gs_node **values);
bool gs_build_loop_end(struct gs_graph *g, struct gs_span at, struct gs_node *const *inits,
                       struct gs_node *const *values, struct gs_node *const *nexts, int ninits,
                       int64_t trips, struct gs_node *condition, struct gs_node **results);
/* A branch by P, a scalar pred; THENS and OTHERWISES, of equal types, were made in REGIONS, closed now. */
bool gs_build_cond(struct gs_graph *g, struct gs_span at, struct gs_node *p, const int regions[2],
                   struct gs_node *const *thens, struct gs_node *const *otherwises, int nresults,
                   struct gs_node **results);
/* By node id, for values in manual regions: the mesh axes (bits) along which devices may hold different
 * values.  What a loop carries whose body is still open may differ along all manual axes.  NULL: out of
 * memory. */
uint32_t *gs_graph_varying(struct gs_arena *arena, const struct gs_graph *g);
/* DIMS is a bit set. */
struct gs_node *gs_build_reduce(struct gs_graph *g, enum gs_op op, struct gs_span at,
                                struct gs_node *x, uint32_t dims, bool keep);
/* START, END, STRIDE per dim, within the dims (0 <= start <= end <= dim, stride >= 1). */
struct gs_node *gs_build_slice(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                               const int64_t *start, const int64_t *end, const int64_t *stride);

#endif
