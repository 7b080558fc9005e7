/* tests/unit/check_looped.c - looped einsums: the same values and no more bytes than the gathers and
 * reduce-scatters they stand for, which are gone.
 */
#include <config.h>

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

/* Over x=N, y=2.  Each has a gather before or a reduce-scatter behind a product. */
static const char *const products[] = {
  /* the gathered dim is the result's */
  "a = shard(input(T[4 * N, 2], A), [x, -1])\nw = shard(input(T[2, 8], B), [-1, y])\ny = shard(a @ w, [-1, y])\n",
  "a = shard(input(T[16, 2], A), [y, -1])\nw = shard(input(T[2, 2 * N], B), [-1, x])\ny = shard(a @ w, [y, -1])\n",
  "a = shard(input(T[2, 2 * N, 2], A), [-1, x, -1])\nw = shard(input(T[2, 2, 8], B), [-1, -1, y])\n"
  "y = shard(einsum(\"bmk,bkn->nbm\", a, w), [y, -1, -1])\n",
  /* it is summed over */
  "a = shard(input(T[64, 3 * N], A), [y, -1])\nw = shard(input(T[3 * N, 4], B), [x, -1])\ny = shard(a @ w, [y, -1])\n",
  "a = shard(input(T[4, 3 * N], A), [-1, x])\nw = shard(input(T[3 * N, 64], B), [-1, y])\ny = shard(a @ w, [-1, y])\n",
  /* a batch dim */
  "a = shard(input(T[N, 4, 2], A), [x, -1, -1])\nw = shard(input(T[N, 2, 16], B), [-1, -1, y])\n"
  "y = shard(einsum(\"bmk,bkn->bmn\", a, w), [-1, -1, y])\n",
  /* sums are scattered */
  "a = shard(input(T[4 * N, 6 * N], A), [-1, x])\nw = shard(input(T[6 * N, 4], B), [x, y])\n"
  "y = shard(a @ w, [x, y])\n",
  "a = shard(input(T[4, 6 * N], A), [y, x])\nw = shard(input(T[6 * N, 4 * N], B), [x, -1])\n"
  "y = shard(a @ w, [y, x])\n",
  "a = shard(input(T[3, 6 * N, 2 * N], A), [-1, x, -1])\nw = shard(input(T[3, 6 * N, 4], B), [-1, x, y])\n"
  "y = shard(einsum(\"bkm,bkn->bmn\", a, w), [-1, x, y])\n",
};
enum { PRODUCTS = sizeof products / sizeof *products };

static const char *const types[] = { "f32", "f64", "s32", "c64" };

static const char *text_of(const char *mode, int n, const char *type, const char *product)
{
  static char text[1200];
  char body[800];
  size_t used = 0;
  for (const char *c = product; *c != '\0' && used + 40 < sizeof body; c++)
    if (c[0] == 'T' && c[1] == '[')
      used += (size_t)snprintf(body + used, sizeof body - used, "%s", type);
    else if ((c[0] == 'A' || c[0] == 'B') && c[1] == ')')
      used += (size_t)snprintf(body + used, sizeof body - used, "pattern(%d)", c[0] - 'A' + 1);
    else
      body[used++] = *c;
  body[used] = '\0';
  snprintf(text, sizeof text, ":set looped_einsum %s\nmesh(x=%d, y=2)\nN = %d\n%s", mode, n, n,
           body);
  return text;
}

START_TEST(values)
{
  for (int n = 2; n <= 8; n++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
      script_check(text_of("always", n, types[t], products[_i]));
}
END_TEST

START_TEST(bytes)
{
  for (int n = 2; n <= 8; n++) {
    double looped = script_bytes(text_of("always", n, "f32", products[_i]));
    ck_assert_double_eq_tol(looped, script_bytes(text_of("never", n, "f32", products[_i])), 0.01);
    ck_assert_int_eq(script_steps(text_of("always", n, "f32", products[_i]), "all-gather"), 0);
    ck_assert_int_eq(script_steps(text_of("always", n, "f32", products[_i]), "reduce-scatter"), 0);
    ck_assert_int_gt(script_steps(text_of("never", n, "f32", products[_i]), "all-gather")
                         + script_steps(text_of("never", n, "f32", products[_i]), "reduce-scatter"), 0);
  }
}
END_TEST

/* Inside of a loop, two in a row, and with dims cut unevenly by other axes. */
START_TEST(among_others)
{
  script_check(":set follow completed\n:set looped_einsum always\nmesh(x=4, y=3)\n"
               "w = shard(input(f32[8, 8], pattern(2)), [-1, y])\n"
               "y = loop(3, fn(i, c) { d = shard(c, [x, -1]) @ w\n shard(d * 0.1, [x, -1]) }, "
               "shard(input(f32[16, 8], pattern(1)), [x, -1]))\n");
  script_check(":set follow completed\n:set looped_einsum always\nmesh(x=4, y=3)\n"
               "a = shard(input(f32[16, 7], pattern(1)), [x, -1])\n"
               "w = shard(input(f32[7, 10], pattern(2)), [-1, y])\nv = shard(input(f32[10, 8], pattern(3)), [y, -1])\n"
               "h = shard(a @ w, [-1, y])\ny = shard(h @ v, [x, -1])\n");
}
END_TEST

/* Without a profile of the machine nothing says that a loop is faster. */
START_TEST(automatic)
{
  const char *product = products[0];
  ck_assert_int_eq(script_steps(text_of("auto", 4, "f32", product), "all-gather"), 1);
}
END_TEST

RUN_TESTS("looped",
  tcase_add_loop_test(cases, values, 0, PRODUCTS);
  tcase_add_loop_test(cases, bytes, 0, PRODUCTS);
  tcase_add_test(cases, among_others);
  tcase_add_test(cases, automatic);
)
