/* partition/writer_html.c - reports as one page of HTML that needs nothing else. */
#include <config.h>

#include <string.h>

#include "partition/paint.h"

static const char *const classes[GS_ROLE_COUNT] = {
  [GS_ROLE_PLAIN] = NULL, [GS_ROLE_HEADING] = "heading", [GS_ROLE_NAME] = "name",
  [GS_ROLE_COLLECTIVE] = "collective", [GS_ROLE_SHARDING] = "sharding", [GS_ROLE_FAINT] = "faint",
  [GS_ROLE_WARNING] = "warning", [GS_ROLE_GOOD] = "good", [GS_ROLE_BAD] = "bad",
  [GS_ROLE_BLOCK] = "block0", [GS_ROLE_BLOCK + 1] = "block1", [GS_ROLE_BLOCK + 2] = "block2",
  [GS_ROLE_BLOCK + 3] = "block3", [GS_ROLE_BLOCK + 4] = "block4", [GS_ROLE_BLOCK + 5] = "block5"
};

static const char head[] =
  "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>gspmd ";
static const char style[] =
  "</title>\n<style>\n"
  "body { font: 15px/1.5 system-ui, sans-serif; margin: 2em; color: #222; background: #fff }\n"
  "p, td, th { white-space: pre-wrap; font-family: ui-monospace, monospace; font-size: 13px }\n"
  "p { margin: 0; white-space: pre }\n"
  "table { border-collapse: collapse; margin: 1em 0 }\n"
  "td, th { padding: .15em .9em .15em 0; text-align: left; vertical-align: top }\n"
  "th { color: #666; font-weight: normal; border-bottom: 1px solid #bbb }\n"
  "tr:hover td { background: #f3f6fa }\n"
  ".right { text-align: right }\n"
  ".heading { font-weight: bold }\n.name { color: #06647a }\n.collective { color: #a04a00 }\n"
  ".sharding, .good { color: #18713a }\n.faint { color: #777 }\n"
  ".warning { color: #9c1a8b; font-weight: bold }\n.bad { color: #b3261e }\n"
  ".block0 { background: #f4b6b0 }\n.block1 { background: #b7e0bd }\n"
  ".block2 { background: #f5e2a4 }\n"
  ".block3 { background: #b9cdf2 }\n.block4 { background: #e2bfe8 }\n"
  ".block5 { background: #b5e3e6 }\n"
  "</style></head><body>\n";

static void add_escaped(struct gs_text *out, const char *s, size_t length)
{
  for (size_t i = 0; i < length; i++) {
    switch (s[i]) {
    case '&': gs_text_add(out, "&amp;"); break;
    case '<': gs_text_add(out, "&lt;"); break;
    case '>': gs_text_add(out, "&gt;"); break;
    case '"': gs_text_add(out, "&quot;"); break;
    default: gs_text_add_bytes(out, s + i, 1); break;
    }
  }
}

static void add_painted(struct gs_text *out, const char *string)
{
  bool inside = false;
  while (*string != '\0') {
    size_t run = strcspn(string, (char[]){ GS_PAINT_MARK, '\0' });
    add_escaped(out, string, run);
    string += run;
    if (*string == '\0' || string[1] == '\0')
      break;
    int role = string[1] - GS_PAINT_FIRST;
    if (inside)
      gs_text_add(out, "</span>");
    inside = role > 0 && role < GS_ROLE_COUNT;
    if (inside)
      gs_text_printf(out, "<span class=\"%s\">", classes[role]);
    string += 2;
  }
  if (inside)
    gs_text_add(out, "</span>");
}

static void html_open(struct gs_writer *w, const char *report)
{
  gs_text_add(w->out, head);
  gs_text_add(w->out, report);
  gs_text_add(w->out, style);
}

static void add_element(struct gs_text *out, const char *tag, bool right, const char *content)
{
  gs_text_printf(out, "<%s%s>", tag, right ? " class=\"right\"" : "");
  add_painted(out, content);
  gs_text_printf(out, "</%s>", tag);
}

static void html_heading(struct gs_writer *w, const char *text)
{
  add_element(w->out, "h2", false, text);
  gs_text_add(w->out, "\n");
}

static void html_line(struct gs_writer *w, const char *text)
{
  add_element(w->out, "p", false, text[0] == '\0' ? " " : text);
  gs_text_add(w->out, "\n");
}

static void html_table(struct gs_writer *w, const struct gs_table *t)
{
  gs_text_add(w->out, "<table>\n<tr>");
  for (int c = 0; c < t->ncolumns; c++)
    add_element(w->out, "th", t->columns[c].right, t->columns[c].title);
  gs_text_add(w->out, "</tr>\n");
  for (int r = 0; r < t->nrows; r++) {
    const char *const *row = t->cells + r * t->ncolumns;
    gs_text_add(w->out, "<tr>");
    for (int c = 0; c < t->ncolumns; c++)
      add_element(w->out, "td", t->columns[c].right, row[c] == NULL ? "" : row[c]);
    gs_text_add(w->out, "</tr>\n");
  }
  gs_text_add(w->out, "</table>\n");
}

static void html_close(struct gs_writer *w)
{
  gs_text_add(w->out, "</body></html>\n");
}

const struct gs_report_format gs_report_html = { html_open, html_heading, html_line, html_table,
                                                 html_close };
