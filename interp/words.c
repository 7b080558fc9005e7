/* interp/words.c - the words of a command as the arguments of a call.
 *
 * ":plan y z device=3" is read as f(y, z, device=3) by a parser of its own; positions in the tree
 * and in its messages are then moved to where the words stand in the command's line.
 */
#include <config.h>

#include "interp/command.h"

#include <ctype.h>
#include <string.h>

struct reading {
  struct gs_session *s;
  const struct gs_source *source;      /* of the command */
  uint32_t begin, end;                 /* of the words in it */
  struct gs_ast *statement;
  int statements;
};

enum { PREFIX = 2 };                   /* of "f(" */

static struct gs_span moved(const struct reading *reading, struct gs_span span)
{
  uint32_t length = reading->end - reading->begin;
  uint32_t begin = span.begin < PREFIX ? 0 : span.begin - PREFIX;
  uint32_t end = span.end < PREFIX ? 0 : span.end - PREFIX;
  begin = begin > length ? length : begin;
  end = end > length ? length : end;
  return (struct gs_span){ reading->source, reading->begin + begin, reading->begin + end };
}

static void move_tree(const struct reading *reading, struct gs_ast *ast)
{
  if (ast == NULL)
    return;
  ast->span = moved(reading, ast->span);
  for (int i = 0; i < ast->nitems; i++)
    move_tree(reading, ast->items[i]);
  for (int i = 0; i < ast->nparameters; i++) {
    ast->parameters[i].span = moved(reading, ast->parameters[i].span);
    move_tree(reading, ast->parameters[i].value);
  }
}

static void move_message(void *user, const struct gs_diagnostic *diagnostic)
{
  const struct reading *reading = user;
  struct gs_diagnostics *d = &reading->s->diagnostics;
  struct gs_span span = moved(reading, diagnostic->span);
  if (diagnostic->severity == GS_ERROR)
    gs_error(d, span, "%s", diagnostic->message);
  else if (diagnostic->severity == GS_HINT)
    gs_hint(d, "%s", diagnostic->message);
  else
    gs_note(d, span, "%s", diagnostic->message);
}

static bool take_statement(void *user, struct gs_ast *statement)
{
  struct reading *reading = user;
  reading->statement = statement;
  reading->statements++;
  return true;
}

/* Whether the word that ends before WORDS[i], or begins at it, is an infix operator. */
static bool is_operator_word(const char *word, size_t length)
{
  return (length == 3 && (memcmp(word, "and", 3) == 0 || memcmp(word, "not", 3) == 0)) ||
         (length == 2 && (memcmp(word, "or", 2) == 0 || memcmp(word, "in", 2) == 0));
}

static bool is_word(char c)
{
  return isalnum((unsigned char)c) || c == '_';
}

/* Whether the blanks WORDS[from..to) separate two arguments: something ends before them and
 * something that is no continuation begins behind. */
static bool separates(const char *words, size_t length, size_t from, size_t to)
{
  if (from == 0 || to == length)
    return false;
  char before = words[from - 1], after = words[to];
  if (!(is_word(before) || strchr(")]\"?", before) != NULL) ||
      !(is_word(after) || strchr("[\"", after) != NULL))
    return false;
  size_t start = from, end = to;
  while (start > 0 && is_word(words[start - 1]))
    start--;
  while (end < length && is_word(words[end]))
    end++;
  return !is_operator_word(words + start, from - start) && !is_operator_word(words + to, end - to);
}

/* The words with commas where blanks separate arguments, outside brackets and strings. */
static void put_commas(char *words, size_t length)
{
  int depth = 0;
  bool string = false;
  for (size_t i = 0; i < length; i++) {
    char c = words[i];
    if (string) {
      if (c == '\\' && i + 1 < length)
        i++;
      else
        string = c != '"';
    } else if (c == '"') {
      string = true;
    } else if (strchr("([{", c) != NULL) {
      depth++;
    } else if (strchr(")]}", c) != NULL) {
      depth--;
    } else if (c == ' ' || c == '\t') {
      size_t end = i + strspn(words + i, " \t");
      if (depth == 0 && separates(words, length, i, end))
        words[i] = ',';
      i = end - 1;
    }
  }
}

const struct gs_ast *gs_command_call(struct gs_session *s, const struct gs_ast *ast)
{
  const char *words = ast->words != NULL ? ast->words : "";
  size_t length = strlen(words);
  struct reading reading = { .s = s, .source = ast->words_span.source,
                             .begin = ast->words_span.begin, .end = ast->words_span.end };
  char *text = gs_arena_alloc(s->text, length + PREFIX + 3);
  struct gs_diagnostics diagnostics = { .sink = move_message, .user = &reading };
  struct gs_parser *parser = text != NULL
                                 ? gs_parser_new(s->text, &diagnostics, take_statement, &reading)
                                 : NULL;
  if (parser == NULL) {
    gs_session_out_of_memory(s, ast->span);
    return NULL;
  }
  memcpy(text, "f(", PREFIX);
  memcpy(text + PREFIX, words, length);
  put_commas(text + PREFIX, length);
  memcpy(text + PREFIX + length, ")\n", 2);
  gs_parser_begin(parser, NULL, 1);
  gs_parser_feed(parser, text, length + PREFIX + 2);
  gs_parser_finish(parser);
  gs_parser_free(parser);
  if (diagnostics.errors > 0) {
    s->flow = GS_FLOW_STOP;
    return NULL;
  }
  if (reading.statements != 1 || reading.statement->kind != GS_AST_CALL) {
    gs_session_fail(s, ast->words_span, "what follows :%s is not a list of arguments", ast->text);
    return NULL;
  }
  move_tree(&reading, reading.statement);
  reading.statement->span = ast->words_span.end > ast->words_span.begin
                                ? gs_span_join(ast->span, ast->words_span) : ast->span;
  return reading.statement;
}
