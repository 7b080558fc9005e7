/* tests/unit/check_eval.c - the evaluator: every function has what the tables promise, random
 * programs never crash, and failed statements take nothing away. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/builtin.h"
#include "interp/command.h"
#include "interp/help.h"
#include "interp/settings.h"
#include "tests/unit/run.h"

enum { SEEDS = 300, PROGRAMS = 15, TOKENS = 40, TEXT = 4096 };

/* Results of expressions, as the prompt shows them. */
struct transcript { char text[TEXT]; size_t length; };

static void keep(void *user, const char *text, size_t length)
{
  struct transcript *transcript = user;
  if (transcript->length + length < TEXT) {
    memcpy(transcript->text + transcript->length, text, length);
    transcript->length += length;
    transcript->text[transcript->length] = '\0';
  }
}

static const struct { const char *text, *result; } cases_[] = {
  { "1 + 2 * 3", "7\n" },
  { "x = 1; fn f() { x = 2; x }; f() * 10 + x", "21\n" },
  { "fn f(n) { for i in range(n) { if i == 3 { return \"three\" } }; \"end\" }; f(9) + f(2)",
    "\"threeend\"\n" },
  { "fn f(a, b=a * 2) = a + b; f(1) + f(1, 1) + f(b=1, a=0)", "6\n" },
  { "fn make() { n = 10; fn(x) x + n }; g = make(); n = 0; g(1)", "11\n" },
  { "xs = [1, 2]; ys = append(xs, 3); zs = append(xs, 4); ys + zs", "[1, 2, 3, 1, 2, 4]\n" },
  { "xs = []; for i in range(4) { xs = xs + [i * i] }; xs", "[0, 1, 4, 9]\n" },
  { "a, b = (1, 2); b, a = (a, b); [a, b]", "[2, 1]\n" },
  { "3 |> max(5) |> fn(x) x * 2", "10\n" },
  { "not (1 > 2) and \"yes\"", "\"yes\"\n" },
  { "run(sum(input(s32[4], full(3))))", "out : s32[] = 12\n" },
  { "v = run(sum(input(s32[4], full(3)))); v + 1", "13\n" },
  { "if run(all(ones(pred[3]))) { 1 } else { 2 }; x = run(iota(s32[3])); shape(x)", "[3]\n" },
  { "softmax = 3; softmax", "3\n" },
  { "mesh(sum=2); sum([1, 2])", "mesh [sum=2], 2 devices\n3\n" },
};

START_TEST(results)
{
  struct transcript transcript = { .length = 0 };
  struct gs_session_options options = { .output = keep, .user = &transcript, .interactive = true };
  struct gs_session *s = gs_session_new(&options);
  gs_session_feed(s, cases_[_i].text, strlen(cases_[_i].text));
  gs_session_feed(s, "\n", 1);
  gs_session_finish(s);
  ck_assert_int_eq(gs_session_errors(s), 0);
  ck_assert_str_eq(transcript.text, cases_[_i].result);
  gs_session_free(s);
}
END_TEST

START_TEST(tables)
{
  struct gs_parameter parameters[GS_MAX_PARAMETERS];
  const struct gs_builtin *row, *before = NULL;
  for (int i = 0; (row = gs_builtin_at(i)) != NULL; before = row, i++) {
    ck_assert_msg(row->usage[0] != '\0' && row->help[0] != '\0', "%s has no help", row->name);
    ck_assert_msg(row->help[strlen(row->help) - 1] != '.', "%s", row->name);
    ck_assert_ptr_eq(gs_builtin_find(row->name), row);
    gs_builtin_parameters(row->parameters, parameters);
  }
  ck_assert_ptr_nonnull(before);
  for (int op = 0; op < GS_OP_COUNT; op++) {
    const struct gs_op_info *info = gs_op_info((enum gs_op)op);
    if (info->group == GS_GROUP_ELEMENTWISE || info->group == GS_GROUP_REDUCTION ||
        info->group == GS_GROUP_SHAPE)
      ck_assert_msg(gs_builtin_find(info->name) != NULL, "no function %s", info->name);
  }
  const struct gs_command *command;
  for (int i = 0; (command = gs_command_at(i)) != NULL; i++) {
    ck_assert_ptr_eq(gs_command_find(command->name), command);
    if (i > 0)
      ck_assert_int_lt(strcmp(gs_command_at(i - 1)->name, command->name), 0);
  }
  for (int i = 1; gs_setting_at(i) != NULL; i++)
    ck_assert_int_lt(strcmp(gs_setting_at(i - 1)->name, gs_setting_at(i)->name), 0);
}
END_TEST

/* Every function of the library has a comment that :help shows. */
START_TEST(library)
{
  struct gs_session *s = gs_session_new(NULL);
  struct gs_help_row row;
  int documented = 0, named = 0;
  gs_session_load_library(s);
  for (int i = 0; gs_help_library(s->values, i, &row); i++) {
    ck_assert_msg(gs_scope_find(s->library, row.name) != NULL, "%s", row.name);
    documented++;
  }
  size_t count;
  const char **names = gs_scope_names(s->values, s->library, &count);
  for (size_t i = 0; i < count; i++)
    named += names[i][0] != '_';
  ck_assert_int_eq(gs_session_errors(s), 0);
  ck_assert_int_eq(documented, named);
  gs_session_free(s);
}
END_TEST

static uint64_t next(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* Words of programs; functions come from the table. */
static const char *const words[] = {
  "x", "y", "m", "f", "xs", "data", "model", "1", "2", "-1", "0", "1.5", "\"ab\"", "true", "none",
  "f32", "s32", "pred", "f32[4,6]", "[", "]", "(", ")", ",", ",", "+", "-", "*", "/", "**", "@",
  "==", "<", "and", "not", "|>", "=", "=", "\n", "\n", ";", "{", "}", ":", "...", "newaxis", "?",
  "dim=", "keep=true", "fn(x)", "fn g(a) =", "for i in", "if", "else", "while", "return", "[data, -1]",
  "[[0, 1], [2, 3]]", "shard(x,", "replicated", "x", "y", "x[0]", "x[1:3, ::-1]", ":plan",
  ":shard x", ":undo", ":vars", ":set steps 2000", ":help", ":unshard x", ":diff",
  "mesh(data=2, model=3)",
};

static size_t random_program(uint64_t *state, char *text)
{
  int functions = 0;
  while (gs_builtin_at(functions) != NULL)
    functions++;
  int tokens = 1 + (int)(next(state) % TOKENS);
  text[0] = '\0';
  for (int i = 0; i < tokens; i++) {
    const char *word = words[next(state) % (sizeof words / sizeof words[0])];
    bool call = next(state) % 4 == 0;
    if (call)
      word = gs_builtin_at((int)(next(state) % (uint64_t)functions))->name;
    if (strcmp(word, "save") == 0 || strcmp(word, "load") == 0 || strcmp(word, "time") == 0)
      continue;
    strcat(strcat(text, word), call ? "(" : next(state) % 8 == 0 ? "" : " ");
    if (call && next(state) % 2 == 0)
      strcat(text, next(state) % 2 == 0 ? "x)" : "x, y)");
  }
  return strlen(text);
}

START_TEST(random_programs)
{
  static const char start[] = "mesh(data=2, model=3)\nx = input(f32[4,6])\ny = param(f32[6])\n"
                              "xs = [x, 1]\nfn f(a, b=2) = a * b\nm = mesh([[0, 1], [2, 3]])\n";
  uint64_t state = (uint64_t)_i * 1000003u;
  struct transcript transcript = { .length = 0 };
  struct gs_session_options options = { .output = keep, .user = &transcript, .no_files = true,
                                        .memory_limit = 32 << 20, .threads = 1,
                                        .interactive = true };
  struct gs_session *s = gs_session_new(&options);
  s->settings.steps = 2000;
  ck_assert(gs_session_run_text(s, NULL, start, strlen(start)));
  for (int i = 0; i < PROGRAMS; i++) {
    char text[TEXT];
    size_t length = random_program(&state, text);
    gs_session_feed(s, text, length);
    gs_session_feed(s, "\n", 1);
    gs_session_reset(s);
  }
  gs_session_free(s);
}
END_TEST

/* A statement that fails gives back what it took. */
START_TEST(nothing_kept)
{
  struct gs_session_options options = { .interactive = true };
  struct gs_session *s = gs_session_new(&options);
  static const char start[] = "x = input(f32[4])\nnosuch(x)\n";
  static const char wrong[] = "(x + 1) * tensor([1, 2, 3, 4]) + (x @ x @ x)\n";
  gs_session_feed(s, start, strlen(start));
  size_t size = gs_arena_size(s->values);
  int nodes = s->graph.nnodes;
  for (int i = 0; i < 1000; i++)
    gs_session_feed(s, wrong, strlen(wrong));
  ck_assert_int_eq(gs_session_errors(s), 1001);
  ck_assert_int_eq(s->graph.nnodes, nodes);
  ck_assert_uint_le(gs_arena_size(s->values), size + 65536);
  gs_session_free(s);
}
END_TEST

RUN_TESTS("eval",
  tcase_add_loop_test(cases, results, 0, sizeof cases_ / sizeof cases_[0]);
  tcase_add_test(cases, tables);
  tcase_add_test(cases, library);
  tcase_add_loop_test(cases, random_programs, 0, SEEDS);
  tcase_add_test(cases, nothing_kept);
)
