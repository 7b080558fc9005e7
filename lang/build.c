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

/* Widen SHAPE by operand INDEX, dims aligned at the last.  OWNER tells for each dim counted from
 * the last which operand gave it its size. */
static bool join_shape(struct gs_graph *g, enum gs_op op, struct gs_span at,
                       struct gs_node *const *args, int index, struct gs_type *shape, int *owner)
{
  const struct gs_node *x = args[index];
  struct gs_type joined = { .dtype = x->type.dtype };
  joined.rank = x->type.rank > shape->rank ? x->type.rank : shape->rank;
  for (int back = 1; back <= joined.rank; back++) {
    int64_t *size = &joined.dims[joined.rank - back];
    if (back > shape->rank || back > x->type.rank) {
      bool from_x = back > shape->rank;
      *size = from_x ? x->type.dims[x->type.rank - back] : shape->dims[shape->rank - back];
      owner[back] = from_x ? index : owner[back];
      continue;
    }
    int64_t mine = x->type.dims[x->type.rank - back], theirs = shape->dims[shape->rank - back];
    if (mine != theirs && mine != 1 && theirs != 1) {
      const struct gs_node *other = args[owner[back]];
      int dim = x->type.rank - back, other_dim = other->type.rank - back;
      gs_error(g->diagnostics, at, "%s: shapes do not broadcast: dim %d of %s is %" PRId64
               ", dim %d of %s is %" PRId64, gs_op_info(op)->name, other_dim,
               GS_OPERAND(other, owner[back]), theirs, dim, GS_OPERAND(x, index), mine);
      gs_note(g->diagnostics, (struct gs_span){ 0 }, "%s is %s, %s is %s", 
              GS_OPERAND(other, owner[back]), GS_TYPE(&other->type), GS_OPERAND(x, index),
              GS_TYPE(&x->type));
      return false;
    }
    *size = mine == 1 ? theirs : mine;
    owner[back] = mine == 1 ? owner[back] : index;
  }
  *shape = joined;
  return true;
}

struct gs_node *gs_build_elementwise(struct gs_graph *g, enum gs_op op, struct gs_span at,
                                     struct gs_node *const *args, int nargs)
{
  enum { MOST_OPERANDS = 3 };
  if (nargs > MOST_OPERANDS || any_poison(g, args, nargs))
    return nargs > MOST_OPERANDS ? gs_graph_add(g, op, at, args, nargs, NULL, NULL) : &g->poison;
  struct gs_type shape = { 0 };
  int owner[GS_MAX_RANK + 1] = { 0 };
  for (int i = 0; i < nargs; i++) {
    if (!join_shape(g, op, at, args, i, &shape, owner))
      return &g->poison;
  }
  struct gs_node *wide[MOST_OPERANDS];
  bool repeated = false;
  for (int i = 0; i < nargs; i++) {
    bool fits = args[i]->type.rank == 0 || gs_shape_equal(&args[i]->type, &shape);
    repeated |= !fits;
    wide[i] = args[i];
  }
  /* Say what is wrong with the types in the user's shapes, before broadcasts hide the names. */
  if (repeated && !gs_operands_same_dtype(g->diagnostics, at, gs_op_info(op)->name, args, nargs,
                                          op == GS_OP_WHERE))
    return &g->poison;
  for (int i = 0; i < nargs; i++) {
    if (args[i]->type.rank != 0)
      wide[i] = gs_build_broadcast(g, at, args[i], shape.rank, shape.dims, NULL);
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

struct gs_node *gs_build_broadcast(struct gs_graph *g, struct gs_span at, struct gs_node *x, int rank,
                                   const int64_t *dims_wanted, const int *dims)
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
             " (the product of the other dims) does not divide", GS_OPERAND(x, 0), GS_TYPE(&x->type),
             elements, others);
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
      gs_error(g->diagnostics, at, "slice: %" PRId64 ":%" PRId64 ":%" PRId64 " is not a part of dim "
               "%d of %s, %s", start[i], end[i], stride[i], i, GS_OPERAND(x, 0), GS_TYPE(&x->type));
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
