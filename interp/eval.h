/* interp/eval.h - running syntax trees.
 *
 * Functions that return bool return false when evaluation stops: an error was reported, the user
 * interrupted, or (session->flow tells) a `return` is on its way to its function.
 */
#ifndef GS_INTERP_EVAL_H
#define GS_INTERP_EVAL_H

#include "interp/session.h"

/* Run a whole statement given by the parser; at a prompt, show an expression's value. */
bool gs_eval_statement(struct gs_session *s, struct gs_ast *statement);

/* The value of AST in SCOPE. */
bool gs_eval(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
             struct gs_value *out);
/* What NAME stands for; false, reporting nothing, if nothing does.  As a callee it may not be an
 * axis. */
bool gs_eval_name(struct gs_session *s, struct gs_scope *scope, const char *name, bool callee,
                  struct gs_value *out);
/* The place to report for AST: inside a library function, where that was called. */
struct gs_span gs_eval_span(const struct gs_session *s, const struct gs_ast *ast);
/* One more step; reports when there were too many or the user interrupted. */
bool gs_eval_step(struct gs_session *s, const struct gs_ast *ast);
/* Whether VALUE is true, for if, while, and, or, not and assert. */
bool gs_eval_truth(struct gs_session *s, struct gs_span at, struct gs_value value, bool *truth);
/* Bind NAME in SCOPE; a tensor without a name gets this one. */
bool gs_eval_bind(struct gs_session *s, struct gs_scope *scope, struct gs_span at, const char *name,
                  struct gs_value value);

/* interp/operate.c: a value from operands. */
bool gs_operate_unary(struct gs_session *s, struct gs_span at, enum gs_ast_op op, struct gs_value a,
                      struct gs_value *out);
bool gs_operate_binary(struct gs_session *s, struct gs_span at, enum gs_ast_op op,
                       const struct gs_value operands[2], struct gs_value *out);
/* The elementwise operator OP over tensors and numbers. */
bool gs_operate_elementwise(struct gs_session *s, struct gs_span at, enum gs_op op,
                            const struct gs_value *args, int nargs, struct gs_value *out);
/* VALUE, a number or bool, as a scalar tensor of DTYPE. */
struct gs_node *gs_operate_scalar(struct gs_session *s, struct gs_span at, enum gs_dtype dtype,
                                  struct gs_value value);
/* Finish a builder's node: false for poison. */
bool gs_operate_node(struct gs_session *s, struct gs_node *node, struct gs_value *out);

/* interp/subscript.c: x[...]. */
bool gs_eval_index(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                   struct gs_value *out);
/* interp/call.c: f(...); PIPED (or NULL) is put before the first argument. */
bool gs_eval_call(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                  const struct gs_ast *piped, bool statement, struct gs_value *out);
/* BUILTIN with the arguments of the call AST, as a statement. */
bool gs_eval_builtin(struct gs_session *s, const struct gs_ast *ast,
                     const struct gs_builtin *builtin, struct gs_value *out);
/* FUNCTION over values. */
bool gs_call(struct gs_session *s, struct gs_span at, struct gs_value function,
             const struct gs_value *args, int nargs, struct gs_value *out);

#endif
