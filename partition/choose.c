/* partition/choose.c - joint choice by dynamic programming, then local improvement.
 *
 * Forward in topological order: the cheapest cost to have each value in each of a few candidate
 * shardings, an operand's cost shared among its users.  Backward: fix choices from the outputs.
 * Exact on trees; rounds of re-choosing one value given its neighbours mend what sharing spoils.
 */
#include <config.h>

#include "partition/choose.h"

#include <string.h>

#include "partition/axes.h"
#include "partition/choose_state.h"

enum { ROUNDS = 2 };

static const double SEAM = GS_COLLECTIVE_COST / 10;



static bool is_leaf(const struct gs_node *node)
{
  return node->nargs == 0;
}

static int user_count(const struct gs_choose_state *s, int id)
{
  int n = s->r->slice->first_user[id + 1] - s->r->slice->first_user[id];
  return n > 0 ? n : 1;
}

/* Moving value ID; twice costs more than once, where paths may be the same: a whole path is looked at longer in the
 * end. */
static double reshard_cost(const struct gs_choose_state *s, int id, const struct gs_sharding *from,
                           const struct gs_sharding *to, double limit)
{
  if (from == to)
    return 0;
  double turns = s->r->slice->turns[id];
  return SEAM + turns * gs_reshard_cost(s->r->resharder, from, to, &s->nodes[id]->type, (limit - SEAM) / turns);
}

/* From value ID in candidate C to what a user requires, WANTED bytes on a device; or LIMIT, or more. */
static double step_cost(const struct gs_choose_state *s, int id, int c, const struct gs_sharding *to,
                        double wanted, double limit)
{
  const struct gs_choose_value *v = &s->values[id];
  const struct gs_sharding *from = v->candidates[c];
  if (from == to || (v->free && to->npartial == 0))
    return 0;
  if (v->given && v->layout == NULL && to->npartial == 0 && wanted <= v->bytes[0])
    return 0;
  return reshard_cost(s, id, from, to, limit);
}

/* The cheapest to have operand ID as REQUIRED, over its candidates. */
static double operand_cost(const struct gs_choose_state *s, int id, const struct gs_sharding *required,
                           double wanted)
{
  const struct gs_choose_value *v = &s->values[id];
  double cheapest = GS_NO_LIMIT, share = 1.0 / user_count(s, id), least[GS_MAX_CANDIDATES];
  double moved = s->r->shared ? share : 1;
  for (int c = 0; c < v->ncandidates; c++) {
    least[c] = v->best[c] * share;
    if (!v->free && !v->given && v->candidates[c] != required)
      least[c] += moved * s->r->slice->turns[id] * gs_reshard_bound(v->candidates[c], v->bytes[c], required, wanted);
  }
  for (;;) {
    int c = 0;
    for (int k = 1; k < v->ncandidates; k++)
      c = least[k] < least[c] ? k : c;
    if (least[c] >= cheapest)
      return cheapest;
    double cost = v->best[c] * share;
    cost += moved * step_cost(s, id, c, required, wanted, (cheapest - cost) / moved);
    cheapest = cost < cheapest ? cost : cheapest;
    least[c] = GS_NO_LIMIT;
  }
}

static bool users_are_linear(const struct gs_choose_state *s, int id)
{
  const struct gs_slice_of_graph *slice = s->r->slice;
  if (slice->first_user[id] == slice->first_user[id + 1])
    return false;
  for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++)
    if (gs_op_info(s->nodes[slice->users[u]]->op)->linear == GS_LINEAR_NONE)
      return false;
  return true;
}

/* An output nobody annotated is not left mostly padding. */
static bool pads_little(const struct gs_sharding *sh, const struct gs_type *type)
{
  return gs_sharding_padding(sh, type) <= 0.125;
}

/* SH has every axis of BASE in its place, and maybe more; but for what makes BASE mostly padding. */
static bool is_finer(const struct gs_sharding *sh, const struct gs_sharding *base, const struct gs_type *type)
{
  bool all = pads_little(base, type);
  for (int i = 0; i < sh->rank; i++) {
    const struct gs_dim_sharding *a = &base->dims[i], *b = &sh->dims[i];
    if (b->block != 0)
      return false;
    if (!all && type->dims[i] % gs_sharding_parts(base, i) != 0)
      continue;
    if (a->naxes > b->naxes)
      return false;
    for (int k = 0; k < a->naxes; k++)
      if (a->axes[k].axis != b->axes[k].axis || a->axes[k].pre != b->axes[k].pre
          || b->axes[k].size % a->axes[k].size != 0
          || (k + 1 < a->naxes && a->axes[k].size != b->axes[k].size))
        return false;
  }
  return sh->npartial == 0;
}

static bool is_candidate(const struct gs_choose_state *s, int id, const struct gs_sharding *sh, bool linear)
{
  const struct gs_sharding *completed = s->r->completion->shardings[id];
  const struct gs_type *type = &s->nodes[id]->type;
  if (s->completed_only || s->r->fixed[id])
    return false;
  if (s->r->output[id])
    return is_finer(sh, completed, type) && pads_little(sh, type);
  if (sh->npartial > 0)                /* its operator makes it as large, whatever comes then */
    return linear;
  return gs_sharding_local_bytes(sh, type) <= 4 * gs_sharding_local_bytes(completed, type) + (1 << 20);
}

/* Strategies by what they cost before the result is moved, cheapest first. */
struct priced { int count; double base[GS_MAX_STRATEGIES]; unsigned char order[GS_MAX_STRATEGIES]; };

/* The cheapest to have ID as CANDIDATE, BYTES on a device. */
static double candidate_cost(const struct gs_choose_state *s, int id, const struct gs_sharding *candidate,
                             double bytes, const struct priced *priced, int *strategy)
{
  const struct gs_ways *w = s->values[id].ways;
  double cheapest = GS_NO_LIMIT, turns = s->r->slice->turns[id];
  for (int i = 0; i < priced->count; i++) {
    int t = priced->order[i];
    const struct gs_sharding *produced = w->strategies[t].produced;
    if (priced->base[t] >= cheapest)
      break;
    if (produced != candidate
        && priced->base[t] + turns * gs_reshard_bound(produced, w->bytes[t], candidate, bytes) >= cheapest)
      continue;
    double cost = priced->base[t] + reshard_cost(s, id, produced, candidate, cheapest - priced->base[t]);
    if (cost < cheapest) {
      cheapest = cost;
      *strategy = t;
    }
  }
  return cheapest;
}

static bool is_full(const struct gs_choose_value *v, double cost)
{
  return v->ncandidates == GS_MAX_CANDIDATES && v->best[GS_MAX_CANDIDATES - 1] <= cost;
}

/* By cost, after those that are kept whatever they cost. */
static void insert_candidate(struct gs_choose_value *v, const struct gs_sharding *sh, double bytes, double cost)
{
  int at = 0;
  while (at < v->ncandidates && v->candidates[at] != sh)
    at++;
  if (at < v->ncandidates ? at < v->nkept || v->best[at] <= cost : is_full(v, cost))
    return;
  if (at == v->ncandidates)            /* else a cheaper way to one that is known */
    at = v->ncandidates < GS_MAX_CANDIDATES ? v->ncandidates++ : GS_MAX_CANDIDATES - 1;
  while (at > v->nkept && v->best[at - 1] > cost) {
    v->candidates[at] = v->candidates[at - 1];
    v->bytes[at] = v->bytes[at - 1];
    v->best[at] = v->best[at - 1];
    at--;
  }
  v->candidates[at] = sh;
  v->bytes[at] = bytes;
  v->best[at] = cost;
}

static bool make_strategies(struct gs_choose_state *s, int id)
{
  const struct gs_node *node = s->nodes[id];
  struct gs_choose_value *v = &s->values[id];
  struct gs_sharding_list few[4], *args = few;
  if (node->nargs > 4)
    args = GS_NEW_ARRAY(s->r->arena, struct gs_sharding_list, node->nargs);
  if (args == NULL)
    return false;
  for (int a = 0; a < node->nargs; a++) {
    const struct gs_choose_value *u = &s->values[node->args[a]->id];
    args[a].count = node->nargs > 4 && u->ncandidates > 1 ? 1 : u->ncandidates;
    memcpy(args[a].items, u->candidates, (size_t)args[a].count * sizeof u->candidates[0]);
  }
  struct gs_sharding_list wanted = { 1, { v->candidates[0] } };
  for (int i = 0; s->wants != NULL && i < s->wants[id].count; i++)
    if (s->wants[id].items[i] != v->candidates[0])
      wanted.items[wanted.count++] = s->wants[id].items[i];
  const struct gs_strategy_request request = {
    .arena = s->r->arena, .table = s->r->table, .mesh = v->candidates[0]->mesh, .node = node,
    .rule = s->r->slice->rules[id], .args = args, .result = &wanted, .wide = s->r->wide != NULL && s->r->wide[id]
  };
  v->ways = gs_ways_find(s->r->ways, s->r->slice->kinds[id], &request);
  return v->ways != NULL;
}

static bool reserve_prices(struct gs_choose_state *s, const struct gs_ways *w)
{
  int needed = 0;
  for (int a = 0; a < w->nargs; a++)
    needed += w->operands[a].count;
  if (needed <= s->nprices)
    return true;
  s->nprices = 2 * needed;
  s->prices = GS_NEW_ARRAY(s->r->arena, double, s->nprices);
  return s->prices != NULL;
}

/* Whether another user of ARG than ID has it moved to REQUIRED anyway. */
static bool is_moved(const struct gs_choose_state *s, int arg, const struct gs_sharding *required, int id)
{
  enum { LOOK_AT = 16 };
  const struct gs_slice_of_graph *slice = s->r->slice;
  int end = slice->first_user[arg + 1];
  if (end - slice->first_user[arg] > LOOK_AT)
    end = slice->first_user[arg] + LOOK_AT;
  for (int u = slice->first_user[arg]; u < end; u++) {
    const struct gs_node *user = s->nodes[slice->users[u]];
    const struct gs_choose_value *w = &s->values[user->id];
    for (int a = 0; a < user->nargs && user->id != id; a++)
      if (user->args[a]->id == arg && w->ways->strategies[w->strategy].required[a] == required)
        return true;
  }
  return false;
}

/* What user ID pays to have ARG, as that is chosen, moved to REQUIRED. */
static double move_cost(const struct gs_choose_state *s, int id, int arg, const struct gs_sharding *required,
                        double bytes, double limit)
{
  double cost = step_cost(s, arg, s->values[arg].chosen, required, bytes, limit);
  return cost > 0 && is_moved(s, arg, required, id) ? 0 : cost;
}

/* What each strategy of ID costs but for moving the result, as far as that is below LIMIT.  SETTLED: from the
 * operands' choices, else from the best of their candidates. */
static bool price(struct gs_choose_state *s, int id, bool settled, double limit, struct priced *priced)
{
  const struct gs_node *node = s->nodes[id];
  const struct gs_ways *w = s->values[id].ways;
  if (!reserve_prices(s, w))
    return false;
  double *at = s->prices;
  priced->count = w->count;
  for (int t = 0; t < w->count; t++)
    priced->base[t] = s->r->slice->turns[id] * w->strategies[t].cost;
  for (int a = 0; a < w->nargs; a++) {
    int arg = node->args[a]->id;
    const struct gs_operand_ways *o = &w->operands[a];
    for (int k = 0; k < o->count; k++)
      at[k] = settled ? move_cost(s, id, arg, o->required[k], o->bytes[k], limit)
                      : operand_cost(s, arg, o->required[k], o->bytes[k]);
    for (int t = 0; t < w->count; t++)
      priced->base[t] += at[w->which[t * w->nargs + a]];
    at += o->count;
  }
  for (int t = 0; t < w->count; t++) {
    int i = t;
    for (; i > 0 && priced->base[priced->order[i - 1]] > priced->base[t]; i--)
      priced->order[i] = priced->order[i - 1];
    priced->order[i] = (unsigned char)t;
  }
  return true;
}

/* SH with its partial sums scattered over dim I; NULL where that would pad. */
static const struct gs_sharding *scattered(const struct gs_choose_state *s, const struct gs_sharding *sh, int i,
                                           const struct gs_type *type)
{
  struct gs_dim_sharding dims[GS_MAX_RANK];
  struct gs_axis_list axes;
  memcpy(dims, sh->dims, (size_t)sh->rank * sizeof dims[0]);
  gs_axis_list_set(&axes, dims[i].axes, dims[i].naxes);
  for (int k = 0; k < sh->npartial; k++)
    gs_axis_list_add(&axes, sh->partial[k]);
  if (dims[i].block != 0 || type->dims[i] == 0 || type->dims[i] % gs_axis_list_size(&axes) != 0)
    return NULL;
  dims[i].naxes = axes.count;
  dims[i].axes = axes.items;
  return gs_sharding_make(s->r->table, sh->mesh, sh->rank, dims, NULL, 0, GS_OP_SUM);
}

static void offer_candidate(struct gs_choose_state *s, int id, const struct gs_sharding *sh, double cost,
                            bool linear)
{
  if (sh != NULL && sh != s->values[id].candidates[0] && is_candidate(s, id, sh, linear))
    insert_candidate(&s->values[id], sh, gs_sharding_local_bytes(sh, &s->nodes[id]->type), cost);
}

/* What annotated values want, what strategies produce, and where that is partial also each way to scatter it, are
 * candidates. */
static void add_candidates(struct gs_choose_state *s, int id, const struct priced *priced)
{
  struct gs_choose_value *v = &s->values[id];
  const struct gs_type *type = &s->nodes[id]->type;
  bool linear = users_are_linear(s, id);
  for (int i = 0; i < s->wants[id].count; i++)
    offer_candidate(s, id, s->wants[id].items[i], GS_NO_LIMIT, linear);
  v->nkept = v->ncandidates;
  for (int i = 0; i < priced->count; i++) {
    int t = priced->order[i];
    const struct gs_sharding *produced = v->ways->strategies[t].produced;
    if (is_full(v, priced->base[t]))
      break;
    offer_candidate(s, id, produced, priced->base[t], linear);
    for (int d = 0; d < (produced->npartial > 0 ? produced->rank : 0); d++) {
      const struct gs_sharding *sh = scattered(s, produced, d, type);
      if (sh != NULL && is_finer(sh, s->r->completion->shardings[id], type))
        offer_candidate(s, id, sh, priced->base[t] + reshard_cost(s, id, produced, sh, GS_NO_LIMIT), linear);
    }
  }
  for (int c = 1; c < v->ncandidates; c++)
    v->best[c] = candidate_cost(s, id, v->candidates[c], v->bytes[c], priced, &v->way[c]);
}

static bool forward(struct gs_choose_state *s, int id)
{
  const struct gs_node *node = s->nodes[id];
  struct gs_choose_value *v = &s->values[id];
  struct priced priced;
  v->ncandidates = v->nkept = 1;
  v->candidates[0] = s->r->completion->shardings[id];
  v->bytes[0] = gs_sharding_local_bytes(v->candidates[0], &node->type);
  v->best[0] = 0;
  if (is_leaf(node)) {
    bool input = node->op == GS_OP_INPUT || node->op == GS_OP_PARAM;
    v->free = !input && node->op != GS_OP_LOOP_VALUE;
    v->given = input && !s->r->fixed[id] && !s->completed_only && !s->r->output[id];
    return true;
  }
  if (!make_strategies(s, id) || !price(s, id, false, GS_NO_LIMIT, &priced))
    return false;
  v->best[0] = candidate_cost(s, id, v->candidates[0], v->bytes[0], &priced, &v->way[0]);
  if (!s->completed_only && !s->r->fixed[id])
    add_candidates(s, id, &priced);
  return true;
}

/* What the users of ID, whose strategies are chosen, pay when it is its candidate C.  A layout that several want is
 * made once. */
static double users_cost(const struct gs_choose_state *s, int id, int c)
{
  const struct gs_slice_of_graph *slice = s->r->slice;
  const struct gs_sharding *paid[16];
  int npaid = 0;
  double cost = 0;
  for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++) {
    const struct gs_node *user = s->nodes[slice->users[u]];
    const struct gs_choose_value *w = &s->values[user->id];
    for (int a = 0; a < user->nargs; a++) {
      if (user->args[a]->id != id)
        continue;
      const struct gs_operand_ways *o = &w->ways->operands[a];
      int k = w->ways->which[w->strategy * user->nargs + a];
      bool known = false;
      for (int p = 0; p < npaid && !known; p++)
        known = paid[p] == o->required[k];
      if (known)
        continue;
      if (npaid < 16)
        paid[npaid++] = o->required[k];
      cost += step_cost(s, id, c, o->required[k], o->bytes[k], GS_NO_LIMIT);
    }
  }
  return cost;
}

/* What ID and its users pay as everything is chosen. */
static double cost_now(const struct gs_choose_state *s, int id)
{
  const struct gs_choose_value *v = &s->values[id];
  const struct gs_strategy *strategy = &v->ways->strategies[v->strategy];
  double cost = users_cost(s, id, v->chosen) + s->r->slice->turns[id] * strategy->cost
                + reshard_cost(s, id, strategy->produced, v->candidates[v->chosen], GS_NO_LIMIT);
  for (int a = 0; a < v->ways->nargs; a++) {
    const struct gs_operand_ways *o = &v->ways->operands[a];
    int arg = s->nodes[id]->args[a]->id, k = v->ways->which[v->strategy * v->ways->nargs + a];
    cost += move_cost(s, id, arg, o->required[k], o->bytes[k], GS_NO_LIMIT);
  }
  return cost;
}

/* Choose candidate and strategy of ID given its users' strategies; what comes before is as cheap as forward found. */
static void backward(struct gs_choose_state *s, int id)
{
  struct gs_choose_value *v = &s->values[id];
  double cheapest = GS_NO_LIMIT;
  for (int c = 0; c < v->ncandidates && v->ways != NULL; c++) {
    double cost = v->best[c] + users_cost(s, id, c);
    if (cost < cheapest - 1e-9) {
      cheapest = cost;
      v->chosen = c;
      v->strategy = v->way[c];
    }
  }
}

/* Choose candidate and strategy of ID given those of its operands and users. */
static bool choose_one(struct gs_choose_state *s, int id)
{
  struct gs_choose_value *v = &s->values[id];
  struct priced priced;
  double now = cost_now(s, id), cheapest = GS_NO_LIMIT;
  if (now <= s->r->slice->turns[id] * v->ways->least)
    return true;
  if (!price(s, id, true, now + 1e-6, &priced))
    return false;
  for (int c = 0; c < v->ncandidates; c++) {
    int strategy = 0;
    double cost = candidate_cost(s, id, v->candidates[c], v->bytes[c], &priced, &strategy) + users_cost(s, id, c);
    if (cost < cheapest - 1e-9) {
      cheapest = cost;
      v->chosen = c;
      v->strategy = strategy;
    }
  }
  return true;
}

/* Choose again for ID if something around it has changed. */
static bool improve(struct gs_choose_state *s, int id)
{
  const struct gs_slice_of_graph *slice = s->r->slice;
  struct gs_choose_value *v = &s->values[id];
  int chosen = v->chosen, strategy = v->strategy;
  if (v->settled || v->ways == NULL)
    return true;
  v->settled = true;
  if (!choose_one(s, id))
    return false;
  if (v->chosen == chosen && v->strategy == strategy)
    return true;
  for (int a = 0; a < s->nodes[id]->nargs; a++)
    s->values[s->nodes[id]->args[a]->id].settled = false;
  for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++)
    s->values[slice->users[u]].settled = false;
  return true;
}

/* An input nobody annotated gets the layout that serves its users best, not larger than the completed one. */
static void choose_given(struct gs_choose_state *s, int id)
{
  const struct gs_slice_of_graph *slice = s->r->slice;
  struct gs_choose_value *v = &s->values[id];
  const struct gs_sharding *best = v->layout = v->candidates[0];
  double limit = v->bytes[0], cheapest = users_cost(s, id, 0);
  for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++) {
    const struct gs_node *user = s->nodes[slice->users[u]];
    const struct gs_choose_value *w = &s->values[user->id];
    for (int a = 0; a < user->nargs; a++) {
      int k = w->ways->which[w->strategy * user->nargs + a];
      const struct gs_sharding *wanted = w->ways->operands[a].required[k];
      if (user->args[a]->id != id || wanted->npartial > 0 || w->ways->operands[a].bytes[k] > limit)
        continue;
      v->candidates[0] = wanted;
      double cost = users_cost(s, id, 0);
      if (cost < cheapest - 1e-9) {
        cheapest = cost;
        best = wanted;
      }
    }
  }
  v->candidates[0] = v->layout = best;
}

static void add_want(struct gs_wants *w, const struct gs_sharding *sh)
{
  for (int i = 0; i < w->count; i++)
    if (w->items[i] == sh)
      return;
  if (w->count < GS_MAX_WANTS)
    w->items[w->count++] = sh;
}

/* What the users of ID, of which an annotated value comes, want of it. */
static void collect_wants(struct gs_choose_state *s, int id)
{
  const struct gs_slice_of_graph *slice = s->r->slice;
  struct gs_wants *w = &s->wants[id];
  if (s->r->fixed[id] || s->r->output[id]) {
    add_want(w, s->r->completion->shardings[id]);
    return;
  }
  for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++) {
    const struct gs_node *user = s->nodes[slice->users[u]];
    const struct gs_wants *wanted = &s->wants[user->id];
    if (gs_strategy_is_given(user->op))
      continue;
    for (int a = 0; a < user->nargs; a++)
      for (int i = 0; user->args[a]->id == id && i < wanted->count; i++) {
        const struct gs_sharding *sh =
            gs_strategy_operand(s->r->table, user, slice->rules[user->id], wanted->items[i], a);
        if (sh != NULL)
          add_want(w, sh);
      }
  }
}

static struct gs_choice *choose(const struct gs_choose_request *r, bool completed_only)
{
  const struct gs_slice_of_graph *slice = r->slice;
  int nnodes = slice->graph->nnodes;
  struct gs_choose_state s = { .r = r, .nodes = slice->graph->nodes, .completed_only = completed_only };
  s.values = GS_NEW_ARRAY(r->arena, struct gs_choose_value, nnodes + 1);
  struct gs_choice *choices = GS_NEW_ARRAY(r->arena, struct gs_choice, nnodes + 1);
  if (s.values == NULL || choices == NULL)
    return NULL;
  if (!completed_only && (s.wants = GS_NEW_ARRAY(r->arena, struct gs_wants, nnodes + 1)) == NULL)
    return NULL;
  for (int i = slice->count - 1; i >= 0 && !completed_only; i--)
    collect_wants(&s, slice->order[i]);
  for (int i = 0; i < slice->count; i++)
    if (!forward(&s, slice->order[i]))
      return NULL;
  for (int i = slice->count - 1; i >= 0; i--)
    backward(&s, slice->order[i]);
  for (int pass = 0; pass < 2 * ROUNDS && !completed_only; pass++)
    for (int i = 0; i < slice->count; i++)
      if (!improve(&s, slice->order[pass % 2 == 0 ? i : slice->count - 1 - i]))
        return NULL;
  for (int i = 0; i < slice->count; i++) {
    int id = slice->order[i];
    struct gs_choose_value *v = &s.values[id];
    if (v->given)
      choose_given(&s, id);
    choices[id].sharding = v->candidates[v->chosen];
    choices[id].ways = v->ways;
    choices[id].strategy = is_leaf(s.nodes[id]) ? NULL : &v->ways->strategies[v->strategy];
  }
  return choices;
}

struct gs_choice *gs_choose(const struct gs_choose_request *request)
{
  return choose(request, false);
}

struct gs_choice *gs_choose_completed(const struct gs_choose_request *request)
{
  return choose(request, true);
}
