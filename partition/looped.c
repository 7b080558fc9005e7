/* partition/looped.c - finding gathers and reduce-scatters next to contractions, and the loops instead.
 *
 * With n devices along the axes, own number p, in parts of L:
 *
 *   gather    device p begins with its piece p; its products go to their place in the result (or, for a
 *             summed dim, are added up), and pieces travel on: to the left neighbour, or for even n to
 *             both, so that half as many steps are needed one after the other.
 *   scatter   sums travel: in step t device p adds its product for part p + n-1-t to the sum that its
 *             left neighbour has begun, and at the end holds part p.
 */
#include <config.h>

#include "partition/looped.h"

#include <string.h>

#include "partition/axes.h"
#include "partition/profile.h"
#include "partition/rewriter.h"

enum pattern { NOTHING, GATHER_PLACED, GATHER_SUMMED, SCATTER };

/* One to be rewritten. */
struct match {
  enum pattern pattern;
  int einsum, collective;              /* steps */
  int operand;                         /* of the einsum: the gathered one, or the one that has the label */
  int label, dim, other_dim;           /* of the operand; of the other one, -1: it has not the label */
  int out;                             /* dim of the result, -1 */
  int64_t n, part;                     /* devices, L */
};

/* ---- Matching ---- */

static int find_label(const signed char *labels, int rank, int label)
{
  for (int i = 0; i < rank; i++)
    if (labels[i] == label)
      return i;
  return -1;
}

static const struct gs_type *type_of(const struct gs_program *p, int step)
{
  return &p->steps[step].type;
}

/* Fill in what follows from the label of dim DIM of operand OPERAND. */
static void place_label(const struct gs_program *p, struct match *m)
{
  const struct gs_step *e = &p->steps[m->einsum];
  const union gs_attrs *a = e->attrs;
  int other = 1 - m->operand;
  m->label = a->einsum.label[m->operand][m->dim];
  m->other_dim = find_label(a->einsum.label[other], type_of(p, e->args[other])->rank, m->label);
  m->out = find_label(a->einsum.out, e->type.rank, m->label);
}

static bool match_gather(const struct gs_program *p, const int *uses, int einsum, struct match *m)
{
  const struct gs_step *e = &p->steps[einsum];
  for (int k = 0; k < 2; k++) {
    const struct gs_step *g = &p->steps[e->args[k]];
    int64_t n = gs_step_group_size(g);
    if (g->op != GS_OP_ALL_GATHER || n < 2 || uses[e->args[k]] != 1 || e->args[0] == e->args[1]
        || g->scope != e->scope)
      continue;
    *m = (struct match){ .einsum = einsum, .collective = e->args[k], .operand = k, .dim = g->attrs->device.dim, .n = n };
    m->part = type_of(p, g->args[0])->dims[m->dim];
    if (m->part == 0 || m->part * n != g->type.dims[m->dim])
      continue;
    place_label(p, m);
    m->pattern = m->out >= 0 ? GATHER_PLACED : GATHER_SUMMED;
    return true;
  }
  return false;
}

static bool match_scatter(const struct gs_program *p, const int *uses, int scatter, struct match *m)
{
  const struct gs_step *s = &p->steps[scatter];
  int einsum = s->args[0];
  const struct gs_step *e = &p->steps[einsum];
  int dim = s->attrs->device.dim;
  int64_t n = gs_step_group_size(s);
  if (e->op != GS_OP_EINSUM || uses[einsum] != 1 || n < 2 || s->attrs->device.reduce != GS_OP_SUM
      || s->type.dims[dim] == 0 || s->type.dims[dim] * n != e->type.dims[dim] || e->scope != s->scope)
    return false;
  int label = e->attrs->einsum.out[dim];
  for (int k = 0; k < 2; k++) {
    int at = find_label(e->attrs->einsum.label[k], type_of(p, e->args[k])->rank, label);
    if (at < 0)
      continue;
    *m = (struct match){ .pattern = SCATTER, .einsum = einsum, .collective = scatter, .operand = k, .dim = at, .n = n,
                         .part = s->type.dims[dim] };
    place_label(p, m);
    return true;
  }
  return false;
}

/* Whether the loop is faster: the longer of the two and one step of the other, with a hop's latency a step. */
static bool pays(const struct gs_program *p, const struct match *m)
{
  const struct gs_profile *profile = gs_profile_of_mesh(p->mesh);
  const struct gs_step *e = &p->steps[m->einsum], *c = &p->steps[m->collective];
  if (profile == gs_profile_at(0))
    return false;
  double compute = gs_profile_step_time(profile, p, e, 0, gs_step_flops(p, e));
  double travel = gs_profile_step_time(profile, p, c, gs_step_bytes(p, c), 0), n = (double)m->n;
  double looped = (compute > travel ? compute : travel) + (compute < travel ? compute : travel) / n
                  + n * profile->latency;
  return looped < compute + travel;
}

/* ---- Making steps ---- */

static struct gs_type scalar_type(enum gs_dtype dtype)
{
  return (struct gs_type){ .dtype = dtype };
}

static int constant(struct gs_rewriter *r, int64_t value, const struct gs_node *node)
{
  struct gs_type type = scalar_type(GS_DTYPE_S32);
  union gs_attrs *attrs = gs_rewriter_attrs(r);
  struct gs_tensor *tensor = GS_NEW(r->arena, struct gs_tensor);
  int32_t *data = GS_NEW(r->arena, int32_t);
  if (attrs == NULL || tensor == NULL || data == NULL) {
    r->failed = true;
    return 0;
  }
  *data = (int32_t)value;
  tensor->type = type;
  tensor->data = data;
  tensor->references = 1;              /* the arena's own */
  attrs->constant.tensor = tensor;
  return gs_rewriter_make(r, GS_OP_CONSTANT, NULL, 0, attrs, &type, node);
}

/* This device's number along AXES, an s32. */
static int own_part(struct gs_rewriter *r, const struct gs_axis *axes, int naxes, int64_t n, const struct gs_node *node)
{
  struct gs_type one = { .dtype = GS_DTYPE_S32, .rank = 1, .dims = { 1 } }, scalar = scalar_type(GS_DTYPE_S32);
  union gs_attrs *attrs = gs_rewriter_attrs(r);
  if (attrs == NULL || n > INT32_MAX)
    return 0;
  attrs->iota.naxes = naxes;
  attrs->iota.axes = axes;
  attrs->iota.block = 1;
  int part = gs_rewriter_make(r, GS_OP_IOTA, NULL, 0, attrs, &one, node);
  return gs_rewriter_make(r, GS_OP_RESHAPE, &part, 1, NULL, &scalar, node);
}

static int arithmetic(struct gs_rewriter *r, enum gs_op op, int a, int b, const struct gs_node *node)
{
  struct gs_type type = scalar_type(GS_DTYPE_S32);
  return gs_rewriter_make(r, op, (int[]){ a, b }, 2, NULL, &type, node);
}

/* Position of part NUMBER (mod n), as an index vector. */
static int position(struct gs_rewriter *r, const struct match *m, int number, const struct gs_node *node)
{
  struct gs_type vector = { .dtype = GS_DTYPE_S32, .rank = 1, .dims = { 1 } };
  int part = arithmetic(r, GS_OP_REM, number, constant(r, m->n, node), node);
  int at = arithmetic(r, GS_OP_MUL, part, constant(r, m->part, node), node);
  return gs_rewriter_make(r, GS_OP_RESHAPE, &at, 1, NULL, &vector, node);
}

/* Slices along DIM that begin at an index vector. */
static union gs_attrs *window_attrs(struct gs_rewriter *r, const struct gs_type *slice, int dim)
{
  union gs_attrs *attrs = gs_rewriter_attrs(r);
  if (attrs == NULL)
    return NULL;
  attrs->gather.offset_dims = (1u << slice->rank) - 1;
  attrs->gather.nindexed = 1;
  attrs->gather.indexed[0] = (signed char)dim;
  attrs->gather.clamp = true;
  attrs->gather.combine = GS_OP_COUNT;
  memcpy(attrs->gather.sizes, slice->dims, sizeof slice->dims);
  return attrs;
}

static int part_of(struct gs_rewriter *r, int step, int dim, int64_t size, int at, const struct gs_node *node)
{
  struct gs_type type = r->steps[step].type;
  type.dims[dim] = size;
  return gs_rewriter_make(r, GS_OP_GATHER, (int[]){ step, at }, 2, window_attrs(r, &type, dim), &type, node);
}

/* STEP from the device SHIFT before. */
static int travel(struct gs_rewriter *r, const struct match *m, int step, int dim, int64_t shift,
                  const struct gs_node *node)
{
  const struct gs_step *c = &r->from->steps[m->collective];
  struct gs_exchange_piece *pieces = GS_NEW_ARRAY(r->arena, struct gs_exchange_piece, 2);
  union gs_attrs *attrs = gs_rewriter_attrs(r);
  int64_t size = r->steps[step].type.dims[dim], to = (shift + m->n) % m->n;
  if (pieces == NULL || attrs == NULL) {
    r->failed = true;
    return step;
  }
  pieces[0] = (struct gs_exchange_piece){ 0, to * size, (m->n - to) * size, 0, 1, 1 };
  pieces[1] = (struct gs_exchange_piece){ 0, 0, to * size, (m->n - to) * size, 1, 1 };
  attrs->device.dim = dim;
  attrs->device.naxes = c->attrs->device.naxes;
  attrs->device.axes = c->attrs->device.axes;
  attrs->device.npieces = 2;
  attrs->device.pieces = pieces;
  attrs->device.scale = size;
  attrs->device.size = size * m->n;
  struct gs_type type = r->steps[step].type;
  int made = gs_rewriter_make(r, GS_OP_EXCHANGE, &step, 1, attrs, &type, node);
  r->steps[made].reason = "pieces travel from neighbour to neighbour while the product works on the one before";
  return made;
}

/* The product of PIECE, and of the other operand's part that belongs to part NUMBER, if it has one. */
static int product(struct gs_rewriter *r, const struct match *m, int piece, int other, int at)
{
  const struct gs_step *e = &r->from->steps[m->einsum];
  int args[2];
  struct gs_type type = e->type;
  if (m->other_dim >= 0)
    other = part_of(r, other, m->other_dim, m->part, at, e->node);
  args[m->operand] = piece;
  args[1 - m->operand] = other;
  if (m->out >= 0)
    type.dims[m->out] = m->part;
  return gs_rewriter_make(r, GS_OP_EINSUM, args, 2, e->attrs, &type, e->node);
}

/* SUM with the product for PIECE, part NUMBER, put in its place or added. */
static int take_in(struct gs_rewriter *r, const struct match *m, int sum, int piece, int other, int number)
{
  const struct gs_step *e = &r->from->steps[m->einsum];
  int at = position(r, m, number, e->node), made = product(r, m, piece, other, at);
  struct gs_type type = r->steps[sum].type;
  if (m->pattern == GATHER_SUMMED)
    return gs_rewriter_make(r, GS_OP_ADD, (int[]){ sum, made }, 2, NULL, &type, e->node);
  struct gs_type slice = r->steps[made].type;
  return gs_rewriter_make(r, GS_OP_SCATTER, (int[]){ sum, at, made }, 3, window_attrs(r, &slice, m->out), &type, e->node);
}

/* What a device has of STEP as a value of its own, whole in itself, so that slices of it are of it. */
static int own_value(struct gs_rewriter *r, int step)
{
  struct gs_type type = r->steps[step].type;
  return gs_rewriter_make(r, GS_OP_SHARD, &step, 1, NULL, &type, r->steps[step].node);
}

/* ---- Loops ---- */

enum { MOST_CARRIED = 4 };

struct loop { int opening, ncarried; int values[MOST_CARRIED]; };

static void open_loop(struct gs_rewriter *r, struct loop *l, const int *inits, int ninits, int64_t trips,
                      const struct gs_node *node)
{
  struct gs_type pred = scalar_type(GS_DTYPE_PRED);
  union gs_attrs *attrs = gs_rewriter_attrs(r);
  l->ncarried = ninits;
  if (attrs == NULL)
    return;
  attrs->control.trips = trips;
  l->opening = gs_rewriter_make(r, GS_OP_LOOP, inits, ninits, attrs, &pred, node);
  r->scope = l->opening;
  r->depth++;
  r->count *= (double)trips;
  for (int k = 0; k < ninits; k++) {
    union gs_attrs *which = gs_rewriter_attrs(r);
    struct gs_type type = r->steps[inits[k]].type;
    if (which == NULL)
      return;
    which->carried.index = k;
    l->values[k] = gs_rewriter_make(r, GS_OP_LOOP_VALUE, NULL, 0, which, &type, node);
  }
}

/* RESULTS gets the carried values after the end. */
static void close_loop(struct gs_rewriter *r, struct loop *l, const int *nexts, int *results, const struct gs_node *node)
{
  struct gs_type pred = scalar_type(GS_DTYPE_PRED);
  if (r->failed)
    return;
  const struct gs_step *opening = &r->steps[l->opening];
  int end = gs_rewriter_make(r, GS_OP_LOOP_END, nexts, l->ncarried, r->steps[l->opening].attrs, &pred, node);
  opening = &r->steps[l->opening];
  r->scope = opening->scope;
  r->depth--;
  r->count /= (double)opening->attrs->control.trips;
  r->steps[end].depth = r->depth;
  r->steps[l->opening].end = end;
  for (int k = 0; k < l->ncarried; k++) {
    union gs_attrs *which = gs_rewriter_attrs(r);
    struct gs_type type = r->steps[l->values[k]].type;
    if (which == NULL)
      return;
    which->carried.index = k;
    results[k] = gs_rewriter_make(r, GS_OP_LOOP_RESULT, &l->opening, 1, which, &type, node);
  }
}

static int zeros(struct gs_rewriter *r, const struct gs_type *type, const struct gs_node *node)
{
  struct gs_type scalar = scalar_type(type->dtype);
  int zero = constant(r, 0, node);
  if (type->dtype != GS_DTYPE_S32)
    zero = gs_rewriter_make(r, GS_OP_CONVERT, &zero, 1, NULL, &scalar, node);
  return gs_rewriter_make(r, GS_OP_BROADCAST, &zero, 1, gs_rewriter_attrs(r), type, node);
}

/* One direction: n - 1 turns, each with the piece that came last, and the last piece behind them. */
static int gather_one_way(struct gs_rewriter *r, const struct match *m, int piece, int other, int own)
{
  const struct gs_step *e = &r->from->steps[m->einsum];
  struct loop l;
  int inits[3] = { own, piece, zeros(r, &e->type, e->node) }, nexts[3], last[3] = { own, piece, inits[2] };
  open_loop(r, &l, inits, 3, m->n - 1, e->node);
  if (r->failed)
    return 0;
  nexts[1] = travel(r, m, l.values[1], m->dim, -1, e->node);
  nexts[2] = take_in(r, m, l.values[2], l.values[1], other, l.values[0]);
  nexts[0] = arithmetic(r, GS_OP_ADD, l.values[0], constant(r, 1, e->node), e->node);
  close_loop(r, &l, nexts, last, e->node);
  return take_in(r, m, last[2], last[1], other, last[0]);
}

/* Both directions: the own piece, n/2 - 2 turns with one from each side, two more, and the one opposite. */
static int gather_both_ways(struct gs_rewriter *r, const struct match *m, int piece, int other, int own)
{
  const struct gs_step *e = &r->from->steps[m->einsum];
  const struct gs_node *node = e->node;
  int sum = take_in(r, m, zeros(r, &e->type, node), piece, other, own);
  int right = travel(r, m, piece, m->dim, -1, node), left = travel(r, m, piece, m->dim, 1, node);
  int step = constant(r, 1, node), count = constant(r, m->n, node);
  if (m->n > 4) {
    struct loop l;
    int inits[4] = { step, right, left, sum }, nexts[4], last[4];
    open_loop(r, &l, inits, 4, m->n / 2 - 2, node);
    if (r->failed)
      return 0;
    nexts[1] = travel(r, m, l.values[1], m->dim, -1, node);
    nexts[2] = travel(r, m, l.values[2], m->dim, 1, node);
    sum = take_in(r, m, l.values[3], l.values[1], other, arithmetic(r, GS_OP_ADD, own, l.values[0], node));
    int before = arithmetic(r, GS_OP_SUB, arithmetic(r, GS_OP_ADD, own, count, node), l.values[0], node);
    nexts[3] = take_in(r, m, sum, l.values[2], other, before);
    nexts[0] = arithmetic(r, GS_OP_ADD, l.values[0], constant(r, 1, node), node);
    close_loop(r, &l, nexts, last, node);
    step = last[0];
    right = last[1];
    left = last[2];
    sum = last[3];
  }
  int opposite = travel(r, m, right, m->dim, -1, node);
  sum = take_in(r, m, sum, right, other, arithmetic(r, GS_OP_ADD, own, step, node));
  sum = take_in(r, m, sum, left, other,
                arithmetic(r, GS_OP_SUB, arithmetic(r, GS_OP_ADD, own, count, node), step, node));
  return take_in(r, m, sum, opposite, other,
                 arithmetic(r, GS_OP_ADD, own, constant(r, m->n / 2, node), node));
}

/* Sums travel to the right; the first is for the device behind all others. */
static int scatter_looped(struct gs_rewriter *r, const struct match *m, int whole, int other, int own)
{
  const struct gs_step *e = &r->from->steps[m->einsum];
  const struct gs_node *node = e->node;
  struct loop l;
  int number = arithmetic(r, GS_OP_ADD, own, constant(r, m->n - 1, node), node);
  int at = position(r, m, number, node);
  int sum = product(r, m, part_of(r, whole, m->dim, m->part, at, node), other, at);
  int inits[2] = { arithmetic(r, GS_OP_SUB, number, constant(r, 1, node), node), sum }, nexts[2], last[2];
  open_loop(r, &l, inits, 2, m->n - 1, node);
  if (r->failed)
    return 0;
  int moved = travel(r, m, l.values[1], m->out, 1, node);
  at = position(r, m, l.values[0], node);
  int made = product(r, m, part_of(r, whole, m->dim, m->part, at, node), other, at);
  struct gs_type type = r->steps[made].type;
  nexts[0] = arithmetic(r, GS_OP_SUB, l.values[0], constant(r, 1, node), node);
  nexts[1] = gs_rewriter_make(r, GS_OP_ADD, (int[]){ moved, made }, 2, NULL, &type, node);
  close_loop(r, &l, nexts, last, node);
  return last[1];
}

static int rewrite(struct gs_rewriter *r, const struct match *m)
{
  const struct gs_step *e = &r->from->steps[m->einsum], *c = &r->from->steps[m->collective];
  int own = own_part(r, c->attrs->device.axes, c->attrs->device.naxes, m->n, e->node);
  int other = own_value(r, r->map[e->args[1 - m->operand]]);
  if (m->pattern == SCATTER)
    return scatter_looped(r, m, own_value(r, r->map[e->args[m->operand]]), other, own);
  int piece = own_value(r, r->map[c->args[0]]);
  return m->n % 2 == 0 && m->n >= 4 ? gather_both_ways(r, m, piece, other, own)
                                    : gather_one_way(r, m, piece, other, own);
}

/* ---- The whole program ---- */

/* Write to MATCHES, by einsum or reduce-scatter at which the loop will stand, and to DROPPED; their number. */
static int find_matches(struct gs_rewriter *r, enum gs_looped_mode mode, struct match *matches, bool *dropped)
{
  const struct gs_program *p = r->from;
  int *uses = GS_NEW_ARRAY(r->arena, int, p->nsteps + 1), found = 0;
  if (uses == NULL) {
    r->failed = true;
    return 0;
  }
  for (int i = 0; i < p->nsteps; i++)
    for (int k = 0; k < p->steps[i].nargs; k++)
      uses[p->steps[i].args[k]]++;
  for (int i = 0; i < p->noutputs; i++)
    uses[p->outputs[i].step] += 2;
  for (int i = 0; i < p->nsteps; i++) {
    struct match m = { NOTHING };
    bool found_one = p->steps[i].op == GS_OP_EINSUM         ? match_gather(p, uses, i, &m)
                   : p->steps[i].op == GS_OP_REDUCE_SCATTER ? match_scatter(p, uses, i, &m) : false;
    if (!found_one || matches[m.einsum].pattern != NOTHING || (mode == GS_LOOPED_AUTO && !pays(p, &m)))
      continue;
    matches[i] = m;
    dropped[m.pattern == SCATTER ? m.einsum : m.collective] = true;
    found++;
  }
  return found;
}

struct gs_program *gs_program_loop_einsums(struct gs_arena *arena, struct gs_sharding_table *table,
                                           struct gs_program *program, enum gs_looped_mode mode)
{
  struct gs_rewriter r;
  struct match *matches = GS_NEW_ARRAY(arena, struct match, program->nsteps + 1);
  bool *dropped = GS_NEW_ARRAY(arena, bool, program->nsteps + 1);
  if (matches == NULL || dropped == NULL || !gs_rewriter_init(&r, arena, table, program))
    return NULL;
  if (mode == GS_LOOPED_NEVER || find_matches(&r, mode, matches, dropped) == 0)
    return r.failed ? NULL : program;
  for (int i = 0; i < program->nsteps && !r.failed; i++) {
    if (dropped[i])
      continue;
    if (matches[i].pattern == NOTHING) {
      gs_rewriter_copy(&r, i);
      continue;
    }
    gs_rewriter_enter(&r, i);
    int result = rewrite(&r, &matches[i]);
    if (!r.failed)
      gs_rewriter_replace(&r, i, result);
  }
  return gs_rewriter_finish(&r);
}
