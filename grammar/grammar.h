/* grammar/grammar.h - what lexer, grammar and driver share; nobody else includes it.
 *
 * The driver (parse.c) keeps the text, asks the lexer (lexer.re) for tokens, decides which line
 * ends are statement ends, and pushes the tokens into the grammar (parser.y), whose actions build
 * trees (tree.c).  Tokens are spans without memory of their own; their values (literal.c) are made
 * when they are pushed, so that the caller may rewind the tree arena at every statement.
 */
#ifndef GS_GRAMMAR_GRAMMAR_H
#define GS_GRAMMAR_GRAMMAR_H

#include <locale.h>

#include "grammar/parse.h"

enum {
  GS_MAX_NESTING = 1000,               /* brackets within brackets */
  GS_MAX_DEPTH = 1000                  /* levels of a tree: walkers may recurse */
};

struct gs_parse_text {
  const char *data;
  size_t length;
};

/* A list that is being read. */
struct gs_parse_list {
  struct gs_ast **items;
  int count, capacity;
};

/* Values of grammar symbols. */
union gs_parse_value {
  struct gs_parse_text text;           /* names, strings */
  int64_t integer;
  double number;
  struct gs_ast *tree;
  struct gs_parse_list list;
};

/* ---- tokens ---- */

struct gs_token {
  int kind;                            /* TOK_... of grammar/parser.h */
  struct gs_span span;
  bool first;                          /* of its line */
  uint32_t indent;                     /* bytes from the line's begin to its first token */
  const char *error, *hint;            /* where kind is TOK_GS_YYerror; the hint may be NULL */
};

/* What a kind of token is to messages and to line ends; flags may be combined. */
enum gs_token_class {
  GS_TOKEN_OPERATOR = 1,               /* binary: a line that ends with it goes on */
  GS_TOKEN_JOINS = 2,                  /* not an operator, but a line that ends with it goes on */
  GS_TOKEN_STARTS = 4,                 /* may begin an expression */
  GS_TOKEN_POSTFIX = 8,                /* may come after an expression as a part of it */
  GS_TOKEN_STATEMENT = 16,             /* begins only statements */
  GS_TOKEN_CLOSES = 32,
  GS_TOKEN_PLAIN = 64                  /* its name is a description, not a spelling */
};
struct gs_token_info {
  int kind;
  const char *name;                    /* as in parser.y */
  unsigned classes;
};
/* NULL for kinds that no text has. */
const struct gs_token_info *gs_token_info(int kind);
/* Whether it ends an operand, so that a minus sign after it subtracts. */
bool gs_token_is_operand(int kind);
const struct gs_token_info *gs_token_find(const char *name);

/* ---- lexer ---- */

struct gs_lexer {
  const struct gs_source *source;
  uint32_t cursor;                     /* offset of the next byte to read */
  uint32_t limit;                      /* read up to here; the byte before it ends a line */
  uint32_t indent;                     /* of the current line, once a token was read on it */
  bool line_started;                   /* a token was read on the current line */
};

/* What decides how the next token is read. */
enum gs_lexer_context {
  GS_LEX_PLAIN,
  GS_LEX_STATEMENT,                    /* a statement may begin: ":name words" is a command */
  GS_LEX_ARGUMENT                      /* inside ( ): keywords before "=" are names */
};

/* The next token; line ends are TOK_NEWLINE.  False at the limit. */
bool gs_lexer_next(struct gs_lexer *lexer, enum gs_lexer_context context, struct gs_token *token);

/* Whether the text at OFFSET, after blanks, is "=" and not "==". */
bool gs_lexer_assigns(const struct gs_lexer *lexer, uint32_t offset);

/* ---- literals ---- */

/* Values of a token's spelling; false with the reason in *ERROR. */
/* After a minus sign 2^63 is an integer too: INT64_MIN stands for it, to be left as it is by that sign. */
bool gs_literal_integer(const char *text, size_t length, bool negated, int64_t *value,
                        const char **error);
bool gs_literal_float(struct gs_arena *arena, locale_t locale, const char *text, size_t length,
                      double *value, const char **error);
/* TEXT has its quotes.  *AT is where in TEXT a bad escape begins, *UNTIL where it ends. */
bool gs_literal_string(struct gs_arena *arena, const char *text, size_t length,
                       struct gs_parse_text *value, const char **error, size_t *at, size_t *until);

/* ---- parser ---- */

struct gs_bracket {
  char kind;                           /* ( [ { */
  uint32_t offset;
  uint32_t indent;                     /* of the statement it stands in */
};

/* A tree with what only the parser needs to know about it. */
struct gs_tree {
  struct gs_ast ast;                   /* must be first */
  int depth;
};

struct gs_parser {
  struct gs_arena *sources;            /* holds what spans point to */
  struct gs_arena *arena;              /* holds trees */
  struct gs_diagnostics *diagnostics;
  gs_statement_function *statement;
  void *user;
  locale_t locale;                     /* "C", for numbers */

  struct gs_source *source;
  char *text;                          /* of the source, growing */
  size_t capacity;
  bool prompt;                         /* the source has no name: a complete line is complete */
  struct gs_lexer lexer;

  struct gs_yypstate *state;           /* Bison's */
  int last;                            /* kind pushed last; 0 at the source's begin */
  bool negated;                        /* that was a minus sign before an operand */
  bool pending;                        /* a line end that is a statement end if no |> follows */
  struct gs_span pending_span;
  uint32_t indent;                     /* of the statement being read */
  struct gs_bracket brackets[GS_MAX_NESTING];
  int depth;                           /* open brackets; those past the array are not in it */

  bool recovering;                     /* dropping tokens up to the end of a wrong statement */
  int level;                           /* depth at which that statement stands */
  bool wrong;                          /* an error was reported inside the outermost statement */
  struct gs_ast *complete;             /* set by the grammar, taken by the driver */
  bool stopped;                        /* the callback said so */
  struct gs_tree spare;                /* stands for a tree when memory is out */
};

/* The innermost open bracket, or NULL. */
const struct gs_bracket *gs_parser_bracket(const struct gs_parser *parser);
/* An error was reported at the token being pushed: drop the rest of the statement. */
void gs_parser_recover(struct gs_parser *parser);
/* Report an error inside the statement being read, which is not handed over then. */
void gs_parser_error(struct gs_parser *parser, struct gs_span at, const char *message);

/* ---- grammar (parser.y) and messages ---- */

/* Names of the token kinds that STATE takes next; at most MAX, the count is returned. */
int gs_grammar_expected(struct gs_yypstate *state, struct gs_parser *parser, const char **names,
                        int max);
/* The message for the token called FOUND at AT where only WANTED were possible. */
void gs_parser_unexpected(struct gs_parser *parser, const char *found, struct gs_span at,
                          const char *const *wanted, int nwanted);

/* ---- trees ---- */

/* A tree of KIND over COUNT items, which may be NULL. */
struct gs_ast *gs_tree_make(struct gs_parser *parser, enum gs_ast_kind kind, struct gs_span span,
                            struct gs_ast *const *items, int count);
#define GS_TREE(parser, kind, span, ...) \
  gs_tree_make((parser), (kind), (span), (struct gs_ast *[]){ __VA_ARGS__ }, \
               (int)(sizeof (struct gs_ast *[]){ __VA_ARGS__ } / sizeof(struct gs_ast *)))
#define GS_LEAF(parser, kind, span) gs_tree_make((parser), (kind), (span), NULL, 0)
/* HEAD (if not NULL), the items of LIST, TAIL (if not NULL). */
struct gs_ast *gs_tree_list(struct gs_parser *parser, enum gs_ast_kind kind, struct gs_span span,
                            struct gs_ast *head, struct gs_parse_list list, struct gs_ast *tail);
struct gs_ast *gs_tree_text(struct gs_ast *tree, struct gs_parse_text text);
struct gs_ast *gs_tree_op(struct gs_ast *tree, enum gs_ast_op op);
/* PARAMETERS are GS_AST_ARGUMENT trees. */
struct gs_ast *gs_tree_function(struct gs_parser *parser, enum gs_ast_kind kind,
                                struct gs_span span, struct gs_parse_list parameters,
                                struct gs_ast *body);
/* A subscript: the name newaxis is not a variable there. */
struct gs_ast *gs_tree_subscript(struct gs_ast *tree);
struct gs_ast *gs_tree_command(struct gs_parser *parser, struct gs_span span);
/* The list with TREE at its end. */
struct gs_parse_list gs_list_add(struct gs_parser *parser, struct gs_parse_list list,
                                 struct gs_ast *tree);
/* The same for a call's arguments, where the named ones come last. */
struct gs_parse_list gs_list_add_argument(struct gs_parser *parser, struct gs_parse_list list,
                                          struct gs_ast *tree);

#endif
