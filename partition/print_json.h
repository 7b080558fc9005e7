/* partition/print_json.h - the plan as one JSON object [LANGUAGE.md, "Command line"]. */
#ifndef GS_PARTITION_PRINT_JSON_H
#define GS_PARTITION_PRINT_JSON_H

#include "partition/print.h"

void gs_print_plan_json(struct gs_text *text, const struct gs_plan *plan,
                        const struct gs_print_options *options);

#endif
