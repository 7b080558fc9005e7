/* partition/writer.h - what reports are made of (headings, lines, tables), in each format.
 *
 * A report calls the functions below and never asks for the format.  Texts may hold roles: gs_paint
 * marks a stretch of them, and the format makes a colour, an element or nothing of it.
 */
#ifndef GS_PARTITION_WRITER_H
#define GS_PARTITION_WRITER_H

#include "partition/json.h"
#include "partition/print.h"

enum gs_role {
  GS_ROLE_PLAIN, GS_ROLE_HEADING, GS_ROLE_NAME, GS_ROLE_COLLECTIVE, GS_ROLE_SHARDING, GS_ROLE_FAINT,
  GS_ROLE_WARNING, GS_ROLE_GOOD, GS_ROLE_BAD,
  GS_ROLE_BLOCK,                       /* and the five after it: backgrounds of blocks */
  GS_ROLE_COUNT = GS_ROLE_BLOCK + 6
};

/* Where a stretch of ROLE begins; it ends where the next one does. */
void gs_paint_from(struct gs_text *text, enum gs_role role);
/* STRING in ROLE. */
void gs_paint(struct gs_text *text, enum gs_role role, const char *string);
/* Columns that STRING, which may hold roles, takes. */
int gs_paint_width(const char *string);

struct gs_column {
  const char *key, *title;             /* in JSON, in the other formats */
  bool right;                          /* aligned */
  bool flexible;                       /* may overflow where the page is too narrow */
};

/* Rows of NULL-able texts.  Columns that are empty throughout are left out of texts. */
struct gs_table {
  struct gs_arena *arena;
  int ncolumns;
  const struct gs_column *columns;
  int nrows, capacity;
  const char **cells;
};
void gs_table_init(struct gs_table *table, struct gs_arena *arena, const struct gs_column *columns,
                   int ncolumns);
/* The cells of a new row, all NULL; NULL when out of memory. */
const char **gs_table_row(struct gs_table *table);

struct gs_writer;
struct gs_report_format {
  void (*open)(struct gs_writer *w, const char *report);
  void (*heading)(struct gs_writer *w, const char *text);
  void (*line)(struct gs_writer *w, const char *text);
  void (*table)(struct gs_writer *w, const struct gs_table *table);
  void (*close)(struct gs_writer *w);
};
extern const struct gs_report_format gs_report_text, gs_report_html, gs_report_json;

/* One report being written.  SCRATCH dies with it. */
struct gs_writer {
  struct gs_text *out;
  struct gs_arena *scratch;
  const struct gs_print_options *options;
  const struct gs_report_format *format;
  struct gs_json json;
};
/* False: out of memory, and nothing must be written. */
bool gs_writer_open(struct gs_writer *w, struct gs_text *out,
                    const struct gs_print_options *options, const char *report);
void gs_writer_close(struct gs_writer *w);

void gs_writer_heading(struct gs_writer *w, const struct gs_text *text);
void gs_writer_line(struct gs_writer *w, const struct gs_text *text);
void gs_writer_table(struct gs_writer *w, const struct gs_table *table);
/* An empty text in the scratch arena. */
struct gs_text gs_writer_text(const struct gs_writer *w);

#endif
