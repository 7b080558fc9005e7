/* backends/reference/reference.h - one naive loop nest per operator, in the clearest C.
 *
 * This defines what is right; everything else is compared with it.  Floats are computed in double
 * and rounded once to the element type.
 */
#ifndef GS_BACKENDS_REFERENCE_REFERENCE_H
#define GS_BACKENDS_REFERENCE_REFERENCE_H

#include "backends/backend.h"

/* Where a local part lies in the whole tensor: for each dim its first position, and the whole's size.
 * What of the local dim reaches past the whole is padding. */
struct gs_place { int64_t begin[GS_MAX_RANK], size[GS_MAX_RANK]; };

/* One operator on whole host tensors, or on a device's local parts: the same thing but for operators
 * whose elements depend on their global position (gather, scatter, random). */
struct gs_kernel_call {
  enum gs_op op;
  const union gs_attrs *attrs;
  int nargs;
  const struct gs_type *const *arg_types;
  const void *const *args;             /* data, row-major */
  const struct gs_type *type;          /* of the result */
  void *result;                        /* room for it */
  const struct gs_place *place;        /* of operand 0 of indexing operators, of others the result's;
                                        * NULL: the whole is here */
};
/* Does not fail: types were checked when the graph was built. */
typedef void gs_reference_function(const struct gs_kernel_call *call);

/* The evaluator of OP; NULL for collective and device rows, and for leaves that hold data. */
gs_reference_function *gs_reference_find(enum gs_op op);

/* Values of OUTPUTS in the unpartitioned graph.  INPUTS as in struct gs_backend. Each node is
 * computed once and its tensor dropped after the last use. */
enum gs_status gs_reference_evaluate(const struct gs_host *host, const struct gs_graph *graph,
                                     struct gs_node *const *nodes, int nnodes,
                                     struct gs_tensor *const *inputs, int ninputs,
                                     struct gs_tensor **outputs);

#endif
