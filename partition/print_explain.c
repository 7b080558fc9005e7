/* partition/print_explain.c - why: the reasons behind each output dim, conflict and collective. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "partition/axes.h"
#include "partition/print_parts.h"

enum { MOST_HOPS = 4096, SHOWN_FIRST = 4, SHOWN_LAST = 3, MOST_CONFLICTS = 12 };

enum column { DIM, AXES, WHY, NCOLUMNS };
static const struct gs_column columns[NCOLUMNS] = {
  [DIM] = { "dim", "", false, false },
  [AXES] = { "axes", "", false, false },
  [WHY] = { "why", "", false, true }
};

/* One operator a sharding went through, from a value's dim to the next. */
struct hop {
  const struct gs_reason *reason;
  int node, dim;                       /* where it arrived */
};

struct explainer {
  struct gs_writer w;
  struct gs_view view;
  const struct gs_plan *plan;
  struct hop *hops;                    /* from the output back to the annotation */
  int nhops;
};

static const struct gs_node *node_at(const struct explainer *e, int id)
{
  return e->plan->graph->nodes[id];
}

/* Follow reasons back from DIM of NODE; a refinement may have come back to where it began, so the
 * number of hops is bounded. */
static const struct gs_reason *trace_back(struct explainer *e, int node, int dim)
{
  e->nhops = 0;
  const struct gs_reason *r = &e->plan->completion->reasons[node][dim];
  while (r->kind == GS_REASON_PROPAGATED && e->nhops < MOST_HOPS) {
    e->hops[e->nhops++] = (struct hop){ r, node, dim };
    node = r->from_node;
    dim = r->from_dim;
    r = &e->plan->completion->reasons[node][dim];
  }
  return r;
}

static void add_arrow(const struct explainer *e, struct gs_text *text, bool forward)
{
  if (e->w.options->unicode)
    gs_text_add(text, forward ? " \xe2\x86\x92 " : " \xe2\x86\x90 ");
  else
    gs_text_add(text, forward ? " -> " : " <- ");
}

/* "w1 (line 3) dim 1" */
static void add_value(struct explainer *e, struct gs_text *text, int node, int dim)
{
  gs_view_node(text, &e->view, node_at(e, node));
  gs_text_printf(text, " dim %d", dim);
}

/* The line only where it is another than that of the operator before; level 0 is not told. */
static void add_hop(struct explainer *e, struct gs_text *text, const struct hop *hop,
                    const char **previous)
{
  const struct gs_node *through = node_at(e, hop->reason->node);
  const char *place = gs_view_place(&e->view, through->span), *before = " (", *after = "";
  add_arrow(e, text, hop->reason->forward);
  gs_text_add(text, gs_op_info(through->op)->name);
  if (through->op == GS_OP_EINSUM)
    gs_text_printf(text, " %s", through->attrs->einsum.spec);
  if (place != NULL && strcmp(place, *previous) != 0) {
    gs_text_printf(text, " (line %s", place);
    before = ", ";
    after = ")";
    *previous = place;
  }
  if (hop->reason->level > 0) {
    gs_text_printf(text, "%slevel %d", before, hop->reason->level);
    after = ")";
  }
  gs_text_add(text, after);
}

static void add_chain(struct explainer *e, struct gs_text *text, int node, int dim)
{
  const struct gs_reason *origin = trace_back(e, node, dim);
  const char *previous = "";
  if (e->nhops == 0) {
    const char *place = gs_view_place(&e->view, node_at(e, node)->span);
    gs_text_add(text, origin->kind == GS_REASON_ANNOTATED ? "annotated"
                                                          : "no annotation reaches it");
    if (place != NULL && origin->kind == GS_REASON_ANNOTATED)
      gs_text_printf(text, " (line %s)", place);
    return;
  }
  const struct hop *first = &e->hops[e->nhops - 1];
  gs_text_add(text, origin->kind == GS_REASON_ANNOTATED ? "annotated on " : "from ");
  add_value(e, text, first->reason->from_node, first->reason->from_dim);
  for (int i = e->nhops - 1; i >= 0; i--) {
    int done = e->nhops - 1 - i;
    if (done == SHOWN_FIRST && i > SHOWN_LAST) {
      add_arrow(e, text, true);
      gs_text_printf(text, "%d more", i + 1 - SHOWN_LAST);
      i = SHOWN_LAST;
      continue;
    }
    add_hop(e, text, &e->hops[i], &previous);
  }
}

static void explain_dims(struct explainer *e, const struct gs_program_output *out)
{
  const struct gs_sharding *s = e->plan->completion->shardings[out->node->id];
  struct gs_table table;
  struct gs_text title = gs_writer_text(&e->w);
  gs_table_init(&table, e->w.scratch, columns, NCOLUMNS);
  gs_paint(&title, GS_ROLE_HEADING, out->name);
  gs_text_add(&title, " : ");
  gs_type_print(&title, &out->node->type);
  gs_text_add(&title, " ");
  gs_print_sharding(&title, s);
  gs_writer_line(&e->w, &title);
  for (int i = 0; i < s->rank; i++) {
    const char **row = gs_table_row(&table);
    struct gs_text axes = gs_writer_text(&e->w), why = gs_writer_text(&e->w);
    if (row == NULL)
      return;
    if (s->dims[i].naxes == 0) {
      gs_text_add(&axes, "-");
    } else {
      gs_text_add(&axes, "on ");
      gs_axes_print(&axes, s->mesh, s->dims[i].axes, s->dims[i].naxes);
    }
    add_chain(e, &why, out->node->id, i);
    row[DIM] = gs_arena_printf(e->w.scratch, "dim %d", i);
    row[AXES] = gs_text_string(&axes);
    row[WHY] = gs_text_string(&why);
  }
  gs_writer_table(&e->w, &table);
}

static void add_side(struct explainer *e, struct gs_text *text, int node, int dim)
{
  const struct gs_sharding *s = e->plan->completion->shardings[node];
  add_value(e, text, node, dim);
  if (s == NULL || dim >= s->rank || s->dims[dim].naxes == 0)
    return;
  gs_text_add(text, " on ");
  gs_axes_print(text, s->mesh, s->dims[dim].axes, s->dims[dim].naxes);
}

static void explain_conflicts(struct explainer *e)
{
  const struct gs_completion *c = e->plan->completion;
  for (int i = 0; i < c->nconflicts && i < MOST_CONFLICTS; i++) {
    const struct gs_conflict *k = &c->conflicts[i];
    struct gs_text line = gs_writer_text(&e->w);
    gs_text_add(&line, "at ");
    gs_view_node(&line, &e->view, node_at(e, k->node));
    gs_text_add(&line, ": ");
    add_side(e, &line, k->winner_node, k->winner_dim);
    gs_text_add(&line, " won over ");
    add_side(e, &line, k->loser_node, k->loser_dim);
    gs_writer_line(&e->w, &line);
  }
  if (c->nconflicts > MOST_CONFLICTS) {
    struct gs_text line = gs_writer_text(&e->w);
    gs_text_printf(&line, "and %d more conflicts", c->nconflicts - MOST_CONFLICTS);
    gs_writer_line(&e->w, &line);
  }
}

/* An annotated value that is only moved could have been annotated as it is used. */
static void suggest_move(struct explainer *e, const struct gs_step *s)
{
  const struct gs_step *root = gs_view_root(&e->view, s);
  const char *name = gs_node_title(root->node);
  bool moves = s->op == GS_OP_ALL_GATHER || s->op == GS_OP_ALL_TO_ALL || s->op == GS_OP_PERMUTE;
  if (!moves || name == NULL || s->sharding->npartial > 0
      || (root->nargs > 0 && root->node->op != GS_OP_SHARD))
    return;
  struct gs_text line = gs_writer_text(&e->w);
  double times = (double)gs_type_bytes(&s->type) / (double)gs_type_bytes(&root->type);
  gs_text_printf(&line, "   %s = shard(%s, ", name, name);
  gs_sharding_print_source(&line, s->sharding);
  gs_text_add(&line, ") would remove it");
  if (times > 1.05)
    gs_text_printf(&line, ", at %.3g times the memory for %s", times, name);
  gs_writer_line(&e->w, &line);
}

/* S's sharding without AXES. */
static const struct gs_sharding *without_axes(struct explainer *e, const struct gs_sharding *s,
                                              const struct gs_axis *axes, int naxes)
{
  struct gs_sharding *less = gs_arena_copy(e->w.scratch, s, sizeof *s + (size_t)s->rank * sizeof s->dims[0]);
  for (int i = 0; less != NULL && i < s->rank; i++) {
    struct gs_axis *kept = GS_NEW_ARRAY(e->w.scratch, struct gs_axis, s->dims[i].naxes + 1);
    int n = 0;
    if (kept == NULL)
      return NULL;
    for (int k = 0; k < s->dims[i].naxes; k++)
      if (!gs_axes_overlap(&s->dims[i].axes[k], 1, axes, naxes))
        kept[n++] = s->dims[i].axes[k];
    less->dims[i].axes = kept;
    less->dims[i].naxes = n;
  }
  return less;
}

static bool uses_axes(const struct gs_sharding *s, const struct gs_axis *axes, int naxes)
{
  for (int i = 0; i < s->rank; i++)
    if (gs_axes_overlap(s->dims[i].axes, s->dims[i].naxes, axes, naxes))
      return true;
  return false;
}

/* Whether the operands that make MADE partial over AXES were annotated so: "x = shard(x, [x, -1])" for
 * each, to TEXT. */
static bool annotate_whole(struct explainer *e, struct gs_text *text, const struct gs_step *made,
                           const struct gs_axis *axes, int naxes)
{
  int count = 0;
  for (int i = 0; i < made->nargs; i++) {
    const struct gs_step *operand = &e->plan->program->steps[made->args[i]];
    const struct gs_step *root = gs_view_root(&e->view, operand);
    const char *name = gs_node_title(root->node);
    if (!uses_axes(operand->sharding, axes, naxes))
      continue;
    const struct gs_sharding *less = without_axes(e, operand->sharding, axes, naxes);
    if (name == NULL || less == NULL || (root->nargs > 0 && root->node->op != GS_OP_SHARD))
      return false;
    gs_text_printf(text, "%s%s = shard(%s, ", count++ > 0 ? " and " : "", name, name);
    gs_sharding_print_source(text, less);
    gs_text_add(text, ")");
  }
  return count > 0;
}

/* Partial values: their operands could stay whole along what is reduced, or the sum could stay cut. */
static void suggest_reduction(struct explainer *e, const struct gs_step *s)
{
  struct gs_axis axes[GS_STEP_AXES];
  int naxes = gs_step_axes(s, axes);
  const struct gs_step *made = gs_view_root(&e->view, &e->plan->program->steps[s->args[0]]);
  struct gs_text line = gs_writer_text(&e->w);
  gs_text_add(&line, "   ");
  if (annotate_whole(e, &line, made, axes, naxes)) {
    gs_text_printf(&line, " would remove it, at up to %" PRId64 " times the work", gs_axes_size(axes, naxes));
    gs_writer_line(&e->w, &line);
    return;
  }
  const char *name = gs_node_title(s->node);
  const struct gs_sharding *whole = s->sharding;
  int dim = 0;
  while (dim < whole->rank
         && (whole->dims[dim].naxes > 0 || s->global.dims[dim] % gs_axes_size(axes, naxes) != 0))
    dim++;
  if (s->op != GS_OP_ALL_REDUCE || !s->is_value || name == NULL || dim == whole->rank
      || s->global.dims[dim] == 0)
    return;
  struct gs_sharding *cut = gs_arena_copy(e->w.scratch, whole,
                                          sizeof *whole + (size_t)whole->rank * sizeof whole->dims[0]);
  if (cut == NULL)
    return;
  cut->dims[dim].axes = axes;
  cut->dims[dim].naxes = naxes;
  line = gs_writer_text(&e->w);
  gs_text_printf(&line, "   %s = shard(%s, ", name, name);
  gs_sharding_print_source(&line, cut);
  gs_text_add(&line, ") would make it a reduce-scatter, half the bytes");
  gs_writer_line(&e->w, &line);
}

/* "#4 all-gather #1 over y, dim 2: 768 KiB, 31% of all" and why below it. */
static void explain_collective(struct explainer *e, int index, double all)
{
  const struct gs_step *s = &e->plan->program->steps[index];
  double bytes = gs_step_bytes(e->plan->program, s);
  struct gs_text what = gs_writer_text(&e->w), why = gs_writer_text(&e->w);
  gs_text_printf(&what, "#%d ", e->view.numbers[index]);
  gs_view_operation(&what, &e->view, s);
  gs_text_add(&what, ": ");
  gs_print_bytes(&what, bytes);
  if (all > 0) {
    gs_text_add(&what, ", ");
    gs_print_percent(&what, bytes / all);
    gs_text_add(&what, " of all");
  }
  gs_writer_line(&e->w, &what);
  const char *place = gs_view_place(&e->view, s->node->span);
  gs_text_add(&why, "   ");
  if (place != NULL)
    gs_text_printf(&why, "line %s: ", place);
  gs_text_add(&why, s->reason != NULL ? s->reason : "the value is wanted in another sharding");
  gs_writer_line(&e->w, &why);
  if (s->op == GS_OP_ALL_REDUCE || s->op == GS_OP_REDUCE_SCATTER)
    suggest_reduction(e, s);
  else
    suggest_move(e, s);
}

static void explain(struct explainer *e)
{
  const struct gs_program *p = e->plan->program;
  struct gs_program_totals totals;
  gs_program_total(e->w.scratch, p, &totals);
  for (int i = 0; i < p->noutputs; i++)
    explain_dims(e, &p->outputs[i]);
  explain_conflicts(e);
  for (int i = 0; i < p->nsteps; i++)
    if (gs_step_group_size(&p->steps[i]) > 1)
      explain_collective(e, i, totals.bytes);
  if (totals.collectives == 0) {
    struct gs_text line = gs_writer_text(&e->w);
    gs_text_add(&line, "no collectives: every device has what it needs");
    gs_writer_line(&e->w, &line);
  }
  gs_print_departures(&e->w, &e->view, totals.bytes);
  gs_view_warnings(&e->view, gs_print_warning_line, &e->w);
}

void gs_print_explain(struct gs_text *text, const struct gs_plan *plan,
                      const struct gs_print_options *options)
{
  struct explainer e = { .plan = plan };
  if (!gs_writer_open(&e.w, text, options, "explain"))
    return;
  e.hops = GS_NEW_ARRAY(e.w.scratch, struct hop, MOST_HOPS);
  if (e.hops != NULL && gs_view_make(&e.view, e.w.scratch, plan))
    explain(&e);
  gs_writer_close(&e.w);
}
