/* tests/unit/check_window.c - convolutions and reductions over windows, along cut dims. */
#include <config.h>

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

#define COUNT(table) ((int)(sizeof table / sizeof *table))

/* Of x f32[2,H,W,4] by k f32[KH,KW,4,6]; halos wider than parts, parts without a window. */
static const char *const convolutions[] = {
  "conv(x, k, pad=\"same\", layout=\"NHWC,HWIO->NHWC\")", "conv(x, k, pad=\"valid\", layout=\"NHWC,HWIO->NHWC\")",
  "conv(x, k, stride=[2,1], pad=[[2,1],[0,3]], layout=\"NHWC,HWIO->NHWC\")",
  "conv(x, k, stride=[3,2], pad=\"same\", layout=\"NHWC,HWIO->NHWC\")",
  "conv(x, k, rhs_dilate=[2,1], pad=[[3,3],[1,1]], layout=\"NHWC,HWIO->NHWC\")",
  "conv(x, k, lhs_dilate=[2,3], pad=[[1,2],[2,0]], layout=\"NHWC,HWIO->NHWC\")",
  "conv(x, k, pad=[[-1,3],[2,-1]], layout=\"NHWC,HWIO->NHWC\")",
  "conv(transpose(x, [3,0,1,2]), k, pad=\"same\", layout=\"CNHW,HWIO->NCHW\")",
  "conv(x, k[:, :, :2, :], groups=2, pad=\"same\", layout=\"NHWC,HWIO->NHWC\")",
  "conv(x, k[:, :, :1, :4], groups=4, pad=\"same\", layout=\"NHWC,HWIO->NHWC\")",
  "reduce_window(x, \"sum\", [1,3,2,1], stride=[1,2,1,1], pad=\"same\")", "max_pool(x, [1,2,2,1], stride=[1,2,2,1])",
  "max_pool(x, [1,3,3,1], stride=[1,1,2,1], pad=\"same\")", "avg_pool(x, [1,2,3,1], stride=[1,2,1,1])",
  "reduce_window(x, \"max\", [1,2,2,1], stride=[1,1,1,1], pad=[[0,0],[3,1],[0,2],[0,0]])",
  "select_and_scatter(x, max_pool(x, [1,2,2,1], stride=[1,2,2,1]) * 0 + 1, [1,2,2,1], stride=[1,2,2,1])"
};
static const char *const operands[] = { "[-1, a, -1, -1]", "[-1, b, a, -1]", "[a, -1, b, -1]", "[-1, [a, b], -1, -1]",
                                        "[-1, -1, -1, a]", "[-1, a, -1, b]" };

START_TEST(all_cuts)
{
  static const int sizes[][2] = { { 12, 6 }, { 7, 5 } };
  static const char *const kernels[] = { "[-1, -1, -1, -1]", "[-1, -1, a, b]" };
  char text[600];
  for (int s = 0; s < 2; s++)
    for (int c = 0; c < COUNT(operands); c++)
      for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text, "mesh(a=2, b=3)\nx = shard(floor(input(f32[2,%d,%d,4]) * 8), %s)\n"
                 "k = shard(floor(input(f32[3,2,4,6], pattern(1)) * 8), %s)\ny = %s\n",
                 sizes[s][0], sizes[s][1], operands[c], kernels[k], convolutions[_i]);
        script_check(text);
      }
}
END_TEST

/* One and three spatial dims, and the gradient of a kernel, which sums over positions. */
static const char *const others[] = {
  "x = shard(input(f32[4,24,3]), [-1, a, -1])\ny = conv(x, input(f32[5,3,2]), pad=\"same\", layout=\"NXC,XIO->NXC\")",
  "x = shard(input(f32[1,6,7,5,2]), [-1, a, b, -1, -1])\ny = conv(x, input(f32[3,2,2,2,4]), pad=\"same\")",
  "x = shard(input(f32[2,12,8,3]), [-1, a, b, -1])\ng = shard(input(f32[2,12,8,5], pattern(1)), [-1, a, b, -1])\n"
  "y = conv(x, g, pad=[[1,1],[1,1]], layout=\"CHWN,IHWO->HWNC\")"
};

START_TEST(other_dims)
{
  char text[500];
  snprintf(text, sizeof text, "mesh(a=2, b=3)\n%s\n", others[_i]);
  script_check(text);
}
END_TEST

struct plan { double most; const char *text; };

static const struct plan plans[] = {
  /* One row from each side. */
  { 2 * 8 * 4 * 4, "x = shard(input(f32[1,16,8,4]), [-1, a, -1, -1])\n"
                   "y = conv(x, input(f32[3,3,4,4]), pad=\"same\", layout=\"NHWC,HWIO->NHWC\")" },
  { 0, "x = shard(input(f32[1,16,8,4]), [-1, a, -1, -1])\ny = max_pool(x, [1,2,2,1], stride=[1,2,2,1])" },
  { 8 * 4 * 4, "x = shard(input(f32[1,16,8,4]), [-1, a, -1, -1])\n"
               "y = shard(max_pool(x, [1,3,3,1], stride=[1,2,2,1], pad=\"same\"), [-1, a, -1, -1])" },
  { 0, "x = shard(input(f32[8,16,8,4]), [a, -1, -1, -1])\n"
       "y = conv(x, input(f32[3,3,4,4]), pad=\"same\", layout=\"NHWC,HWIO->NHWC\")" },
  { 0, "x = shard(input(f32[8,16,8,4]), [a, -1, -1, -1])\nu = max_pool(x, [1,2,2,1], stride=[1,2,2,1])\n"
       "y = select_and_scatter(x, u, [1,2,2,1], stride=[1,2,2,1])" },
  /* Input features: the results are summed. */
  { 3 / 4.0 * 4 * 4 * 16 * 4, "x = shard(input(f32[1,4,4,8]), [-1, -1, -1, a])\n"
    "y = shard(conv(x, shard(input(f32[1,1,8,16]), [-1,-1,a,-1]), layout=\"NHWC,HWIO->NHWC\"), [-1,-1,-1,a])" }
};

START_TEST(plan_sends)
{
  char text[400];
  snprintf(text, sizeof text, "mesh(a=4)\n%s\n", plans[_i].text);
  script_sends(text, plans[_i].most);
}
END_TEST

RUN_TESTS("window",
  tcase_add_loop_test(cases, all_cuts, 0, COUNT(convolutions));
  tcase_add_loop_test(cases, other_dims, 0, COUNT(others));
  tcase_add_loop_test(cases, plan_sends, 0, COUNT(plans));
)
