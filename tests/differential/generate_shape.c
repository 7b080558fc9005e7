/* tests/differential/generate_shape.c - random shape operators, reductions and contractions. */
#include <config.h>

#include "tests/differential/generate.h"

#include <string.h>

static void choose_reshape(struct dice *d, const struct gs_type *x, struct recipe_node *n)
{
  int64_t factors[32];
  int nfactors = 0;
  n->type.rank = 0;
  if (gs_type_elements(x) == 0) {      /* any dims, one of them zero */
    n->type.rank = 1 + dice_below(d, 3);
    for (int i = 0; i < n->type.rank; i++)
      n->type.dims[i] = generate_size(d);
    n->type.dims[dice_below(d, n->type.rank)] = 0;
    return;
  }
  for (int i = 0; i < x->rank; i++) {
    int64_t rest = x->dims[i];
    for (int64_t p = 2; rest > 1 && nfactors < 31; p++)
      for (; rest % p == 0 && nfactors < 31; rest /= p)
        factors[nfactors++] = p;
  }
  if (dice_percent(d, 25)) {           /* merges that do not follow the old dims */
    int order[32];
    int64_t kept[32];
    memcpy(kept, factors, sizeof kept);
    dice_shuffle(d, order, nfactors);
    for (int i = 0; i < nfactors; i++)
      factors[i] = kept[order[i]];
  }
  int64_t size = 1;
  for (int i = 0; i <= nfactors; i++) {
    bool last = i == nfactors;
    if ((last && (size > 1 || dice_percent(d, 20))) || (!last && dice_percent(d, 35) && i > 0)) {
      if (n->type.rank < 5) {
        n->type.dims[n->type.rank++] = size;
        size = 1;
      }
    }
    size *= last ? 1 : factors[i];
  }
  if (size > 1) {
    if (n->type.rank == 0)
      n->type.dims[n->type.rank++] = 1;
    n->type.dims[n->type.rank - 1] *= size;
  }
}

static void choose_broadcast(struct dice *d, const struct gs_type *x, struct recipe_node *n)
{
  int added = dice_below(d, 3), rank = x->rank + added > 5 ? x->rank : x->rank + added;
  int from = 0;
  n->type.rank = rank;
  for (int i = 0; i < rank; i++) {
    bool must = rank - i == x->rank - from;
    if (from < x->rank && (must || dice_percent(d, 50))) {
      n->attrs.broadcast.dims[from] = i;
      n->type.dims[i] = x->dims[from] == 1 ? generate_size(d) : x->dims[from];
      from++;
    } else {
      n->type.dims[i] = generate_size(d);
    }
  }
}

static void choose_pad(struct dice *d, const struct gs_type *x, struct recipe_node *n)
{
  for (int i = 0; i < x->rank; i++) {
    if (dice_percent(d, 35))
      continue;
    n->attrs.pad.low[i] = dice_between(d, -3, 4);
    n->attrs.pad.high[i] = dice_between(d, -3, 4);
    n->attrs.pad.interior[i] = dice_percent(d, 30) ? dice_between(d, 1, 3) : 0;
  }
}

static void choose_slice(struct dice *d, const struct gs_type *x, struct recipe_node *n)
{
  n->type.rank = x->rank;
  for (int i = 0; i < x->rank; i++) {
    n->attrs.slice.stride[i] = 1;
    n->type.dims[i] = x->dims[i];
    if (dice_percent(d, 40))
      continue;
    int64_t start = dice_between(d, 0, x->dims[i]), end = dice_between(d, start, x->dims[i]);
    int64_t stride = dice_percent(d, 35) ? dice_between(d, 2, 4) : 1;
    if (start == end && dice_percent(d, 90) && x->dims[i] > 0) {
      start = 0;
      end = x->dims[i];
    }
    n->attrs.slice.start[i] = start;
    n->attrs.slice.stride[i] = stride;
    n->type.dims[i] = (end - start + stride - 1) / stride;
  }
}

static int add_concat(struct generator *g, struct recipe_node *n)
{
  struct dice *d = &g->dice;
  struct gs_type type = g->recipe->nodes[n->args[0]].type;
  n->attrs.concat.dim = dice_below(d, type.rank);
  int more = dice_below(d, 3);
  for (int i = 0; i < more; i++) {
    int other = dice_percent(d, 40) ? n->args[0] : -1;
    if (other < 0) {
      if (dice_percent(d, 60))
        type.dims[n->attrs.concat.dim] = generate_size(d);
      other = generate_leaf(g, &type);
    }
    if (other < 0)
      return -1;
    if (dice_percent(d, 40) && (other = generate_shard(g, other)) < 0)
      return -1;
    n->args[n->nargs++] = other;
  }
  int first = n->args[0], other = dice_below(d, n->nargs);
  n->args[0] = n->args[other];
  n->args[other] = first;
  return generate_add(g, n);
}

int generate_shape(struct generator *g, enum gs_op op)
{
  struct dice *d = &g->dice;
  int x = generate_pick(g, op, 0);
  if (x < 0)
    return -1;
  struct gs_type type = g->recipe->nodes[x].type;
  struct recipe_node n = { .op = op, .nargs = 1, .args = { x }, .type = { .dtype = type.dtype } };
  if (type.rank == 0 && (op == GS_OP_CONCAT || op == GS_OP_ROLL || op == GS_OP_REVERSE))
    return -1;
  switch (op) {
  case GS_OP_RESHAPE:
    choose_reshape(d, &type, &n);
    break;
  case GS_OP_TRANSPOSE:
    dice_shuffle(d, n.attrs.transpose.dims, type.rank);
    break;
  case GS_OP_BROADCAST:
    choose_broadcast(d, &type, &n);
    break;
  case GS_OP_REVERSE:
    n.attrs.reverse.dims = (uint32_t)dice_between(d, 1, (1 << type.rank) - 1);
    break;
  case GS_OP_PAD:
    choose_pad(d, &type, &n);
    n.args[n.nargs++] = generate_scalar(g, type.dtype, dice_percent(d, 60) ? 0 : dice_below(d, 4));
    if (type.dtype == GS_DTYPE_PRED && n.args[1] >= 0)
      g->recipe->nodes[n.args[1]].values[0] = g->recipe->nodes[n.args[1]].values[0] > 0;
    if (n.args[1] < 0)
      return -1;
    break;
  case GS_OP_CONCAT:
    return add_concat(g, &n);
  case GS_OP_SLICE:
    choose_slice(d, &type, &n);
    break;
  case GS_OP_ROLL:
    n.attrs.roll.dim = dice_below(d, type.rank);
    n.attrs.roll.shift = dice_between(d, -2 * type.dims[n.attrs.roll.dim] - 1,
                                      2 * type.dims[n.attrs.roll.dim] + 1);
    break;
  default:
    return -1;
  }
  return generate_add(g, &n);
}

int generate_reduce(struct generator *g, enum gs_op op)
{
  struct dice *d = &g->dice;
  int x = generate_fit(g, generate_pick(g, op, 0), op, 0);
  if (x < 0)
    return -1;
  int rank = g->recipe->nodes[x].type.rank;
  struct recipe_node n = { .op = op, .nargs = 1, .args = { x } };
  n.attrs.reduce.keep = dice_percent(d, 25);
  if (recipe_class(op) == CLASS_reduce_index) {
    if (rank == 0)
      return -1;
    n.attrs.reduce.dims = UINT32_C(1) << dice_below(d, rank);
    n.attrs.reduce.keep = false;
  } else if (rank > 0) {
    n.attrs.reduce.dims = (uint32_t)dice_between(d, 1, (1 << rank) - 1);
  }
  return generate_add(g, &n);
}

/* Labels of the dims of X from FIRST on into TEXT: those of a dim of the same size with some luck,
 * else new ones.  SIZES holds the sizes of the labels so far. */
static void choose_labels(struct dice *d, const struct gs_type *x, int first, int64_t *sizes,
                          int *nlabels, bool may_repeat, char *text)
{
  uint32_t used = 0;
  for (int i = first; i < x->rank; i++) {
    int label = -1;
    for (int j = 0; j < *nlabels; j++)
      if (sizes[j] == x->dims[i] && dice_percent(d, 65) &&
          ((used >> j & 1) == 0 || (may_repeat && dice_percent(d, 15))))
        label = j;
    if (label < 0) {
      label = (*nlabels)++;
      sizes[label] = x->dims[i];
    }
    used |= UINT32_C(1) << label;
    *text++ = (char)('a' + label);
  }
  *text = '\0';
}

/* A type made mostly of dims that have labels already. */
static struct gs_type related_type(struct dice *d, enum gs_dtype dtype, const int64_t *sizes,
                                   int nlabels)
{
  struct gs_type type = { .dtype = dtype, .rank = dice_below(d, 4) };
  for (int i = 0; i < type.rank; i++)
    type.dims[i] = nlabels > 0 && dice_percent(d, 70) ? sizes[dice_below(d, nlabels)]
                                                      : generate_size(d);
  return type;
}

static int related_operand(struct generator *g, enum gs_dtype dtype, const int64_t *sizes,
                           int nlabels)
{
  struct dice *d = &g->dice;
  if (dice_percent(d, 35)) {
    int other = generate_pick(g, GS_OP_EINSUM, 0);
    if (other >= 0 && g->recipe->nodes[other].type.dtype == dtype)
      return other;
  }
  struct gs_type type = related_type(d, dtype, sizes, nlabels);
  int made = generate_leaf(g, &type);
  return made >= 0 && dice_percent(d, 50) ? generate_shard(g, made) : made;
}

int generate_einsum(struct generator *g)
{
  struct dice *d = &g->dice;
  int64_t sizes[64] = { 0 };
  int nlabels = 0;
  char spec[128] = "", part[32];
  bool ellipsis = dice_percent(d, 12);
  struct recipe_node n = { .op = GS_OP_EINSUM, .nargs = 2 };
  if (dice_percent(d, 20))
    n.nargs = dice_percent(d, 50) ? 1 : 3;
  n.args[0] = generate_pick(g, GS_OP_EINSUM, 0);
  for (int i = 0; i < n.nargs; i++) {
    if (i > 0)
      n.args[i] = related_operand(g, g->recipe->nodes[n.args[0]].type.dtype, sizes, nlabels);
    if (n.args[i] < 0 || g->recipe->nodes[n.args[i]].type.rank > 5)
      return -1;
    const struct gs_type *type = &g->recipe->nodes[n.args[i]].type;
    int covered = i == 0 && type->rank > 0 && ellipsis ? 1 + dice_below(d, type->rank) : 0;
    choose_labels(d, type, covered, sizes, &nlabels, i == 0 || n.nargs != 2, part);
    strncat(spec, i > 0 ? "," : covered > 0 ? "..." : "", sizeof spec - strlen(spec) - 1);
    strncat(spec, part, sizeof spec - strlen(spec) - 1);
  }
  int order[64];
  size_t at = strlen(spec);
  dice_shuffle(d, order, nlabels);
  strncat(spec, spec[0] == '.' ? "->..." : "->", sizeof spec - at - 1);
  at = strlen(spec);
  for (int i = 0; i < nlabels; i++)
    if (dice_percent(d, 55))
      spec[at++] = (char)('a' + order[i]);
  spec[at] = '\0';
  if (at >= RECIPE_SPEC || nlabels > 20)
    return -1;
  memcpy(n.spec, spec, at + 1);
  return generate_add(g, &n);
}
