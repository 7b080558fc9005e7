/* interp/report.h - what run, check, time and an expression at the prompt print.
 *
 * As text for people, or with the setting format=json as one JSON object on a line.
 */
#ifndef GS_INTERP_REPORT_H
#define GS_INTERP_REPORT_H

#include "interp/plans.h"

/* A text in an arena of its own, and its end: written to the user and freed. */
struct gs_text gs_report_begin(struct gs_session *s);
bool gs_report_finish(struct gs_session *s, struct gs_text *text);

/* What an expression at the prompt came to. */
bool gs_report_value(struct gs_session *s, const struct gs_ast *ast, struct gs_value value);
/* A tensor's values, called NAME. */
bool gs_report_tensor(struct gs_session *s, const char *name, const struct gs_tensor *tensor);
/* What print() has put into TEXT, which ends here. */
bool gs_report_line(struct gs_session *s, struct gs_text *text);
/* Values only, as print() writes them among other things. */
void gs_report_elements(struct gs_session *s, struct gs_text *text, const struct gs_tensor *tensor);

/* Partitioned against unpartitioned values. */
struct gs_comparison {
  bool equal;                          /* within rounding of the element type */
  double largest;                      /* difference */
  double relative;                     /* to the largest value */
  int64_t wrong;                       /* first element beyond rounding, or -1 */
};
struct gs_comparison gs_compare(const struct gs_tensor *value, const struct gs_tensor *reference,
                                double tolerance);
/* Rounding to be expected of values of magnitude 1: that of the coarsest element type among what STEP
 * of PROGRAM is computed from. */
double gs_tolerance(struct gs_arena *scratch, const struct gs_program *program, int step);
bool gs_report_check(struct gs_session *s, const char *name, const struct gs_tensor *value,
                     const struct gs_tensor *reference, const struct gs_comparison *comparison);

/* Times of runs, in seconds. */
struct gs_timing { int runs; double median, fastest, compile; };
bool gs_report_time(struct gs_session *s, const char *name, const struct gs_timing *timing);
/* The plan's estimate. */
bool gs_report_cost(struct gs_session *s, const struct gs_plan_entry *entry);

/* How to call AST's value: its name, the name its node has, or the source itself. */
const char *gs_report_name(struct gs_session *s, const struct gs_ast *ast, struct gs_value value);

#endif
