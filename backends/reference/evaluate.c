/* backends/reference/evaluate.c - the unpartitioned graph, node after node. */
#include <config.h>

#include "backends/reference/reference.h"

#include <stdlib.h>

#include "backends/reference/kernels.h"

/* Leaves that hold data have no evaluator, nor have the rows that only the partitioner makes. */
#define gs_reference_leaf NULL
#define gs_reference_device NULL
#define gs_reference_control NULL
#define gs_reference_manual NULL
static gs_reference_function *const function_table[] = {
#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) \
  [GS_OP_##id] = gs_reference_##eval,
#include "lang/ops.def"
#undef GS_OP
};

gs_reference_function *gs_reference_find(enum gs_op op)
{
  return function_table[op];
}

struct evaluation {
  const struct gs_host *host;
  const struct gs_graph *graph;
  struct gs_tensor *const *inputs;
  int ninputs;
  struct gs_tensor **values;           /* by id */
  struct gs_tensor ***many;            /* by id, in manual regions: one for each of their devices */
  int *uses;                           /* by id: users still to come, and outputs */
};

static struct gs_tensor *leaf_value(const struct evaluation *e, const struct gs_node *node)
{
  if (node->op == GS_OP_CONSTANT)
    return gs_tensor_ref(node->attrs->constant.tensor);
  int index = node->attrs->input.index;
  if (index < e->ninputs && e->inputs[index] != NULL)
    return gs_tensor_ref(e->inputs[index]);
  struct gs_tensor *t = gs_tensor_new(e->host->budget, &node->type);
  if (t != NULL)
    gs_tensor_fill(t, &node->attrs->input.fill);
  return t;
}

/* How many values NODE has: one for each device of a manual region. */
static int64_t count_of(const struct gs_node *node)
{
  int64_t n = 1;
  for (int a = 0; node->manual != NULL && a < node->manual->naxes; a++)
    n *= node->manual->axes >> a & 1 ? node->manual->sizes[a] : 1;
  return n;
}

/* Value WHICH of node ID, to be read or set. */
static struct gs_tensor **slot(const struct evaluation *e, int id, int64_t which)
{
  return e->many[id] != NULL ? &e->many[id][which] : &e->values[id];
}

/* Room for all values of NODE.  False: out of memory. */
static bool make_slots(struct evaluation *e, const struct gs_node *node)
{
  if (node->manual != NULL && e->many[node->id] == NULL)
    e->many[node->id] = calloc((size_t)count_of(node), sizeof *e->many[node->id]);
  return node->manual == NULL || e->many[node->id] != NULL;
}

static void set_value(struct evaluation *e, int id, int64_t which, struct gs_tensor *tensor)
{
  gs_tensor_unref(*slot(e, id, which));
  *slot(e, id, which) = tensor;
}

static void forget(struct evaluation *e, int id)
{
  int64_t n = e->many[id] != NULL ? count_of(e->graph->nodes[id]) : 1;
  for (int64_t i = 0; i < n; i++)
    set_value(e, id, i, NULL);
}

static struct gs_tensor *operator_value(const struct evaluation *e, const struct gs_node *node, int64_t which)
{
  struct gs_tensor *t = gs_tensor_new(e->host->budget, &node->type);
  const struct gs_type **types = calloc((size_t)node->nargs + 1, sizeof *types);
  const void **args = calloc((size_t)node->nargs + 1, sizeof *args);
  if (t != NULL && types != NULL && args != NULL) {
    for (int a = 0; a < node->nargs; a++) {
      types[a] = &node->args[a]->type;
      args[a] = (*slot(e, node->args[a]->id, which))->data;
    }
    struct gs_kernel_call call = { node->op, node->attrs, node->nargs, types, args,
                                   &node->type, t->data, NULL };
    gs_reference_find(node->op)(&call);
  } else {
    gs_tensor_unref(t);
    t = NULL;
  }
  free(types);
  free(args);
  return t;
}

/* Borders and collectives of manual regions: all devices' values at once. */
static bool manual_values(struct evaluation *e, const struct gs_node *node)
{
  int64_t from = count_of(node->args[0]), to = count_of(node);
  const void **args = calloc((size_t)from, sizeof *args);
  void **results = calloc((size_t)to, sizeof *results);
  bool ok = args != NULL && results != NULL;
  for (int64_t i = 0; i < from && ok; i++)
    args[i] = (*slot(e, node->args[0]->id, i))->data;
  for (int64_t i = 0; i < to && ok; i++) {
    set_value(e, node->id, i, gs_tensor_new(e->host->budget, &node->type));
    ok = *slot(e, node->id, i) != NULL;
    results[i] = ok ? (*slot(e, node->id, i))->data : NULL;
  }
  if (ok)
    gs_reference_manual_values(node, args, results);
  free(args);
  free(results);
  return ok;
}

static enum gs_status evaluate_control(struct evaluation *e, const struct gs_node *node);

static enum gs_status compute_node(struct evaluation *e, const struct gs_node *node)
{
  if (e->host->interrupt != NULL && *e->host->interrupt)
    return GS_INTERRUPTED;
  bool ok = make_slots(e, node);
  if (ok && gs_op_info(node->op)->group == GS_GROUP_CONTROL)
    return evaluate_control(e, node);
  bool data = node->op == GS_OP_INPUT || node->op == GS_OP_PARAM || node->op == GS_OP_CONSTANT;
  if (ok && gs_op_info(node->op)->group == GS_GROUP_MANUAL) {
    ok = manual_values(e, node);
  } else {
    for (int64_t i = 0; i < count_of(node) && ok; i++) {
      set_value(e, node->id, i, data ? leaf_value(e, node) : operator_value(e, node, i));
      ok = *slot(e, node->id, i) != NULL;
    }
  }
  if (ok)
    return GS_OK;
  gs_error(e->host->diagnostics, node->span, "out of memory for the value of %s",
           node->name != NULL ? node->name : gs_op_info(node->op)->name);
  return GS_FAILED;
}

/* The nodes of REGION itself that anything needs, in order. */
static enum gs_status evaluate_region(struct evaluation *e, int region)
{
  const struct gs_region *r = &e->graph->regions[region];
  enum gs_status status = GS_OK;
  for (int id = r->begin; id < r->end && status == GS_OK; id++)
    if (e->uses[id] > 0 && e->graph->nodes[id]->region == region
        && e->graph->nodes[id]->op != GS_OP_LOOP_VALUE)
      status = compute_node(e, e->graph->nodes[id]);
  return status;
}

static void use_once(struct evaluation *e, int id)
{
  if (e->graph->nodes[id]->region == 0 && --e->uses[id] == 0)
    forget(e, id);
}

/* After a loop: its nodes' values are gone, and what they used is used. */
static void leave_region(struct evaluation *e, int region)
{
  const struct gs_region *r = &e->graph->regions[region];
  for (int id = r->begin; id < r->end; id++) {
    const struct gs_node *node = e->graph->nodes[id];
    if (e->uses[id] == 0 || !gs_region_is_inside(e->graph->regions, node->region, region))
      continue;
    for (int a = 0; a < node->nargs && e->graph->regions[region].parent == 0; a++)
      use_once(e, node->args[a]->id);
    forget(e, id);
  }
}

static bool is_true(const struct evaluation *e, const struct gs_node *p)
{
  return gs_element_get_int(p->type.dtype, (*slot(e, p->id, 0))->data, 0) != 0;
}

/* The carried values, of the first turn or of the one after the next, all at once. */
static void carry_on(struct evaluation *e, const struct gs_node *loop, int ncarries, bool first,
                     struct gs_tensor **room)
{
  int64_t n = count_of(loop);
  for (int k = 0; k < ncarries; k++)
    for (int64_t i = 0; i < n; i++)
      room[k * n + i] = gs_tensor_ref(*slot(e, loop->args[k]->args[first ? 0 : 2]->id, i));
  for (int k = 0; k < ncarries; k++)
    for (int64_t i = 0; i < n; i++)
      set_value(e, loop->args[k]->args[1]->id, i, room[k * n + i]);
}

static void copy_value(struct evaluation *e, const struct gs_node *to, const struct gs_node *from)
{
  for (int64_t i = 0; i < count_of(to); i++)
    set_value(e, to->id, i, gs_tensor_ref(*slot(e, from->id, i)));
}

/* The results are left in the values of the LOOP_NEXT nodes. */
static enum gs_status evaluate_loop(struct evaluation *e, const struct gs_node *loop)
{
  int region = loop->attrs->control.regions[0];
  int64_t trips = loop->attrs->control.trips;
  int ncarries = loop->nargs - (trips < 0);
  struct gs_tensor **room = calloc((size_t)(ncarries * count_of(loop)) + 1, sizeof(struct gs_tensor *));
  bool ready = room != NULL;
  for (int k = 0; k < ncarries && ready; k++)
    ready = make_slots(e, loop->args[k]->args[1]) && make_slots(e, loop->args[k]);
  enum gs_status status = ready ? GS_OK : GS_FAILED;
  if (!ready)
    gs_error(e->host->diagnostics, loop->span, "out of memory");
  else
    carry_on(e, loop, ncarries, true, room);
  for (int64_t turn = 0; status == GS_OK && turn != trips; turn++) {
    status = evaluate_region(e, region);
    if (status != GS_OK || (trips < 0 && !is_true(e, loop->args[ncarries])))
      break;
    carry_on(e, loop, ncarries, false, room);
  }
  for (int k = 0; k < ncarries && status == GS_OK; k++)
    copy_value(e, loop->args[k], loop->args[k]->args[1]);
  leave_region(e, region);
  for (int k = 0; k < ncarries && loop->region == 0; k++)
    for (int a = 0; a < loop->args[k]->nargs; a++)
      use_once(e, loop->args[k]->args[a]->id);
  free(room);
  return status;
}

static enum gs_status evaluate_control(struct evaluation *e, const struct gs_node *node)
{
  const struct gs_node *from = node->args[0];
  enum gs_status status = GS_OK;
  switch ((int)node->op) {
  case GS_OP_LOOP: return evaluate_loop(e, node);
  case GS_OP_LOOP_RESULT: from = node->args[1]; break;
  case GS_OP_COND:                     /* its own value is that of its operand */
    status = evaluate_region(e, node->attrs->control.regions[is_true(e, from) ? 0 : 1]);
    break;
  case GS_OP_COND_RESULT: from = is_true(e, node->args[0]) ? node->args[1] : node->args[2]; break;
  default: return status;              /* LOOP_NEXT: its value is the loop's to give */
  }
  if (status == GS_OK)
    copy_value(e, node, from);
  return status;
}

static enum gs_status evaluate_node(struct evaluation *e, const struct gs_node *node)
{
  enum gs_status status = compute_node(e, node);
  for (int a = 0; a < node->nargs && status == GS_OK && node->op != GS_OP_LOOP_NEXT; a++)
    use_once(e, node->args[a]->id);
  return status;
}

/* How often each value is still wanted; values nobody wants are not computed. */
static void count_uses(struct evaluation *e, struct gs_node *const *nodes, int nnodes, int last)
{
  for (int i = 0; i < nnodes; i++)
    e->uses[nodes[i]->id]++;
  for (int id = last; id >= 0; id--)
    for (int a = 0; e->uses[id] > 0 && a < e->graph->nodes[id]->nargs; a++)
      e->uses[e->graph->nodes[id]->args[a]->id]++;
}

enum gs_status gs_reference_evaluate(const struct gs_host *host, const struct gs_graph *graph,
                                     struct gs_node *const *nodes, int nnodes,
                                     struct gs_tensor *const *inputs, int ninputs,
                                     struct gs_tensor **outputs)
{
  struct evaluation e = { .host = host, .graph = graph, .inputs = inputs, .ninputs = ninputs };
  int last = -1;
  for (int i = 0; i < nnodes; i++)
    last = nodes[i]->id > last ? nodes[i]->id : last;
  e.values = calloc((size_t)last + 2, sizeof *e.values);
  e.uses = calloc((size_t)last + 2, sizeof *e.uses);
  e.many = calloc((size_t)last + 2, sizeof *e.many);
  enum gs_status status = e.values != NULL && e.uses != NULL && e.many != NULL ? GS_OK : GS_FAILED;
  if (status == GS_OK)
    count_uses(&e, nodes, nnodes, last);
  else
    gs_error(host->diagnostics, (struct gs_span){ 0 }, "out of memory");
  for (int id = 0; id <= last && status == GS_OK; id++)
    if (e.uses[id] > 0 && graph->nodes[id]->region == 0)
      status = evaluate_node(&e, graph->nodes[id]);
  for (int i = 0; i < nnodes; i++)
    outputs[i] = status == GS_OK ? gs_tensor_ref(e.values[nodes[i]->id]) : NULL;
  for (int id = 0; id <= last && e.values != NULL && e.many != NULL; id++) {
    forget(&e, id);
    free(e.many[id]);
  }
  free(e.many);
  free(e.values);
  free(e.uses);
  return status;
}
