/* tests/unit/check_lexer.c - tokens: kinds, spans, values, and what is refused. */
#include <config.h>

#include "grammar/grammar.h"

#include <stdio.h>
#include <string.h>

#include "grammar/parser.h"
#include "tests/unit/run.h"

/* The tokens of TEXT, "kind begin-end" each. */
static void scan(const char *text, size_t length, enum gs_lexer_context context, char *out,
                 size_t size)
{
  struct gs_source source = { .text = text, .length = length, .first_line = 1 };
  struct gs_lexer lexer = { .source = &source, .limit = (uint32_t)length };
  struct gs_token token;
  size_t used = 0;
  out[0] = '\0';
  while (gs_lexer_next(&lexer, context, &token)) {
    const struct gs_token_info *info = gs_token_info(token.kind);
    int n = snprintf(out + used, size - used, "%s%s %u-%u", used > 0 ? ", " : "",
                     info == NULL ? token.error : info->name, (unsigned)token.span.begin,
                     (unsigned)token.span.end);
    used += (size_t)n;
    ck_assert_uint_lt(used, size);
  }
}

static const struct {
  const char *text;
  enum gs_lexer_context context;
  const char *tokens;
} scans[] = {
  { "x1 _y", GS_LEX_PLAIN, "name 0-2, name 3-5, end of line 5-6" },
  { "x=1", GS_LEX_PLAIN, "name 0-1, = 1-2, integer 2-3, end of line 3-4" },
  { "a|>b", GS_LEX_PLAIN, "name 0-1, |> 1-3, name 3-4, end of line 4-5" },
  { "== = != <= < >= > ** *", GS_LEX_PLAIN,
    "== 0-2, = 3-4, != 5-7, <= 8-10, < 11-12, >= 13-15, > 16-17, ** 18-20, * 21-22, "
    "end of line 22-23" },
  { "0x1f 1_000 12", GS_LEX_PLAIN, "integer 0-4, integer 5-10, integer 11-13, end of line 13-14" },
  { "1.5 2e-3 .5 2. 1_0.5e+1", GS_LEX_PLAIN,
    "number 0-3, number 4-8, number 9-11, number 12-14, number 15-23, end of line 23-24" },
  { "12ab 0x 1.2.3 1_ 1e", GS_LEX_PLAIN,
    "this is not a number 0-4, this is not a number 5-7, this is not a number 8-13, "
    "this is not a number 14-16, this is not a number 17-19, end of line 19-20" },
  { "1:2", GS_LEX_PLAIN, "integer 0-1, : 1-2, integer 2-3, end of line 3-4" },
  { "a ... ?", GS_LEX_PLAIN, "name 0-1, ... 2-5, ? 6-7, end of line 7-8" },
  { "\"a b\" \"\\\"\" \"\"", GS_LEX_PLAIN, "string 0-5, string 6-10, string 11-13, end of line 13-14" },
  { "\"a\\\\\" x", GS_LEX_PLAIN, "string 0-5, name 6-7, end of line 7-8" },
  { "\"abc", GS_LEX_PLAIN, "this string is not closed on its line 0-4, end of line 4-5" },
  { "\"\xc3\xa9\" # \xe2\x82\xac \xf0\x9f\x98\x80", GS_LEX_PLAIN, "string 0-4, end of line 15-16" },
  { "# \xff x", GS_LEX_PLAIN, "this byte is not UTF-8 text 2-3, end of line 5-6" },
  { "# \xc0\x80", GS_LEX_PLAIN, "this byte is not UTF-8 text 2-3, end of line 4-5" },
  { "# \xed\xa0\x80", GS_LEX_PLAIN, "this byte is not UTF-8 text 2-3, end of line 5-6" },
  { "\"\xf4\x90\x80\x80\"", GS_LEX_PLAIN, "this byte is not UTF-8 text 1-2, end of line 6-7" },
  { "x \x01 y", GS_LEX_PLAIN,
    "name 0-1, a control character cannot be part of a program 2-3, name 4-5, end of line 5-6" },
  { "\"\x7f\"", GS_LEX_PLAIN,
    "a control character cannot be part of a program 1-2, end of line 3-4" },
  { "\xc3\xa9", GS_LEX_PLAIN,
    "this character can only be used in strings and comments 0-2, end of line 2-3" },
  { "a.b", GS_LEX_PLAIN,
    "name 0-1, a dot is only part of numbers; names have none 1-2, name 2-3, end of line 3-4" },
  { "a && b", GS_LEX_PLAIN,
    "name 0-1, this is no operator; the words are not, and, or 2-3, "
    "this is no operator; the words are not, and, or 3-4, name 5-6, end of line 6-7" },
  { "x\r", GS_LEX_PLAIN, "name 0-1, end of line 1-3" },
  { "x\ry", GS_LEX_PLAIN,
    "name 0-1, a control character cannot be part of a program 1-2, name 2-3, end of line 3-4" },
  { "fn for in if else", GS_LEX_PLAIN, "fn 0-2, for 3-6, in 7-9, if 10-12, else 13-17, end of line 17-18" },
  { "fnx in1", GS_LEX_PLAIN, "name 0-3, name 4-7, end of line 7-8" },
  { "in=1", GS_LEX_ARGUMENT, "name 0-2, = 2-3, integer 3-4, end of line 4-5" },
  { "in == 1", GS_LEX_ARGUMENT, "in 0-2, == 3-5, integer 6-7, end of line 7-8" },
  { "in =1", GS_LEX_PLAIN, "in 0-2, = 3-4, integer 4-5, end of line 5-6" },
  { ":plan y  # z", GS_LEX_STATEMENT, "command 0-7, end of line 12-13" },
  { ":plan", GS_LEX_STATEMENT, "command 0-5, end of line 5-6" },
  { ":ops \"a # b\"", GS_LEX_STATEMENT, "command 0-12, end of line 12-13" },
  { ":plan \x02", GS_LEX_STATEMENT,
    "a control character cannot be part of a program 6-7, end of line 7-8" },
  { ":plan", GS_LEX_PLAIN, ": 0-1, name 1-5, end of line 5-6" }
};

START_TEST(tokens)
{
  char text[200], got[2000];
  int length = snprintf(text, sizeof text, "%s\n", scans[_i].text);
  scan(text, (size_t)length, scans[_i].context, got, sizeof got);
  ck_assert_str_eq(got, scans[_i].tokens);
}
END_TEST

START_TEST(nul_is_a_bad_character)
{
  char got[200];
  scan("a\0b\n", 4, GS_LEX_PLAIN, got, sizeof got);
  ck_assert_str_eq(got, "name 0-1, a NUL character cannot be part of a program 1-2, name 2-3, "
                        "end of line 3-4");
}
END_TEST

START_TEST(lines_have_indents)
{
  const char *text = "a b\n  c\n\n\td e\n";
  struct gs_source source = { .text = text, .length = strlen(text), .first_line = 1 };
  struct gs_lexer lexer = { .source = &source, .limit = (uint32_t)strlen(text) };
  const struct {
    bool first;
    uint32_t indent;
  } want[] = { { true, 0 }, { false, 0 }, { true, 2 }, { true, 1 }, { false, 1 } };
  size_t n = 0;
  for (struct gs_token token; gs_lexer_next(&lexer, GS_LEX_PLAIN, &token);) {
    if (token.kind == TOK_NEWLINE)
      continue;
    ck_assert_uint_lt(n, sizeof want / sizeof *want);
    ck_assert_int_eq(token.first, want[n].first);
    ck_assert_uint_eq(token.indent, want[n].indent);
    n++;
  }
  ck_assert_uint_eq(n, sizeof want / sizeof *want);
}
END_TEST

static const struct {
  const char *text;
  bool good;
  int64_t value;
} integers[] = {
  { "0", true, 0 }, { "007", true, 7 }, { "1_000_000", true, 1000000 }, { "0xfF", true, 255 },
  { "9223372036854775807", true, INT64_MAX }, { "9223372036854775808", false, 0 },
  { "0x7fffffffffffffff", true, INT64_MAX }, { "0x8000000000000000", false, 0 },
  { "99999999999999999999999999", false, 0 }
};

START_TEST(integer_values)
{
  int64_t value = 0;
  const char *error = NULL;
  bool good = gs_literal_integer(integers[_i].text, strlen(integers[_i].text), false, &value, &error);
  ck_assert_int_eq(good, integers[_i].good);
  ck_assert_int_eq(value, integers[_i].value);
  ck_assert(good == (error == NULL));
}
END_TEST

static const struct {
  const char *text, *value;            /* NULL: refused */
  size_t at, until;
} strings[] = {
  { "\"\"", "", 0, 0 },
  { "\"a\\n\\t\\\\\\\"'\"", "a\n\t\\\"'", 0, 0 },
  { "\"\\x41\\u00e9\\u20ac\\U0001F600\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 0, 0 },
  { "\"ab\\q\"", NULL, 3, 5 },
  { "\"\\x4\"", NULL, 1, 3 },
  { "\"\\x00\"", NULL, 1, 5 },
  { "\"\\ud800\"", NULL, 1, 7 },
  { "\"\\U00110000\"", NULL, 1, 11 }
};

START_TEST(string_values)
{
  struct gs_arena *arena = gs_arena_new(NULL);
  struct gs_parse_text value;
  const char *error = NULL;
  size_t at = 0, until = 0;
  bool good = gs_literal_string(arena, strings[_i].text, strlen(strings[_i].text), &value, &error,
                                &at, &until);
  ck_assert_int_eq(good, strings[_i].value != NULL);
  if (good) {
    ck_assert_str_eq(value.data, strings[_i].value);
    ck_assert_uint_eq(value.length, strlen(strings[_i].value));
  } else {
    ck_assert_uint_eq(at, strings[_i].at);
    ck_assert_uint_eq(until, strings[_i].until);
  }
  gs_arena_free(arena);
}
END_TEST

RUN_TESTS("lexer",
  tcase_add_loop_test(cases, tokens, 0, sizeof scans / sizeof *scans);
  tcase_add_test(cases, nul_is_a_bad_character);
  tcase_add_test(cases, lines_have_indents);
  tcase_add_loop_test(cases, integer_values, 0, sizeof integers / sizeof *integers);
  tcase_add_loop_test(cases, string_values, 0, sizeof strings / sizeof *strings);
)
