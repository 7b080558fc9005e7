/* tests/unit/check_parser.c - statements: their trees, their ends, errors and recovery. */
#include <config.h>

#include "grammar/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run.h"
#include "tests/unit/tree_text.h"

/* A parser that writes down what it gives: trees, and messages with their place, one a line. */
struct record {
  struct gs_arena *arena;
  struct gs_diagnostics diagnostics;
  struct gs_text text;
  struct gs_parser *parser;
  int left;                            /* statements to take before stopping; 0: all */
};

static void note_message(void *user, const struct gs_diagnostic *diagnostic)
{
  struct record *record = user;
  if (diagnostic->severity != GS_ERROR)
    return;
  int line = 0, column = 0;
  if (diagnostic->span.source != NULL)
    gs_source_position(diagnostic->span.source, diagnostic->span.begin, &line, &column);
  gs_text_printf(&record->text, "%d:%d: %s\n", line, column, diagnostic->message);
}

static bool note_statement(void *user, struct gs_ast *tree)
{
  struct record *record = user;
  tree_text(&record->text, tree);
  gs_text_add(&record->text, "\n");
  return --record->left != 0;
}

static void record_init(struct record *record, const char *name)
{
  *record = (struct record){ .arena = gs_arena_new(NULL) };
  record->diagnostics = (struct gs_diagnostics){ .sink = note_message, .user = record };
  record->text.arena = record->arena;
  record->parser = gs_parser_new(record->arena, &record->diagnostics, note_statement, record);
  ck_assert_ptr_nonnull(record->parser);
  gs_parser_begin(record->parser, name, 1);
}

static void record_finish(struct record *record)
{
  gs_parser_free(record->parser);
  gs_arena_free(record->arena);
}

static void feed(struct record *record, const char *text)
{
  gs_parser_feed(record->parser, text, strlen(text));
}

static void check_file(const char *text, const char *want)
{
  struct record record;
  record_init(&record, "t.gsl");
  feed(&record, text);
  ck_assert_int_eq(gs_parser_finish(record.parser), GS_PARSE_IDLE);
  ck_assert_str_eq(gs_text_string(&record.text), want);
  record_finish(&record);
}

static const struct {
  const char *text, *want;
} trees[] = {
  /* precedence */
  { "a + b * c ** d", "(+ a (* b (** c d)))\n" },
  { "a - b - c", "(- (- a b) c)\n" },
  { "a * b @ c / d % e", "(% (/ (@ (* a b) c) d) e)\n" },
  { "a ** b ** c", "(** a (** b c))\n" },
  { "-a ** b", "(- (** a b))\n" },
  { "a ** -b", "(** a (- b))\n" },
  { "-a * b", "(* (- a) b)\n" },
  { "- -1", "(- (- 1))\n" },
  { "not a == b and c or d", "(or (and (not (== a b)) c) d)\n" },
  { "a or b |> f(c)", "(|> (or a b) (call f c))\n" },
  { "a |> f |> g", "(|> (|> a f) g)\n" },
  { "a + b < c - d", "(< (+ a b) (- c d))\n" },
  { "(a + b) * c", "(* (+ a b) c)\n" },
  { "f(x)[0](y)", "(call (index (call f x) 0) y)\n" },
  { "-x[0]", "(- (index x 0))\n" },
  /* literals, lists, tuples */
  { "[1, 2.5, \"s\", true, false, ?]", "(list 1 2.50000000000000 \"s\" true false ?)\n" },
  { "[]", "(list)\n" }, { "[1,]", "(list 1)\n" }, { "()", "(tuple)\n" }, { "(1)", "1\n" },
  { "(1,)", "(tuple 1)\n" }, { "(1, 2,)", "(tuple 1 2)\n" },
  { "0x10 + 1_0", "(+ 16 10)\n" },
  /* calls and subscripts */
  { "f()", "(call f)\n" },
  { "f(a, b=1, in=[0], if = 2,)", "(call f a (= b 1) (= in (list 0)) (= if 2))\n" },
  { "f32[8,16]", "(index f32 8 16)\n" }, { "f32[]", "(index f32)\n" },
  { "m[i, a:b, a:b:s, :, ..., newaxis]",
    "(index m i (range a b _) (range a b s) (range _ _ _) ... newaxis)\n" },
  { "m[::2, 1:, :-1, ::]", "(index m (range _ _ 2) (range 1 _ _) (range _ (- 1) _) (range _ _ _))\n" },
  { "newaxis", "newaxis\n" },
  /* functions */
  { "fn f(x) = x + 1", "(fn f (x) (+ x 1))\n" },
  { "fn f(x, y=2,) { x; y }", "(fn f (x y=2) (block x y))\n" },
  { "fn f() {}", "(fn f () (block))\n" },
  { "g = fn(x) x + 1", "(set g (fn (x) (+ x 1)))\n" },
  { "map(fn(x) { x }, [1])", "(call map (fn (x) (block x)) (list 1))\n" },
  { "a + fn(x) x |> f", "(+ a (fn (x) (|> x f)))\n" },
  { "fn(x) fn(y) x", "(fn (x) (fn (y) x))\n" },
  /* statements */
  { "x = 1", "(set x 1)\n" }, { "x, y = f()", "(set x y (call f))\n" },
  { "for i in xs { f(i) }", "(for i xs (block (call f i)))\n" },
  { "while a < b { a = a + 1 }", "(while (< a b) (block (set a (+ a 1))))\n" },
  { "if a { 1 } else if b { 2 } else { 3 }", "(if a (block 1) (if b (block 2) (block 3)))\n" },
  { "x = if a { 1 } else { 2 }", "(set x (if a (block 1) (block 2)))\n" },
  { "fn f(x) { return x; return }", "(fn f (x) (block (return x) (return _)))\n" },
  { "import \"lib.gsl\"", "(import \"lib.gsl\")\n" },
  { ":plan y device=3  # c", "(command plan \"y device=3\")\n" },
  { ":help", "(command help \"\")\n" },
  { "if a { :plan y\n}", "(if a (block (command plan \"y\")) _)\n" },
  /* statement ends */
  { "a; b;; c\n\n\nd;", "a\nb\nc\nd\n" }, { "", "" }, { "\n;\n", "" }, { "# nothing", "" },
  { "a\n# note\nb # note\n", "a\nb\n" },
  { "f(a,\n\n  b\n)", "(call f a b)\n" }, { "[a,\n b]\n", "(list a b)\n" },
  { "a +\n b", "(+ a b)\n" }, { "a and # why\n\n b", "(and a b)\n" }, { "x =\n1", "(set x 1)\n" },
  { "x,\ny = f()", "(set x y (call f))\n" },
  { "a |>\n f", "(|> a f)\n" }, { "a\n  |> f\n\n # note\n |> g\nb", "(|> (|> a f) g)\nb\n" },
  { "a\n-b", "a\n(- b)\n" },
  { "f(fn(x) {\n y = x\n y\n}, 2)", "(call f (fn (x) (block (set y x) y)) 2)\n" },
  { "f(fn(x) {\n g(x,\n 1)\n})", "(call f (fn (x) (block (call g x 1))))\n" },
  { "if a {\n b\n}\nelse {\n c\n}\nd", "(if a (block b) (block c))\nd\n" },
  { "if a {\n b\n}\n\n# note\nelse if c { d }", "(if a (block b) (if c (block d) _))\n" },
  { "x = 1\r\ny = 2\r\n", "(set x 1)\n(set y 2)\n" }
};

START_TEST(statements_have_trees)
{
  check_file(trees[_i].text, trees[_i].want);
}
END_TEST

/* Also that the statements around an error are there. */
static const struct {
  const char *text, *want;
} errors[] = {
  { "x = f(1, , 2)\ny", "1:10: unexpected ',', expected an expression or ')'\ny\n" },
  { "1 2", "1:3: unexpected integer 2, expected an operator or the end of the statement\n" },
  { "x =", "1:4: unexpected end of file, expected an expression\n" },
  { "x = ;y", "1:5: unexpected ';', expected an expression\ny\n" },
  { "for 3 in x {}", "1:5: unexpected integer 3, expected a name\n" },
  { "for i on x {}", "1:7: unexpected name on, expected 'in'\n" },
  { "fn f x", "1:6: unexpected name x, expected '('\n" },
  { "import x", "1:8: unexpected name x, expected a string\n" },
  { "if a\nb", "1:5: unexpected end of line, expected an operator or '{'\nb\n" },
  { "a < b < c", "1:7: unexpected '<', expected an operator or the end of the statement\n" },
  { "x[0] = 1", "1:6: unexpected '=', expected an operator or the end of the statement\n" },
  { "f(? )", "1:3: unexpected '?', expected an expression or ')'\n" },
  { "f(1; 2)\ny", "1:4: unexpected ';', expected an operator, ',' or ')'\ny\n" },
  { "f(a=1, 2)\ny", "1:8: an argument without a name cannot follow a named one\ny\n" },
  { "}\ny", "1:1: unexpected '}', expected a statement\ny\n" },
  { "g(1]\ny", "1:4: unexpected ']', expected an operator, ',' or ')'\ny\n" },
  { "{ a ) b }\ny", "1:5: unexpected ')', expected an operator, the end of the statement, '=', ',' "
    "or '}'\ny\n" },
  /* open brackets */
  { "f(", "1:2: this '(' is never closed\n" },
  { "fn f(x) {\n y = [1\n", "2:6: this '[' is never closed\n" },
  { "y = (1 + 2\nz = 3\n", "2:1: unexpected name z, expected an operator, ',' or ')'\n(set z 3)\n" },
  { "y = [1,\n  2\nfn f(x) = x", "3:1: unexpected 'fn', expected an operator, ',' or ']'\n(fn f (x) x)\n" },
  /* several in one statement, none of which is handed over */
  { "fn f(x) {\n  y = )\n  z = 3 4\n  w = f(1, 2\n  v = 3\n}\ny",
    "2:7: unexpected ')', expected an expression\n"
    "3:9: unexpected integer 4, expected an operator, the end of the statement or '}'\n"
    "5:3: unexpected name v, expected an operator, ',' or ')'\ny\n" },
  { "if a { ) } else { b }\ny", "1:8: unexpected ')', expected a statement or '}'\ny\n" },
  { "if a { b = } else { c }\ny", "1:12: unexpected '}', expected an expression\ny\n" },
  { "f(fn(x) {\n  a b\n}, 2)\ny",
    "2:5: unexpected name b, expected an operator, the end of the statement, '=', ',' or '}'\ny\n" },
  /* lexical: one message a statement */
  { "x = 3 $ 5 $ 6\ny", "1:7: this character can only be used in strings and comments\ny\n" },
  { "\"a\\q\"\ny", "1:3: there is no such escape; a backslash is written \\\\\ny\n" },
  { "99999999999999999999", "1:1: this integer is too large; the largest is 9223372036854775807\n" },
  { "1e999", "1:1: this number is too large; the largest is about 1.8e308\n" },
  { "x = (1, \"a\n y)\nz", "1:9: this string is not closed on its line\nz\n" },
  { "# \xff\ny", "1:3: this byte is not UTF-8 text\ny\n" }
};

START_TEST(errors_are_reported_once)
{
  check_file(errors[_i].text, errors[_i].want);
}
END_TEST

/* HEAD, COUNT times REPEATED, TAIL. */
static char *repeat(const char *head, const char *repeated, int count, const char *tail)
{
  size_t length = strlen(repeated);
  char *text = malloc(strlen(head) + length * (size_t)count + strlen(tail) + 1), *p = text;
  ck_assert_ptr_nonnull(text);
  p = stpcpy(p, head);
  for (int i = 0; i < count; i++)
    p = stpcpy(p, repeated);
  strcpy(p, tail);
  return text;
}

static const struct {
  const char *head, *repeated;
  int count;
  const char *tail;
} deep[] = {
  { "", "(", 20000, "\n" }, { "x = ", "[", 20000, "\n" }, { "x = ", "1+", 100000, "1\ny\n" },
  { "x = ", "-", 20000, "1\ny\n" }, { "x = ", "2**", 20000, "1\ny\n" },
  { "x = ", "fn(x) ", 20000, "1\ny\n" }, { "", "if a {} else ", 20000, "{}\ny\n" },
  { "x = f", "(1)", 20000, "\ny\n" }, { "", "{", 20000, "\n" }, { "x = a", " |> f", 20000, "\ny\n" }
};

START_TEST(nesting_is_limited)
{
  struct record record;
  char *text = repeat(deep[_i].head, deep[_i].repeated, deep[_i].count, deep[_i].tail);
  record_init(&record, "t.gsl");
  feed(&record, text);
  gs_parser_finish(record.parser);
  ck_assert_int_eq(record.diagnostics.errors, 1);
  const char *got = gs_text_string(&record.text), *rest = strchr(got, '\n') + 1;
  ck_assert_ptr_nonnull(strstr(got, "nested too deeply"));
  ck_assert_str_eq(rest, strstr(deep[_i].tail, "\ny\n") != NULL ? "y\n" : "");
  free(text);
  record_finish(&record);
}
END_TEST

/* A line at the prompt and what the parser says after it. */
static const struct {
  const char *lines[6];
  const char *states;                  /* one letter a line: i idle, m more */
  const char *want;
} prompts[] = {
  { { "x = 1\n", "y" }, "ii", "(set x 1)\ny\n" },
  { { "f(1,", "2)" }, "mi", "(call f 1 2)\n" },
  { { "x =", "", "# note", "3" }, "mmmi", "(set x 3)\n" },
  { { "fn f(x) {", "y = x", "", "y }" }, "mmmi", "(fn f (x) (block (set y x) y))\n" },
  { { "if a { b }", "else { c }" }, "ii",
    "(if a (block b) _)\n2:1: unexpected 'else', expected a statement\n" },
  { { "if a { b", "} else {", "c }" }, "mmi", "(if a (block b) (block c))\n" },
  { { "{ if a { b }", "else { c }", "}" }, "mmi", "(block (if a (block b) (block c)))\n" },
  { { "a |>", "f" }, "mi", "(|> a f)\n" },
  { { "fn f(x) {", "y = )", "y" }, "mii", "2:5: unexpected ')', expected an expression\ny\n" },
  { { "f(1 2", "y" }, "ii", "1:5: unexpected integer 2, expected an operator, ',' or ')'\ny\n" },
  { { "a\nb\nc )\nd" }, "i",
    "a\nb\n3:3: unexpected ')', expected an operator, the end of the statement, '=' or ','\nd\n" },
  { { ":plan y", ":run" }, "ii", "(command plan \"y\")\n(command run \"\")\n" },
  { { "", "  ", "# note" }, "iii", "" }
};

START_TEST(prompt_knows_unfinished_from_wrong)
{
  struct record record;
  record_init(&record, NULL);
  for (int i = 0; prompts[_i].lines[i] != NULL; i++) {
    const char *line = prompts[_i].lines[i];
    enum gs_parse_state state = gs_parser_feed(record.parser, line, strlen(line));
    ck_assert_msg(state == (prompts[_i].states[i] == 'm' ? GS_PARSE_MORE : GS_PARSE_IDLE),
                  "state after \"%s\"", line);
  }
  ck_assert_str_eq(gs_text_string(&record.text), prompts[_i].want);
  record_finish(&record);
}
END_TEST

START_TEST(pieces_make_the_same_trees)
{
  const char *text = "x = \"\xc3\xa9\" + f(1.5,\n 2) # \xe2\x82\xac\n|> g\nif a {\r\n b }\nelse { c }\ny )\nz";
  struct record whole;
  record_init(&whole, "t.gsl");
  feed(&whole, text);
  gs_parser_finish(whole.parser);
  for (size_t size = 1; size < 9; size++) {
    struct record pieces;
    record_init(&pieces, "t.gsl");
    for (size_t at = 0, n = strlen(text); at < n; at += size)
      gs_parser_feed(pieces.parser, text + at, n - at < size ? n - at : size);
    gs_parser_finish(pieces.parser);
    ck_assert_str_eq(gs_text_string(&pieces.text), gs_text_string(&whole.text));
    record_finish(&pieces);
  }
  record_finish(&whole);
}
END_TEST

static bool keep_tree(void *user, struct gs_ast *tree)
{
  struct gs_ast **kept = user;
  *kept = tree;
  return true;
}

START_TEST(spans_are_precise)
{
  struct gs_arena *arena = gs_arena_new(NULL);
  struct gs_diagnostics diagnostics = { 0 };
  struct gs_ast *tree = NULL;
  struct gs_parser *parser = gs_parser_new(arena, &diagnostics, keep_tree, &tree);
  const char *first = "skip = 1\n", *text = "y = (a + b) * f(x, k=2)[1:]  # end\n";
  gs_parser_begin(parser, "t.gsl", 7);
  gs_parser_feed(parser, first, strlen(first));
  gs_parser_feed(parser, text, strlen(text));
  gs_parser_finish(parser);
  const struct gs_ast *product = tree->items[1], *index = product->items[1];
  const struct {
    const struct gs_ast *tree;
    const char *text;
  } spans[] = {
    { tree, "y = (a + b) * f(x, k=2)[1:]" }, { tree->items[0], "y" },
    { product, "(a + b) * f(x, k=2)[1:]" }, { product->items[0], "a + b" },
    { index, "f(x, k=2)[1:]" }, { index->items[0], "f(x, k=2)" },
    { index->items[0]->items[2], "k=2" }, { index->items[1], "1:" }
  };
  for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
    struct gs_span span = spans[i].tree->span;
    ck_assert_uint_eq(span.end - span.begin, strlen(spans[i].text));
    ck_assert_mem_eq(span.source->text + span.begin, spans[i].text, strlen(spans[i].text));
  }
  int line = 0, column = 0;
  gs_source_position(product->span.source, product->span.begin, &line, &column);
  ck_assert_int_eq(line, 8);
  ck_assert_int_eq(column, 5);
  gs_parser_free(parser);
  gs_arena_free(arena);
}
END_TEST

START_TEST(callback_may_stop)
{
  struct record record;
  record_init(&record, "t.gsl");
  record.left = 2;
  feed(&record, "a\nb\nc\nd )\n");
  ck_assert_int_eq(gs_parser_finish(record.parser), GS_PARSE_IDLE);
  ck_assert_str_eq(gs_text_string(&record.text), "a\nb\n");
  record_finish(&record);
}
END_TEST

START_TEST(unfinished_statements_can_be_dropped)
{
  struct record record;
  record_init(&record, NULL);
  ck_assert_int_eq(gs_parser_feed(record.parser, "f([1,", 5), GS_PARSE_MORE);
  gs_parser_reset(record.parser);
  ck_assert_int_eq(gs_parser_feed(record.parser, "y", 1), GS_PARSE_IDLE);
  ck_assert_str_eq(gs_text_string(&record.text), "y\n");
  record_finish(&record);
}
END_TEST

/* The arena of the trees is the user's own. */
static bool rewind_arena(void *user, struct gs_ast *tree)
{
  struct gs_arena **arena = user;
  ck_assert_int_eq(tree->kind, GS_AST_ASSIGN);
  gs_arena_rewind(*arena, (struct gs_arena_mark){ 0 });
  return true;
}

START_TEST(trees_may_go_at_each_statement)
{
  struct gs_arena *sources = gs_arena_new(NULL), *arena = gs_arena_new(NULL);
  struct gs_diagnostics diagnostics = { 0 };
  struct gs_parser *parser = gs_parser_new(sources, &diagnostics, rewind_arena, &arena);
  gs_parser_set_arena(parser, arena);
  gs_parser_begin(parser, "t.gsl", 1);
  const char *text = "x = f(1, [2, 3], \"text\")\n";
  for (int i = 0; i < 1000; i++)
    gs_parser_feed(parser, text, strlen(text));
  gs_parser_finish(parser);
  ck_assert_uint_lt(gs_arena_size(arena), 1 << 16);
  ck_assert_int_eq(diagnostics.errors, 0);
  gs_parser_free(parser);
  gs_arena_free(sources);
  gs_arena_free(arena);
}
END_TEST

static const struct {
  const char *text;
  const char *has[4], *lacks[4];
} expectations[] = {
  { "", { "name", "for", "if", "fn" }, { "in", "else", ")", "=" } },
  { "x = ", { "name", "(", "not" }, { "for", "=" } },
  { "for i ", { "in" }, { "name", "for" } },
  { "f(a", { ",", ")", "=" }, { "name", "]" } },
  { "x = [1", { ",", "]", "+" }, { ")" } },
  { "if a { b } ", { "else" }, { "name" } },
  { "y\n", { "name", "while" }, { "+" } },
  { "f(\"open", { NULL }, { "name", ")" } }
};

START_TEST(expected_tokens_are_known)
{
  struct gs_arena *arena = gs_arena_new(NULL);
  const char *names[80], *text = expectations[_i].text;
  int count = gs_parser_expected(arena, text, strlen(text), names, 80);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 4; i++) {
      const char *name = side == 0 ? expectations[_i].has[i] : expectations[_i].lacks[i];
      bool found = false;
      for (int k = 0; k < count && name != NULL; k++)
        found |= strcmp(names[k], name) == 0;
      ck_assert_msg(name == NULL || found == (side == 0), "\"%s\": %s", text, name);
    }
  gs_arena_free(arena);
}
END_TEST

RUN_TESTS("parser",
  tcase_add_loop_test(cases, statements_have_trees, 0, sizeof trees / sizeof *trees);
  tcase_add_loop_test(cases, errors_are_reported_once, 0, sizeof errors / sizeof *errors);
  tcase_add_loop_test(cases, nesting_is_limited, 0, sizeof deep / sizeof *deep);
  tcase_add_loop_test(cases, prompt_knows_unfinished_from_wrong, 0,
                      sizeof prompts / sizeof *prompts);
  tcase_add_test(cases, pieces_make_the_same_trees);
  tcase_add_test(cases, spans_are_precise);
  tcase_add_test(cases, callback_may_stop);
  tcase_add_test(cases, unfinished_statements_can_be_dropped);
  tcase_add_test(cases, trees_may_go_at_each_statement);
  tcase_add_loop_test(cases, expected_tokens_are_known, 0,
                      sizeof expectations / sizeof *expectations);
)
