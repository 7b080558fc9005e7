/* partition/print.h - plans, graphs and reasons for people and for programs.
 *
 * One walker for each report and a formatter below it (text, json, dot, html).  Texts are stable:
 * no addresses, times of day or hash order.
 */
#ifndef GS_PARTITION_PRINT_H
#define GS_PARTITION_PRINT_H

#include "partition/partition.h"

enum gs_format { GS_FORMAT_TEXT, GS_FORMAT_JSON, GS_FORMAT_DOT, GS_FORMAT_HTML };

struct gs_print_options {
  enum gs_format format;
  bool colour;
  bool unicode;                        /* blocks and dots; else ASCII */
  int width;                           /* columns of the terminal; 0: 100 */
  int64_t device;                      /* -1: the program all devices share */
};

/* The per-device program, its collectives and totals [LANGUAGE.md, "Asking" and "Command line"]. */
void gs_print_plan(struct gs_text *text, const struct gs_plan *plan, const struct gs_print_options *options);
/* The logical graph with the completed shardings. */
void gs_print_graph(struct gs_text *text, const struct gs_plan *plan, const struct gs_print_options *options);
/* Why the output has its sharding and why each collective is there. */
void gs_print_explain(struct gs_text *text, const struct gs_plan *plan, const struct gs_print_options *options);
/* Completion step by step (the plan was made with options->record). */
void gs_print_trace(struct gs_text *text, const struct gs_plan *plan, const struct gs_print_options *options);
/* Which device holds which block of output 0, as a grid. */
void gs_print_show(struct gs_text *text, const struct gs_plan *plan, const struct gs_print_options *options);
/* Two plans side by side. */
void gs_print_diff(struct gs_text *text, const struct gs_plan *before, const struct gs_plan *after,
                   const struct gs_print_options *options);
/* One warning a line: full replication, padding above 25%.  Into a JSON plan they go by themselves. */
void gs_print_warnings(struct gs_text *text, const struct gs_plan *plan, const struct gs_print_options *options);

/* "768 KiB", "1.5 GiB", "12 B" */
void gs_print_bytes(struct gs_text *text, double bytes);
/* "268 M", "0.3 M", "1.2 G" */
void gs_print_count(struct gs_text *text, double count);

#endif
