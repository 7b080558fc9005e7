/* partition/complete.c - completion to a fixed point, level by level [PARTITIONING.md 2].
 *
 * A worklist of operators for each level; the lowest level that has work is always served first,
 * so that a change restarts at level 0.  Shardings only ever get longer, which bounds the work.
 */
#include <config.h>

#include "partition/complete.h"

#include <string.h>

#include "partition/axes.h"

enum { LEVELS = 5, AGGRESSIVE = 4 };

struct queue {
  int *items;                          /* ring of node ids, room for every needed node */
  bool *queued;                        /* by id */
  int head, count;
};

struct state {
  struct gs_arena *arena;
  struct gs_sharding_table *table;
  const struct gs_slice_of_graph *slice;
  const struct gs_mesh *mesh;
  const struct gs_partition_options *options;
  struct gs_completion *out;
  struct queue queues[LEVELS];
  bool *conflicted;                    /* by id: recorded once */
  int conflict_capacity, event_capacity;
  bool failed;
};

/* Axes proposed for a factor, and the dim they stand on. */
struct proposal {
  struct gs_axis_list axes;
  int node, dim;                       /* -1: none yet */
  bool annotated, conflict;
  double elements;                     /* of the tensor they come from */
  bool leads;                          /* that of the operand which the result only changes in places */
  int64_t size;                        /* of that dim */
};

/* At a level where nothing new may pass through the operator a visit would change nothing; at the
 * last one only conflicts are left. */
static void push(struct state *s, int level, int id)
{
  struct queue *q = &s->queues[level];
  bool useful = level == AGGRESSIVE ? s->conflicted[id] : s->slice->rules[id]->levels >> level & 1;
  if (q->queued[id] || !useful)
    return;
  q->queued[id] = true;
  int at = q->head + q->count;
  q->items[at >= s->slice->count ? at - s->slice->count : at] = id;
  q->count++;
}

static int pop(struct state *s, int level)
{
  struct queue *q = &s->queues[level];
  int id = q->items[q->head];
  q->head = q->head + 1 == s->slice->count ? 0 : q->head + 1;
  q->count--;
  q->queued[id] = false;
  return id;
}

static void record_conflict(struct state *s, int node, const struct proposal *win,
                            const struct proposal *lose)
{
  struct gs_completion *c = s->out;
  if (s->conflicted[node])
    return;
  s->conflicted[node] = true;
  push(s, AGGRESSIVE, node);
  if (c->nconflicts == s->conflict_capacity) {
    int capacity = s->conflict_capacity * 2 + 8;
    struct gs_conflict *grown = GS_NEW_ARRAY(s->arena, struct gs_conflict, capacity);
    if (grown == NULL)
      return;
    if (c->nconflicts > 0)
      memcpy(grown, c->conflicts, (size_t)c->nconflicts * sizeof *grown);
    c->conflicts = grown;
    s->conflict_capacity = capacity;
  }
  c->conflicts[c->nconflicts++] =
      (struct gs_conflict){ node, win->node, win->dim, lose->node, lose->dim };
}

/* Whether A wins against B: leading, annotated, then more parts, then the bigger tensor. */
static bool stronger(const struct proposal *a, const struct proposal *b)
{
  if (a->leads != b->leads)
    return a->leads;
  if (a->annotated != b->annotated)
    return a->annotated;
  int64_t pa = gs_axis_list_size(&a->axes), pb = gs_axis_list_size(&b->axes);
  return pa != pb ? pa > pb : a->elements > b->elements;
}

/* Merge ADD into MERGED: the longer if one begins with the other, else (a conflict) what both begin
 * with, or at the aggressive level or where an operand leads the stronger one. */
static void merge(struct state *s, int visiting, int level, struct proposal *merged,
                  const struct proposal *add)
{
  if (add->axes.count == 0)
    return;
  if (merged->axes.count == 0 && !merged->conflict) {
    *merged = *add;
    return;
  }
  struct gs_axis_list common;
  gs_axes_common_prefix(merged->axes.items, merged->axes.count, add->axes.items, add->axes.count,
                        &common);
  int64_t size = gs_axis_list_size(&common);
  if (size == gs_axis_list_size(&add->axes))
    return;
  if (size == gs_axis_list_size(&merged->axes) && !merged->conflict) {
    *merged = *add;
    return;
  }
  bool wins = stronger(add, merged);
  record_conflict(s, visiting, wins ? add : merged, wins ? merged : add);
  if (level == AGGRESSIVE || add->leads || merged->leads) {
    if (wins)
      *merged = *add;
    return;
  }
  merged->axes = common;
  merged->conflict = true;
}

static void propose(struct state *s, const struct gs_rule *rule, const struct gs_value_rule *value,
                    int id, int factor, struct proposal *p)
{
  const struct gs_sharding *sh = s->out->shardings[id];
  p->axes.count = 0;
  p->node = -1;
  p->conflict = p->leads = false;
  for (int i = 0; i < value->rank; i++)
    for (int k = 0; k < (value->dims[i].either ? 1 : value->dims[i].count); k++)
      if (value->dims[i].factors[k] == factor && sh->dims[i].naxes > 0) {
        const struct gs_node *node = s->slice->graph->nodes[id];
        gs_rule_factor_axes(rule, &value->dims[i], &sh->dims[i], k, &p->axes);
        p->node = id;
        p->dim = i;
        p->annotated = s->out->reasons[id][i].kind == GS_REASON_ANNOTATED;
        p->elements = (double)gs_type_elements(&node->type);
        p->size = node->type.dims[i];
        return;
      }
}

/* The longest part of WANT that uses no axis of the other dims and no manual one. */
static void keep_unused(const struct gs_axis_list *want, const struct gs_axis_list *dims, int rank,
                        int dim, uint32_t manual, struct gs_axis_list *kept)
{
  kept->count = 0;
  for (int i = 0; i < want->count; i++) {
    if (manual >> want->items[i].axis & 1)
      return;
    for (int j = 0; j < rank; j++)
      if (j != dim && gs_axes_overlap(&want->items[i], 1, dims[j].items, dims[j].count))
        return;
    gs_axis_list_add(kept, want->items[i]);
  }
}

/* New axes of dim I of VALUE: what the proposals of its factors say, as far as they extend what is
 * there.  Returns the proposal that extended it, or NULL. */
static const struct proposal *extend_dim(const struct gs_rule *rule, const struct gs_value_rule *value,
                                         int64_t size, int i, const struct proposal *proposals,
                                         uint32_t manual, struct gs_axis_list *dims)
{
  const struct proposal *source = NULL;
  struct gs_axis_list result = { 0 };
  bool one = value->dims[i].count == 1 || value->dims[i].either;
  for (int k = 0; k < (one ? 1 : value->dims[i].count); k++) {
    int f = value->dims[i].factors[k];
    const struct proposal *p = &proposals[f];
    struct gs_axis_list kept, taken = { 0 };
    int at = 0;
    int64_t offset = 1, left = 1;
    keep_unused(&p->axes, dims, value->rank, i, manual, &kept);
    if (one)
      taken = kept;
    else
      left = gs_axes_take(kept.items, kept.count, &at, &offset, rule->factors[f].size, &taken);
    if (gs_axes_overlap(taken.items, taken.count, result.items, result.count))
      break;                           /* two factors of the dim want one axis */
    for (int j = 0; j < taken.count; j++)
      gs_axis_list_add(&result, taken.items[j]);
    if (taken.count > 0)
      source = p;
    if (left != 1)
      break;
  }
  int64_t parts = gs_axis_list_size(&result);
  if (parts <= gs_axis_list_size(&dims[i])
      || !gs_axes_is_prefix(dims[i].items, dims[i].count, result.items, result.count))
    return NULL;
  if (size % parts != 0 && source->size != size)
    return NULL;
  dims[i] = result;
  return source;
}

static void record_event(struct state *s, int id, int dim)
{
  struct gs_completion *c = s->out;
  if (!s->options->record)
    return;
  if (c->nevents == s->event_capacity) {
    int capacity = s->event_capacity * 2 + 32;
    struct gs_completion_event *grown = GS_NEW_ARRAY(s->arena, struct gs_completion_event, capacity);
    if (grown == NULL)
      return;
    if (c->nevents > 0)
      memcpy(grown, c->events, (size_t)c->nevents * sizeof *grown);
    c->events = grown;
    s->event_capacity = capacity;
  }
  c->events[c->nevents++] =
      (struct gs_completion_event){ id, dim, c->shardings[id], c->reasons[id][dim] };
}

static void changed(struct state *s, int id)
{
  const struct gs_slice_of_graph *slice = s->slice;
  for (int level = 0; level < LEVELS; level++) {
    push(s, level, id);
    for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++)
      push(s, level, slice->users[u]);
  }
}

/* Apply the proposals to value ID, the result (FORWARD) or an operand of the node VISITING. */
static void project(struct state *s, const struct gs_rule *rule, const struct gs_value_rule *value,
                    int id, const struct proposal *proposals, int visiting, int level, bool forward)
{
  const struct gs_sharding *sh = s->out->shardings[id];
  const struct gs_type *type = &s->slice->graph->nodes[id]->type;
  struct gs_axis_list dims[GS_MAX_RANK];
  const struct proposal *sources[GS_MAX_RANK] = { NULL };
  bool done[GS_MAX_RANK] = { false }, any = false;
  for (int i = 0; i < value->rank; i++)
    gs_axis_list_set(&dims[i], sh->dims[i].axes, sh->dims[i].naxes);
  for (int round = 0; round < value->rank; round++) {
    int best = -1;                     /* where two dims want one axis the bigger tensor's comes first */
    double elements = -1;
    for (int i = 0; i < value->rank; i++) {
      if (done[i] || !sh->dims[i].open || value->dims[i].count == 0)
        continue;
      const struct proposal *p = &proposals[value->dims[i].factors[0]];
      if (p->axes.count > 0 && p->elements > elements) {
        best = i;
        elements = p->elements;
      }
    }
    if (best < 0)
      break;
    done[best] = true;
    sources[best] = extend_dim(rule, value, type->dims[best], best, proposals, sh->mesh->manual, dims);
    any = any || sources[best] != NULL;
  }
  if (!any)
    return;
  struct gs_dim_sharding made[GS_MAX_RANK];
  for (int i = 0; i < value->rank; i++)
    made[i] = (struct gs_dim_sharding){ .naxes = dims[i].count, .open = sh->dims[i].open, .axes = dims[i].items };
  const struct gs_sharding *next =
      gs_sharding_make(s->table, sh->mesh, value->rank, made, NULL, 0, GS_OP_SUM);
  if (next == NULL) {
    s->failed = true;
    return;
  }
  s->out->shardings[id] = next;
  for (int i = 0; i < value->rank; i++)
    if (sources[i] != NULL) {
      s->out->reasons[id][i] = (struct gs_reason){ GS_REASON_PROPAGATED, visiting, sources[i]->node,
                                                   sources[i]->dim, level, forward };
      record_event(s, id, i);
    }
  changed(s, id);
}

static void visit(struct state *s, int id, int level)
{
  const struct gs_node *node = s->slice->graph->nodes[id];
  const struct gs_rule *rule = s->slice->rules[id];
  struct proposal operands[GS_MAX_FACTORS], result[GS_MAX_FACTORS], target[GS_MAX_FACTORS];
  if (rule->nargs == 0)
    return;
  for (int f = 0; f < rule->nfactors; f++) {
    propose(s, rule, &rule->result, id, f, &result[f]);
    operands[f].axes.count = 0;
    operands[f].conflict = operands[f].leads = false;
    for (int a = 0; a < rule->nargs; a++) {
      struct proposal p;
      propose(s, rule, &rule->args[a], node->args[a]->id, f, &p);
      p.leads = a == rule->joined;
      merge(s, id, level, &operands[f], &p);
    }
    target[f] = result[f];
    if (level >= rule->factors[f].forward)
      merge(s, id, level, &target[f], &operands[f]);
  }
  project(s, rule, &rule->result, id, target, id, level, true);
  for (int a = 0; a < rule->nargs; a++) {
    if (rule->args[a].rank == 0)
      continue;
    for (int f = 0; f < rule->nfactors; f++) {
      propose(s, rule, &rule->args[a], node->args[a]->id, f, &target[f]);
      if (level >= rule->factors[f].backward)
        merge(s, id, level, &target[f], &result[f]);
      if (level >= rule->factors[f].across)
        merge(s, id, level, &target[f], &operands[f]);
    }
    project(s, rule, &rule->args[a], node->args[a]->id, target, id, level, false);
  }
}

static bool start_values(struct state *s, const struct gs_sharding *const *annotations,
                         const struct gs_mesh *const *meshes)
{
  struct gs_dim_sharding dims[GS_MAX_RANK];
  for (int i = 0; i < GS_MAX_RANK; i++)
    dims[i] = (struct gs_dim_sharding){ .open = true };
  for (int i = 0; i < s->slice->count; i++) {
    int id = s->slice->order[i], rank = s->slice->graph->nodes[id]->type.rank;
    s->out->shardings[id] = annotations[id] != NULL ? annotations[id]
                                                    : gs_sharding_make(s->table, meshes[id], rank, dims, NULL, 0,
                                                                       GS_OP_SUM);
    if (s->out->shardings[id] == NULL)
      return false;
    if (annotations[id] == NULL)
      continue;
    for (int d = 0; d < rank; d++)
      if (!annotations[id]->dims[d].open || annotations[id]->dims[d].naxes > 0)
        s->out->reasons[id][d] = (struct gs_reason){ .kind = GS_REASON_ANNOTATED, .node = id,
                                                     .from_node = id, .from_dim = d };
    changed(s, id);
  }
  return true;
}

static bool make_queues(struct state *s, int nnodes)
{
  for (int level = 0; level < LEVELS; level++) {
    s->queues[level].items = GS_NEW_ARRAY(s->arena, int, s->slice->count + 1);
    s->queues[level].queued = GS_NEW_ARRAY(s->arena, bool, nnodes + 1);
    if (s->queues[level].items == NULL || s->queues[level].queued == NULL)
      return false;
  }
  s->conflicted = GS_NEW_ARRAY(s->arena, bool, nnodes + 1);
  return s->conflicted != NULL;
}

struct gs_completion *gs_complete(struct gs_arena *arena, struct gs_sharding_table *table,
                                  const struct gs_slice_of_graph *slice, const struct gs_mesh *mesh,
                                  const struct gs_mesh *const *meshes,
                                  const struct gs_sharding *const *annotations,
                                  const struct gs_partition_options *options)
{
  int nnodes = slice->graph->nnodes;
  struct state s = { .arena = arena, .table = table, .slice = slice, .mesh = mesh,
                     .options = options };
  s.out = GS_NEW(arena, struct gs_completion);
  if (s.out == NULL)
    return NULL;
  s.out->mesh = mesh;
  s.out->nnodes = nnodes;
  s.out->shardings = GS_NEW_ARRAY(arena, const struct gs_sharding *, nnodes + 1);
  s.out->reasons = gs_arena_array(arena, (size_t)nnodes + 1, sizeof *s.out->reasons);
  if (s.out->shardings == NULL || s.out->reasons == NULL || !make_queues(&s, nnodes)
      || !start_values(&s, annotations, meshes))
    return NULL;
  for (int level = 0; level < LEVELS && !s.failed;) {
    if (s.queues[level].count == 0) {
      level++;
      continue;
    }
    visit(&s, pop(&s, level), level);
    level = 0;
    if (options->interrupt != NULL && *options->interrupt)
      break;
  }
  return s.failed ? NULL : s.out;
}
