/* partition/writer.c - what all formats of a report share: painted texts, tables, dispatch. */
#include <config.h>

#include "partition/writer.h"

#include <string.h>

#include "partition/paint.h"

void gs_paint_from(struct gs_text *text, enum gs_role role)
{
  char mark[2] = { GS_PAINT_MARK, (char)(GS_PAINT_FIRST + (int)role) };
  gs_text_add_bytes(text, mark, sizeof mark);
}

void gs_paint(struct gs_text *text, enum gs_role role, const char *string)
{
  gs_paint_from(text, role);
  gs_text_add(text, string);
  gs_paint_from(text, GS_ROLE_PLAIN);
}

/* Code points past those that continue a UTF-8 sequence and past marks. */
int gs_paint_width(const char *string)
{
  int width = 0;
  for (const char *s = string; *s != '\0'; s++) {
    if (*s == GS_PAINT_MARK && s[1] != '\0')
      s++;
    else if (((unsigned char)*s & 0xc0) != 0x80)
      width++;
  }
  return width;
}

void gs_paint_strip(struct gs_text *text, const char *string)
{
  while (*string != '\0') {
    size_t run = strcspn(string, (char[]){ GS_PAINT_MARK, '\0' });
    gs_text_add_bytes(text, string, run);
    string += run;
    if (*string != '\0')
      string += string[1] != '\0' ? 2 : 1;
  }
}

void gs_table_init(struct gs_table *table, struct gs_arena *arena, const struct gs_column *columns,
                   int ncolumns)
{
  *table = (struct gs_table){ .arena = arena, .ncolumns = ncolumns, .columns = columns };
}

const char **gs_table_row(struct gs_table *table)
{
  size_t width = (size_t)table->ncolumns;
  if (table->nrows == table->capacity) {
    int capacity = table->capacity * 2 + 16;
    const char **grown = gs_arena_array(table->arena, (size_t)capacity, width * sizeof *grown);
    if (grown == NULL)
      return NULL;
    if (table->nrows > 0)
      memcpy(grown, table->cells, (size_t)table->nrows * width * sizeof *grown);
    table->cells = grown;
    table->capacity = capacity;
  }
  return table->cells + (size_t)table->nrows++ * width;
}

bool gs_writer_open(struct gs_writer *w, struct gs_text *out,
                    const struct gs_print_options *options, const char *report)
{
  static const struct gs_report_format *const formats[] = {
    [GS_FORMAT_TEXT] = &gs_report_text, [GS_FORMAT_JSON] = &gs_report_json,
    [GS_FORMAT_DOT] = &gs_report_text, [GS_FORMAT_HTML] = &gs_report_html
  };
  *w = (struct gs_writer){ .out = out, .options = options, .format = formats[options->format],
                           .json = { .text = out } };
  w->scratch = gs_arena_new(NULL);
  if (w->scratch == NULL)
    return false;
  w->format->open(w, report);
  return true;
}

void gs_writer_close(struct gs_writer *w)
{
  w->format->close(w);
  gs_arena_free(w->scratch);
}

void gs_writer_heading(struct gs_writer *w, const struct gs_text *text)
{
  w->format->heading(w, gs_text_string(text));
}

void gs_writer_line(struct gs_writer *w, const struct gs_text *text)
{
  w->format->line(w, gs_text_string(text));
}

void gs_writer_table(struct gs_writer *w, const struct gs_table *table)
{
  if (table->nrows > 0)
    w->format->table(w, table);
}

struct gs_text gs_writer_text(const struct gs_writer *w)
{
  return (struct gs_text){ .arena = w->scratch };
}

/* JSON: one object, its content an array of headings, lines and row arrays. */
static void json_open(struct gs_writer *w, const char *report)
{
  gs_json_open(&w->json, '{');
  gs_json_put_integer(&w->json, "version", 1);
  gs_json_put_string(&w->json, "report", report);
  gs_json_key(&w->json, "content");
  gs_json_open(&w->json, '[');
}

static void json_plain(struct gs_writer *w, const char *key, const char *painted)
{
  struct gs_text text = gs_writer_text(w);
  if (painted != NULL)
    gs_paint_strip(&text, painted);
  gs_json_put_string(&w->json, key, painted == NULL ? NULL : gs_text_string(&text));
}

static void json_item(struct gs_writer *w, const char *key, const char *painted)
{
  gs_json_open(&w->json, '{');
  json_plain(w, key, painted);
  gs_json_close(&w->json, '}');
}

static void json_heading(struct gs_writer *w, const char *text)
{
  json_item(w, "heading", text);
}

static void json_line(struct gs_writer *w, const char *text)
{
  json_item(w, "line", text);
}

static void json_table(struct gs_writer *w, const struct gs_table *table)
{
  gs_json_open(&w->json, '{');
  gs_json_key(&w->json, "rows");
  gs_json_open(&w->json, '[');
  for (int r = 0; r < table->nrows; r++) {
    gs_json_open(&w->json, '{');
    for (int c = 0; c < table->ncolumns; c++)
      json_plain(w, table->columns[c].key, table->cells[r * table->ncolumns + c]);
    gs_json_close(&w->json, '}');
  }
  gs_json_close(&w->json, ']');
  gs_json_close(&w->json, '}');
}

static void json_close(struct gs_writer *w)
{
  gs_json_close(&w->json, ']');
  gs_json_close(&w->json, '}');
  gs_text_add(w->out, "\n");
}

const struct gs_report_format gs_report_json = { json_open, json_heading, json_line, json_table,
                                                 json_close };
