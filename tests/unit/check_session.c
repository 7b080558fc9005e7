/* tests/unit/check_session.c - the public interface: several sessions, feeding in pieces, plans and
 * values by name, inputs, completion, what is left after errors. */
#include <config.h>

#include "gspmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/diag.h"
#include "lang/tensor.h"
#include "partition/partition.h"
#include "tests/unit/run.h"

enum { ROOM = 1 << 16 };

/* What sessions of a test print and complain of. */
static char printed[ROOM], complained[ROOM];

static void append(char *to, const char *text, size_t length)
{
  size_t have = strlen(to);
  if (have + length < ROOM) {
    memcpy(to + have, text, length);
    to[have + length] = '\0';
  }
}

static void print(void *user, const char *text, size_t length)
{
  (void)user;
  append(printed, text, length);
}

static void complain(void *user, const char *text, size_t length)
{
  (void)user;
  append(complained, text, length);
}

static struct gs_session *session(struct gs_session_options options)
{
  options.output = print;
  options.message = complain;
  printed[0] = complained[0] = '\0';
  struct gs_session *s = gs_session_new(&options);
  ck_assert_ptr_nonnull(s);
  return s;
}

static bool run(struct gs_session *s, const char *text)
{
  printed[0] = complained[0] = '\0';
  return gs_session_run_text(s, "test", text, strlen(text));
}

START_TEST(values_by_name)
{
  struct gs_session *s = session((struct gs_session_options){ 0 });
  const char *names[] = { "y", "x" };
  struct gs_tensor *values[2];
  ck_assert(run(s, "mesh(a=2)\nx = shard(input(s32[3,2], iota(0)), [a, -1])\ny = sum(x, dim=1)\n"));
  ck_assert_ptr_nonnull(gs_session_tensor(s, "y"));
  ck_assert_ptr_null(gs_session_tensor(s, "nosuch"));
  const struct gs_plan *plan = gs_session_plan(s, names, 2);
  ck_assert_ptr_nonnull(plan);
  ck_assert_ptr_eq(gs_session_plan(s, names, 2), plan);
  ck_assert_int_eq(plan->program->noutputs, 2);
  ck_assert_int_eq(gs_session_run(s, names, 2, values), GS_SESSION_OK);
  ck_assert_str_eq(gs_value_dtype(values[0]), "s32");
  ck_assert_int_eq(gs_value_rank(values[1]), 2);
  ck_assert_int_eq(gs_value_dim(values[1], 0), 3);
  const int32_t *y = gs_value_data(values[0]);
  ck_assert_int_eq(y[0], 0);
  ck_assert_int_eq(y[2], 4);
  gs_value_free(values[0]);
  gs_value_free(values[1]);
  ck_assert_int_eq(gs_session_check(s, names, 1), GS_SESSION_OK);
  ck_assert_int_eq(gs_session_errors(s), 0);
  gs_session_free(s);
}
END_TEST

START_TEST(unknown_output)
{
  struct gs_session *s = session((struct gs_session_options){ 0 });
  const char *names[] = { "y" };
  struct gs_tensor *value;
  ck_assert(run(s, "yy = input(f32[2])"));
  ck_assert_ptr_null(gs_session_plan(s, names, 1));
  ck_assert_int_eq(gs_session_run(s, names, 1, &value), GS_SESSION_FAILED);
  ck_assert_ptr_nonnull(strstr(complained, "the program has no variable \"y\""));
  ck_assert_int_eq(gs_session_errors(s), 2);
  gs_session_free(s);
}
END_TEST

/* Two sessions fed in turns, in pieces that end anywhere. */
START_TEST(interleaved)
{
  static const char *const texts[2] = {
    "mesh(p=2)\nx = input(f32[4])\nfn f(a) {\n  a + 1\n}\nprint(shape(f(x)))\n",
    "mesh(q=3)\nx = input(f32[9])\nfn f(a) {\n  a * 2\n}\nprint(shape(f(x)))\n",
  };
  struct gs_session *s[2] = { session((struct gs_session_options){ 0 }),
                              session((struct gs_session_options){ 0 }) };
  size_t piece = (size_t)_i + 1;
  for (size_t at = 0; at < strlen(texts[0]); at += piece)
    for (int k = 0; k < 2; k++) {
      size_t left = strlen(texts[k]) - at;
      gs_session_feed(s[k], texts[k] + at, left < piece ? left : piece);
    }
  for (int k = 0; k < 2; k++) {
    ck_assert_int_eq(gs_session_finish(s[k]), GS_SESSION_IDLE);
    ck_assert_int_eq(gs_session_errors(s[k]), 0);
    gs_session_free(s[k]);
  }
  ck_assert_str_eq(printed, "[4]\n[9]\n");
}
END_TEST

START_TEST(unfinished)
{
  struct gs_session *s = session((struct gs_session_options){ .interactive = true });
  ck_assert_int_eq(gs_session_feed(s, "x = (1 +\n", 9), GS_SESSION_MORE);
  gs_session_reset(s);
  ck_assert_int_eq(gs_session_feed(s, "1 + 2\n", 6), GS_SESSION_IDLE);
  ck_assert_str_eq(printed, "3\n");
  ck_assert_int_eq(gs_session_feed(s, "f", 1), GS_SESSION_MORE);
  ck_assert_int_eq(gs_session_feed(s, "(\n", 2), GS_SESSION_MORE);
  ck_assert_int_eq(gs_session_finish(s), GS_SESSION_IDLE);
  ck_assert_int_eq(gs_session_errors(s), 1);
  gs_session_free(s);
}
END_TEST

START_TEST(given_inputs)
{
  struct gs_session *s = session((struct gs_session_options){ .mesh = "4" });
  struct gs_type type = { .dtype = GS_DTYPE_F64, .rank = 1, .dims = { 3 } };
  struct gs_tensor *tensor = gs_tensor_new(NULL, &type);
  const char *names[] = { "y" };
  struct gs_tensor *value;
  for (int i = 0; i < 3; i++)
    gs_element_set(GS_DTYPE_F64, tensor->data, i, i + 0.5);
  ck_assert(gs_session_set_input(s, "x", tensor));
  gs_tensor_unref(tensor);
  ck_assert(run(s, "mesh(d=2)\nx = shard(input(f32[3]), [d])\ny = x * 2"));
  ck_assert_int_eq(gs_session_mesh(s)->ndevices, 4);
  ck_assert_int_eq(gs_session_run(s, names, 1, &value), GS_SESSION_OK);
  ck_assert_float_eq(((const float *)gs_value_data(value))[2], 5);
  gs_value_free(value);
  ck_assert(!gs_session_set_input_file(s, "x", "no-such-file.npy"));
  ck_assert_int_eq(gs_session_errors(s), 1);
  gs_session_free(s);
}
END_TEST

START_TEST(bad_options)
{
  struct gs_session *s = session((struct gs_session_options){ .backend = "nosuch" });
  ck_assert_int_eq(gs_session_errors(s), 1);
  ck_assert_ptr_nonnull(strstr(complained, "unknown backend \"nosuch\""));
  gs_session_free(s);
  s = session((struct gs_session_options){ .mesh = "a=b" });
  ck_assert_int_eq(gs_session_errors(s), 1);
  gs_session_free(s);
  s = session((struct gs_session_options){ .no_files = true });
  ck_assert(!run(s, "load(\"x.npy\")") && !run(s, "import \"x.gsl\"") && !run(s, ":source x"));
  ck_assert_ptr_nonnull(strstr(complained, "may not touch files"));
  gs_session_free(s);
}
END_TEST

static void interrupt_at_print(void *user, const char *text, size_t length)
{
  (void)text;
  (void)length;
  gs_session_interrupt(*(struct gs_session **)user);
}

START_TEST(interrupted)
{
  struct gs_session *s = NULL;
  struct gs_session_options options = { .output = interrupt_at_print, .user = &s };
  s = gs_session_new(&options);
  const char *text = "x = 1\nprint(x)\nwhile true { }\n";
  ck_assert(!gs_session_run_text(s, "test", text, strlen(text)));
  ck_assert(gs_session_interrupted(s));
  ck_assert_int_eq(gs_session_errors(s), 0);
  text = "y = x + 1\nz = input(f32[2]) + y";
  ck_assert(gs_session_run_text(s, "test", text, strlen(text)));
  ck_assert(!gs_session_interrupted(s));
  ck_assert_ptr_nonnull(gs_session_tensor(s, "z"));
  gs_session_free(s);
}
END_TEST

/* Whatever the budget, a program ends in an error or is right, and the session lives on. */
START_TEST(memory_sweep)
{
  static const char program[] =
      "mesh(a=2, b=2)\nx = shard(input(f32[8,8]), [a, b])\n"
      "fn f(n) = if n == 0 { x } else { f(n - 1) @ x }\n"
      "y = softmax(f(3))\nprint(shape(y))\nrun(sum(y))\ncheck(y)\n:explain y\n:help\n";
  struct gs_session *s = session(
      (struct gs_session_options){ .memory_limit = ((size_t)_i + 1) * 16384, .threads = 1 });
  bool ok = run(s, program);
  ck_assert(ok || gs_session_errors(s) > 0);
  if (!ok)
    ck_assert_msg(strstr(complained, "memory") != NULL || strstr(complained, "MiB") != NULL ||
                      strstr(complained, "KiB") != NULL,
                  "%s", complained);
  run(s, "z = 1 + 1\nprint(z)\n");
  gs_session_free(s);
}
END_TEST

struct search { const char *wanted; int found; };

static void look(void *user, const char *candidate)
{
  struct search *search = user;
  search->found += strcmp(candidate, search->wanted) == 0;
}

static const struct { const char *text, *wanted; } completions[] = {
  { "eins", "einsum(" },    { "y = sof", "softmax(" }, { "shard(weights, [mo", "model" },
  { "wei", "weights" },     { ":pl", "plan" },         { ":plan wei", "weights" },
  { ":set prec", "precision" }, { ":backend re", "reference" }, { "sum(weights, ke", "keep=" },
  { "x = bf", "bf16" },     { ":help soft", "softplus" }, { "whi", "while" },
};

START_TEST(completion)
{
  struct gs_session *s = session((struct gs_session_options){ 0 });
  ck_assert(run(s, "mesh(data=2, model=4)\nweights = input(f32[4,4])"));
  struct search search = { completions[_i].wanted, 0 };
  gs_session_complete(s, completions[_i].text, strlen(completions[_i].text), look, &search);
  ck_assert_msg(search.found == 1, "%s: %s found %d times", completions[_i].text, search.wanted,
                search.found);
  gs_session_free(s);
}
END_TEST

START_TEST(quitting)
{
  struct gs_session *s = session((struct gs_session_options){ 0 });
  run(s, "print(1)\n:quit\nprint(2)\n");
  ck_assert(gs_session_quitting(s));
  ck_assert_str_eq(printed, "1\n");
  gs_session_free(s);
}
END_TEST

RUN_TESTS("session",
  tcase_add_test(cases, values_by_name);
  tcase_add_test(cases, unknown_output);
  tcase_add_loop_test(cases, interleaved, 0, 40);
  tcase_add_test(cases, unfinished);
  tcase_add_test(cases, given_inputs);
  tcase_add_test(cases, bad_options);
  tcase_add_test(cases, interrupted);
  tcase_add_loop_test(cases, memory_sweep, 0, 60);
  tcase_add_loop_test(cases, completion, 0, sizeof completions / sizeof completions[0]);
  tcase_add_test(cases, quitting);
)
