/* tests/unit/check_pains.c - what people met with other systems: wrong numbers, crashes, needless traffic.
 *
 * Each case is a program that gives z, what z has to be, and the bytes that a device needs to send at most.
 */
#include <config.h>

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

#define ANY 1e9

struct pain { const char *program, *right; double most; };

static const struct pain values[] = {
  /* Starts are clamped by the whole size, not by a part's. */
  { "mesh(a=2)\nx = shard(reshape(iota(f32[16], dim=0), [2,8]), [-1,a])\nk = input(s32[1])[0] * 0 + 7\n"
    "z = shard(dynamic_slice(x, [0, k], [2,6]), [-1,a])",
    "tensor([[2,3,4,5,6,7],[10,11,12,13,14,15]])", ANY },
  { "mesh(a=2)\nx = shard(reshape(iota(f32[4], dim=0), [2,2]), [-1,a])\nk = input(s32[1])[0] * 0 + 2\n"
    "z = shard(dynamic_update(x, full(f32[2,1], 99), [0, k]), [-1,a])", "tensor([[0,99],[2,99]])", 0 },
  { "mesh(a=4)\nx = shard(iota(f32[16], dim=0), [a])\nk = input(s32[1])[0] * 0 - 3\n"
    "z = shard(dynamic_update(x, full(f32[2], 99), [k]), [a])",
    "concat([tensor([99,99]), iota(f32[14], dim=0) + 2], 0)", 0 },
  /* All rows up by one, the last one set. */
  { "mesh(a=8)\nx = shard(iota(f32[16,16], dim=0), [a,-1])\nz = shard(concat([x[1:,:], full(f32[1,16], 99)], 0), [a,-1])",
    "iota(f32[16,16], dim=0) + 1 + where(iota(s32[16,16], dim=0) == 15, 83.0, 0.0)", 64 },
  { "mesh(a=2, b=4)\nx = shard(iota(f32[16,16], dim=0), [a,b])\n"
    "z = shard(concat([x[1:,:], full(f32[1,16], 99)], 0), [a,b])",
    "iota(f32[16,16], dim=0) + 1 + where(iota(s32[16,16], dim=0) == 15, 83.0, 0.0)", 16 },
  /* Copies along an axis that cuts nothing are not summed. */
  { "mesh(a=4, b=2)\nz = concat([shard(full(f32[4], 1), [a]), shard(full(f32[12], 1), [a])], 0)", "full(f32[16], 1)", ANY },
  { "mesh(a=4, b=2)\nz = shard(cumsum(shard(full(f32[8,64], 1), [a,b]), 1), [a,b])", "iota(f32[8,64], dim=1) + 1", 8 },
  /* Positions are those in the whole; of equals the first. */
  { "mesh(a=2)\nz = convert(argmax(shard(tensor([10,5,3,8]), [a]), dim=0), f32)", "0.0", 8 },
  { "mesh(a=2)\nx = shard(tensor([[1,7,2,7,7,0,7,3]]), [-1,a])\nz = convert(argmax(x, dim=1), f32)", "full(f32[1], 1)", 8 },
  { "mesh(a=4)\nx = shard(full(f32[10], 3), [a])\nz = convert(argmin(x, dim=0), f32)", "0.0", 24 },
  { "mesh(a=2)\nz = mean(shard(reshape(iota(f32[12], dim=0), [3,4]), [a,-1]))", "5.5", 8 },
  { "mesh(a=2)\nz = mean(shard(reshape(iota(f32[4], dim=0), [1,4]), [a,-1]))", "1.5", 8 },
  /* Sums come before what is not linear. */
  { "mesh(a=2)\nx = shard(tensor([3, -5]), [a])\nz = abs(sum(x))", "2.0", 4 },
  { "mesh(a=2)\nx = shard(tensor([3, -5]), [a])\nz = max(expand(sum(x), 0), dim=0) + sqrt(sum(x) * sum(x))", "0.0", 4 },
  { "mesh(a=2)\nx = shard(full(f32[4,6], 1), [-1,a])\nw = shard(full(f32[6,3], 1), [a,-1])\nz = x @ w + full(f32[3], 10)",
    "full(f32[4,3], 16)", 48 },
  /* Parts of 2, 1, 1, 1 rows: nothing is lost on the way back. */
  { "mesh(a=2, b=2)\nx = shard(iota(f32[5,3], dim=0), [[a,b],-1])\nz = shard(x, [-1,-1])", "iota(f32[5,3], dim=0)", 72 },
  { "mesh(a=4)\nx = shard(iota(f32[5,10], dim=0), [a,-1])\nz = shard(x + 0, [-1,-1])", "iota(f32[5,10], dim=0)", 240 },
  { "mesh(a=2, b=2)\nx = shard(reshape(iota(f32[16], dim=0), [4,4]), [-1,[a,b]])\n"
    "w = shard(reshape(iota(f32[16], dim=0), [4,4]), [[b,a],-1])\nz = (x @ w)[0]", "tensor([56,62,68,74])", ANY },
  { "mesh(a=2)\nx = shard(full(f32[16], -1), [a])\nv = iota(f32[16], dim=0)\nz = scatter(x, iota(s32[16], dim=0), v, \"set\")",
    "iota(f32[16], dim=0)", 0 },
  /* Rows that two parts add to, cut by the same axis as the indices. */
  { "mesh(a=2)\ni = shard(tensor([1,6], dtype=s32), [a])\nu = shard(full(f32[2,3], 1), [a,-1])\n"
    "z = shard(scatter(zeros(f32[8,3]), i, u, \"add\"), [a,-1])",
    "where(iota(s32[8,3], dim=0) == 1 or iota(s32[8,3], dim=0) == 6, 1.0, 0.0)", 48 },
  { "mesh(a=2, b=2)\nx = shard(full(f32[4,8], 1), [-1,[a,b]])\nw = shard(full(f32[8,4], 1), [[a,b],-1])\n"
    "z = shard(x @ w, [a,-1])", "full(f32[4,4], 8)", 64 },
  { "mesh(a=2)\nx = shard(reshape(iota(f32[64], dim=0), [4,4,4]), [-1,a,-1])\nz = shard(reshape(x, [8,8]), [a,-1])",
    "reshape(iota(f32[64], dim=0), [8,8])", 64 },
  { "mesh(a=4)\nx = shard(iota(f32[2,24], dim=1), [-1,a])\nq, k, v = split(x, 3, 1)\nz = q + 100 * k + 10000 * v",
    "iota(f32[2,8], dim=1) * 10101 + 160800", ANY }
};

/* What others refuse, or crash at. */
static const struct pain refused_elsewhere[] = {
  { "mesh(a=2)\nx = shard(convert(tensor([[[1,3]]]), c64), [-1,-1,a])\nz = real(fft(x))", "tensor([[[4,-2]]])", 8 },
  { "mesh(a=2)\nx = shard(convert(tensor([1,3,5,7]), c128), [a])\nz = convert(real(shard(fft(x), [a])), f32)",
    "tensor([16,-4,-4,-4])", 96 },
  { "mesh(a=2)\nx = shard(full(f32[8,8], 1), [a,-1])\nz = transpose(x, [1,0]) @ x", "full(f32[8,8], 8)", 256 },
  { "mesh(a=6)\nx = shard(reshape(iota(f32[96], dim=0), [12,8]), [a,-1])\nz = shard(reshape(x, [16,6]), [-1,a])",
    "reshape(iota(f32[96], dim=0), [16,6])", ANY },
  { "mesh(a=4)\nx = shard(iota(f32[32,64], dim=1), [a,-1])\nv, p = top_k(x, 50)\nz = v + convert(p, f32)",
    "126 - 2 * iota(f32[32,50], dim=1)", 0 }
};

/* What others send, and need not. */
static const struct pain plans[] = {
  { "mesh(a=8)\nx = shard(input(f32[8,64]), [a,-1])\nv, p = top_k(x, 4)\nz = v", NULL, 0 },
  { "mesh(a=4)\nz = abs(fft(shard(input(c64[8,16]), [a,-1]), dims=[1]))", NULL, 0 },
  { "mesh(a=4)\nx = shard(input(f32[8,3]), [a,-1])\nz = dynamic_update(x, input(f32[3,3], pattern(1)), [0,0])", NULL, 0 },
  { "mesh(a=4)\nx = shard(input(f32[8,3]), [a,-1])\nz = scatter(x, [0,1,2], input(f32[3,3], pattern(1)), \"set\")", NULL, 0 },
  { "mesh(a=4)\nz = reshape(shard(input(f32[8,6]), [a,-1]), [2,4,6])", NULL, 0 },
  { "mesh(a=4)\nx = shard(input(f32[2,8,4]), [-1,a,-1])\nz = shard(reshape(x, [16,4]), [a,-1])", NULL, 2 * 48 },
  { "mesh(a=4, b=2)\nx = shard(input(f32[8,6]), [a,-1])\nw = shard(input(f32[6,8]), [-1,b])\nz = transpose(x @ w, [1,0])",
    NULL, 0 },
  { "mesh(a=2, b=4)\nx = shard(input(f32[16,16]), [[a,b],-1])\nz = shard(x, [a,b])", NULL, 0.75 * 128 },
  { "mesh(a=4, b=2)\nx = shard(input(f32[16,16,16]), [b,-1,a])\nz = shard(x, [-1,[a,b],-1])", NULL, 3 * 2048 },
  { "mesh(a=2, b=4)\nx = shard(input(f32[8,8,8]), [[a,b],-1,-1])\nz = shard(x, [-1,a,b])", NULL, (0.5 + 0.75) * 256 },
  { "mesh(a=2, b=4)\nx = shard(input(f32[8,8,8]), [-1,[a,b],-1])\nz = shard(x, [a,-1,b])", NULL, (0.5 + 0.75) * 256 },
  { "mesh(a=2, b=4)\nx = shard(input(f32[8,8,8]), [-1,[a,b],-1])\nz = shard(x, [a,-1,-1])", NULL, 7.0 / 8 * 256 + 3 * 256 },
  /* Lookups keep the cut of their indices. */
  { "mesh(d=2, v=4)\nt = shard(input(f32[64,8]), [v,-1])\nz = t[shard(input(s32[16]), [d]) % 64]", NULL, 2 * 0.75 * 256 },
  { "mesh(a=8)\nx = shard(input(f32[64,32]), [a,-1])\ng = shard(input(f32[64,16]), [a,-1])\n"
    "z = shard(transpose(x, [1,0]) @ g, [a,-1])", NULL, 7.0 / 8 * 32 * 16 * 4 },
  { "mesh(a=8)\nz = shard(input(f32[17,4]), [a,-1]) + 1", NULL, 0 },
  /* Interior padding and strides: neighbours' elements only. */
  { "mesh(a=4)\nz = shard(pad(shard(input(f32[16]), [a]), [0], [0], interior=[1], value=0), [a])", NULL, 12 },
  { "mesh(a=4)\nz = shard(shard(input(f32[16]), [a])[0:16:3], [a])", NULL, 12 }
};

static void check(const struct pain *p)
{
  char text[800];
  snprintf(text, sizeof text, "%s\ny = z\n", p->program);
  script_sends(text, p->most);
  if (p->right == NULL)
    return;
  snprintf(text, sizeof text, "%s\ny = z - (%s)\n", p->program, p->right);
  script_check_zero(text);
}

START_TEST(right_numbers)
{
  check(&values[_i]);
}
END_TEST

START_TEST(no_refusals)
{
  check(&refused_elsewhere[_i]);
}
END_TEST

START_TEST(no_needless_traffic)
{
  check(&plans[_i]);
}
END_TEST

/* Data that a wrong identity, or padding, would show in; sizes that do not divide. */
static const char *const reductions[] = {
  "y = sum(x)", "y = max(x - 50, dim=0)", "y = min(x + 50, dim=0)", "y = prod(x * 0 + 2)", "y = mean(x)",
  "y = argmin(x, dim=0)", "y = argmax(x - 50, dim=0)", "y = softmax(x, dim=0)", "y = logsumexp(x, dim=0)",
  "y = cumsum(x, 0)", "y = cumprod(x * 0 + 2, 0)", "y = cummax(x - 50, 0)", "y = cummin(x + 50, 0)", "y = reverse(x, [0])",
  "y = concat([x, x * 2], 0)", "y = sort(x, 0)", "y = roll(x, 3, 0)", "y = all(x > -99)", "y = any(x > 99)"
};

START_TEST(uneven_reductions)
{
  static const int sizes[] = { 1, 3, 9, 10, 17 }, devices[] = { 3, 4, 8 };
  char text[200];
  for (int s = 0; s < 5; s++)
    for (int d = 0; d < 3; d++) {
      snprintf(text, sizeof text, "mesh(a=%d)\nx = shard(input(f32[%d]), [a])\n%s\n", devices[d], sizes[s],
               reductions[_i]);
      script_check(text);
    }
}
END_TEST

#define COUNT(table) ((int)(sizeof table / sizeof *table))

RUN_TESTS("pains",
  tcase_add_loop_test(cases, right_numbers, 0, COUNT(values));
  tcase_add_loop_test(cases, no_refusals, 0, COUNT(refused_elsewhere));
  tcase_add_loop_test(cases, no_needless_traffic, 0, COUNT(plans));
  tcase_add_loop_test(cases, uneven_reductions, 0, COUNT(reductions));
)
