/* tests/unit/check_index.c - gather, scatter and what is said with them: values against the same said
 * otherwise, on every cut, and what plans send.
 */
#include <config.h>

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

/* Over the mesh a=2, b=3: x of f32[X0,X1] cut in some way, k of s32[5], r of s32[X0] cut or not, both with
 * elements from 0 to X0-1, s a scalar of them.  y is zero. */
static const char *const identities[] = {
  "y = take(x, k, 0) - einsum(\"nk,km->nm\", one_hot(k, X0), x)",
  "y = x[k] - take(x, k, 0)",
  "y = take(x, k + X0, 0) - expand(x[X0 - 1], 0)",
  "y = take(x, k - X0, 0) - expand(x[0], 0)",
  "u = pattern(f32[5,X1], 2)\ny = scatter(x, k, u, \"add\") - x - einsum(\"nk,nm->km\", one_hot(k, X0), u)",
  "u = pattern(f32[5,X1], 2)\ny = scatter(x, k + X0, u, \"add\") - x",
  "h = einsum(\"nk->k\", one_hot(k, X0))\ny = scatter(zeros(f32[X0]), k, 1, \"add\") - h",
  "h = einsum(\"nk->k\", one_hot(k, X0))\n"
  "y = scatter(ones(f32[X0]), k, 2, \"mul\") - exp(h * log(full(f32[], 2)))",
  "h = einsum(\"nk->k\", one_hot(k, X0)) > 0.5\n"
  "y = scatter(full(f32[X0], -1), k, 3, \"max\") - where(h, 3.0, -1.0)",
  "h = einsum(\"nk->k\", one_hot(k, X0)) > 0\ny = scatter(zeros(f32[X0]), k, 3, \"set\") - where(h, 3.0, 0.0)",
  "y = scatter(x, iota(s32[X0], dim=0), x, \"add\") - 2 * x",
  "y = scatter(x, iota(s32[X0], dim=0), x * 2, \"set\") - 2 * x",
  "c = take_along(x, reshape(r, [X0, 1]) % X1, 1)\n"
  "y = c - sum(x * one_hot(r % X1, X1), dim=1, keep=true)",
  "i = stack([iota(s32[X0], dim=0), r % X1], 1)\n"
  "c = gather(x, i, offset_dims=[], collapsed=[0, 1], index_map=[0, 1], sizes=[1, 1])\n"
  "y = c - sum(x * one_hot(r % X1, X1), dim=1)",
  "i = stack([r % X1, iota(s32[X0], dim=0)], 0)\n"
  "c = scatter(x, i, ones(f32[X0]), \"add\", inserted=[0, 1], index_map=[1, 0], index_vector_dim=0)\n"
  "y = c - x - one_hot(r % X1, X1)",
  "c = gather(x, reshape(k, [5, 1]), offset_dims=[1, 2], collapsed=[], index_map=[0], sizes=[1, X1])\n"
  "y = squeeze(c, 1) - x[k]",
  "y = dynamic_slice(x, [s, 0], [1, X1]) - take(x, reshape(s, [1]), 0)",
  "y = dynamic_slice(x, [s + X0, 0], [1, X1]) - x[X0 - 1:]",
  "y = dynamic_slice(x, [s, s], [X0, X1]) - x",
  "i = iota(s32[X0, 1], dim=0) == s\n"
  "y = dynamic_update(x, full(f32[1, X1], 7), [s, 0]) - where(broadcast(i, [X0, X1]), 7, x)",
  "y = dynamic_update(x, x, [s, s]) - x",
  "y = dynamic_update(x, x[1:], [s + X0, 0])[1:] - x[1:]",
  "z = shard(x[:1], [[a, b], -1])\n"
  "c = gather(z, zeros(s32[5,0]), offset_dims=[1], collapsed=[0], index_map=[], sizes=[1, X1])\ny = c - z",
  "c = scatter(x, reshape(k, [5, 1]), ones(f32[5,X0,X1]), \"add\", window_dims=[1, 2], inserted=[], index_map=[0])\n"
  "y = c - x - sum(convert(k == 0, f32))",
  "c = scatter(x, reshape(k, [5, 1]), ones(f32[5,2,X1]), \"add\", window_dims=[1, 2], inserted=[], index_map=[0])\n"
  "i = expand(k, 0)\nr = iota(s32[X0,5], dim=0)\n"
  "y = c - x - sum(convert((r >= i) and (r < i + 2) and (i + 2 <= X0), f32), dim=1, keep=true)",
  "i = reshape(r % X1, [1, X0])\n"
  "c = gather(x, i, offset_dims=[], collapsed=[1], index_map=[1], sizes=[1, 1], operand_batch=[0], indices_batch=[1],"
  " index_vector_dim=0)\n"
  "y = c - sum(x * one_hot(r % X1, X1), dim=1)",
  "y = x[:, iota(s32[X1], dim=0)] - x",
  "i = iota(s32[X0, 1], dim=0)\ny = x[i, iota(s32[1, X1], dim=1)] - x",
};

static const int shapes[][2] = { { 6, 6 }, { 5, 7 }, { 2, 3 }, { 13, 2 } };
static const char *const cuts[][2] = {
  { "[-1, -1]", "[a]" }, { "[a, b]", "[-1]" }, { "[[a, b], -1]", "[b]" }, { "[-1, [b, a]]", "[[a, b]]" },
};

START_TEST(identity)
{
  char text[1400];
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
      snprintf(text, sizeof text,
               "mesh(a=2, b=3)\nX0 = %d\nX1 = %d\nx = shard(input(f32[X0,X1]), %s)\n"
               "k = shard(input(s32[5]) %% X0, %s)\nr = shard(input(s32[X0]) %% X0, %s)\n"
               "s = input(s32[4])[2] %% X0\n%s\n",
               shapes[s][0], shapes[s][1], cuts[c][0], cuts[c][1], cuts[c][1], identities[_i]);
      script_check_zero(text);
    }
}
END_TEST

/* The last of several updates of one position stays. */
START_TEST(last_update_stays)
{
  script_check_zero("mesh(d=3)\nx = shard(zeros(f32[5]), [d])\nu = shard(iota(f32[7], dim=0), [d])\n"
                    "k = shard(tensor([1, 4, 1, 4, 0, 4, 1], dtype=s32), [d])\n"
                    "y = scatter(x, k, u, \"set\") - tensor([4, 6, 0, 0, 5])\n");
}
END_TEST

static const struct { const char *text; double bytes; } plans[] = {
  /* An index vector that falls into another part is nobody's business there. */
  { "x = shard(input(f32[16,8]), [d, -1])\ny = shard(scatter(x, input(s32[6]), input(f32[6,8]), \"set\"), [d, -1])", 0 },
  { "x = shard(input(f32[16,8]), [d, -1])\ny = shard(dynamic_update(x, input(f32[3,8]), [0, 0]), [d, -1])", 0 },
  { "x = shard(input(f32[16,8]), [-1, d])\ny = x[input(s32[6])]", 0 },
  { "x = input(f32[16,8])\ny = x[shard(input(s32[8]), [d])]", 0 },
  /* One row of a stack: a sum of nothing and of one. */
  { "x = shard(input(f32[16,8]), [d, -1])\ny = shard(x[input(s32[1])[0]], [-1])", 2 * 0.75 * 32 },
  { "x = shard(input(f32[16,8]), [d, -1])\ny = shard(x[input(s32[1])[0]], [d])", 0.75 * 32 },
  /* The small table comes to the indices, or the few results are summed. */
  { "x = shard(input(f32[16,8]), [d, -1])\ny = shard(x[shard(input(s32[512]), [d])], [d, -1])", 3 * 128 },
  { "x = shard(input(f32[512,8]), [d, -1])\ny = shard(x[shard(input(s32[4]), [-1])], [d, -1])", 0.75 * 128 },
  /* Slices with equal steps, counting indices. */
  { "x = shard(input(f32[8,8]), [-1, d])\ny = shard(x[[1, 3, 5]], [-1, d])", 0 },
  { "x = shard(input(f32[8,8]), [d, -1])\ny = x[iota(s32[8], dim=0), input(s32[8]) % 8]", 0 },
  { "x = shard(input(f32[8,8]), [d, -1])\ny = take_along(x, argmax(x, dim=1, keep=true), 1)", 0 },
  { "y = one_hot(shard(input(s32[8]), [d]), 10)", 0 },
  /* A dim of one element in several parts: only the first has it. */
  { "x = shard(input(f32[16,1,24]), [-1, [d], -1])\ny = gather(x, input(s32[1,2,1]) % 9, offset_dims=[0], "
    "collapsed=[1, 2], index_map=[2], sizes=[16, 1, 1])", 1e9 },
};

START_TEST(plan_sends)
{
  char text[512];
  snprintf(text, sizeof text, "mesh(d=4)\n%s\n", plans[_i].text);
  script_sends(text, plans[_i].bytes);
}
END_TEST

#define COUNT(table) ((int)(sizeof table / sizeof *table))

RUN_TESTS("index",
  tcase_add_loop_test(cases, identity, 0, COUNT(identities));
  tcase_add_test(cases, last_update_stays);
  tcase_add_loop_test(cases, plan_sends, 0, COUNT(plans));
)
