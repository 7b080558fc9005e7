/* tests/differential/generate.c - a random program: leaves, then operator after operator over what
 * is there, annotations in between, some results as outputs. */
#include <config.h>

#include "tests/differential/generate.h"

#include <math.h>
#include <string.h>

int generate_add(struct generator *g, const struct recipe_node *node)
{
  struct recipe *r = g->recipe;
  if (r->nnodes == RECIPE_NODES)
    return -1;
  int index = r->nnodes;
  r->nodes[index] = *node;
  if (!recipe_type_node(r, index) || !bounds_node(r, index, g->bounds))
    return -1;
  return r->nnodes++;
}

int generate_pick(struct generator *g, enum gs_op op, int argument)
{
  struct dice *d = &g->dice;
  int fitting[RECIPE_NODES], count = 0;
  for (int i = 0; i < g->recipe->nnodes; i++)
    if (recipe_accepts(op, argument, g->recipe->nodes[i].type.dtype))
      fitting[count++] = i;
  if (count > 0 && !dice_percent(d, 8)) {
    int a = dice_below(d, count), b = dice_below(d, count), c = dice_below(d, count);
    int later = a > b ? a : b;         /* rather a late one: programs get deep */
    return fitting[dice_percent(d, 50) || later > c ? later : c];
  }
  struct gs_type type = { .dtype = GS_DTYPE_COUNT, .rank = dice_below(d, 4) };
  for (int i = 0; i < type.rank; i++)
    type.dims[i] = generate_size(d);
  do
    type.dtype = generate_dtype(d);
  while (!recipe_accepts(op, argument, type.dtype));
  return generate_leaf(g, &type);
}

int generate_fit(struct generator *g, int x, enum gs_op op, int argument)
{
  double low, high;
  bool exact;
  if (x < 0 || !bounds_domain(op, argument, &low, &high, &exact))
    return x;
  enum gs_dtype dtype = g->recipe->nodes[x].type.dtype;
  if (gs_dtype_is_integer(dtype) && op == GS_OP_PROD) {
    low = -1;
    high = 1;
  }
  if (gs_dtype_kind(dtype) == GS_KIND_UNSIGNED && low < 0)
    low = 0;
  if (gs_dtype_is_integer(dtype)) {
    low = ceil(low);
    high = floor(fmin(high, 100));
  }
  high = fmin(high, 900);
  low = fmax(low, -900);
  const struct bounds *b = &g->bounds[x];
  if (b->low >= low && b->high <= high)
    return x;
  bool root = op == GS_OP_SQRT && b->error == 0 && dice_percent(&g->dice, 15);
  if (root || gs_dtype_kind(dtype) == GS_KIND_COMPLEX)
    return x;
  struct recipe_node n = { .op = GS_OP_CLAMP, .nargs = 3, .args = { 0, x, 0 } };
  n.args[0] = generate_scalar(g, dtype, low);
  n.args[2] = generate_scalar(g, dtype, high);
  return n.args[0] < 0 || n.args[2] < 0 ? -1 : generate_add(g, &n);
}

/* A second operand for X: of its shape, or one that broadcasts with it. */
static int peer(struct generator *g, int x, enum gs_dtype dtype)
{
  struct dice *d = &g->dice;
  struct gs_type type = g->recipe->nodes[x].type, shape;
  type.dtype = dtype;
  int how = dice_below(d, 100);
  if (how < 45) {
    int fitting[RECIPE_NODES], count = 0;
    for (int i = 0; i < g->recipe->nnodes; i++)
      if (g->recipe->nodes[i].type.dtype == dtype &&
          recipe_broadcast(&g->recipe->nodes[i].type, &type, &shape))
        fitting[count++] = i;
    if (count > 0)
      return fitting[dice_below(d, count)];
  }
  if (how < 58)
    type.rank = 0;
  else if (how < 72)
    for (int i = 0; i < type.rank; i++)
      type.dims[i] = dice_percent(d, 50) ? 1 : type.dims[i];
  else if (how < 80 && type.rank > 0) {
    type.rank--;
    memmove(type.dims, type.dims + 1, (size_t)type.rank * sizeof type.dims[0]);
  }
  for (int i = type.rank; i < GS_MAX_RANK; i++)
    type.dims[i] = 0;
  int made = generate_leaf(g, &type);
  return made >= 0 && dice_percent(d, 35) ? generate_shard(g, made) : made;
}

static int clamp(struct generator *g)
{
  int x = generate_pick(g, GS_OP_CLAMP, 1);
  if (x < 0)
    return -1;
  struct recipe_node n = { .op = GS_OP_CLAMP, .nargs = 3, .args = { 0, x, 0 } };
  enum gs_dtype dtype = g->recipe->nodes[x].type.dtype;
  double low = g->bounds[x].low, span = g->bounds[x].high - low;
  n.args[0] = generate_scalar(g, dtype, floor((low + span / 4) * 4) / 4);
  n.args[2] = generate_scalar(g, dtype, ceil((low + span * 3 / 4) * 4) / 4);
  return n.args[0] < 0 || n.args[2] < 0 ? -1 : generate_add(g, &n);
}

static int convert(struct generator *g)
{
  int x = generate_pick(g, GS_OP_CONVERT, 0);
  struct recipe_node n = { .op = GS_OP_CONVERT, .nargs = 1, .args = { x } };
  n.type.dtype = generate_dtype(&g->dice);
  bool complex = gs_dtype_kind(n.type.dtype) == GS_KIND_COMPLEX;
  return x < 0 || complex ? -1 : generate_add(g, &n);
}

static int elementwise(struct generator *g, enum gs_op op)
{
  struct recipe_node n = { .op = op, .nargs = gs_op_info(op)->nargs };
  if (op == GS_OP_CLAMP)
    return clamp(g);
  if (op == GS_OP_CONVERT)
    return convert(g);
  int first = op == GS_OP_WHERE ? 1 : 0;
  n.args[first] = generate_fit(g, generate_pick(g, op, first), op, first);
  if (n.args[first] < 0)
    return -1;
  enum gs_dtype dtype = g->recipe->nodes[n.args[first]].type.dtype;
  for (int i = 0; i < n.nargs; i++) {
    if (i == first)
      continue;
    bool predicate = op == GS_OP_WHERE && i == 0;
    n.args[i] = generate_fit(g, peer(g, n.args[first], predicate ? GS_DTYPE_PRED : dtype), op, i);
    if (n.args[i] < 0)
      return -1;
  }
  if (first == 0 && n.nargs == 2 && dice_percent(&g->dice, 15) &&
      !bounds_domain(op, 1, &(double){ 0 }, &(double){ 0 }, &(bool){ false })) {
    int kept = n.args[0];
    n.args[0] = n.args[1];
    n.args[1] = kept;
  }
  return generate_add(g, &n);
}

/* Any visible operator: first the group, so that the many elementwise ones leave room. */
static enum gs_op choose_op(struct dice *d)
{
  static const int weights[GS_GROUP_COUNT] = {
    [GS_GROUP_LEAF] = 4, [GS_GROUP_ELEMENTWISE] = 36, [GS_GROUP_SHARDING] = 10,
    [GS_GROUP_SHAPE] = 26, [GS_GROUP_REDUCTION] = 18, [GS_GROUP_CONTRACTION] = 14
  };
  enum gs_op_group group = (enum gs_op_group)dice_weighted(d, weights, GS_GROUP_COUNT);
  for (;;) {
    enum gs_op op = (enum gs_op)dice_below(d, GS_OP_COUNT);
    if (gs_op_info(op)->group == group && recipe_is_visible(op))
      return op;
  }
}

static int grow(struct generator *g)
{
  enum gs_op op = choose_op(&g->dice);
  switch (gs_op_info(op)->group) {
  case GS_GROUP_ELEMENTWISE:
    return elementwise(g, op);
  case GS_GROUP_SHAPE:
    return generate_shape(g, op);
  case GS_GROUP_REDUCTION:
    return generate_reduce(g, op);
  case GS_GROUP_CONTRACTION:
    return generate_einsum(g);
  case GS_GROUP_SHARDING:
    return generate_shard(g, generate_pick(g, op, 0));
  default:
    break;
  }
  struct gs_type type = { .dtype = generate_dtype(&g->dice), .rank = dice_below(&g->dice, 5) };
  for (int i = 0; i < type.rank; i++)
    type.dims[i] = generate_size(&g->dice);
  return generate_leaf(g, &type);
}

static void choose_outputs(struct generator *g, int last)
{
  struct recipe *r = g->recipe;
  r->outputs[r->noutputs++] = last;
  while (r->noutputs < RECIPE_OUTPUTS && dice_percent(&g->dice, 45)) {
    int other = dice_below(&g->dice, r->nnodes);
    bool known = recipe_is_leaf(r->nodes[other].op) && dice_percent(&g->dice, 90);
    for (int i = 0; i < r->noutputs; i++)
      known = known || r->outputs[i] == other;
    if (!known)
      r->outputs[r->noutputs++] = other;
  }
}

void generate_recipe(struct recipe *r, uint64_t seed)
{
  memset(r, 0, sizeof *r);
  r->seed = seed;
  struct generator g = { .recipe = r, .dice = { seed * UINT64_C(0x5851f42d4c957f2d) + 1 } };
  generate_meshes(&g);
  int last = -1, operators = 1 + dice_below(&g.dice, dice_percent(&g.dice, 70) ? 6 : 18);
  for (int attempt = 0; attempt < 400 && (operators > 0 || last < 0); attempt++) {
    int before = r->nnodes, made = grow(&g);
    if (made < 0) {                    /* with the operands made for it */
      r->nnodes = before;
      continue;
    }
    last = made;
    operators -= recipe_is_leaf(r->nodes[made].op) ? 0 : 1;
    if (dice_percent(&g.dice, 30)) {
      int sharded = generate_shard(&g, made);
      last = sharded >= 0 ? sharded : last;
    }
    if (r->nnodes > RECIPE_NODES - 8)
      break;
  }
  choose_outputs(&g, last);
  recipe_collect(r);
}
