/* tests/unit/check_transform.c - Fourier transforms, cholesky and triangular_solve in parts. */
#include <config.h>

#include <stdio.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

struct plan { double most; const char *text; };

static const struct plan transforms[] = {
  /* Along a cut dim alone: three all-to-alls of a part, not a gather. */
  { 3 * 7.0 / 8 * 128 * 8, "mesh(x=8)\na = shard(input(c64[1024]), [x])\ny = shard(fft(a), [x])\n" },
  { 3 * 7.0 / 8 * 128 * 8, "mesh(x=8)\na = shard(input(c64[1024]), [x])\ny = shard(ifft(a), [x])\n" },
  { 3 * 2.0 / 3 * 9 * 16, "mesh(x=3)\na = shard(input(c128[27]), [x])\ny = shard(fft(a), [x])\n" },
  { 3 * 7.0 / 8 * 128 * 8, "mesh(x=8)\na = shard(input(f32[1024]), [x])\ny = shard(fft(a), [x])\n" },
  { 3 * 3.0 / 4 * 64 * 8, "mesh(y=2, x=4)\na = shard(input(c64[2,256]), [y, x])\ny = shard(fft(a), [y, x])\n" },
  /* Parts that do not divide into parts: gathered. */
  { 3 * 5 * 8, "mesh(x=4)\na = shard(input(c64[20]), [x])\ny = shard(fft(a), [x])\n" },
  { 3 * 3 * 8, "mesh(x=4)\na = shard(input(c64[10]), [x])\ny = shard(fft(a), [x])\n" },
  /* Where another dim can take the axis two all-to-alls do. */
  { 2 * 3.0 / 4 * 64 * 8, "mesh(x=4)\na = shard(input(c64[16,16]), [x,-1])\ny = shard(fft(a, dims=[0]), [x,-1])\n" },
  { 0, "mesh(x=4)\na = shard(input(c64[16,16]), [x,-1])\ny = shard(fft(a, dims=[1]), [x,-1])\n" },
  /* Sizes change: the dim comes together. */
  { 1e9, "mesh(x=4)\na = shard(input(f32[64]), [x])\ny = shard(rfft(a), [x])\n" },
  { 1e9, "mesh(x=4)\na = shard(input(c64[33]), [x])\ny = shard(irfft(a), [x])\n" },
  { 1e9, "mesh(x=4)\na = shard(input(c64[3,64]), [-1,x])\ny = ifft(fft(a, dims=[0,1]), dims=[0,1]) - a\n" }
};

START_TEST(transforms_along_cut_dims)
{
  script_sends(transforms[_i].text, transforms[_i].most);
}
END_TEST

START_TEST(back_and_forth_is_nothing)
{
  script_check_zero("mesh(x=8)\na = shard(input(c64[512]), [x])\ny = abs(ifft(fft(a)) - a)\n");
}
END_TEST

static const char matrix[] =
  "mesh(x=4)\nm = input(f32[5,60,60], pattern(1))\n"
  "a = einsum(\"bij,bkj->bik\", m, m) + 60 * where(iota(s32[60,60], dim=0) == iota(s32[60,60], dim=1), 1.0, 0.0)\n";

/* Batches are cut, matrices come together; the result is checked by what it is for. */
START_TEST(matrices)
{
  char text[600];
  snprintf(text, sizeof text, "%sa = shard(a, [x, -1, -1])\nl = cholesky(a)\n"
           "y = abs(einsum(\"bij,bkj->bik\", l, l) - a) > 0.01\n", matrix);
  script_check_zero(text);
  snprintf(text, sizeof text, "%sa = shard(a, [-1, x, -1])\nb = input(f32[5,60,7])\n"
           "s = triangular_solve(cholesky(a), b)\ny = abs(cholesky(a) @ s - b) > 0.001\n", matrix);
  script_check_zero(text);
  snprintf(text, sizeof text, "%sa = shard(a, [x, -1, -1])\ny = shard(cholesky(a), [x, -1, -1])\n", matrix);
  script_check(text);
}
END_TEST

RUN_TESTS("transform",
  tcase_add_loop_test(cases, transforms_along_cut_dims, 0, (int)(sizeof transforms / sizeof *transforms));
  tcase_add_test(cases, back_and_forth_is_nothing);
  tcase_add_test(cases, matrices);
)
