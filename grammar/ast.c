/* grammar/ast.c - the spelling of operators. */
#include <config.h>

#include "grammar/ast.h"

const char *gs_ast_op_name(enum gs_ast_op op)
{
  static const char *const names[] = {
    [GS_AST_NEG] = "-", [GS_AST_NOT] = "not", [GS_AST_AND] = "and", [GS_AST_OR] = "or",
    [GS_AST_EQ] = "==", [GS_AST_NE] = "!=", [GS_AST_LT] = "<", [GS_AST_LE] = "<=",
    [GS_AST_GT] = ">", [GS_AST_GE] = ">=", [GS_AST_ADD] = "+", [GS_AST_SUB] = "-",
    [GS_AST_MUL] = "*", [GS_AST_DIV] = "/", [GS_AST_REM] = "%", [GS_AST_MATMUL] = "@",
    [GS_AST_POW] = "**"
  };
  return names[op];
}
