/* partition/print_dot.h - plans and graphs for Graphviz. */
#ifndef GS_PARTITION_PRINT_DOT_H
#define GS_PARTITION_PRINT_DOT_H

#include "partition/print.h"

void gs_print_plan_dot(struct gs_text *text, const struct gs_plan *plan,
                       const struct gs_print_options *options);
void gs_print_graph_dot(struct gs_text *text, const struct gs_plan *plan,
                        const struct gs_print_options *options);

#endif
