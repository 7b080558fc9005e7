/* interp/repl.h - the prompt. */
#ifndef GS_INTERP_REPL_H
#define GS_INTERP_REPL_H

#include <stdbool.h>

#include "gspmd.h"

/* From now on an interrupt (Ctrl-C) stops what SESSION runs instead of ending the process. */
void gs_repl_catch_interrupts(struct gs_session *session);
/* Whether an interrupt came. */
bool gs_repl_was_interrupted(void);
/* End as an interrupted program does, so that a shell sees it. */
void gs_repl_die_of_interrupt(void);

/* Read and run until the end of input or :quit. */
void gs_repl_run(struct gs_session *session, bool colour, bool quiet);
/* Run what is piped in, without a prompt. */
bool gs_repl_run_pipe(struct gs_session *session);

#endif
