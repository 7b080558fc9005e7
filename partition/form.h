/* partition/form.h - the distributed forms named in lang/ops.def: what an operator does when factors
 * other than pass and reduce ones are cut, and what that sends.
 *
 * A form is two functions.  gs_bytes_<form> says what a device sends under an assignment of axes to
 * factors, or that it cannot run so; gs_emit_<form> makes the steps.  What both see follows from the
 * strategy's shardings; a form has no state.
 */
#ifndef GS_PARTITION_FORM_H
#define GS_PARTITION_FORM_H

#include "partition/builder.h"
#include "partition/choose.h"

/* An operator under an assignment. */
struct gs_form_query {
  const struct gs_node *node;
  const struct gs_rule *rule;
  const struct gs_axis_list *factors;          /* the axes on each factor */
  uint32_t masked;                             /* bit i: window dim i of a slice gives partial results */
  const struct gs_sharding *produced;
  const struct gs_sharding *const *required;
};
/* Bytes that a device sends inside; negative when it cannot run so. */
typedef double gs_bytes_function(const struct gs_form_query *query);

/* A layout of a value that some step holds. */
struct gs_held {
  const struct gs_sharding *sharding;
  int step;
  struct gs_held *next;
};

/* A program being made. */
struct gs_emitter {
  const struct gs_choose_request *r;
  const struct gs_choice *choices;
  struct gs_builder b;
  struct gs_held **held;               /* by node id */
};
/* Steps for NODE.  ARGS are steps that hold its operands in the required shardings, their padding along
 * reduce factors masked; they may be overwritten.  The step that holds the result in the produced
 * sharding is returned. */
typedef int gs_emit_function(struct gs_emitter *e, const struct gs_node *node, int *args,
                             const struct gs_strategy *strategy);

struct gs_form { gs_bytes_function *bytes; gs_emit_function *emit; };
const struct gs_form *gs_form_of(enum gs_op op);

gs_bytes_function gs_bytes_plain, gs_bytes_window, gs_bytes_index, gs_bytes_control,
    gs_bytes_sort, gs_bytes_top_k, gs_bytes_cumulative, gs_bytes_conv, gs_bytes_reduce_window,
    gs_bytes_select_and_scatter, gs_bytes_fft, gs_bytes_manual;
gs_emit_function gs_emit_plain, gs_emit_window, gs_emit_index, gs_emit_control, gs_emit_sort,
    gs_emit_top_k, gs_emit_cumulative, gs_emit_conv, gs_emit_reduce_window,
    gs_emit_select_and_scatter, gs_emit_fft, gs_emit_manual;

/* ---- Values ---- */

/* A step that holds the value of node ID in sharding WANTED, for USER (NULL: as itself); made where the
 * value is, outside of loops that it does not change in. */
int gs_emit_need(struct gs_emitter *e, int id, const struct gs_sharding *wanted, const struct gs_node *user);
/* Note that STEP holds the value of node ID in SHARDING. */
void gs_emit_hold(struct gs_emitter *e, int id, const struct gs_sharding *sharding, int step);
/* The steps of NODE.  False: out of memory. */
bool gs_emit_node(struct gs_emitter *e, const struct gs_node *node);

/* ---- Single steps; each returns the step's index. An error is kept in e->b.failed. ---- */

/* Zeroed attributes; NULL when out of memory. */
union gs_attrs *gs_emit_attrs(struct gs_emitter *e);
/* OP over ARGS, giving a value of the whole type GLOBAL in SHARDING. */
int gs_emit_add(struct gs_emitter *e, enum gs_op op, const int *args, int nargs,
                const union gs_attrs *attrs, const struct gs_type *global,
                const struct gs_sharding *sharding, const struct gs_node *node);
/* STEP with the padding of dim I overwritten by the identity of REDUCE, if there is padding. */
int gs_emit_mask(struct gs_emitter *e, int step, int i, enum gs_op reduce, const struct gs_node *node);
/* The same with FILL. */
int gs_emit_fill_padding(struct gs_emitter *e, int step, int i, double fill, const struct gs_node *node);
/* Elements of dim DIM from BEGIN on, as many as GLOBAL says. */
int gs_emit_slice(struct gs_emitter *e, int arg, int dim, int64_t begin,
                  const struct gs_type *global, const struct gs_sharding *sharding,
                  const struct gs_node *node);
/* A scalar s32: this device's part along AXES.  MESH is that of the shardings around. */
int gs_emit_part(struct gs_emitter *e, const struct gs_axis *axes, int naxes, const struct gs_mesh *mesh,
                 const struct gs_node *node);
/* A scalar f64. */
int gs_emit_number(struct gs_emitter *e, double value, const struct gs_node *node);
/* The sharding of a scalar that is equal on all devices, for NODE's surroundings. */
const struct gs_sharding *gs_emit_scalar(struct gs_emitter *e, const struct gs_node *node);
/* Reduce dim DIM locally by OP (also argmax, argmin). */
int gs_emit_reduce(struct gs_emitter *e, enum gs_op op, int arg, int dim, bool keep,
                   const struct gs_type *global, const struct gs_sharding *sharding,
                   const struct gs_node *node);
/* 0, 1, … along DIM; with CUT each device counts from its part of those axes times BLOCK. */
int gs_emit_iota(struct gs_emitter *e, int dim, const struct gs_dim_sharding *cut, int64_t block,
                 const struct gs_type *global, const struct gs_sharding *sharding,
                 const struct gs_node *node);
/* The parts along the axes of CUT put together along DIM. */
int gs_emit_gather(struct gs_emitter *e, int arg, int dim, const struct gs_dim_sharding *cut,
                   const struct gs_type *global, const struct gs_sharding *sharding,
                   const struct gs_node *node, const char *reason);

/* The identity of REDUCE (SUM PROD REDUCE_MAX … ARGMIN) as a number; may be infinite. */
double gs_emit_identity(enum gs_op reduce, enum gs_dtype dtype);
/* SH with dim I as in FROM. */
const struct gs_sharding *gs_emit_with_dim(struct gs_emitter *e, const struct gs_sharding *sh, int i,
                                           const struct gs_sharding *from);

#endif
