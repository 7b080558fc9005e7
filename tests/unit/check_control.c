/* tests/unit/check_control.c - loops and branches: the CPU backend against the reference, what plans say of
 * them, and what is refused.
 */
#include <config.h>

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

/* Programs over x, an input of f32[X0,X1] cut over the mesh a=2, b=3 in some way, that set y. */
static const char *const programs[] = {
  "y = loop(3, fn(i, c) { c * 0.5 + convert(i, f32) }, x)",
  "y = loop(0, fn(i, c) { c * 0.5 }, x)",
  "y = loop(1, fn(i, c) { c + sum(c) }, x)",
  "y = loop(4, fn(i, c) { (c[1], c[0] + 1) }, (x, x * 2))[0]",
  "y = loop(5, fn(i, c) { (c[1], c[2], c[0]) }, (x, x + 1, x + 2))[1]",
  "y = loop(3, fn(i, c) { roll(c, 1, 0) }, x)",
  "y = loop(3, fn(i, c) { reverse(c, [1]) + roll(c, 2, 1) * 0.25 }, x)",
  "y = loop(2, fn(i, c) { c - mean(c, dim=0, keep=true) }, x)",
  "y = loop(2, fn(i, c) { softmax(c, dim=1) }, x)",
  "y = loop(2, fn(i, c) { shard(c, [-1, a]) + 1 }, x)",
  "y = loop(2, fn(i, c) { shard(c, [[b, a], -1]) * shard(x, [a, -1]) }, x)",
  "y = loop(2, fn(i, c) { loop(3, fn(j, d) { d * 0.5 + c }, c) }, x)",
  "y = loop(2, fn(i, c) { e = c * 2; loop(3, fn(j, d) { (d[1], d[0] + e) }, (c, c))[0] * 0.125 }, x)",
  "y = loop(3, fn(i, c) { cond(i == 1, fn(d) { d * 2 }, fn(d) { d + 1 }, c) }, x)",
  "y = cond(sum(x) > 0, fn(d) { d }, fn(d) { d * 0.5 }, x)",
  "y = cond(sum(x) < 0, fn(d) { sum(d, dim=1) }, fn(d) { max(d, dim=1) }, x)",
  "y = cond(sum(x) > 0, fn(d) { cond(sum(d) > 1e9, fn(e) { e }, fn(e) { e + 3 }, d) }, fn(d) { d }, x)",
  "p, q = cond(max(x) > 0, fn(d) { (d, 1) }, fn(d) { (d * 0.5, 2) }, x)\ny = p + convert(q, f32)",
  "y = while_loop(fn(c) { sum(c * c) > 0.01 }, fn(c) { c * 0.5 }, x)",
  "y = while_loop(fn(c) { sum(c) > 1e30 }, fn(c) { c * 2 }, x)",
  "n, y = while_loop(fn(c) { c[0] < 4 }, fn(c) { (c[0] + 1, c[1] + sum(c[1], dim=1, keep=true) * 0.1) }, (0, x))",
  "y = while_loop(fn(c) { c[0] < 3 }, fn(c) { (c[0] + 1, c[2], c[1]) }, (0, x, x * 2))[1]",
  "z = loop(2, fn(i, c) { c + 1 }, x)\ny = z * loop(2, fn(i, c) { c + z }, x)",
  /* updates in place, and where that would be wrong */
  "y = loop(3, fn(i, c) { scatter(c, expand(i % 1, 0), x[:1] * 2, \"set\") }, x)",
  "y = loop(3, fn(i, c) { scatter(c, expand(i % 1, 0), c[:1] * 2, \"set\") + c }, x)",
  "y = loop(3, fn(i, c) { d = scatter(c, expand(i % 1, 0), x[:1], \"set\")\n "
  "d + scatter(c, expand(i % 1, 0), x[:1] * 3, \"set\") }, x)",
  "p, q = loop(3, fn(i, c) { (c[1], scatter(c[0], expand(i % 1, 0), x[:1], \"set\")) }, (x, x + 1))\ny = p + q",
  "p, q = loop(3, fn(i, c) { (scatter(c[0], expand(i % 1, 0), x[:1] + 9, \"set\"), c[0]) }, (x, x + 1))\n"
  "y = p + 2 * q",
  "y = while_loop(fn(c) { sum(c + scatter(c, tensor([0], dtype=s32), x[:1] + 9, \"set\")) < 1e3 }, "
  "fn(c) { c * 3 + 100 }, x)",
  "z = x * 2\ny = loop(3, fn(i, c) { c + scatter(z, expand(i % 1, 0), c[:1], \"add\") }, x) + z",
  "z = x * 2\nu = scatter(z, tensor([0], dtype=s32), x[:1], \"add\")\n"
  "y = scatter(u, tensor([0], dtype=s32), x[:1], \"add\") * 2",
  "y = reshape(loop(2, fn(i, c) { reshape(c, [-1]) + 1 } , reshape(x, [-1])), [-1, 1])",
};

static const int shapes[][2] = { { 6, 6 }, { 5, 7 }, { 1, 3 }, { 12, 2 } };
static const char *const cuts[] = { "[-1, -1]", "[a, b]", "[[a, b], -1]", "[?, [b, a]]" };

START_TEST(same_values)
{
  char text[1024];
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
      snprintf(text, sizeof text, "mesh(a=2, b=3)\nx = shard(input(f32[%d,%d]), %s)\n%s\n", shapes[s][0],
               shapes[s][1], cuts[c], programs[_i]);
      script_check(text);
    }
}
END_TEST

/* A gathered weight does not change in the loop: it is gathered once, however many turns there are. */
START_TEST(invariants_are_moved_once)
{
  char text[512];
  double before = -1;
  for (int turns = 1; turns < 100; turns *= 3) {
    snprintf(text, sizeof text,
             "mesh(d=4)\nx = shard(input(f32[8,16]), [d, -1])\nw = shard(input(f32[16,16]), [d, -1])\n"
             "y = loop(%d, fn(i, c) { tanh(c @ shard(w, replicated)) }, x)\n", turns);
    double bytes = script_bytes(text);
    ck_assert_double_eq(bytes, 3 * 4 * 16 * 4);
    ck_assert(before < 0 || bytes == before);
    before = bytes;
  }
}
END_TEST

START_TEST(inside_counts_by_turns)
{
  const char *text = "mesh(d=4)\nx = shard(input(f32[8,16]), [-1, d])\n"
                     "y = loop(5, fn(i, c) { c + sum(c, dim=1, keep=true) }, x)\n";
  ck_assert_double_eq(script_bytes(text), 5 * 2 * 3.0 / 4 * 8 * 4);
}
END_TEST

/* One stage a device; each turn shifts by one stage: its boundary travels, nothing else. */
START_TEST(shifting_buffer)
{
  const char *text = "mesh(d=4)\nx = shard(input(f32[4,8]), [d, -1])\n"
                     "y = loop(6, fn(i, c) { shard(tanh(roll(c, 1, 0)), [d, -1]) }, x)\n";
  ck_assert_double_eq(script_bytes(text), 6 * 8 * 4);
}
END_TEST

/* What is carried has the sharding that is wanted after the loop, when that spares more than it costs. */
START_TEST(carried_as_wanted)
{
  const char *text = "mesh(a=2, b=4)\nx = shard(input(f32[16,32]), [-1, a])\nw = shard(input(f32[32,32]), [-1, -1])\n"
                     "y = shard(loop(4, fn(i, c) { tanh(c @ w) }, x), [[a, b], -1])\n";
  script_sends(text, 7 / 8.0 * 2 * 32 * 4);
}
END_TEST

/* Sums over turns are added up in parts, and reduced once. */
START_TEST(accumulations_reduce_at_the_end)
{
  const char *text = "mesh(d=4)\na = shard(input(f32[10,16,64]), [-1, -1, d])\nw = shard(input(f32[64,32]), [d, -1])\n"
                     "y, z = scan(fn(c, t) { [c + t @ w, 0] }, zeros(f32[16,32]), a)\n";
  script_check(text);
  ck_assert_double_eq(script_bytes(text), 2 * 3.0 / 4 * 16 * 32 * 4);
}
END_TEST

static const struct { const char *text, *message; } errors[] = {
  { "y = loop(2, fn(i, c) { (c, c) }, x)", "the body gives a tuple" },
  { "y = loop(2, fn(i, c) { concat([c, c], 0) }, x)", "the body gives f32[8,8] where the loop carries f32[4,8]" },
  { "y = loop(2, fn(i, c) { c > 0 }, x)", "the body gives pred[4,8]" },
  { "y = loop(-1, fn(i, c) { c }, x)", "-1 turns" },
  { "y = loop(2, 3, x)", "a function" },
  { "y = loop(2, fn(c) { c }, x)", "takes 1 argument" },
  { "y = loop(2, fn(i, c) { c }, \"x\")", "not a tensor" },
  { "y = while_loop(fn(c) { c > 0 }, fn(c) { c }, x)", "the condition is pred[4,8], not pred[]" },
  { "y = while_loop(fn(c) { 3 }, fn(c) { c }, x)", "not a scalar pred" },
  { "y = cond(x > 0, fn() { x }, fn() { x })", "the condition is pred[4,8], not pred[]" },
  { "y = cond(sum(x) > 0, fn() { x }, fn() { sum(x) })", "the branch for false gives f32[] where" },
  { "y = cond(sum(x) > 0, fn(a) { x }, fn(a) { x })", "argument" },
};

START_TEST(refused)
{
  char text[512];
  snprintf(text, sizeof text, "mesh(d=4)\nx = input(f32[4,8])\n%s\n", errors[_i].text);
  script_refused(text, errors[_i].message);
}
END_TEST

#define COUNT(table) ((int)(sizeof table / sizeof *table))

RUN_TESTS("control",
  tcase_add_test(cases, accumulations_reduce_at_the_end);
  tcase_add_test(cases, carried_as_wanted);
  tcase_add_loop_test(cases, same_values, 0, COUNT(programs));
  tcase_add_test(cases, invariants_are_moved_once);
  tcase_add_test(cases, inside_counts_by_turns);
  tcase_add_test(cases, shifting_buffer);
  tcase_add_loop_test(cases, refused, 0, COUNT(errors));
)
