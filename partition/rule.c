/* partition/rule.c - the factor rules named in lang/ops.def. */
#include <config.h>

#include "partition/rule_draft.h"

#include <string.h>

int gs_rule_add_factor(struct gs_rule_draft *d, enum gs_factor_kind kind, int64_t size, int level)
{
  struct gs_factor *f = &d->factors[d->nfactors];
  *f = (struct gs_factor){ .kind = kind, .size = size, .reduce = GS_OP_SUM };
  f->forward = f->backward = f->across = (unsigned char)level;
  return d->nfactors++;
}

void gs_rule_put(struct gs_dim_rule *dim, int factor)
{
  dim->factors[dim->count++] = (unsigned char)factor;
}

void gs_rule_leaf(struct gs_rule_draft *d)
{
  for (int i = 0; i < d->node->type.rank; i++)
    gs_rule_put(&d->result[i], gs_rule_add_factor(d, GS_FACTOR_PASS, d->node->type.dims[i], 0));
}

void gs_rule_iota(struct gs_rule_draft *d)
{
  gs_rule_leaf(d);
}

void gs_rule_elementwise(struct gs_rule_draft *d)
{
  gs_rule_leaf(d);
  memcpy(d->arg[0], d->result, sizeof d->result);
  d->same_args = true;
}

void gs_rule_transpose(struct gs_rule_draft *d)
{
  gs_rule_leaf(d);
  for (int i = 0; i < d->node->type.rank; i++)
    d->arg[0][d->node->attrs->transpose.dims[i]] = d->result[i];
}

void gs_rule_broadcast(struct gs_rule_draft *d)
{
  const struct gs_type *from = &d->node->args[0]->type;
  gs_rule_leaf(d);
  for (int f = 0; f < d->nfactors; f++) {
    d->factors[f].forward = 3;
    d->factors[f].backward = 2;
  }
  for (int i = 0; i < from->rank; i++) {
    int to = d->node->attrs->broadcast.dims[i];
    if (from->dims[i] == d->node->type.dims[to])
      d->arg[0][i] = d->result[to];
  }
}

void gs_rule_reduce(struct gs_rule_draft *d)
{
  const struct gs_node *node = d->node;
  const struct gs_type *from = &node->args[0]->type;
  bool index = node->op == GS_OP_ARGMAX || node->op == GS_OP_ARGMIN;
  int to = 0;
  for (int i = 0; i < from->rank; i++) {
    bool reduced = node->attrs->reduce.dims >> i & 1;
    int f = gs_rule_add_factor(d, !reduced ? GS_FACTOR_PASS : index ? GS_FACTOR_SPECIAL : GS_FACTOR_REDUCE,
                       from->dims[i], 1);
    if (reduced)
      d->factors[f].reduce = node->op;
    gs_rule_put(&d->arg[0][i], f);
    if (!reduced)
      gs_rule_put(&d->result[to], f);
    if (!reduced || node->attrs->reduce.keep)
      to++;
  }
}

void gs_rule_einsum(struct gs_rule_draft *d)
{
  const struct gs_node *node = d->node;
  for (int l = 0; l < node->attrs->einsum.nlabels; l++) {
    int f = gs_rule_add_factor(d, GS_FACTOR_REDUCE, 1, 1);
    d->factors[f].across = 2;
  }
  for (int a = 0; a < 2; a++)
    for (int i = 0; i < node->args[a]->type.rank; i++) {
      int f = node->attrs->einsum.label[a][i];
      d->factors[f].size = node->args[a]->type.dims[i];
      gs_rule_put(&d->arg[a][i], f);
    }
  for (int i = 0; i < node->type.rank; i++) {
    int f = node->attrs->einsum.out[i];
    d->factors[f].kind = GS_FACTOR_PASS;
    d->factors[f].across = 1;
    gs_rule_put(&d->result[i], f);
  }
}

static bool dim_stays(const struct gs_node *node, int dim)
{
  int64_t from = node->args[0]->type.dims[dim], to = node->type.dims[dim];
  const union gs_attrs *a = node->attrs;
  switch (node->op) {
  case GS_OP_REVERSE: return !(a->reverse.dims >> dim & 1) || from <= 1;
  case GS_OP_PAD:
    return a->pad.low[dim] == 0 && from == to && (a->pad.interior[dim] == 0 || from <= 1);
  case GS_OP_CONCAT: return dim != a->concat.dim || node->nargs == 1;
  case GS_OP_SLICE: return from == to;
  case GS_OP_ROLL: return dim != a->roll.dim || from <= 1 || a->roll.shift % from == 0;
  case GS_OP_ASSEMBLE: return dim != a->device.dim;
  default: return false;
  }
}

void gs_rule_window(struct gs_rule_draft *d)
{
  for (int i = 0; i < d->node->type.rank; i++) {
    bool stays = dim_stays(d->node, i);
    gs_rule_put(&d->result[i], gs_rule_add_factor(d, stays ? GS_FACTOR_PASS : GS_FACTOR_WINDOW,
                                  d->node->type.dims[i], stays ? 0 : 2));
  }
  memcpy(d->arg[0], d->result, sizeof d->result);
  d->same_args = true;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Split operand dims [from, from_end) and result dims [to, to_end), of equal products, into common
 * factors from the major side; when the two get out of step the rest has none. */
static void split_group(struct gs_rule_draft *d, struct gs_flat_group g)
{
  const int64_t *in = d->node->args[0]->type.dims, *out = d->node->type.dims;
  int i = g.from, j = g.to;
  int64_t left = i < g.from_end ? in[i] : 1, right = j < g.to_end ? out[j] : 1;
  while (i < g.from_end && j < g.to_end) {
    int64_t size = common_divisor(left, right);
    if (size == 1 && left != 1 && right != 1) {
      gs_rule_put(&d->arg[0][i], gs_rule_add_factor(d, GS_FACTOR_OPAQUE, left, 0));
      gs_rule_put(&d->result[j], gs_rule_add_factor(d, GS_FACTOR_OPAQUE, right, 0));
      break;
    }
    if (size > 1) {
      int f = gs_rule_add_factor(d, GS_FACTOR_PASS, size, 0);
      gs_rule_put(&d->arg[0][i], f);
      gs_rule_put(&d->result[j], f);
    }
    left /= size;
    right /= size;
    if (left == 1 && ++i < g.from_end)
      left = in[i];
    if (right == 1 && ++j < g.to_end)
      right = out[j];
  }
  if (g.from_end - g.from > 1 || g.to_end - g.to > 1)
    d->groups[d->ngroups++] = g;
}

void gs_rule_reshape(struct gs_rule_draft *d)
{
  const struct gs_type *in = &d->node->args[0]->type, *out = &d->node->type;
  int i = 0, j = 0;
  if (gs_type_elements(out) == 0)
    return;
  while (i < in->rank || j < out->rank) {
    struct gs_flat_group g = { i, i, j, j };
    int64_t left = 1, right = 1;
    do {
      if ((left <= right && i < in->rank) || j >= out->rank)
        left *= in->dims[i++];
      else
        right *= out->dims[j++];
    } while (left != right);
    g.from_end = i;
    g.to_end = j;
    if (left > 1)
      split_group(d, g);
  }
}

void gs_rule_device(struct gs_rule_draft *d)
{
  (void)d;
}

static const struct gs_dim_rule *copy_dims(struct gs_rule_draft *d, const struct gs_dim_rule *dims, int rank)
{
  return gs_arena_copy(d->arena, dims, (size_t)rank * sizeof *dims);
}

static const struct gs_rule *finish(struct gs_rule_draft *d)
{
  const struct gs_node *node = d->node;
  struct gs_rule *rule = GS_NEW(d->arena, struct gs_rule);
  struct gs_value_rule *args = GS_NEW_ARRAY(d->arena, struct gs_value_rule, node->nargs);
  if (rule == NULL || (args == NULL && node->nargs > 0))
    return NULL;
  rule->nfactors = d->nfactors;
  rule->factors = gs_arena_copy(d->arena, d->factors, (size_t)d->nfactors * sizeof *d->factors);
  for (int f = 0; f < d->nfactors; f++)
    rule->levels |= 1u << d->factors[f].forward | 1u << d->factors[f].backward
                    | 1u << d->factors[f].across;
  rule->nargs = node->nargs;
  rule->joined = d->joined;
  rule->args = args;
  rule->result = (struct gs_value_rule){ node->type.rank,
                                         copy_dims(d, d->result, node->type.rank) };
  const struct gs_dim_rule *shared = d->same_args ? rule->result.dims : NULL;
  for (int a = 0; a < node->nargs; a++) {
    int rank = node->args[a]->type.rank;
    args[a].rank = rank;
    if (rank > 0)
      args[a].dims = shared != NULL ? shared : copy_dims(d, d->arg[a < 3 ? a : 0], rank);
  }
  rule->ngroups = d->ngroups;
  rule->groups = gs_arena_copy(d->arena, d->groups, (size_t)d->ngroups * sizeof *d->groups);
  return rule;
}

static gs_rule_function *const rule_table[] = {
#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) \
  [GS_OP_##id] = gs_rule_##rule,
#include "lang/ops.def"
#undef GS_OP
};

const struct gs_rule *gs_rule_of(struct gs_arena *arena, const struct gs_node *node)
{
  struct gs_rule_draft d;
  memset(&d, 0, offsetof(struct gs_rule_draft, arg) + sizeof d.arg);
  d.same_args = false;
  d.joined = -1;
  d.arena = arena;
  d.node = node;
  rule_table[node->op](&d);
  return finish(&d);
}

void gs_rule_factor_axes(const struct gs_rule *rule, const struct gs_dim_rule *dim,
                         const struct gs_dim_sharding *sharding, int k, struct gs_axis_list *axes)
{
  int at = 0;
  int64_t offset = 1, left = 1;
  axes->count = 0;
  if (dim->count == 1 || dim->either) {
    gs_axis_list_set(axes, sharding->axes, sharding->naxes);
    return;
  }
  for (int i = 0; i <= k && left == 1; i++) {
    axes->count = 0;
    left = gs_axes_take(sharding->axes, sharding->naxes, &at, &offset,
                        rule->factors[dim->factors[i]].size, axes);
    if (i < k && left != 1)
      axes->count = 0;
  }
}

static int pieces_of_concat(const struct gs_node *node, int dim, struct gs_exchange_piece *pieces)
{
  int64_t at = 0;
  int n = 0;
  for (int a = 0; a < node->nargs; a++) {
    int64_t size = node->args[a]->type.dims[dim];
    if (size > 0)
      pieces[n++] = (struct gs_exchange_piece){ a, at, size, 0, 1, 1 };
    at += size;
  }
  return n;
}

static int pieces_of_roll(const struct gs_node *node, int dim, struct gs_exchange_piece *pieces)
{
  int64_t size = node->type.dims[dim];
  int64_t shift = (node->attrs->roll.shift % size + size) % size;
  pieces[0] = (struct gs_exchange_piece){ 0, shift, size - shift, 0, 1, 1 };
  pieces[1] = (struct gs_exchange_piece){ 0, 0, shift, size - shift, 1, 1 };
  return shift > 0 ? 2 : 1;
}

/* Operand element e stands at low + e*(interior+1); what falls outside the result is cut. */
static int pieces_of_pad(const struct gs_node *node, int dim, struct gs_exchange_piece *pieces)
{
  int64_t from = node->args[0]->type.dims[dim], to = node->type.dims[dim];
  int64_t low = node->attrs->pad.low[dim], gap = node->attrs->pad.interior[dim] + 1;
  int64_t first = low < 0 ? (-low + gap - 1) / gap : 0;      /* the first element still inside */
  int64_t last = to - 1 - low < 0 ? -1 : (to - 1 - low) / gap;
  if (last > from - 1)
    last = from - 1;
  if (first > last)
    return 0;
  pieces[0] = (struct gs_exchange_piece){ 0, low + first * gap, (last - first) * gap + 1, first, 1,
                                          gap };
  return 1;
}

int gs_rule_window_dim(const struct gs_node *node)
{
  int found = -1;
  if (rule_table[node->op] != gs_rule_window)
    return -1;
  for (int i = 0; i < node->type.rank; i++)
    if (!dim_stays(node, i)) {
      if (found >= 0)
        return -1;
      found = i;
    }
  return found;
}

int gs_rule_piece_room(const struct gs_node *node)
{
  return node->op == GS_OP_ASSEMBLE ? node->attrs->device.npieces : node->nargs + 2;
}

int gs_rule_pieces(const struct gs_node *node, int dim, struct gs_exchange_piece *pieces)
{
  int64_t from = node->args[0]->type.dims[dim], to = node->type.dims[dim];
  if (to == 0)
    return 0;
  switch (node->op) {
  case GS_OP_CONCAT: return pieces_of_concat(node, dim, pieces);
  case GS_OP_ROLL: return pieces_of_roll(node, dim, pieces);
  case GS_OP_PAD: return pieces_of_pad(node, dim, pieces);
  case GS_OP_ASSEMBLE:
    for (int k = 0; k < node->attrs->device.npieces; k++)
      pieces[k] = node->attrs->device.pieces[k];
    return node->attrs->device.npieces;
  case GS_OP_REVERSE:
    pieces[0] = (struct gs_exchange_piece){ 0, 0, to, from - 1, -1, 1 };
    return 1;
  case GS_OP_SLICE:
    pieces[0] = (struct gs_exchange_piece){ 0, 0, to, node->attrs->slice.start[dim],
                                            node->attrs->slice.stride[dim], 1 };
    return 1;
  default: return 0;
  }
}
