/* lang/varying.c - which values of manual regions may differ between devices, along which axes. */
#include <config.h>

#include "lang/graph.h"

static uint32_t axes_named(const union gs_attrs *attrs)
{
  uint32_t axes = 0;
  for (int i = 0; i < attrs->manual.naxes; i++)
    axes |= 1u << attrs->manual.axes[i];
  return axes;
}

/* Of NODE, by what is known of its operands. */
static uint32_t varying(const struct gs_node *node, const uint32_t *known)
{
  uint32_t axes = 0;
  for (int a = 0; a < node->nargs; a++)
    axes |= known[node->args[a]->id];
  switch ((int)node->op) {
  case GS_OP_TO_SHARD: return axes | node->attrs->manual.cutting;
  case GS_OP_FROM_SHARD: return node->manual == NULL ? 0 : axes & node->manual->axes;
  case GS_OP_PSUM: case GS_OP_MANUAL_GATHER: return axes & ~axes_named(node->attrs);
  case GS_OP_MANUAL_SCATTER: case GS_OP_MANUAL_EXCHANGE: case GS_OP_PPERMUTE: case GS_OP_AXIS_INDEX:
    return axes | axes_named(node->attrs);
  case GS_OP_LOOP:                     /* how often it runs follows from its condition */
    return node->attrs->control.trips < 0 ? known[node->args[node->nargs - 1]->id] : 0;
  default: return axes;
  }
}

uint32_t *gs_graph_varying(struct gs_arena *arena, const struct gs_graph *g)
{
  uint32_t *known = GS_NEW_ARRAY(arena, uint32_t, g->nnodes + 1);
  bool *closed = GS_NEW_ARRAY(arena, bool, g->nnodes + 1);
  if (known == NULL || closed == NULL)
    return NULL;
  for (int id = 0; id < g->nnodes; id++)
    if (g->nodes[id]->op == GS_OP_LOOP_NEXT)
      closed[g->nodes[id]->args[1]->id] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (int id = 0; id < g->nnodes; id++) {
      const struct gs_node *node = g->nodes[id];
      if (node->manual == NULL)
        continue;
      uint32_t axes = known[id] | varying(node, known);
      if (node->op == GS_OP_LOOP_VALUE && !closed[id])
        axes = node->manual->axes;     /* its next value is not known yet */
      if (node->op == GS_OP_LOOP_NEXT)         /* it is its value in the next turn */
        known[node->args[1]->id] |= axes;
      changed = changed || axes != known[id];
      known[id] = axes;
    }
  }
  return known;
}
