/* partition/emit_conv.c - convolution and reductions over windows along cut dims: one exchange of intervals
 * gives each device what its part needs, gaps and padding included [PARTITIONING.md 6].
 */
#include <config.h>

#include "partition/form.h"

#include <string.h>

/* The interval that each part needs of a dim, in positions with gaps: part p those from
 * scale * p + offset on. */
struct interval { int64_t parts, scale, offset, length, size, gap; };

/* For positions of the result in parts of BLOCK. */
static struct interval for_positions(const struct gs_window *w, int64_t size, int64_t block, int64_t parts)
{
  int64_t length = block == 0 ? 0 : (block - 1) * w->stride + (w->size - 1) * w->dilate + 1;
  return (struct interval){ parts, block * w->stride, -w->low, length, size, w->base_dilate };
}

/* For all POSITIONS of the result, with a kernel in parts of BLOCK. */
static struct interval for_taps(const struct gs_window *w, int64_t size, int64_t positions, int64_t block,
                                int64_t parts, bool reversed)
{
  int64_t length = positions == 0 || block == 0 ? 0 : (positions - 1) * w->stride + (block - 1) * w->dilate + 1;
  struct interval in = { parts, block * w->dilate, -w->low, length, size, w->base_dilate };
  if (reversed) {
    in.scale = -in.scale;
    in.offset = (w->size - block) * w->dilate - w->low;
  }
  return in;
}

static struct gs_exchange_piece piece_of(const struct interval *in)
{
  return (struct gs_exchange_piece){ 0, 0, in->size == 0 ? 0 : (in->size - 1) * in->gap + 1, 0, 1, in->gap };
}

/* Bytes that a device sends for it of a local part of type LOCAL, whose dim DIM then has another size. */
static double interval_bytes(const struct interval *in, struct gs_type *local, int dim)
{
  struct gs_exchange_piece piece = piece_of(in);
  int64_t block = gs_ceil_div(in->size, in->parts);
  double elements = gs_exchange_elements(in->parts, in->scale, in->offset, in->length, 1, &piece, &block);
  double row = block == 0 ? 0 : (double)gs_type_bytes(local) / (double)local->dims[dim];
  local->dims[dim] = in->length;
  return elements * row;
}

static int exchange(struct gs_emitter *e, int arg, int dim, const struct gs_dim_sharding *cut,
                    const struct interval *in, double fill, const struct gs_node *node)
{
  const struct gs_step from = e->b.steps[arg];
  int64_t held = from.type.dims[dim];
  if (in->gap == 1 && in->offset == 0 && in->scale == held && in->length == held && held * in->parts == in->size)
    return arg;                        /* each part needs what it has */
  union gs_attrs *attrs = gs_emit_attrs(e);
  struct gs_exchange_piece *piece = GS_NEW(e->b.arena, struct gs_exchange_piece);
  struct gs_dim_sharding dims[GS_MAX_RANK];
  struct gs_type virtual_whole = from.global;
  if (attrs == NULL || piece == NULL) {
    e->b.failed = true;
    return arg;
  }
  *piece = piece_of(in);
  attrs->device.dim = dim;
  attrs->device.naxes = cut->naxes;
  attrs->device.axes = cut->axes;
  attrs->device.npieces = piece->count > 0;
  attrs->device.pieces = piece;
  attrs->device.scale = in->scale;
  attrs->device.offset = in->offset;
  attrs->device.size = in->size;
  attrs->device.fill = fill;
  memcpy(dims, from.sharding->dims, (size_t)from.sharding->rank * sizeof dims[0]);
  dims[dim].naxes = cut->naxes;
  dims[dim].axes = cut->axes;
  dims[dim].block = in->length == 0 ? 0 : in->length;
  virtual_whole.dims[dim] = in->length * in->parts;
  if (in->length > 0 && gs_ceil_div(virtual_whole.dims[dim], in->parts) == in->length)
    dims[dim].block = 0;
  const struct gs_sharding *after =
      gs_sharding_make(e->r->table, from.sharding->mesh, from.sharding->rank, dims, from.sharding->partial,
                       from.sharding->npartial, from.sharding->partial_kind);
  int made = gs_emit_add(e, GS_OP_EXCHANGE, &arg, 1, attrs, &virtual_whole, after, node);
  if (e->b.steps[made].reason == NULL)
    e->b.steps[made].reason = gs_arena_printf(e->b.arena, "windows of %s reach over the parts of dim %d",
                                              gs_op_info(node->op)->name, dim);
  return made;
}

/* Of what ARG holds of dim I, the elements from BEGIN on that PRODUCED says are the device's. */
static int own_part(struct gs_emitter *e, int arg, int i, int64_t begin, const struct gs_sharding *produced,
                    const struct gs_node *node)
{
  struct gs_type global = e->b.steps[arg].global;
  if (begin == 0 && e->b.steps[arg].type.dims[i] == gs_sharding_block(produced, i, node->type.dims[i])
      && global.dims[i] == node->type.dims[i])
    return arg;
  global.dims[i] = node->type.dims[i];
  return gs_emit_slice(e, arg, i, begin, &global, gs_emit_with_dim(e, e->b.steps[arg].sharding, i, produced), node);
}

static int64_t parts_of(const struct gs_dim_sharding *dim)
{
  int64_t parts = 1;
  for (int i = 0; i < dim->naxes; i++)
    parts *= dim->axes[i].size;
  return parts;
}

static bool moves(const struct gs_rule *rule, int dim)
{
  return rule->factors[rule->result.dims[dim].factors[0]].kind == GS_FACTOR_WINDOW;
}

/* ---- Reductions over windows ---- */

double gs_bytes_reduce_window(const struct gs_form_query *q)
{
  double bytes = 0;
  const struct gs_type *x = &q->node->args[0]->type;
  struct gs_type local = gs_sharding_local(q->required[0], x);
  for (int i = 0; i < x->rank; i++) {
    int64_t parts = gs_sharding_parts(q->produced, i), out = q->node->type.dims[i];
    if (parts == 1 || !moves(q->rule, i))
      continue;
    struct interval in = for_positions(&q->node->attrs->window.dims[i], x->dims[i],
                                       gs_sharding_block(q->produced, i, out), parts);
    bytes += interval_bytes(&in, &local, i);
  }
  return bytes;
}

static void whole_window(struct gs_window *w)
{
  w->low = w->high = 0;
  w->base_dilate = 1;
}

int gs_emit_reduce_window(struct gs_emitter *e, const struct gs_node *node, int *args,
                          const struct gs_strategy *strategy)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  const struct gs_sharding *produced = strategy->produced;
  int rank = node->type.rank;
  union gs_attrs *attrs = gs_emit_attrs(e);
  struct gs_window *windows = gs_arena_copy(e->b.arena, node->attrs->window.dims, (size_t)rank * sizeof *windows);
  double fill = gs_emit_identity(node->attrs->window.reduce, node->type.dtype);
  if (attrs == NULL || windows == NULL) {
    e->b.failed = true;
    return args[0];
  }
  attrs->window.reduce = node->attrs->window.reduce;
  attrs->window.dims = windows;
  for (int i = 0; i < rank; i++) {
    if (produced->dims[i].naxes == 0 || !moves(rule, i))
      continue;
    struct interval in = for_positions(&windows[i], node->args[0]->type.dims[i],
                                       gs_sharding_block(produced, i, node->type.dims[i]),
                                       gs_sharding_parts(produced, i));
    args[0] = exchange(e, args[0], i, &produced->dims[i], &in, fill, node);
    whole_window(&windows[i]);
  }
  return gs_emit_add(e, node->op, args, 1, attrs, &node->type, produced, node);
}

/* ---- Elements put where windows select ---- */

/* How dim I is run in parts: each has its part of the result, the windows that reach into it, and all of what
 * these see.  Where a window of a part begins has to be linear in the part; else windows begin everywhere
 * and elements of u have gaps between them, filled with zeros. */
static void selecting(const struct gs_node *node, int i, int64_t parts, struct gs_window *w, struct interval *x,
                      struct interval *u)
{
  int64_t size = node->type.dims[i], block = gs_ceil_div(size, parts);
  int64_t gap = block % w->stride == 0 ? 1 : w->stride, stride = gap > 1 ? 1 : w->stride;
  int64_t reach = (w->size - 1) * w->dilate;
  int64_t first = -gs_floor_div(reach - w->low, stride), last = gs_floor_div(block - 1 + w->low, stride);
  int64_t count = last < first || w->size == 0 ? 0 : last - first + 1;
  int64_t begin = count == 0 ? 0 : first * stride - w->low, end = count == 0 ? 0 : last * stride - w->low + reach + 1;
  *u = (struct interval){ parts, block / stride, first, count, node->args[1]->type.dims[i], gap };
  int64_t from = begin < 0 ? begin : 0, to = end > block ? end : block;
  *x = (struct interval){ parts, block, from, to - from, size, 1 };
  w->low = from - begin;
  w->stride = stride;
  w->high = 0;
}

double gs_bytes_select_and_scatter(const struct gs_form_query *q)
{
  double bytes = 0;
  struct gs_type local[2];
  for (int a = 0; a < 2; a++)
    local[a] = gs_sharding_local(q->required[a], &q->node->args[a]->type);
  for (int i = 0; i < q->node->type.rank; i++) {
    int64_t parts = gs_sharding_parts(q->produced, i);
    struct gs_window w = q->node->attrs->window.dims[i];
    struct interval x, u;
    if (parts == 1 || !moves(q->rule, i))
      continue;
    selecting(q->node, i, parts, &w, &x, &u);
    bytes += interval_bytes(&x, &local[0], i) + interval_bytes(&u, &local[1], i);
  }
  return bytes;
}

int gs_emit_select_and_scatter(struct gs_emitter *e, const struct gs_node *node, int *args,
                               const struct gs_strategy *strategy)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  const struct gs_sharding *produced = strategy->produced;
  int rank = node->type.rank;
  union gs_attrs *attrs = gs_emit_attrs(e);
  struct gs_window *windows = gs_arena_copy(e->b.arena, node->attrs->window.dims, (size_t)rank * sizeof *windows);
  struct gs_interval *seen = GS_NEW_ARRAY(e->b.arena, struct gs_interval, rank + 1);
  if (attrs == NULL || windows == NULL || seen == NULL) {
    e->b.failed = true;
    return args[0];
  }
  attrs->window.reduce = node->attrs->window.reduce;
  attrs->window.dims = windows;
  attrs->window.seen = seen;
  for (int i = 0; i < rank; i++) {
    int64_t parts = gs_sharding_parts(produced, i), size = node->type.dims[i];
    struct interval x, u;
    seen[i] = (struct gs_interval){ .scale = gs_ceil_div(size, parts), .length = gs_ceil_div(size, parts), .size = size };
    if (parts == 1 || !moves(rule, i))
      continue;
    selecting(node, i, parts, &windows[i], &x, &u);
    seen[i] = (struct gs_interval){ x.scale, x.offset, x.length, x.size };
    args[0] = exchange(e, args[0], i, &produced->dims[i], &x, 0, node);
    args[1] = exchange(e, args[1], i, &produced->dims[i], &u, 0, node);
  }
  const struct gs_step from = e->b.steps[args[0]];
  int made = gs_emit_add(e, node->op, args, 2, attrs, &from.global, from.sharding, node);
  for (int i = 0; i < rank; i++)
    if (moves(rule, i) && produced->dims[i].naxes > 0)
      made = own_part(e, made, i, -seen[i].offset, produced, node);
  return made;
}

/* ---- Convolution ---- */

/* What spatial dim K needs exchanged: the axes are *CUT.  False: nothing. */
static bool conv_interval(const struct gs_node *node, const struct gs_rule *rule,
                          const struct gs_sharding *produced, const struct gs_sharding *const *required, int k,
                          struct interval *in, const struct gs_dim_sharding **cut)
{
  const struct gs_conv *c = node->attrs->conv.conv;
  const struct gs_window *w = &c->windows[k];
  int out = c->out_spatial[k], kernel = c->kernel_spatial[k];
  int64_t size = node->args[0]->type.dims[c->spatial[k]], positions = node->type.dims[out];
  if (!moves(rule, out))
    return false;
  if (produced->dims[out].naxes > 0) {
    *cut = &produced->dims[out];
    *in = for_positions(w, size, gs_sharding_block(produced, out, positions), parts_of(*cut));
    return true;
  }
  if (required[1]->dims[kernel].naxes == 0)
    return false;
  *cut = &required[1]->dims[kernel];
  *in = for_taps(w, size, positions, gs_sharding_block(required[1], kernel, w->size), parts_of(*cut),
                 c->reversed >> k & 1);
  return true;
}

double gs_bytes_conv(const struct gs_form_query *q)
{
  const struct gs_conv *c = q->node->attrs->conv.conv;
  struct gs_type local = gs_sharding_local(q->required[0], &q->node->args[0]->type);
  double bytes = 0;
  for (int k = 0; k < c->nspatial; k++) {
    struct interval in;
    const struct gs_dim_sharding *cut;
    if (conv_interval(q->node, q->rule, q->produced, q->required, k, &in, &cut))
      bytes += interval_bytes(&in, &local, c->spatial[k]);
  }
  return bytes;
}

int gs_emit_conv(struct gs_emitter *e, const struct gs_node *node, int *args,
                 const struct gs_strategy *strategy)
{
  const struct gs_rule *rule = e->r->slice->rules[node->id];
  struct gs_conv *c = gs_arena_copy(e->b.arena, node->attrs->conv.conv, sizeof *c);
  union gs_attrs *attrs = gs_emit_attrs(e);
  if (c == NULL || attrs == NULL) {
    e->b.failed = true;
    return args[0];
  }
  attrs->conv.conv = c;
  for (int k = 0; k < c->nspatial; k++) {
    struct interval in;
    const struct gs_dim_sharding *cut;
    if (!conv_interval(node, rule, strategy->produced, strategy->required, k, &in, &cut))
      continue;
    args[0] = exchange(e, args[0], c->spatial[k], cut, &in, 0, node);
    whole_window(&c->windows[k]);
    c->windows[k].size = e->b.steps[args[1]].type.dims[c->kernel_spatial[k]];
  }
  if (c->groups * c->batch_groups > 1) {
    struct gs_axis_list axes;
    const struct gs_dim_rule *dim = &rule->result.dims[c->out_feature];
    gs_rule_factor_axes(rule, dim, &strategy->produced->dims[c->out_feature], 0, &axes);
    int64_t parts = gs_axis_list_size(&axes);
    *(c->groups > 1 ? &c->groups : &c->batch_groups) /= parts;
  }
  return gs_emit_add(e, node->op, args, 2, attrs, &node->type, strategy->produced, node);
}
