/* partition/emit.c - steps for each node by its chosen strategy: operands resharded, padding masked
 * where it could be read, the local operator, the result resharded. */
#include <config.h>

#include "partition/emit.h"

#include <string.h>

#include "partition/form.h"
#include "partition/print_parts.h"

void gs_emit_hold(struct gs_emitter *e, int id, const struct gs_sharding *sharding, int step)
{
  for (struct gs_held *h = e->held[id]; h != NULL; h = h->next)
    if (h->sharding == sharding)
      return;
  struct gs_held *h = GS_NEW(e->b.arena, struct gs_held);
  if (h == NULL) {
    e->b.failed = true;
    return;
  }
  *h = (struct gs_held){ sharding, step, e->held[id] };
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

static int emit_move(struct gs_emitter *e, const struct gs_move *move, int from,
                     const struct gs_node *node, const char *reason)
{
  union gs_attrs *attrs = gs_emit_attrs(e);
  if (attrs == NULL)
    return from;
  const struct gs_step before = e->b.steps[from];
  attrs->device.dim = move->dim;
  attrs->device.split_dim = move->split_dim;
  attrs->device.naxes = move->naxes;
  attrs->device.axes = move->axes;
  if (move->kind == GS_MOVE_ALL_REDUCE || move->kind == GS_MOVE_REDUCE_SCATTER)
    attrs->device.reduce = before.sharding->partial_kind;
  if (move->kind == GS_MOVE_ZERO_PARTIAL)
    attrs->device.fill = gs_emit_identity(move->after->partial_kind, before.type.dtype);
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
  int made = gs_emit_add(e, move_op(move->kind), &from, 1, attrs, &before.global, move->after, node);
  if (gs_op_is_collective(e->b.steps[made].op) && e->b.steps[made].reason == NULL)
    e->b.steps[made].reason = reason;
  return made;
}

/* Why NODE's value is moved from sharding FROM to TO, wanted by USER (NULL: the value itself). */
static const char *move_reason(struct gs_emitter *e, const struct gs_node *node,
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

static int emit_leaf(struct gs_emitter *e, const struct gs_node *node, const struct gs_sharding *sharding)
{
  const union gs_attrs *attrs = node->attrs;
  if (node->op == GS_OP_IOTA) {
    union gs_attrs *iota = gs_emit_attrs(e);
    if (iota == NULL)
      return 0;
    int dim = node->attrs->iota.dim;
    iota->iota.dim = dim;
    iota->iota.naxes = sharding->dims[dim].naxes;
    iota->iota.axes = sharding->dims[dim].axes;
    iota->iota.block = gs_sharding_block(sharding, dim, node->type.dims[dim]);
    attrs = iota;
  }
  int made = gs_emit_add(e, node->op, NULL, 0, attrs, &node->type, sharding, node);
  gs_emit_hold(e, node->id, sharding, made);
  e->b.steps[made].is_value = true;
  return made;
}

static int reach(struct gs_emitter *e, int id, const struct gs_sharding *wanted, const struct gs_node *user)
{
  const struct gs_node *node = e->r->slice->graph->nodes[id];
  const struct gs_held *from = NULL;
  double cheapest = 1e300;
  for (const struct gs_held *h = e->held[id]; h != NULL; h = h->next) {
    if (h->sharding == wanted)
      return h->step;
    double cost = gs_reshard_cost(e->r->resharder, h->sharding, wanted, &node->type, cheapest);
    if (cost < cheapest) {
      cheapest = cost;
      from = h;
    }
  }
  bool free = is_leaf(node) && node->op != GS_OP_INPUT && node->op != GS_OP_PARAM
              && node->op != GS_OP_LOOP_VALUE;
  if (free && wanted->npartial == 0)
    return emit_leaf(e, node, wanted);
  struct gs_held made = { 0 };
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
  if (user != NULL && user->op == GS_OP_SHARD) {       /* which asks for nothing but the move */
    node = user;
    user = NULL;
  }
  for (int i = 0; i < path->nmoves && reason == NULL; i++)
    if (gs_op_is_collective(move_op(path->moves[i].kind)))
      reason = move_reason(e, node, from->sharding, wanted, user);
  for (int i = 0; i < path->nmoves && !e->b.failed; i++) {
    step = emit_move(e, &path->moves[i], step, node, reason);
    gs_emit_hold(e, id, path->moves[i].after, step);
  }
  return step;
}

int gs_emit_need(struct gs_emitter *e, int id, const struct gs_sharding *wanted, const struct gs_node *user)
{
  int region = e->b.region;
  e->b.region = e->r->slice->graph->nodes[id]->region;
  int step = reach(e, id, wanted, user);
  e->b.region = region;
  return step;
}

/* Mask the dims of operand A that the operator reduces over. */
static int mask_operand(struct gs_emitter *e, const struct gs_node *node, int a, int step)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  for (int i = 0; i < rule->args[a].rank; i++)
    for (int k = 0; k < rule->args[a].dims[i].count; k++) {
      const struct gs_factor *f = &rule->factors[rule->args[a].dims[i].factors[k]];
      if (f->kind == GS_FACTOR_REDUCE)
        step = gs_emit_mask(e, step, i, f->reduce, node);
    }
  return step;
}

static int emit_operator(struct gs_emitter *e, const struct gs_node *node, int *args)
{
  const struct gs_strategy *strategy = e->choices[node->id].strategy;
  for (int a = 0; a < node->nargs && gs_op_info(node->op)->group != GS_GROUP_CONTROL; a++)
    args[a] = mask_operand(e, node, a, gs_emit_need(e, node->args[a]->id, strategy->required[a], node));
  if (node->op == GS_OP_SHARD)
    return args[0];
  return gs_form_of(node->op)->emit(e, node, args, strategy);
}

/* The step is shown under the user's name for NODE. */
static void name_step(struct gs_emitter *e, int step, const struct gs_node *node)
{
  struct gs_step *s = &e->b.steps[step];
  s->is_value = true;
  if (s->node->name == NULL && node->name != NULL)
    s->node = node;
}

bool gs_emit_node(struct gs_emitter *e, const struct gs_node *node)
{
  int few[8], *args = few;
  e->b.region = node->region;
  if (node->op == GS_OP_LOOP_VALUE || node->op == GS_OP_LOOP_NEXT)
    return !e->b.failed;               /* the loop's to make */
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
  gs_emit_hold(e, node->id, produced, step);
  if (produced == e->choices[node->id].sharding)
    name_step(e, step, node);
  step = gs_emit_need(e, node->id, e->choices[node->id].sharding, NULL);
  name_step(e, step, node);
  return !e->b.failed;
}

struct gs_program *gs_emit(const struct gs_choose_request *r, const struct gs_choice *choices,
                           struct gs_node *const *outputs, const char *const *names, int noutputs)
{
  struct gs_emitter e = { .r = r, .choices = choices };
  e.held = GS_NEW_ARRAY(r->arena, struct gs_held *, r->slice->graph->nnodes + 1);
  struct gs_program_output *out = GS_NEW_ARRAY(r->arena, struct gs_program_output, noutputs + 1);
  if (e.held == NULL || out == NULL || !gs_builder_init(&e.b, r->arena, r->slice->graph))
    return NULL;
  for (int i = 0; i < r->slice->count; i++) {
    const struct gs_node *node = r->slice->graph->nodes[r->slice->order[i]];
    if (node->region == 0 && !gs_emit_node(&e, node))
      return NULL;
  }
  e.b.region = 0;
  for (int i = 0; i < noutputs; i++) {
    int id = outputs[i]->id;
    out[i] = (struct gs_program_output){ names[i], gs_emit_need(&e, id, choices[id].sharding, NULL),
                                         outputs[i] };
  }
  return gs_builder_finish(&e.b, r->completion->mesh, out, noutputs);
}
