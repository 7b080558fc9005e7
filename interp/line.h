/* interp/line.h - reading lines from a terminal, with Readline when it is there.
 *
 * One reader at a time: Readline's callbacks know no user pointer.  A plain twin reads with
 * getline; it also serves a prompt whose input is no terminal.
 */
#ifndef GS_INTERP_LINE_H
#define GS_INTERP_LINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct gs_session;

enum gs_line_status { GS_LINE_OK, GS_LINE_END, GS_LINE_INTERRUPTED };

/* Begin: names complete from SESSION; what was typed in earlier sessions comes from the history
 * file, whose folder is made if it is not there.  Ctrl-C empties the line (the handler must set
 * the flag that *INTERRUPTED points to). */
void gs_line_open(struct gs_session *session, const volatile sig_atomic_t *interrupted);
/* The next line, without its newline, in *LINE, to be freed.  BEFORE is what an unfinished
 * statement holds already, for completion. */
enum gs_line_status gs_line_read(const char *prompt, const char *before, char **line);
/* Keep a whole statement in the history; one that begins with a blank is not kept. */
void gs_line_remember(const char *statement);
/* Write the history; give the terminal back. */
void gs_line_close(void);
/* "readline 8.2", or "plain". */
const char *gs_line_version(void);

#endif
