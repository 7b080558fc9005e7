/* grammar/token.c - what each kind of token is to messages and to line ends. */
#include <config.h>

#include "grammar/grammar.h"

#include <string.h>

#include "grammar/parser.h"

enum {
  BINARY = GS_TOKEN_OPERATOR,
  JOINS = GS_TOKEN_JOINS,
  STARTS = GS_TOKEN_STARTS,
  STATEMENT = GS_TOKEN_STATEMENT,
  PLAIN = GS_TOKEN_PLAIN
};

/* In the order in which messages list them. */
static const struct gs_token_info tokens[] = {
  { TOK_NAME, "name", STARTS | PLAIN },
  { TOK_STRING, "string", STARTS | PLAIN },
  { TOK_INT, "integer", STARTS | PLAIN },
  { TOK_FLOAT, "number", STARTS | PLAIN },
  { TOK_TRUE, "true", STARTS },
  { TOK_FALSE, "false", STARTS },
  { TOK_FN, "fn", STARTS },
  { TOK_IF, "if", STARTS },
  { TOK_NOT, "not", STARTS | JOINS },
  { TOK_FOR, "for", STATEMENT },
  { TOK_WHILE, "while", STATEMENT },
  { TOK_RETURN, "return", STATEMENT },
  { TOK_IMPORT, "import", STATEMENT },
  { TOK_COMMAND, "command", STATEMENT | PLAIN },
  { TOK_IN, "in", 0 },
  { TOK_ELSE, "else", 0 },
  { TOK_PIPE, "|>", BINARY },
  { TOK_OR, "or", BINARY },
  { TOK_AND, "and", BINARY },
  { TOK_EQ, "==", BINARY },
  { TOK_NE, "!=", BINARY },
  { TOK_LT, "<", BINARY },
  { TOK_LE, "<=", BINARY },
  { TOK_GT, ">", BINARY },
  { TOK_GE, ">=", BINARY },
  { TOK_PLUS, "+", BINARY },
  { TOK_MINUS, "-", BINARY | STARTS },
  { TOK_STAR, "*", BINARY },
  { TOK_SLASH, "/", BINARY },
  { TOK_PERCENT, "%", BINARY },
  { TOK_AT, "@", BINARY },
  { TOK_POWER, "**", BINARY },
  { TOK_ASSIGN, "=", JOINS },
  { TOK_COMMA, ",", JOINS },
  { TOK_COLON, ":", 0 },
  { TOK_QUESTION, "?", 0 },
  { TOK_ELLIPSIS, "...", 0 },
  { TOK_LPAREN, "(", STARTS | GS_TOKEN_POSTFIX },
  { TOK_LBRACKET, "[", STARTS | GS_TOKEN_POSTFIX },
  { TOK_LBRACE, "{", STARTS },
  { TOK_RPAREN, ")", GS_TOKEN_CLOSES },
  { TOK_RBRACKET, "]", GS_TOKEN_CLOSES },
  { TOK_RBRACE, "}", GS_TOKEN_CLOSES },
  { TOK_SEMICOLON, ";", 0 },
  { TOK_NEWLINE, "end of line", PLAIN },
  { TOK_END, "end of statement", PLAIN },
  { TOK_YYEOF, "end of file", PLAIN }
};

const struct gs_token_info *gs_token_info(int kind)
{
  for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++)
    if (tokens[i].kind == kind)
      return &tokens[i];
  return NULL;
}

const struct gs_token_info *gs_token_find(const char *name)
{
  for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++)
    if (strcmp(tokens[i].name, name) == 0)
      return &tokens[i];
  return NULL;
}

bool gs_token_is_operand(int kind)
{
  const struct gs_token_info *info = gs_token_info(kind);
  return kind == TOK_NAME || kind == TOK_STRING || kind == TOK_INT || kind == TOK_FLOAT || kind == TOK_TRUE
         || kind == TOK_FALSE || (info != NULL && (info->classes & GS_TOKEN_CLOSES) != 0);
}
