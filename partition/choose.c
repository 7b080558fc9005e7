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

enum { CANDIDATES = 8, ROUNDS = 2 };

struct value {
  int ncandidates, nstrategies;
  const struct gs_sharding *candidates[CANDIDATES];
  double best[CANDIDATES];
  struct gs_strategy *strategies;
  bool free;                           /* made on each device as wanted: constants, iota */
  bool given;                          /* an input nobody annotated: handed over as wanted */
  int chosen, strategy;
  const struct gs_sharding *layout;    /* of a leaf */
};

/* Strategies found before, by kind of node and the candidates of operands and result. */
struct known {
  int kind, nargs, nstrategies;
  const struct gs_sharding *result;
  struct gs_sharding_list *args;
  struct gs_strategy *strategies;
  struct known *next;
};

enum { KNOWN_BUCKETS = 512 };

struct state {
  const struct gs_choose_request *r;
  struct gs_node *const *nodes;
  struct value *values;                /* by id */
  bool completed_only;
  struct known *known[KNOWN_BUCKETS];
};

static bool is_leaf(const struct gs_node *node)
{
  return node->nargs == 0;
}

static int user_count(const struct state *s, int id)
{
  int n = s->r->slice->first_user[id + 1] - s->r->slice->first_user[id];
  return n > 0 ? n : 1;
}

/* From value ID in sharding FROM to what a user requires. */
static double step_cost(const struct state *s, int id, const struct gs_sharding *from,
                        const struct gs_sharding *to)
{
  const struct value *v = &s->values[id];
  if (from == to || (v->free && to->npartial == 0))
    return 0;
  const struct gs_type *type = &s->nodes[id]->type;
  if (v->given && v->layout == NULL && to->npartial == 0
      && gs_sharding_local_bytes(to, type) <= gs_sharding_local_bytes(v->candidates[0], type))
    return 0;
  return s->r->slice->turns[id] * gs_reshard_cost(s->r->resharder, from, to, type);
}

/* The cheapest to have operand ID as REQUIRED, over its candidates. */
static double operand_cost(const struct state *s, int id, const struct gs_sharding *required)
{
  const struct value *v = &s->values[id];
  double cheapest = 1e30, share = 1.0 / user_count(s, id);
  for (int c = 0; c < v->ncandidates; c++) {
    double cost = v->best[c] * share;
    if (cost >= cheapest
        || (!v->free && !v->given && v->candidates[c] != required
            && cost + s->r->slice->turns[id]
                          * gs_reshard_bound(v->candidates[c], required, &s->nodes[id]->type)
                   >= cheapest))
      continue;
    cost += step_cost(s, id, v->candidates[c], required);
    cheapest = cost < cheapest ? cost : cheapest;
  }
  return cheapest;
}

static bool users_are_linear(const struct state *s, int id)
{
  const struct gs_slice_of_graph *slice = s->r->slice;
  if (slice->first_user[id] == slice->first_user[id + 1])
    return false;
  for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++)
    if (gs_op_info(s->nodes[slice->users[u]]->op)->linear == GS_LINEAR_NONE)
      return false;
  return true;
}

/* SH has every axis of BASE in its place, and maybe more. */
static bool is_finer(const struct gs_sharding *sh, const struct gs_sharding *base)
{
  for (int i = 0; i < sh->rank; i++) {
    const struct gs_dim_sharding *a = &base->dims[i], *b = &sh->dims[i];
    if (b->block != 0 || a->naxes > b->naxes)
      return false;
    for (int k = 0; k < a->naxes; k++)
      if (a->axes[k].axis != b->axes[k].axis || a->axes[k].pre != b->axes[k].pre
          || b->axes[k].size % a->axes[k].size != 0
          || (k + 1 < a->naxes && a->axes[k].size != b->axes[k].size))
        return false;
  }
  return sh->npartial == 0;
}

/* An output nobody annotated is not left mostly padding. */
static bool pads_little(const struct gs_sharding *sh, const struct gs_type *type)
{
  return gs_sharding_padding(sh, type) <= 0.125;
}

static bool is_candidate(const struct state *s, int id, const struct gs_sharding *sh, bool linear)
{
  const struct gs_sharding *completed = s->r->completion->shardings[id];
  const struct gs_type *type = &s->nodes[id]->type;
  if (s->completed_only || s->r->fixed[id])
    return false;
  if (s->r->output[id])
    return is_finer(sh, completed) && pads_little(sh, type);
  if (sh->npartial > 0 && !linear)
    return false;
  return gs_sharding_local_bytes(sh, type) <= 8 * gs_sharding_local_bytes(completed, type) + (1 << 20);
}

static double candidate_cost(const struct state *s, int id, const struct gs_sharding *candidate,
                             const double *base, int *strategy)
{
  const struct value *v = &s->values[id];
  double cheapest = 1e30, turns = s->r->slice->turns[id];
  for (int t = 0; t < v->nstrategies; t++) {
    const struct gs_sharding *produced = v->strategies[t].produced;
    const struct gs_type *type = &s->nodes[id]->type;
    if (base[t] >= cheapest
        || (produced != candidate && base[t] + turns * gs_reshard_bound(produced, candidate, type) >= cheapest))
      continue;
    double cost = base[t] + turns * gs_reshard_cost(s->r->resharder, produced, candidate, type);
    if (cost < cheapest) {
      cheapest = cost;
      *strategy = t;
    }
  }
  return cheapest;
}

static void insert_candidate(struct value *v, const struct gs_sharding *sh, double cost)
{
  for (int c = 0; c < v->ncandidates; c++)
    if (v->candidates[c] == sh)
      return;
  int at = v->ncandidates;
  if (at == CANDIDATES) {
    if (v->best[CANDIDATES - 1] <= cost)
      return;
    at--;
  } else {
    v->ncandidates++;
  }
  while (at > 1 && v->best[at - 1] > cost) {   /* the completed one stays first */
    v->candidates[at] = v->candidates[at - 1];
    v->best[at] = v->best[at - 1];
    at--;
  }
  v->candidates[at] = sh;
  v->best[at] = cost;
}

static bool same_lists(const struct gs_sharding_list *a, const struct gs_sharding_list *b, int n)
{
  for (int i = 0; i < n; i++)
    if (a[i].count != b[i].count
        || memcmp(a[i].items, b[i].items, (size_t)a[i].count * sizeof a[i].items[0]) != 0)
      return false;
  return true;
}

static struct known **known_bucket(struct state *s, int kind, const struct gs_sharding_list *args,
                                   int nargs)
{
  uint32_t hash = (uint32_t)kind * 0x9e3779b1u;
  for (int a = 0; a < nargs; a++)
    for (int i = 0; i < args[a].count; i++)
      hash = (hash ^ args[a].items[i]->hash) * 0x85ebca6bu;
  return &s->known[(hash ^ hash >> 16) % KNOWN_BUCKETS];
}

static struct known *find_strategies(struct state *s, const struct gs_node *node,
                                     const struct gs_sharding_list *args,
                                     const struct gs_sharding *wanted)
{
  const struct gs_choose_request *r = s->r;
  int kind = r->slice->kinds[node->id];
  struct known **bucket = known_bucket(s, kind, args, node->nargs);
  for (struct known *k = *bucket; k != NULL; k = k->next)
    if (k->kind == kind && k->nargs == node->nargs && k->result == wanted
        && same_lists(k->args, args, node->nargs))
      return k;
  struct gs_strategy made[GS_MAX_STRATEGIES];
  struct gs_sharding_list result = { 1, { wanted } };
  struct gs_strategy_request request = {
    .arena = r->arena, .table = r->table, .mesh = wanted->mesh, .node = node,
    .rule = r->slice->rules[node->id], .args = args, .result = &result
  };
  struct known *k = GS_NEW(r->arena, struct known);
  int n = gs_strategies(&request, made);
  if (k == NULL || n <= 0)
    return NULL;
  *k = (struct known){ .kind = kind, .nargs = node->nargs, .nstrategies = n, .result = wanted,
                       .next = *bucket };
  k->args = gs_arena_copy(r->arena, args, (size_t)node->nargs * sizeof *args);
  k->strategies = gs_arena_copy(r->arena, made, (size_t)n * sizeof *made);
  if (k->args == NULL || k->strategies == NULL)
    return NULL;
  return *bucket = k;
}

static bool make_strategies(struct state *s, int id)
{
  const struct gs_node *node = s->nodes[id];
  struct value *v = &s->values[id];
  struct gs_sharding_list few[4], *args = few;
  if (node->nargs > 4)
    args = GS_NEW_ARRAY(s->r->arena, struct gs_sharding_list, node->nargs);
  if (args == NULL)
    return false;
  for (int a = 0; a < node->nargs; a++) {
    const struct value *u = &s->values[node->args[a]->id];
    args[a].count = node->nargs > 4 && u->ncandidates > 1 ? 1 : u->ncandidates;
    memcpy(args[a].items, u->candidates, (size_t)args[a].count * sizeof u->candidates[0]);
  }
  struct known *k = find_strategies(s, node, args, v->candidates[0]);
  if (k == NULL)
    return false;
  v->nstrategies = k->nstrategies;
  v->strategies = k->strategies;
  return true;
}

/* SH with its partial sums scattered over dim I; NULL where that would pad. */
static const struct gs_sharding *scattered(const struct state *s, const struct gs_sharding *sh, int i,
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

/* What strategies produce, and where that is partial also each way to scatter it, are candidates. */
static void add_candidates(struct state *s, int id, const double *base)
{
  struct value *v = &s->values[id];
  bool linear = users_are_linear(s, id);
  int ignored;
  for (int t = 0; t < v->nstrategies; t++) {
    const struct gs_sharding *produced = v->strategies[t].produced;
    for (int i = -1; i < (produced->npartial > 0 ? produced->rank : 0); i++) {
      const struct gs_sharding *sh =
          i < 0 ? produced : scattered(s, produced, i, &s->nodes[id]->type);
      if (sh == NULL || sh == v->candidates[0]
          || (i >= 0 && !is_finer(sh, s->r->completion->shardings[id])))
        continue;
      if (is_candidate(s, id, sh, linear))
        insert_candidate(v, sh, candidate_cost(s, id, sh, base, &ignored));
    }
  }
}

static bool forward(struct state *s, int id)
{
  const struct gs_node *node = s->nodes[id];
  struct value *v = &s->values[id];
  double base[GS_MAX_STRATEGIES];
  int ignored;
  v->ncandidates = 1;
  v->candidates[0] = s->r->completion->shardings[id];
  v->best[0] = 0;
  if (is_leaf(node)) {
    bool input = node->op == GS_OP_INPUT || node->op == GS_OP_PARAM;
    v->free = !input && node->op != GS_OP_LOOP_VALUE;
    v->given = input && !s->r->fixed[id] && !s->completed_only && !s->r->output[id];
    return true;
  }
  if (!make_strategies(s, id))
    return false;
  for (int t = 0; t < v->nstrategies; t++) {
    base[t] = s->r->slice->turns[id] * v->strategies[t].cost;
    for (int a = 0; a < node->nargs; a++)
      base[t] += operand_cost(s, node->args[a]->id, v->strategies[t].required[a]);
  }
  v->best[0] = candidate_cost(s, id, v->candidates[0], base, &ignored);
  if (!s->completed_only && !s->r->fixed[id])
    add_candidates(s, id, base);
  return true;
}

/* What the users of ID, whose strategies are chosen, pay when it is in sharding SH.  A layout that
 * several want is made once. */
static double users_cost(const struct state *s, int id, const struct gs_sharding *sh)
{
  const struct gs_slice_of_graph *slice = s->r->slice;
  const struct gs_sharding *paid[16];
  int npaid = 0;
  double cost = 0;
  for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++) {
    const struct gs_node *user = s->nodes[slice->users[u]];
    const struct value *w = &s->values[user->id];
    for (int a = 0; a < user->nargs; a++) {
      if (user->args[a]->id != id)
        continue;
      const struct gs_sharding *wanted = w->strategies[w->strategy].required[a];
      bool known = false;
      for (int p = 0; p < npaid && !known; p++)
        known = paid[p] == wanted;
      if (known)
        continue;
      if (npaid < 16)
        paid[npaid++] = wanted;
      cost += step_cost(s, id, sh, wanted);
    }
  }
  return cost;
}

/* Choose candidate and strategy of ID given its users' strategies.  SETTLED: the operands' choices
 * are made too, else their best over all candidates counts. */
static void choose_one(struct state *s, int id, bool settled)
{
  const struct gs_node *node = s->nodes[id];
  struct value *v = &s->values[id];
  double base[GS_MAX_STRATEGIES], cheapest = 1e30;
  if (is_leaf(node))
    return;
  for (int t = 0; t < v->nstrategies; t++) {
    base[t] = s->r->slice->turns[id] * v->strategies[t].cost;
    for (int a = 0; a < node->nargs; a++) {
      int arg = node->args[a]->id;
      const struct value *u = &s->values[arg];
      const struct gs_sharding *required = v->strategies[t].required[a];
      base[t] += settled ? step_cost(s, arg, u->candidates[u->chosen], required)
                         : operand_cost(s, arg, required);
    }
  }
  int limit = s->completed_only ? 1 : v->ncandidates;
  for (int c = 0; c < limit; c++) {
    int strategy = 0;
    double cost = candidate_cost(s, id, v->candidates[c], base, &strategy)
                  + users_cost(s, id, v->candidates[c]);
    if (cost < cheapest - 1e-9) {
      cheapest = cost;
      v->chosen = c;
      v->strategy = strategy;
    }
  }
}

/* An input nobody annotated gets the layout that serves its users best, not larger than the
 * completed one. */
static void choose_given(struct state *s, int id)
{
  const struct gs_slice_of_graph *slice = s->r->slice;
  const struct gs_type *type = &s->nodes[id]->type;
  struct value *v = &s->values[id];
  double limit = gs_sharding_local_bytes(v->candidates[0], type);
  v->layout = v->candidates[0];
  double cheapest = users_cost(s, id, v->layout);
  for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++) {
    const struct gs_node *user = s->nodes[slice->users[u]];
    const struct value *w = &s->values[user->id];
    for (int a = 0; a < user->nargs; a++) {
      const struct gs_sharding *wanted = w->strategies[w->strategy].required[a];
      if (user->args[a]->id != id || wanted->npartial > 0 || gs_sharding_local_bytes(wanted, type) > limit)
        continue;
      double cost = users_cost(s, id, wanted);
      if (cost < cheapest - 1e-9) {
        cheapest = cost;
        v->layout = wanted;
      }
    }
  }
  v->candidates[0] = v->layout;
}

static struct gs_choice *choose(const struct gs_choose_request *r, bool completed_only)
{
  const struct gs_slice_of_graph *slice = r->slice;
  int nnodes = slice->graph->nnodes;
  struct state s = { .r = r, .nodes = slice->graph->nodes, .completed_only = completed_only };
  s.values = GS_NEW_ARRAY(r->arena, struct value, nnodes + 1);
  struct gs_choice *choices = GS_NEW_ARRAY(r->arena, struct gs_choice, nnodes + 1);
  if (s.values == NULL || choices == NULL)
    return NULL;
  for (int i = 0; i < slice->count; i++)
    if (!forward(&s, slice->order[i]))
      return NULL;
  for (int i = slice->count - 1; i >= 0; i--)
    choose_one(&s, slice->order[i], false);
  for (int round = 0; round < ROUNDS && !completed_only; round++) {
    for (int i = 0; i < slice->count; i++)
      choose_one(&s, slice->order[i], true);
    for (int i = slice->count - 1; i >= 0; i--)
      choose_one(&s, slice->order[i], true);
  }
  for (int i = 0; i < slice->count; i++) {
    int id = slice->order[i];
    struct value *v = &s.values[id];
    if (v->given)
      choose_given(&s, id);
    choices[id].sharding = v->candidates[v->chosen];
    choices[id].strategy = is_leaf(s.nodes[id]) ? NULL : &v->strategies[v->strategy];
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
