/* grammar/parser.y - the grammar of the language.
 *
 * A push parser: the driver in parse.c decides where statements end and gives one END for each, so
 * that nothing here knows about lines.  Actions only build trees.  The names of tokens are what
 * messages call them; token.c has a row for each.
 */
%require "3.8"
%define api.pure full
%define api.push-pull push
%define api.prefix {gs_yy}
%define api.token.prefix {TOK_}
%define api.value.type {union gs_parse_value}
%define api.location.type {struct gs_span}
%define api.header.include {"grammar/parser.h"}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {struct gs_parser *parser}

%code top {
#include <config.h>
}

%code requires {
#include "grammar/grammar.h"
}

%code {
static void yyerror(struct gs_span *at, struct gs_parser *parser, const char *message);

/* From the first to the last symbol that is not empty. */
static struct gs_span location(const struct gs_span *symbols, int count)
{
  if (count == 0)
    return (struct gs_span){ symbols[0].source, symbols[0].end, symbols[0].end };
  struct gs_span span = { symbols[1].source, symbols[1].begin, symbols[1].begin };
  bool found = false;
  for (int i = 1; i <= count; i++) {
    if (symbols[i].begin == symbols[i].end)
      continue;
    if (!found)
      span = symbols[i];
    span.end = symbols[i].end;
    found = true;
  }
  return span;
}

#define YYLLOC_DEFAULT(result, symbols, count) ((result) = location((symbols), (int)(count)))

static struct gs_ast *unary(struct gs_parser *parser, enum gs_ast_op op, struct gs_span span,
                            struct gs_ast *a)
{
  return gs_tree_op(GS_TREE(parser, GS_AST_UNARY, span, a), op);
}

static struct gs_ast *binary(struct gs_parser *parser, enum gs_ast_op op, struct gs_span span,
                             struct gs_ast *a, struct gs_ast *b)
{
  return gs_tree_op(GS_TREE(parser, GS_AST_BINARY, span, a, b), op);
}
}

%token <text> NAME "name" STRING "string"
%token <integer> INT "integer"
%token <number> FLOAT "number"
%token COMMAND "command"
%token END "end of statement"
%token FN "fn" FOR "for" IN "in" IF "if" ELSE "else" WHILE "while" RETURN "return"
%token IMPORT "import" TRUE "true" FALSE "false" AND "and" OR "or" NOT "not"
%token PIPE "|>" EQ "==" NE "!=" LT "<" LE "<=" GT ">" GE ">="
%token PLUS "+" MINUS "-" STAR "*" SLASH "/" PERCENT "%" AT "@" POWER "**"
%token ASSIGN "=" COMMA "," COLON ":" QUESTION "?" ELLIPSIS "..."
%token LPAREN "(" RPAREN ")" LBRACKET "[" RBRACKET "]" LBRACE "{" RBRACE "}"
/* Never part of a statement: line ends before the driver has judged them, ";" in parentheses. */
%token NEWLINE "end of line" SEMICOLON ";"

%precedence BODY
%left "|>"
%left "or"
%left "and"
%precedence "not"
%nonassoc "==" "!=" "<" "<=" ">" ">="
%left "+" "-"
%left "*" "/" "%" "@"
%precedence NEGATION
%right "**"

%type <tree> statement expr postfix primary block if else argument parameter subscript bound item
%type <tree> target
%type <list> body statements targets parameters parameter_list arguments argument_list
%type <list> subscripts items item_list

%%

program:
  %empty
| program END
| program statement END                 { parser->complete = $statement; }
| program error END                     { yyerrok; }
;

statement:
  "fn" NAME "(" parameters ")" "=" expr
    { $$ = gs_tree_text(gs_tree_function(parser, GS_AST_FUNCTION, @$, $parameters, $expr), $NAME); }
| "fn" NAME "(" parameters ")" block
    { $$ = gs_tree_text(gs_tree_function(parser, GS_AST_FUNCTION, @$, $parameters, $block), $NAME); }
| targets "=" expr
    { $$ = gs_tree_list(parser, GS_AST_ASSIGN, @$, NULL, $targets, $expr); }
| "for" NAME "in" expr block
    { $$ = gs_tree_text(GS_TREE(parser, GS_AST_FOR, @$, $expr, $block), $NAME); }
| "while" expr block                    { $$ = GS_TREE(parser, GS_AST_WHILE, @$, $expr, $block); }
| "return"                              { $$ = GS_TREE(parser, GS_AST_RETURN, @$, NULL); }
| "return" expr                         { $$ = GS_TREE(parser, GS_AST_RETURN, @$, $expr); }
| "import" STRING
    { $$ = gs_tree_text(GS_LEAF(parser, GS_AST_IMPORT, @$), $STRING); }
| "command"                             { $$ = gs_tree_command(parser, @$); }
| expr
;

targets:
  target                      { $$ = gs_list_add(parser, (struct gs_parse_list){ 0 }, $target); }
| targets[list] "," target    { $$ = gs_list_add(parser, $list, $target); }
;

target:
  NAME                        { $$ = gs_tree_text(GS_LEAF(parser, GS_AST_NAME, @$), $NAME); }
;

block:
  "{" body "}"                { $$ = gs_tree_list(parser, GS_AST_BLOCK, @$, NULL, $body, NULL); }
;

body:
  statements
| statements statement        { $$ = gs_list_add(parser, $statements, $statement); }
;

statements:
  %empty                            { $$ = (struct gs_parse_list){ 0 }; }
| statements[list] END              { $$ = $list; }
| statements[list] statement END    { $$ = gs_list_add(parser, $list, $statement); }
| statements[list] error END        { $$ = $list; yyerrok; }
;

if:
  "if" expr block else        { $$ = GS_TREE(parser, GS_AST_IF, @$, $expr, $block, $[else]); }
;

else:
  %empty                      { $$ = NULL; }
| "else" block                { $$ = $block; }
| "else" if                   { $$ = $if; }
;

expr:
  postfix
| block
| if
| "fn" "(" parameters ")" expr[body] %prec BODY
    { $$ = gs_tree_function(parser, GS_AST_LAMBDA, @$, $parameters, $body); }
| expr[a] "|>" expr[b]        { $$ = GS_TREE(parser, GS_AST_PIPE, @$, $a, $b); }
| expr[a] "or" expr[b]        { $$ = binary(parser, GS_AST_OR, @$, $a, $b); }
| expr[a] "and" expr[b]       { $$ = binary(parser, GS_AST_AND, @$, $a, $b); }
| "not" expr[a]               { $$ = unary(parser, GS_AST_NOT, @$, $a); }
| expr[a] "==" expr[b]        { $$ = binary(parser, GS_AST_EQ, @$, $a, $b); }
| expr[a] "!=" expr[b]        { $$ = binary(parser, GS_AST_NE, @$, $a, $b); }
| expr[a] "<" expr[b]         { $$ = binary(parser, GS_AST_LT, @$, $a, $b); }
| expr[a] "<=" expr[b]        { $$ = binary(parser, GS_AST_LE, @$, $a, $b); }
| expr[a] ">" expr[b]         { $$ = binary(parser, GS_AST_GT, @$, $a, $b); }
| expr[a] ">=" expr[b]        { $$ = binary(parser, GS_AST_GE, @$, $a, $b); }
| expr[a] "+" expr[b]         { $$ = binary(parser, GS_AST_ADD, @$, $a, $b); }
| expr[a] "-" expr[b]         { $$ = binary(parser, GS_AST_SUB, @$, $a, $b); }
| expr[a] "*" expr[b]         { $$ = binary(parser, GS_AST_MUL, @$, $a, $b); }
| expr[a] "/" expr[b]         { $$ = binary(parser, GS_AST_DIV, @$, $a, $b); }
| expr[a] "%" expr[b]         { $$ = binary(parser, GS_AST_REM, @$, $a, $b); }
| expr[a] "@" expr[b]         { $$ = binary(parser, GS_AST_MATMUL, @$, $a, $b); }
| "-" expr[a] %prec NEGATION  { $$ = unary(parser, GS_AST_NEG, @$, $a); }
| expr[a] "**" expr[b]        { $$ = binary(parser, GS_AST_POW, @$, $a, $b); }
;

postfix:
  primary
| postfix[callee] "(" arguments ")"
    { $$ = gs_tree_list(parser, GS_AST_CALL, @$, $callee, $arguments, NULL); }
| postfix[whole] "[" subscripts "]"
    { $$ = gs_tree_list(parser, GS_AST_INDEX, @$, $whole, $subscripts, NULL); }
| postfix[whole] "[" subscripts "," "]"
    { $$ = gs_tree_list(parser, GS_AST_INDEX, @$, $whole, $subscripts, NULL); }
| postfix[whole] "[" "]"
    { $$ = gs_tree_list(parser, GS_AST_INDEX, @$, $whole, (struct gs_parse_list){ 0 }, NULL); }
;

primary:
  NAME                        { $$ = gs_tree_text(GS_LEAF(parser, GS_AST_NAME, @$), $NAME); }
| INT                         { $$ = GS_LEAF(parser, GS_AST_INT, @$); $$->integer = $INT; }
| FLOAT                       { $$ = GS_LEAF(parser, GS_AST_FLOAT, @$); $$->number = $FLOAT; }
| STRING                      { $$ = gs_tree_text(GS_LEAF(parser, GS_AST_STRING, @$), $STRING); }
| "true"                      { $$ = GS_LEAF(parser, GS_AST_TRUE, @$); }
| "false"                     { $$ = GS_LEAF(parser, GS_AST_FALSE, @$); }
| "(" expr ")"                { $$ = $expr; }
| "(" ")"                     { $$ = GS_LEAF(parser, GS_AST_TUPLE, @$); }
| "(" expr "," ")"            { $$ = GS_TREE(parser, GS_AST_TUPLE, @$, $expr); }
| "(" expr "," item_list ")"
    { $$ = gs_tree_list(parser, GS_AST_TUPLE, @$, $expr, $item_list, NULL); }
| "(" expr "," item_list "," ")"
    { $$ = gs_tree_list(parser, GS_AST_TUPLE, @$, $expr, $item_list, NULL); }
| "[" items "]"               { $$ = gs_tree_list(parser, GS_AST_LIST, @$, NULL, $items, NULL); }
;

items:
  %empty                      { $$ = (struct gs_parse_list){ 0 }; }
| item_list
| item_list ","
;

item_list:
  item                        { $$ = gs_list_add(parser, (struct gs_parse_list){ 0 }, $item); }
| item_list[list] "," item    { $$ = gs_list_add(parser, $list, $item); }
;

item:
  expr
| "?"                         { $$ = GS_LEAF(parser, GS_AST_OPEN, @$); }
;

arguments:
  %empty                      { $$ = (struct gs_parse_list){ 0 }; }
| argument_list
| argument_list ","
;

argument_list:
  argument
    { $$ = gs_list_add_argument(parser, (struct gs_parse_list){ 0 }, $argument); }
| argument_list[list] "," argument
    { $$ = gs_list_add_argument(parser, $list, $argument); }
;

argument:
  expr
| NAME "=" expr
    { $$ = gs_tree_text(GS_TREE(parser, GS_AST_ARGUMENT, @$, $expr), $NAME); }
;

parameters:
  %empty                      { $$ = (struct gs_parse_list){ 0 }; }
| parameter_list
| parameter_list ","
;

parameter_list:
  parameter
    { $$ = gs_list_add(parser, (struct gs_parse_list){ 0 }, $parameter); }
| parameter_list[list] "," parameter
    { $$ = gs_list_add(parser, $list, $parameter); }
;

parameter:
  NAME
    { $$ = gs_tree_text(GS_TREE(parser, GS_AST_ARGUMENT, @$, NULL), $NAME); }
| NAME "=" expr
    { $$ = gs_tree_text(GS_TREE(parser, GS_AST_ARGUMENT, @$, $expr), $NAME); }
;

subscripts:
  subscript
    { $$ = gs_list_add(parser, (struct gs_parse_list){ 0 }, $subscript); }
| subscripts[list] "," subscript
    { $$ = gs_list_add(parser, $list, $subscript); }
;

subscript:
  expr                        { $$ = gs_tree_subscript($expr); }
| "..."                       { $$ = GS_LEAF(parser, GS_AST_ELLIPSIS, @$); }
| bound[a] ":" bound[b]       { $$ = GS_TREE(parser, GS_AST_RANGE, @$, $a, $b, NULL); }
| bound[a] ":" bound[b] ":" bound[step]
    { $$ = GS_TREE(parser, GS_AST_RANGE, @$, $a, $b, $step); }
;

bound:
  %empty                      { $$ = NULL; }
| expr
;

%%

/* More than the grammar has tokens. */
enum { MAX_NAMES = 64 };

static int names_of(const yysymbol_kind_t *kinds, int count, const char **names, int max)
{
  int n = 0;
  for (int i = 0; i < count && n < max; i++)
    names[n++] = yysymbol_name(kinds[i]);
  return n;
}

static int yyreport_syntax_error(const yypcontext_t *context, struct gs_parser *parser)
{
  yysymbol_kind_t kinds[MAX_NAMES];
  const char *names[MAX_NAMES];
  int count = yypcontext_expected_tokens(context, kinds, MAX_NAMES);
  if (count < 0)
    return count;
  count = names_of(kinds, count, names, MAX_NAMES);
  gs_parser_unexpected(parser, yysymbol_name(yypcontext_token(context)),
                       *yypcontext_location(context), names, count);
  gs_parser_recover(parser);
  return 0;
}

/* Only for a stack that has reached its limit. */
static void yyerror(struct gs_span *at, struct gs_parser *parser, const char *message)
{
  (void)message;
  gs_parser_error(parser, *at, "this is nested too deeply");
}

int gs_grammar_expected(struct gs_yypstate *state, struct gs_parser *parser, const char **names,
                        int max)
{
  (void)parser;
  yysymbol_kind_t kinds[MAX_NAMES];
  int count = yypstate_expected_tokens(state, kinds, MAX_NAMES);
  return count < 0 ? 0 : names_of(kinds, count, names, max);
}
