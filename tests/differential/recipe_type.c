/* tests/differential/recipe_type.c - the types of a recipe's nodes, worked out independently of
 * the library's own inference. */
#include <config.h>

#include "tests/differential/recipe.h"

#include <string.h>

static const enum recipe_class classes[] = {
#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) CLASS_##infer,
#include "lang/ops.def"
#undef GS_OP
};

enum recipe_class recipe_class(enum gs_op op)
{
  return classes[op];
}

bool recipe_is_leaf(enum gs_op op)
{
  return classes[op] == CLASS_leaf || classes[op] == CLASS_iota;
}

bool recipe_is_visible(enum gs_op op)
{
  return classes[op] < CLASS_component;
}

static bool ordered_type(enum gs_dtype dtype)
{
  return gs_dtype_is_integer(dtype) || gs_dtype_kind(dtype) == GS_KIND_FLOAT;
}

bool recipe_accepts(enum gs_op op, int argument, enum gs_dtype dtype)
{
  enum gs_dtype_kind kind = gs_dtype_kind(dtype);
  bool complex = kind == GS_KIND_COMPLEX;
  switch (classes[op]) {
  case CLASS_arithmetic:
    if (op == GS_OP_NEG || op == GS_OP_SUB)
      return kind == GS_KIND_SIGNED || kind == GS_KIND_FLOAT || complex;
    if (op == GS_OP_ADD || op == GS_OP_MUL)
      return ordered_type(dtype) || complex;
    if (op == GS_OP_POW)
      return kind == GS_KIND_FLOAT;
    return ordered_type(dtype);
  case CLASS_floating:
  case CLASS_predicate:
    return kind == GS_KIND_FLOAT;
  case CLASS_logical:
    return gs_dtype_is_integer(dtype) || kind == GS_KIND_PRED;
  case CLASS_integral:
    return gs_dtype_is_integer(dtype);
  case CLASS_ordered:
  case CLASS_comparison:
  case CLASS_clamp:
  case CLASS_reduce_order:
  case CLASS_reduce_index:
    return ordered_type(dtype);
  case CLASS_where:
    return argument > 0 || kind == GS_KIND_PRED;
  case CLASS_reduce_pred:
    return kind == GS_KIND_PRED;
  case CLASS_reduce_sum:
    return ordered_type(dtype) || (complex && op == GS_OP_SUM);
  case CLASS_einsum:
    return kind != GS_KIND_PRED;
  case CLASS_convert:
    return !complex;
  case CLASS_leaf: case CLASS_iota: case CLASS_equality: case CLASS_shard: case CLASS_reshape:
  case CLASS_transpose: case CLASS_broadcast: case CLASS_reverse: case CLASS_pad:
  case CLASS_concat: case CLASS_slice: case CLASS_roll: case CLASS_to_shard: case CLASS_from_shard: case CLASS_psum: case CLASS_manual_gather:
  case CLASS_manual_scatter: case CLASS_manual_exchange: case CLASS_ppermute: case CLASS_axis_index:
  case CLASS_component: case CLASS_conjugate: case CLASS_complex:
  case CLASS_bitcast: case CLASS_fft: case CLASS_cholesky: case CLASS_triangular_solve: case CLASS_random:
  case CLASS_conv: case CLASS_reduce_window: case CLASS_select_and_scatter:
  case CLASS_gather: case CLASS_scatter:
  case CLASS_sort: case CLASS_top_k: case CLASS_cumulative: case CLASS_cumulative_order: case CLASS_carried:
  case CLASS_carry: case CLASS_control: case CLASS_loop_result: case CLASS_cond_result:
  case CLASS_device:
    break;
  }
  return true;
}

bool recipe_broadcast(const struct gs_type *a, const struct gs_type *b, struct gs_type *shape)
{
  struct gs_type result = a->rank >= b->rank ? *a : *b;
  for (int i = 0; i < result.rank; i++) {
    int from_a = i - (result.rank - a->rank), from_b = i - (result.rank - b->rank);
    int64_t x = from_a < 0 ? 1 : a->dims[from_a], y = from_b < 0 ? 1 : b->dims[from_b];
    if (x != y && x != 1 && y != 1)
      return false;
    result.dims[i] = x == 1 ? y : x;
  }
  *shape = result;
  return true;
}

static bool type_elementwise(const struct recipe *r, struct recipe_node *n)
{
  enum recipe_class class = classes[n->op];
  int typed = class == CLASS_where ? 1 : 0;          /* the first operand of the common type */
  struct gs_type type = r->nodes[n->args[0]].type;
  for (int i = 1; i < n->nargs; i++) {
    const struct gs_type *t = &r->nodes[n->args[i]].type;
    if ((i > typed && t->dtype != r->nodes[n->args[typed]].type.dtype) ||
        !recipe_broadcast(&type, t, &type))
      return false;
  }
  bool truth = class == CLASS_predicate || class == CLASS_equality || class == CLASS_comparison;
  type.dtype = class == CLASS_convert ? n->type.dtype
               : truth ? GS_DTYPE_PRED : r->nodes[n->args[typed]].type.dtype;
  n->type = type;
  return true;
}

static bool type_reduce(const struct gs_type *x, struct recipe_node *n)
{
  uint32_t reduced = n->attrs.reduce.dims;
  struct gs_type type = { .dtype = classes[n->op] == CLASS_reduce_index ? GS_DTYPE_S32 : x->dtype };
  for (int i = 0; i < x->rank; i++) {
    if ((reduced >> i & 1) == 0)
      type.dims[type.rank++] = x->dims[i];
    else if (n->attrs.reduce.keep)
      type.dims[type.rank++] = 1;
    if (classes[n->op] == CLASS_reduce_index && (reduced >> i & 1) != 0 && x->dims[i] == 0)
      return false;
  }
  n->type = type;
  return reduced >> x->rank == 0;
}

static bool type_pad(const struct gs_type *x, struct recipe_node *n)
{
  n->type = *x;
  for (int i = 0; i < x->rank; i++) {
    int64_t between = x->dims[i] > 0 ? (x->dims[i] - 1) * n->attrs.pad.interior[i] : 0;
    n->type.dims[i] = n->attrs.pad.low[i] + x->dims[i] + between + n->attrs.pad.high[i];
    if (n->type.dims[i] < 0 || n->type.dims[i] > 64)
      return false;
  }
  return true;
}

static bool type_concat(const struct recipe *r, struct recipe_node *n)
{
  int dim = n->attrs.concat.dim;
  n->type = r->nodes[n->args[0]].type;
  for (int i = 1; i < n->nargs; i++) {
    struct gs_type t = r->nodes[n->args[i]].type;
    int64_t more = dim < t.rank ? t.dims[dim] : 0;
    if (dim >= t.rank)
      return false;
    t.dims[dim] = n->type.dims[dim];
    if (!gs_type_equal(&t, &n->type))
      return false;
    n->type.dims[dim] += more;
  }
  return dim < n->type.rank;
}

static bool type_slice(const struct gs_type *x, struct recipe_node *n)
{
  if (n->type.rank != x->rank)
    return false;
  n->type.dtype = x->dtype;
  for (int i = 0; i < x->rank; i++) {
    int64_t count = n->type.dims[i], start = n->attrs.slice.start[i];
    if (start > x->dims[i] ||
        (count > 0 && start + (count - 1) * n->attrs.slice.stride[i] >= x->dims[i]))
      return false;
  }
  return true;
}

/* Labels of one operand (a comma or ">" ends it); each is one character, "." three times is the
 * ellipsis, which is used only for all leading dims. */
static bool type_einsum(const struct recipe *r, struct recipe_node *n)
{
  int64_t size[128];
  memset(size, -1, sizeof size);
  const char *at = n->spec;
  struct gs_type type = { .dtype = r->nodes[n->args[0]].type.dtype }, dots = { 0 };
  for (int i = 0; i < n->nargs; i++, at++) {
    const struct gs_type *t = &r->nodes[n->args[i]].type;
    int dim = 0;
    if (t->dtype != type.dtype)
      return false;
    if (*at == '.') {
      at += 3;
      dim = t->rank - (int)strcspn(at, ",-");
      if (dim < 0)
        return false;
      struct gs_type leading = { .rank = dim };
      memcpy(leading.dims, t->dims, (size_t)dim * sizeof t->dims[0]);
      if (!recipe_broadcast(&dots, &leading, &dots))
        return false;
    }
    for (; *at != ',' && *at != '-'; at++, dim++) {
      int64_t *known = &size[(int)*at & 127];
      if (dim >= t->rank || (*known >= 0 && *known != t->dims[dim]))
        return false;
      *known = t->dims[dim];
    }
    if (dim != t->rank)
      return false;
  }
  for (at++; *at != '\0'; at++) {
    if (*at != '.') {
      type.dims[type.rank++] = size[(int)*at & 127];
      continue;
    }
    memcpy(type.dims, dots.dims, sizeof dots.dims);
    type.rank = dots.rank;
    at += 2;
  }
  n->type = type;
  return true;
}

static bool type_broadcast(const struct gs_type *x, struct recipe_node *n)
{
  n->type.dtype = x->dtype;
  for (int i = 0; i < x->rank; i++) {
    int to = n->attrs.broadcast.dims[i];
    if (to >= n->type.rank || (x->dims[i] != 1 && x->dims[i] != n->type.dims[to]))
      return false;
  }
  return true;
}

static bool type_transpose(const struct gs_type *x, struct recipe_node *n)
{
  n->type = *x;
  for (int i = 0; i < x->rank; i++) {
    if (n->attrs.transpose.dims[i] >= x->rank)
      return false;
    n->type.dims[i] = x->dims[n->attrs.transpose.dims[i]];
  }
  return true;
}

static bool type_shape(struct recipe *r, struct recipe_node *n)
{
  const struct gs_type *x = &r->nodes[n->args[0]].type;
  switch (classes[n->op]) {
  case CLASS_reshape:
    n->type.dtype = x->dtype;
    return gs_type_elements(&n->type) == gs_type_elements(x);
  case CLASS_transpose:
    return type_transpose(x, n);
  case CLASS_broadcast:
    return type_broadcast(x, n);
  case CLASS_pad:
    return r->nodes[n->args[1]].type.dtype == x->dtype && r->nodes[n->args[1]].type.rank == 0 &&
           type_pad(x, n);
  case CLASS_concat:
    return type_concat(r, n);
  case CLASS_slice:
    return type_slice(x, n);
  case CLASS_reverse:
    n->type = *x;
    return n->attrs.reverse.dims >> x->rank == 0;
  case CLASS_roll:
    n->type = *x;
    return n->attrs.roll.dim < x->rank;
  case CLASS_shard:
    n->type = *x;
    return true;
  default:
    return false;
  }
}

bool recipe_type_node(struct recipe *r, int index)
{
  struct recipe_node *n = &r->nodes[index];
  for (int i = 0; i < n->nargs; i++)
    if (!recipe_accepts(n->op, i, r->nodes[n->args[i]].type.dtype))
      return false;
  bool fits;
  switch (gs_op_info(n->op)->group) {
  case GS_GROUP_LEAF:
    fits = n->op != GS_OP_IOTA || n->attrs.iota.dim < n->type.rank;
    break;
  case GS_GROUP_ELEMENTWISE:
    fits = type_elementwise(r, n);
    break;
  case GS_GROUP_REDUCTION:
    fits = type_reduce(&r->nodes[n->args[0]].type, n);
    break;
  case GS_GROUP_CONTRACTION:
    fits = type_einsum(r, n);
    break;
  case GS_GROUP_SHAPE:
  case GS_GROUP_SHARDING:
    fits = type_shape(r, n);
    break;
  default:
    fits = false;
  }
  return fits && n->type.rank <= 6 && gs_type_elements(&n->type) <= 8192;
}

bool recipe_retype(struct recipe *r)
{
  for (int i = 0; i < r->nnodes; i++)
    if (!recipe_type_node(r, i))
      return false;
  return true;
}

void recipe_collect(struct recipe *r)
{
  bool needed[RECIPE_NODES] = { false };
  int renamed[RECIPE_NODES], kept = 0;
  for (int i = 0; i < r->noutputs; i++)
    needed[r->outputs[i]] = true;
  for (int i = r->nnodes - 1; i >= 0; i--)
    for (int j = 0; needed[i] && j < r->nodes[i].nargs; j++)
      needed[r->nodes[i].args[j]] = true;
  for (int i = 0; i < r->nnodes; i++) {
    if (!needed[i])
      continue;
    renamed[i] = kept;
    r->nodes[kept] = r->nodes[i];
    for (int j = 0; j < r->nodes[kept].nargs; j++)
      r->nodes[kept].args[j] = renamed[r->nodes[kept].args[j]];
    kept++;
  }
  r->nnodes = kept;
  for (int i = 0; i < r->noutputs; i++)
    r->outputs[i] = renamed[r->outputs[i]];
}
