/* interp/ask.h - what plan(), run(), check() and save() share with the public interface. */
#ifndef GS_INTERP_ASK_H
#define GS_INTERP_ASK_H

#include "interp/builtin.h"
#include "interp/plans.h"

/* The tensors among a call's rest arguments, lists of them taken apart, with their names. */
bool gs_ask_outputs(struct gs_call *call, struct gs_outputs *outputs);
/* Plan and run: the values, to be released.  NULL: reported. */
struct gs_tensor **gs_ask_run(struct gs_session *s, const struct gs_outputs *outputs);
void gs_ask_release(struct gs_tensor **values, int count);
/* Run partitioned and unpartitioned, compare and print; only planned in a dry run. */
bool gs_ask_check(struct gs_session *s, const struct gs_outputs *outputs);
/* Print the plan as the settings say. */
bool gs_ask_plan(struct gs_session *s, const struct gs_outputs *outputs);
/* Run and write output I to PATHS[I]. */
bool gs_ask_save(struct gs_session *s, const struct gs_outputs *outputs, const char *const *paths);

#endif
