/* partition/emit.c - steps for each node by its chosen strategy: operands resharded, padding masked
 * where it could be read, the local operator, the result resharded. */
#include <config.h>

#include "partition/emit.h"

#include <math.h>
#include <string.h>

#include "partition/axes.h"
#include "partition/builder.h"
#include "partition/print_parts.h"

/* A layout of a value that some step holds. */
struct held {
  const struct gs_sharding *sharding;
  int step;
  struct held *next;
};

struct emitter {
  const struct gs_choose_request *r;
  const struct gs_choice *choices;
  struct gs_builder b;
  struct held **held;                  /* by node id */
};

static union gs_attrs *new_attrs(struct emitter *e)
{
  union gs_attrs *attrs = GS_NEW(e->b.arena, union gs_attrs);
  if (attrs == NULL)
    e->b.failed = true;
  return attrs;
}

/* Add a step of OP over ARGS. */
static int add(struct emitter *e, enum gs_op op, const int *args, int nargs, const union gs_attrs *attrs,
               const struct gs_type *global, const struct gs_sharding *sharding,
               const struct gs_node *node)
{
  struct gs_step step = { .op = op, .nargs = nargs, .args = args, .attrs = attrs, .global = *global,
                          .sharding = sharding, .node = node };
  if (sharding == NULL) {
    e->b.failed = true;
    return 0;
  }
  step.type = gs_sharding_local(sharding, global);
  return gs_builder_add(&e->b, &step);
}

static void hold(struct emitter *e, int id, const struct gs_sharding *sharding, int step)
{
  for (struct held *h = e->held[id]; h != NULL; h = h->next)
    if (h->sharding == sharding)
      return;
  struct held *h = GS_NEW(e->b.arena, struct held);
  if (h == NULL) {
    e->b.failed = true;
    return;
  }
  *h = (struct held){ sharding, step, e->held[id] };
  e->held[id] = h;
}

static enum gs_op move_op(enum gs_move_kind kind)
{
  switch (kind) {
  case GS_MOVE_SLICE: return GS_OP_SHARD_SLICE;
  case GS_MOVE_ALL_GATHER: return GS_OP_ALL_GATHER;
  case GS_MOVE_ALL_TO_ALL: return GS_OP_ALL_TO_ALL;
  case GS_MOVE_PERMUTE: return GS_OP_PERMUTE;
  case GS_MOVE_ALL_REDUCE: return GS_OP_ALL_REDUCE;
  case GS_MOVE_REDUCE_SCATTER: return GS_OP_REDUCE_SCATTER;
  case GS_MOVE_ZERO_PARTIAL: return GS_OP_ZERO_PARTIAL;
  case GS_MOVE_REBALANCE: return GS_OP_EXCHANGE;
  }
  return GS_OP_COUNT;
}

static int emit_move(struct emitter *e, const struct gs_move *move, int from,
                     const struct gs_node *node, const char *reason)
{
  union gs_attrs *attrs = new_attrs(e);
  if (attrs == NULL)
    return from;
  const struct gs_step before = e->b.steps[from];
  attrs->device.dim = move->dim;
  attrs->device.split_dim = move->split_dim;
  attrs->device.naxes = move->naxes;
  attrs->device.axes = move->axes;
  if (move->kind == GS_MOVE_ALL_REDUCE || move->kind == GS_MOVE_REDUCE_SCATTER)
    attrs->device.reduce = before.sharding->partial_kind;
  if (move->kind == GS_MOVE_PERMUTE) {
    attrs->device.from = before.sharding;
    attrs->device.to = move->after;
  }
  if (move->kind == GS_MOVE_REBALANCE) {
    int64_t size = before.global.dims[move->dim];
    struct gs_exchange_piece *piece = GS_NEW(e->b.arena, struct gs_exchange_piece);
    if (piece == NULL) {
      e->b.failed = true;
      return from;
    }
    *piece = (struct gs_exchange_piece){ 0, 0, size, 0, 1, 1 };
    attrs->device.npieces = 1;
    attrs->device.pieces = piece;
    attrs->device.scale = gs_sharding_block(move->after, move->dim, size);
    attrs->device.size = size;
  }
  int made = add(e, move_op(move->kind), &from, 1, attrs, &before.global, move->after, node);
  if (gs_op_is_collective(e->b.steps[made].op) && e->b.steps[made].reason == NULL)
    e->b.steps[made].reason = reason;
  return made;
}

/* Why NODE's value is moved from sharding FROM to TO, wanted by USER (NULL: the value itself). */
static const char *move_reason(struct emitter *e, const struct gs_node *node,
                               const struct gs_sharding *from, const struct gs_sharding *to,
                               const struct gs_node *user)
{
  struct gs_text text = { .arena = e->b.arena };
  const char *name = gs_node_title(node);
  if (name == NULL)
    name = gs_op_info(node->op)->name;
  if (user != NULL)
    gs_text_printf(&text, "%s needs %s as ", gs_op_info(user->op)->name, name);
  else
    gs_text_printf(&text, "%s is wanted as ", name);
  gs_sharding_print(&text, to);
  gs_text_printf(&text, ", it %s as ", user == NULL || from->npartial > 0 ? "comes" : "is there");
  gs_sharding_print(&text, from);
  return gs_text_string(&text);
}

static bool is_leaf(const struct gs_node *node)
{
  return node->nargs == 0;
}

static int emit_leaf(struct emitter *e, const struct gs_node *node, const struct gs_sharding *sharding)
{
  const union gs_attrs *attrs = node->attrs;
  if (node->op == GS_OP_IOTA) {
    union gs_attrs *iota = new_attrs(e);
    if (iota == NULL)
      return 0;
    int dim = node->attrs->iota.dim;
    iota->iota.dim = dim;
    iota->iota.naxes = sharding->dims[dim].naxes;
    iota->iota.axes = sharding->dims[dim].axes;
    iota->iota.block = gs_sharding_block(sharding, dim, node->type.dims[dim]);
    attrs = iota;
  }
  int made = add(e, node->op, NULL, 0, attrs, &node->type, sharding, node);
  hold(e, node->id, sharding, made);
  e->b.steps[made].is_value = true;
  return made;
}

/* A step that holds the value of node ID in sharding WANTED. */
static int need(struct emitter *e, int id, const struct gs_sharding *wanted, const struct gs_node *user)
{
  const struct gs_node *node = e->r->slice->graph->nodes[id];
  const struct held *from = NULL;
  double cheapest = 1e300;
  for (const struct held *h = e->held[id]; h != NULL; h = h->next) {
    if (h->sharding == wanted)
      return h->step;
    double cost = gs_reshard_cost(e->r->resharder, h->sharding, wanted, &node->type);
    if (cost < cheapest) {
      cheapest = cost;
      from = h;
    }
  }
  bool free = is_leaf(node) && node->op != GS_OP_INPUT && node->op != GS_OP_PARAM;
  if (free && wanted->npartial == 0)
    return emit_leaf(e, node, wanted);
  struct held made = { 0 };
  if (from == NULL) {
    made.sharding = e->choices[id].sharding;
    made.step = emit_leaf(e, node, made.sharding);
    from = &made;
  }
  if (from->sharding == wanted)
    return from->step;
  const struct gs_path *path =
      gs_reshard_path(e->r->resharder, from->sharding, wanted, &node->type);
  if (path == NULL) {
    e->b.failed = true;
    return from->step;
  }
  int step = from->step;
  const char *reason = NULL;
  for (int i = 0; i < path->nmoves && reason == NULL; i++)
    if (gs_op_is_collective(move_op(path->moves[i].kind)))
      reason = move_reason(e, node, from->sharding, wanted, user);
  for (int i = 0; i < path->nmoves && !e->b.failed; i++) {
    step = emit_move(e, &path->moves[i], step, node, reason);
    hold(e, id, path->moves[i].after, step);
  }
  return step;
}

static double identity_of(enum gs_op reduce, enum gs_dtype dtype)
{
  bool floating = gs_dtype_kind(dtype) == GS_KIND_FLOAT;
  double bits = 8 * (double)gs_dtype_size(dtype);
  switch (reduce) {
  case GS_OP_PROD: case GS_OP_ALL: return 1;
  case GS_OP_REDUCE_MAX: case GS_OP_ARGMAX:
    return floating ? -INFINITY : gs_dtype_kind(dtype) == GS_KIND_SIGNED ? -exp2(bits - 1) : 0;
  case GS_OP_REDUCE_MIN: case GS_OP_ARGMIN:
    return floating ? INFINITY : gs_dtype_kind(dtype) == GS_KIND_SIGNED ? exp2(bits - 1) : exp2(bits);
  default: return 0;
  }
}

/* STEP with the padding of dim I overwritten by the identity of REDUCE, if there is padding. */
static int mask_dim(struct emitter *e, int step, int i, enum gs_op reduce, const struct gs_node *node)
{
  const struct gs_step s = e->b.steps[step];
  int64_t size = s.global.dims[i], block = gs_sharding_block(s.sharding, i, size);
  if (block * gs_sharding_parts(s.sharding, i) == size)
    return step;
  union gs_attrs *attrs = new_attrs(e);
  if (attrs == NULL)
    return step;
  attrs->device.dim = i;
  attrs->device.naxes = s.sharding->dims[i].naxes;
  attrs->device.axes = s.sharding->dims[i].axes;
  attrs->device.block = block;
  attrs->device.size = size;
  attrs->device.fill = identity_of(reduce, s.type.dtype);
  return add(e, GS_OP_MASK, &step, 1, attrs, &s.global, s.sharding, node);
}

/* Mask the dims of operand A that the operator reduces over. */
static int mask_operand(struct emitter *e, const struct gs_node *node, int a, int step)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  for (int i = 0; i < rule->args[a].rank; i++)
    for (int k = 0; k < rule->args[a].dims[i].count; k++) {
      const struct gs_factor *f = &rule->factors[rule->args[a].dims[i].factors[k]];
      if (f->kind == GS_FACTOR_REDUCE || f->kind == GS_FACTOR_INDEX)
        step = mask_dim(e, step, i, f->reduce, node);
    }
  return step;
}

/* SH with dim I as in FROM. */
static const struct gs_sharding *with_dim(struct emitter *e, const struct gs_sharding *sh, int i,
                                          const struct gs_sharding *from)
{
  struct gs_dim_sharding dims[GS_MAX_RANK];
  memcpy(dims, sh->dims, (size_t)sh->rank * sizeof dims[0]);
  dims[i] = from->dims[i];
  return gs_sharding_make(e->r->table, sh->mesh, sh->rank, dims, sh->partial, sh->npartial,
                          sh->partial_kind);
}

static double pad_value(const struct gs_node *node)
{
  if (node->op == GS_OP_ASSEMBLE)
    return node->attrs->device.fill;
  if (node->op != GS_OP_PAD)
    return 0;
  return gs_element_get(node->args[1]->type.dtype, node->args[1]->attrs->constant.tensor->data, 0);
}

/* Dim I of a window operator by exchange (or, where the result is not cut, by what each device
 * itself holds). */
static int exchange_dim(struct emitter *e, const struct gs_node *node, int i, const int *args, int nargs,
                        const struct gs_sharding *produced)
{
  const struct gs_step first = e->b.steps[args[0]];
  bool own = produced->dims[i].naxes == 0;
  struct gs_type global = first.global;
  union gs_attrs *attrs = new_attrs(e);
  struct gs_exchange_piece *pieces = GS_NEW_ARRAY(e->b.arena, struct gs_exchange_piece,
                                                  gs_rule_piece_room(node));
  if (attrs == NULL || pieces == NULL) {
    e->b.failed = true;
    return args[0];
  }
  global.dims[i] = node->type.dims[i];
  attrs->device.dim = i;
  attrs->device.naxes = first.sharding->dims[i].naxes;
  attrs->device.axes = first.sharding->dims[i].axes;
  attrs->device.npieces = gs_rule_pieces(node, i, pieces);
  attrs->device.pieces = pieces;
  attrs->device.scale = own ? 0 : gs_sharding_block(produced, i, node->type.dims[i]);
  attrs->device.size = node->type.dims[i];
  attrs->device.fill = own && first.sharding->dims[i].naxes > 0 ? 0 : pad_value(node);
  struct gs_dim_sharding dims[GS_MAX_RANK];
  memcpy(dims, first.sharding->dims, (size_t)first.sharding->rank * sizeof dims[0]);
  dims[i] = produced->dims[i];
  struct gs_axis_list sums;
  gs_axis_list_set(&sums, first.sharding->partial, first.sharding->npartial);
  for (int k = 0; own && k < first.sharding->dims[i].naxes; k++)
    gs_axis_list_add(&sums, first.sharding->dims[i].axes[k]);
  const struct gs_sharding *after = gs_sharding_make(e->r->table, produced->mesh, produced->rank, dims,
                                                     sums.items, sums.count, produced->partial_kind);
  int made = add(e, own ? GS_OP_OWN_PART : GS_OP_EXCHANGE, args, nargs, attrs, &global, after, node);
  if (!own && e->b.steps[made].reason == NULL)
    e->b.steps[made].reason =
        gs_arena_printf(e->b.arena, "%s moves elements along dim %d across parts",
                        gs_op_info(node->op)->name, i);
  return made;
}

/* ATTRS of a window operator with nothing left to do on dim I. */
static void neutralize(enum gs_op op, union gs_attrs *attrs, int i)
{
  switch (op) {
  case GS_OP_SLICE:
    attrs->slice.start[i] = 0;
    attrs->slice.stride[i] = 1;
    break;
  case GS_OP_PAD: attrs->pad.low[i] = attrs->pad.high[i] = attrs->pad.interior[i] = 0; break;
  case GS_OP_REVERSE: attrs->reverse.dims &= ~(1u << i); break;
  case GS_OP_ROLL: attrs->roll.shift = 0; break;
  default: break;
  }
}

static bool window_dim(const struct gs_rule *rule, int i)
{
  return rule->result.dims[i].count == 1
         && rule->factors[rule->result.dims[i].factors[0]].kind == GS_FACTOR_WINDOW;
}

/* A window operator some of whose moved dims are cut. */
static int emit_window(struct emitter *e, const struct gs_node *node, int *args,
                       const struct gs_sharding *produced)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  union gs_attrs *attrs = gs_arena_copy(e->b.arena, node->attrs, sizeof *attrs);
  bool several = node->op == GS_OP_CONCAT || node->op == GS_OP_ASSEMBLE;
  int moved = several ? node->nargs : 1, left = 0;
  if (attrs == NULL) {
    e->b.failed = true;
    return args[0];
  }
  for (int i = 0; i < node->type.rank; i++) {
    if (!window_dim(rule, i))
      continue;
    if (e->b.steps[args[0]].sharding->dims[i].naxes == 0 && node->op != GS_OP_ASSEMBLE) {
      left++;
      continue;
    }
    args[0] = exchange_dim(e, node, i, args, moved, produced);
    neutralize(node->op, attrs, i);
  }
  if (left == 0 || several)
    return args[0];
  return add(e, node->op, args, node->nargs, attrs, &node->type, produced, node);
}

/* NODE's attributes on a device: nothing is left to do along dims that stay as they are, though what
 * says so speaks of the whole size. */
static const union gs_attrs *local_attrs(struct emitter *e, const struct gs_node *node)
{
  if (node->op != GS_OP_ROLL)
    return node->attrs;
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  if (window_dim(rule, node->attrs->roll.dim))
    return node->attrs;
  union gs_attrs *attrs = gs_arena_copy(e->b.arena, node->attrs, sizeof *attrs);
  if (attrs == NULL)
    e->b.failed = true;
  else
    neutralize(node->op, attrs, node->attrs->roll.dim);
  return attrs;
}

static bool cuts_window(struct emitter *e, const struct gs_node *node, const int *args)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  if (node->op == GS_OP_ASSEMBLE)
    return true;
  for (int i = 0; i < rule->result.rank; i++)
    if (window_dim(rule, i) && e->b.steps[args[0]].sharding->dims[i].naxes > 0)
      return true;
  return false;
}

/* The dim an argmax reduces, when it is cut; -1 otherwise. */
static int cut_index_dim(struct emitter *e, const struct gs_node *node, const int *args)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  for (int i = 0; node->nargs == 1 && i < rule->args[0].rank; i++)
    for (int k = 0; k < rule->args[0].dims[i].count; k++)
      if (rule->factors[rule->args[0].dims[i].factors[k]].kind == GS_FACTOR_INDEX
          && e->b.steps[args[0]].sharding->dims[i].naxes > 0)
        return i;
  return -1;
}

static int add_reduce(struct emitter *e, enum gs_op op, int arg, int dim, bool keep,
                      const struct gs_type *global, const struct gs_sharding *sh,
                      const struct gs_node *node)
{
  union gs_attrs *attrs = new_attrs(e);
  if (attrs == NULL)
    return arg;
  attrs->reduce.dims = 1u << dim;
  attrs->reduce.keep = keep;
  return add(e, op, &arg, 1, attrs, global, sh, node);
}

static int add_iota(struct emitter *e, int dim, const struct gs_dim_sharding *cut, int64_t block,
                    const struct gs_type *global, const struct gs_sharding *sh,
                    const struct gs_node *node)
{
  union gs_attrs *attrs = new_attrs(e);
  if (attrs == NULL)
    return 0;
  attrs->iota.dim = dim;
  if (cut != NULL) {
    attrs->iota.naxes = cut->naxes;
    attrs->iota.axes = cut->axes;
    attrs->iota.block = block;
  }
  return add(e, GS_OP_IOTA, NULL, 0, attrs, global, sh, node);
}

static int add_gather(struct emitter *e, int arg, int dim, const struct gs_dim_sharding *cut,
                      const struct gs_type *global, const struct gs_sharding *sh,
                      const struct gs_node *node)
{
  union gs_attrs *attrs = new_attrs(e);
  if (attrs == NULL)
    return arg;
  attrs->device.dim = dim;
  attrs->device.naxes = cut->naxes;
  attrs->device.axes = cut->axes;
  int made = add(e, GS_OP_ALL_GATHER, &arg, 1, attrs, global, sh, node);
  e->b.steps[made].reason = "each device's best value and its index are compared";
  return made;
}

/* argmax along a cut dim: each device's best (value, global index), gathered, the first best of
 * those. Lower parts hold lower indices, so ties go to the lower index as on one device. */
static int emit_index(struct emitter *e, const struct gs_node *node, int x, int dim,
                      const struct gs_sharding *produced)
{
  const struct gs_step operand = e->b.steps[x];
  const struct gs_dim_sharding cut = operand.sharding->dims[dim];
  int64_t parts = gs_sharding_parts(operand.sharding, dim), block = operand.type.dims[dim];
  struct gs_type values = operand.global, indices, hits, one;
  values.dims[dim] = parts;
  indices = hits = one = values;
  one.dims[dim] = 1;
  indices.dtype = one.dtype = node->type.dtype;
  hits.dtype = GS_DTYPE_PRED;
  const struct gs_sharding *uncut = gs_sharding_replicated(e->r->table, produced->mesh, values.rank);
  const struct gs_sharding *whole = with_dim(e, operand.sharding, dim, uncut);
  enum gs_op best = node->op == GS_OP_ARGMAX ? GS_OP_REDUCE_MAX : GS_OP_REDUCE_MIN;
  int v = add_reduce(e, best, x, dim, true, &values, operand.sharding, node);
  int local = add_reduce(e, node->op, x, dim, true, &indices, operand.sharding, node);
  int offset = add_iota(e, dim, &cut, block, &indices, operand.sharding, node);
  int index = add(e, GS_OP_ADD, (int[]){ local, offset }, 2, NULL, &indices, operand.sharding, node);
  int all_v = add_gather(e, v, dim, &cut, &values, whole, node);
  int all_i = add_gather(e, index, dim, &cut, &indices, whole, node);
  int which = add_reduce(e, node->op, all_v, dim, true, &one, whole, node);
  union gs_attrs *attrs = new_attrs(e);
  if (attrs == NULL)
    return x;
  for (int i = 0; i < values.rank; i++)
    attrs->broadcast.dims[i] = i;
  int spread = add(e, GS_OP_BROADCAST, &which, 1, attrs, &indices, whole, node);
  int count = add_iota(e, dim, NULL, 0, &indices, whole, node);
  int hit = add(e, GS_OP_EQ, (int[]){ count, spread }, 2, NULL, &hits, whole, node);
  int weight = add(e, GS_OP_CONVERT, &hit, 1, NULL, &indices, whole, node);
  int picked = add(e, GS_OP_MUL, (int[]){ weight, all_i }, 2, NULL, &indices, whole, node);
  return add_reduce(e, GS_OP_SUM, picked, dim, node->attrs->reduce.keep, &node->type, produced, node);
}

static int emit_operator(struct emitter *e, const struct gs_node *node, int *args)
{
  const struct gs_strategy *strategy = e->choices[node->id].strategy;
  for (int a = 0; a < node->nargs; a++)
    args[a] = mask_operand(e, node, a, need(e, node->args[a]->id, strategy->required[a], node));
  if (node->op == GS_OP_SHARD)
    return args[0];
  int dim = cut_index_dim(e, node, args);
  if (dim >= 0)
    return emit_index(e, node, args[0], dim, strategy->produced);
  if (cuts_window(e, node, args))
    return emit_window(e, node, args, strategy->produced);
  return add(e, node->op, args, node->nargs, local_attrs(e, node), &node->type, strategy->produced, node);
}

/* The step is shown under the user's name for NODE. */
static void name_step(struct emitter *e, int step, const struct gs_node *node)
{
  struct gs_step *s = &e->b.steps[step];
  s->is_value = true;
  if (s->node->name == NULL && node->name != NULL)
    s->node = node;
}

static bool emit_node(struct emitter *e, const struct gs_node *node)
{
  int few[8], *args = few;
  if (is_leaf(node)) {
    /* Made where they are needed, so that each is there in the layouts asked for; an input is
     * handed over in one. */
    if (node->op == GS_OP_INPUT || node->op == GS_OP_PARAM)
      emit_leaf(e, node, e->choices[node->id].sharding);
    return !e->b.failed;
  }
  if (node->nargs > 8)
    args = GS_NEW_ARRAY(e->b.arena, int, node->nargs);
  if (args == NULL)
    return false;
  int step = emit_operator(e, node, args);
  const struct gs_sharding *produced = e->choices[node->id].strategy->produced;
  hold(e, node->id, produced, step);
  if (produced == e->choices[node->id].sharding)
    name_step(e, step, node);
  step = need(e, node->id, e->choices[node->id].sharding, NULL);
  name_step(e, step, node);
  return !e->b.failed;
}

struct gs_program *gs_emit(const struct gs_choose_request *r, const struct gs_choice *choices,
                           struct gs_node *const *outputs, const char *const *names, int noutputs)
{
  struct emitter e = { .r = r, .choices = choices };
  e.held = GS_NEW_ARRAY(r->arena, struct held *, r->slice->graph->nnodes + 1);
  struct gs_program_output *out = GS_NEW_ARRAY(r->arena, struct gs_program_output, noutputs + 1);
  if (e.held == NULL || out == NULL || !gs_builder_init(&e.b, r->arena))
    return NULL;
  for (int i = 0; i < r->slice->count; i++)
    if (!emit_node(&e, r->slice->graph->nodes[r->slice->order[i]]))
      return NULL;
  for (int i = 0; i < noutputs; i++) {
    int id = outputs[i]->id;
    out[i] = (struct gs_program_output){ names[i], need(&e, id, choices[id].sharding, NULL),
                                         outputs[i] };
  }
  return gs_builder_finish(&e.b, r->completion->mesh, out, noutputs);
}
