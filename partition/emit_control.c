/* partition/emit_control.c - loops and branches: each body's steps once, between those that open and
 * close it.
 *
 * A value from outside that the body needs in another layout is moved before the loop, not in every
 * turn: gs_emit_need makes a value's layouts where the value is made.
 */
#include <config.h>

#include "partition/form.h"

double gs_bytes_control(const struct gs_form_query *query)
{
  (void)query;
  return 0;
}

/* A step of NODE that opens or closes a scope, or carries something; ATTRS are copied. */
static int add_control(struct gs_emitter *e, enum gs_op op, const int *args, int nargs, union gs_attrs with,
                       const struct gs_type *type, const struct gs_sharding *sharding,
                       const struct gs_node *node)
{
  union gs_attrs *attrs = gs_emit_attrs(e);
  if (attrs == NULL)
    return 0;
  attrs->control = with.control;
  return gs_emit_add(e, op, args, nargs, attrs, type, sharding, node);
}

static union gs_attrs carried(int region, int index)
{
  return (union gs_attrs){ .carried = { region, index } };
}

/* The nodes of REGION; TEST, when it is not NULL, is a loop's condition, tested as soon as it is known. */
static bool emit_region(struct gs_emitter *e, int region, const struct gs_node *test,
                        const struct gs_node *loop)
{
  const struct gs_slice_of_graph *slice = e->r->slice;
  const struct gs_region *r = &slice->graph->regions[region];
  const struct gs_sharding *scalar = gs_emit_scalar(e, loop);
  bool tested = test == NULL;
  for (int id = r->begin; id <= r->end; id++) {
    if (!tested && (id == r->end || test->region != region || test->id < id)) {
      int step = gs_emit_need(e, test->id, scalar, loop);
      e->b.region = region;
      add_control(e, GS_OP_LOOP_TEST, &step, 1, loop->attrs[0], &test->type, scalar, loop);
      tested = true;
    }
    if (id == r->end)
      break;
    const struct gs_node *node = slice->graph->nodes[id];
    if (slice->needed[id] && node->region == region && !gs_emit_node(e, node))
      return false;
  }
  e->b.region = region;
  return !e->b.failed;
}

static int emit_loop(struct gs_emitter *e, const struct gs_node *loop)
{
  int region = loop->attrs->control.regions[0];
  int n = loop->nargs - (loop->attrs->control.trips < 0);
  const struct gs_node *test = n < loop->nargs ? loop->args[n] : NULL;
  const struct gs_sharding *scalar = gs_emit_scalar(e, loop);
  int *inits = GS_NEW_ARRAY(e->b.arena, int, n + 1), *nexts = GS_NEW_ARRAY(e->b.arena, int, n + 1);
  if (inits == NULL || nexts == NULL || scalar == NULL) {
    e->b.failed = true;
    return 0;
  }
  for (int k = 0; k < n; k++) {
    const struct gs_node *next = loop->args[k], *value = next->args[1];
    const struct gs_sharding *sharding = e->choices[next->id].strategy->produced;
    inits[k] = gs_emit_need(e, next->args[0]->id, sharding, next);
    e->b.region = region;
    int step = add_control(e, GS_OP_LOOP_VALUE, NULL, 0, carried(region, k), &value->type, sharding, value);
    e->b.steps[step].is_value = true;
    gs_emit_hold(e, value->id, sharding, step);
  }
  if (!emit_region(e, region, test, loop))
    return 0;
  for (int k = 0; k < n; k++) {
    const struct gs_node *next = loop->args[k];
    nexts[k] = gs_emit_need(e, next->args[2]->id, e->choices[next->id].strategy->produced, next);
  }
  e->b.region = region;
  add_control(e, GS_OP_LOOP_END, nexts, n, loop->attrs[0], &loop->type, scalar, loop);
  e->b.region = loop->region;
  return add_control(e, GS_OP_LOOP, inits, n, loop->attrs[0], &loop->type, scalar, loop);
}

/* The results of COND that are needed, in order of their nodes: at most ROOM; their number. */
static int results_of(const struct gs_emitter *e, const struct gs_node *cond, const struct gs_node **results,
                      int room)
{
  const struct gs_slice_of_graph *slice = e->r->slice;
  int n = 0;
  for (int u = slice->first_user[cond->id]; u < slice->first_user[cond->id + 1]; u++) {
    const struct gs_node *node = slice->graph->nodes[slice->users[u]];
    if (node->op == GS_OP_COND_RESULT && n < room)
      results[n++] = node;
  }
  return n;
}

static int emit_cond(struct gs_emitter *e, const struct gs_node *cond, int predicate)
{
  int room = e->r->slice->first_user[cond->id + 1] - e->r->slice->first_user[cond->id];
  const struct gs_node **results = GS_NEW_ARRAY(e->b.arena, const struct gs_node *, room + 1);
  int *steps = GS_NEW_ARRAY(e->b.arena, int, room + 1);
  const struct gs_sharding *scalar = gs_emit_scalar(e, cond);
  if (results == NULL || steps == NULL || scalar == NULL) {
    e->b.failed = true;
    return 0;
  }
  int n = results_of(e, cond, results, room);
  for (int branch = 0; branch < 2; branch++) {
    int region = cond->attrs->control.regions[branch];
    if (!emit_region(e, region, NULL, cond))
      return 0;
    for (int k = 0; k < n; k++)
      steps[k] = gs_emit_need(e, results[k]->args[1 + branch]->id,
                              e->choices[results[k]->id].strategy->produced, results[k]);
    e->b.region = region;
    add_control(e, GS_OP_BRANCH_END, steps, n, cond->attrs[0], &cond->type, scalar, cond);
  }
  e->b.region = cond->region;
  return add_control(e, GS_OP_COND, &predicate, 1, cond->attrs[0], &cond->type, scalar, cond);
}

/* What NODE takes out of a loop or a branch, as step OPENING. */
static int emit_result(struct gs_emitter *e, const struct gs_node *node, int opening,
                       const struct gs_sharding *produced)
{
  int index = node->attrs->carried.index;
  const struct gs_node *cond = node->args[0];
  if (node->op == GS_OP_COND_RESULT) {
    int room = e->r->slice->first_user[cond->id + 1] - e->r->slice->first_user[cond->id];
    const struct gs_node **results = GS_NEW_ARRAY(e->b.arena, const struct gs_node *, room + 1);
    int n = results == NULL ? 0 : results_of(e, cond, results, room);
    for (index = 0; index < n && results[index] != node;)
      index++;
  }
  return add_control(e, node->op, &opening, 1, carried(node->attrs->carried.region, index), &node->type,
                     produced, node);
}

int gs_emit_control(struct gs_emitter *e, const struct gs_node *node, int *args,
                    const struct gs_strategy *strategy)
{
  (void)args;
  if (node->op == GS_OP_LOOP)
    return emit_loop(e, node);
  const struct gs_sharding *scalar = gs_emit_scalar(e, node);
  int first = gs_emit_need(e, node->args[0]->id, scalar, node);
  return node->op == GS_OP_COND ? emit_cond(e, node, first) : emit_result(e, node, first, strategy->produced);
}
