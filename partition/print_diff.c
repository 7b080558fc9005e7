/* partition/print_diff.c - two plans side by side: totals, outputs, collectives gone and new. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/print_parts.h"
#include "partition/profile.h"

enum { MOST_CHANGES = 40 };

enum column { WHAT, BEFORE, AFTER, CHANGE, NCOLUMNS };
static const struct gs_column columns[NCOLUMNS] = {
  [WHAT] = { "what", "a device", false, false },
  [BEFORE] = { "before", "before", true, false },
  [AFTER] = { "after", "after", true, false },
  [CHANGE] = { "change", "change", true, false }
};

typedef void print_amount(struct gs_text *text, double amount);

static void print_plain(struct gs_text *text, double amount)
{
  gs_text_printf(text, "%.0f", amount);
}

/* "-37%", "x4", green where it became less. */
static void print_change(struct gs_text *text, double before, double after)
{
  if (before == after) {
    gs_text_add(text, "=");
    return;
  }
  gs_paint_from(text, after < before ? GS_ROLE_GOOD : GS_ROLE_BAD);
  if (before <= 0)
    gs_text_add(text, "new");
  else if (after <= 0)
    gs_text_add(text, "gone");
  else if (after >= 2 * before)
    gs_text_printf(text, "x%.3g", after / before);
  else
    gs_text_printf(text, "%+.3g%%", 100 * (after / before - 1));
  gs_paint_from(text, GS_ROLE_PLAIN);
}

static void add_amount(struct gs_writer *w, struct gs_table *table, const char *what, double before,
                       double after, print_amount *print)
{
  struct gs_text a = gs_writer_text(w), b = gs_writer_text(w), change = gs_writer_text(w);
  const char **row = gs_table_row(table);
  if (row == NULL)
    return;
  print(&a, before);
  print(&b, after);
  print_change(&change, before, after);
  row[WHAT] = what;
  row[BEFORE] = gs_text_string(&a);
  row[AFTER] = gs_text_string(&b);
  row[CHANGE] = gs_text_string(&change);
}

static void compare_totals(struct gs_writer *w, const struct gs_plan *before,
                           const struct gs_plan *after)
{
  struct gs_program_totals a, b;
  struct gs_table table;
  gs_program_total(w->scratch, before->program, &a);
  gs_program_total(w->scratch, after->program, &b);
  gs_table_init(&table, w->scratch, columns, NCOLUMNS);
  add_amount(w, &table, "sends", a.bytes, b.bytes, gs_print_bytes);
  for (int op = 0; op < GS_OP_COUNT; op++)
    if (a.bytes_by_op[op] > 0 || b.bytes_by_op[op] > 0)
      add_amount(w, &table, gs_arena_printf(w->scratch, "  %s", gs_op_info((enum gs_op)op)->name),
                 a.bytes_by_op[op], b.bytes_by_op[op], gs_print_bytes);
  add_amount(w, &table, "collectives", a.collectives, b.collectives, print_plain);
  add_amount(w, &table, "FLOPs", a.flops, b.flops, gs_print_count);
  add_amount(w, &table, "peak memory", (double)a.peak_memory, (double)b.peak_memory,
             gs_print_bytes);
  add_amount(w, &table, "padding", a.padding, b.padding, gs_print_percent);
  if (gs_profile_of_mesh(before->mesh) != gs_profile_at(0)
      || gs_profile_of_mesh(after->mesh) != gs_profile_at(0))
    add_amount(w, &table, "time", a.time, b.time, gs_print_seconds);
  gs_writer_table(w, &table);
}

static void add_output(struct gs_text *text, const struct gs_plan *plan, int i)
{
  gs_print_sharding(text, plan->program->steps[plan->program->outputs[i].step].sharding);
}

static void compare_outputs(struct gs_writer *w, const struct gs_plan *before,
                            const struct gs_plan *after)
{
  for (int i = 0; i < after->program->noutputs; i++) {
    struct gs_text line = gs_writer_text(w), old = gs_writer_text(w), new = gs_writer_text(w);
    const char *name = after->program->outputs[i].name;
    add_output(&new, after, i);
    for (int k = 0; k < before->program->noutputs && old.length == 0; k++)
      if (strcmp(before->program->outputs[k].name, name) == 0)
        add_output(&old, before, k);
    gs_paint(&line, GS_ROLE_NAME, name);
    gs_text_add(&line, " : ");
    if (old.length > 0 && strcmp(gs_text_string(&old), gs_text_string(&new)) != 0)
      gs_text_printf(&line, "%s, now ", gs_text_string(&old));
    gs_text_add(&line, gs_text_string(&new));
    gs_writer_line(w, &line);
  }
  if (!gs_mesh_equal(before->mesh, after->mesh)) {
    struct gs_text line = gs_writer_text(w);
    gs_text_add(&line, "mesh ");
    gs_mesh_print(&line, before->mesh);
    gs_text_add(&line, ", now ");
    gs_mesh_print(&line, after->mesh);
    gs_writer_line(w, &line);
  }
}

/* The collectives of a plan as lines that say the same wherever the step stands. */
struct lines { int count; const char **items; };

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *describe(struct gs_writer *w, struct gs_view *view, const struct gs_step *s)
{
  struct gs_text text = gs_writer_text(w);
  const struct gs_step *root = gs_view_root(view, s);
  gs_text_add(&text, gs_op_info(s->op)->name);
  gs_view_where(&text, view, s);
  gs_text_add(&text, ", of ");
  gs_view_node(&text, view, root->node);
  gs_text_add(&text, " ");
  gs_type_print(&text, &view->program->steps[s->args[0]].type);
  gs_text_add(&text, ": ");
  gs_print_bytes(&text, gs_step_bytes(view->program, s));
  return gs_text_string(&text);
}

static bool list_collectives(struct gs_writer *w, const struct gs_plan *plan, struct lines *lines)
{
  struct gs_view view;
  lines->count = 0;
  lines->items = GS_NEW_ARRAY(w->scratch, const char *, plan->program->nsteps + 1);
  if (lines->items == NULL || !gs_view_make(&view, w->scratch, plan))
    return false;
  for (int i = 0; i < plan->program->nsteps; i++)
    if (gs_step_group_size(&plan->program->steps[i]) > 1)
      lines->items[lines->count++] = describe(w, &view, &plan->program->steps[i]);
  qsort(lines->items, (size_t)lines->count, sizeof *lines->items, by_text);
  return true;
}

static void add_change(struct gs_writer *w, enum gs_role role, char sign, const char *what,
                       int *changes)
{
  struct gs_text line = gs_writer_text(w);
  if (++*changes > MOST_CHANGES)
    return;
  gs_paint_from(&line, role);
  gs_text_printf(&line, "%c ", sign);
  gs_paint_from(&line, GS_ROLE_PLAIN);
  gs_text_add(&line, what);
  gs_writer_line(w, &line);
}

/* Walk both sorted lists: what only one has is gone or new. */
static void compare_collectives(struct gs_writer *w, const struct lines *a, const struct lines *b)
{
  int i = 0, k = 0, changes = 0;
  while (i < a->count || k < b->count) {
    int order = i == a->count ? 1 : k == b->count ? -1 : strcmp(a->items[i], b->items[k]);
    if (order < 0)
      add_change(w, GS_ROLE_GOOD, '-', a->items[i], &changes);
    if (order > 0)
      add_change(w, GS_ROLE_BAD, '+', b->items[k], &changes);
    i += order <= 0;
    k += order >= 0;
  }
  struct gs_text line = gs_writer_text(w);
  if (changes == 0)
    gs_text_printf(&line, "the same %d collective%s", a->count, a->count == 1 ? "" : "s");
  else if (changes > MOST_CHANGES)
    gs_text_printf(&line, "and %d more changes", changes - MOST_CHANGES);
  if (line.length > 0)
    gs_writer_line(w, &line);
}

void gs_print_diff(struct gs_text *text, const struct gs_plan *before, const struct gs_plan *after,
                   const struct gs_print_options *options)
{
  struct gs_writer w;
  struct lines a, b;
  if (!gs_writer_open(&w, text, options, "diff"))
    return;
  compare_outputs(&w, before, after);
  compare_totals(&w, before, after);
  if (list_collectives(&w, before, &a) && list_collectives(&w, after, &b))
    compare_collectives(&w, &a, &b);
  gs_writer_close(&w);
}
