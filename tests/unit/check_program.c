/* tests/unit/check_program.c - what programs send, compute and hold; what the verifier refuses. */
#include <config.h>

#include "partition/profile.h"
#include "tests/unit/run.h"
#include "tests/unit/sketch.h"

#include <math.h>
#include <string.h>

/* The most any part sends, counted element by element. */
static double count_sends(int64_t parts, int64_t scale, int64_t offset, int64_t length, int npieces,
                          const struct gs_exchange_piece *pieces, const int64_t *blocks)
{
  double sent[16] = { 0 }, most = 0;
  for (int64_t q = 0; q < parts; q++)
    for (int64_t j = 0; j < length; j++)
      for (int k = 0; k < npieces; k++) {
        int64_t t = scale * q + offset + j - pieces[k].first;
        if (t < 0 || t >= pieces[k].count || t % pieces[k].divide != 0)
          continue;
        int64_t owner = (pieces[k].source + t / pieces[k].divide * pieces[k].step)
                        / blocks[pieces[k].operand];
        sent[owner] += owner != q;
      }
  for (int64_t p = 0; p < parts; p++)
    most = sent[p] > most ? sent[p] : most;
  return most;
}

static uint32_t next_random(uint32_t *state, uint32_t below)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % below;
}

/* A piece that stays inside of an operand of SIZE elements. */
static struct gs_exchange_piece random_piece(uint32_t *state, const int64_t blocks[2],
                                             int64_t parts)
{
  struct gs_exchange_piece p = { .operand = (int)next_random(state, 2) };
  int64_t size = blocks[p.operand] * parts;
  p.source = next_random(state, (uint32_t)size);
  p.step = (int64_t)next_random(state, 7) - 3;
  p.divide = 1 + next_random(state, 4);
  p.first = (int64_t)next_random(state, 20) - 5;
  int64_t room = p.step > 0 ? (size - 1 - p.source) / p.step : p.step < 0 ? p.source / -p.step : 5;
  int64_t steps = next_random(state, (uint32_t)room + 2);
  p.count = steps == 0 ? 0 : (steps - 1) * p.divide + 1 + next_random(state, (uint32_t)p.divide);
  return p;
}

START_TEST(exchange_is_exact)
{
  uint32_t state = 7;
  for (int i = 0; i < 20000; i++) {
    int64_t parts = 1 + next_random(&state, 9);
    int64_t blocks[2] = { 1 + next_random(&state, 7), 1 + next_random(&state, 7) };
    int npieces = 1 + (int)next_random(&state, 3);
    struct gs_exchange_piece pieces[3];
    for (int k = 0; k < npieces; k++)
      pieces[k] = random_piece(&state, blocks, parts);
    int64_t scale = (int64_t)next_random(&state, 12) - 3;
    int64_t offset = (int64_t)next_random(&state, 30) - 15;
    int64_t length = next_random(&state, 15);
    double got = gs_exchange_elements(parts, scale, offset, length, npieces, pieces, blocks);
    double want = count_sends(parts, scale, offset, length, npieces, pieces, blocks);
    ck_assert_msg(got == want, "case %d: %g, not %g", i, got, want);
    double most = 0;
    for (int64_t part = 0; part < parts; part++)
      most = fmax(most, gs_exchange_part_elements(parts, scale, offset, length, npieces, pieces, blocks, part));
    ck_assert_msg(most == want, "case %d: one of the parts %g, not %g", i, most, want);
  }
}
END_TEST

/* A halo of 3 on either side, whatever the number of parts. */
START_TEST(exchange_of_many_parts)
{
  int64_t block = 1000, parts = (int64_t)1 << 20;
  struct gs_exchange_piece all = { .count = block * parts, .step = 1, .divide = 1 };
  ck_assert_double_eq(gs_exchange_elements(parts, block, -3, block + 6, 1, &all, &block), 6);
  ck_assert_double_eq(gs_exchange_elements(1, block, -3, block + 6, 1, &all, &block), 0);
}
END_TEST

/* A program of an input f32[16,32] on x=2 y=4 and one more step. */
struct pair {
  struct sketch s;
  union gs_attrs attrs;
  int arg;
  struct gs_axis axes[2];
  struct gs_node *input;
  struct gs_step steps[2];
  struct gs_program_output output;
  struct gs_program program;
};

static void pair_init(struct pair *p, enum gs_op op, const char *from, const char *to,
                      const char *axes, int dim, int split)
{
  memset(p, 0, sizeof *p);
  sketch_init(&p->s, "x=2 y=4");
  p->input = sketch_input(&p->s, "16,32");
  for (const char *c = axes; *c != '\0'; c++)
    p->axes[p->attrs.device.naxes++] = gs_axis_whole(p->s.mesh, *c == 'x' ? 0 : 1);
  p->attrs.device.axes = p->axes;
  p->attrs.device.dim = dim;
  p->attrs.device.split_dim = split;
  p->attrs.device.reduce = GS_OP_SUM;
  p->steps[0] = (struct gs_step){ .op = GS_OP_INPUT, .attrs = p->input->attrs,
                                  .sharding = sketch_sharding(&p->s, from), .is_value = true };
  p->steps[1] = (struct gs_step){ .op = op, .nargs = 1, .args = &p->arg, .attrs = &p->attrs,
                                  .sharding = sketch_sharding(&p->s, to), .reason = "asked for" };
  for (int i = 0; i < 2; i++) {
    p->steps[i].node = p->input;
    p->steps[i].global = p->input->type;
    p->steps[i].type = gs_sharding_local(p->steps[i].sharding, &p->input->type);
  }
  p->attrs.device.from = op == GS_OP_PERMUTE ? p->steps[0].sharding : NULL;
  p->attrs.device.to = op == GS_OP_PERMUTE ? p->steps[1].sharding : NULL;
  p->output = (struct gs_program_output){ "y", 1, p->input };
  p->program = (struct gs_program){ p->s.mesh, 2, p->steps, 1, &p->output };
}

static const struct {
  enum gs_op op;
  const char *from, *to, *axes;
  int dim, split;
  int64_t group;
  double bytes;
} collectives[] = {
  { GS_OP_ALL_GATHER, "x,y", "x,-", "y", 1, 0, 4, 3 * 256 },
  { GS_OP_ALL_GATHER, "x,y", "-,y", "x", 0, 0, 2, 256 },
  { GS_OP_ALL_GATHER, "-,xy", "-,-", "xy", 1, 0, 8, 7 * 256 },
  { GS_OP_ALL_REDUCE, "-,-+y", "-,-", "y", 0, 0, 4, 1.5 * 2048 },
  { GS_OP_REDUCE_SCATTER, "-,-+y", "y,-", "y", 0, 0, 4, 0.75 * 2048 },
  { GS_OP_ALL_TO_ALL, "x,-", "-,x", "x", 0, 1, 2, 0.5 * 1024 },
  { GS_OP_PERMUTE, "xy,-", "yx,-", "", 0, 0, 8, 256 },
  { GS_OP_PERMUTE, "x,y", "x,y", "", 0, 0, 1, 0 },
  { GS_OP_SHARD_SLICE, "-,-", "-,y", "y", 1, 0, 1, 0 },
};

START_TEST(collective_bytes)
{
  struct pair p;
  pair_init(&p, collectives[_i].op, collectives[_i].from, collectives[_i].to, collectives[_i].axes,
            collectives[_i].dim, collectives[_i].split);
  ck_assert_pstr_eq(gs_program_verify(p.s.arena, &p.program), NULL);
  ck_assert_int_eq(gs_step_group_size(&p.steps[1]), collectives[_i].group);
  ck_assert_double_eq_tol(gs_step_bytes(&p.program, &p.steps[1]), collectives[_i].bytes, 1e-9);
  sketch_finish(&p.s);
}
END_TEST

/* Every device gets the block that the new sharding wants, from one that has it. */
START_TEST(permute_sources)
{
  struct pair p;
  pair_init(&p, GS_OP_PERMUTE, "xy,-", "yx,-", "", 0, 0);
  const struct gs_sharding *from = p.attrs.device.from, *to = p.attrs.device.to;
  bool given[8] = { false };
  for (int64_t at = 0; at < 8; at++) {
    int64_t source = gs_permute_source(&p.steps[1], p.s.mesh, at);
    ck_assert_int_eq(gs_mesh_part(p.s.mesh, from->dims[0].axes, from->dims[0].naxes, source),
                     gs_mesh_part(p.s.mesh, to->dims[0].axes, to->dims[0].naxes, at));
    ck_assert(!given[source]);
    given[source] = true;
  }
  sketch_finish(&p.s);
}
END_TEST

/* Ways to break a program; each must be noticed. */
static void bad_operand(struct pair *p) { p->arg = 1; }
static void bad_axis(struct pair *p) { p->axes[0].axis = 9; }
static void bad_sub_axis(struct pair *p) { p->axes[0].size = 3; }
static void bad_dim(struct pair *p) { p->attrs.device.dim = 2; }
static void bad_shape(struct pair *p) { p->steps[1].type.dims[0] = 9; }
static void bad_count(struct pair *p) { p->steps[1].nargs = 2; }
static void bad_reason(struct pair *p) { p->steps[1].reason = NULL; }
static void bad_local(struct pair *p) { p->steps[0].type.dims[1] = 32; }
static void bad_node(struct pair *p) { p->steps[1].node = NULL; }
static void bad_sharding(struct pair *p) { p->steps[1].sharding = NULL; }
static void bad_output(struct pair *p) { p->output.step = 2; }
static void bad_partial(struct pair *p) { p->steps[1].sharding = sketch_sharding(&p->s, "x,-+y"); }
static void (*const breaks[])(struct pair *) = {
  bad_operand, bad_axis, bad_sub_axis, bad_dim, bad_shape, bad_count, bad_reason, bad_local,
  bad_node, bad_sharding, bad_output, bad_partial
};

START_TEST(verifier_refuses)
{
  struct pair p;
  pair_init(&p, GS_OP_ALL_GATHER, "x,y", "x,-", "y", 1, 0);
  ck_assert_pstr_eq(gs_program_verify(p.s.arena, &p.program), NULL);
  breaks[_i](&p);
  ck_assert_ptr_nonnull(gs_program_verify(p.s.arena, &p.program));
  sketch_finish(&p.s);
}
END_TEST

/* x [x, -] @ w [-, y]: nothing to send, an eighth of the work each. */
START_TEST(totals_of_matmul)
{
  struct sketch s;
  struct gs_program_totals t;
  sketch_init(&s, "x=2 y=4");
  struct gs_node *x = sketch_shard(&s, sketch_input(&s, "16,32"), "x,-");
  struct gs_node *w = sketch_shard(&s, sketch_input(&s, "32,64"), "-,y");
  struct gs_node *y = sketch_einsum(&s, "bm,mh->bh", x, w);
  struct gs_plan *plan = sketch_plan(&s, sketch_apply(&s, GS_OP_MAX, y, y), false);
  ck_assert_pstr_eq(gs_program_verify(s.arena, plan->program), NULL);
  gs_program_total(s.arena, plan->program, &t);
  ck_assert_double_eq(t.bytes, 0);
  ck_assert_int_eq(t.collectives, 0);
  ck_assert_double_eq(t.flops, 2 * 8 * 32 * 16 + 8 * 16);
  ck_assert_double_eq(t.whole_flops, 8 * t.flops);
  /* Both inputs stay; the product and the maximum are alive at once. */
  ck_assert_int_eq(t.peak_memory, 4 * (8 * 32 + 32 * 16 + 2 * 8 * 16));
  ck_assert_double_eq(t.padding, 0);
  ck_assert_double_eq_tol(t.time, t.flops / 1e12, 1e-18);
  sketch_finish(&s);
}
END_TEST

/* 5 rows in 4 parts of 2: 3 of 8 rows are padding, in the input and in the result. */
START_TEST(totals_with_padding)
{
  struct sketch s;
  struct gs_program_totals t;
  sketch_init(&s, "x=2 y=4");
  struct gs_node *x = sketch_shard(&s, sketch_input(&s, "5,32"), "y,-");
  struct gs_plan *plan = sketch_plan(&s, sketch_apply(&s, GS_OP_NEG, x, NULL), false);
  gs_program_total(s.arena, plan->program, &t);
  ck_assert_double_eq_tol(t.padding, 0.375, 1e-12);
  sketch_finish(&s);
}
END_TEST

START_TEST(profiles)
{
  struct gs_mesh mesh = { 0 };
  ck_assert_str_eq(gs_profile_of_mesh(&mesh)->name, "generic");
  for (int i = 0; gs_profile_at(i) != NULL; i++) {
    mesh.profile = gs_profile_at(i)->name;
    ck_assert_ptr_eq(gs_profile_of_mesh(&mesh), gs_profile_at(i));
    ck_assert(gs_profile_at(i)->link_bandwidth > 0 && gs_profile_at(i)->flops_wide > 0);
  }
  ck_assert_ptr_null(gs_profile_find("abacus"));
  mesh.profile = "abacus";
  ck_assert_ptr_eq(gs_profile_of_mesh(&mesh), gs_profile_at(0));
}
END_TEST

RUN_TESTS("program",
  tcase_add_test(cases, exchange_is_exact);
  tcase_add_test(cases, exchange_of_many_parts);
  tcase_add_loop_test(cases, collective_bytes, 0, sizeof collectives / sizeof *collectives);
  tcase_add_test(cases, permute_sources);
  tcase_add_loop_test(cases, verifier_refuses, 0, sizeof breaks / sizeof *breaks);
  tcase_add_test(cases, totals_of_matmul);
  tcase_add_test(cases, totals_with_padding);
  tcase_add_test(cases, profiles);
)
