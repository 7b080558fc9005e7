/* lang/graph.c - the growing list of nodes: checking, type inference, storage. */
#include <config.h>

#include "lang/graph.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lang/infer.h"

static gs_infer_function *const infer_functions[GS_OP_COUNT] = {
#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) \
  [GS_OP_##id] = gs_infer_##infer,
#include "lang/ops.def"
#undef GS_OP
};

void gs_graph_init(struct gs_graph *g, struct gs_arena *arena, struct gs_budget *budget,
                   struct gs_diagnostics *diagnostics)
{
  *g = (struct gs_graph){
    .arena = arena, .budget = budget, .diagnostics = diagnostics,
    .poison = { .op = GS_OP_CONSTANT, .id = -1, .type = { .dtype = GS_DTYPE_F32 } }
  };
}

/* The tensor that a node with these attributes holds a reference to, or NULL. */
static struct gs_tensor *held_tensor(enum gs_op op, const union gs_attrs *attrs)
{
  if (op == GS_OP_CONSTANT)
    return attrs->constant.tensor;
  if ((op == GS_OP_INPUT || op == GS_OP_PARAM) && attrs->input.fill.kind == GS_FILL_DATA)
    return attrs->input.fill.data;
  return NULL;
}

void gs_graph_finish(struct gs_graph *g)
{
  for (int i = 0; i < g->nnodes; i++)
    gs_tensor_unref(held_tensor(g->nodes[i]->op, g->nodes[i]->attrs));
  g->nnodes = 0;
}

bool gs_node_is_poison(const struct gs_graph *g, const struct gs_node *node)
{
  return node == NULL || node == &g->poison;
}

/* Report a result type that is too large or negative. */
static bool check_size(const struct gs_infer *in)
{
  const struct gs_type *type = in->result;
  if (gs_type_valid(type))
    return true;
  double elements = 0;
  for (int i = 0; i < type->rank; i++) {
    if (type->dims[i] < 0)
      return gs_infer_error(in, "%s has a negative size", GS_TYPE(type));
    if (type->dims[i] > 0)
      elements += log2((double)type->dims[i]);
  }
  return gs_infer_error(in, "%s has 2^%.0f elements, more than can be addressed", GS_TYPE(type),
                        elements);
}

/* Room in the list for one more node. */
static bool reserve_node(struct gs_graph *g)
{
  if (g->nnodes < g->capacity)
    return true;
  int capacity = g->capacity == 0 ? 256 : g->capacity * 2;
  struct gs_node **nodes = GS_NEW_ARRAY(g->arena, struct gs_node *, capacity);
  if (nodes == NULL)
    return false;
  if (g->nnodes > 0)
    memcpy(nodes, g->nodes, (size_t)g->nnodes * sizeof *nodes);
  g->nodes = nodes;
  g->capacity = capacity;
  return true;
}

bool gs_region_is_inside(const struct gs_region *regions, int region, int outer)
{
  while (region != outer && region != 0)
    region = regions[region].parent;
  return region == outer;
}

int gs_graph_open_region(struct gs_graph *g)
{
  int number = g->nregions > 0 ? g->nregions : 1;
  if (number >= g->region_capacity) {
    int capacity = g->region_capacity * 2 + 16;
    struct gs_region *regions = GS_NEW_ARRAY(g->arena, struct gs_region, capacity);
    if (regions == NULL)
      return 0;
    if (g->nregions > 0)
      memcpy(regions, g->regions, (size_t)g->nregions * sizeof *regions);
    g->regions = regions;
    g->region_capacity = capacity;
  }
  g->regions[number] = (struct gs_region){ g->region, g->nnodes, g->nnodes };
  g->nregions = number + 1;
  return g->region = number;
}

void gs_graph_close_region(struct gs_graph *g)
{
  if (g->region == 0)
    return;
  g->regions[g->region].end = g->nnodes;
  g->region = g->regions[g->region].parent;
}

/* Whether NODE may use its operands: values of its own region and of those around it, but for nodes
 * that close a body. */
static bool check_regions(struct gs_graph *g, const struct gs_infer *in)
{
  if (gs_op_info(in->op)->group == GS_GROUP_CONTROL)
    return true;
  for (int i = 0; i < in->nargs; i++) {
    if (gs_region_is_inside(g->regions, g->region, in->args[i]->region))
      continue;
    gs_infer_error(in, "%s is a value of the body of a loop or a branch, it is not there outside",
                   GS_OPERAND(in->args[i], i));
    gs_hint(g->diagnostics, "let the body return it");
    return false;
  }
  return true;
}

/* Whether REGION, NULL for outside of all, is one of those that INNER stands in. */
static bool is_around(const struct gs_manual *region, const struct gs_manual *inner)
{
  while (inner != NULL && inner->parent != region)
    inner = inner->parent;
  return inner != NULL;
}

/* Inside a manual region a value from outside is seen as it is, the same on all devices.  ARGS is where
 * such values may be replaced; *IN then uses it. */
static bool enter_manual(struct gs_graph *g, struct gs_infer *in, struct gs_node **args)
{
  bool replaced = false;
  if (in->op == GS_OP_FROM_SHARD)
    return true;
  for (int i = 0; i < in->nargs; i++) {
    struct gs_node *arg = in->args[i];
    if (arg->manual == g->manual)
      continue;
    if (!is_around(arg->manual, g->manual)) {
      gs_infer_error(in, "%s is a value of a manual region, it is not there outside", GS_OPERAND(arg, i));
      gs_hint(g->diagnostics, "let the region's body return it");
      return false;
    }
    if (in->op == GS_OP_TO_SHARD)
      continue;
    if (args == NULL)
      return false;
    if (!replaced)
      memcpy(args, in->args, (size_t)in->nargs * sizeof *args);
    replaced = true;
    union gs_attrs attrs;
    memset(&attrs, 0, sizeof attrs);
    for (int d = 0; d < GS_MAX_RANK; d++)
      attrs.manual.parts[d] = 1;
    args[i] = gs_graph_add(g, GS_OP_TO_SHARD, in->at, &arg, 1, &attrs, NULL);
    if (gs_node_is_poison(g, args[i]))
      return false;
    args[i]->name = arg->name;
  }
  if (replaced)
    in->args = args;
  return true;
}

static bool reaches_outside(const struct gs_graph *g, struct gs_node *const *args, int nargs)
{
  for (int i = 0; i < nargs; i++)
    if (args[i]->manual != g->manual)
      return true;
  return false;
}

/* A node with room for its arguments behind it, in the list; NULL when out of memory. */
static struct gs_node *store_node(struct gs_graph *g, const struct gs_infer *in)
{
  size_t args_size = (size_t)in->nargs * sizeof *in->args;
  if (!reserve_node(g))
    return NULL;
  struct gs_node *node = gs_arena_alloc(g->arena, sizeof *node + args_size);
  union gs_attrs *attrs = NULL;
  if (in->attrs != NULL)
    attrs = gs_arena_copy(g->arena, in->attrs, sizeof *attrs);
  if (node == NULL || (attrs == NULL && in->attrs != NULL))
    return NULL;
  *node = (struct gs_node){
    .op = in->op, .id = g->nnodes, .nargs = in->nargs, .args = (struct gs_node **)(node + 1),
    .type = *in->result, .attrs = attrs, .span = in->at, .region = g->region,
    .manual = in->op == GS_OP_FROM_SHARD ? in->args[0]->manual->parent : g->manual
  };
  if (in->nargs > 0)
    memcpy(node->args, in->args, args_size);
  g->nodes[g->nnodes++] = node;
  return node;
}

struct gs_node *gs_graph_add(struct gs_graph *g, enum gs_op op, struct gs_span at,
                             struct gs_node *const *args, int nargs, const union gs_attrs *attrs,
                             const struct gs_type *type)
{
  for (int i = 0; i < nargs; i++) {
    if (gs_node_is_poison(g, args[i]))
      return &g->poison;
  }
  struct gs_type result;
  struct gs_infer in = {
    .diagnostics = g->diagnostics, .at = at, .name = g->calling != NULL ? g->calling : gs_op_info(op)->name,
    .op = op, .args = args, .nargs = nargs, .attrs = attrs, .wanted = type,
    .result = &result
  };
  int wanted = gs_op_info(op)->nargs;
  if (wanted < 0 ? nargs < 1 : nargs != wanted) {
    gs_infer_error(&in, "takes %s%d operand%s, not %d", wanted < 0 ? "at least " : "",
                   wanted < 0 ? 1 : wanted, wanted == 1 || wanted < 0 ? "" : "s", nargs);
    return &g->poison;
  }
  struct gs_node **own = reaches_outside(g, args, nargs) ? GS_NEW_ARRAY(g->arena, struct gs_node *, nargs + 1)
                                                         : NULL;
  if (!check_regions(g, &in) || !enter_manual(g, &in, own) || !infer_functions[op](&in) || !check_size(&in))
    return &g->poison;
  memset(result.dims + result.rank, 0, (size_t)(GS_MAX_RANK - result.rank) * sizeof result.dims[0]);
  struct gs_node *node = store_node(g, &in);
  if (node == NULL)
    return &g->poison;                 /* the arena is marked as failed */
  struct gs_tensor *tensor = held_tensor(op, attrs);
  if (tensor != NULL)
    gs_tensor_ref(tensor);
  if ((op == GS_OP_INPUT || op == GS_OP_PARAM) && attrs->input.index >= g->ninputs)
    g->ninputs = attrs->input.index + 1;
  return node;
}
