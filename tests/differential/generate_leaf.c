/* tests/differential/generate_leaf.c - meshes, annotations, and the tensors programs start from. */
#include <config.h>

#include "tests/differential/generate.h"

#include <math.h>
#include <string.h>

int64_t generate_size(struct dice *d)
{
  static const int sizes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 24 };
  static const int weights[] = { 3, 12, 14, 14, 16, 8, 12, 7, 14, 6, 10, 4, 8, 4 };
  return sizes[dice_weighted(d, weights, (int)(sizeof weights / sizeof weights[0]))];
}

enum gs_dtype generate_dtype(struct dice *d)
{
  static const int weights[GS_DTYPE_COUNT] = {
    [GS_DTYPE_F64] = 6, [GS_DTYPE_F32] = 46, [GS_DTYPE_BF16] = 6, [GS_DTYPE_F16] = 4,
    [GS_DTYPE_S64] = 3, [GS_DTYPE_S32] = 14, [GS_DTYPE_S16] = 2, [GS_DTYPE_S8] = 3,
    [GS_DTYPE_U64] = 2, [GS_DTYPE_U32] = 3, [GS_DTYPE_U16] = 2, [GS_DTYPE_U8] = 3,
    [GS_DTYPE_PRED] = 6, [GS_DTYPE_C64] = 3, [GS_DTYPE_C128] = 1
  };
  return (enum gs_dtype)dice_weighted(d, weights, GS_DTYPE_COUNT);
}

/* What a node of DTYPE may be given by hand. */
static double leaf_value(struct dice *d, enum gs_dtype dtype)
{
  switch (gs_dtype_kind(dtype)) {
  case GS_KIND_PRED:
    return dice_below(d, 2);
  case GS_KIND_UNSIGNED:
    return dice_below(d, 12);
  case GS_KIND_SIGNED:
    return (double)dice_between(d, -6, 9);
  case GS_KIND_FLOAT:
  case GS_KIND_COMPLEX:
    break;
  }
  return (double)dice_between(d, -8, 8) / (dice_percent(d, 50) ? 1 : 4);
}

static void choose_fill(struct dice *d, const struct gs_type *type, struct gs_fill_spec *fill)
{
  static const int weights[] = {
    [GS_FILL_PATTERN] = 60, [GS_FILL_ZEROS] = 2, [GS_FILL_ONES] = 4, [GS_FILL_FULL] = 6,
    [GS_FILL_IOTA] = 10, [GS_FILL_NORMAL] = 8, [GS_FILL_UNIFORM] = 8
  };
  int kind = dice_weighted(d, weights, (int)(sizeof weights / sizeof weights[0]));
  bool floating = gs_dtype_kind(type->dtype) == GS_KIND_FLOAT;
  bool random = kind == GS_FILL_NORMAL || kind == GS_FILL_UNIFORM;
  if ((random && !floating) ||
      (kind == GS_FILL_IOTA && (type->rank == 0 || type->dtype == GS_DTYPE_PRED)))
    kind = GS_FILL_PATTERN;
  fill->kind = (enum gs_fill)kind;
  fill->std = 1;
  if (fill->kind == GS_FILL_FULL)
    fill->argument = leaf_value(d, type->dtype);
  else if (fill->kind == GS_FILL_IOTA)
    fill->argument = dice_below(d, type->rank);
  else if (fill->kind != GS_FILL_ZEROS && fill->kind != GS_FILL_ONES)
    fill->argument = dice_below(d, 20);
}

int generate_leaf(struct generator *g, const struct gs_type *type)
{
  struct recipe_node n = { .op = GS_OP_INPUT, .type = *type };
  int kind = dice_below(&g->dice, 20);
  bool counts = type->rank > 0 && gs_dtype_kind(type->dtype) != GS_KIND_PRED &&
                gs_dtype_kind(type->dtype) != GS_KIND_COMPLEX;
  if (kind < 3 && gs_type_elements(type) <= RECIPE_VALUES) {
    n.op = GS_OP_CONSTANT;
    for (int i = 0; i < RECIPE_VALUES; i++)
      n.values[i] = leaf_value(&g->dice, type->dtype);
  } else if (kind < 5 && counts) {
    n.op = GS_OP_IOTA;
    n.attrs.iota.dim = dice_below(&g->dice, type->rank);
  } else {
    n.op = kind < 9 ? GS_OP_PARAM : GS_OP_INPUT;
    choose_fill(&g->dice, type, &n.attrs.input.fill);
  }
  return generate_add(g, &n);
}

int generate_scalar(struct generator *g, enum gs_dtype dtype, double value)
{
  struct recipe_node n = { .op = GS_OP_CONSTANT, .type = gs_type_scalar(dtype) };
  n.values[0] = gs_dtype_kind(dtype) == GS_KIND_FLOAT ? value : trunc(value);
  return generate_add(g, &n);
}

/* Join neighbouring axes of the first mesh at random: the devices seen with other axes. */
static void regroup(struct dice *d, const struct recipe_mesh *from, struct recipe_mesh *to)
{
  *to = *from;
  to->naxes = 0;
  int64_t size = 1;
  for (int i = 0; i < from->naxes; i++) {
    size *= from->sizes[i];
    if (i + 1 == from->naxes || dice_percent(d, 40)) {
      to->sizes[to->naxes++] = size;
      size = 1;
    }
  }
  to->anonymous = to->ordered || dice_percent(d, 20);
}

/* Split composite axes of the first mesh: 4 into 2, 2; 6 into 2, 3 or 3, 2. */
static void split_axes(struct dice *d, const struct recipe_mesh *from, struct recipe_mesh *to)
{
  *to = *from;
  to->naxes = 0;
  for (int i = 0; i < from->naxes; i++) {
    int64_t size = from->sizes[i], part = size;
    if ((size == 4 || size == 6) && to->naxes + from->naxes - i < RECIPE_AXES)
      part = size == 4 || dice_percent(d, 50) ? 2 : 3;
    to->sizes[to->naxes++] = part;
    if (part != size)
      to->sizes[to->naxes++] = size / part;
  }
  to->anonymous = to->ordered || dice_percent(d, 20);
}

void generate_meshes(struct generator *g)
{
  static const int count_weights[] = { 20, 35, 30, 15 };
  static const int size_weights[] = { 4, 40, 14, 22, 6, 9, 5 };
  struct dice *d = &g->dice;
  struct recipe *r = g->recipe;
  struct recipe_mesh *m = &r->meshes[0];
  int wanted = 1 + dice_weighted(d, count_weights, 4);
  for (int i = 0; i < wanted; i++) {
    int64_t size = 1 + dice_weighted(d, size_weights, 7);
    if (recipe_mesh_devices(m) * size <= RECIPE_DEVICES)
      m->sizes[m->naxes++] = size;
  }
  m->anonymous = dice_percent(d, 20);
  if (m->naxes >= 2 && dice_percent(d, 12)) {
    int shuffled[RECIPE_DEVICES], devices = (int)recipe_mesh_devices(m);
    dice_shuffle(d, shuffled, devices);
    for (int i = 0; i < devices; i++)
      m->order[i] = shuffled[i];
    m->ordered = m->anonymous = true;
  }
  r->nmeshes = 1;
  while (!m->ordered && r->nmeshes < RECIPE_MESHES && dice_percent(d, 15)) {
    if (r->nmeshes == 1)
      regroup(d, m, &r->meshes[r->nmeshes]);
    else
      split_axes(d, m, &r->meshes[r->nmeshes]);
    r->nmeshes++;
  }
}

int generate_shard(struct generator *g, int x)
{
  struct dice *d = &g->dice;
  const struct recipe *r = g->recipe;
  struct recipe_node n = { .op = GS_OP_SHARD, .nargs = 1, .args = { x } };
  int rank = r->nodes[x].type.rank, axes[RECIPE_AXES];
  n.mesh = dice_percent(d, 70) ? 0 : dice_below(d, r->nmeshes);
  int naxes = r->meshes[n.mesh].naxes, used = dice_percent(d, 60) ? 75 : 40;
  dice_shuffle(d, axes, naxes);
  for (int i = 0; i < naxes && rank > 0; i++) {
    struct recipe_dim *dim = &n.dims[dice_below(d, rank)];
    if (dice_percent(d, used))
      dim->axes[dim->naxes++] = axes[i];
  }
  for (int i = 0; i < rank; i++)
    n.dims[i].open = dice_percent(d, 18);
  return generate_add(g, &n);
}
