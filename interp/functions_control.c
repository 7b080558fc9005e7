/* interp/functions_control.c - loops and branches in the graph. */
#include <config.h>

#include "interp/builtin.h"

#include <inttypes.h>
#include <string.h>

#include "interp/eval.h"

enum { MAX_CARRIES = 256, MAX_NESTING = 8 };

/* The tensors of a value made of tuples and lists, in order. */
struct leaves {
  int count;
  struct gs_node *nodes[MAX_CARRIES];
};

/* Add VALUE's tensors to LEAVES; a number is an f32 or s32 scalar. WHAT names it in messages. */
static bool flatten(struct gs_call *call, struct gs_value value, const char *what, int depth,
                    struct leaves *leaves)
{
  struct gs_session *s = call->session;
  bool number = gs_value_is_number(value) || value.kind == GS_VALUE_BOOL;
  if (gs_value_is_sequence(value) && depth < MAX_NESTING) {
    for (uint32_t i = 0; i < value.length; i++)
      if (!flatten(call, *gs_value_item(value, i), what, depth + 1, leaves))
        return false;
    return true;
  }
  if (value.kind != GS_VALUE_TENSOR && !number)
    return gs_session_fail(s, call->span, "%s: %s is %s, not a tensor or a tuple of tensors",
                           call->builtin->name, what, gs_value_kind_name(value.kind));
  if (leaves->count == MAX_CARRIES)
    return gs_session_fail(s, call->span, "%s: %s has more than %d tensors", call->builtin->name, what,
                           MAX_CARRIES);
  enum gs_dtype dtype = value.kind == GS_VALUE_FLOAT  ? GS_DTYPE_F32
                        : value.kind == GS_VALUE_BOOL ? GS_DTYPE_PRED : GS_DTYPE_S32;
  struct gs_node *node =
      number ? gs_operate_scalar(s, call->span, dtype, value) : value.node;
  if (gs_node_is_poison(&s->graph, node))
    return false;
  leaves->nodes[leaves->count++] = node;
  return true;
}

/* A value built like FORM, with the next tensors of NODES. */
static bool rebuild(struct gs_session *s, struct gs_value form, struct gs_node *const **nodes,
                    struct gs_value *out)
{
  if (!gs_value_is_sequence(form)) {
    *out = gs_value_tensor(*(*nodes)++);
    return true;
  }
  *out = gs_value_list(s->values, form.kind, form.length);
  if (out->kind == GS_VALUE_ABSENT)
    return false;
  for (uint32_t i = 0; i < form.length; i++)
    if (!rebuild(s, *gs_value_item(form, i), nodes, gs_value_item(*out, i)))
      return false;
  return true;
}

/* Report that GOT stands where WANTED should. */
static bool differs(struct gs_call *call, const char *got, const char *wanted)
{
  bool branch = call->builtin->op == GS_OP_COND;
  return gs_session_fail(call->session, call->span, "%s: the %s %s where %s %s", call->builtin->name,
                         branch ? "branch for false gives" : "body gives", got,
                         branch ? "that for true gives" : "the loop carries", wanted);
}

/* VALUE's tensors in the order of FORM, which it must be built like; a number becomes a scalar of the
 * type that stands in its place in LIKE. */
static bool match(struct gs_call *call, struct gs_value form, struct gs_value value,
                  struct gs_node *const *like, struct leaves *leaves)
{
  struct gs_session *s = call->session;
  if (gs_value_is_sequence(form) || gs_value_is_sequence(value)) {
    if (!gs_value_is_sequence(form) || !gs_value_is_sequence(value) || form.length != value.length) {
      differs(call, gs_value_describe(s->values, value), gs_value_describe(s->values, form));
      if (call->builtin->op != GS_OP_COND)
        gs_hint(&s->diagnostics, "the body returns a value built like the one it begins with");
      return false;
    }
    for (uint32_t i = 0; i < form.length; i++)
      if (!match(call, *gs_value_item(form, i), *gs_value_item(value, i), like, leaves))
        return false;
    return true;
  }
  const struct gs_type *wanted = &like[leaves->count]->type;
  if ((gs_value_is_number(value) || value.kind == GS_VALUE_BOOL) && wanted->rank == 0) {
    struct gs_node *node = gs_operate_scalar(s, call->span, wanted->dtype, value);
    leaves->nodes[leaves->count++] = node;
    return !gs_node_is_poison(&s->graph, node);
  }
  int at = leaves->count;
  if (!flatten(call, value, "the body's result", 0, leaves))
    return false;
  const struct gs_type *got = &leaves->nodes[at]->type;
  return gs_type_equal(got, wanted)
         || differs(call, gs_type_string(s->values, got), gs_type_string(s->values, wanted));
}

static bool is_function(struct gs_call *call, int i)
{
  enum gs_value_kind kind = call->args[i].value.kind;
  return kind == GS_VALUE_FUNCTION || kind == GS_VALUE_BUILTIN || gs_arg_wrong(call, i, "a function");
}

/* A loop being built. */
struct loop {
  struct gs_call *call;
  struct gs_value form;                /* what the user's carry is built like */
  int own;                             /* carried values before it: the counter */
  struct leaves inits, values, nexts;
};

static bool add_counter(struct loop *l)
{
  struct gs_session *s = l->call->session;
  l->own = 1;
  l->inits.nodes[l->inits.count++] = gs_build_scalar_int(&s->graph, l->call->span, GS_DTYPE_S32, 0);
  return !gs_node_is_poison(&s->graph, l->inits.nodes[0]);
}

static bool begin_loop(struct loop *l, struct gs_value *carry)
{
  struct gs_session *s = l->call->session;
  if (!gs_build_loop_begin(&s->graph, l->call->span, l->inits.nodes, l->inits.count, l->values.nodes))
    return gs_session_out_of_memory(s, l->call->span);
  l->values.count = l->inits.count;
  struct gs_node *const *nodes = l->values.nodes + l->own;
  if (rebuild(s, l->form, &nodes, carry))
    return true;
  gs_graph_close_region(&s->graph);
  return gs_session_out_of_memory(s, l->call->span);
}

/* The counter's next value. */
static bool count_on(struct loop *l)
{
  struct gs_graph *g = &l->call->session->graph;
  struct gs_span at = l->call->span;
  struct gs_node *args[] = { l->values.nodes[0], gs_build_scalar_int(g, at, GS_DTYPE_S32, 1) };
  l->nexts.nodes[0] = gs_build_elementwise(g, GS_OP_ADD, at, args, 2);
  l->nexts.count = 1;
  return !gs_node_is_poison(g, l->nexts.nodes[0]);
}

/* Close the loop; the user's carry goes to OUT and, where RESULTS is given, all to it. */
static bool end_loop(struct loop *l, int64_t trips, struct gs_node *condition, struct gs_value *out,
                     struct gs_node **results)
{
  struct gs_session *s = l->call->session;
  struct gs_node *own[MAX_CARRIES];
  struct gs_node **all = results != NULL ? results : own;
  if (!gs_build_loop_end(&s->graph, l->call->span, l->inits.nodes, l->values.nodes, l->nexts.nodes,
                         l->inits.count, trips, condition, all))
    return gs_arena_failed(s->graph.arena) ? gs_session_out_of_memory(s, l->call->span) : false;
  struct gs_node *const *nodes = all + l->own;
  return rebuild(s, l->form, &nodes, out) || gs_session_out_of_memory(s, l->call->span);
}

static struct loop *new_loop(struct gs_call *call, int init)
{
  struct loop *l = GS_NEW(call->session->values, struct loop);
  if (l == NULL) {
    gs_session_out_of_memory(call->session, call->span);
    return NULL;
  }
  l->call = call;
  l->form = call->args[init].value;
  return l;
}

/* The body's result as the next carried values; the region is closed when it fails. */
static bool finish_body(struct loop *l, struct gs_value result)
{
  int before = l->nexts.count;
  if (match(l->call, l->form, result, l->values.nodes + l->own - before, &l->nexts))
    return true;
  gs_graph_close_region(&l->call->session->graph);
  return false;
}

static bool function_loop(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  int64_t trips;
  struct gs_value args[2], result;
  struct loop *l = new_loop(call, 2);
  if (l == NULL || !gs_arg_int(call, 0, &trips) || !is_function(call, 1))
    return false;
  if (trips < 0 || trips > INT32_MAX)
    return gs_session_fail(s, call->args[0].span, "loop: %" PRId64 " turns", trips);
  if (!add_counter(l) || !flatten(call, l->form, "what it carries", 0, &l->inits)
      || !begin_loop(l, &args[1]))
    return false;
  args[0] = gs_value_tensor(l->values.nodes[0]);
  if (!count_on(l) || !gs_call(s, call->args[1].span, call->args[1].value, args, 2, &result)) {
    gs_graph_close_region(&s->graph);
    return false;
  }
  return finish_body(l, result) && end_loop(l, trips, NULL, out, NULL);
}

/* The manual axes along which the region's devices may have different values of NODE. */
static uint32_t differing_axes(struct gs_session *s, const struct gs_node *node)
{
  const uint32_t *varying = s->graph.manual != NULL ? gs_graph_varying(s->values, &s->graph) : NULL;
  return varying != NULL ? varying[node->id] : 0;
}

/* All devices have to agree on how often a loop runs. */
static bool check_agreement(struct gs_call *call, const struct gs_node *condition)
{
  struct gs_session *s = call->session;
  uint32_t axes = differing_axes(s, condition);
  int axis = 0;
  if (axes == 0)
    return true;
  while (!(axes >> axis & 1))
    axis++;
  const char *name = s->graph.manual->mesh->axes[axis].name;
  gs_session_fail(s, call->args[0].span, "while_loop: the condition may differ between devices along axis %s", name);
  gs_hint(&s->diagnostics, "pmax(condition, %s) holds as long as it does on any of them", name);
  return false;
}

static bool function_while_loop(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_value carry, condition, result;
  struct gs_node *test = NULL;
  struct loop *l = new_loop(call, 2);
  if (l == NULL || !is_function(call, 0) || !is_function(call, 1)
      || !flatten(call, l->form, "what it carries", 0, &l->inits) || !begin_loop(l, &carry))
    return false;
  bool ok = gs_call(s, call->args[0].span, call->args[0].value, &carry, 1, &condition);
  if (ok && condition.kind == GS_VALUE_BOOL)
    test = gs_operate_scalar(s, call->args[0].span, GS_DTYPE_PRED, condition);
  else if (ok && condition.kind == GS_VALUE_TENSOR)
    test = condition.node;
  else if (ok)
    ok = gs_session_fail(s, call->args[0].span, "while_loop: the condition is %s, not a scalar pred",
                         gs_value_kind_name(condition.kind));
  if (!ok || !gs_call(s, call->args[1].span, call->args[1].value, &carry, 1, &result)) {
    gs_graph_close_region(&s->graph);
    return false;
  }
  return finish_body(l, result) && end_loop(l, -1, test, out, NULL) && check_agreement(call, test);
}

/* FUNCTION of the language over tensors, a list of a tensor and zeros, and maybe a shape. */
static bool call_indexed(struct gs_call *call, const char *function, struct gs_node *const *tensors,
                         int ntensors, struct gs_node *index, const int64_t *sizes, int rank,
                         struct gs_node **out)
{
  struct gs_session *s = call->session;
  struct gs_value args[3], value;
  int n = 0;
  for (int i = 0; i < ntensors; i++)
    args[n++] = gs_value_tensor(tensors[i]);
  struct gs_value starts = gs_value_list(s->values, GS_VALUE_LIST, (size_t)rank);
  struct gs_value shape = gs_value_list(s->values, GS_VALUE_LIST, (size_t)rank);
  if (starts.kind == GS_VALUE_ABSENT || shape.kind == GS_VALUE_ABSENT)
    return gs_session_out_of_memory(s, call->span);
  for (int i = 0; i < rank; i++) {
    *gs_value_item(starts, (size_t)i) = i == 0 ? gs_value_tensor(index) : gs_value_int(0);
    *gs_value_item(shape, (size_t)i) = gs_value_int(sizes != NULL ? sizes[i] : 0);
  }
  args[n++] = starts;
  if (sizes != NULL)
    args[n++] = shape;
  struct gs_value builtin = { .kind = GS_VALUE_BUILTIN, .builtin = gs_builtin_find(function) };
  if (!gs_call(s, call->span, builtin, args, n, &value))
    return false;
  *out = value.node;
  return true;
}

/* Element INDEX of XS along its first dim. */
static bool element_of(struct gs_call *call, struct gs_node *xs, struct gs_node *index,
                       struct gs_node **out)
{
  int64_t sizes[GS_MAX_RANK];
  memcpy(sizes, xs->type.dims, sizeof sizes);
  sizes[0] = 1;
  if (!call_indexed(call, "dynamic_slice", &xs, 1, index, sizes, xs->type.rank, out))
    return false;
  *out = gs_build_reshape(&call->session->graph, call->span, *out, xs->type.rank - 1, sizes + 1);
  return !gs_node_is_poison(&call->session->graph, *out);
}

/* Y put in place INDEX of a carried stack of LENGTH such values, which is added to the loop. */
static bool stack_up(struct loop *l, struct gs_node *y, struct gs_node *index, int64_t length)
{
  struct gs_graph *g = &l->call->session->graph;
  struct gs_type type = { .dtype = y->type.dtype, .rank = y->type.rank + 1, .dims = { length } };
  if (type.rank > GS_MAX_RANK || l->values.count == MAX_CARRIES)
    return gs_session_fail(l->call->session, l->call->span, "scan: too many %s",
                           type.rank > GS_MAX_RANK ? "dims in what the body gives" : "results");
  memcpy(type.dims + 1, y->type.dims, (size_t)y->type.rank * sizeof type.dims[0]);
  struct gs_node *pair[2] = { gs_build_loop_value(g, l->call->span, &type, l->values.count) };
  l->values.nodes[l->values.count++] = pair[0];
  type.dims[0] = 1;
  pair[1] = gs_build_reshape(g, l->call->span, y, type.rank, type.dims);
  return !gs_node_is_poison(g, pair[0]) && !gs_node_is_poison(g, pair[1])
         && call_indexed(l->call, "dynamic_update", pair, 2, index, NULL, type.rank,
                         &l->nexts.nodes[l->nexts.count++]);
}

/* Zeros for the stacks, made outside of the body. */
static bool start_stacks(struct loop *l)
{
  struct gs_graph *g = &l->call->session->graph;
  for (int i = l->inits.count; i < l->values.count; i++) {
    const struct gs_type *type = &l->values.nodes[i]->type;
    struct gs_node *zero = gs_build_scalar(g, l->call->span, type->dtype, 0);
    l->inits.nodes[i] = gs_build_broadcast(g, l->call->span, zero, type->rank, type->dims, NULL);
    if (gs_node_is_poison(g, l->inits.nodes[i]))
      return false;
  }
  l->inits.count = l->values.count;
  return true;
}

/* The body of a scan: the next carry, and its results stacked. */
static bool scan_body(struct loop *l, struct gs_value carry, const struct leaves *xs, int64_t length,
                      struct gs_value *form_of_ys)
{
  struct gs_call *call = l->call;
  struct gs_session *s = call->session;
  struct leaves *items = GS_NEW(s->values, struct leaves), *ys = GS_NEW(s->values, struct leaves);
  struct gs_value args[2] = { carry }, result;
  if (items == NULL || ys == NULL)
    return gs_session_out_of_memory(s, call->span);
  for (; items->count < xs->count; items->count++)
    if (!element_of(call, xs->nodes[items->count], l->values.nodes[0], &items->nodes[items->count]))
      return false;
  struct gs_node *const *nodes = items->nodes;
  if (!count_on(l) || !rebuild(s, call->args[2].value, &nodes, &args[1])
      || !gs_call(s, call->args[0].span, call->args[0].value, args, 2, &result))
    return false;
  if (!gs_value_is_sequence(result) || result.length != 2) {
    gs_session_fail(s, call->args[0].span, "scan: the body gives %s, not a pair (carry, result)",
                    gs_value_describe(s->values, result));
    gs_hint(&s->diagnostics, "scan(fn(carry, x) { … (next, result) }, init, xs)");
    return false;
  }
  *form_of_ys = *gs_value_item(result, 1);
  if (!match(call, l->form, *gs_value_item(result, 0), l->values.nodes + l->own - 1, &l->nexts)
      || !flatten(call, *form_of_ys, "the body's second result", 0, ys))
    return false;
  for (int i = 0; i < ys->count; i++)
    if (!stack_up(l, ys->nodes[i], l->values.nodes[0], length))
      return false;
  return true;
}

/* The tensors of XS and their common first dim. */
static bool scanned(struct gs_call *call, struct leaves *xs, int64_t *length)
{
  struct gs_session *s = call->session;
  if (!flatten(call, call->args[2].value, "what it scans", 0, xs))
    return false;
  for (int i = 0; i < xs->count; i++) {
    const struct gs_type *type = &xs->nodes[i]->type;
    if (type->rank == 0)
      return gs_session_fail(s, call->args[2].span, "scan: a scalar has no dim to scan along");
    if (i > 0 && type->dims[0] != *length)
      return gs_session_fail(s, call->args[2].span, "scan: first dims differ, %" PRId64 " and %" PRId64,
                             *length, type->dims[0]);
    *length = type->dims[0];
  }
  return xs->count > 0 || gs_session_fail(s, call->args[2].span, "scan: there is nothing to scan");
}

static bool function_scan(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct loop *l = new_loop(call, 1);
  struct leaves *xs = GS_NEW(s->values, struct leaves);
  struct gs_value carry, form_of_ys, final, ys;
  struct gs_node *results[MAX_CARRIES];
  int64_t length = 0;
  if (l == NULL || xs == NULL || !is_function(call, 0) || !scanned(call, xs, &length))
    return false;
  if (!add_counter(l) || !flatten(call, l->form, "what it carries", 0, &l->inits)
      || !begin_loop(l, &carry))
    return false;
  int carried = l->inits.count;
  if (!scan_body(l, carry, xs, length, &form_of_ys)) {
    gs_graph_close_region(&s->graph);
    return false;
  }
  int region = s->graph.region;        /* the stacks' zeros belong before the loop */
  s->graph.region = s->graph.regions[region].parent;
  bool started = start_stacks(l);
  s->graph.region = region;
  if (!started) {
    gs_graph_close_region(&s->graph);
    return false;
  }
  if (!end_loop(l, length, NULL, &final, results))
    return false;
  struct gs_node *const *stacks = results + carried;
  *out = gs_value_list(s->values, GS_VALUE_TUPLE, 2);
  if (out->kind == GS_VALUE_ABSENT || !rebuild(s, form_of_ys, &stacks, &ys))
    return gs_session_out_of_memory(s, call->span);
  *gs_value_item(*out, 0) = final;
  *gs_value_item(*out, 1) = ys;
  return true;
}

/* The branch WHICH (0: for true) over the further arguments. */
static bool build_branch(struct gs_call *call, int which, int *region, struct gs_value *result)
{
  struct gs_session *s = call->session;
  struct gs_value *args = GS_NEW_ARRAY(s->values, struct gs_value, call->nrest + 1);
  if (args == NULL)
    return gs_session_out_of_memory(s, call->span);
  for (int i = 0; i < call->nrest; i++)
    args[i] = call->rest[i].value;
  if (region != NULL && (*region = gs_graph_open_region(&s->graph)) == 0)
    return gs_session_out_of_memory(s, call->span);
  bool ok = gs_call(s, call->args[1 + which].span, call->args[1 + which].value, args, call->nrest, result);
  if (region != NULL)
    gs_graph_close_region(&s->graph);
  return ok;
}

/* In a manual region devices may differ in P; then both branches run on all of them, whose collectives
 * need them all, and each device takes its own result. */
static bool choose_results(struct gs_call *call, struct gs_node *p, const struct leaves *thens,
                           const struct leaves *otherwises, struct gs_node **results)
{
  struct gs_graph *g = &call->session->graph;
  for (int i = 0; i < thens->count; i++) {
    struct gs_node *args[] = { p, thens->nodes[i], otherwises->nodes[i] };
    results[i] = gs_build_elementwise(g, GS_OP_WHERE, call->span, args, 3);
    if (gs_node_is_poison(g, results[i]))
      return false;
  }
  return true;
}

static bool function_cond(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_value p = call->args[0].value, values[2];
  struct leaves *thens = GS_NEW(s->values, struct leaves), *otherwises = GS_NEW(s->values, struct leaves);
  struct gs_node *results[MAX_CARRIES];
  int regions[2];
  if (thens == NULL || otherwises == NULL)
    return gs_session_out_of_memory(s, call->span);
  if (!is_function(call, 1) || !is_function(call, 2))
    return false;
  if (p.kind == GS_VALUE_BOOL)         /* known already: no branch in the graph */
    return build_branch(call, p.boolean ? 0 : 1, NULL, out);
  if (p.kind != GS_VALUE_TENSOR)
    return gs_arg_wrong(call, 0, "a scalar pred");
  bool apart = differing_axes(s, p.node) != 0;
  if (!build_branch(call, 0, apart ? NULL : &regions[0], &values[0])
      || !build_branch(call, 1, apart ? NULL : &regions[1], &values[1])
      || !flatten(call, values[0], "the branch for true", 0, thens)
      || !match(call, values[0], values[1], thens->nodes, otherwises))
    return false;
  if (apart ? !choose_results(call, p.node, thens, otherwises, results)
            : !gs_build_cond(&s->graph, call->span, p.node, regions, thens->nodes, otherwises->nodes, thens->count,
                     results))
    return gs_arena_failed(s->graph.arena) ? gs_session_out_of_memory(s, call->span) : false;
  struct gs_node *const *nodes = results;
  return rebuild(s, values[0], &nodes, out) || gs_session_out_of_memory(s, call->span);
}

const struct gs_builtin gs_builtins_control[] = {
  { "scan", "f init xs", function_scan, GS_OP_LOOP, GS_TOPIC_CONTROL,
    "scan(fn(h, x) { n = tanh(x + h @ w); (n, n) }, h, xs)",
    "f(carry, x) -> (carry, y) over xs along their first dim: (last carry, stacked ys); one body" },
  { "loop", "n f init", function_loop, GS_OP_LOOP, GS_TOPIC_CONTROL, "loop(4, fn(i, x) { x @ w }, x)",
    "f(i, carry) -> carry, n times, i = 0, 1, … an s32; the body is in the graph once" },
  { "while_loop", "cond f init", function_while_loop, GS_OP_LOOP, GS_TOPIC_CONTROL,
    "while_loop(fn(x) { sum(x * x) > 0.5 }, fn(x) { x * 0.5 }, x)",
    "f(carry) -> carry as long as cond(carry), a scalar pred, holds" },
  { "cond", "p f g args*", function_cond, GS_OP_COND, GS_TOPIC_CONTROL,
    "cond(sum(x) > 0, fn(x) { x }, fn(x) { 0 - x }, x)",
    "f(args…) where p, a scalar pred, holds, else g(args…); only one of them runs" },
  { 0 },
};
