/* interp/help.h - what is told of a name, beside the tables of functions, commands and settings. */
#ifndef GS_INTERP_HELP_H
#define GS_INTERP_HELP_H

#include "interp/session.h"

struct gs_help_row { const char *name, *usage, *help; };

/* Operators and forms of the language; ends with a row without a name. */
const struct gs_help_row *gs_help_forms(void);
/* Function INDEX of the library that is written in the language, from the comment above it; false
 * past the last. */
bool gs_help_library(struct gs_arena *arena, int index, struct gs_help_row *row);

#endif
