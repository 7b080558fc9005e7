/* interp/main_options.h - the command line of gspmd. */
#ifndef GS_INTERP_MAIN_OPTIONS_H
#define GS_INTERP_MAIN_OPTIONS_H

#include <stdbool.h>

#include "gspmd.h"

enum gs_exit { GS_EXIT_OK, GS_EXIT_ERROR, GS_EXIT_USAGE, GS_EXIT_FAILED };

enum gs_colour { GS_COLOUR_AUTO, GS_COLOUR_ALWAYS, GS_COLOUR_NEVER };

/* Texts of the command line; all point into argv. */
struct gs_main_names { const char **names, **files; int count; };

struct gs_main_options {
  struct gs_session_options session;
  enum gs_colour colour;
  struct gs_main_names eval;           /* names: texts to run */
  struct gs_main_names inputs, saves;  /* NAME=FILE */
  struct gs_main_names plans, checks;
  const char *script;                  /* "-" for standard input; NULL: none */
  bool interactive, no_init, allow_uneven, help, version;
};

/* Read the command line.  False: what is wrong was said on standard error. */
bool gs_main_parse(int argc, char **argv, struct gs_main_options *options);
/* Free what gs_main_parse took, whatever it returned. */
void gs_main_free(struct gs_main_options *options);
void gs_main_print_help(void);
void gs_main_print_version(void);

#endif
