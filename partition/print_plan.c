/* partition/print_plan.c - the plan for people: steps, totals, legend, what to note. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "partition/print_device.h"
#include "partition/print_dot.h"
#include "partition/print_json.h"
#include "partition/profile.h"

enum { MOST_DEPARTURES = 6, MOST_LEGENDS = 8 };

enum column { NUMBER, STEP, LOCAL, SHARDING, LINE, GROUPS, SENDS, FLOPS, NCOLUMNS };
static const struct gs_column columns[NCOLUMNS] = {
  [NUMBER] = { "number", "#", true, false },
  [STEP] = { "step", "step", false, true },
  [LOCAL] = { "local", "per device", false, false },
  [SHARDING] = { "sharding", "sharding", false, false },
  [LINE] = { "line", "line", true, false },
  [GROUPS] = { "groups", "groups", true, false },
  [SENDS] = { "sends", "sends", true, false },
  [FLOPS] = { "flops", "FLOPs", true, false }
};

/* Between facts of one line. */
static const char *dot_between(const struct gs_writer *w)
{
  return w->options->unicode ? " \xc2\xb7 " : ", ";
}

static void add_header(struct gs_writer *w, const struct gs_view *view)
{
  const struct gs_program *p = view->program;
  for (int i = 0; i < p->noutputs; i++) {
    const struct gs_step *s = &p->steps[p->outputs[i].step];
    struct gs_text line = gs_writer_text(w);
    gs_paint(&line, GS_ROLE_HEADING, p->outputs[i].name);
    gs_text_add(&line, " : ");
    gs_type_print(&line, &s->global);
    gs_text_add(&line, " ");
    gs_print_sharding(&line, s->sharding);
    if (i == 0) {
      gs_text_add(&line, "        mesh ");
      gs_mesh_print(&line, p->mesh);
      gs_text_printf(&line, ": %" PRId64 " device%s, one program", p->mesh->ndevices,
                     p->mesh->ndevices == 1 ? "" : "s");
    }
    gs_writer_line(w, &line);
  }
}

static void add_row(struct gs_writer *w, struct gs_view *view, struct gs_table *table, int index)
{
  const struct gs_step *s = &view->program->steps[index];
  const char **row = gs_table_row(table);
  double bytes = gs_step_bytes(view->program, s), flops = gs_step_flops(view->program, s);
  int64_t group = gs_step_group_size(s);
  struct gs_text step = gs_writer_text(w), local = gs_writer_text(w), sharding = gs_writer_text(w),
                 sends = gs_writer_text(w), work = gs_writer_text(w);
  if (row == NULL)
    return;
  gs_view_step(&step, view, index);
  gs_type_print(&local, &s->type);
  gs_print_sharding(&sharding, s->sharding);
  row[NUMBER] = gs_arena_printf(w->scratch, "%d", view->numbers[index]);
  row[STEP] = gs_text_string(&step);
  if (!gs_view_is_frame(s)) {
    row[LOCAL] = gs_text_string(&local);
    row[SHARDING] = gs_text_string(&sharding);
  }
  row[LINE] = gs_view_place(view, s->node->span);
  if (group > 1) {
    if (group != view->program->mesh->ndevices)
      row[GROUPS] = gs_arena_printf(w->scratch, "%" PRId64 "x%" PRId64,
                                    view->program->mesh->ndevices / group, group);
    gs_print_bytes(&sends, bytes);
    if (s->count != 1)
      gs_text_printf(&sends, " x%.0f", s->count);
    row[SENDS] = gs_text_string(&sends);
  }
  if (flops > 0) {
    gs_print_count(&work, flops);
    row[FLOPS] = gs_text_string(&work);
  }
}

static void add_sends(struct gs_writer *w, const struct gs_program_totals *totals)
{
  struct gs_text line = gs_writer_text(w);
  if (totals->collectives == 0) {
    gs_text_add(&line, "sends nothing");
    gs_writer_line(w, &line);
    return;
  }
  gs_text_add(&line, "sends ");
  gs_print_bytes(&line, totals->bytes);
  gs_text_printf(&line, " a device in %d collective%s", totals->collectives,
                 totals->collectives == 1 ? "" : "s");
  const char *before = " (";
  for (int op = 0; op < GS_OP_COUNT; op++) {
    if (totals->bytes_by_op[op] <= 0)
      continue;
    gs_text_printf(&line, "%s%s ", before, gs_op_info((enum gs_op)op)->name);
    gs_print_bytes(&line, totals->bytes_by_op[op]);
    before = ", ";
  }
  gs_text_add(&line, before[0] == ',' ? ")" : "");
  gs_writer_line(w, &line);
}

/* "1/8 of the whole", "all of it", "31% of the whole" */
static void add_share(struct gs_text *line, double flops, double whole)
{
  double ratio = whole / flops;
  if (fabs(ratio - 1) < 0.005) {
    gs_text_add(line, ", all of it");
  } else if (ratio > 1 && fabs(ratio - round(ratio)) < 0.005 * ratio) {
    gs_text_printf(line, ", 1/%.0f of the whole", ratio);
  } else {
    gs_text_add(line, ", ");
    gs_print_percent(line, 1 / ratio);
    gs_text_add(line, " of the whole");
  }
}

static void add_work(struct gs_writer *w, const struct gs_mesh *mesh,
                     const struct gs_program_totals *totals)
{
  struct gs_text line = gs_writer_text(w);
  const struct gs_profile *profile = gs_profile_of_mesh(mesh);
  if (totals->flops > 0) {
    gs_print_count(&line, totals->flops);
    gs_text_printf(&line, "%sFLOP a device", totals->flops < 9999.5 ? " " : "");
    add_share(&line, totals->flops, totals->whole_flops);
  } else {
    gs_text_add(&line, "no FLOPs");
  }
  gs_text_printf(&line, "%speak ", dot_between(w));
  gs_print_bytes(&line, (double)totals->peak_memory);
  gs_text_add(&line, dot_between(w));
  if (totals->padding <= 0) {
    gs_text_add(&line, "no padding");
  } else {
    gs_print_percent(&line, totals->padding);
    gs_text_add(&line, " padding");
  }
  if (profile != gs_profile_at(0)) {
    gs_text_add(&line, dot_between(w));
    gs_print_seconds(&line, totals->time);
    gs_text_printf(&line, " on %s", profile->name);
  }
  gs_writer_line(w, &line);
}

/* What "+y" means, once for each that occurs. */
static void add_legend(struct gs_writer *w, const struct gs_view *view)
{
  struct { struct gs_axis axis; enum gs_op kind; } seen[MOST_LEGENDS];
  int count = 0;
  struct gs_text line = gs_writer_text(w);
  for (int i = 0; i < view->program->nsteps; i++) {
    const struct gs_sharding *s = view->program->steps[i].sharding;
    for (int k = 0; view->numbers[i] > 0 && k < s->npartial; k++) {
      int at = 0;
      while (at < count && !(gs_axis_equal(seen[at].axis, s->partial[k])
                             && seen[at].kind == s->partial_kind))
        at++;
      if (at < count || count == MOST_LEGENDS)
        continue;
      seen[count].axis = s->partial[k];
      seen[count++].kind = s->partial_kind;
      const char *kind = s->partial_kind == GS_OP_SUM ? "" : gs_op_info(s->partial_kind)->name;
      gs_text_printf(&line, "%s%s+", at == 0 ? "( " : dot_between(w), kind);
      gs_axis_print(&line, view->program->mesh, s->partial[k]);
      gs_text_printf(&line, ": partial %s over ", gs_partial_word(s->partial_kind));
      gs_axis_print(&line, view->program->mesh, s->partial[k]);
    }
  }
  if (count == 0)
    return;
  gs_text_add(&line, " )");
  gs_writer_line(w, &line);
}

/* One line a departure; values of one name that go the same way are told once. */
static int list_departures(struct gs_writer *w, struct gs_view *view)
{
  const struct gs_plan *plan = view->plan;
  const char *previous = "";
  int told = 0;
  for (int i = 0; i < plan->ndepartures; i++) {
    struct gs_text line = gs_writer_text(w);
    gs_view_node(&line, view, plan->graph->nodes[plan->departures[i].node]);
    gs_text_add(&line, " runs as ");
    gs_print_sharding(&line, plan->departures[i].chosen);
    gs_text_add(&line, " where completion says ");
    gs_print_sharding(&line, plan->departures[i].completed);
    if (strcmp(gs_text_string(&line), previous) != 0 && ++told <= MOST_DEPARTURES)
      gs_writer_line(w, &line);
    previous = gs_text_string(&line);
  }
  return told;
}

void gs_print_departures(struct gs_writer *w, struct gs_view *view, double bytes)
{
  const struct gs_plan *plan = view->plan;
  struct gs_text line = gs_writer_text(w);
  int told = list_departures(w, view);
  if (told == 0)
    return;
  if (told > MOST_DEPARTURES)
    gs_text_printf(&line, "and %d more; ", told - MOST_DEPARTURES);
  if (plan->completed_bytes > bytes) {
    gs_text_add(&line, "this saves ");
    gs_print_bytes(&line, plan->completed_bytes - bytes);
    gs_text_add(&line, " of ");
    gs_print_bytes(&line, plan->completed_bytes);
    gs_text_add(&line, " sent a device");
  } else {
    gs_text_add(&line, "this saves work, not bytes");
  }
  gs_writer_line(w, &line);
}

static void print_all_devices(struct gs_writer *w, struct gs_view *view)
{
  struct gs_program_totals totals;
  struct gs_table table;
  gs_program_total(w->scratch, view->program, &totals);
  gs_table_init(&table, w->scratch, columns, NCOLUMNS);
  add_header(w, view);
  for (int i = 0; i < view->program->nsteps; i++)
    if (view->numbers[i] > 0)
      add_row(w, view, &table, i);
  gs_writer_table(w, &table);
  add_sends(w, &totals);
  add_work(w, view->program->mesh, &totals);
  add_legend(w, view);
  gs_print_departures(w, view, totals.bytes);
  gs_view_warnings(view, gs_print_warning_line, w);
}

void gs_print_plan(struct gs_text *text, const struct gs_plan *plan,
                   const struct gs_print_options *options)
{
  struct gs_writer w;
  struct gs_view view;
  if (options->format == GS_FORMAT_JSON) {
    gs_print_plan_json(text, plan, options);
    return;
  }
  if (options->format == GS_FORMAT_DOT) {
    gs_print_plan_dot(text, plan, options);
    return;
  }
  if (!gs_writer_open(&w, text, options, "plan"))
    return;
  if (!gs_view_make(&view, w.scratch, plan)) {
    gs_writer_close(&w);
    return;
  }
  if (options->device >= 0)
    gs_print_device(&w, &view);
  else
    print_all_devices(&w, &view);
  gs_writer_close(&w);
}
