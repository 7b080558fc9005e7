/* tests/unit/check_combine.c - all-reduces taken together: which ones, and with what values. */
#include <config.h>

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

/* TEXT goes on after a and b; REDUCTIONS are left of as many as there are operators that reduce. */
struct program { int reductions; const char *text; };

static const struct program programs[] = {
  { 1, "s = tanh(sum(a, dim=1))\nq = tanh(sum(a * a, dim=1))\ny = shard(s, [-1]) * shard(q, [-1])\n" },
  /* One is made of the other. */
  { 2, "m = shard(tanh(sum(a, dim=1, keep=true)), [-1, -1])\ny = shard(exp(sum(a - m, dim=1)), [-1]) * m[:, 0]\n" },
  /* Three of which two do not need each other. */
  { 2, "m = shard(tanh(sum(a, dim=1, keep=true)), [-1, -1])\nk = shard(tanh(sum(a * a, dim=1)), [-1])\n"
       "y = shard(exp(sum(a - m, dim=1)), [-1]) * m[:, 0] * k\n" },
  /* Maxima and sums, integers and floats, other devices: each by itself. */
  { 2, "y = shard(tanh(sum(a, dim=1)), [-1]) * shard(exp(max(a, dim=1)), [-1])\n" },
  { 2, "y = shard(tanh(sum(a, dim=1)), [-1]) * convert(shard(abs(sum(convert(a, s32), dim=1)), [-1]), f32)\n" },
  { 2, "c = shard(b, [-1, z])\ny = shard(tanh(sum(a, dim=1)), [-1]) * shard(tanh(sum(c, dim=1)), [-1])\n" },
  /* Scalars, several dims, parts over other axes. */
  { 1, "y = tanh(sum(a)) + cos(sum(a * b))\n" },
  { 1, "c = shard(reshape(b, [2,3,8]), [-1, -1, x])\n"
       "y = shard(tanh(sum(a, dim=1)), [-1]) * shard(reshape(tanh(sum(c, dim=2)), [6]), [-1])\n" },
  { 1, "c = shard(b, [z, x])\ny = shard(tanh(sum(a, dim=1)), [-1]) * shard(tanh(sum(c, dim=1)), [z])\n" },
  /* In every turn of a loop. */
  { 1, "y = loop(3, fn(i, v) { shard(tanh(sum(a, dim=1)), [-1]) + shard(tanh(sum(a * expand(v, 1), dim=1)), [-1]) * v },"
       " b[:, 0])\n" }
};

START_TEST(as_many_as_need_be)
{
  static const char *const limits[] = { "32K", "0", "8" };
  char text[700];
  for (int k = 0; k < 3; k++) {
    snprintf(text, sizeof text, ":set combine %s\nmesh(x=4, z=2)\na = shard(input(f32[6,8]), [-1, x])\n"
             "b = shard(input(f32[6,8], pattern(1)), [-1, x])\n%s", limits[k], programs[_i].text);
    script_check(text);
    if (k == 0)
      ck_assert_int_eq(script_steps(text, "all-reduce"), programs[_i].reductions);
  }
}
END_TEST

RUN_TESTS("combine",
  tcase_add_loop_test(cases, as_many_as_need_be, 0, (int)(sizeof programs / sizeof *programs));
)
