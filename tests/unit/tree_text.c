/* tests/unit/tree_text.c - syntax trees as short text, for comparing. */
#include <config.h>

#include "tests/unit/tree_text.h"

#include <inttypes.h>

/* What opens the parentheses of a kind with items. */
static const char *head(const struct gs_ast *tree)
{
  static const char *const heads[] = {
    [GS_AST_LIST] = "list", [GS_AST_TUPLE] = "tuple", [GS_AST_PIPE] = "|>", [GS_AST_CALL] = "call",
    [GS_AST_ARGUMENT] = "=", [GS_AST_INDEX] = "index", [GS_AST_RANGE] = "range",
    [GS_AST_LAMBDA] = "fn", [GS_AST_BLOCK] = "block", [GS_AST_FUNCTION] = "fn",
    [GS_AST_ASSIGN] = "set", [GS_AST_FOR] = "for", [GS_AST_WHILE] = "while", [GS_AST_IF] = "if",
    [GS_AST_RETURN] = "return"
  };
  if (tree->kind == GS_AST_UNARY || tree->kind == GS_AST_BINARY)
    return gs_ast_op_name(tree->op);
  return heads[tree->kind];
}

/* Kinds without items; false for the others. */
static bool leaf_text(struct gs_text *text, const struct gs_ast *tree)
{
  switch (tree->kind) {
  case GS_AST_INT:
    gs_text_printf(text, "%" PRId64, tree->integer);
    return true;
  case GS_AST_FLOAT:
    gs_text_printf(text, "%#.15g", tree->number);
    return true;
  case GS_AST_STRING:
    gs_text_printf(text, "\"%s\"", tree->text);
    return true;
  case GS_AST_NAME:
    gs_text_add(text, tree->text);
    return true;
  case GS_AST_TRUE:
    gs_text_add(text, "true");
    return true;
  case GS_AST_FALSE:
    gs_text_add(text, "false");
    return true;
  case GS_AST_OPEN:
    gs_text_add(text, "?");
    return true;
  case GS_AST_ELLIPSIS:
    gs_text_add(text, "...");
    return true;
  case GS_AST_NEWAXIS:
    gs_text_add(text, "newaxis");
    return true;
  case GS_AST_IMPORT:
    gs_text_printf(text, "(import \"%s\")", tree->text);
    return true;
  case GS_AST_COMMAND:
    gs_text_printf(text, "(command %s \"%s\")", tree->text, tree->words);
    return true;
  default:
    return false;
  }
}

void tree_text(struct gs_text *text, const struct gs_ast *tree)
{
  if (tree == NULL) {
    gs_text_add(text, "_");
    return;
  }
  if (leaf_text(text, tree))
    return;
  gs_text_printf(text, "(%s", head(tree));
  if (tree->text != NULL)
    gs_text_printf(text, " %s", tree->text);
  if (tree->kind == GS_AST_FUNCTION || tree->kind == GS_AST_LAMBDA) {
    gs_text_add(text, " (");
    for (int i = 0; i < tree->nparameters; i++) {
      gs_text_printf(text, i > 0 ? " %s" : "%s", tree->parameters[i].name);
      if (tree->parameters[i].value != NULL) {
        gs_text_add(text, "=");
        tree_text(text, tree->parameters[i].value);
      }
    }
    gs_text_add(text, ")");
  }
  for (int i = 0; i < tree->nitems; i++) {
    gs_text_add(text, " ");
    tree_text(text, tree->items[i]);
  }
  gs_text_add(text, ")");
}
