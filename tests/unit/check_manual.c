/* tests/unit/check_manual.c - manual regions against the same value written without them, what they send, and
 * what is refused. */
#include <config.h>

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

static const char preamble[] = "mesh(data=2, model=4)\nx = input(f32[8,16])\nw = input(f32[16,8])\n";

/* What sets y to zero. */
static const char *const zeros[] = {
  "y = manual(fn(x, w) { psum(x @ w, model) }, [x, w], in=[[-1, model], [model, -1]], out=[-1, -1], axes=[model]) "
  "- x @ w",
  "y = manual(fn(x) { psum(sum(x), [data, model]) }, [x], in=[[data, model]], out=[]) - sum(x)",
  "y = manual(fn(x) { pmax(max(x), [model, data]) }, [x], in=[[data, model]], out=[]) - max(x)",
  "y = manual(fn(x) { pmin(min(x), [data, model]) }, [x], in=[[model, data]], out=[]) - min(x)",
  "y = manual(fn(x) { pmean(mean(x), model) }, [x], in=[[-1, model]], out=[], axes=[model]) - mean(x)",
  "y = convert(manual(fn(x) { pmax(all(x < 0), model) }, [x], in=[[-1, model]], out=[], axes=[model]), f32)",
  "y = manual(fn(x) { all_gather(x, 1, model) }, [x], in=[[-1, model]], out=[-1, -1], axes=[model]) - x",
  "y = manual(fn(x) { reduce_scatter(x, 0, model) }, [x], in=[[-1, model]], out=[model, -1], axes=[model]) "
  "- sum(reshape(x, [8, 4, 4]), dim=1)",
  "y = manual(fn(x) { all_to_all(x, 0, 1, model) }, [x], in=[[-1, model]], out=[model, -1], axes=[model]) - x",
  "y = manual(fn(x) { all_to_all(x, 1, 1, model) }, [x], in=[[-1, model]], out=[-1, model], axes=[model]) "
  "- reshape(transpose(reshape(x, [8, 4, 4]), [0, 2, 1]), [8, 16])",
  "y = manual(fn(x) { ppermute(x, model, 1) }, [x], in=[[-1, model]], out=[-1, model], axes=[model]) - roll(x, 4, 1)",
  "y = manual(fn(x) { ppermute(x, model, -5) }, [x], in=[[-1, model]], out=[-1, model], axes=[model]) "
  "- roll(x, -4, 1)",
  "y = manual(fn(x) { ppermute(x, model, [[0, 1]]) }, [x], in=[[-1, model]], out=[-1, model], axes=[model]) "
  "- concat([x[:, 0:4] * 0, x[:, 0:4], x[:, 0:8] * 0], 1)",
  "y = manual(fn() { reshape(axis_index([data, model]), [1]) }, [], in=[], out=[[data, model]]) - iota(s32[8])",
  "y = manual(fn(x) { x * w[0, 0] }, [x], in=[[data, model]], out=[data, model]) - x * w[0, 0]",
  "y = manual(fn(x) { w }, [x], in=[[data, model]], out=[data, -1]) - concat([w, w], 0)",
  "y = manual(fn(x) { loop(3, fn(i, c) { s = ppermute(c[1], model, 1); (c[0] + s, s) }, (x, x))[0] - psum(x, model) "
  "}, [x], in=[[-1, model]], out=[-1, model], axes=[model])",
  "y = manual(fn(x) { cond(axis_index(model) == 2, fn(e) { psum(e, model) }, fn(e) { e }, x) }, [x], "
  "in=[[-1, model]], out=[-1, model], axes=[model]) "
  "- concat([x[:, 0:8], sum(reshape(x, [8, 4, 4]), dim=1), x[:, 12:16]], 1)",
  "y = manual(fn(x) { manual(fn(x) { psum(sum(x), [data, model]) }, [x], in=[[data, -1]], out=[], axes=[data]) }, "
  "[x], in=[[-1, model]], out=[], axes=[model]) - sum(x)",
  "y = manual(fn(x) { cumsum(shard(x, [data, -1]), dim=0) }, [x], in=[[-1, model]], out=[-1, model], axes=[model]) "
  "- cumsum(x, dim=0)",
  "a = input(f32[20,4])\ny = manual(fn(a) { shard(a * 2, [data, -1]) }, [a], in=[[model, -1]], out=[model, -1], "
  "axes=[model]) - a * 2",
};

START_TEST(as_without)
{
  char text[1024];
  snprintf(text, sizeof text, "%s%s\n", preamble, zeros[_i]);
  script_check_zero(text);
}
END_TEST

static const struct { double bytes; const char *text; } sends[] = {
  { 6 * 64, "y = manual(fn(x, w) { psum(x @ w, model) }, [x, w], in=[[-1, model], [model, -1]], out=[-1, -1], "
            "axes=[model])" },
  /* only a part of it is kept */
  { 3 * 64, "z = manual(fn(x, w) { psum(x @ w, model) }, [x, w], in=[[-1, model], [model, -1]], out=[-1, -1], "
            "axes=[model])\ny = shard(z, [-1, model])" },
  { 3 * 64 + 64, "z = manual(fn(x) { psum(x[:, 0:1] * ones(f32[8,8]), [model, data]) }, [x], in=[[-1, [data, model]]], "
                 "out=[-1, -1])\ny = shard(z, [-1, model])" },
  { 3 * 64, "z = manual(fn(x, w) { tanh(psum(x @ w, model)) * 2 }, [x, w], in=[[-1, model], [model, -1]], "
            "out=[-1, -1], axes=[model])\ny = shard(convert(z, bf16), [-1, model])" },
  { 2 * 7 * 16 / 2, "y = manual(fn(x) { psum(psum(x, model), data) }, [x], in=[[data, model]], out=[-1, -1])" },
  { 4 * 16, "y = manual(fn(x) { ppermute(x, [data, model], 3) }, [x], in=[[data, model]], out=[data, model])" },
  { 0, "y = manual(fn(x) { x + w[0, 0] }, [x], in=[[data, model]], out=[data, model])" },
};

START_TEST(sent)
{
  char text[1024];
  snprintf(text, sizeof text, "%s%s\n", preamble, sends[_i].text);
  ck_assert_double_eq(script_bytes(text), sends[_i].bytes);
}
END_TEST

/* By the body of a region over model that sees x cut along dim 1. */
static const struct { const char *body, *message; } errors[] = {
  { "psum(x, data)", "axis data is automatic" },
  { "psum(x, pipe)", "unknown name" },
  { "psum(x, \"pipe\")", "no mesh axis is called" },
  { "psum(x, 7)", "no mesh axis" },
  { "psum(x, [model, model])", "twice" },
  { "psum(x > 0, model)", "not for pred" },
  { "ppermute(x, model, [[0, 4]])", "pair [0, 4] along 4 devices" },
  { "ppermute(x, model, [[0, 1], [2, 1]])", "receives twice" },
  { "ppermute(x, model, [[0, 1], [0, 2]])", "sends twice" },
  { "ppermute(x, model, [0, 1])", "not [from, to]" },
  { "all_to_all(x[0:6], 0, 1, model)", "which 4 devices do not divide" },
  { "all_to_all(x[0:6], 0, 0, model)", "which 4 devices do not divide" },
  { "reduce_scatter(x[0:6], 0, model)", "which 4 devices do not divide" },
  { "all_gather(x, 2, model)", "dim 2" },
  { "shard(x, [model, -1])", "axis model is manual here" },
  { "while_loop(fn(c) { sum(c) < 0 }, fn(c) { c + 1 }, x)", "may differ between devices along axis model" },
  { "manual(fn(x) { x }, [x], in=[[-1, -1]], out=[-1, -1], axes=[model])", "manual already" },
  { "check(x)", "is a value of the body of a manual region" },
  { "(x, x)", "not an integer" },
};

START_TEST(refused)
{
  char text[1024];
  snprintf(text, sizeof text, "%sy = manual(fn(x) { %s }, [x], in=[[-1, model]], out=[-1, model], axes=[model])\n",
           preamble, errors[_i].body);
  script_refused(text, errors[_i].message);
}
END_TEST

#define COUNT(table) ((int)(sizeof table / sizeof *table))

RUN_TESTS("manual",
  tcase_add_loop_test(cases, as_without, 0, COUNT(zeros));
  tcase_add_loop_test(cases, sent, 0, COUNT(sends));
  tcase_add_loop_test(cases, refused, 0, COUNT(errors));
)
