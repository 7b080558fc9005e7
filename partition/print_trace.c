/* partition/print_trace.c - completion step by step. */
#include <config.h>

#include "partition/print_parts.h"

enum column { NUMBER, VALUE, DIM, AXES, AFTER, WHY, LEVEL, NCOLUMNS };
static const struct gs_column columns[NCOLUMNS] = {
  [NUMBER] = { "number", "", true, false },
  [VALUE] = { "value", "value", false, false },
  [DIM] = { "dim", "dim", true, false },
  [AXES] = { "axes", "gets", false, false },
  [AFTER] = { "after", "sharding now", false, false },
  [WHY] = { "why", "because of", false, true },
  [LEVEL] = { "level", "level", true, false }
};

static void add_event(struct gs_writer *w, struct gs_view *view, struct gs_table *table, int index)
{
  const struct gs_completion_event *event = &view->plan->completion->events[index];
  struct gs_node **nodes = view->plan->graph->nodes;
  const struct gs_dim_sharding *d = &event->after->dims[event->dim];
  const char **row = gs_table_row(table);
  struct gs_text value = gs_writer_text(w), axes = gs_writer_text(w), after = gs_writer_text(w),
                 why = gs_writer_text(w);
  if (row == NULL)
    return;
  gs_view_node(&value, view, nodes[event->node]);
  if (d->naxes > 0)
    gs_axes_print(&axes, event->after->mesh, d->axes, d->naxes);
  else
    gs_text_add(&axes, "-");
  gs_print_sharding(&after, event->after);
  if (event->reason.kind == GS_REASON_ANNOTATED) {
    gs_text_add(&why, "its annotation");
  } else {
    gs_view_node(&why, view, nodes[event->reason.from_node]);
    gs_text_printf(&why, " dim %d, %s through ", event->reason.from_dim,
                   event->reason.forward ? "forward" : "backward");
    gs_text_add(&why, gs_op_info(nodes[event->reason.node]->op)->name);
    row[LEVEL] = gs_arena_printf(w->scratch, "%d", event->reason.level);
  }
  row[NUMBER] = gs_arena_printf(w->scratch, "%d", index + 1);
  row[VALUE] = gs_text_string(&value);
  row[DIM] = gs_arena_printf(w->scratch, "%d", event->dim);
  row[AXES] = gs_text_string(&axes);
  row[AFTER] = gs_text_string(&after);
  row[WHY] = gs_text_string(&why);
}

/* What the annotations say by themselves: the state completion starts from. */
static void print_start(struct gs_writer *w, struct gs_view *view)
{
  const struct gs_completion *c = view->plan->completion;
  int annotated = 0;
  for (int id = 0; id < c->nnodes; id++) {
    const struct gs_node *node = view->plan->graph->nodes[id];
    if (c->shardings[id] == NULL || node->op != GS_OP_SHARD
        || node->attrs->shard.annotation == NULL)
      continue;
    struct gs_text line = gs_writer_text(w);
    gs_view_node(&line, view, node);
    gs_text_add(&line, " is annotated ");
    gs_paint_from(&line, GS_ROLE_SHARDING);
    gs_sharding_print_source(&line, node->attrs->shard.annotation);
    gs_paint_from(&line, GS_ROLE_PLAIN);
    gs_writer_line(w, &line);
    annotated++;
  }
  if (annotated == 0) {
    struct gs_text line = gs_writer_text(w);
    gs_text_add(&line, "nothing is annotated: every value stays replicated");
    gs_writer_line(w, &line);
  }
}

static void print_end(struct gs_writer *w, struct gs_view *view)
{
  const struct gs_program *p = view->program;
  for (int i = 0; i < p->noutputs; i++) {
    struct gs_text line = gs_writer_text(w);
    gs_text_add(&line, "so ");
    gs_paint(&line, GS_ROLE_NAME, p->outputs[i].name);
    gs_text_add(&line, " is ");
    gs_print_sharding(&line, view->plan->completion->shardings[p->outputs[i].node->id]);
    gs_writer_line(w, &line);
  }
}

void gs_print_trace(struct gs_text *text, const struct gs_plan *plan,
                    const struct gs_print_options *options)
{
  struct gs_writer w;
  struct gs_view view;
  struct gs_table table;
  if (!gs_writer_open(&w, text, options, "trace"))
    return;
  if (gs_view_make(&view, w.scratch, plan)) {
    gs_table_init(&table, w.scratch, columns, NCOLUMNS);
    print_start(&w, &view);
    for (int i = 0; i < plan->completion->nevents; i++)
      add_event(&w, &view, &table, i);
    gs_writer_table(&w, &table);
    print_end(&w, &view);
  }
  gs_writer_close(&w);
}
