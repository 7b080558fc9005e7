/* grammar/lexer.re - from bytes to tokens.
 *
 * All state is in struct gs_lexer; nothing is allocated.  The text up to the limit consists of whole
 * lines and no token crosses a line's end, so no rule can read past the limit, and a NUL byte is a
 * bad character like others.  A bad byte gives an error token, which the driver reports.
 */
#include <config.h>

#include "grammar/grammar.h"

#include <string.h>

#include "grammar/parser.h"

/*!re2c
  re2c:define:YYCTYPE = "unsigned char";
  re2c:define:YYCURSOR = cursor;
  re2c:define:YYMARKER = marker;
  re2c:yyfill:enable = 0;
  re2c:eof = -1;

  end_of_line = "\r"? "\n";
  blank       = [ \t];
  ascii       = [\t\x20-\x7e];
  tail        = [\x80-\xbf];
  wide        = [\xc2-\xdf] tail
              | "\xe0" [\xa0-\xbf] tail | [\xe1-\xec\xee\xef] tail{2} | "\xed" [\x80-\x9f] tail
              | "\xf0" [\x90-\xbf] tail{2} | [\xf1-\xf3] tail{3} | "\xf4" [\x80-\x8f] tail{2};
  name        = [A-Za-z_] [A-Za-z0-9_]*;
  digits      = [0-9]+ ("_" [0-9]+)*;
  exponent    = [eE] [+-]? digits;
*/

/* What stands at CURSOR. */
enum character { CHARACTER_GOOD, CHARACTER_LINE_END, CHARACTER_NUL, CHARACTER_CONTROL,
                 CHARACTER_NOT_UTF8 };

/* Step over one character. */
static enum character next_character(const unsigned char **position)
{
  const unsigned char *cursor = *position, *marker = cursor;
  enum character kind;
  /*!re2c
    end_of_line   { kind = CHARACTER_LINE_END; goto done; }
    ascii | wide  { kind = CHARACTER_GOOD; goto done; }
    "\x00"        { kind = CHARACTER_NUL; goto done; }
    [\x01-\x1f\x7f] { kind = CHARACTER_CONTROL; goto done; }
    *             { kind = CHARACTER_NOT_UTF8; goto done; }
  */
done:
  *position = cursor;
  return kind;
}

static const char *character_error(enum character kind)
{
  switch (kind) {
  case CHARACTER_GOOD:
  case CHARACTER_LINE_END:
    break;
  case CHARACTER_NUL:
    return "a NUL character cannot be part of a program";
  case CHARACTER_CONTROL:
    return "a control character cannot be part of a program";
  case CHARACTER_NOT_UTF8:
    return "this byte is not UTF-8 text";
  }
  return "this character can only be used in strings and comments";
}

static uint32_t offset_of(const struct gs_lexer *lexer, const unsigned char *position)
{
  return (uint32_t)(position - (const unsigned char *)lexer->source->text);
}

/* Make TOKEN an error from BEGIN to END. */
static void make_error(const struct gs_lexer *lexer, struct gs_token *token, const char *message,
                       const unsigned char *begin, const unsigned char *end)
{
  token->kind = TOK_GS_YYerror;
  token->error = message;
  token->span.begin = offset_of(lexer, begin);
  token->span.end = offset_of(lexer, end);
}

/* Read up to the line's end; false and an error in TOKEN at the first bad character. */
static bool read_line(const struct gs_lexer *lexer, struct gs_token *token,
                      const unsigned char **position)
{
  bool good = true;
  for (;;) {
    const unsigned char *begin = *position;
    enum character kind = next_character(position);
    if (kind == CHARACTER_LINE_END) {
      *position = begin;
      return good;
    }
    if (kind != CHARACTER_GOOD && good) {
      make_error(lexer, token, character_error(kind), begin, *position);
      good = false;
    }
  }
}

/* The rest of a string whose quote was read. */
static void read_string(const struct gs_lexer *lexer, struct gs_token *token,
                        const unsigned char **position)
{
  const unsigned char *quote = *position - 1;
  bool escaped = false;
  token->kind = TOK_STRING;
  for (;;) {
    const unsigned char *begin = *position;
    enum character kind = next_character(position);
    if (kind == CHARACTER_LINE_END) {
      *position = begin;
      if (token->kind == TOK_STRING) {
        make_error(lexer, token, "this string is not closed on its line", quote, begin);
        token->hint = "write a line end inside a string as \\n";
      }
      return;
    }
    if (kind != CHARACTER_GOOD && token->kind == TOK_STRING)
      make_error(lexer, token, character_error(kind), begin, *position);
    if (*begin == '"' && !escaped)
      return;
    escaped = *begin == '\\' && !escaped;
  }
}

/* Whether the byte at POSITION begins a comment in a command's words, which began at WORDS. */
static bool begins_comment(const unsigned char *words, const unsigned char *position)
{
  return *position == '#' && (position == words || position[-1] == ' ' || position[-1] == '\t');
}

/* The words of a command, up to the line's end or a comment; blanks at the end are left out. */
static void read_words(const struct gs_lexer *lexer, struct gs_token *token,
                       const unsigned char **position)
{
  const unsigned char *words = *position, *end = words;
  bool quoted = false;
  if (!read_line(lexer, token, position))
    return;
  for (const unsigned char *p = words; p < *position; p++) {
    if (*p == '"' && (p == words || p[-1] != '\\'))
      quoted = !quoted;
    if (!quoted && begins_comment(words, p))
      break;
    if (*p != ' ' && *p != '\t')
      end = p + 1;
  }
  token->kind = TOK_COMMAND;
  token->span.end = offset_of(lexer, end);
}

bool gs_lexer_assigns(const struct gs_lexer *lexer, uint32_t offset)
{
  const char *p = lexer->source->text + offset;
  while (*p == ' ' || *p == '\t')
    p++;
  return p[0] == '=' && p[1] != '=';
}

static const struct {
  const char *name;
  int kind;
} keywords[] = {
  { "and", TOK_AND }, { "else", TOK_ELSE }, { "false", TOK_FALSE }, { "fn", TOK_FN },
  { "for", TOK_FOR }, { "if", TOK_IF }, { "import", TOK_IMPORT }, { "in", TOK_IN },
  { "not", TOK_NOT }, { "or", TOK_OR }, { "return", TOK_RETURN }, { "true", TOK_TRUE },
  { "while", TOK_WHILE }
};

static int keyword_or_name(const struct gs_lexer *lexer, enum gs_lexer_context context,
                           const unsigned char *begin, const unsigned char *end)
{
  size_t length = (size_t)(end - begin);
  for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
    if (strlen(keywords[i].name) == length && memcmp(keywords[i].name, begin, length) == 0) {
      bool argument = context == GS_LEX_ARGUMENT && gs_lexer_assigns(lexer, offset_of(lexer, end));
      return argument ? TOK_NAME : keywords[i].kind;
    }
  return TOK_NAME;
}

/* One token, blank or comment at *POSITION, which moves past it.  Its kind; 0 for what is no token. */
static int read_token(const struct gs_lexer *lexer, enum gs_lexer_context context,
                      struct gs_token *token, const unsigned char **position)
{
  const unsigned char *begin = *position, *cursor = begin, *marker = begin;
  int kind = TOK_GS_YYerror;
  token->error = NULL;
  /*!re2c
    blank+        { kind = 0; goto done; }
    end_of_line   { kind = TOK_NEWLINE; goto done; }
    "#"           { kind = read_line(lexer, token, &cursor) ? 0 : TOK_GS_YYerror; goto scanned; }
    ["]           { read_string(lexer, token, &cursor); kind = token->kind; goto scanned; }
    ":" name {
      if (context != GS_LEX_STATEMENT) {
        cursor = begin + 1;
        kind = TOK_COLON;
        goto done;
      }
      token->span.begin = offset_of(lexer, begin);
      read_words(lexer, token, &cursor);
      kind = token->kind;
      goto scanned;
    }
    name          { kind = keyword_or_name(lexer, context, begin, cursor); goto done; }
    digits | "0x" [0-9a-fA-F]+ ("_" [0-9a-fA-F]+)*
                  { kind = TOK_INT; goto done; }
    digits exponent | digits "." digits? exponent? | "." digits exponent?
                  { kind = TOK_FLOAT; goto done; }
    (digits | "." [0-9]) [A-Za-z0-9_.]+
                  { token->error = "this is not a number"; goto done; }
    "|>" { kind = TOK_PIPE; goto done; }
    "==" { kind = TOK_EQ; goto done; }
    "!=" { kind = TOK_NE; goto done; }
    "<"  { kind = TOK_LT; goto done; }
    "<=" { kind = TOK_LE; goto done; }
    ">"  { kind = TOK_GT; goto done; }
    ">=" { kind = TOK_GE; goto done; }
    "+"  { kind = TOK_PLUS; goto done; }
    "-"  { kind = TOK_MINUS; goto done; }
    "*"  { kind = TOK_STAR; goto done; }
    "/"  { kind = TOK_SLASH; goto done; }
    "%"  { kind = TOK_PERCENT; goto done; }
    "@"  { kind = TOK_AT; goto done; }
    "**" { kind = TOK_POWER; goto done; }
    "="  { kind = TOK_ASSIGN; goto done; }
    ","  { kind = TOK_COMMA; goto done; }
    ":"  { kind = TOK_COLON; goto done; }
    ";"  { kind = TOK_SEMICOLON; goto done; }
    "?"  { kind = TOK_QUESTION; goto done; }
    "..." { kind = TOK_ELLIPSIS; goto done; }
    "("  { kind = TOK_LPAREN; goto done; }
    ")"  { kind = TOK_RPAREN; goto done; }
    "["  { kind = TOK_LBRACKET; goto done; }
    "]"  { kind = TOK_RBRACKET; goto done; }
    "{"  { kind = TOK_LBRACE; goto done; }
    "}"  { kind = TOK_RBRACE; goto done; }
    [!&|] { token->error = "this is no operator; the words are not, and, or"; goto done; }
    [']  { token->error = "strings are written with double quotes, \""; goto done; }
    "."  { token->error = "a dot is only part of numbers; names have none"; goto done; }
    *    { cursor = begin; token->error = character_error(next_character(&cursor)); goto done; }
  */
done:
  token->span.begin = offset_of(lexer, begin);
  token->span.end = offset_of(lexer, cursor);
scanned:
  if (kind == TOK_STRING) {
    token->span.begin = offset_of(lexer, begin);
    token->span.end = offset_of(lexer, cursor);
  }
  *position = cursor;
  return kind;
}

bool gs_lexer_next(struct gs_lexer *lexer, enum gs_lexer_context context, struct gs_token *token)
{
  const unsigned char *text = (const unsigned char *)lexer->source->text;
  *token = (struct gs_token){ .span.source = lexer->source };
  while (lexer->cursor < lexer->limit) {
    const unsigned char *position = text + lexer->cursor;
    uint32_t begin = lexer->cursor;
    int kind = read_token(lexer, context, token, &position);
    lexer->cursor = offset_of(lexer, position);
    if (kind == 0)
      continue;
    if (kind != TOK_NEWLINE && !lexer->line_started) {
      lexer->indent = begin;
      while (lexer->indent > 0 && text[lexer->indent - 1] != '\n')
        lexer->indent--;
      lexer->indent = begin - lexer->indent;
      token->first = true;
    }
    lexer->line_started = kind != TOK_NEWLINE;
    token->indent = lexer->indent;
    token->kind = kind;
    return true;
  }
  return false;
}
