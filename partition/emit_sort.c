/* partition/emit_sort.c - sorting along a cut dim by a merge network over the parts.
 *
 * Bitonic sort (K. Batcher, "Sorting networks and their applications", 1968) of whole parts: with 2^m
 * parts m(m+1)/2 rounds, in each of which a device and its partner along one sub-axis of size 2 exchange
 * their parts, both sort the two, and each keeps a half.  It sends fewer bytes than gathering the dim, which
 * is what happens otherwise, from 8 parts on.
 */
#include <config.h>

#include "partition/form.h"

#include <math.h>
#include <string.h>

enum { MAX_ARRAYS = 10 };

/* The parts of the sorted dim as bits of their number, minor-most first; -1 when they are no power of 2. */
static int part_bits(const struct gs_dim_sharding *dim, struct gs_axis bits[GS_AXES_MAX])
{
  int n = gs_axes_primes(dim->axes, dim->naxes, bits);
  for (int i = 0; i < n; i++)
    if (bits[i].size != 2)
      return -1;
  return n;
}

/* Positions are a last key where equal keys do not mean equal values. */
static bool needs_position(const struct gs_node *node)
{
  return node->nargs > 1;
}

double gs_bytes_sort(const struct gs_form_query *q)
{
  const struct gs_node *node = q->node;
  int dim = node->attrs->order.dim;
  struct gs_axis bits[GS_AXES_MAX];
  int m = part_bits(&q->produced->dims[dim], bits);
  double each = needs_position(node) ? 8 : 0;
  struct gs_type local = gs_sharding_local(q->produced, &node->type);
  if (m < 0 || node->nargs + 1 > MAX_ARRAYS)
    return -1;
  for (int a = 0; a < node->nargs; a++)
    each += (double)gs_dtype_size(node->args[a]->type.dtype);
  return 0.5 * m * (m + 1) * each * (double)gs_type_elements(&local);
}

/* The arrays that are sorted together: keys, maybe positions, the payload. */
struct sorting {
  struct gs_emitter *e;
  const struct gs_node *node;
  int dim, narrays, nkeys;             /* the payload is array narrays - 1 */
  int arrays[MAX_ARRAYS];
  struct gs_type pair[MAX_ARRAYS], half[MAX_ARRAYS];   /* of two parts, of one */
  const struct gs_sharding *whole;     /* the dim uncut */
};

static double last_value(enum gs_dtype dtype, bool descending)
{
  if (descending)
    return gs_emit_identity(GS_OP_REDUCE_MAX, dtype);
  return gs_dtype_kind(dtype) == GS_KIND_FLOAT ? NAN : gs_dtype_kind(dtype) == GS_KIND_PRED
             ? 1 : gs_emit_identity(GS_OP_REDUCE_MIN, dtype);
}

static int add_sort(struct sorting *s, const int *arrays, int which, const struct gs_type *type)
{
  union gs_attrs *attrs = gs_emit_attrs(s->e);
  int args[MAX_ARRAYS + 1];
  if (attrs == NULL)
    return arrays[0];
  memcpy(args, arrays, (size_t)s->nkeys * sizeof *args);
  args[s->nkeys] = arrays[which];
  attrs->order.dim = s->dim;
  attrs->order.descending = s->node->attrs->order.descending;
  bool own = s->nkeys == 1 && which == 0;
  return gs_emit_add(s->e, GS_OP_SORT, args, own ? 1 : s->nkeys + 1, attrs, type, s->whole, s->node);
}

/* One round: exchange along PARTNER; parts whose bit of STAGE (NULL: none) is set sort the other way. */
static void round_of(struct sorting *s, const struct gs_axis *partner, const struct gs_axis *stage)
{
  static const char reason[] = "two parts are sorted together, each device keeps one half";
  struct gs_emitter *e = s->e;
  int pairs[MAX_ARRAYS], low_half = -1;
  struct gs_dim_sharding cut = { .naxes = 1, .axes = partner };
  for (int a = 0; a < s->narrays; a++)
    pairs[a] = gs_emit_gather(e, s->arrays[a], s->dim, &cut, &s->pair[a], s->whole, s->node, reason);
  if (stage != NULL) {
    struct gs_type pred = { .dtype = GS_DTYPE_PRED };
    int bits[2] = { gs_emit_part(e, partner, 1, s->whole->mesh, s->node),
                    gs_emit_part(e, stage, 1, s->whole->mesh, s->node) };
    low_half = gs_emit_add(e, GS_OP_EQ, bits, 2, NULL, &pred,
                           gs_emit_scalar(e, s->node), s->node);
  }
  for (int a = 0; a < s->narrays; a++) {
    int sorted = add_sort(s, pairs, a, &s->pair[a]);
    union gs_attrs *attrs = gs_emit_attrs(e);
    if (attrs == NULL)
      return;
    if (stage == NULL) {
      attrs->device.dim = s->dim;
      attrs->device.naxes = 1;
      attrs->device.axes = partner;
      s->arrays[a] = gs_emit_add(e, GS_OP_SHARD_SLICE, &sorted, 1, attrs, &s->half[a], s->whole, s->node);
      continue;
    }
    int low = gs_emit_slice(e, sorted, s->dim, 0, &s->half[a], s->whole, s->node);
    int high = gs_emit_slice(e, sorted, s->dim, s->half[a].dims[s->dim], &s->half[a], s->whole, s->node);
    s->arrays[a] = gs_emit_add(e, GS_OP_WHERE, (int[]){ low_half, low, high }, 3, NULL, &s->half[a], s->whole,
                               s->node);
  }
}

/* The arrays with their padding last; positions are added as a key. */
static void start_sorting(struct sorting *s, const int *args, const struct gs_sharding *sharding)
{
  struct gs_emitter *e = s->e;
  const struct gs_node *node = s->node;
  int64_t block = e->b.steps[args[0]].type.dims[s->dim];
  s->nkeys = node->nargs > 1 ? node->nargs - 1 : 1;
  for (int a = 0; a < s->nkeys; a++) {
    double last = last_value(node->args[a]->type.dtype, node->attrs->order.descending);
    s->arrays[a] = gs_emit_fill_padding(e, args[a], s->dim, last, node);
    s->half[a] = node->args[a]->type;
  }
  s->narrays = s->nkeys;
  if (needs_position(node)) {
    /* Counted down when greater keys come first. */
    struct gs_type positions = node->type;
    positions.dtype = GS_DTYPE_S64;
    int position = gs_emit_iota(e, s->dim, &sharding->dims[s->dim], block, &positions, sharding, node);
    if (node->attrs->order.descending)
      position = gs_emit_add(e, GS_OP_NEG, &position, 1, NULL, &positions, sharding, node);
    s->half[s->narrays] = positions;
    s->arrays[s->narrays++] = position;
    s->nkeys++;
    s->half[s->narrays] = node->args[node->nargs - 1]->type;
    s->arrays[s->narrays++] = args[node->nargs - 1];
  }
  for (int a = 0; a < s->narrays; a++) {
    s->half[a].dims[s->dim] = block;
    s->pair[a] = s->half[a];
    s->pair[a].dims[s->dim] = 2 * block;
  }
}

int gs_emit_sort(struct gs_emitter *e, const struct gs_node *node, int *args,
                 const struct gs_strategy *strategy)
{
  struct sorting s = { .e = e, .node = node, .dim = node->attrs->order.dim };
  const struct gs_sharding *sharding = strategy->produced;
  struct gs_axis *bits = GS_NEW_ARRAY(e->b.arena, struct gs_axis, GS_AXES_MAX);
  if (sharding->dims[s.dim].naxes == 0)
    return gs_emit_plain(e, node, args, strategy);
  s.whole = gs_emit_with_dim(e, sharding, s.dim,
                             gs_sharding_replicated(e->r->table, sharding->mesh, sharding->rank));
  if (bits == NULL || s.whole == NULL) {
    e->b.failed = true;
    return args[0];
  }
  int m = part_bits(&sharding->dims[s.dim], bits);
  start_sorting(&s, args, sharding);
  for (int stage = 1; stage <= m; stage++)
    for (int bit = stage - 1; bit >= 0; bit--)
      round_of(&s, &bits[bit], stage < m ? &bits[stage] : NULL);
  /* The last round's half is the result: the same elements, now known to be a part of the whole. */
  int last = s.arrays[s.narrays - 1];
  return gs_emit_add(e, GS_OP_SHARD, &last, 1, NULL, &node->type, sharding, node);
}
