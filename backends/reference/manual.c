/* backends/reference/manual.c - manual regions: every device's shard, and what collectives make of them. */
#include <config.h>

#include <string.h>

#include "backends/combine.h"
#include "backends/reference/kernels.h"
#include "partition/sharding.h"

/* Coordinate along mesh axis AXIS of device WHICH, a row-major number over the manual axes. */
static int64_t coordinate(const struct gs_manual *m, int64_t which, int axis)
{
  for (int a = m->naxes - 1; a > axis; a--)
    which /= m->axes >> a & 1 ? m->sizes[a] : 1;
  return which % m->sizes[axis];
}

/* WHICH with its coordinate along AXIS set. */
static int64_t with_coordinate(const struct gs_manual *m, int64_t which, int axis, int64_t value)
{
  int64_t inner = 1;
  for (int a = m->naxes - 1; a > axis; a--)
    inner *= m->axes >> a & 1 ? m->sizes[a] : 1;
  return which + (value - coordinate(m, which, axis)) * inner;
}

/* The number of WHICH along several axes, major to minor. */
static int64_t part_along(const struct gs_manual *m, const union gs_attrs *attrs, int64_t which)
{
  int64_t part = 0;
  for (int i = 0; i < attrs->manual.naxes; i++) {
    int axis = attrs->manual.axes[i];
    part = part * m->sizes[axis] + coordinate(m, which, axis);
  }
  return part;
}

static int64_t with_part(const struct gs_manual *m, const union gs_attrs *attrs, int64_t which, int64_t part)
{
  for (int i = attrs->manual.naxes - 1; i >= 0; i--) {
    int axis = attrs->manual.axes[i];
    which = with_coordinate(m, which, axis, part % m->sizes[axis]);
    part /= m->sizes[axis];
  }
  return which;
}

static int64_t group_size(const struct gs_manual *m, const union gs_attrs *attrs)
{
  int64_t n = 1;
  for (int i = 0; i < attrs->manual.naxes; i++)
    n *= m->sizes[(int)attrs->manual.axes[i]];
  return n;
}

/* Copy a box of COUNTS elements that begins at FROM_AT and TO_AT. */
static void copy_box(const struct gs_type *counts, const struct gs_type *from_type, const int64_t *from_at,
                     const void *from, const struct gs_type *to_type, const int64_t *to_at, void *to)
{
  int64_t index[GS_MAX_RANK] = { 0 }, from_strides[GS_MAX_RANK], to_strides[GS_MAX_RANK];
  size_t size = gs_dtype_size(from_type->dtype);
  if (gs_type_elements(counts) == 0)
    return;
  gs_type_strides(from_type, from_strides);
  gs_type_strides(to_type, to_strides);
  do {
    int64_t a = 0, b = 0;
    for (int i = 0; i < counts->rank; i++) {
      a += (from_at[i] + index[i]) * from_strides[i];
      b += (to_at[i] + index[i]) * to_strides[i];
    }
    memcpy((char *)to + (size_t)b * size, (const char *)from + (size_t)a * size, size);
  } while (gs_reference_next(counts, index));
}

/* Where the shard of device WHICH of region M begins in the value of region AROUND; false when another
 * device, with coordinate 0 along the axes that cut nothing, has the same. */
static bool shard_begin(const struct gs_node *node, const struct gs_manual *m, const struct gs_manual *around,
                        const struct gs_type *shard, int64_t which, int64_t *begin)
{
  const struct gs_sharding *spec = node->attrs->manual.spec;
  uint32_t other = m->axes & ~node->attrs->manual.cutting & ~(around != NULL ? around->axes : 0);
  bool first = true;
  for (int i = 0; i < shard->rank; i++) {
    int64_t part = 0;
    for (int k = 0; spec != NULL && k < spec->dims[i].naxes; k++)
      part = part * m->sizes[spec->dims[i].axes[k].axis] + coordinate(m, which, spec->dims[i].axes[k].axis);
    begin[i] = part * shard->dims[i];
  }
  for (int a = 0; a < m->naxes; a++)
    first = first && (!(other >> a & 1) || coordinate(m, which, a) == 0);
  return first;
}

/* The number in region AROUND, NULL for outside of all, of device WHICH of region M. */
static int64_t number_around(const struct gs_manual *m, const struct gs_manual *around, int64_t which)
{
  int64_t number = 0;
  for (int a = 0; around != NULL && a < m->naxes; a++)
    if (around->axes >> a & 1)
      number = number * m->sizes[a] + coordinate(m, which, a);
  return number;
}

static int64_t devices_of(const struct gs_manual *m)
{
  int64_t n = 1;
  for (int a = 0; a < m->naxes; a++)
    n *= m->axes >> a & 1 ? m->sizes[a] : 1;
  return n;
}

static void cross_border(const struct gs_node *node, const void *const *args, void *const *results)
{
  static const int64_t origin[GS_MAX_RANK] = { 0 };
  bool enters = node->op == GS_OP_TO_SHARD;
  const struct gs_manual *m = enters ? node->manual : node->args[0]->manual;
  const struct gs_manual *around = enters ? node->args[0]->manual : node->manual;
  const struct gs_type *from = &node->args[0]->type, *to = &node->type, *shard = enters ? to : from;
  int64_t begin[GS_MAX_RANK];
  for (int64_t which = 0; which < devices_of(m); which++) {
    int64_t outer = number_around(m, around, which);
    bool first = shard_begin(node, m, around, shard, which, begin);
    if (enters)
      copy_box(shard, from, begin, args[outer], to, origin, results[which]);
    else if (first)
      copy_box(shard, from, origin, args[which], to, begin, results[outer]);
  }
}

/* The shards of a group of devices, for gs_combine. */
struct group {
  const struct gs_node *node;
  const void *const *args;
  int64_t which;
};

static const void *shard_of(const void *user, int64_t number)
{
  const struct group *g = user;
  return g->args[with_part(g->node->manual, g->node->attrs, g->which, number)];
}

static void reduce(const struct group *g, void *result)
{
  const struct gs_type *type = &g->node->type;
  int64_t n = group_size(g->node->manual, g->node->attrs);
  struct gs_partials partials = { g->node->attrs->manual.reduce, type->dtype, n, shard_of, g };
  if (g->node->op == GS_OP_PSUM) {
    gs_combine(&partials, 0, result, gs_type_elements(type));
    return;
  }
  /* The own part of the dim, row by row. */
  int dim = g->node->attrs->manual.dim;
  int64_t inner = 1, outer = 1, part = part_along(g->node->manual, g->node->attrs, g->which);
  for (int i = 0; i < type->rank; i++)
    *(i < dim ? &outer : &inner) *= type->dims[i];
  for (int64_t o = 0; o < outer && inner > 0; o++)
    gs_combine(&partials, o * inner * n + part * inner,
               (char *)result + (size_t)(o * inner) * gs_dtype_size(type->dtype), inner);
}

static void gather(const struct group *g, void *result)
{
  const struct gs_type *x = &g->node->args[0]->type;
  int64_t from[GS_MAX_RANK] = { 0 }, to[GS_MAX_RANK] = { 0 };
  for (int64_t p = 0; p < group_size(g->node->manual, g->node->attrs); p++) {
    to[g->node->attrs->manual.dim] = p * x->dims[g->node->attrs->manual.dim];
    copy_box(x, x, from, shard_of(g, p), &g->node->type, to, result);
  }
}

static void exchange(const struct group *g, void *result)
{
  const struct gs_type *x = &g->node->args[0]->type;
  const union gs_attrs *attrs = g->node->attrs;
  int64_t from[GS_MAX_RANK] = { 0 }, to[GS_MAX_RANK] = { 0 };
  int64_t n = group_size(g->node->manual, attrs), own = part_along(g->node->manual, attrs, g->which);
  struct gs_type piece = *x;
  piece.dims[attrs->manual.dim] /= n;
  from[attrs->manual.dim] = own * piece.dims[attrs->manual.dim];
  for (int64_t p = 0; p < n; p++) {
    to[attrs->manual.concat] = p * piece.dims[attrs->manual.concat];
    copy_box(&piece, x, from, shard_of(g, p), &g->node->type, to, result);
  }
}

static void permute(const struct group *g, void *result)
{
  const union gs_attrs *attrs = g->node->attrs;
  int64_t n = group_size(g->node->manual, attrs), own = part_along(g->node->manual, attrs, g->which);
  int64_t source = attrs->manual.npairs == 0 ? ((own - attrs->manual.shift) % n + n) % n : -1;
  size_t bytes = (size_t)gs_type_bytes(&g->node->type);
  for (int i = 0; i < attrs->manual.npairs; i++)
    if (attrs->manual.pairs[i][1] == own)
      source = attrs->manual.pairs[i][0];
  if (bytes == 0)
    return;
  if (source < 0)
    memset(result, 0, bytes);
  else
    memcpy(result, shard_of(g, source), bytes);
}

void gs_reference_manual_values(const struct gs_node *node, const void *const *args, void *const *results)
{
  if (node->op == GS_OP_TO_SHARD || node->op == GS_OP_FROM_SHARD) {
    cross_border(node, args, results);
    return;
  }
  int64_t n = devices_of(node->manual);
  for (int64_t which = 0; which < n; which++) {
    struct group g = { node, args, which };
    switch ((int)node->op) {
    case GS_OP_PSUM: case GS_OP_MANUAL_SCATTER: reduce(&g, results[which]); break;
    case GS_OP_MANUAL_GATHER: gather(&g, results[which]); break;
    case GS_OP_MANUAL_EXCHANGE: exchange(&g, results[which]); break;
    case GS_OP_PPERMUTE: permute(&g, results[which]); break;
    default: gs_element_set_int(GS_DTYPE_S32, results[which], 0, part_along(node->manual, node->attrs, which));
    }
  }
}
