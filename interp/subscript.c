/* interp/subscript.c - x[...]: types from element types, items of lists, slices of tensors. */
#include <config.h>

#include "interp/eval.h"

#include <stdio.h>
#include <string.h>

/* f32[8,16] */
static bool index_dtype(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                        enum gs_dtype dtype, struct gs_value *out)
{
  struct gs_type *type = GS_NEW(s->values, struct gs_type);
  if (type == NULL)
    return gs_session_out_of_memory(s, ast->span);
  type->dtype = dtype;
  if (ast->nitems - 1 > GS_MAX_RANK)
    return gs_session_fail(s, gs_eval_span(s, ast), "%d dims; at most %d are possible",
                           ast->nitems - 1, GS_MAX_RANK);
  type->rank = ast->nitems - 1;
  for (int i = 0; i < type->rank; i++) {
    const struct gs_ast *item = ast->items[i + 1];
    struct gs_value dim;
    if (!gs_eval(s, scope, item, &dim))
      return false;
    if (dim.kind != GS_VALUE_INT)
      return gs_session_fail(s, gs_eval_span(s, item), "a dim's size is an integer, not %s",
                             gs_value_describe(s->values, dim));
    if (dim.integer < 0)
      return gs_session_fail(s, gs_eval_span(s, item), "a dim's size is %lld, below 0",
                             (long long)dim.integer);
    type->dims[i] = dim.integer;
  }
  if (!gs_type_valid(type))
    return gs_session_fail(s, gs_eval_span(s, ast), "%s has more elements than can be addressed",
                           gs_type_string(s->values, type));
  *out = (struct gs_value){ .kind = GS_VALUE_TYPE, .type = type };
  return true;
}

/* One bound of a range; ABSENT stays at its default. */
static bool range_bound(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                        int which, int64_t *bound, bool *given)
{
  const struct gs_ast *item = which < ast->nitems ? ast->items[which] : NULL;
  struct gs_value value;
  *given = false;
  if (item == NULL)
    return true;
  if (!gs_eval(s, scope, item, &value))
    return false;
  if (value.kind == GS_VALUE_NONE)
    return true;
  if (value.kind != GS_VALUE_INT)
    return gs_session_fail(s, gs_eval_span(s, item), "a slice's bounds are integers, not %s",
                           gs_value_describe(s->values, value));
  *given = true;
  *bound = value.integer;
  return true;
}

static int64_t clamp_bound(int64_t bound, int64_t size)
{
  if (bound < 0)
    bound = bound < -size ? 0 : bound + size;
  return bound > size ? size : bound;
}

/* START, END and STEP of a:b:s over SIZE elements, as Python clamps them.  A negative step is
 * given as the same elements from low to high, to be reversed. */
struct range {
  int64_t start, end, step;
  bool reversed;
};

static bool eval_range(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                       int64_t size, struct range *range)
{
  int64_t start = 0, end = size, step = 1;
  bool has_start, has_end, has_step;
  if (!range_bound(s, scope, ast, 0, &start, &has_start) ||
      !range_bound(s, scope, ast, 1, &end, &has_end) ||
      !range_bound(s, scope, ast, 2, &step, &has_step))
    return false;
  if (step == 0)
    return gs_session_fail(s, gs_eval_span(s, ast), "a slice's step is 0");
  if (step == INT64_MIN)
    step++;
  range->reversed = step < 0;
  range->step = step < 0 ? -step : step;
  if (range->step > size)              /* the same elements, and nothing below overflows */
    range->step = size > 0 ? size : 1;
  if (step > 0) {
    range->start = clamp_bound(start, size);
    range->end = clamp_bound(end, size);
    if (range->end < range->start)
      range->end = range->start;
    return true;
  }
  /* From `first` down to above `last`; seen from below it starts at the lowest element taken. */
  int64_t first = has_start ? (start < 0 ? start + size : start) : size - 1;
  int64_t last = has_end ? (end < 0 ? (end < -size ? -1 : end + size) : end) : -1;
  if (first >= size)
    first = size - 1;
  int64_t count = first > last ? (first - last - 1) / range->step + 1 : 0;
  range->start = count > 0 ? first - (count - 1) * range->step : 0;
  range->end = count > 0 ? first + 1 : 0;
  return true;
}

static bool index_value(struct gs_session *s, struct gs_span at, struct gs_value subscript,
                        int64_t size, const char *what, int64_t *index)
{
  if (subscript.kind != GS_VALUE_INT)
    return gs_session_fail(s, at, "an index of %s is an integer, not %s", what,
                           gs_value_describe(s->values, subscript));
  *index = subscript.integer < 0 ? subscript.integer + size : subscript.integer;
  if (*index >= 0 && *index < size)
    return true;
  return gs_session_fail(s, at, "index %lld is outside %s of size %lld",
                         (long long)subscript.integer, what, (long long)size);
}

static bool slice_sequence(struct gs_session *s, const struct gs_ast *ast, struct gs_value list,
                           const struct range *range, struct gs_value *out)
{
  int64_t count = range->end > range->start ? (range->end - range->start - 1) / range->step + 1 : 0;
  *out = gs_value_list(s->values, list.kind, (size_t)count);
  if (out->kind == GS_VALUE_ABSENT)
    return gs_session_out_of_memory(s, ast->span);
  for (int64_t i = 0; i < count; i++)
    *gs_value_item(*out, (size_t)(range->reversed ? count - 1 - i : i)) =
        *gs_value_item(list, (size_t)(range->start + i * range->step));
  return true;
}

/* list[i], list[a:b], "text"[i], "text"[a:b] */
static bool index_sequence(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                           struct gs_value base, struct gs_value *out)
{
  bool text = base.kind == GS_VALUE_STRING;
  const char *what = text ? "a string" : gs_value_kind_name(base.kind);
  if (ast->nitems != 2)
    return gs_session_fail(s, gs_eval_span(s, ast), "%s takes one subscript, not %d", what,
                           ast->nitems - 1);
  const struct gs_ast *item = ast->items[1];
  struct range range;
  if (item->kind == GS_AST_RANGE) {
    if (!eval_range(s, scope, item, (int64_t)base.length, &range))
      return false;
    if (!text)
      return slice_sequence(s, ast, base, &range, out);
    if (range.step != 1 || range.reversed)
      return gs_session_fail(s, gs_eval_span(s, item), "a slice of a string has step 1");
  } else {
    struct gs_value subscript;
    if (!gs_eval(s, scope, item, &subscript) ||
        !index_value(s, gs_eval_span(s, item), subscript, (int64_t)base.length, what, &range.start))
      return false;
    if (!text) {
      *out = *gs_value_item(base, (size_t)range.start);
      return true;
    }
    range.end = range.start + 1;
  }
  *out = gs_value_string(s->values, base.text + range.start, (size_t)(range.end - range.start));
  return out->kind != GS_VALUE_ABSENT || gs_session_out_of_memory(s, ast->span);
}

/* What the subscripts of a tensor come to: a slice, dims to turn round, and the shape after it. */
struct selection {
  int64_t start[GS_MAX_RANK], end[GS_MAX_RANK], step[GS_MAX_RANK];
  uint32_t reversed;
  int64_t shape[GS_MAX_RANK];
  int rank;                            /* of shape */
  bool sliced, reshaped;
  int npicks, picked[GS_MAX_RANK];     /* dims of shape that tensors pick elements of */
  struct gs_node *picks[GS_MAX_RANK];
};

static bool add_dim(struct gs_session *s, const struct gs_ast *ast, struct selection *selection,
                    int64_t size)
{
  if (selection->rank == GS_MAX_RANK)
    return gs_session_fail(s, gs_eval_span(s, ast), "the result has more than %d dims",
                           GS_MAX_RANK);
  selection->shape[selection->rank++] = size;
  return true;
}

static bool select_range(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *item,
                         int dim, int64_t size, struct selection *selection)
{
  struct range range;
  if (!eval_range(s, scope, item, size, &range))
    return false;
  int64_t count = (range.end - range.start + range.step - 1) / range.step;
  selection->start[dim] = range.start;
  selection->end[dim] = range.end;
  selection->step[dim] = range.step;
  if (range.start != 0 || range.end != size || range.step != 1)
    selection->sliced = true;
  if (range.reversed && count > 1)
    selection->reversed |= 1u << dim;
  return add_dim(s, item, selection, count);
}

/* A subscript that is a tensor of integers, or a list of them. */
static bool select_tensor(struct gs_session *s, const struct gs_ast *item, struct gs_value subscript,
                          int dim, int64_t size, struct selection *selection)
{
  struct gs_span at = gs_eval_span(s, item);
  struct gs_node *node = subscript.node;
  if (subscript.kind != GS_VALUE_TENSOR) {
    struct gs_type type = { .dtype = GS_DTYPE_S32, .rank = 1, .dims = { subscript.length } };
    struct gs_tensor *tensor = gs_tensor_new(&s->budget, &type);
    if (tensor == NULL)
      return gs_session_out_of_memory(s, at);
    bool ok = true;
    for (uint32_t k = 0; k < subscript.length && ok; k++) {
      int64_t index;
      ok = index_value(s, at, *gs_value_item(subscript, k), size, "the dim", &index);
      if (ok)
        gs_element_set_int(type.dtype, tensor->data, k, index);
    }
    node = ok ? gs_build_constant(&s->graph, at, tensor) : &s->graph.poison;
    gs_tensor_unref(tensor);
    if (gs_node_is_poison(&s->graph, node))
      return false;
  }
  if (!gs_dtype_is_integer(node->type.dtype)) {
    gs_session_fail(s, at, "an index is an integer, not %s", gs_type_string(s->values, &node->type));
    gs_hint(&s->diagnostics, "where(p, a, b) picks by truth values");
    return false;
  }
  selection->start[dim] = 0;
  selection->end[dim] = size;
  selection->step[dim] = 1;
  selection->picked[selection->npicks] = selection->rank;
  selection->picks[selection->npicks++] = node;
  return add_dim(s, item, selection, size);
}

static bool select_index(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *item,
                         int dim, int64_t size, struct selection *selection)
{
  struct gs_value subscript;
  if (!gs_eval(s, scope, item, &subscript))
    return false;
  if (subscript.kind == GS_VALUE_TENSOR || gs_value_is_sequence(subscript))
    return select_tensor(s, item, subscript, dim, size, selection);
  char what[40];
  snprintf(what, sizeof what, "dim %d", dim);
  int64_t index;
  if (!index_value(s, gs_eval_span(s, item), subscript, size, what, &index))
    return false;
  selection->start[dim] = index;
  selection->end[dim] = index + 1;
  selection->step[dim] = 1;
  selection->sliced = selection->sliced || size != 1;
  selection->reshaped = true;
  return true;
}

static bool select_whole(struct gs_session *s, const struct gs_ast *ast, int dim, int64_t size,
                         struct selection *selection)
{
  selection->start[dim] = 0;
  selection->end[dim] = size;
  selection->step[dim] = 1;
  return add_dim(s, ast, selection, size);
}

static bool count_subscripts(struct gs_session *s, const struct gs_ast *ast,
                             const struct gs_type *type, int *used)
{
  int ellipses = 0;
  *used = 0;
  for (int i = 1; i < ast->nitems; i++) {
    enum gs_ast_kind kind = ast->items[i]->kind;
    ellipses += kind == GS_AST_ELLIPSIS;
    *used += kind != GS_AST_ELLIPSIS && kind != GS_AST_NEWAXIS;
  }
  if (ellipses > 1)
    return gs_session_fail(s, gs_eval_span(s, ast), "more than one ... among the subscripts");
  if (*used > type->rank)
    return gs_session_fail(s, gs_eval_span(s, ast), "%d subscripts for %s, which has %d dim%s",
                           *used, gs_type_string(s->values, type), type->rank,
                           type->rank == 1 ? "" : "s");
  return true;
}

static bool select_dims(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                        const struct gs_type *type, struct selection *selection)
{
  int used, dim = 0;
  if (!count_subscripts(s, ast, type, &used))
    return false;
  for (int i = 1; i < ast->nitems; i++) {
    const struct gs_ast *item = ast->items[i];
    bool ok = true;
    if (item->kind == GS_AST_ELLIPSIS) {
      for (int whole = type->rank - used; ok && whole > 0; whole--, dim++)
        ok = select_whole(s, item, dim, type->dims[dim], selection);
    } else if (item->kind == GS_AST_NEWAXIS) {
      selection->reshaped = true;
      ok = add_dim(s, item, selection, 1);
    } else if (item->kind == GS_AST_RANGE) {
      ok = select_range(s, scope, item, dim, type->dims[dim], selection);
      dim++;
    } else {
      ok = select_index(s, scope, item, dim, type->dims[dim], selection);
      dim++;
    }
    if (!ok)
      return false;
  }
  for (; dim < type->rank; dim++)
    if (!select_whole(s, ast, dim, type->dims[dim], selection))
      return false;
  return true;
}

/* Tensors among the subscripts pick together: they are broadcast to one shape, which stands where the
 * first of them was, or in front when others stand between them (NumPy's rule). */
static struct gs_node *pick(struct gs_session *s, struct gs_span at, struct gs_node *x,
                            struct selection *selection)
{
  struct gs_graph *g = &s->graph;
  struct gs_type shape = selection->picks[0]->type;
  bool apart = false;
  for (int k = 1; k < selection->npicks; k++) {
    const struct gs_type *t = &selection->picks[k]->type;
    apart = apart || selection->picked[k] != selection->picked[k - 1] + 1;
    int rank = t->rank > shape.rank ? t->rank : shape.rank;
    struct gs_type both = { .dtype = shape.dtype, .rank = rank };
    for (int i = 0; i < rank; i++) {
      int a = i - (rank - shape.rank), b = i - (rank - t->rank);
      int64_t da = a < 0 ? 1 : shape.dims[a], db = b < 0 ? 1 : t->dims[b];
      if (da != db && da != 1 && db != 1) {
        gs_session_fail(s, at, "the indices %s and %s do not broadcast", gs_type_string(s->values, &shape),
                        gs_type_string(s->values, t));
        return &g->poison;
      }
      both.dims[i] = da == 1 ? db : da;
    }
    shape = both;
  }
  for (int k = 0; k < selection->npicks; k++) {
    selection->picks[k] = gs_build_broadcast(g, at, selection->picks[k], shape.rank, shape.dims, NULL);
    selection->picks[k] = gs_build_convert(g, at, selection->picks[k], selection->picks[0]->type.dtype);
    if (gs_node_is_poison(g, selection->picks[k]))
      return &g->poison;
  }
  return gs_build_pick(g, at, x, selection->picked, selection->picks, selection->npicks, apart);
}

static bool index_tensor(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                         struct gs_node *x, struct gs_value *out)
{
  struct selection selection = { 0 };
  struct gs_span at = gs_eval_span(s, ast);
  if (!select_dims(s, scope, ast, &x->type, &selection))
    return false;
  if (selection.sliced)
    x = gs_build_slice(&s->graph, at, x, selection.start, selection.end, selection.step);
  if (selection.reversed != 0) {
    union gs_attrs attrs = { .reverse = { .dims = selection.reversed } };
    x = gs_graph_add(&s->graph, GS_OP_REVERSE, at, &x, 1, &attrs, NULL);
  }
  if (selection.reshaped)
    x = gs_build_reshape(&s->graph, at, x, selection.rank, selection.shape);
  if (selection.npicks > 0 && !gs_node_is_poison(&s->graph, x))
    x = pick(s, at, x, &selection);
  return gs_operate_node(s, x, out);
}

bool gs_eval_index(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                   struct gs_value *out)
{
  struct gs_value base;
  if (!gs_eval(s, scope, ast->items[0], &base))
    return false;
  switch (base.kind) {
  case GS_VALUE_DTYPE:
    return index_dtype(s, scope, ast, base.dtype, out);
  case GS_VALUE_TENSOR:
    return index_tensor(s, scope, ast, base.node, out);
  case GS_VALUE_LIST:
  case GS_VALUE_TUPLE:
  case GS_VALUE_STRING:
    return index_sequence(s, scope, ast, base, out);
  default:
    return gs_session_fail(s, gs_eval_span(s, ast->items[0]), "%s takes no subscripts",
                           gs_value_kind_name(base.kind));
  }
}
