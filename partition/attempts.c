/* partition/attempts.c - several programs for one graph, of which the cheapest is the plan's.
 *
 * Every value as completed; chosen together; with more ways to run operators where something is moved; with
 * what loops carry in other shardings; with chains of windows as one operator.
 */
#include <config.h>

#include "partition/attempts.h"

#include <string.h>

#include "partition/emit.h"
#include "partition/windows.h"

/* Lower is better: bytes sent and FLOPs / 1000, ties by collectives [PARTITIONING.md 10]. */
static double objective(struct gs_arena *arena, const struct gs_program *program, double *bytes)
{
  struct gs_program_totals totals;
  gs_program_total(arena, program, &totals);
  *bytes = totals.bytes;
  return totals.bytes + totals.flops / 1000 + totals.collectives * GS_COLLECTIVE_COST;
}

/* SLICE is what CHOICES were made for: without values that others have taken in. */
static bool list_departures(struct gs_plan *plan, struct gs_planning *j, const struct gs_slice_of_graph *slice,
                            const struct gs_choice *choices)
{
  int capacity = 0;
  for (int i = 0; i < slice->count; i++)
    capacity += choices[slice->order[i]].sharding != plan->completion->shardings[slice->order[i]];
  plan->departures = GS_NEW_ARRAY(j->arena, struct gs_departure, capacity + 1);
  if (plan->departures == NULL)
    return false;
  for (int i = 0; i < slice->count; i++) {
    int id = slice->order[i];
    const struct gs_sharding *completed = plan->completion->shardings[id];
    const struct gs_node *node = j->graph->nodes[id];
    if (choices[id].sharding == NULL)  /* taken into a chain */
      continue;
    if (choices[id].sharding != completed && (node->nargs > 0 || node->op == GS_OP_INPUT
                                              || node->op == GS_OP_PARAM))
      plan->departures[plan->ndepartures++] = (struct gs_departure){ id, completed,
                                                                     choices[id].sharding };
  }
  return true;
}

enum { LARGE = 20000 };                /* nodes; from here on the fewer tries the better */

/* The best so far. */
struct best { double cost; const struct gs_choice *choices; };

/* Choose and emit by REQUEST; keep the program if it is better than the plan's, the BEST. */
static bool try_program(struct gs_plan *plan, struct gs_planning *j, const struct gs_choose_request *request,
                        struct best *best)
{
  double bytes;
  struct gs_choice *chosen = gs_choose(request);
  struct gs_program *other =
      chosen != NULL ? gs_emit(request, chosen, j->outputs, j->names, j->noutputs) : NULL;
  if (other == NULL)
    return false;
  double other_cost = objective(j->arena, other, &bytes);
  if (other_cost >= best->cost - 1e-6)
    return true;
  *best = (struct best){ other_cost, chosen };
  plan->program = other;
  plan->ndepartures = 0;
  return list_departures(plan, j, request->slice, chosen);
}

/* Where something is moved: nodes whose operands or result are not where they are wanted. */
static void find_moves(const struct gs_slice_of_graph *slice, const struct gs_choice *choices, bool *moved)
{
  for (int i = 0; i < slice->count; i++) {
    const struct gs_node *node = slice->graph->nodes[slice->order[i]];
    const struct gs_choice *c = &choices[node->id];
    if (c->strategy == NULL)
      continue;
    moved[node->id] = moved[node->id] || c->strategy->produced != c->sharding;
    for (int a = 0; a < node->nargs; a++)
      if (c->strategy->required[a] != choices[node->args[a]->id].sharding)
        moved[node->id] = moved[node->args[a]->id] = true;
  }
}

/* ---- Loops ---- */

enum { MOST_TRIES = 30, FROM_BODY = 6, MOST_ALTERNATIVES = FROM_BODY + 3 };

/* What a turn sends at least to make the next value of a carry by STRATEGY, when the carry is as that produces it
 * and other operands come as they like. */
static double turn_cost(const struct gs_choose_request *r, const struct gs_choice *choices, const struct gs_node *next,
                        const struct gs_strategy *strategy)
{
  const struct gs_node *made = next->args[2];
  double sum = strategy->cost;
  for (int a = 0; a < made->nargs; a++) {
    const struct gs_node *arg = made->args[a];
    const struct gs_ways *w = choices[arg->id].ways;
    const struct gs_sharding *from = arg == next->args[1] ? strategy->produced : choices[arg->id].sharding;
    double least = gs_reshard_cost(r->resharder, from, strategy->required[a], &arg->type, GS_NO_LIMIT);
    for (int t = 0; w != NULL && t < w->count; t++)
      least = w->strategies[t].produced == strategy->required[a] ? 0 : least;
    sum += least;
  }
  return sum;
}

static int add_alternative(const struct gs_sharding **alternatives, int count, const struct gs_sharding *now,
                           const struct gs_sharding *sharding)
{
  bool known = sharding == now || sharding->mesh != now->mesh || count == MOST_ALTERNATIVES;
  for (int k = 0; k < count; k++)
    known = known || alternatives[k] == sharding;
  if (!known)
    alternatives[count++] = sharding;
  return count;
}

/* Shardings of a carry before its loop, and those that it is wanted in after it. */
static int around_loop(const struct gs_slice_of_graph *slice, const struct gs_choice *choices,
                       const struct gs_node *next, const struct gs_sharding **alternatives, int count)
{
  const struct gs_sharding *now = choices[next->args[1]->id].sharding;
  count = add_alternative(alternatives, count, now, choices[next->args[0]->id].sharding);
  for (int u = slice->first_user[next->id]; u < slice->first_user[next->id + 1]; u++) {
    const struct gs_node *result = slice->graph->nodes[slice->users[u]];
    for (int k = slice->first_user[result->id]; result->op == GS_OP_LOOP_RESULT && k < slice->first_user[result->id + 1];
         k++) {
      const struct gs_node *user = slice->graph->nodes[slice->users[k]];
      for (int a = 0; a < user->nargs; a++)
        if (user->args[a] == result)
          count = add_alternative(alternatives, count, now, choices[user->id].strategy->required[a]);
    }
  }
  return count;
}

/* Shardings in which the next value of a carry can be made, those first that send least; their number. */
static int carry_alternatives(const struct gs_choose_request *r, const struct gs_choice *choices,
                              const struct gs_node *next, const struct gs_sharding **alternatives)
{
  const struct gs_ways *w = choices[next->args[2]->id].ways;
  const struct gs_sharding *now = choices[next->args[1]->id].sharding;
  double costs[FROM_BODY];
  int count = 0;
  for (int t = 0; w != NULL && t < w->count; t++) {
    const struct gs_sharding *sharding = w->strategies[t].produced;
    bool known = sharding == now;
    for (int k = 0; k < count; k++)
      known = known || alternatives[k] == sharding;
    if (known || sharding->mesh != now->mesh)
      continue;
    double cost = turn_cost(r, choices, next, &w->strategies[t]);
    int at = count < FROM_BODY ? count++ : FROM_BODY;
    for (; at > 0 && costs[at - 1] > cost; at--)
      if (at < FROM_BODY) {
        costs[at] = costs[at - 1];
        alternatives[at] = alternatives[at - 1];
      }
    if (at < FROM_BODY) {
      costs[at] = cost;
      alternatives[at] = sharding;
    }
  }
  return around_loop(r->slice, choices, next, alternatives, count);
}

/* Whether something is moved in the loop of NEXT, or what it carries before or after it. */
static bool moves_around(const struct gs_slice_of_graph *slice, const struct gs_node *next, const bool *moved)
{
  const struct gs_region *r = &slice->graph->regions[next->args[1]->region];
  bool found = moved[next->id] || moved[next->args[0]->id];
  for (int u = slice->first_user[next->id]; u < slice->first_user[next->id + 1] && !found; u++)
    found = moved[slice->users[u]];
  for (int id = r->begin; id < r->end && !found; id++)
    found = slice->needed[id] && moved[id];
  return found;
}

/* What a loop carries in another sharding than completion gave it, where that spares the turns more than it costs
 * before and after: sums that are added up in parts, and reduced after the last turn.  SHARDINGS are those REQUEST
 * completes with. */
static bool try_carries(struct gs_plan *plan, struct gs_planning *j, const struct gs_choose_request *request,
                        const struct gs_sharding **shardings, struct best *best)
{
  const struct gs_slice_of_graph *slice = request->slice;
  int tries = MOST_TRIES;
  for (int i = 0; i < slice->count && tries > 0; i++) {
    const struct gs_node *next = slice->graph->nodes[slice->order[i]];
    const struct gs_sharding *alternatives[MOST_ALTERNATIVES];
    if (next->op != GS_OP_LOOP_NEXT || !moves_around(slice, next, request->wide))
      continue;
    int count = carry_alternatives(request, best->choices, next, alternatives);
    const struct gs_sharding *keep = shardings[next->args[1]->id];
    for (int k = 0; k < count && tries > 0; k++, tries--) {
      double before = best->cost;
      shardings[next->id] = shardings[next->args[1]->id] = alternatives[k];
      if (!try_program(plan, j, request, best))
        return false;
      if (best->cost < before)
        keep = alternatives[k];
    }
    shardings[next->id] = shardings[next->args[1]->id] = keep;
  }
  return true;
}

/* ---- What follows a move ---- */

enum { MOST_PUSHES = 3, MOST_FOLLOWERS = 32 };

/* The bytes by which value ID is moved once it is made. */
static double moved_after(const struct gs_choose_request *r, const struct gs_choice *choices, int id)
{
  const struct gs_node *node = r->slice->graph->nodes[id];
  const struct gs_choice *c = &choices[id];
  if (c->strategy == NULL || c->strategy->produced->npartial > 0 || c->strategy->produced == c->sharding || r->fixed[id])
    return 0;
  return r->slice->turns[id]
         * gs_reshard_cost(r->resharder, c->strategy->produced, c->sharding, &node->type, GS_NO_LIMIT);
}

/* The sharding of START and what follows from it, operator by operator up to the next contraction, into SHARDINGS,
 * marked in FIXED. */
static void push_on(const struct gs_choose_request *r, int start, const struct gs_sharding *sharding,
                    const struct gs_sharding **shardings, bool *fixed)
{
  const struct gs_slice_of_graph *slice = r->slice;
  int queue[MOST_FOLLOWERS], count = 1;
  queue[0] = start;
  shardings[start] = sharding;
  fixed[start] = true;
  for (int at = 0; at < count; at++)
    for (int u = slice->first_user[queue[at]]; u < slice->first_user[queue[at] + 1]; u++) {
      const struct gs_node *user = slice->graph->nodes[slice->users[u]];
      enum gs_op_group group = gs_op_info(user->op)->group;
      int arg = 0;
      if (count == MOST_FOLLOWERS || fixed[user->id] || gs_strategy_is_given(user->op) || group == GS_GROUP_CONTRACTION)
        continue;
      while (user->args[arg]->id != queue[at])
        arg++;
      const struct gs_sharding *follows =
          gs_strategy_result(r->table, user, slice->rules[user->id], shardings[queue[at]], arg);
      if (follows == NULL || follows->npartial > 0)
        continue;
      shardings[user->id] = follows;
      fixed[user->id] = true;
      queue[count++] = user->id;
    }
}

/* A value that is moved as soon as it is made, left where it is, and what follows from it, too: many operators have to
 * change at once where each alone would be dearer. */
static bool try_pushes(struct gs_plan *plan, struct gs_planning *j, const struct gs_choose_request *request,
                       struct best *best)
{
  const struct gs_slice_of_graph *slice = request->slice;
  size_t count = (size_t)slice->graph->nnodes + 1;
  bool *tried = GS_NEW_ARRAY(j->arena, bool, count);
  for (int k = 0; k < MOST_PUSHES && tried != NULL; k++) {
    double most = 0;
    int dearest = -1;
    for (int i = 0; i < slice->count; i++) {
      double bytes = tried[slice->order[i]] ? 0 : moved_after(request, best->choices, slice->order[i]);
      dearest = bytes > most ? slice->order[i] : dearest;
      most = bytes > most ? bytes : most;
    }
    if (dearest < 0)
      return true;
    struct gs_choose_request pushed = *request;
    struct gs_completion completion = *request->completion;
    bool *fixed = gs_arena_copy(j->arena, request->fixed, count * sizeof *fixed);
    completion.shardings = gs_arena_copy(j->arena, completion.shardings, count * sizeof *completion.shardings);
    if (fixed == NULL || completion.shardings == NULL)
      return false;
    push_on(request, dearest, best->choices[dearest].strategy->produced, completion.shardings, fixed);
    pushed.completion = &completion;
    pushed.fixed = fixed;
    tried[dearest] = true;
    if (!try_program(plan, j, &pushed, best))
      return false;
  }
  return tried != NULL;
}

/* ---- All of them ---- */

/* Again with more ways to run operators where something is moved.  Outputs stay as they are: what was found for
 * them came of the program itself, here they would be moved just to end up finer. */
static bool try_more_ways(struct gs_plan *plan, struct gs_planning *j, struct gs_choose_request request,
                          struct best *best)
{
  struct gs_completion pinned = *request.completion;
  size_t count = (size_t)request.slice->graph->nnodes + 1;
  bool *fixed = gs_arena_copy(j->arena, request.fixed, count * sizeof *fixed);
  bool *wide = GS_NEW_ARRAY(j->arena, bool, count);
  pinned.shardings = gs_arena_copy(j->arena, pinned.shardings, count * sizeof *pinned.shardings);
  if (fixed == NULL || wide == NULL || pinned.shardings == NULL)
    return false;
  for (int i = 0; i < j->noutputs; i++) {
    int id = j->outputs[i]->id;
    pinned.shardings[id] = best->choices[id].sharding;
    fixed[id] = true;
  }
  request.completion = &pinned;
  request.fixed = fixed;
  find_moves(request.slice, best->choices, wide);
  request.wide = wide;
  if (!try_program(plan, j, &request, best))
    return false;
  if (request.slice->count > LARGE)
    return true;
  request.shared = true;
  if (!try_program(plan, j, &request, best))
    return false;
  request.shared = false;
  return try_carries(plan, j, &request, pinned.shardings, best) && try_pushes(plan, j, &request, best);
}

static bool outputs_are_annotated(const struct gs_planning *j)
{
  for (int i = 0; i < j->noutputs; i++)
    if (!j->fixed[j->outputs[i]->id])
      return false;
  return true;
}

bool gs_attempts_make(struct gs_plan *plan, struct gs_planning *j)
{
  struct gs_choose_request request = {
    .arena = j->arena, .table = j->table, .resharder = j->resharder, .slice = j->slice,
    .completion = plan->completion, .meshes = j->meshes, .fixed = j->fixed, .output = j->output, .options = j->options,
    .ways = gs_ways_table_new(j->arena)
  };
  if (request.ways == NULL)
    return false;
  struct gs_choice *completed = gs_choose_completed(&request);
  if (completed == NULL)
    return false;
  plan->program = gs_emit(&request, completed, j->outputs, j->names, j->noutputs);
  if (plan->program == NULL)
    return false;
  struct best best = { objective(j->arena, plan->program, &plan->completed_bytes), completed };
  if (j->options->follow_completed || plan->completed_bytes == 0)
    return true;
  /* The two tries take about as long as all else; in large programs one has to do. */
  bool large = j->slice->count > LARGE, annotated = outputs_are_annotated(j);
  if (!(large && annotated) && !try_program(plan, j, &request, &best))
    return false;
  if (!(large && !annotated) && !try_more_ways(plan, j, request, &best))
    return false;
  int fused;
  struct gs_graph *graph = gs_windows_fuse(j->arena, j->graph, j->slice, j->output, &fused);
  if (graph == NULL || fused == 0)
    return graph != NULL;
  request.slice = gs_slice_of_graph(j->arena, graph, j->outputs, j->noutputs);
  request.ways = gs_ways_table_new(j->arena);
  return request.slice != NULL && request.ways != NULL && try_program(plan, j, &request, &best);
}
