/* backends/reference/evaluate.c - the unpartitioned graph, node after node. */
#include <config.h>

#include "backends/reference/reference.h"

#include <stdlib.h>

#include "backends/reference/kernels.h"

/* Leaves that hold data have no evaluator, nor have the rows that only the partitioner makes. */
#define gs_reference_leaf NULL
#define gs_reference_device NULL
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

static struct gs_tensor *operator_value(const struct evaluation *e, const struct gs_node *node)
{
  struct gs_tensor *t = gs_tensor_new(e->host->budget, &node->type);
  const struct gs_type **types = calloc((size_t)node->nargs + 1, sizeof *types);
  const void **args = calloc((size_t)node->nargs + 1, sizeof *args);
  if (t != NULL && types != NULL && args != NULL) {
    for (int a = 0; a < node->nargs; a++) {
      types[a] = &node->args[a]->type;
      args[a] = e->values[node->args[a]->id]->data;
    }
    struct gs_kernel_call call = { node->op, node->attrs, node->nargs, types,
                                   args,     &node->type, t->data, NULL };
    gs_reference_find(node->op)(&call);
  } else {
    gs_tensor_unref(t);
    t = NULL;
  }
  free(types);
  free(args);
  return t;
}

static enum gs_status evaluate_node(struct evaluation *e, const struct gs_node *node)
{
  if (e->host->interrupt != NULL && *e->host->interrupt)
    return GS_INTERRUPTED;
  bool data = node->op == GS_OP_INPUT || node->op == GS_OP_PARAM || node->op == GS_OP_CONSTANT;
  e->values[node->id] = data ? leaf_value(e, node) : operator_value(e, node);
  if (e->values[node->id] == NULL) {
    gs_error(e->host->diagnostics, node->span, "out of memory for the value of %s",
             node->name != NULL ? node->name : gs_op_info(node->op)->name);
    return GS_FAILED;
  }
  for (int a = 0; a < node->nargs; a++) {
    int id = node->args[a]->id;
    if (--e->uses[id] == 0) {
      gs_tensor_unref(e->values[id]);
      e->values[id] = NULL;
    }
  }
  return GS_OK;
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
  enum gs_status status = e.values != NULL && e.uses != NULL ? GS_OK : GS_FAILED;
  if (status == GS_OK)
    count_uses(&e, nodes, nnodes, last);
  else
    gs_error(host->diagnostics, (struct gs_span){ 0 }, "out of memory");
  for (int id = 0; id <= last && status == GS_OK; id++)
    if (e.uses[id] > 0)
      status = evaluate_node(&e, graph->nodes[id]);
  for (int i = 0; i < nnodes; i++)
    outputs[i] = status == GS_OK ? gs_tensor_ref(e.values[nodes[i]->id]) : NULL;
  for (int id = 0; id <= last && e.values != NULL; id++)
    gs_tensor_unref(e.values[id]);
  free(e.values);
  free(e.uses);
  return status;
}
