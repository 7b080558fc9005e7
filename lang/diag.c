/* lang/diag.c - reporting to the sink, positions in sources, and the quoted line with ^~~~. */
#include <config.h>

#include "lang/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  CONTEXT_WIDTH = 120,                 /* longer lines are cut around the caret */
  CONTEXT_BEFORE = 40
};

static void deliver(struct gs_diagnostics *d, enum gs_severity severity, struct gs_span at,
                    const char *format, va_list args)
{
  if (severity == GS_ERROR)
    d->errors++;
  else if (severity == GS_WARNING)
    d->warnings++;
  if (d->sink == NULL)
    return;
  char small[512];
  char *message = small, *large = NULL;
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(small, sizeof small, format, args);
  if (length >= (int)sizeof small) {
    large = malloc((size_t)length + 1);
    if (large != NULL) {               /* else the message is cut */
      vsnprintf(large, (size_t)length + 1, format, again);
      message = large;
    }
  }
  va_end(again);
  d->sink(d->user, &(struct gs_diagnostic){ severity, at, message });
  free(large);
}

#define REPORT(severity, at) \
  do { \
    va_list args; \
    va_start(args, format); \
    deliver(d, severity, at, format, args); \
    va_end(args); \
  } while (0)

void gs_error(struct gs_diagnostics *d, struct gs_span at, const char *format, ...)
{
  REPORT(GS_ERROR, at);
}

void gs_warning(struct gs_diagnostics *d, struct gs_span at, const char *format, ...)
{
  REPORT(GS_WARNING, at);
}

void gs_note(struct gs_diagnostics *d, struct gs_span at, const char *format, ...)
{
  REPORT(GS_NOTE, at);
}

void gs_hint(struct gs_diagnostics *d, const char *format, ...)
{
  REPORT(GS_HINT, (struct gs_span){ 0 });
}

/* Whether C goes on a character begun before it in UTF-8. */
static bool is_continuation(char c)
{
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* Where the line that holds OFFSET begins. */
static size_t line_begin(const struct gs_source *source, size_t offset)
{
  while (offset > 0 && source->text[offset - 1] != '\n')
    offset--;
  return offset;
}

void gs_source_position(const struct gs_source *source, uint32_t offset, int *line, int *column)
{
  size_t end = offset < source->length ? offset : source->length;
  *line = source->first_line;
  for (size_t i = 0; i < end; i++)
    *line += source->text[i] == '\n';
  *column = 1;
  for (size_t i = line_begin(source, end); i < end; i++)
    *column += !is_continuation(source->text[i]);
}

void gs_span_print(struct gs_text *text, struct gs_span span)
{
  if (span.source == NULL)
    return;
  int line, column;
  gs_source_position(span.source, span.begin, &line, &column);
  if (span.source->name != NULL)
    gs_text_printf(text, "%s:", span.source->name);
  gs_text_printf(text, "%d:%d", line, column);
}

struct gs_span gs_span_join(struct gs_span a, struct gs_span b)
{
  if (a.source == NULL)
    return b;
  if (b.source != a.source)
    return a;
  if (b.begin < a.begin)
    a.begin = b.begin;
  if (b.end > a.end)
    a.end = b.end;
  return a;
}

/* The part of a source's line that is shown: bytes [begin, end), and what was left out. */
struct excerpt {
  size_t begin, end;
  bool cut_before, cut_after;
};

static struct excerpt find_excerpt(const struct gs_source *source, size_t caret)
{
  struct excerpt e = { .begin = line_begin(source, caret), .end = caret };
  while (e.end < source->length && source->text[e.end] != '\n')
    e.end++;
  if (e.end > caret && source->text[e.end - 1] == '\r')
    e.end--;
  if (e.end - e.begin <= CONTEXT_WIDTH)
    return e;
  if (caret - e.begin > CONTEXT_BEFORE) {
    e.begin = caret - CONTEXT_BEFORE;
    e.cut_before = true;
    while (e.begin < caret && is_continuation(source->text[e.begin]))
      e.begin++;
  }
  if (e.end - e.begin > CONTEXT_WIDTH) {
    e.end = e.begin + CONTEXT_WIDTH;
    e.cut_after = true;
    while (e.end > caret && is_continuation(source->text[e.end]))
      e.end--;
  }
  return e;
}

/* A source's characters without those that would act on a terminal. */
static void print_line(struct gs_text *text, const char *line, size_t length)
{
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)line[i];
    bool control = (c < 0x20 && c != '\t') || c == 0x7f;
    gs_text_add_bytes(text, control ? "?" : &line[i], 1);
  }
}

/* Blanks up to the caret, one a character, tabs kept; then ^ and ~ to the span's end. */
static void print_caret(struct gs_text *text, const struct gs_source *source, struct excerpt e,
                        size_t caret, size_t span_end)
{
  for (size_t i = e.begin; i < caret; i++) {
    if (!is_continuation(source->text[i]))
      gs_text_add(text, source->text[i] == '\t' ? "\t" : " ");
  }
  gs_text_add(text, "^");
  for (size_t i = caret + 1; i < span_end && i < e.end; i++) {
    if (!is_continuation(source->text[i]))
      gs_text_add(text, "~");
  }
}

/* The quoted line.  Numbered when the source is a file; the prompt's is just set in. */
static void print_quote(struct gs_text *text, struct gs_span span, const char *on, const char *off)
{
  const struct gs_source *source = span.source;
  size_t caret = span.begin < source->length ? span.begin : source->length;
  struct excerpt e = find_excerpt(source, caret);
  char left[32] = "  ", below[32] = "  ";
  if (source->name != NULL) {
    int line, column;
    gs_source_position(source, span.begin, &line, &column);
    snprintf(left, sizeof left, "%5d | ", line);
    snprintf(below, sizeof below, "%5s | ", "");
  }
  gs_text_printf(text, "%s%s", left, e.cut_before ? "..." : "");
  print_line(text, source->text + e.begin, e.end - e.begin);
  gs_text_printf(text, "%s\n%s%s%s", e.cut_after ? "..." : "", below, e.cut_before ? "   " : "",
                 on);
  print_caret(text, source, e, caret, span.end);
  gs_text_printf(text, "%s\n", off);
}

void gs_diagnostic_print(struct gs_text *text, const struct gs_diagnostic *diagnostic, bool colour)
{
  static const struct { const char *word, *colour; } severities[] = {
    [GS_ERROR] = { "error", "\033[1;31m" },
    [GS_WARNING] = { "warning", "\033[1;35m" },
    [GS_NOTE] = { "note", "\033[1;36m" },
    [GS_HINT] = { "hint", "\033[1;32m" }
  };
  const char *on = colour ? severities[diagnostic->severity].colour : "";
  const char *off = colour ? "\033[0m" : "";
  struct gs_span span = diagnostic->span;
  if (span.source != NULL && span.source->name != NULL) {
    gs_text_add(text, colour ? "\033[1m" : "");
    gs_span_print(text, span);
    gs_text_printf(text, ":%s ", off);
  }
  gs_text_printf(text, "%s%s:%s %s\n", on, severities[diagnostic->severity].word, off,
                 diagnostic->message);
  if (span.source != NULL)
    print_quote(text, span, on, off);
}
