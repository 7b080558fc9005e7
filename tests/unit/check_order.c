/* tests/unit/check_order.c - sorting, the largest few, running sums and the like, along cut dims. */
#include <config.h>

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

#define COUNT(table) ((int)(sizeof table / sizeof *table))

static const char *const cuts[] = { "[a, -1]", "[-1, a]", "[[a, b], -1]", "[-1, [b, a]]", "[a, b]", "[b, a]" };
static const char *const results[] = { "[?, ?]", "[-1, -1]", "[-1, a]", "[[b, a], -1]" };

/* Every operator with every cut of its operand and of its result, divided evenly or not. */
static const char *const operators[] = {
  "z = sort(x, 0)", "z = sort(x, 1)", "z = sort(x, 1, descending=true)", "z = argsort(x, 0)", "z = argsort(x, 1)",
  "z = top_k(x, 2)[0]", "z = top_k(x, 3)[1]", "z = cumsum(x, 0)", "z = cumsum(x, 1, reverse=true)", "z = cumprod(x, 1)",
  "z = cummax(x, 0)", "z = cummin(x, 1, reverse=true)",
  "z = expand(argmax(x, dim=1), 1)", "z = expand(argmin(x, dim=0), 0)",
  "z = sort(iota(s32[%d,%d], dim=0), 0, by=[x])", "z = sort(x, 1, by=[floor(x * 0.25), -x])"
};

START_TEST(all_cuts)
{
  static const int shapes[][2] = { { 8, 12 }, { 7, 5 }, { 3, 13 } };
  char operator[200], text[500];
  for (int s = 0; s < 3; s++) {
    snprintf(operator, sizeof operator, operators[_i], shapes[s][0], shapes[s][1]);
    for (int c = 0; c < COUNT(cuts); c++)
      for (int r = 0; r < COUNT(results); r++) {
        snprintf(text, sizeof text, "mesh(a=2, b=3)\nx = shard(floor(input(f32[%d,%d]) * 6), %s)\n%s\ny = shard(z, %s)\n",
                 shapes[s][0], shapes[s][1], cuts[c], operator, results[r]);
        script_check(text);
      }
  }
}
END_TEST

/* Equal elements stay in their order, NaN comes last, both zeros are equal. */
START_TEST(stable)
{
  script_check_zero("mesh(a=4)\nx = shard(floor(input(f32[40]) * 2), [a])\np = argsort(x, 0)\n"
                    "s = x[p]\ny = where(s[1:] == s[:-1] and p[1:] < p[:-1], 1, 0)\n");
  script_check_zero("mesh(a=4)\nx = shard(tensor([3, 1/0.0 - 1/0.0, 1, 2, -1/0.0, 1/0.0]), [a])\n"
                    "y = argsort(x, 0) - tensor([4, 2, 3, 0, 5, 1], dtype=s32)\n");
}
END_TEST

/* Long rows of every kind of key are in order, and hold what they held. */
START_TEST(long_rows)
{
  static const char *const types[] = { "s64", "u64", "s32", "u8", "f64", "f32", "bf16" };
  static const char *const orders[] = { "sort(x, 0, descending=%s)", "x[argsort(x, 0, descending=%s)]",
                                        "sort(x, 0, by=[x, iota(s32[700], dim=0)], descending=%s)" };
  char text[500], order[120];
  for (int t = 0; t < COUNT(types); t++)
    for (int o = 0; o < COUNT(orders); o++)
      for (int down = 0; down < 2; down++) {
        snprintf(order, sizeof order, orders[o], down ? "true" : "false");
        snprintf(text, sizeof text, "x = convert(abs(input(f64[700], normal(3)) * 50), %s)\nz = %s\n"
                 "y = concat([where(z[1:] %s z[:-1], 1.0, 0.0), "
                 "expand(convert(sum(convert(z, f64)) - sum(convert(x, f64)), f32), 0)], 0)\n",
                 types[t], order, down ? ">" : "<");
        script_check_zero(text);
      }
}
END_TEST

struct plan { double most; const char *text; };

static const struct plan plans[] = {
  /* Only what each part gives on the whole travels. */
  { 3 * 8 * 4, "x = shard(input(f32[8,64]), [-1,a])\ny = shard(cumsum(x, 1), [-1,a])" },
  { 3 * 8 * 4, "x = shard(input(f32[8,64]), [-1,a])\ny = shard(cummax(x, 1), [-1,a])" },
  { 3 * 8 * 2 * (4 + 4), "x = shard(input(f32[8,64]), [-1,a])\ny = shard(top_k(x, 2)[0], [-1,-1])" },
  { 2 * 3 / 4.0 * 8 * 8 + 3 * 8 * 4, "x = shard(input(f32[8,64]), [-1,a])\ny = argmax(x, dim=1)" },
  /* Another dim takes the axis. */
  { 2 * 3 / 4.0 * 8 * 16 * 4, "x = shard(input(f32[8,64]), [-1,a])\ny = shard(sort(x, 1), [-1,a])" },
  { 0, "x = shard(input(f32[8,64]), [a,-1])\ny = shard(sort(x, 1), [a,-1])" },
  { 0, "x = shard(input(f32[8,64]), [a,-1])\ny = shard(cumsum(x, 1), [a,-1])" }
};

START_TEST(plan_sends)
{
  char text[300];
  snprintf(text, sizeof text, "mesh(a=4)\n%s\n", plans[_i].text);
  script_sends(text, plans[_i].most);
}
END_TEST

RUN_TESTS("order",
  tcase_add_loop_test(cases, all_cuts, 0, COUNT(operators));
  tcase_add_test(cases, stable);
  tcase_add_test(cases, long_rows);
  tcase_add_loop_test(cases, plan_sends, 0, COUNT(plans));
)
