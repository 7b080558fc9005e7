/* grammar/message.c - what a syntax error says: what was found, what was wanted, and why. */
#include <config.h>

#include "grammar/grammar.h"

#include <string.h>

#include "grammar/parser.h"

enum { MAX_ITEMS = 64 };               /* more than there are kinds of tokens */

/* What could have come, by the names of parser.y. */
struct wanted {
  const char *const *names;
  int count;
};

/* What a message lists. */
struct item {
  const char *text;
  bool plain;                          /* words, not a spelling */
};

static bool wants(struct wanted wanted, const char *name)
{
  for (int i = 0; i < wanted.count; i++)
    if (strcmp(wanted.names[i], name) == 0)
      return true;
  return false;
}

static struct item item_of(const struct gs_token_info *info)
{
  switch (info->kind) {
  case TOK_END:
    return (struct item){ "the end of the statement", true };
  case TOK_NAME:
    return (struct item){ "a name", true };
  case TOK_STRING:
    return (struct item){ "a string", true };
  default:
    return (struct item){ info->name, false };
  }
}

/* The tokens that begin an expression are one item, and so are those that continue it. */
static int list_items(struct wanted wanted, struct item *items)
{
  bool statement = wants(wanted, "for"), expression = wants(wanted, "integer");
  unsigned left_out = GS_TOKEN_STATEMENT;
  int count = 0;
  if (statement || expression) {
    items[count++] = (struct item){ statement ? "a statement" : "an expression", true };
    left_out |= GS_TOKEN_STARTS;
  } else if (wants(wanted, "|>")) {
    items[count++] = (struct item){ "an operator", true };
    left_out |= GS_TOKEN_OPERATOR | GS_TOKEN_POSTFIX;
  }
  for (int i = 0; i < wanted.count && count < MAX_ITEMS; i++) {
    const struct gs_token_info *info = gs_token_find(wanted.names[i]);
    if (info == NULL || (info->classes & left_out) != 0 || info->kind == TOK_YYEOF ||
        (statement && info->kind == TOK_END))
      continue;
    items[count++] = item_of(info);
  }
  return count;
}

static void add_wanted(struct gs_text *text, struct wanted wanted)
{
  struct item items[MAX_ITEMS];
  int count = list_items(wanted, items);
  for (int i = 0; i < count; i++) {
    const char *joint = i == 0 ? ", expected " : i == count - 1 ? " or " : ", ";
    const char *quote = items[i].plain ? "" : "'";
    gs_text_printf(text, "%s%s%s%s", joint, quote, items[i].text, quote);
  }
}

static void add_found(struct gs_text *text, const struct gs_parser *parser, const char *name,
                      struct gs_span at)
{
  const struct gs_token_info *info = gs_token_find(name);
  int kind = info == NULL ? TOK_YYEOF : info->kind;
  const char *spelling = at.source->text + at.begin;
  if (kind == TOK_YYEOF || at.begin >= at.source->length)
    gs_text_add(text, parser->prompt ? "unexpected end of input" : "unexpected end of file");
  else if (kind == TOK_END)
    gs_text_add(text, *spelling == ';' ? "unexpected ';'" : "unexpected end of line");
  else if (kind == TOK_STRING)
    gs_text_add(text, "unexpected string");
  else if ((info->classes & GS_TOKEN_PLAIN) != 0)
    gs_text_printf(text, "unexpected %s %.*s", name, (int)(at.end - at.begin), spelling);
  else
    gs_text_printf(text, "unexpected '%s'", name);
}

static bool is_letter(char c)
{
  return c >= 'a' && c <= 'z';
}

/* The likely mistake, or NULL. */
static const char *find_hint(const struct gs_token_info *found, struct wanted wanted, bool prompt)
{
  static const struct {
    int kind;
    const char *wanted;                /* NULL: whatever was */
    bool prompt;                       /* only there */
    const char *hint;
  } hints[] = {
    { TOK_ASSIGN, "|>", false, "only names can stand before =; to compare, write ==" },
    { TOK_QUESTION, NULL, false, "? can only stand in the list of an annotation" },
    { TOK_PIPE, "for", true, "at the prompt, end the line before with |>" },
    { TOK_ELSE, "for", true, "at the prompt, else follows the } on its line" }
  };
  if (found == NULL)
    return NULL;
  if (found->kind >= TOK_EQ && found->kind <= TOK_GE && wants(wanted, "+"))
    return "comparisons are not chained: join two of them with and";
  for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
    if (hints[i].kind == found->kind && (prompt || !hints[i].prompt) &&
        (hints[i].wanted == NULL || wants(wanted, hints[i].wanted)))
      return hints[i].hint;
  return NULL;
}

/* Where the bracket was opened whose end was wanted, if that may have been forgotten. */
static void note_bracket(struct gs_parser *parser, const struct gs_token_info *found,
                         struct gs_span at, struct wanted wanted)
{
  const struct gs_bracket *bracket = gs_parser_bracket(parser);
  if (bracket == NULL || found == NULL)
    return;
  const char *closer = bracket->kind == '(' ? ")" : bracket->kind == '[' ? "]" : "}";
  const char *text = at.source->text + bracket->offset;
  bool lines_between = memchr(text, '\n', at.begin - bracket->offset) != NULL;
  if (wants(wanted, closer) &&
      ((found->classes & GS_TOKEN_CLOSES) != 0 || (bracket->kind != '{' && lines_between)))
    gs_note(parser->diagnostics,
            (struct gs_span){ at.source, bracket->offset, bracket->offset + 1 },
            "'%c' is opened here", bracket->kind);
}

void gs_parser_unexpected(struct gs_parser *parser, const char *found, struct gs_span at,
                          const char *const *names, int count)
{
  struct wanted wanted = { names, count };
  struct gs_text text = { .arena = parser->arena };
  add_found(&text, parser, found, at);
  add_wanted(&text, wanted);
  gs_error(parser->diagnostics, at, "%s", gs_text_string(&text));
  parser->wrong = true;
  const struct gs_token_info *info = gs_token_find(found);
  note_bracket(parser, info, at, wanted);
  const char *hint = find_hint(info, wanted, parser->prompt);
  if (hint != NULL)
    gs_hint(parser->diagnostics, "%s", hint);
  else if (info != NULL && (info->classes & GS_TOKEN_PLAIN) == 0 && is_letter(found[0]) &&
           wants(wanted, "name") && gs_lexer_assigns(&parser->lexer, at.end))
    gs_hint(parser->diagnostics, "%s is a keyword; choose another name", found);
}
