/* interp/functions_manual.c - manual regions and the collectives that are written in them. */
#include <config.h>

#include "interp/builtin.h"

#include <inttypes.h>
#include <string.h>

#include "interp/annotation.h"
#include "interp/eval.h"

enum { MAX_VALUES = 64 };

/* The mesh axis that VALUE means: an axis value, a name or a number. */
static bool axis_of(struct gs_call *call, const struct gs_mesh *mesh, struct gs_value value, struct gs_span at,
                    int *axis)
{
  const char *name = value.kind == GS_VALUE_STRING ? value.text
                     : value.kind == GS_VALUE_AXIS ? value.mesh->axes[value.length].name : NULL;
  *axis = name != NULL ? gs_mesh_find(mesh, name) : value.kind == GS_VALUE_INT ? (int)value.integer : -1;
  if (*axis >= 0 && *axis < mesh->naxes && (name != NULL || value.integer < mesh->naxes))
    return true;
  struct gs_text text = gs_session_text(call->session);
  gs_mesh_print(&text, mesh);
  if (name != NULL)
    gs_session_fail(call->session, at, "%s: no mesh axis is called \"%s\"", call->builtin->name, name);
  else
    gs_session_fail(call->session, at, "%s: %s is no mesh axis", call->builtin->name,
                    gs_value_describe(call->session->values, value));
  gs_hint(&call->session->diagnostics, "the mesh is [%s]", gs_text_string(&text));
  return false;
}

/* Argument I: an axis or a list of them. */
static bool axes_argument(struct gs_call *call, int i, const struct gs_mesh *mesh, signed char *axes, int *count)
{
  struct gs_value value = call->args[i].value;
  bool list = gs_value_is_sequence(value);
  int n = list ? (int)value.length : 1;
  *count = 0;
  for (int k = 0; k < n; k++) {
    int axis;
    if (!axis_of(call, mesh, list ? *gs_value_item(value, (size_t)k) : value, call->args[i].span, &axis))
      return false;
    for (int j = 0; j < *count; j++)
      if (axes[j] == axis)
        return gs_session_fail(call->session, call->args[i].span, "%s: axis %s stands there twice",
                               call->builtin->name, mesh->axes[axis].name);
    axes[(*count)++] = (signed char)axis;
  }
  return true;
}

/* ---- The region ---- */

struct region {
  struct gs_call *call;
  const struct gs_mesh *mesh;
  struct gs_manual *manual;
  uint32_t axes;                       /* its own */
  int nargs;
  struct gs_node *args[MAX_VALUES];
  struct gs_value inside[MAX_VALUES];
};

static bool start_region(struct region *r)
{
  struct gs_call *call = r->call;
  struct gs_session *s = call->session;
  signed char axes[GS_MESH_MAX_AXES];
  int naxes = 0;
  r->mesh = s->mesh;
  r->manual = GS_NEW(s->values, struct gs_manual);
  if (r->manual == NULL)
    return gs_session_out_of_memory(s, call->span);
  if (s->mesh == NULL)
    return gs_session_fail(s, call->span, "manual: there is no mesh yet");
  const struct gs_manual *parent = s->graph.manual;
  if (parent != NULL && parent->mesh != s->mesh)
    return gs_session_fail(s, call->span, "manual: the region around it is over another mesh");
  r->manual->mesh = r->mesh;
  r->manual->naxes = r->mesh->naxes;
  for (int a = 0; a < r->mesh->naxes; a++)
    r->manual->sizes[a] = r->mesh->axes[a].size;
  if (gs_arg_given(call, 4) && !axes_argument(call, 4, r->mesh, axes, &naxes))
    return false;
  uint32_t taken = parent != NULL ? parent->axes : 0;
  for (int k = 0; k < naxes; k++) {
    if (taken >> axes[k] & 1)
      return gs_session_fail(s, call->args[4].span, "manual: axis %s is manual already in the region around it",
                             r->mesh->axes[axes[k]].name);
    r->axes |= 1u << axes[k];
  }
  if (!gs_arg_given(call, 4))
    r->axes = ((1u << r->mesh->naxes) - 1) & ~taken;
  r->manual->parent = parent;
  r->manual->axes = r->axes | taken;
  return true;
}

/* What SPEC says as attributes; *ANNOTATION has its other dims open. */
static bool border(struct region *r, const struct gs_sharding *spec, struct gs_span at, union gs_attrs *attrs,
                   const struct gs_sharding **annotation)
{
  struct gs_session *s = r->call->session;
  struct gs_dim_sharding dims[GS_MAX_RANK];
  memset(attrs, 0, sizeof *attrs);
  attrs->manual.spec = spec;
  for (int i = 0; i < GS_MAX_RANK; i++)
    attrs->manual.parts[i] = 1;
  for (int i = 0; i < spec->rank; i++) {
    dims[i] = spec->dims[i];
    dims[i].open = true;
    for (int k = 0; k < spec->dims[i].naxes; k++) {
      int axis = spec->dims[i].axes[k].axis;
      if (!(r->axes >> axis & 1)) {
        gs_session_fail(s, at, "manual: axis %s is automatic, in= and out= speak of manual axes only",
                        r->mesh->axes[axis].name);
        gs_hint(&s->diagnostics, "add it to axes=, or annotate the value with shard outside");
        return false;
      }
      attrs->manual.parts[i] *= r->mesh->axes[axis].size;
      attrs->manual.cutting |= 1u << axis;
    }
  }
  *annotation = gs_sharding_make(s->shardings, r->mesh, spec->rank, dims, NULL, 0, GS_OP_SUM);
  return *annotation != NULL || gs_session_out_of_memory(s, at);
}

static struct gs_node *annotate(struct gs_session *s, struct gs_span at, struct gs_node *x,
                                const struct gs_sharding *annotation)
{
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  attrs.shard.annotation = annotation;
  attrs.shard.span = at;
  struct gs_node *made = gs_graph_add(&s->graph, GS_OP_SHARD, at, &x, 1, &attrs, NULL);
  if (!gs_node_is_poison(&s->graph, made))
    made->name = x->name;
  return made;
}

/* Item I of the list literal in quoted argument ARG, as an argument of its own. */
static bool list_item(struct gs_call *call, int arg, int i, int count, struct gs_argument *item)
{
  const struct gs_ast *list = call->args[arg].value.ast;
  if (list->kind != GS_AST_LIST || list->nitems != count)
    return gs_session_fail(call->session, call->args[arg].span, "manual: %.*s is a list of %d annotation%s, one for each value",
                           call->parameters[arg].length, call->parameters[arg].name, count,
                           count == 1 ? "" : "s");
  *item = (struct gs_argument){ .value = { .kind = GS_VALUE_QUOTED, .ast = list->items[i] },
                                .span = gs_eval_span(call->session, list->items[i]), .ast = list->items[i] };
  return true;
}

/* Value I as the body sees it. */
static bool enter(struct region *r, int i)
{
  struct gs_session *s = r->call->session;
  struct gs_argument item;
  union gs_attrs attrs;
  const struct gs_sharding *annotation;
  if (!list_item(r->call, 2, i, r->nargs, &item))
    return false;
  const struct gs_sharding *spec = gs_annotation_make(r->call, &item, r->mesh, &r->args[i]->type);
  if (spec == NULL || !border(r, spec, item.span, &attrs, &annotation))
    return false;
  struct gs_node *x = annotate(s, item.span, r->args[i], annotation);
  s->graph.manual = r->manual;
  struct gs_node *made = gs_node_is_poison(&s->graph, x)
                             ? x : gs_graph_add(&s->graph, GS_OP_TO_SHARD, item.span, &x, 1, &attrs, NULL);
  s->graph.manual = r->manual->parent;
  if (gs_node_is_poison(&s->graph, made))
    return false;
  made->name = x->name;
  r->inside[i] = gs_value_tensor(made);
  return true;
}

/* X, a value from outside, as the body sees it: whole. */
static struct gs_node *enter_whole(struct region *r, struct gs_span at, struct gs_node *x)
{
  struct gs_session *s = r->call->session;
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  for (int i = 0; i < GS_MAX_RANK; i++)
    attrs.manual.parts[i] = 1;
  s->graph.manual = r->manual;
  struct gs_node *made = gs_graph_add(&s->graph, GS_OP_TO_SHARD, at, &x, 1, &attrs, NULL);
  s->graph.manual = r->manual->parent;
  return made;
}

/* RESULT of the body as one value, by the annotation ITEM. */
static bool leave(struct region *r, struct gs_value result, const struct gs_argument *item, struct gs_value *out)
{
  struct gs_session *s = r->call->session;
  union gs_attrs attrs;
  const struct gs_sharding *annotation;
  if (result.kind != GS_VALUE_TENSOR)
    return gs_session_fail(s, item->span, "manual: the body gives %s, not a tensor",
                           gs_value_describe(s->values, result));
  struct gs_node *x = result.node;
  const struct gs_sharding *spec = gs_annotation_make(r->call, item, r->mesh, &x->type);
  if (spec == NULL || !border(r, spec, item->span, &attrs, &annotation))
    return false;
  if (x->manual != r->manual)          /* a value from outside, given back */
    x = enter_whole(r, item->span, x);
  struct gs_node *made = gs_node_is_poison(&s->graph, x)
                             ? x : gs_graph_add(&s->graph, GS_OP_FROM_SHARD, item->span, &x, 1, &attrs, NULL);
  if (gs_node_is_poison(&s->graph, made))
    return false;
  return gs_operate_node(s, annotate(s, item->span, made, annotation), out);
}

static bool function_manual(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct region *r = GS_NEW(s->values, struct region);
  struct gs_node **nodes;
  struct gs_value result;
  if (r == NULL)
    return gs_session_out_of_memory(s, call->span);
  r->call = call;
  enum gs_value_kind kind = call->args[0].value.kind;
  if (kind != GS_VALUE_FUNCTION && kind != GS_VALUE_BUILTIN)
    return gs_arg_wrong(call, 0, "a function");
  if (!start_region(r) || !gs_arg_tensors(call, 1, &nodes, &r->nargs))
    return false;
  if (r->nargs > MAX_VALUES)
    return gs_session_fail(s, call->args[1].span, "manual: more than %d values", MAX_VALUES);
  for (int i = 0; i < r->nargs; i++) {
    r->args[i] = nodes[i];
    if (!enter(r, i))
      return false;
  }
  s->graph.manual = r->manual;
  bool ok = gs_call(s, call->args[0].span, call->args[0].value, r->inside, r->nargs, &result);
  s->graph.manual = r->manual->parent;
  if (!ok)
    return false;
  if (!gs_value_is_sequence(result))
    return leave(r, result, &call->args[3], out);
  *out = gs_value_list(s->values, result.kind, result.length);
  if (out->kind == GS_VALUE_ABSENT)
    return gs_session_out_of_memory(s, call->span);
  for (uint32_t i = 0; i < result.length; i++) {
    struct gs_argument item = { 0 };
    if (list_item(call, 3, (int)i, (int)result.length, &item)
        && leave(r, *gs_value_item(result, i), &item, gs_value_item(*out, i)))
      continue;
    if (call->args[3].value.ast->kind != GS_AST_LIST || item.ast == NULL || item.ast->kind != GS_AST_LIST)
      gs_hint(&s->diagnostics, "the body gives %s: out= has an annotation for each of its values",
            gs_value_describe(s->values, result));
    return false;
  }
  return true;
}

/* ---- Collectives ---- */

/* The axes of argument I, which have to be manual here. */
static bool manual_axes(struct gs_call *call, int i, union gs_attrs *attrs)
{
  struct gs_session *s = call->session;
  const struct gs_manual *manual = s->graph.manual;
  memset(attrs, 0, sizeof *attrs);
  if (manual == NULL) {
    gs_session_fail(s, call->span, "%s: only in a manual region", call->builtin->name);
    gs_hint(&s->diagnostics, "manual(fn(x) { … }, [x], in=[…], out=…, axes=[…])");
    return false;
  }
  if (!axes_argument(call, i, manual->mesh, attrs->manual.axes, &attrs->manual.naxes))
    return false;
  for (int k = 0; k < attrs->manual.naxes; k++)
    if (!(manual->axes >> attrs->manual.axes[k] & 1))
      return gs_session_fail(s, call->args[i].span, "%s: axis %s is automatic in this region", call->builtin->name,
                             manual->mesh->axes[(int)attrs->manual.axes[k]].name);
  return true;
}

static int64_t axes_size(const struct gs_call *call, const union gs_attrs *attrs)
{
  int64_t n = 1;
  for (int i = 0; i < attrs->manual.naxes; i++)
    n *= call->session->graph.manual->sizes[(int)attrs->manual.axes[i]];
  return n;
}

static bool add_manual(struct gs_call *call, enum gs_op op, struct gs_node *x, const union gs_attrs *attrs,
                       struct gs_value *out)
{
  struct gs_session *s = call->session;
  return gs_operate_node(s, gs_graph_add(&s->graph, op, call->span, &x, 1, attrs, NULL), out);
}

static bool reduce_shards(struct gs_call *call, enum gs_op reduce, struct gs_value *out)
{
  struct gs_node *x;
  union gs_attrs attrs;
  if (!gs_arg_tensor(call, 0, &x) || !manual_axes(call, 1, &attrs))
    return false;
  bool pred = x->type.dtype == GS_DTYPE_PRED;
  attrs.manual.reduce = pred && reduce == GS_OP_REDUCE_MAX   ? GS_OP_ANY
                        : pred && reduce == GS_OP_REDUCE_MIN ? GS_OP_ALL : reduce;
  return add_manual(call, GS_OP_PSUM, x, &attrs, out);
}

static bool function_psum(struct gs_call *call, struct gs_value *out)
{
  return reduce_shards(call, GS_OP_SUM, out);
}

static bool function_pmax(struct gs_call *call, struct gs_value *out)
{
  return reduce_shards(call, GS_OP_REDUCE_MAX, out);
}

static bool function_pmin(struct gs_call *call, struct gs_value *out)
{
  return reduce_shards(call, GS_OP_REDUCE_MIN, out);
}

static bool function_pmean(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  union gs_attrs attrs;
  struct gs_value sum;
  if (!reduce_shards(call, GS_OP_SUM, &sum) || !manual_axes(call, 1, &attrs))
    return false;
  if (gs_dtype_kind(sum.node->type.dtype) != GS_KIND_FLOAT)
    return gs_session_fail(s, call->args[0].span, "pmean: not for %s, only floats",
                           gs_type_string(s->values, &sum.node->type));
  struct gs_node *pair[2] = { sum.node, gs_build_scalar(&s->graph, call->span, sum.node->type.dtype,
                                                        (double)axes_size(call, &attrs)) };
  return gs_operate_node(s, gs_build_elementwise(&s->graph, GS_OP_DIV, call->span, pair, 2), out);
}

static bool along_dim(struct gs_call *call, enum gs_op op, struct gs_value *out)
{
  struct gs_node *x;
  union gs_attrs attrs;
  if (!gs_arg_tensor(call, 0, &x) || !manual_axes(call, 2, &attrs)
      || !gs_arg_dim(call, 1, x->type.rank, &attrs.manual.dim))
    return false;
  attrs.manual.reduce = GS_OP_SUM;
  return add_manual(call, op, x, &attrs, out);
}

static bool function_all_gather(struct gs_call *call, struct gs_value *out)
{
  return along_dim(call, GS_OP_MANUAL_GATHER, out);
}

static bool function_reduce_scatter(struct gs_call *call, struct gs_value *out)
{
  return along_dim(call, GS_OP_MANUAL_SCATTER, out);
}

/* Along one and the same dim the pieces become a dim of their own for a while. */
static bool exchange_within(struct gs_call *call, struct gs_node *x, union gs_attrs *attrs, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_graph *g = &s->graph;
  int dim = attrs->manual.dim, rank = x->type.rank;
  int64_t n = axes_size(call, attrs), dims[GS_MAX_RANK], size = x->type.dims[dim];
  if (size % n != 0)
    return gs_session_fail(s, call->span, "all_to_all: dim %d of %s has %" PRId64 " elements, which %" PRId64
                           " devices do not divide", dim, gs_type_string(s->values, &x->type), size, n);
  if (rank + 2 > GS_MAX_RANK)
    return gs_session_fail(s, call->span, "all_to_all: not from a dim to itself at rank %d", rank);
  for (int i = 0, to = 0; i < rank; i++) {
    if (i == dim) {
      dims[to++] = 1;
      dims[to++] = n;
    }
    dims[to++] = i == dim ? size / n : x->type.dims[i];
  }
  struct gs_node *apart = gs_build_reshape(g, call->span, x, rank + 2, dims);
  attrs->manual.dim = dim + 1;
  attrs->manual.concat = dim;
  struct gs_node *sent = gs_graph_add(g, GS_OP_MANUAL_EXCHANGE, call->span, &apart, 1, attrs, NULL);
  return gs_operate_node(s, gs_build_reshape(g, call->span, sent, rank, x->type.dims), out);
}

static bool function_all_to_all(struct gs_call *call, struct gs_value *out)
{
  struct gs_node *x;
  union gs_attrs attrs;
  if (!gs_arg_tensor(call, 0, &x) || !manual_axes(call, 3, &attrs)
      || !gs_arg_dim(call, 1, x->type.rank, &attrs.manual.dim)
      || !gs_arg_dim(call, 2, x->type.rank, &attrs.manual.concat))
    return false;
  if (attrs.manual.dim == attrs.manual.concat)
    return exchange_within(call, x, &attrs, out);
  return add_manual(call, GS_OP_MANUAL_EXCHANGE, x, &attrs, out);
}

/* Pairs [from, to], or a shift. */
static bool function_ppermute(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  union gs_attrs attrs;
  struct gs_value how = call->args[2].value;
  if (!gs_arg_tensor(call, 0, &x) || !manual_axes(call, 1, &attrs))
    return false;
  if (how.kind == GS_VALUE_INT) {
    attrs.manual.shift = how.integer;
    return add_manual(call, GS_OP_PPERMUTE, x, &attrs, out);
  }
  if (!gs_value_is_sequence(how) || how.length == 0)
    return gs_arg_wrong(call, 2, "a shift or a list of pairs [from, to]");
  int64_t (*pairs)[2] = gs_arena_array(s->values, how.length, sizeof *pairs);
  if (pairs == NULL)
    return gs_session_out_of_memory(s, call->span);
  for (uint32_t i = 0; i < how.length; i++) {
    struct gs_value pair = *gs_value_item(how, i);
    if (!gs_value_is_sequence(pair) || pair.length != 2 || gs_value_item(pair, 0)->kind != GS_VALUE_INT
        || gs_value_item(pair, 1)->kind != GS_VALUE_INT)
      return gs_session_fail(s, call->args[2].span, "ppermute: pair %u is %s, not [from, to]", i,
                             gs_value_describe(s->values, pair));
    pairs[i][0] = gs_value_item(pair, 0)->integer;
    pairs[i][1] = gs_value_item(pair, 1)->integer;
  }
  attrs.manual.npairs = (int)how.length;
  attrs.manual.pairs = (const int64_t (*)[2])pairs;
  return add_manual(call, GS_OP_PPERMUTE, x, &attrs, out);
}

static bool function_axis_index(struct gs_call *call, struct gs_value *out)
{
  struct gs_graph *g = &call->session->graph;
  union gs_attrs attrs;
  return manual_axes(call, 0, &attrs)
         && add_manual(call, GS_OP_AXIS_INDEX, gs_build_scalar_int(g, call->span, GS_DTYPE_S32, 0), &attrs, out);
}

static bool function_axis_size(struct gs_call *call, struct gs_value *out)
{
  union gs_attrs attrs;
  if (!manual_axes(call, 0, &attrs))
    return false;
  *out = gs_value_int(axes_size(call, &attrs));
  return true;
}

const struct gs_builtin gs_builtins_manual[] = {
  { "manual", "f xs 'in 'out axes?", function_manual, GS_OP_TO_SHARD, GS_TOPIC_MANUAL,
    "manual(fn(x, w) { psum(x @ w, model) }, [x, w], in=[[-1, model], [model, -1]], out=[-1, -1], axes=[model])",
    "f on one device's shards along axes (all without), which in= and out= cut; it writes the collectives" },
  { "psum", "x axes", function_psum, GS_OP_PSUM, GS_TOPIC_MANUAL, "psum(x, model)", "the sum of the shards" },
  { "pmax", "x axes", function_pmax, GS_OP_PSUM, GS_TOPIC_MANUAL, "pmax(x, model)", "the largest of the shards" },
  { "pmin", "x axes", function_pmin, GS_OP_PSUM, GS_TOPIC_MANUAL, "pmin(x, model)", "the smallest of the shards" },
  { "pmean", "x axes", function_pmean, GS_OP_PSUM, GS_TOPIC_MANUAL, "pmean(x, model)", "the mean of the shards" },
  { "all_gather", "x dim axes", function_all_gather, GS_OP_MANUAL_GATHER, GS_TOPIC_MANUAL,
    "all_gather(x, 1, model)", "the shards put together along dim" },
  { "reduce_scatter", "x dim axes", function_reduce_scatter, GS_OP_MANUAL_SCATTER, GS_TOPIC_MANUAL,
    "reduce_scatter(x, 0, model)", "the sum of the shards, of which each device keeps its part of dim" },
  { "all_to_all", "x split concat axes", function_all_to_all, GS_OP_MANUAL_EXCHANGE, GS_TOPIC_MANUAL,
    "all_to_all(x, 1, 0, model)", "piece i of dim split to device i, those received put together along dim concat" },
  { "ppermute", "x axes how", function_ppermute, GS_OP_PPERMUTE, GS_TOPIC_MANUAL, "ppermute(x, model, 1)",
    "device i's shard to device i + shift, or by pairs [[from, to], …]; who receives nothing has zeros" },
  { "axis_index", "axes", function_axis_index, GS_OP_AXIS_INDEX, GS_TOPIC_MANUAL, "axis_index(model)",
    "this device's coordinate, an s32" },
  { "axis_size", "axes", function_axis_size, GS_OP_AXIS_INDEX, GS_TOPIC_MANUAL, "axis_size(model)",
    "the number of devices along axes, an integer" },
  { 0 },
};
