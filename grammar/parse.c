/* grammar/parse.c - the driver: keeps the text, decides where statements end, recovers from errors.
 *
 * The grammar sees one END for each statement, never a line.  A line end is first only remembered:
 * the token after it may show that the statement goes on.  After an error the driver drops tokens
 * up to the end of the wrong statement, or to a line that looks like the next one's begin when a
 * bracket was left open, and gives the grammar an END there.
 */
#include <config.h>

#include "grammar/grammar.h"

#include <stdlib.h>
#include <string.h>

#include "grammar/parser.h"

enum { OUT_OF_STACK = 2 };             /* yypush_parse's word for it */

struct gs_parser *gs_parser_new(struct gs_arena *arena, struct gs_diagnostics *diagnostics,
                                gs_statement_function *statement, void *user)
{
  struct gs_parser *parser = calloc(1, sizeof *parser);
  if (parser == NULL)
    return NULL;
  parser->sources = parser->arena = arena;
  parser->diagnostics = diagnostics;
  parser->statement = statement;
  parser->user = user;
  parser->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  parser->state = gs_yypstate_new();
  if (parser->locale == (locale_t)0 || parser->state == NULL) {
    gs_parser_free(parser);
    return NULL;
  }
  return parser;
}

void gs_parser_free(struct gs_parser *parser)
{
  if (parser == NULL)
    return;
  if (parser->locale != (locale_t)0)
    freelocale(parser->locale);
  if (parser->state != NULL)
    gs_yypstate_delete(parser->state);
  free(parser);
}

void gs_parser_set_arena(struct gs_parser *parser, struct gs_arena *arena)
{
  parser->arena = arena;
}

/* ---- brackets ---- */

const struct gs_bracket *gs_parser_bracket(const struct gs_parser *parser)
{
  int top = parser->depth < GS_MAX_NESTING ? parser->depth : GS_MAX_NESTING;
  return top == 0 ? NULL : &parser->brackets[top - 1];
}

/* Whether line ends end statements here. */
static bool in_statements(const struct gs_parser *parser)
{
  return parser->depth == 0 || gs_parser_bracket(parser)->kind == '{';
}

static char opener_of(int kind)
{
  switch (kind) {
  case TOK_LPAREN: case TOK_RPAREN:
    return '(';
  case TOK_LBRACKET: case TOK_RBRACKET:
    return '[';
  case TOK_LBRACE: case TOK_RBRACE:
    return '{';
  default:
    return 0;
  }
}

static bool closes(int kind)
{
  return kind == TOK_RPAREN || kind == TOK_RBRACKET || kind == TOK_RBRACE;
}

/* The depth once TOKEN, which closes, has closed its partner.  A ) or ] without one is taken for a
 * slip and closes the innermost ( or [. */
static int depth_after(const struct gs_parser *parser, const struct gs_token *token)
{
  if (parser->depth > GS_MAX_NESTING)
    return parser->depth - 1;
  for (int i = parser->depth; i > 0; i--)
    if (parser->brackets[i - 1].kind == opener_of(token->kind))
      return i - 1;
  return token->kind != TOK_RBRACE && !in_statements(parser) ? parser->depth - 1 : parser->depth;
}

/* Count TOKEN if it is a bracket. */
static void count_bracket(struct gs_parser *parser, const struct gs_token *token)
{
  if (opener_of(token->kind) == 0)
    return;
  if (closes(token->kind)) {
    int depth = depth_after(parser, token);
    if (depth < parser->depth && depth < GS_MAX_NESTING)
      parser->indent = parser->brackets[depth].indent;
    parser->depth = depth;
    return;
  }
  if (parser->depth < GS_MAX_NESTING)
    parser->brackets[parser->depth] = (struct gs_bracket){
      opener_of(token->kind), token->span.begin, parser->indent
    };
  parser->depth++;
}

/* ---- pushing ---- */

void gs_parser_recover(struct gs_parser *parser)
{
  parser->recovering = parser->wrong = true;
  parser->level = parser->depth < GS_MAX_NESTING ? parser->depth : GS_MAX_NESTING;
  while (parser->level > 0 && parser->brackets[parser->level - 1].kind != '{')
    parser->level--;
}

/* Forget everything about the statement being read. */
static void drop_statement(struct gs_parser *parser)
{
  struct gs_yypstate *fresh = gs_yypstate_new();
  if (fresh != NULL) {
    gs_yypstate_delete(parser->state);
    parser->state = fresh;
  } else {
    gs_error(parser->diagnostics, (struct gs_span){ 0 }, "out of memory");
  }
  parser->last = parser->depth = parser->level = 0;
  parser->pending = parser->recovering = parser->wrong = parser->negated = false;
  parser->complete = NULL;
}

/* Hand over the outermost statement that has just ended. */
static void deliver(struct gs_parser *parser)
{
  struct gs_ast *tree = parser->complete;
  bool wrong = parser->wrong;
  parser->complete = NULL;
  parser->wrong = false;
  if (tree == NULL || wrong || parser->statement == NULL)
    return;
  if (gs_arena_failed(parser->arena)) {
    gs_arena_clear_failure(parser->arena);
    gs_error(parser->diagnostics, tree->span, "out of memory: this statement is over the limit");
  } else if (!parser->statement(parser->user, tree)) {
    parser->stopped = true;
  }
}

static void report_literal(struct gs_parser *parser, const struct gs_token *token,
                           const char *error, size_t begin, size_t end)
{
  struct gs_span at = token->span;
  at.end = at.begin + (uint32_t)end;
  at.begin += (uint32_t)begin;
  gs_parser_error(parser, at, error);
}

/* The value of TOKEN; false when it has none, which is reported. */
static bool make_value(struct gs_parser *parser, const struct gs_token *token,
                       union gs_parse_value *value)
{
  const char *text = token->span.source->text + token->span.begin, *error = NULL;
  size_t length = token->span.end - token->span.begin, begin = 0, end = length;
  bool good = true;
  switch (token->kind) {
  case TOK_NAME:
    value->text = (struct gs_parse_text){ gs_arena_string(parser->arena, text, length), length };
    good = value->text.data != NULL;
    error = "out of memory";
    break;
  case TOK_STRING:
    good = gs_literal_string(parser->arena, text, length, &value->text, &error, &begin, &end);
    break;
  case TOK_INT:
    good = gs_literal_integer(text, length, parser->negated, &value->integer, &error);
    break;
  case TOK_FLOAT:
    good = gs_literal_float(parser->arena, parser->locale, text, length, &value->number, &error);
    break;
  case TOK_GS_YYerror:
    good = false;
    error = token->error;
    break;
  default:
    break;
  }
  if (!good)
    report_literal(parser, token, error, begin, end);
  if (!good && token->hint != NULL)
    gs_hint(parser->diagnostics, "%s", token->hint);
  return good;
}

/* Give TOKEN to the grammar. */
static void push(struct gs_parser *parser, const struct gs_token *token)
{
  union gs_parse_value value = { .integer = 0 };
  struct gs_span at = token->span;
  int kind = token->kind;
  if (!make_value(parser, token, &value)) {
    gs_parser_recover(parser);
    kind = TOK_GS_YYerror;
  }
  parser->negated = kind == TOK_MINUS && !gs_token_is_operand(parser->last);
  parser->last = kind;
  if (gs_yypush_parse(parser->state, kind, &value, &at, parser) == OUT_OF_STACK) {
    /* The grammar stands before a new outermost statement now. */
    gs_parser_recover(parser);
    parser->level = 0;
  }
  if (kind == TOK_END && parser->depth == 0)
    deliver(parser);
}

/* The statement being read ends at AT. */
static void end_statement(struct gs_parser *parser, struct gs_span at)
{
  parser->pending = parser->recovering = false;
  push(parser, &(struct gs_token){ .kind = TOK_END, .span = at });
  parser->recovering = false;          /* an error at the end itself is over with it */
}

static bool at_begin(const struct gs_parser *parser)
{
  return parser->pending || parser->last == 0 || parser->last == TOK_END ||
         parser->last == TOK_LBRACE;
}

/* Whether a line that ends with the last token goes on. */
static bool joins(const struct gs_parser *parser)
{
  const struct gs_token_info *info = gs_token_info(parser->last);
  return info != NULL && (info->classes & (GS_TOKEN_OPERATOR | GS_TOKEN_JOINS)) != 0;
}

/* ---- recovery ---- */

/* Whether TOKEN, met while a bracket of a wrong statement is open, begins the next statement: it
 * stands first on its line, no further right than the wrong one, and looks the part. */
static bool looks_like_begin(const struct gs_parser *parser, const struct gs_token *token)
{
  const struct gs_token_info *info = gs_token_info(token->kind);
  if (!token->first || parser->depth <= parser->level || info == NULL ||
      parser->level >= GS_MAX_NESTING ||
      token->indent > parser->brackets[parser->level].indent)
    return false;
  return (info->classes & GS_TOKEN_STATEMENT) != 0 || token->kind == TOK_FN ||
         (token->kind == TOK_NAME && gs_lexer_assigns(&parser->lexer, token->span.end));
}

static void take(struct gs_parser *parser, const struct gs_token *token);

/* Drop TOKEN, unless the wrong statement ends before it or with it. */
static void skip(struct gs_parser *parser, const struct gs_token *token)
{
  struct gs_span before = { token->span.source, token->span.begin, token->span.begin };
  bool ends = token->kind == TOK_END || token->kind == TOK_NEWLINE;
  if (looks_like_begin(parser, token)) {
    parser->depth = parser->level;
    end_statement(parser, before);
    if (!parser->stopped)
      take(parser, token);
  } else if (ends && parser->depth <= parser->level) {
    end_statement(parser, token->span);
  } else if (token->kind == TOK_RBRACE && depth_after(parser, token) < parser->level) {
    parser->depth = parser->level;
    end_statement(parser, before);
    push(parser, token);
    count_bracket(parser, token);
  } else {
    count_bracket(parser, token);
  }
}

/* ---- tokens to statements ---- */

static void take_newline(struct gs_parser *parser, const struct gs_token *token)
{
  if (parser->recovering) {
    skip(parser, token);
  } else if (in_statements(parser) && !at_begin(parser) && !joins(parser)) {
    parser->pending = true;
    parser->pending_span = token->span;
  }
}

/* Whether TOKEN goes on with the statement of the line before. */
static bool continues(const struct gs_parser *parser, const struct gs_token *token)
{
  return token->kind == TOK_PIPE || (token->kind == TOK_ELSE && parser->last == TOK_RBRACE);
}

static void take(struct gs_parser *parser, const struct gs_token *token)
{
  if (parser->recovering) {
    skip(parser, token);
    return;
  }
  if (parser->pending && continues(parser, token))
    parser->pending = false;
  if (parser->pending)
    end_statement(parser, parser->pending_span);
  if (parser->stopped)
    return;
  if (at_begin(parser))
    parser->indent = token->indent;
  struct gs_token pushed = *token;
  if (opener_of(token->kind) != 0 && !closes(token->kind) && parser->depth >= GS_MAX_NESTING) {
    pushed.kind = TOK_GS_YYerror;
    pushed.error = "brackets are nested too deeply; at most 1000 may be open";
  }
  push(parser, &pushed);
  if (!parser->recovering)
    count_bracket(parser, token);
  else if (token->kind != TOK_GS_YYerror)
    skip(parser, token);
}

static enum gs_lexer_context lexer_context(const struct gs_parser *parser)
{
  if (at_begin(parser))
    return GS_LEX_STATEMENT;
  const struct gs_bracket *bracket = gs_parser_bracket(parser);
  return bracket != NULL && bracket->kind == '(' ? GS_LEX_ARGUMENT : GS_LEX_PLAIN;
}

/* Read the tokens up to the lexer's limit.  The end of the text is a line's end if LINE_ENDS. */
static void read_tokens(struct gs_parser *parser, bool line_ends)
{
  struct gs_token token;
  while (!parser->stopped && gs_lexer_next(&parser->lexer, lexer_context(parser), &token)) {
    if (token.span.end > parser->source->length)
      token.span.end = (uint32_t)parser->source->length;
    if (token.kind == TOK_NEWLINE) {
      if (line_ends || token.span.begin < parser->source->length)
        take_newline(parser, &token);
    } else {
      if (token.kind == TOK_SEMICOLON && in_statements(parser))
        token.kind = TOK_END;
      take(parser, &token);
    }
  }
  if (parser->stopped) {
    parser->lexer.cursor = parser->lexer.limit = (uint32_t)parser->source->length;
    drop_statement(parser);
  }
}

/* ---- sources ---- */

void gs_parser_begin(struct gs_parser *parser, const char *name, int line)
{
  drop_statement(parser);
  parser->stopped = false;
  parser->prompt = name == NULL;
  parser->source = GS_NEW(parser->sources, struct gs_source);
  parser->text = NULL;
  parser->capacity = 0;
  parser->lexer = (struct gs_lexer){ .source = parser->source };
  if (parser->source == NULL)
    return;
  parser->source->name = name == NULL ? NULL : gs_arena_string(parser->sources, name, strlen(name));
  parser->source->text = "";
  parser->source->first_line = line;
}

/* Append to the source's text, and behind it a line end and a NUL that are not part of it. */
static bool append(struct gs_parser *parser, const char *text, size_t length)
{
  struct gs_source *source = parser->source;
  if (source == NULL || length > UINT32_MAX - 2 - source->length) {
    gs_error(parser->diagnostics, (struct gs_span){ 0 },
             source == NULL ? "out of memory" : "the program is longer than 4 GiB");
    return false;
  }
  size_t needed = source->length + length + 2;
  if (needed > parser->capacity) {
    size_t capacity = parser->capacity == 0 || needed / 2 > parser->capacity
                      ? needed : 2 * parser->capacity;
    char *larger = gs_arena_alloc(parser->sources, capacity);
    if (larger == NULL) {
      gs_error(parser->diagnostics, (struct gs_span){ 0 }, "out of memory while reading the program");
      return false;
    }
    memcpy(larger, source->text, source->length);
    parser->text = larger;
    parser->capacity = capacity;
  }
  if (length > 0)
    memcpy(parser->text + source->length, text, length);
  source->length += length;
  source->text = parser->text;
  memcpy(parser->text + source->length, "\n", 2);
  return true;
}

static enum gs_parse_state state_of(const struct gs_parser *parser)
{
  bool partial_line = parser->source != NULL && parser->lexer.cursor < parser->source->length;
  return parser->pending || partial_line || parser->depth > 0 ||
         (parser->last != 0 && parser->last != TOK_END) ? GS_PARSE_MORE : GS_PARSE_IDLE;
}

enum gs_parse_state gs_parser_feed(struct gs_parser *parser, const char *text, size_t length)
{
  if (parser->source == NULL)
    gs_parser_begin(parser, NULL, 1);
  parser->stopped = false;
  bool cut = parser->prompt && (length == 0 || text[length - 1] != '\n');
  if (!append(parser, text, length) || (cut && !append(parser, "\n", 1)))
    return state_of(parser);
  size_t limit = parser->source->length;
  while (limit > parser->lexer.cursor && parser->text[limit - 1] != '\n')
    limit--;
  parser->lexer.limit = (uint32_t)limit;
  read_tokens(parser, true);
  if (parser->prompt && (parser->recovering || (parser->wrong && parser->depth > 0)))
    drop_statement(parser);
  else if (parser->prompt && parser->pending && parser->depth == 0)
    end_statement(parser, parser->pending_span);
  return state_of(parser);
}

/* Report what is missing at the source's end. */
static void report_unfinished(struct gs_parser *parser)
{
  const struct gs_bracket *bracket = gs_parser_bracket(parser);
  uint32_t end = (uint32_t)parser->source->length;
  if (bracket != NULL) {
    struct gs_span at = { parser->source, bracket->offset, bracket->offset + 1 };
    gs_error(parser->diagnostics, at, "this '%c' is never closed", bracket->kind);
  } else {
    push(parser, &(struct gs_token){ .kind = TOK_YYEOF, .span = { parser->source, end, end } });
  }
}

enum gs_parse_state gs_parser_finish(struct gs_parser *parser)
{
  if (parser->source == NULL || !append(parser, "", 0))
    return GS_PARSE_IDLE;
  parser->lexer.limit = (uint32_t)parser->source->length + 1;
  read_tokens(parser, true);
  if (parser->pending && parser->depth == 0)
    end_statement(parser, parser->pending_span);
  if (!parser->recovering && !at_begin(parser))
    report_unfinished(parser);
  gs_parser_reset(parser);
  return GS_PARSE_IDLE;
}

void gs_parser_reset(struct gs_parser *parser)
{
  drop_statement(parser);
  if (parser->source != NULL)
    parser->lexer = (struct gs_lexer){
      .source = parser->source,
      .cursor = (uint32_t)parser->source->length,
      .limit = (uint32_t)parser->source->length
    };
}

int gs_parser_expected(struct gs_arena *arena, const char *text, size_t length,
                       const char **names, int max)
{
  struct gs_diagnostics silent = { 0 };
  struct gs_arena_mark mark = gs_arena_mark(arena);
  struct gs_parser *parser = gs_parser_new(arena, &silent, NULL, NULL);
  int count = 0;
  if (parser == NULL)
    return 0;
  gs_parser_begin(parser, NULL, 1);
  if (append(parser, text, length)) {
    parser->lexer.limit = (uint32_t)parser->source->length + 1;
    read_tokens(parser, false);
    if (parser->pending)
      end_statement(parser, parser->pending_span);
    if (!parser->recovering)
      count = gs_grammar_expected(parser->state, parser, names, max);
  }
  gs_parser_free(parser);
  gs_arena_rewind(arena, mark);
  return count;
}
