/* grammar/ast.h - the syntax tree of one statement.
 *
 * Made by the parser in the session's statement arena, or kept in the session arena when it holds
 * a function's body.  Nothing in it is freed by itself.
 */
#ifndef GS_GRAMMAR_AST_H
#define GS_GRAMMAR_AST_H

#include "lang/diag.h"

enum gs_ast_kind {
  /* expressions */
  GS_AST_INT, GS_AST_FLOAT, GS_AST_STRING, GS_AST_TRUE, GS_AST_FALSE, GS_AST_NAME,
  GS_AST_OPEN,                         /* ? in an annotation */
  GS_AST_LIST, GS_AST_TUPLE,           /* items */
  GS_AST_UNARY, GS_AST_BINARY,         /* op; items[0], items[1] */
  GS_AST_PIPE,                         /* items[0] |> items[1] */
  GS_AST_CALL,                         /* items[0] is the callee, then arguments */
  GS_AST_ARGUMENT,                     /* text = items[0]; only in a call */
  GS_AST_INDEX,                        /* items[0] is indexed, then subscripts */
  GS_AST_RANGE,                        /* a:b:s; items 0..2, each may be NULL; only in an index */
  GS_AST_ELLIPSIS, GS_AST_NEWAXIS,     /* only in an index */
  GS_AST_LAMBDA,                       /* like FUNCTION without a name */
  /* statements; a block and an if are expressions too */
  GS_AST_BLOCK,                        /* items */
  GS_AST_FUNCTION,                     /* text = name; parameters; items[0] = body */
  GS_AST_ASSIGN,                       /* items: targets, then the value last */
  GS_AST_FOR,                          /* text = variable; items[0] in, items[1] body */
  GS_AST_WHILE,                        /* items[0] condition, items[1] body */
  GS_AST_IF,                           /* items[0] condition, [1] then, [2] else or NULL */
  GS_AST_RETURN,                       /* items[0] or NULL */
  GS_AST_IMPORT,                       /* text = path */
  GS_AST_COMMAND                       /* text = name; words: the rest of the line, unparsed */
};

enum gs_ast_op {
  GS_AST_NEG, GS_AST_NOT, GS_AST_AND, GS_AST_OR,
  GS_AST_EQ, GS_AST_NE, GS_AST_LT, GS_AST_LE, GS_AST_GT, GS_AST_GE,
  GS_AST_ADD, GS_AST_SUB, GS_AST_MUL, GS_AST_DIV, GS_AST_REM, GS_AST_MATMUL, GS_AST_POW
};

struct gs_ast_parameter {
  const char *name;
  struct gs_span span;
  struct gs_ast *value;                /* the default, or NULL */
};

struct gs_ast {
  enum gs_ast_kind kind;
  enum gs_ast_op op;                   /* UNARY, BINARY */
  struct gs_span span;
  int64_t integer;                     /* INT */
  double number;                       /* FLOAT */
  const char *text;                    /* NAME, STRING (unescaped), FUNCTION, FOR, IMPORT, COMMAND */
  size_t length;                       /* of text */
  const char *words;                   /* COMMAND: the rest of the line, trimmed */
  struct gs_span words_span;
  struct gs_ast **items;
  int nitems;
  struct gs_ast_parameter *parameters; /* FUNCTION, LAMBDA */
  int nparameters;
};

/* "+", "and", … */
const char *gs_ast_op_name(enum gs_ast_op op);

#endif
