/* interp/value.h - what a variable can hold.
 *
 * Values are small and copied freely; what they point to lives in the session's arenas and never
 * changes, but for two things: a list's storage may grow past the end that older copies see, and
 * an in-place edit of an annotation replaces tensors inside lists.
 */
#ifndef GS_INTERP_VALUE_H
#define GS_INTERP_VALUE_H

#include "grammar/ast.h"
#include "lang/graph.h"
#include "partition/mesh.h"

struct gs_builtin;                     /* interp/builtin.h */
struct gs_scope;                       /* interp/scope.h */

enum gs_value_kind {
  GS_VALUE_ABSENT,                     /* an argument that was not given */
  GS_VALUE_NONE, GS_VALUE_BOOL, GS_VALUE_INT, GS_VALUE_FLOAT, GS_VALUE_STRING,
  GS_VALUE_LIST, GS_VALUE_TUPLE,
  GS_VALUE_FUNCTION, GS_VALUE_BUILTIN,
  GS_VALUE_DTYPE, GS_VALUE_TYPE, GS_VALUE_MESH, GS_VALUE_AXIS, GS_VALUE_TENSOR,
  GS_VALUE_FILL,                       /* pattern(3), zeros(), ... without a type */
  GS_VALUE_OPEN, GS_VALUE_REPLICATED,  /* in annotations */
  GS_VALUE_NEWAXIS,
  GS_VALUE_QUOTED,                     /* an argument passed unevaluated */
  GS_VALUE_KINDS
};

struct gs_items;

struct gs_function {
  const char *name;                    /* NULL: a lambda */
  const struct gs_ast *ast;            /* FUNCTION or LAMBDA */
  struct gs_scope *scope;              /* where it was made */
  const char *path;                    /* of the file it stands in, or NULL */
  bool library;                        /* from the prelude */
};

struct gs_value {
  enum gs_value_kind kind;
  uint32_t length;                     /* STRING, LIST, TUPLE; the axis of an AXIS */
  union {
    bool boolean;
    int64_t integer;
    double number;
    const char *text;                  /* NUL-terminated too */
    struct gs_items *items;
    const struct gs_function *function;
    const struct gs_builtin *builtin;
    enum gs_dtype dtype;
    const struct gs_type *type;
    const struct gs_mesh *mesh;        /* MESH, AXIS */
    struct gs_node *node;
    const struct gs_fill_spec *fill;
    const struct gs_ast *ast;
  };
};

enum { GS_VALUE_MAX_ITEMS = 1 << 24 };

struct gs_value gs_value_none(void);
struct gs_value gs_value_bool(bool boolean);
struct gs_value gs_value_int(int64_t integer);
struct gs_value gs_value_float(double number);
struct gs_value gs_value_tensor(struct gs_node *node);
/* A copy of LENGTH bytes.  ABSENT when memory ran out. */
struct gs_value gs_value_string(struct gs_arena *arena, const char *text, size_t length);
/* A list (or tuple) of LENGTH items, to be set; ABSENT when memory ran out. */
struct gs_value gs_value_list(struct gs_arena *arena, enum gs_value_kind kind, size_t length);
/* LIST with ITEM behind it; in place when nothing stands there yet. */
struct gs_value gs_value_append(struct gs_arena *arena, struct gs_value list, struct gs_value item);

bool gs_value_is_sequence(struct gs_value value);            /* list or tuple */
bool gs_value_is_number(struct gs_value value);              /* integer or float */
struct gs_value *gs_value_item(struct gs_value list, size_t index);
/* As a double; only for numbers. */
double gs_value_number(struct gs_value value);

/* "an integer", "a list", ... for messages. */
const char *gs_value_kind_name(enum gs_value_kind kind);
/* "f32[8,16]" for a tensor, else the kind's name: what a message says was found. */
const char *gs_value_describe(struct gs_arena *arena, struct gs_value value);

/* Equal as == says.  Lists item by item; tensors only if the same node. */
bool gs_value_equal(struct gs_value a, struct gs_value b);
/* As the user would write it; strings bare unless QUOTE. */
void gs_value_print(struct gs_text *text, struct gs_value value, bool quote);
/* 12 significant digits at most, and always recognizable as a float. */
void gs_float_print(struct gs_text *text, double number);

#endif
