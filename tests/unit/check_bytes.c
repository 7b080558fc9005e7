/* tests/unit/check_bytes.c - what plans send where the obvious way sends more, each with its values. */
#include <config.h>

#include "tests/unit/run.h"
#include "tests/unit/script.h"

struct plan { double most; const char *text; };

static const struct plan plans[] = {
  /* Axes that make room go behind those that stay: an all-to-all each way. */
  { 2 * 1536, "mesh(x=4, y=2)\na = shard(input(c64[64,32]), [x,y])\ny = shard(fft(a, dims=[0]), [x,y])\n" },
  /* Windows: what gets smaller first, what gets larger last. */
  { 96, "mesh(x=2, y=4)\na = shard(input(f32[8,16]), [-1,x])\ny = shard(pad(a, [8,1], [8,7], value=0), [-1,x])\n" },
  { 24, "mesh(x=2, y=4)\na = shard(input(f32[8,16]), [-1,x])\ny = shard(a[0:2, 1:9], [-1,x])\n" },
  { 48, "mesh(x=2, y=2)\na = shard(input(f32[8,16]), [y,x])\ny = shard(a[3:5, 1:15], [y,x])\n" },
  { 80, "mesh(x=2, y=2, z=2)\na = shard(input(f32[12,20]), [z,x])\ny = pad(a, [8,6], [12,6], value=0)\n" },
  /* A dim nobody cuts takes the axis for a while. */
  { 384, "mesh(x=2, y=4)\na = shard(input(f32[8,2,16]), [-1,-1,y])\ny = shard(reshape(a, [8,32]), [-1,y])\n" },
  /* Heads take the axis of the dim that scores sum over: four all-to-alls. */
  { 4 * 3072, "mesh(x=2, y=4)\nq = shard(input(f32[4,16,8,16]), [x,-1,-1,y])\nk = shard(input(f32[4,16,8,16]), [x,-1,-1,y])\n"
              "s = exp(einsum(\"bsnd,btnd->bnst\", q, k))\ny = shard(einsum(\"bnst,btnd->bsnd\", s, q), [x,-1,-1,y])\n" },
  { 4 * 3072, "mesh(x=2, y=4)\nq = shard(input(f32[4,16,8,16]), [x,-1,-1,y])\nk = shard(input(f32[4,16,8,16]), [x,-1,-1,y])\n"
              "s = softmax(einsum(\"bsnd,btnd->bnst\", q, k) / 4, dim=3)\n"
              "y = einsum(\"bnst,btnd->bsnd\", s, shard(input(f32[4,16,8,16]), [x,-1,-1,y]))\n" },
  /* Where input and kernel want an axis in two places the larger has its way. */
  { 544, "mesh(x=2, y=4)\na = shard(input(f32[4,64,4]), [-1,y,-1])\nk = shard(input(f32[2,4,4]), [-1,-1,y])\n"
         "y = conv(a, k, stride=[1], pad=[[0,9]], layout=\"NXC,XIO->NXC\")\n" },
  /* An operand moved for one user is there for the others. */
  { 1152, "mesh(x=2, y=2)\na = shard(input(f32[24,24]), [x,-1])\nb = a * a\ny = shard((b @ b) @ a, [-1,-1])\n" },
  { 192 + 576, "mesh(x=2, y=2)\na = shard(input(f32[24,24]), [-1, [x,y]])\nb = shard(input(f32[24,24]), [[x,y], -1])\n"
               "y = shard((a + b) * a, [[x,y], -1])\n" }
};

START_TEST(no_more_than_needed)
{
  script_sends(plans[_i].text, plans[_i].most);
}
END_TEST

RUN_TESTS("bytes",
  tcase_add_loop_test(cases, no_more_than_needed, 0, (int)(sizeof plans / sizeof *plans));
)
