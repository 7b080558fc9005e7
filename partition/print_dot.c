/* partition/print_dot.c - plans and graphs as Graphviz digraphs. */
#include <config.h>

#include "partition/print_dot.h"

#include "partition/paint.h"
#include "partition/print_parts.h"

static void add_label(struct gs_text *out, struct gs_arena *scratch, const char *painted)
{
  struct gs_text plain = { .arena = scratch };
  gs_paint_strip(&plain, painted);
  for (const char *c = gs_text_string(&plain); *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      gs_text_add(out, "\\");
    gs_text_add_bytes(out, c, 1);
  }
}

static void open_graph(struct gs_text *out, const char *name)
{
  gs_text_printf(out, "digraph %s {\n", name);
  gs_text_add(out, "  node [shape=box, style=filled, fillcolor=white, fontname=monospace];\n");
}

static void add_node(struct gs_text *out, struct gs_arena *scratch, int id, const char *fill,
                     const char *first, const char *second)
{
  gs_text_printf(out, "  n%d [fillcolor=%s, label=\"", id, fill);
  add_label(out, scratch, first);
  gs_text_add(out, "\\n");
  add_label(out, scratch, second);
  gs_text_add(out, "\"];\n");
}

static const char *fill_of(enum gs_op op, bool collective, bool output)
{
  if (collective)
    return "orange";
  if (output)
    return "palegreen";
  return gs_op_info(op)->group == GS_GROUP_LEAF ? "lightblue" : "white";
}

static void add_step(struct gs_text *out, const struct gs_view *view, int index, bool output)
{
  const struct gs_step *s = &view->program->steps[index];
  struct gs_text what = { .arena = view->arena }, type = { .arena = view->arena };
  bool collective = gs_step_group_size(s) > 1;
  gs_text_printf(&what, "#%d ", view->numbers[index]);
  if (view->names[index] != NULL)
    gs_text_printf(&what, "%s = ", view->names[index]);
  gs_view_operation(&what, view, s);
  gs_type_print(&type, &s->type);
  gs_text_add(&type, " ");
  gs_sharding_print(&type, s->sharding);
  if (collective) {
    gs_text_add(&type, ", sends ");
    gs_print_bytes(&type, gs_step_bytes(view->program, s));
  }
  add_node(out, view->arena, index, fill_of(s->op, collective, output), gs_text_string(&what),
           gs_text_string(&type));
  for (int k = 0; k < s->nargs; k++)
    if (view->numbers[s->args[k]] > 0)
      gs_text_printf(out, "  n%d -> n%d;\n", s->args[k], index);
}

void gs_print_plan_dot(struct gs_text *text, const struct gs_plan *plan,
                       const struct gs_print_options *options)
{
  struct gs_arena *scratch = gs_arena_new(NULL);
  struct gs_view view;
  (void)options;
  bool *output = scratch == NULL ? NULL : GS_NEW_ARRAY(scratch, bool, plan->program->nsteps + 1);
  if (output != NULL && gs_view_make(&view, scratch, plan)) {
    for (int i = 0; i < plan->program->noutputs; i++)
      output[plan->program->outputs[i].step] = true;
    open_graph(text, "plan");
    for (int i = 0; i < plan->program->nsteps; i++)
      if (view.numbers[i] > 0)
        add_step(text, &view, i, output[i]);
    gs_text_add(text, "}\n");
  }
  gs_arena_free(scratch);
}

static void add_graph_node(struct gs_text *out, struct gs_arena *scratch,
                           const struct gs_node *node, const struct gs_sharding *sharding)
{
  struct gs_text what = { .arena = scratch }, type = { .arena = scratch };
  if (node->name != NULL)
    gs_text_printf(&what, "%s = ", node->name);
  gs_text_add(&what, gs_op_info(node->op)->name);
  if (node->op == GS_OP_EINSUM)
    gs_text_printf(&what, " %s", node->attrs->einsum.spec);
  if (gs_is_scalar_constant(node->op, &node->type)) {
    gs_text_add(&what, " ");
    gs_print_scalar(&what, node->attrs->constant.tensor);
  }
  gs_type_print(&type, &node->type);
  gs_text_add(&type, " ");
  gs_sharding_print(&type, sharding);
  add_node(out, scratch, node->id, fill_of(node->op, false, false), gs_text_string(&what),
           gs_text_string(&type));
  for (int k = 0; k < node->nargs; k++)
    gs_text_printf(out, "  n%d -> n%d;\n", node->args[k]->id, node->id);
}

void gs_print_graph_dot(struct gs_text *text, const struct gs_plan *plan,
                        const struct gs_print_options *options)
{
  struct gs_arena *scratch = gs_arena_new(NULL);
  (void)options;
  if (scratch == NULL)
    return;
  open_graph(text, "graph_of_operators");
  for (int id = 0; id < plan->completion->nnodes; id++)
    if (plan->completion->shardings[id] != NULL)
      add_graph_node(text, scratch, plan->graph->nodes[id], plan->completion->shardings[id]);
  gs_text_add(text, "}\n");
  gs_arena_free(scratch);
}
