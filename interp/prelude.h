/* interp/prelude.h - the part of the language's library that is written in the language.
 *
 * The files of interp/prelude/ as they were when the library was built.  The array ends with a row
 * whose name is NULL.
 */
#ifndef GS_INTERP_PRELUDE_H
#define GS_INTERP_PRELUDE_H

#include <stddef.h>

struct gs_prelude_file {
  const char *name;                    /* "layers.gsl" */
  const char *text;                    /* NUL-terminated */
  size_t length;
};

extern const struct gs_prelude_file gs_prelude_files[];

#endif
