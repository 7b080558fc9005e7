/* partition/slice.c - the part of a graph that some outputs need. */
#include <config.h>

#include "partition/complete.h"

#include "partition/signature.h"

static void mark_needed(struct gs_graph *graph, bool *needed, int last)
{
  for (int id = last; id >= 0; id--)
    if (needed[id])
      for (int a = 0; a < graph->nodes[id]->nargs; a++)
        needed[graph->nodes[id]->args[a]->id] = true;
}

static bool collect_users(struct gs_arena *arena, struct gs_slice_of_graph *slice, int nnodes)
{
  struct gs_node *const *nodes = slice->graph->nodes;
  int *first = GS_NEW_ARRAY(arena, int, nnodes + 2);
  if (first == NULL)
    return false;
  for (int i = 0; i < slice->count; i++)
    for (int a = 0; a < nodes[slice->order[i]]->nargs; a++)
      first[nodes[slice->order[i]]->args[a]->id + 2]++;
  for (int id = 0; id < nnodes; id++)
    first[id + 2] += first[id + 1];
  int *users = GS_NEW_ARRAY(arena, int, first[nnodes + 1] + 1);
  if (users == NULL)
    return false;
  for (int i = 0; i < slice->count; i++)
    for (int a = 0; a < nodes[slice->order[i]]->nargs; a++)
      users[first[nodes[slice->order[i]]->args[a]->id + 1]++] = slice->order[i];
  slice->first_user = first;
  slice->users = users;
  return true;
}

/* Rules are made once for nodes alike. */
static bool find_rules(struct gs_arena *arena, struct gs_slice_of_graph *slice, int nnodes)
{
  struct gs_signatures *signatures = gs_signatures_new(arena);
  int *kinds = GS_NEW_ARRAY(arena, int, nnodes + 1);
  const struct gs_rule **rules = GS_NEW_ARRAY(arena, const struct gs_rule *, nnodes + 1);
  const struct gs_rule **by_kind = GS_NEW_ARRAY(arena, const struct gs_rule *, slice->count + 1);
  if (signatures == NULL || kinds == NULL || rules == NULL || by_kind == NULL)
    return false;
  for (int i = 0; i < slice->count; i++) {
    const struct gs_node *node = slice->graph->nodes[slice->order[i]];
    int kind = gs_signature_of(signatures, node);
    if (kind < 0)
      return false;
    if (by_kind[kind] == NULL)
      by_kind[kind] = gs_rule_of(arena, node);
    if (by_kind[kind] == NULL)
      return false;
    kinds[node->id] = kind;
    rules[node->id] = by_kind[kind];
  }
  slice->kinds = kinds;
  slice->rules = rules;
  return true;
}

/* Turns of the loops around each node. */
static bool count_turns(struct gs_arena *arena, struct gs_slice_of_graph *slice)
{
  const struct gs_graph *g = slice->graph;
  double *turns = GS_NEW_ARRAY(arena, double, g->nnodes + 1);
  double *regions = GS_NEW_ARRAY(arena, double, g->nregions + 1);
  if (turns == NULL || regions == NULL)
    return false;
  for (int r = 0; r <= g->nregions; r++)
    regions[r] = 1;
  for (int i = 0; i < slice->count; i++) {
    const struct gs_node *node = g->nodes[slice->order[i]];
    if (node->op == GS_OP_LOOP && node->attrs->control.trips >= 0)
      regions[node->attrs->control.regions[0]] = (double)node->attrs->control.trips;
  }
  for (int r = 1; r < g->nregions; r++)        /* outer regions have smaller numbers */
    regions[r] *= regions[g->regions[r].parent];
  for (int i = 0; i < slice->count; i++)
    turns[slice->order[i]] = regions[g->nodes[slice->order[i]]->region];
  slice->turns = turns;
  return true;
}

struct gs_slice_of_graph *gs_slice_of_graph(struct gs_arena *arena, struct gs_graph *graph,
                                            struct gs_node *const *outputs, int noutputs)
{
  struct gs_slice_of_graph *slice = GS_NEW(arena, struct gs_slice_of_graph);
  bool *needed = GS_NEW_ARRAY(arena, bool, graph->nnodes + 1);
  int *order = GS_NEW_ARRAY(arena, int, graph->nnodes + 1);
  if (slice == NULL || needed == NULL || order == NULL)
    return NULL;
  int last = -1;
  for (int i = 0; i < noutputs; i++) {
    needed[outputs[i]->id] = true;
    last = outputs[i]->id > last ? outputs[i]->id : last;
  }
  mark_needed(graph, needed, last);
  *slice = (struct gs_slice_of_graph){ .graph = graph, .order = order, .needed = needed };
  for (int id = 0; id <= last; id++)
    if (needed[id])
      order[slice->count++] = id;
  return collect_users(arena, slice, graph->nnodes) && find_rules(arena, slice, graph->nnodes)
                 && count_turns(arena, slice)
             ? slice
             : NULL;
}
