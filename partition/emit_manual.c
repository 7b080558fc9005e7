/* partition/emit_manual.c - manual regions: their borders cost nothing, their collectives are steps as the
 * user wrote them. */
#include <config.h>

#include "partition/form.h"

#include <string.h>

#include "partition/print_parts.h"

/* Whole axes of the mesh, as the attributes list them. */
static const struct gs_axis *axes_of(struct gs_emitter *e, const struct gs_node *node)
{
  int n = node->attrs->manual.naxes;
  struct gs_axis *axes = GS_NEW_ARRAY(e->b.arena, struct gs_axis, n + 1);
  if (axes == NULL) {
    e->b.failed = true;
    return NULL;
  }
  for (int i = 0; i < n; i++)
    axes[i] = gs_axis_whole(e->r->completion->mesh, node->attrs->manual.axes[i]);
  return axes;
}

static int64_t group_size(const struct gs_mesh *mesh, const union gs_attrs *attrs)
{
  int64_t n = 1;
  for (int i = 0; i < attrs->manual.naxes; i++)
    n *= mesh->axes[(int)attrs->manual.axes[i]].size;
  return n;
}

double gs_bytes_manual(const struct gs_form_query *q)
{
  (void)q;                             /* whatever it sends, there is no other way */
  return 0;
}

static enum gs_op step_op(enum gs_op op)
{
  switch ((int)op) {
  case GS_OP_PSUM: return GS_OP_ALL_REDUCE;
  case GS_OP_MANUAL_GATHER: return GS_OP_ALL_GATHER;
  case GS_OP_MANUAL_SCATTER: return GS_OP_REDUCE_SCATTER;
  case GS_OP_MANUAL_EXCHANGE: return GS_OP_ALL_TO_ALL;
  default: return GS_OP_EXCHANGE;
  }
}

/* Whole shards sent on, as an exchange of shards of SIZE along dim 0: N devices. */
static bool pieces_of(struct gs_emitter *e, const struct gs_node *node, int64_t n, int64_t size,
                      union gs_attrs *attrs)
{
  int npairs = node->attrs->manual.npairs, count = npairs > 0 ? npairs : 2;
  struct gs_exchange_piece *pieces = GS_NEW_ARRAY(e->b.arena, struct gs_exchange_piece, count);
  if (pieces == NULL)
    return false;
  for (int i = 0; i < npairs; i++) {
    const int64_t *pair = node->attrs->manual.pairs[i];
    pieces[i] = (struct gs_exchange_piece){ 0, pair[1] * size, size, pair[0] * size, 1, 1 };
  }
  int64_t shift = (node->attrs->manual.shift % n + n) % n;
  if (npairs == 0) {
    pieces[0] = (struct gs_exchange_piece){ 0, shift * size, (n - shift) * size, 0, 1, 1 };
    pieces[1] = (struct gs_exchange_piece){ 0, 0, shift * size, (n - shift) * size, 1, 1 };
    count = shift == 0 ? 1 : 2;
  }
  attrs->device.pieces = pieces;
  attrs->device.npieces = size == 0 ? 0 : count;
  attrs->device.scale = size;
  attrs->device.size = size * n;
  return true;
}

static const char *reason_of(struct gs_emitter *e, const struct gs_node *node)
{
  return gs_arena_printf(e->b.arena, "%s is written in the manual region", gs_function_name(node->op, node->attrs));
}

static int add_collective(struct gs_emitter *e, const struct gs_node *node, int arg, const struct gs_type *type,
                          const struct gs_sharding *sharding)
{
  union gs_attrs *attrs = gs_emit_attrs(e);
  const struct gs_axis *axes = axes_of(e, node);
  int64_t n = group_size(e->r->completion->mesh, node->attrs);
  enum gs_op op = step_op(node->op);
  if (attrs == NULL || axes == NULL)
    return arg;
  attrs->device.naxes = node->attrs->manual.naxes;
  attrs->device.axes = axes;
  attrs->device.reduce = node->attrs->manual.reduce;
  attrs->device.dim = node->op == GS_OP_MANUAL_EXCHANGE ? node->attrs->manual.concat : node->attrs->manual.dim;
  attrs->device.split_dim = node->attrs->manual.dim;
  if (op == GS_OP_EXCHANGE && !pieces_of(e, node, n, e->b.steps[arg].type.dims[0], attrs)) {
    e->b.failed = true;
    return arg;
  }
  int made = gs_emit_add(e, op, &arg, 1, attrs, type, sharding, node);
  if (e->b.steps[made].reason == NULL)
    e->b.steps[made].reason = reason_of(e, node);
  return made;
}

/* A scalar travels as one element. */
static int permute_scalar(struct gs_emitter *e, const struct gs_node *node, int arg,
                          const struct gs_sharding *sharding)
{
  struct gs_type one = { .dtype = node->type.dtype, .rank = 1, .dims = { 1 } };
  const struct gs_sharding *alone = gs_sharding_replicated(e->r->table, sharding->mesh, 1);
  int made = gs_emit_add(e, GS_OP_RESHAPE, &arg, 1, NULL, &one, alone, node);
  made = add_collective(e, node, made, &one, alone);
  return gs_emit_add(e, GS_OP_RESHAPE, &made, 1, NULL, &node->type, sharding, node);
}

int gs_emit_manual(struct gs_emitter *e, const struct gs_node *node, int *args,
                   const struct gs_strategy *strategy)
{
  const struct gs_sharding *sharding = strategy->produced;
  if (node->op == GS_OP_TO_SHARD || node->op == GS_OP_FROM_SHARD)
    return gs_emit_add(e, GS_OP_SHARD, args, 1, NULL, &node->type, sharding, node);
  if (node->op == GS_OP_AXIS_INDEX) {
    const struct gs_axis *axes = axes_of(e, node);
    return axes == NULL ? args[0] : gs_emit_part(e, axes, node->attrs->manual.naxes, sharding->mesh, node);
  }
  if (node->op == GS_OP_PPERMUTE && node->type.rank == 0)
    return permute_scalar(e, node, args[0], sharding);
  return add_collective(e, node, args[0], &node->type, sharding);
}
