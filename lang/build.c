/* lang/build.c - what users write, as nodes: constants, NumPy's broadcasting, shapes, slices. */
#include <config.h>

#include "lang/graph.h"

#include <inttypes.h>
#include <string.h>

#include "lang/infer.h"

struct gs_node *gs_build_constant(struct gs_graph *g, struct gs_span at, struct gs_tensor *tensor)
{
  union gs_attrs attrs = { .constant = { tensor } };
  return gs_graph_add(g, GS_OP_CONSTANT, at, NULL, 0, &attrs, NULL);
}

/* A scalar tensor to be filled in; reports when there is no memory for it. */
static struct gs_tensor *new_scalar(struct gs_graph *g, struct gs_span at, enum gs_dtype dtype)
{
  struct gs_type type = gs_type_scalar(dtype);
  struct gs_tensor *tensor = gs_tensor_new(g->budget, &type);
  if (tensor == NULL)
    gs_error(g->diagnostics, at, "out of memory");
  return tensor;
}

/* A constant node that takes over the reference to TENSOR. */
static struct gs_node *hand_over(struct gs_graph *g, struct gs_span at, struct gs_tensor *tensor)
{
  struct gs_node *node = gs_build_constant(g, at, tensor);
  gs_tensor_unref(tensor);
  return node;
}

struct gs_node *gs_build_scalar(struct gs_graph *g, struct gs_span at, enum gs_dtype dtype,
                                double value)
{
  struct gs_tensor *tensor = new_scalar(g, at, dtype);
  if (tensor == NULL)
    return &g->poison;
  gs_element_set(dtype, tensor->data, 0, value);
  return hand_over(g, at, tensor);
}

struct gs_node *gs_build_scalar_int(struct gs_graph *g, struct gs_span at, enum gs_dtype dtype,
                                    int64_t value)
{
  struct gs_tensor *tensor = new_scalar(g, at, dtype);
  if (tensor == NULL)
    return &g->poison;
  gs_element_set_int(dtype, tensor->data, 0, value);
  return hand_over(g, at, tensor);
}

static bool any_poison(const struct gs_graph *g, struct gs_node *const *args, int nargs)
{
  for (int i = 0; i < nargs; i++) {
    if (gs_node_is_poison(g, args[i]))
      return true;
  }
  return false;
}

/* Operands in the course of being broadcast together. */
struct joined {
  struct gs_graph *graph;
  enum gs_op op;
  struct gs_span at;
  struct gs_node *const *args;
  struct gs_type shape;
  int owner[GS_MAX_RANK + 1];          /* which operand gave the size of a dim, from the last: 1 */
};

/* Report that operand INDEX does not fit the BACK-th dim from the last.  Returns false. */
static bool report_shapes(const struct joined *j, int index, int back)
{
  int owner = j->owner[back];
  const struct gs_node *other = j->args[owner], *x = j->args[index];
  int other_dim = other->type.rank - back, dim = x->type.rank - back;
  gs_error(j->graph->diagnostics, j->at, "%s: shapes do not broadcast: dim %d of %s is %" PRId64
           ", dim %d of %s is %" PRId64, gs_op_info(j->op)->name, other_dim,
           GS_OPERAND(other, owner), other->type.dims[other_dim], dim, GS_OPERAND(x, index),
           x->type.dims[dim]);
  gs_note(j->graph->diagnostics, (struct gs_span){ 0 }, "%s is %s, %s is %s",
          GS_OPERAND(other, owner), GS_TYPE(&other->type), GS_OPERAND(x, index),
          GS_TYPE(&x->type));
  return false;
}

/* Widen the shape by operand INDEX, dims aligned at the last; a size of 1 yields to any other. */
static bool join_shape(struct joined *j, int index)
{
  const struct gs_type *type = &j->args[index]->type, before = j->shape;
  struct gs_type *shape = &j->shape;
  shape->rank = type->rank > before.rank ? type->rank : before.rank;
  for (int back = 1; back <= shape->rank; back++) {
    int64_t theirs = back <= before.rank ? before.dims[before.rank - back] : 1;
    int64_t mine = back <= type->rank ? type->dims[type->rank - back] : 1;
    if (mine != theirs && mine != 1 && theirs != 1)
      return report_shapes(j, index, back);
    if (mine != 1 || back > before.rank)
      j->owner[back] = index;
    shape->dims[shape->rank - back] = mine != 1 ? mine : theirs;
  }
  return true;
}

struct gs_node *gs_build_elementwise(struct gs_graph *g, enum gs_op op, struct gs_span at,
                                     struct gs_node *const *args, int nargs)
{
  enum { MOST_OPERANDS = 3 };
  if (nargs > MOST_OPERANDS || any_poison(g, args, nargs))
    return nargs > MOST_OPERANDS ? gs_graph_add(g, op, at, args, nargs, NULL, NULL) : &g->poison;
  struct joined joined = { .graph = g, .op = op, .at = at, .args = args };
  for (int i = 0; i < nargs; i++) {
    if (!join_shape(&joined, i))
      return &g->poison;
  }
  struct gs_type shape = joined.shape;
  bool repeated = false;
  for (int i = 0; i < nargs; i++)
    repeated |= args[i]->type.rank != 0 && !gs_shape_equal(&args[i]->type, &shape);
  if (!repeated)
    return gs_graph_add(g, op, at, args, nargs, NULL, NULL);
  /* Say what is wrong with the types in the user's shapes, before broadcasts hide the names. */
  if (!gs_operands_same_dtype(g->diagnostics, at, gs_op_info(op)->name, args, nargs,
                              op == GS_OP_WHERE))
    return &g->poison;
  struct gs_node *wide[MOST_OPERANDS];
  for (int i = 0; i < nargs; i++) {
    wide[i] = args[i];
    if (args[i]->type.rank != 0)
      wide[i] = gs_build_broadcast(g, at, args[i], shape.rank, shape.dims, NULL);
    if (gs_node_is_poison(g, wide[i]))
      return &g->poison;               /* said once; the next operand would say it again */
  }
  return gs_graph_add(g, op, at, wide, nargs, NULL, NULL);
}

struct gs_node *gs_build_convert(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                 enum gs_dtype dtype)
{
  if (gs_node_is_poison(g, x) || x->type.dtype == dtype)
    return x;
  struct gs_type type = x->type;
  type.dtype = dtype;
  return gs_graph_add(g, GS_OP_CONVERT, at, &x, 1, NULL, &type);
}

/* A type of RANK wanted dims; reports a rank that is too large. */
static bool wanted_type(struct gs_graph *g, enum gs_op op, struct gs_span at, enum gs_dtype dtype,
                        int rank, const int64_t *dims, struct gs_type *type)
{
  if (rank > GS_MAX_RANK) {
    gs_error(g->diagnostics, at, "%s: rank %d is more than %d", gs_op_info(op)->name, rank,
             (int)GS_MAX_RANK);
    return false;
  }
  *type = (struct gs_type){ .dtype = dtype, .rank = rank };
  if (rank > 0)
    memcpy(type->dims, dims, (size_t)rank * sizeof *dims);
  return true;
}

struct gs_node *gs_build_broadcast(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                                   int rank, const int64_t *dims_wanted, const int *dims)
{
  struct gs_type type;
  if (gs_node_is_poison(g, x)
      || !wanted_type(g, GS_OP_BROADCAST, at, x->type.dtype, rank, dims_wanted, &type))
    return &g->poison;
  if (x->type.rank > rank) {
    gs_error(g->diagnostics, at, "broadcast: %s is %s, of higher rank than %s", GS_OPERAND(x, 0),
             GS_TYPE(&x->type), GS_TYPE(&type));
    return &g->poison;
  }
  if (gs_type_equal(&x->type, &type) && dims == NULL)
    return x;
  union gs_attrs attrs = { 0 };
  for (int i = 0; i < x->type.rank; i++)
    attrs.broadcast.dims[i] = dims != NULL ? dims[i] : rank - x->type.rank + i;
  return gs_graph_add(g, GS_OP_BROADCAST, at, &x, 1, &attrs, &type);
}

/* Put what fits in place of the -1 in TYPE. */
static bool complete_dims(struct gs_graph *g, struct gs_span at, const struct gs_node *x,
                          struct gs_type *type)
{
  int open = -1;
  int64_t others = 1, elements = gs_type_elements(&x->type);
  for (int i = 0; i < type->rank; i++) {
    if (type->dims[i] == -1 && open >= 0) {
      gs_error(g->diagnostics, at, "reshape: dims %d and %d are both -1, only one can be left open",
               open, i);
      return false;
    }
    if (type->dims[i] == -1)
      open = i;
    else if (type->dims[i] < 0 || !gs_mul_size(others, type->dims[i], &others))
      return true;                     /* gs_graph_add says that it is negative or too large */
  }
  if (open < 0)
    return true;
  if (others == 0 || elements % others != 0) {
    gs_error(g->diagnostics, at, "reshape: %s is %s with %" PRId64 " elements, which %" PRId64
             " (the product of the other dims) does not divide", GS_OPERAND(x, 0),
             GS_TYPE(&x->type), elements, others);
    return false;
  }
  type->dims[open] = elements / others;
  return true;
}

struct gs_node *gs_build_reshape(struct gs_graph *g, struct gs_span at, struct gs_node *x, int rank,
                                 const int64_t *dims)
{
  struct gs_type type;
  if (gs_node_is_poison(g, x)
      || !wanted_type(g, GS_OP_RESHAPE, at, x->type.dtype, rank, dims, &type)
      || !complete_dims(g, at, x, &type))
    return &g->poison;
  if (gs_type_equal(&x->type, &type))
    return x;
  return gs_graph_add(g, GS_OP_RESHAPE, at, &x, 1, NULL, &type);
}

struct gs_node *gs_build_reduce(struct gs_graph *g, enum gs_op op, struct gs_span at,
                                struct gs_node *x, uint32_t dims, bool keep)
{
  union gs_attrs attrs = { .reduce = { dims, keep } };
  return gs_graph_add(g, op, at, &x, 1, &attrs, NULL);
}

struct gs_node *gs_build_slice(struct gs_graph *g, struct gs_span at, struct gs_node *x,
                               const int64_t *start, const int64_t *end, const int64_t *stride)
{
  if (gs_node_is_poison(g, x))
    return &g->poison;
  struct gs_type type = x->type;
  union gs_attrs attrs = { 0 };
  for (int i = 0; i < type.rank; i++) {
    if (stride[i] < 1 || start[i] < 0 || end[i] > x->type.dims[i] || start[i] > end[i]) {
      gs_error(g->diagnostics, at, "slice: %" PRId64 ":%" PRId64 ":%" PRId64 " is not a part of "
               "dim %d of %s, %s", start[i], end[i], stride[i], i, GS_OPERAND(x, 0),
               GS_TYPE(&x->type));
      return &g->poison;
    }
    attrs.slice.start[i] = start[i];
    attrs.slice.stride[i] = stride[i];
    type.dims[i] = (end[i] - start[i]) / stride[i] + ((end[i] - start[i]) % stride[i] != 0);
  }
  if (gs_type_equal(&type, &x->type))
    return x;
  return gs_graph_add(g, GS_OP_SLICE, at, &x, 1, &attrs, &type);
}
