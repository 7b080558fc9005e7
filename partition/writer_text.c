/* partition/writer_text.c - reports as text: aligned, coloured if asked. */
#include <config.h>

#include <string.h>

#include "partition/paint.h"

enum { INDENT = 2, GAP = 2, DEFAULT_WIDTH = 100, NARROWEST = 24 };

static const char *const escapes[GS_ROLE_COUNT] = {
  [GS_ROLE_PLAIN] = "\033[0m", [GS_ROLE_HEADING] = "\033[1m", [GS_ROLE_NAME] = "\033[36m",
  [GS_ROLE_COLLECTIVE] = "\033[33m", [GS_ROLE_SHARDING] = "\033[32m", [GS_ROLE_FAINT] = "\033[2m",
  [GS_ROLE_WARNING] = "\033[1;35m", [GS_ROLE_GOOD] = "\033[32m", [GS_ROLE_BAD] = "\033[31m",
  [GS_ROLE_BLOCK] = "\033[30;41m", [GS_ROLE_BLOCK + 1] = "\033[30;42m",
  [GS_ROLE_BLOCK + 2] = "\033[30;43m", [GS_ROLE_BLOCK + 3] = "\033[30;44m",
  [GS_ROLE_BLOCK + 4] = "\033[30;45m", [GS_ROLE_BLOCK + 5] = "\033[30;46m"
};

static void add_painted(struct gs_writer *w, const char *string)
{
  while (*string != '\0') {
    size_t run = strcspn(string, (char[]){ GS_PAINT_MARK, '\0' });
    gs_text_add_bytes(w->out, string, run);
    string += run;
    if (*string == '\0' || string[1] == '\0')
      return;
    int role = string[1] - GS_PAINT_FIRST;
    if (w->options->colour && role >= 0 && role < GS_ROLE_COUNT)
      gs_text_add(w->out, escapes[role]);
    string += 2;
  }
}

static void add_spaces(struct gs_writer *w, int count)
{
  if (count > 0)
    gs_text_printf(w->out, "%*s", count, "");
}

static void text_open(struct gs_writer *w, const char *report)
{
  (void)w;
  (void)report;
}

static void text_line(struct gs_writer *w, const char *text)
{
  add_painted(w, text);
  gs_text_add(w->out, "\n");
}

/* Widest cell of each column, 0 for one that is empty throughout; what the page has no room for is
 * taken from the flexible one. */
static void measure(const struct gs_writer *w, const struct gs_table *t, int *widths)
{
  int total = INDENT;
  for (int c = 0; c < t->ncolumns; c++) {
    widths[c] = 0;
    for (int r = 0; r < t->nrows; r++) {
      const char *cell = t->cells[r * t->ncolumns + c];
      int width = cell == NULL ? 0 : gs_paint_width(cell);
      if (width > widths[c])
        widths[c] = width;
    }
    int title = gs_paint_width(t->columns[c].title);
    if (widths[c] > 0 && title > widths[c])
      widths[c] = title;
    total += widths[c] > 0 ? widths[c] + GAP : 0;
  }
  int excess = total - GAP - (w->options->width > 0 ? w->options->width : DEFAULT_WIDTH);
  for (int c = 0; c < t->ncolumns && excess > 0; c++)
    if (t->columns[c].flexible && widths[c] > NARROWEST)
      widths[c] = widths[c] - excess > NARROWEST ? widths[c] - excess : NARROWEST;
}

/* ROW of cells, or the titles when NULL.  A cell too long moves the next until there is room. */
static void add_row(struct gs_writer *w, const struct gs_table *t, const int *widths,
                    const char *const *row)
{
  int at = 0, column = INDENT, gap = INDENT;
  for (int c = 0; c < t->ncolumns; c++) {
    if (widths[c] == 0)
      continue;
    const char *cell = row == NULL ? t->columns[c].title : row[c];
    int width = cell == NULL ? 0 : gs_paint_width(cell);
    if (width > 0) {
      int start = t->columns[c].right ? column + widths[c] - width : column;
      int spaces = start - at >= gap ? start - at : gap;
      add_spaces(w, spaces);
      add_painted(w, cell);
      at += spaces + width;
      gap = GAP;
    }
    column += widths[c] + GAP;
  }
  gs_text_add(w->out, "\n");
}

static void text_table(struct gs_writer *w, const struct gs_table *t)
{
  int *widths = GS_NEW_ARRAY(w->scratch, int, t->ncolumns);
  bool titled = false;
  if (widths == NULL)
    return;
  measure(w, t, widths);
  for (int c = 0; c < t->ncolumns; c++)
    titled = titled || t->columns[c].title[0] != '\0';
  if (titled) {
    if (w->options->colour)
      gs_text_add(w->out, escapes[GS_ROLE_FAINT]);
    add_row(w, t, widths, NULL);
    if (w->options->colour)
      gs_text_add(w->out, escapes[GS_ROLE_PLAIN]);
  }
  for (int r = 0; r < t->nrows; r++)
    add_row(w, t, widths, t->cells + r * t->ncolumns);
}

static void text_close(struct gs_writer *w)
{
  (void)w;
}

const struct gs_report_format gs_report_text = { text_open, text_line, text_line, text_table,
                                                 text_close };
