/* tests/differential/source.c - a recipe as a program of the language, to be run by hand. */
#include <config.h>

#include "tests/differential/recipe.h"

static void print_mesh(struct gs_text *t, const struct recipe *r, int index)
{
  const struct recipe_mesh *m = &r->meshes[index];
  if (index > 0)
    gs_text_printf(t, "m%d = ", index);
  gs_text_add(t, "mesh(");
  if (m->ordered) {
    int64_t inner[RECIPE_AXES], size = 1, devices = recipe_mesh_devices(m);
    for (int i = m->naxes - 1; i >= 0; i--)
      inner[i] = size *= m->sizes[i];
    for (int64_t p = 0; p < devices; p++) {
      gs_text_add(t, p > 0 ? ", " : "");
      for (int i = 0; i < m->naxes; i++)
        gs_text_add(t, p % inner[i] == 0 ? "[" : "");
      gs_text_printf(t, "%lld", (long long)m->order[p]);
      for (int i = 0; i < m->naxes; i++)
        gs_text_add(t, (p + 1) % inner[i] == 0 ? "]" : "");
    }
    gs_text_add(t, ")\n");
    return;
  }
  gs_text_add(t, m->anonymous ? "[" : "");
  for (int i = 0; i < m->naxes; i++) {
    char name[8];
    recipe_axis_name(r, index, i, name);
    gs_text_printf(t, "%s%s%s%lld", i > 0 ? ", " : "", m->anonymous ? "" : name,
                   m->anonymous ? "" : "=", (long long)m->sizes[i]);
  }
  gs_text_add(t, m->anonymous ? "])\n" : ")\n");
}

static void print_numbers(struct gs_text *t, const int64_t *numbers, int n)
{
  gs_text_add(t, "[");
  for (int i = 0; i < n; i++)
    gs_text_printf(t, "%s%lld", i > 0 ? ", " : "", (long long)numbers[i]);
  gs_text_add(t, "]");
}

static void print_dims(struct gs_text *t, const int *dims, int n)
{
  int64_t wide[GS_MAX_RANK];
  for (int i = 0; i < n; i++)
    wide[i] = dims[i];
  print_numbers(t, wide, n);
}

static void print_mask(struct gs_text *t, uint32_t mask)
{
  int64_t dims[GS_MAX_RANK];
  int n = 0;
  for (int i = 0; i < GS_MAX_RANK; i++)
    if ((mask >> i & 1) != 0)
      dims[n++] = i;
  print_numbers(t, dims, n);
}

static void print_type(struct gs_text *t, const struct gs_type *type)
{
  gs_text_add(t, gs_dtype_name(type->dtype));
  print_numbers(t, type->dims, type->rank);
}

static void print_annotation(struct gs_text *t, const struct recipe *r, const struct recipe_node *n)
{
  gs_text_add(t, ", [");
  for (int i = 0; i < n->type.rank; i++) {
    const struct recipe_dim *dim = &n->dims[i];
    int entries = dim->naxes + (dim->open ? 1 : 0);
    gs_text_add(t, i > 0 ? ", " : "");
    gs_text_add(t, entries == 0 ? "-1" : entries > 1 ? "[" : "");
    for (int j = 0; j < dim->naxes; j++) {
      char name[8];
      recipe_axis_name(r, n->mesh, dim->axes[j], name);
      gs_text_printf(t, "%s%s", j > 0 ? ", " : "", name);
    }
    if (dim->open)
      gs_text_add(t, dim->naxes > 0 ? ", ?" : "?");
    gs_text_add(t, entries > 1 ? "]" : "");
  }
  gs_text_add(t, "]");
  if (n->mesh > 0)
    gs_text_printf(t, ", mesh=m%d", n->mesh);
}

static void print_values(struct gs_text *t, const struct recipe_node *n)
{
  const struct gs_type *type = &n->type;
  int64_t elements = gs_type_elements(type), inner[GS_MAX_RANK], size = 1;
  if (elements == 0 || type->rank == 0) {
    gs_text_add(t, "full(");
    print_type(t, type);
    gs_text_printf(t, ", %g)", n->values[0]);
    return;
  }
  for (int i = type->rank - 1; i >= 0; i--)
    inner[i] = size *= type->dims[i];
  gs_text_add(t, "tensor(");
  for (int64_t p = 0; p < elements; p++) {
    gs_text_add(t, p > 0 ? ", " : "");
    for (int i = 0; i < type->rank; i++)
      gs_text_add(t, p % inner[i] == 0 ? "[" : "");
    gs_text_printf(t, "%g", n->values[p % RECIPE_VALUES]);
    for (int i = 0; i < type->rank; i++)
      gs_text_add(t, (p + 1) % inner[i] == 0 ? "]" : "");
  }
  gs_text_printf(t, ", dtype=%s)", gs_dtype_name(type->dtype));
}

static void print_fill(struct gs_text *t, const struct gs_fill_spec *fill)
{
  static const char *const names[] = {
    [GS_FILL_PATTERN] = "pattern", [GS_FILL_ZEROS] = "zeros", [GS_FILL_ONES] = "ones",
    [GS_FILL_FULL] = "full", [GS_FILL_IOTA] = "iota", [GS_FILL_NORMAL] = "normal",
    [GS_FILL_UNIFORM] = "uniform"
  };
  gs_text_printf(t, ", %s(", names[fill->kind]);
  if (fill->kind != GS_FILL_ZEROS && fill->kind != GS_FILL_ONES)
    gs_text_printf(t, "%g", fill->argument);
  gs_text_add(t, "))");
}

static void print_leaf(struct gs_text *t, const struct recipe_node *n)
{
  if (n->op == GS_OP_CONSTANT) {
    print_values(t, n);
    return;
  }
  gs_text_printf(t, "%s(", gs_op_info(n->op)->name);
  print_type(t, &n->type);
  if (n->op == GS_OP_IOTA)
    gs_text_printf(t, ", dim=%d)", n->attrs.iota.dim);
  else
    print_fill(t, &n->attrs.input.fill);
}

static void print_slice(struct gs_text *t, const struct recipe_node *n)
{
  gs_text_printf(t, "v%d[", n->args[0]);
  for (int i = 0; i < n->type.rank; i++) {
    int64_t start = n->attrs.slice.start[i], stride = n->attrs.slice.stride[i];
    int64_t count = n->type.dims[i], end = count == 0 ? start : start + (count - 1) * stride + 1;
    gs_text_printf(t, "%s%lld:%lld", i > 0 ? ", " : "", (long long)start, (long long)end);
    if (stride != 1)
      gs_text_printf(t, ":%lld", (long long)stride);
  }
  gs_text_add(t, n->type.rank == 0 ? "...]" : "]");
}

static void print_pad(struct gs_text *t, const struct recipe_node *n, int rank)
{
  gs_text_add(t, ", ");
  print_numbers(t, n->attrs.pad.low, rank);
  gs_text_add(t, ", ");
  print_numbers(t, n->attrs.pad.high, rank);
  gs_text_add(t, ", interior=");
  print_numbers(t, n->attrs.pad.interior, rank);
  gs_text_printf(t, ", value=v%d", n->args[1]);
}

/* The attributes that follow the first operand. */
static void print_attributes(struct gs_text *t, const struct recipe *r, const struct recipe_node *n)
{
  int rank = r->nodes[n->args[0]].type.rank;
  const union gs_attrs *a = &n->attrs;
  switch (recipe_class(n->op)) {
  case CLASS_convert:
    gs_text_printf(t, ", %s", gs_dtype_name(n->type.dtype));
    break;
  case CLASS_reshape:
    gs_text_add(t, ", ");
    print_numbers(t, n->type.dims, n->type.rank);
    break;
  case CLASS_broadcast:
    gs_text_add(t, ", ");
    print_numbers(t, n->type.dims, n->type.rank);
    gs_text_add(t, ", dims=");
    print_dims(t, a->broadcast.dims, rank);
    break;
  case CLASS_transpose:
    gs_text_add(t, ", ");
    print_dims(t, a->transpose.dims, rank);
    break;
  case CLASS_reverse:
    gs_text_add(t, ", ");
    print_mask(t, a->reverse.dims);
    break;
  case CLASS_roll:
    gs_text_printf(t, ", %lld, %d", (long long)a->roll.shift, a->roll.dim);
    break;
  case CLASS_pad:
    print_pad(t, n, rank);
    break;
  case CLASS_shard:
    print_annotation(t, r, n);
    break;
  case CLASS_reduce_index:
    gs_text_printf(t, ", dim=%d", __builtin_ctz(a->reduce.dims | UINT32_C(1) << 31));
    break;
  case CLASS_reduce_sum: case CLASS_reduce_order: case CLASS_reduce_pred:
    if (a->reduce.dims != 0) {
      gs_text_add(t, ", dim=");
      print_mask(t, a->reduce.dims);
    }
    gs_text_add(t, a->reduce.keep ? ", keep=true" : "");
    break;
  default:
    break;
  }
}

static void print_call(struct gs_text *t, const struct recipe *r, const struct recipe_node *n)
{
  const char *name = n->op == GS_OP_REDUCE_MAX ? "max" : n->op == GS_OP_REDUCE_MIN ? "min"
                                                       : gs_op_info(n->op)->name;
  bool listed = n->op == GS_OP_CONCAT, einsum = n->op == GS_OP_EINSUM;
  int nargs = n->op == GS_OP_PAD ? 1 : n->nargs;
  gs_text_printf(t, "%s(%s", name, listed ? "[" : "");
  if (einsum)
    gs_text_printf(t, "\"%s\", ", n->spec);
  for (int i = 0; i < nargs; i++)
    gs_text_printf(t, "%sv%d", i > 0 ? ", " : "", n->args[i]);
  if (listed)
    gs_text_printf(t, "], %d", n->attrs.concat.dim);
  print_attributes(t, r, n);
  gs_text_add(t, ")");
}

void recipe_print(struct gs_text *t, const struct recipe *r)
{
  for (int i = r->nmeshes - 1; i >= 0; i--)
    print_mesh(t, r, i);
  for (int i = 0; i < r->nnodes; i++) {
    const struct recipe_node *n = &r->nodes[i];
    gs_text_printf(t, "v%d = ", i);
    if (recipe_is_leaf(n->op))
      print_leaf(t, n);
    else if (n->op == GS_OP_SLICE)
      print_slice(t, n);
    else
      print_call(t, r, n);
    gs_text_add(t, "\n");
  }
  gs_text_add(t, "check(");
  for (int i = 0; i < r->noutputs; i++)
    gs_text_printf(t, "%sv%d", i > 0 ? ", " : "", r->outputs[i]);
  gs_text_add(t, ")\n");
}
