/* lang/diag.h - errors, warnings, notes and hints with the place they speak of.
 *
 * Library code never prints: it reports here, once, at the origin.  A sink (the command's, a
 * test's) decides what becomes of it.  Spans are byte offsets; line and column are computed only
 * when something is shown.
 */
#ifndef GS_LANG_DIAG_H
#define GS_LANG_DIAG_H

#include "lang/arena.h"

/* A piece of program text.  Must outlive every span into it. */
struct gs_source {
  const char *name;                    /* as shown: "train.gsl"; NULL for the prompt */
  const char *text;
  size_t length;
  int first_line;                      /* number of the first line, from 1 */
};

struct gs_span {
  const struct gs_source *source;      /* NULL: no place is known */
  uint32_t begin, end;                 /* byte offsets, end exclusive */
};

enum gs_severity { GS_ERROR, GS_WARNING, GS_NOTE, GS_HINT };

struct gs_diagnostic {
  enum gs_severity severity;
  struct gs_span span;
  const char *message;                 /* valid during the sink's call only */
};

typedef void gs_diagnostic_sink(void *user, const struct gs_diagnostic *diagnostic);

struct gs_diagnostics {
  gs_diagnostic_sink *sink;            /* NULL: counted only */
  void *user;
  int errors, warnings;
};

/* Report.  Messages are lower-case, in user words, without a full stop.  A note or hint belongs
 * to the error or warning before it. */
void gs_error(struct gs_diagnostics *d, struct gs_span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gs_warning(struct gs_diagnostics *d, struct gs_span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gs_note(struct gs_diagnostics *d, struct gs_span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gs_hint(struct gs_diagnostics *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Line (from 1, counting the source's first_line) and column (from 1, in code points) of OFFSET. */
void gs_source_position(const struct gs_source *source, uint32_t offset, int *line, int *column);
/* "train.gsl:7:9", or "" when unknown.  Written into TEXT. */
void gs_span_print(struct gs_text *text, struct gs_span span);
/* The smallest span that holds both. */
struct gs_span gs_span_join(struct gs_span a, struct gs_span b);

/* GNU style with the quoted line and ^~~~ below, coloured if asked:
 *   train.gsl:7:9: error: message
 *       7 | h = einsum(...)
 *         |     ^~~~~~      */
void gs_diagnostic_print(struct gs_text *text, const struct gs_diagnostic *diagnostic, bool colour);

#endif
