/* partition/print_parts.h - pieces that several reports share: units, operators, the steps of a
 * program with their numbers and names. */
#ifndef GS_PARTITION_PRINT_PARTS_H
#define GS_PARTITION_PRINT_PARTS_H

#include "partition/writer.h"

/* "1.2 ms" */
void gs_print_seconds(struct gs_text *text, double seconds);
/* "37%" */
void gs_print_percent(struct gs_text *text, double share);

/* A constant of one element: shown where it is used, as a reader would write it. */
bool gs_is_scalar_constant(enum gs_op op, const struct gs_type *type);
/* The fewest digits that read back as the same value, of f32 when SINGLE. */
void gs_print_float(struct gs_text *text, double value, bool single);
void gs_print_scalar(struct gs_text *text, const struct gs_tensor *tensor);
/* What an operator has beside its operands, as the user writes it: ", dim=1, keep=true".  Of a
 * slice "[2:10:2, :]"; nothing for sources and einsum. */
void gs_print_attributes(struct gs_text *text, enum gs_op op, const union gs_attrs *attrs,
                         const struct gs_type *operand, const struct gs_type *result);
/* How a ppermute sends: ", 1" or ", [[0, 1], [1, 0]]"; of many pairs the first ones. */
void gs_print_route(struct gs_text *text, const union gs_attrs *attrs);
/* What users call an operator with these attributes: "rfft". */
const char *gs_function_name(enum gs_op op, const union gs_attrs *attrs);
/* "[0, 2]" */
void gs_print_dims(struct gs_text *text, const int64_t *dims, int count);
/* KIND of partial values over several devices in words: "sums", "maxima". */
const char *gs_partial_word(enum gs_op kind);
/* "[x, -]", painted. */
void gs_print_sharding(struct gs_text *text, const struct gs_sharding *s);

/* A plan as reports show it: steps that only rename or give a scalar have no line of their own. */
struct gs_view {
  struct gs_arena *arena;
  const struct gs_plan *plan;
  const struct gs_program *program;
  int nshown;
  int *numbers;                        /* per step, from 1; 0: not shown */
  const char **names;                  /* per step, NULL where it has none */
  int name_width;
  const char *home;                    /* name of the source the outputs are in */
  const struct gs_source *source;      /* the place looked up last */
  uint32_t offset;
  int line;
};
bool gs_view_make(struct gs_view *view, struct gs_arena *arena, const struct gs_plan *plan);
/* Operand STEP: "#4", or a scalar itself. */
void gs_view_operand(struct gs_text *text, const struct gs_view *view, int step);
/* "einsum bm,mh->bh #1 #2", "all-gather #1 over y, dim 2", painted. */
void gs_view_operation(struct gs_text *text, const struct gs_view *view,
                       const struct gs_step *step);
/* Opens or closes a loop or a branch: has no value to show. */
bool gs_view_is_frame(const struct gs_step *step);
/* Of a collective or device step, how it works: " over y, dim 2". */
void gs_view_where(struct gs_text *text, const struct gs_view *view, const struct gs_step *step);
/* The whole operation after "h = ", names padded to one width. */
void gs_view_step(struct gs_text *text, const struct gs_view *view, int step);
/* "5", or "prelude.gsl:5" away from home; NULL where no place is known. */
const char *gs_view_place(struct gs_view *view, struct gs_span span);
/* The name of a node, or of what it annotates; NULL where there is none. */
const char *gs_node_title(const struct gs_node *node);
/* A node in a sentence: its name, else its operator, with the place: "h (line 5)". */
void gs_view_node(struct gs_text *text, struct gs_view *view, const struct gs_node *node);
/* The step whose value a chain of helper steps only moves. */
const struct gs_step *gs_view_root(const struct gs_view *view, const struct gs_step *step);

/* Lines for what deserves a second look, one call of LINE each. */
typedef void gs_warning_function(void *user, const char *text);
void gs_view_warnings(struct gs_view *view, gs_warning_function *line, void *user);

/* Where values run in another sharding than completed, and what that saves of BYTES sent. */
void gs_print_departures(struct gs_writer *w, struct gs_view *view, double bytes);
/* A line "warning: MESSAGE" to the writer USER. */
void gs_print_warning_line(void *user, const char *message);

#endif
