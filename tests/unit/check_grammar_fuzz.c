/* tests/unit/check_grammar_fuzz.c - random bytes and random tokens, cut at random places.
 *
 * Whatever the text: no crash, the same trees and messages however it is cut, spans inside the text,
 * and a parser that goes on afterwards.  The seeds are fixed; GSPMD_FUZZ=N in the environment makes
 * N times as many rounds.
 */
#include <config.h>

#include "grammar/parse.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/run.h"
#include "tests/unit/tree_text.h"

enum { ROUNDS = 2000, MAX_TEXT = 400 };

struct record {
  struct gs_arena *arena;
  struct gs_diagnostics diagnostics;
  struct gs_text text;
};

static uint32_t roll(uint64_t *state, uint32_t sides)
{
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33) % sides;
}

static void check_span(struct gs_span span)
{
  if (span.source == NULL)
    return;
  ck_assert_uint_le(span.begin, span.end);
  ck_assert_uint_le(span.end, span.source->length);
}

static void check_spans(const struct gs_ast *tree)
{
  if (tree == NULL)
    return;
  check_span(tree->span);
  for (int i = 0; i < tree->nitems; i++)
    check_spans(tree->items[i]);
  for (int i = 0; i < tree->nparameters; i++) {
    check_span(tree->parameters[i].span);
    check_spans(tree->parameters[i].value);
  }
}

static void note_message(void *user, const struct gs_diagnostic *diagnostic)
{
  struct record *record = user;
  check_span(diagnostic->span);
  gs_text_printf(&record->text, "%u-%u: %s\n", (unsigned)diagnostic->span.begin,
                 (unsigned)diagnostic->span.end, diagnostic->message);
  struct gs_text shown = { .arena = record->arena };
  gs_diagnostic_print(&shown, diagnostic, false);
}

static bool note_statement(void *user, struct gs_ast *tree)
{
  struct record *record = user;
  check_spans(tree);
  tree_text(&record->text, tree);
  gs_text_add(&record->text, "\n");
  return true;
}

/* Parse TEXT under NAME in pieces of at most PIECE bytes; the result is in RECORD's arena. */
static const char *parse(struct record *record, const char *name, const char *text, size_t length,
                         uint32_t piece, uint64_t *dice)
{
  *record = (struct record){ .arena = gs_arena_new(NULL) };
  record->diagnostics = (struct gs_diagnostics){ .sink = note_message, .user = record };
  record->text.arena = record->arena;
  struct gs_parser *parser = gs_parser_new(record->arena, &record->diagnostics, note_statement, record);
  ck_assert_ptr_nonnull(parser);
  gs_parser_begin(parser, name, 1);
  for (size_t at = 0; at < length;) {
    size_t n = roll(dice, piece) + 1;
    if (n > length - at)
      n = length - at;
    gs_parser_feed(parser, text + at, n);
    at += n;
  }
  ck_assert_int_eq(gs_parser_finish(parser), GS_PARSE_IDLE);
  const char *result = gs_arena_string(record->arena, gs_text_string(&record->text),
                                       strlen(gs_text_string(&record->text)));
  record->text.length = 0;
  gs_parser_begin(parser, name, 1);
  gs_parser_feed(parser, "still = alive\n", 14);
  gs_parser_finish(parser);
  ck_assert_str_eq(gs_text_string(&record->text), "(set still alive)\n");
  gs_parser_free(parser);
  return result;
}

static size_t random_bytes(char *text, uint64_t *dice)
{
  size_t length = roll(dice, MAX_TEXT);
  for (size_t i = 0; i < length; i++)
    text[i] = (char)(unsigned char)roll(dice, 256);
  return length;
}

static size_t random_tokens(char *text, uint64_t *dice)
{
  static const char *const words[] = {
    "x", "y", "f", "1", "2.5", "0x1f", "\"s\"", "\"\\n\"", "(", ")", "[", "]", "{", "}", ",", ":",
    "...", "?", "=", "==", "<", "+", "-", "*", "**", "@", "|>", "and", "or", "not", "fn", "for",
    "in", "if", "else", "while", "return", "import", "true", "\n", "\n", "\n", ";", " ", "# c\n",
    ":plan y\n", "f(", "x = ", "if x {", "fn f(x) {", "}\nelse {", "\xc3\xa9", "\r\n", "\t", "'",
    "\"", "newaxis", "12ab"
  };
  size_t length = 0;
  for (size_t i = 0, n = roll(dice, 60); i < n; i++) {
    const char *word = words[roll(dice, sizeof words / sizeof *words)];
    size_t size = strlen(word);
    if (length + size + 1 > MAX_TEXT)
      break;
    memcpy(text + length, word, size);
    length += size;
    if (roll(dice, 3) > 0)
      text[length++] = ' ';
  }
  return length;
}

/* A correct program with a few bytes changed. */
static size_t damaged_program(char *text, uint64_t *dice)
{
  static const char program[] =
    "mesh(data=2, model=4)\nx = shard(input(f32[8, 16]), [data, -1])\n"
    "fn f(x, w, scale=1.0) {\n  h = einsum(\"bm,mh->bh\", x, w)  # product\n"
    "  if scale > 0 {\n    return h * scale\n  }\n  else { h }\n}\n"
    "y = x |> f(w,\n  scale = -2 ** 3)\n  |> relu\ny[0, 1:, ..., ::2]\n:plan y\n"
    "for i in range(3) { y = y + i; z, t = g(y) }\n";
  size_t length = sizeof program - 1;
  ck_assert_uint_lt(length, MAX_TEXT);
  memcpy(text, program, length);
  for (uint32_t i = roll(dice, 6); i > 0; i--) {
    size_t at = roll(dice, (uint32_t)length);
    if (roll(dice, 2) == 0)
      text[at] = program[roll(dice, (uint32_t)length)];
    else
      memmove(text + at, text + at + 1, --length - at);
  }
  return length;
}

typedef size_t make_text(char *text, uint64_t *dice);
static make_text *const makers[] = { random_bytes, random_tokens, damaged_program };

static int rounds(void)
{
  const char *factor = getenv("GSPMD_FUZZ");
  int times = factor == NULL ? 1 : atoi(factor);
  return ROUNDS * (times > 0 ? times : 1);
}

START_TEST(files_may_be_cut_anywhere)
{
  uint64_t dice = 1 + (uint64_t)_i;
  for (int round = 0, n = rounds(); round < n; round++) {
    char text[MAX_TEXT];
    struct record whole, pieces;
    size_t length = makers[_i](text, &dice);
    uint64_t one = 0;
    const char *want = parse(&whole, "t.gsl", text, length, UINT32_MAX, &one);
    const char *got = parse(&pieces, "t.gsl", text, length, roll(&dice, 20) + 1, &dice);
    ck_assert_str_eq(got, want);
    gs_arena_free(whole.arena);
    gs_arena_free(pieces.arena);
  }
}
END_TEST

START_TEST(prompts_survive_anything)
{
  uint64_t dice = 100 + (uint64_t)_i;
  for (int round = 0, n = rounds(); round < n; round++) {
    char text[MAX_TEXT];
    struct record record;
    size_t length = makers[_i](text, &dice);
    parse(&record, NULL, text, length, roll(&dice, 50) + 1, &dice);
    const char *names[80];
    ck_assert_int_ge(gs_parser_expected(record.arena, text, length, names, 80), 0);
    gs_arena_free(record.arena);
  }
}
END_TEST

/* What is in memory may run out at any point: the parser reports, or it parses. */
START_TEST(memory_may_run_out)
{
  char text[MAX_TEXT];
  uint64_t dice = 7;
  size_t length = damaged_program(text, &dice);
  for (size_t limit = 1; limit < 200000; limit += 997) {
    struct gs_budget budget = { .limit = limit };
    struct gs_diagnostics diagnostics = { 0 };
    struct gs_arena *arena = gs_arena_new(&budget);
    if (arena == NULL)
      continue;
    struct gs_parser *parser = gs_parser_new(arena, &diagnostics, NULL, NULL);
    gs_parser_begin(parser, "t.gsl", 1);
    gs_parser_feed(parser, text, length);
    gs_parser_finish(parser);
    gs_parser_free(parser);
    gs_arena_free(arena);
  }
}
END_TEST

RUN_TESTS("grammar fuzz",
  tcase_add_loop_test(cases, files_may_be_cut_anywhere, 0, sizeof makers / sizeof *makers);
  tcase_add_loop_test(cases, prompts_survive_anything, 0, sizeof makers / sizeof *makers);
  tcase_add_test(cases, memory_may_run_out);
)
