/* partition/print_show.c - which device holds which block of a value, drawn as a grid. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "partition/axes.h"
#include "partition/print_device.h"

enum {
  MOST_LINES = 16, FEW_LINES = 8, FIRST_LINES = 8, LAST_LINES = 2,
  MOST_COPIES = 4, MOST_GRIDS = 4, COLOURS = 6
};

/* Parts of a dim that are drawn; -1 stands for those left out. */
struct shown {
  int dim;                             /* -1: not cut, one part */
  int count;
  int64_t parts[MOST_LINES];
};

struct painter {
  struct gs_writer w;
  const struct gs_step *step;
  const struct gs_mesh *mesh;
  struct gs_axis_list copies;          /* axes that the value is replicated along */
  struct shown rows, columns;
  int cell, label;                     /* widths */
};

/* "├", "─", … by what they join; ASCII is one character for each. */
static const char *const boxes[4][2][3] = {
  /* top, between, bottom: left, cross, right */
  { { "\xe2\x94\x8c", "\xe2\x94\xac", "\xe2\x94\x90" }, { "+", "+", "+" } },
  { { "\xe2\x94\x9c", "\xe2\x94\xbc", "\xe2\x94\xa4" }, { "+", "+", "+" } },
  { { "\xe2\x94\x94", "\xe2\x94\xb4", "\xe2\x94\x98" }, { "+", "+", "+" } },
  { { "\xe2\x94\x80", "\xe2\x94\x82", "\xe2\x80\xa6" }, { "-", "|", "..." } }
};

static const char *dash(const struct painter *p)
{
  return boxes[3][!p->w.options->unicode][0];
}

static const char *bar(const struct painter *p)
{
  return boxes[3][!p->w.options->unicode][1];
}

static const char *dots(const struct painter *p)
{
  return boxes[3][!p->w.options->unicode][2];
}

static struct shown choose_parts(const struct gs_sharding *s, int dim, int limit)
{
  struct shown shown = { .dim = dim };
  int64_t parts = dim < 0 ? 1 : gs_sharding_parts(s, dim);
  int first = limit > FIRST_LINES + LAST_LINES ? FIRST_LINES : limit > 4 ? limit - 3 : 1;
  if (parts <= limit) {
    for (; shown.count < parts; shown.count++)
      shown.parts[shown.count] = shown.count;
    return shown;
  }
  for (; shown.count < first; shown.count++)
    shown.parts[shown.count] = shown.count;
  shown.parts[shown.count++] = -1;
  for (int64_t i = parts - LAST_LINES; i < parts; i++)
    shown.parts[shown.count++] = i;
  return shown;
}

/* Axes of the mesh in no dim: along them every device holds the same. */
static void find_copies(struct painter *p)
{
  const struct gs_sharding *s = p->step->sharding;
  struct gs_atoms atoms = { 0 }, used = { 0 };
  bool fits = true;
  for (int i = 0; i < s->rank && fits; i++)
    fits = gs_atoms_add(&atoms, s->dims[i].axes, s->dims[i].naxes)
           && gs_atoms_add(&used, s->dims[i].axes, s->dims[i].naxes);
  for (int i = 0; i < p->mesh->naxes && fits; i++) {
    struct gs_axis whole = gs_axis_whole(p->mesh, i);
    fits = gs_atoms_add(&atoms, &whole, 1);
  }
  for (int i = 0; i < atoms.count && fits; i++)
    if (!gs_axes_overlap(&atoms.items[i], 1, used.items, used.count))
      gs_axis_list_add(&p->copies, atoms.items[i]);
}

/* "0:128"; "-" for a part that is nothing but padding. */
static void print_range(struct gs_text *text, const struct painter *p, int dim, int64_t part)
{
  if (dim < 0 || part < 0) {
    gs_text_add(text, part < 0 ? dots(p) : "");
    return;
  }
  int64_t size = p->step->global.dims[dim];
  int64_t block = gs_sharding_block(p->step->sharding, dim, size);
  int64_t begin = part * block < size ? part * block : size;
  int64_t end = begin + block < size ? begin + block : size;
  if (begin == end)
    gs_text_add(text, "-");
  else
    gs_text_printf(text, "%" PRId64 ":%" PRId64, begin, end);
}

static int64_t place(const struct painter *p, int64_t position, int dim, int64_t part)
{
  if (dim < 0)
    return position;
  const struct gs_dim_sharding *d = &p->step->sharding->dims[dim];
  return gs_mesh_with_part(p->mesh, d->axes, d->naxes, position, part);
}

/* The devices that hold the block of ROW and COLUMN, AT a position of the other dims. */
static void print_holders(struct gs_text *text, const struct painter *p, int64_t at, int64_t row,
                          int64_t column)
{
  if (row < 0 || column < 0) {
    gs_text_add(text, dots(p));
    return;
  }
  int64_t copies = gs_axis_list_size(&p->copies);
  at = place(p, place(p, at, p->rows.dim, row), p->columns.dim, column);
  for (int64_t i = 0; i < copies && i < MOST_COPIES; i++) {
    int64_t position = gs_mesh_with_part(p->mesh, p->copies.items, p->copies.count, at, i);
    gs_text_printf(text, "%s%" PRId64, i > 0 ? " " : "", gs_mesh_device(p->mesh, position));
  }
  if (copies > MOST_COPIES)
    gs_text_printf(text, " +%" PRId64, copies - MOST_COPIES);
}

static void fit(int *width, const struct gs_text *text)
{
  int needed = gs_paint_width(gs_text_string(text));
  if (needed > *width)
    *width = needed;
}

static void measure(struct painter *p, int64_t at)
{
  p->cell = p->label = 0;
  for (int r = 0; r < p->rows.count; r++) {
    struct gs_text label = gs_writer_text(&p->w);
    print_range(&label, p, p->rows.dim, p->rows.parts[r]);
    fit(&p->label, &label);
    for (int c = 0; c < p->columns.count; c++) {
      struct gs_text cell = gs_writer_text(&p->w), title = gs_writer_text(&p->w);
      print_holders(&cell, p, at, p->rows.parts[r], p->columns.parts[c]);
      print_range(&title, p, p->columns.dim, p->columns.parts[c]);
      fit(&p->cell, &cell);
      fit(&p->cell, &title);
    }
  }
}

static void add_padded(struct gs_text *text, const char *string, int width)
{
  int spaces = width - gs_paint_width(string);
  gs_text_add(text, string);
  if (spaces > 0)
    gs_text_printf(text, "%*s", spaces, "");
}

/* A horizontal line; KIND 0 above, 1 between, 2 below. */
static void draw_rule(struct painter *p, int kind)
{
  const char *const *corner = boxes[kind][!p->w.options->unicode];
  struct gs_text line = gs_writer_text(&p->w);
  gs_text_printf(&line, "  %*s ", p->label, "");
  for (int c = 0; c < p->columns.count; c++) {
    gs_text_add(&line, corner[c > 0]);
    for (int i = 0; i < p->cell + 2; i++)
      gs_text_add(&line, dash(p));
  }
  gs_text_add(&line, corner[2]);
  gs_writer_line(&p->w, &line);
}

static void draw_titles(struct painter *p)
{
  struct gs_text line = gs_writer_text(&p->w);
  if (p->columns.dim < 0)
    return;
  gs_text_printf(&line, "  %*s ", p->label, "");
  for (int c = 0; c < p->columns.count; c++) {
    struct gs_text title = gs_writer_text(&p->w);
    print_range(&title, p, p->columns.dim, p->columns.parts[c]);
    gs_text_add(&line, "  ");
    add_padded(&line, gs_text_string(&title), c < p->columns.count - 1 ? p->cell + 1 : 0);
  }
  gs_writer_line(&p->w, &line);
}

static void draw_row(struct painter *p, int64_t at, int64_t row)
{
  struct gs_text line = gs_writer_text(&p->w), label = gs_writer_text(&p->w);
  print_range(&label, p, p->rows.dim, row);
  gs_text_add(&line, "  ");
  add_padded(&line, gs_text_string(&label), p->label);
  gs_text_add(&line, " ");
  for (int c = 0; c < p->columns.count; c++) {
    struct gs_text cell = gs_writer_text(&p->w);
    int64_t column = p->columns.parts[c];
    print_holders(&cell, p, at, row, column);
    gs_text_add(&line, bar(p));
    if (row >= 0 && column >= 0)
      gs_paint_from(&line, (enum gs_role)(GS_ROLE_BLOCK + (2 * row + column) % COLOURS));
    gs_text_add(&line, " ");
    add_padded(&line, gs_text_string(&cell), p->cell + 1);
    gs_paint_from(&line, GS_ROLE_PLAIN);
  }
  gs_text_add(&line, bar(p));
  gs_writer_line(&p->w, &line);
}

static void draw_grid(struct painter *p, int64_t at)
{
  measure(p, at);
  draw_titles(p);
  draw_rule(p, 0);
  for (int r = 0; r < p->rows.count; r++) {
    if (r > 0 && p->rows.count <= FEW_LINES)
      draw_rule(p, 1);
    draw_row(p, at, p->rows.parts[r]);
  }
  draw_rule(p, 2);
}

/* One grid for each part of the dims beyond the two that are drawn. */
static void draw_grids(struct painter *p, const int *others, int nothers)
{
  int64_t grids = 1;
  for (int i = 0; i < nothers; i++)
    grids *= gs_sharding_parts(p->step->sharding, others[i]);
  for (int64_t g = 0; g < grids && g < MOST_GRIDS; g++) {
    struct gs_text title = gs_writer_text(&p->w);
    int64_t at = 0, rest = g;
    for (int i = nothers - 1; i >= 0; i--) {
      int64_t parts = gs_sharding_parts(p->step->sharding, others[i]);
      at = place(p, at, others[i], rest % parts);
      gs_text_printf(&title, "%sdim %d at ", i < nothers - 1 ? ", " : "  ", others[i]);
      print_range(&title, p, others[i], rest % parts);
      rest /= parts;
    }
    if (nothers > 0)
      gs_writer_line(&p->w, &title);
    draw_grid(p, at);
  }
  if (grids > MOST_GRIDS) {
    struct gs_text line = gs_writer_text(&p->w);
    gs_text_printf(&line, "  and %" PRId64 " more such grids", grids - MOST_GRIDS);
    gs_writer_line(&p->w, &line);
  }
}

static void draw_header(struct painter *p, const char *name)
{
  struct gs_text line = gs_writer_text(&p->w), note = gs_writer_text(&p->w);
  const struct gs_sharding *s = p->step->sharding;
  gs_paint(&line, GS_ROLE_HEADING, name);
  gs_text_add(&line, " : ");
  gs_type_print(&line, &p->step->global);
  gs_text_add(&line, " ");
  gs_print_sharding(&line, s);
  gs_text_add(&line, "        a device holds ");
  gs_type_print(&line, &p->step->type);
  gs_writer_line(&p->w, &line);
  if (p->copies.count == 0)
    return;
  gs_text_add(&note, "the same on all devices along ");
  gs_axes_print(&note, p->mesh, p->copies.items, p->copies.count);
  gs_writer_line(&p->w, &note);
}

static void show(struct painter *p, const char *name)
{
  const struct gs_sharding *s = p->step->sharding;
  int cut[GS_MAX_RANK], ncut = 0;
  for (int i = 0; i < s->rank; i++)
    if (s->dims[i].naxes > 0)
      cut[ncut++] = i;
  /* One cut dim alone is drawn downwards, but for the last, which goes across. */
  bool across = ncut == 1 && cut[0] == s->rank - 1;
  int row = ncut == 0 || across ? -1 : cut[0], column = across ? cut[0] : ncut > 1 ? cut[1] : -1;
  int width = p->w.options->width > 0 ? p->w.options->width : 100;
  int fitting = (width - 16) / 12 < MOST_LINES ? (width - 16) / 12 : MOST_LINES;
  p->rows = choose_parts(s, row, MOST_LINES);
  p->columns = choose_parts(s, column, fitting < 4 ? 4 : fitting);
  find_copies(p);
  draw_header(p, name);
  draw_grids(p, cut + 2, ncut > 2 ? ncut - 2 : 0);
}

void gs_print_show(struct gs_text *text, const struct gs_plan *plan,
                   const struct gs_print_options *options)
{
  struct painter p = { .mesh = plan->program->mesh };
  if (plan->program->noutputs == 0 || !gs_writer_open(&p.w, text, options, "show"))
    return;
  p.step = &plan->program->steps[plan->program->outputs[0].step];
  show(&p, plan->program->outputs[0].name);
  gs_writer_close(&p.w);
}
