/* tests/differential/recipe.c - from a recipe to the library's graph and meshes. */
#include <config.h>

#include "tests/differential/recipe.h"

#include <stdio.h>
#include <string.h>

int64_t recipe_mesh_devices(const struct recipe_mesh *mesh)
{
  int64_t devices = 1;
  for (int i = 0; i < mesh->naxes; i++)
    devices *= mesh->sizes[i];
  return devices;
}

void recipe_axis_name(const struct recipe *r, int mesh, int axis, char *text)
{
  if (r->meshes[mesh].anonymous)
    snprintf(text, 8, "%d", axis);
  else
    snprintf(text, 8, "%c%d", "abc"[mesh], axis);
}

static const struct gs_mesh *build_mesh(const struct recipe *r, int index,
                                        struct gs_diagnostics *diagnostics, struct gs_arena *arena)
{
  const struct recipe_mesh *m = &r->meshes[index];
  struct gs_mesh_axis axes[RECIPE_AXES];
  char names[RECIPE_AXES][8];
  for (int i = 0; i < m->naxes; i++) {
    recipe_axis_name(r, index, i, names[i]);
    axes[i] = (struct gs_mesh_axis){ .name = names[i], .size = m->sizes[i] };
  }
  return gs_mesh_new(arena, diagnostics, (struct gs_span){ 0 }, m->naxes, axes,
                     m->ordered ? m->order : NULL, m->anonymous);
}

static const struct gs_sharding *build_annotation(const struct recipe_built *b,
                                                  const struct recipe_node *n)
{
  struct gs_dim_sharding dims[GS_MAX_RANK] = { 0 };
  struct gs_axis axes[GS_MAX_RANK][RECIPE_AXES];
  for (int i = 0; i < n->type.rank; i++) {
    for (int j = 0; j < n->dims[i].naxes; j++)
      axes[i][j] = gs_axis_whole(b->meshes[n->mesh], n->dims[i].axes[j]);
    dims[i] = (struct gs_dim_sharding){
      .naxes = n->dims[i].naxes, .axes = axes[i], .open = n->dims[i].open
    };
  }
  return gs_sharding_make(b->table, b->meshes[n->mesh], n->type.rank, dims, NULL, 0, GS_OP_SUM);
}

static struct gs_node *build_constant(struct recipe_built *b, const struct recipe_node *n)
{
  struct gs_tensor *tensor = gs_tensor_new(NULL, &n->type);
  if (tensor == NULL)
    return &b->graph.poison;
  int64_t elements = gs_type_elements(&n->type);
  for (int64_t i = 0; i < elements; i++)
    gs_element_set(n->type.dtype, tensor->data, i, n->values[i % RECIPE_VALUES]);
  struct gs_node *node = gs_build_constant(&b->graph, (struct gs_span){ 0 }, tensor);
  gs_tensor_unref(tensor);
  return node;
}

static struct gs_node *build_leaf(struct recipe_built *b, const struct recipe_node *n)
{
  struct gs_span nowhere = { 0 };
  union gs_attrs attrs = n->attrs;
  if (n->op == GS_OP_CONSTANT)
    return build_constant(b, n);
  if (n->op != GS_OP_IOTA)
    attrs.input.index = b->graph.ninputs;
  return gs_graph_add(&b->graph, n->op, nowhere, NULL, 0, &attrs, &n->type);
}

static struct gs_node *build_slice(struct recipe_built *b, const struct recipe_node *n,
                                   struct gs_node *x)
{
  int64_t end[GS_MAX_RANK];
  for (int i = 0; i < n->type.rank; i++) {
    int64_t count = n->type.dims[i];
    end[i] = count == 0 ? n->attrs.slice.start[i]
                        : n->attrs.slice.start[i] + (count - 1) * n->attrs.slice.stride[i] + 1;
  }
  return gs_build_slice(&b->graph, (struct gs_span){ 0 }, x, n->attrs.slice.start, end,
                        n->attrs.slice.stride);
}

static struct gs_node *build_node(struct recipe_built *b, const struct recipe_node *n)
{
  struct gs_graph *g = &b->graph;
  struct gs_span nowhere = { 0 };
  struct gs_node *args[RECIPE_ARGS] = { NULL };
  union gs_attrs attrs = n->attrs;
  for (int i = 0; i < n->nargs; i++)
    args[i] = b->nodes[n->args[i]];
  switch (recipe_class(n->op)) {
  case CLASS_leaf:
  case CLASS_iota:
    return build_leaf(b, n);
  case CLASS_convert:
    return gs_build_convert(g, nowhere, args[0], n->type.dtype);
  case CLASS_reshape:
    return gs_build_reshape(g, nowhere, args[0], n->type.rank, n->type.dims);
  case CLASS_broadcast:
    return gs_build_broadcast(g, nowhere, args[0], n->type.rank, n->type.dims,
                              attrs.broadcast.dims);
  case CLASS_slice:
    return build_slice(b, n, args[0]);
  case CLASS_einsum:
    return gs_build_einsum(g, nowhere, n->spec, args, n->nargs);
  case CLASS_reduce_sum:
  case CLASS_reduce_order:
  case CLASS_reduce_pred:
  case CLASS_reduce_index:
    return gs_build_reduce(g, n->op, nowhere, args[0], attrs.reduce.dims, attrs.reduce.keep);
  case CLASS_shard:
    attrs.shard.annotation = build_annotation(b, n);
    attrs.shard.span = nowhere;
    return gs_graph_add(g, n->op, nowhere, args, 1, &attrs, NULL);
  case CLASS_transpose: case CLASS_reverse: case CLASS_pad: case CLASS_concat: case CLASS_roll:
    return gs_graph_add(g, n->op, nowhere, args, n->nargs, &attrs, NULL);
  default:
    return gs_build_elementwise(g, n->op, nowhere, args, n->nargs);
  }
}

/* NULL, or what is wrong with the node made. */
static const char *check_node(struct recipe_built *b, const struct recipe *r, int i)
{
  const struct recipe_node *n = &r->nodes[i];
  const struct gs_node *made = b->nodes[i];
  const char *name = gs_op_info(n->op)->name;
  if (made == NULL || gs_node_is_poison(&b->graph, made))
    return gs_arena_printf(b->arena, "node v%d (%s) was refused", i, name);
  if (!gs_type_equal(&made->type, &n->type))
    return gs_arena_printf(b->arena, "node v%d (%s) has type %s, not %s", i, name,
                           gs_type_string(b->arena, &made->type),
                           gs_type_string(b->arena, &n->type));
  return NULL;
}

const char *recipe_build(const struct recipe *r, struct gs_diagnostics *diagnostics,
                         struct recipe_built *b)
{
  memset(b, 0, sizeof *b);
  b->arena = gs_arena_new(NULL);
  if (b->arena == NULL)
    return "out of memory";
  gs_graph_init(&b->graph, b->arena, NULL, diagnostics);
  b->table = gs_sharding_table_new(b->arena);
  for (int i = 0; i < r->nmeshes; i++) {
    b->meshes[i] = build_mesh(r, i, diagnostics, b->arena);
    if (b->meshes[i] == NULL)
      return "a mesh was refused";
  }
  for (int i = 0; i < r->nnodes; i++) {
    b->nodes[i] = build_node(b, &r->nodes[i]);
    const char *wrong = check_node(b, r, i);
    if (wrong != NULL)
      return wrong;
  }
  for (int i = 0; i < r->noutputs; i++) {
    b->outputs[i] = b->nodes[r->outputs[i]];
    b->names[i] = gs_arena_printf(b->arena, "out%d", i);
  }
  return NULL;
}

void recipe_release(struct recipe_built *b)
{
  if (b->arena == NULL)
    return;
  gs_graph_finish(&b->graph);
  gs_arena_free(b->arena);
  b->arena = NULL;
}
