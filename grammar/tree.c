/* grammar/tree.c - building syntax trees in an arena.
 *
 * When memory is out, the parser's spare tree stands for what could not be made and the statement is
 * marked wrong, so that the grammar's actions need not ask.
 */
#include <config.h>

#include "grammar/grammar.h"

#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

void gs_parser_error(struct gs_parser *parser, struct gs_span at, const char *message)
{
  if (!parser->recovering)
    gs_error(parser->diagnostics, at, "%s", message);
  parser->wrong = true;
}

static void out_of_memory(struct gs_parser *parser, struct gs_span at)
{
  if (!parser->wrong)
    gs_parser_error(parser, at, "out of memory while reading this");
}

static int depth_of(const struct gs_ast *tree)
{
  return tree == NULL ? 0 : ((const struct gs_tree *)tree)->depth;
}

static struct gs_ast *new_tree(struct gs_parser *parser, enum gs_ast_kind kind, struct gs_span span)
{
  struct gs_tree *tree = GS_NEW(parser->arena, struct gs_tree);
  if (tree == NULL) {
    out_of_memory(parser, span);
    parser->spare = (struct gs_tree){ .ast.text = "" };
    tree = &parser->spare;
  }
  tree->ast.kind = kind;
  tree->ast.span = span;
  tree->depth = 1;
  return &tree->ast;
}

/* CHILD is, or is in, TREE. */
static void contain(struct gs_parser *parser, struct gs_ast *tree, const struct gs_ast *child)
{
  int depth = depth_of(child) + 1;
  if (depth > ((struct gs_tree *)tree)->depth)
    ((struct gs_tree *)tree)->depth = depth;
  if (depth > GS_MAX_DEPTH && !parser->wrong) {
    gs_parser_error(parser, tree->span, "this expression is nested too deeply");
    gs_hint(parser->diagnostics, "give parts of it names, in statements before");
  }
}

struct gs_ast *gs_tree_make(struct gs_parser *parser, enum gs_ast_kind kind, struct gs_span span,
                            struct gs_ast *const *items, int count)
{
  struct gs_parse_list list = { NULL, 0, 0 };
  if (count > 0)
    list.items = gs_arena_copy(parser->arena, items, (size_t)count * sizeof *items);
  if (list.items != NULL)
    list.count = list.capacity = count;
  else if (count > 0)
    out_of_memory(parser, span);
  return gs_tree_list(parser, kind, span, NULL, list, NULL);
}

struct gs_ast *gs_tree_list(struct gs_parser *parser, enum gs_ast_kind kind, struct gs_span span,
                            struct gs_ast *head, struct gs_parse_list list, struct gs_ast *tail)
{
  struct gs_ast *tree = new_tree(parser, kind, span);
  if (tail != NULL)
    list = gs_list_add(parser, list, tail);
  if (head != NULL) {
    list = gs_list_add(parser, list, NULL);
    if (list.count > 0) {
      memmove(list.items + 1, list.items, (size_t)(list.count - 1) * sizeof *list.items);
      list.items[0] = head;
    }
  }
  tree->items = list.items;
  tree->nitems = list.count;
  for (int i = 0; i < list.count; i++)
    contain(parser, tree, list.items[i]);
  return tree;
}

struct gs_ast *gs_tree_text(struct gs_ast *tree, struct gs_parse_text text)
{
  tree->text = text.data;
  tree->length = text.length;
  return tree;
}

struct gs_ast *gs_tree_op(struct gs_ast *tree, enum gs_ast_op op)
{
  tree->op = op;
  return tree;
}

struct gs_ast *gs_tree_function(struct gs_parser *parser, enum gs_ast_kind kind,
                                struct gs_span span, struct gs_parse_list parameters,
                                struct gs_ast *body)
{
  struct gs_ast *tree = GS_TREE(parser, kind, span, body);
  tree->parameters = GS_NEW_ARRAY(parser->arena, struct gs_ast_parameter, parameters.count);
  if (tree->parameters == NULL && parameters.count > 0) {
    out_of_memory(parser, span);
    return tree;
  }
  tree->nparameters = parameters.count;
  for (int i = 0; i < parameters.count; i++) {
    const struct gs_ast *parameter = parameters.items[i];
    tree->parameters[i] = (struct gs_ast_parameter){
      parameter->text, parameter->span, parameter->nitems > 0 ? parameter->items[0] : NULL
    };
    contain(parser, tree, tree->parameters[i].value);
  }
  return tree;
}

struct gs_ast *gs_tree_subscript(struct gs_ast *tree)
{
  if (tree->kind == GS_AST_NAME && strcmp(tree->text, "newaxis") == 0)
    tree->kind = GS_AST_NEWAXIS;
  return tree;
}

struct gs_ast *gs_tree_command(struct gs_parser *parser, struct gs_span span)
{
  struct gs_ast *tree = new_tree(parser, GS_AST_COMMAND, span);
  const char *begin = span.source->text + span.begin + 1, *end = span.source->text + span.end;
  tree->length = strspn(begin, NAME_CHARACTERS);
  const char *words = begin + tree->length;
  while (words < end && (*words == ' ' || *words == '\t'))
    words++;
  tree->text = gs_arena_string(parser->arena, begin, tree->length);
  tree->words = gs_arena_string(parser->arena, words, (size_t)(end - words));
  tree->words_span = span;
  tree->words_span.begin = (uint32_t)(words - span.source->text);
  if (tree->text == NULL || tree->words == NULL)
    out_of_memory(parser, span);
  return tree;
}

struct gs_parse_list gs_list_add(struct gs_parser *parser, struct gs_parse_list list,
                                 struct gs_ast *tree)
{
  if (list.count == list.capacity) {
    int capacity = list.capacity == 0 ? 2 : list.capacity < INT32_MAX / 2 ? 2 * list.capacity : 0;
    struct gs_ast **items = capacity == 0 ? NULL
                            : GS_NEW_ARRAY(parser->arena, struct gs_ast *, capacity);
    if (items == NULL) {
      out_of_memory(parser, tree == NULL ? (struct gs_span){ 0 } : tree->span);
      return list;
    }
    if (list.count > 0)
      memcpy(items, list.items, (size_t)list.count * sizeof *items);
    list.items = items;
    list.capacity = capacity;
  }
  list.items[list.count++] = tree;
  return list;
}

struct gs_parse_list gs_list_add_argument(struct gs_parser *parser, struct gs_parse_list list,
                                          struct gs_ast *tree)
{
  bool named_before = list.count > 0 && list.items[list.count - 1]->kind == GS_AST_ARGUMENT;
  if (named_before && tree->kind != GS_AST_ARGUMENT)
    gs_parser_error(parser, tree->span, "an argument without a name cannot follow a named one");
  return gs_list_add(parser, list, tree);
}
