/* interp/command.h - lines that begin with a colon.
 *
 * One row each in interp/command.c.  A name may be shortened as long as it stays clear which one
 * is meant.  A command of the same name as a function calls it: words become arguments.
 */
#ifndef GS_INTERP_COMMAND_H
#define GS_INTERP_COMMAND_H

#include "interp/session.h"

/* What may follow a command, for completion. */
enum gs_operands {
  GS_OPERANDS_NONE, GS_OPERANDS_VARIABLES, GS_OPERANDS_FILE, GS_OPERANDS_TOPICS,
  GS_OPERANDS_SETTINGS, GS_OPERANDS_BACKENDS, GS_OPERANDS_AXES
};

typedef bool gs_command_function(struct gs_session *s, const struct gs_ast *ast);

struct gs_command {
  const char *name, *arguments;
  gs_command_function *function;
  enum gs_operands operands;
  const char *help;
};

/* All of them, sorted by name; NULL past the last. */
const struct gs_command *gs_command_at(int index);
/* The command that NAME, maybe shortened, means; NULL if none or several. */
const struct gs_command *gs_command_find(const char *name);

/* Run the command AST. */
bool gs_command_run(struct gs_session *s, const struct gs_ast *ast);
/* Do what the bare word help, ?, quit or exit asks for; false if WORD is none of them. */
bool gs_command_friendly(struct gs_session *s, const char *word);

/* interp/words.c: the call that the words of a command come to, "y z device=3" to f(y, z,
 * device=3).  NULL: reported. */
const struct gs_ast *gs_command_call(struct gs_session *s, const struct gs_ast *ast);

/* interp/edit.c */
bool gs_command_shard(struct gs_session *s, const struct gs_ast *ast);
bool gs_command_unshard(struct gs_session *s, const struct gs_ast *ast);
bool gs_command_undo(struct gs_session *s, const struct gs_ast *ast);

/* interp/help.c */
bool gs_command_help(struct gs_session *s, const struct gs_ast *ast);
bool gs_command_ops(struct gs_session *s, const struct gs_ast *ast);
bool gs_help_topic(struct gs_session *s, struct gs_span at, const char *topic);

/* interp/settings.c */
bool gs_command_set(struct gs_session *s, const struct gs_ast *ast);

#endif
