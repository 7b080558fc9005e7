/* partition/emit_window.c - operators that move elements along dims: slice, pad, concat, reverse, roll and
 * chains of them, as exchanges of intervals [PARTITIONING.md 6]. */
#include <config.h>

#include "partition/form.h"

#include <string.h>

/* Bytes a device sends when dim DIM is exchanged along PARTS parts and the result otherwise has the
 * local shape LOCAL; negative when it cannot be (a padding value that is not a constant). */
static double dim_bytes(const struct gs_node *node, int dim, int64_t parts, const struct gs_type *local)
{
  enum { FEW = 16 };
  struct gs_exchange_piece pieces[FEW];
  int64_t blocks[FEW];
  int64_t size = node->type.dims[dim], out = gs_ceil_div(size, parts);
  if (node->op == GS_OP_PAD && node->args[1]->op != GS_OP_CONSTANT)
    return -1;
  if (gs_rule_piece_room(node) > FEW) {
    /* Long concatenations: the pieces between the ends move about one block each. */
    return (double)(out * 2) * (double)gs_type_bytes(local) / (double)(out > 0 ? out : 1);
  }
  int n = gs_rule_pieces(node, dim, pieces);
  for (int a = 0; a < node->nargs; a++) {
    int64_t from = node->args[a]->type.rank > dim ? node->args[a]->type.dims[dim] : 0;
    blocks[a] = gs_ceil_div(from, parts);
  }
  double elements = gs_exchange_elements(parts, out, 0, out, n, pieces, blocks);
  return out == 0 ? 0 : elements * (double)gs_type_bytes(local) / (double)out;
}

static bool window_dim(const struct gs_rule *rule, int i)
{
  return rule->result.dims[i].count == 1
         && rule->factors[rule->result.dims[i].factors[0]].kind == GS_FACTOR_WINDOW;
}

/* A dim that a window operator works on: a device's sizes, whether elements are sent along it, and how many bytes if
 * it comes first. */
struct work { int dim; bool cut; double growth, bytes; };

/* What makes the tensor smaller comes before what sends it, what makes it larger after; of two dims along which
 * elements are sent that first after which the other costs less. */
static bool comes_first(const struct work *a, const struct work *b)
{
  if (a->cut && b->cut)
    return a->bytes + b->bytes * a->growth < b->bytes + a->bytes * b->growth;
  return a->cut ? !b->cut && b->growth >= 1 : b->cut && a->growth < 1;
}

/* The dims of NODE in the order they are worked on: BEFORE and AFTER are a device's operand and result; along those
 * with several PARTS elements are sent, but MASKED ones.  Their number, -1 when one cannot be sent. */
static int order_dims(const struct gs_node *node, const struct gs_rule *rule, const struct gs_type *before,
                      const struct gs_type *after, const int64_t *parts, uint32_t masked, struct work *order)
{
  int count = 0;
  for (int i = 0; i < rule->result.rank; i++) {
    if (!window_dim(rule, i))
      continue;
    struct gs_type local = *before;
    local.dims[i] = after->dims[i];
    local.dtype = node->type.dtype;
    struct work w = { .dim = i, .cut = parts[i] > 1 };
    w.growth = before->dims[i] == 0 ? 1 : (double)after->dims[i] / (double)before->dims[i];
    w.bytes = w.cut && !(masked >> i & 1) ? dim_bytes(node, i, parts[i], &local) : 0;
    if (w.bytes < 0)
      return -1;
    int at = count++;
    for (; at > 0 && comes_first(&w, &order[at - 1]); at--)
      order[at] = order[at - 1];
    order[at] = w;
  }
  return count;
}

double gs_bytes_window(const struct gs_form_query *q)
{
  struct gs_type after = gs_sharding_local(q->produced, &q->node->type),
                 before = gs_sharding_local(q->required[0], &q->node->args[0]->type);
  struct work order[GS_MAX_RANK];
  int64_t parts[GS_MAX_RANK];
  double bytes = 0, growth = 1;
  for (int i = 0; i < q->rule->result.rank; i++)
    parts[i] = window_dim(q->rule, i) ? gs_axis_list_size(&q->factors[q->rule->result.dims[i].factors[0]]) : 1;
  int count = order_dims(q->node, q->rule, &before, &after, parts, q->masked, order);
  for (int k = 0; k < count; k++) {
    bytes += order[k].bytes * growth;
    growth *= order[k].growth;
  }
  return count < 0 ? -1 : bytes;
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
static int exchange_dim(struct gs_emitter *e, const struct gs_node *node, int i, const int *args, int nargs,
                        const struct gs_sharding *produced)
{
  const struct gs_step first = e->b.steps[args[0]];
  bool own = produced->dims[i].naxes == 0;
  struct gs_type global = first.global;
  union gs_attrs *attrs = gs_emit_attrs(e);
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
  int made = gs_emit_add(e, own ? GS_OP_OWN_PART : GS_OP_EXCHANGE, args, nargs, attrs, &global, after, node);
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

/* The dims in WHICH, a bit set, by the operator itself: no elements are sent along them. */
static int local_dims(struct gs_emitter *e, const struct gs_node *node, const int *args, uint32_t which,
                      const struct gs_sharding *sharding)
{
  union gs_attrs *attrs = gs_arena_copy(e->b.arena, node->attrs, sizeof *attrs);
  struct gs_type type = e->b.steps[args[0]].global;
  if (attrs == NULL) {
    e->b.failed = true;
    return args[0];
  }
  for (int i = 0; i < type.rank; i++)
    if (which >> i & 1)
      type.dims[i] = node->type.dims[i];
    else
      neutralize(node->op, attrs, i);
  return gs_emit_add(e, node->op, args, node->nargs, attrs, &type, sharding, node);
}

/* Some of the moved dims are cut. */
static int emit_cut(struct gs_emitter *e, const struct gs_node *node, int *args,
                    const struct gs_sharding *produced)
{
  const struct gs_sharding *start = e->b.steps[args[0]].sharding;
  bool several = node->op == GS_OP_CONCAT || node->op == GS_OP_ASSEMBLE;
  struct work order[GS_MAX_RANK];
  int64_t parts[GS_MAX_RANK];
  struct gs_type before = gs_sharding_local(start, &node->args[0]->type),
                 after = gs_sharding_local(produced, &node->type);
  uint32_t left = 0, masked = 0;
  for (int i = 0; i < node->type.rank; i++) {
    parts[i] = gs_sharding_parts(start, i);
    masked |= produced->dims[i].naxes == 0 ? 1u << i : 0;
  }
  int count = order_dims(node, e->r->slice->rules[node->id], &before, &after, parts, masked, order);
  for (int k = 0; k < count; k++) {
    int i = order[k].dim;
    if (start->dims[i].naxes == 0 && node->op != GS_OP_ASSEMBLE) {
      left |= several ? 0 : 1u << i;
      continue;
    }
    if (left != 0)
      args[0] = local_dims(e, node, args, left, e->b.steps[args[0]].sharding);
    left = 0;
    args[0] = exchange_dim(e, node, i, args, several ? node->nargs : 1, produced);
  }
  return left == 0 ? args[0] : local_dims(e, node, args, left, produced);
}

/* NODE's attributes on a device: nothing is left to do along dims that stay as they are, though what
 * says so speaks of the whole size. */
static const union gs_attrs *local_attrs(struct gs_emitter *e, const struct gs_node *node)
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

static bool cuts_window(struct gs_emitter *e, const struct gs_node *node, const int *args)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  if (node->op == GS_OP_ASSEMBLE)
    return true;
  for (int i = 0; i < rule->result.rank; i++)
    if (window_dim(rule, i) && e->b.steps[args[0]].sharding->dims[i].naxes > 0)
      return true;
  return false;
}


int gs_emit_window(struct gs_emitter *e, const struct gs_node *node, int *args,
                   const struct gs_strategy *strategy)
{
  if (cuts_window(e, node, args))
    return emit_cut(e, node, args, strategy->produced);
  return gs_emit_add(e, node->op, args, node->nargs, local_attrs(e, node), &node->type,
                     strategy->produced, node);
}
