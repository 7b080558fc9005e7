/* interp/builtin.h - the functions of the language, one row each.
 *
 * A row says what arguments a function takes as a small text: names in order, separated by blanks,
 * "?" behind an optional one, "*" behind one that takes all further positional arguments (what
 * follows it is given by name only), "'" before one that is passed unevaluated.  Elementwise
 * operators and reductions get their rows from lang/ops.def.  "**" stands for any further named
 * arguments.
 */
#ifndef GS_INTERP_BUILTIN_H
#define GS_INTERP_BUILTIN_H

#include "interp/session.h"

enum { GS_MAX_PARAMETERS = 12 };

enum gs_topic {                        /* how :help and :ops group functions */
  GS_TOPIC_SOURCES, GS_TOPIC_SHARDING, GS_TOPIC_ELEMENTWISE, GS_TOPIC_SHAPE, GS_TOPIC_REDUCTIONS,
  GS_TOPIC_CONTRACTION, GS_TOPIC_WINDOWS, GS_TOPIC_INDEXING, GS_TOPIC_ORDER, GS_TOPIC_TRANSFORMS, GS_TOPIC_CONTROL, GS_TOPIC_MANUAL, GS_TOPIC_LIBRARY, GS_TOPIC_ASKING, GS_TOPIC_VALUES, GS_TOPIC_TEXT,
  GS_TOPIC_COUNT
};
const char *gs_topic_name(enum gs_topic topic);

/* One argument as a function sees it. */
struct gs_argument {
  struct gs_value value;               /* ABSENT: not given */
  struct gs_span span;
  const struct gs_ast *ast;            /* NULL when it came as a value */
};

struct gs_parameter {
  const char *name;                    /* LENGTH characters of the row's text */
  int length;
  bool optional, quoted, rest, extra, named_only;
};

struct gs_call {
  struct gs_session *session;
  struct gs_scope *scope;              /* of the caller, for unevaluated arguments */
  const struct gs_builtin *builtin;
  struct gs_span span;                 /* of the whole call */
  bool statement;                      /* the call is a statement of its own */
  struct gs_argument args[GS_MAX_PARAMETERS];
  struct gs_parameter parameters[GS_MAX_PARAMETERS];
  int nparameters;
  struct gs_argument *rest;            /* of the "*" parameter */
  int nrest;
  struct gs_argument *extra;           /* named arguments, where the row says "**" */
  const char **extra_names;
  int nextra;
};

typedef bool gs_builtin_function(struct gs_call *call, struct gs_value *out);

struct gs_builtin {
  const char *name;
  const char *parameters;              /* as described above */
  gs_builtin_function *function;
  enum gs_op op;                       /* for rows made from ops.def */
  enum gs_topic topic;
  const char *usage, *help;
};

const struct gs_builtin *gs_builtin_find(const char *name);
/* All of them, sorted by name; NULL past the last. */
const struct gs_builtin *gs_builtin_at(int index);

/* The tables, each ending in a row without a name; interp/builtin.c joins them. */
extern const struct gs_builtin gs_builtins_source[];         /* interp/functions_source.c */
extern const struct gs_builtin gs_builtins_sharding[];       /* interp/functions_sharding.c */
extern const struct gs_builtin gs_builtins_shape[];          /* interp/functions_shape.c */
extern const struct gs_builtin gs_builtins_math[];           /* interp/functions_math.c */
extern const struct gs_builtin gs_builtins_ask[];            /* interp/functions_ask.c */
extern const struct gs_builtin gs_builtins_list[];           /* interp/functions_list.c */
extern const struct gs_builtin gs_builtins_index[];          /* interp/functions_index.c */
extern const struct gs_builtin gs_builtins_order[];          /* interp/functions_order.c */
extern const struct gs_builtin gs_builtins_window[];         /* interp/functions_window.c */
extern const struct gs_builtin gs_builtins_transform[];      /* interp/functions_transform.c */
extern const struct gs_builtin gs_builtins_control[];        /* interp/functions_control.c */
extern const struct gs_builtin gs_builtins_manual[];         /* interp/functions_manual.c */
extern const struct gs_builtin gs_builtins_text[];           /* interp/functions_text.c */
extern const struct gs_builtin gs_builtins_operator[];       /* the same, from lang/ops.def */

/* The parameters of a row; the count is returned. */
int gs_builtin_parameters(const char *text, struct gs_parameter parameters[GS_MAX_PARAMETERS]);

/* Argument I as what is wanted; report and return false otherwise. */
bool gs_arg_given(const struct gs_call *call, int i);
bool gs_arg_tensor(struct gs_call *call, int i, struct gs_node **node);
bool gs_arg_int(struct gs_call *call, int i, int64_t *integer);
bool gs_arg_number(struct gs_call *call, int i, double *number);
bool gs_arg_bool(struct gs_call *call, int i, bool *boolean);
bool gs_arg_string(struct gs_call *call, int i, const char **string);
bool gs_arg_dtype(struct gs_call *call, int i, enum gs_dtype *dtype);
bool gs_arg_type(struct gs_call *call, int i, const struct gs_type **type);
bool gs_arg_sequence(struct gs_call *call, int i, struct gs_value *list);
/* An integer or a list of them, at most MAX. */
bool gs_arg_ints(struct gs_call *call, int i, int64_t *integers, int max, int *count);
/* A dim of a tensor of RANK, negative ones from the end. */
bool gs_arg_dim(struct gs_call *call, int i, int rank, int *dim);
/* A dim or a list of different dims, as a bit set and in order (ORDER may be NULL). */
bool gs_arg_dims(struct gs_call *call, int i, int rank, uint32_t *set, int *order, int *count);
/* Sizes of a shape; -1 is let through where OPEN. */
bool gs_arg_shape(struct gs_call *call, int i, bool open, int64_t dims[GS_MAX_RANK], int *rank);
/* The tensors in a list, or (i < 0) among the rest arguments.  Plain numbers beside tensors become
 * scalars where WEAK. */
bool gs_arg_tensors(struct gs_call *call, int i, struct gs_node ***nodes, int *count);
/* Report that argument I is not WANTED ("a tensor") but what it is. */
bool gs_arg_wrong(struct gs_call *call, int i, const char *wanted);

/* The name among builtins, variables, axes and element types that is most like NAME, or NULL. */
const char *gs_nearest_name(struct gs_session *s, struct gs_scope *scope, const char *name);
/* Of COUNT names the nearest to NAME if near enough, else NULL. */
const char *gs_nearest(const char *name, const char *const *names, size_t count);

#endif
