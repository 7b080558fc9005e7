/* tests/unit/check_partition.c - completion, the choice of strategies, the steps that come out. */
#include <config.h>

#include "tests/unit/run.h"
#include "tests/unit/sketch.h"

static struct sketch s;

static void setup(void)
{
  sketch_init(&s, "x=2 y=4");
}

static void teardown(void)
{
  sketch_finish(&s);
}

START_TEST(elementwise_merges_both_ways)
{
  struct gs_node *a = sketch_input(&s, "16,32"), *b = sketch_input(&s, "16,32");
  struct gs_node *sum = sketch_apply(&s, GS_OP_ADD, sketch_shard(&s, a, "x,?"), sketch_shard(&s, b, "?,y"));
  struct gs_plan *p = sketch_plan(&s, sum, true);
  ck_assert_str_eq(sketch_completed(&s, p, sum), "[x, y]");
  ck_assert_str_eq(sketch_completed(&s, p, a), "[x, y]");
  ck_assert_double_eq(sketch_bytes(&s, p), 0);
}
END_TEST

START_TEST(closed_dims_stay)
{
  struct gs_node *a = sketch_input(&s, "16,32"), *b = sketch_input(&s, "16,32");
  struct gs_node *closed = sketch_shard(&s, a, "x,-");
  struct gs_plan *p = sketch_plan(&s, sketch_apply(&s, GS_OP_ADD, closed, sketch_shard(&s, b, "-,y")), true);
  ck_assert_str_eq(sketch_completed(&s, p, closed), "[x, -]");
}
END_TEST

START_TEST(uneven_cuts_are_not_invented)
{
  struct gs_node *a = sketch_shard(&s, sketch_input(&s, "16,32"), "y,-");
  struct gs_node *part = gs_build_slice(&s.graph, (struct gs_span){ 0 }, a, (int64_t[]){ 1, 0 },
                                        (int64_t[]){ 8, 32 }, (int64_t[]){ 1, 1 });
  struct gs_plan *p = sketch_plan(&s, part, true);
  ck_assert_str_eq(sketch_completed(&s, p, part), "[-, -]");
}
END_TEST

START_TEST(reshape_splits_and_merges_axes)
{
  struct gs_node *a = sketch_shard(&s, sketch_input(&s, "16,32"), "x,y");
  struct gs_node *heads = gs_build_reshape(&s.graph, (struct gs_span){ 0 }, a, 3, (int64_t[]){ 16, 4, 8 });
  struct gs_node *back = gs_build_reshape(&s.graph, (struct gs_span){ 0 }, heads, 2, (int64_t[]){ 16, 32 });
  struct gs_plan *p = sketch_plan(&s, back, true);
  ck_assert_str_eq(sketch_completed(&s, p, heads), "[x, y, -]");
  ck_assert_str_eq(sketch_completed(&s, p, back), "[x, y]");
  ck_assert_double_eq(sketch_bytes(&s, p), 0);
}
END_TEST

START_TEST(contraction_leaves_partial_sums)
{
  struct gs_node *a = sketch_shard(&s, sketch_input(&s, "16,32"), "-,y");
  struct gs_node *b = sketch_shard(&s, sketch_input(&s, "32,64"), "y,-");
  struct gs_node *c = sketch_shard(&s, sketch_einsum(&s, "bm,mh->bh", a, b), "y,-");
  struct gs_plan *p = sketch_plan(&s, c, false);
  ck_assert_int_eq(sketch_count(p, GS_OP_REDUCE_SCATTER), 1);
  ck_assert_int_eq(sketch_count(p, GS_OP_ALL_REDUCE), 0);
  ck_assert_double_eq(sketch_bytes(&s, p), 3.0 / 4 * 16 * 64 * 4);
}
END_TEST

/* a @ b summed over y is scaled and reduced before the small result is summed over devices. */
START_TEST(partial_sums_travel_through_linear_operators)
{
  struct gs_span at = { 0 };
  struct gs_node *a = sketch_shard(&s, sketch_input(&s, "16,32"), "-,y");
  struct gs_node *b = sketch_shard(&s, sketch_input(&s, "32,64"), "y,-");
  struct gs_node *half = gs_build_scalar(&s.graph, at, GS_DTYPE_F32, 0.5);
  struct gs_node *c = sketch_apply(&s, GS_OP_MUL, sketch_einsum(&s, "bm,mh->bh", a, b), half);
  struct gs_plan *p = sketch_plan(&s, sketch_reduce(&s, GS_OP_SUM, c, 1), false);
  ck_assert_double_le(sketch_bytes(&s, p), 2 * 3.0 / 4 * 16 * 4);
  ck_assert_int_gt(p->ndepartures, 0);
  ck_assert_double_gt(p->completed_bytes, sketch_bytes(&s, p));
}
END_TEST

START_TEST(partial_sums_stop_at_what_is_not_linear)
{
  struct gs_node *a = sketch_shard(&s, sketch_input(&s, "16,32"), "-,y");
  struct gs_node *b = sketch_shard(&s, sketch_input(&s, "32,64"), "y,-");
  struct gs_node *c = sketch_apply(&s, GS_OP_EXP, sketch_einsum(&s, "bm,mh->bh", a, b), NULL);
  struct gs_plan *p = sketch_plan(&s, sketch_reduce(&s, GS_OP_SUM, c, 1), false);
  for (int i = 0; i < p->program->nsteps; i++)
    if (p->program->steps[i].op == GS_OP_EXP)
      ck_assert_int_eq(p->program->steps[i].sharding->npartial, 0);
}
END_TEST

START_TEST(padding_is_masked_where_it_is_read)
{
  struct gs_node *a = sketch_shard(&s, sketch_input(&s, "16,13"), "-,y");
  struct gs_node *b = sketch_shard(&s, sketch_input(&s, "13,8"), "y,-");
  struct gs_plan *p = sketch_plan(&s, sketch_einsum(&s, "bm,mh->bh", a, b), true);
  ck_assert_int_eq(sketch_count(p, GS_OP_MASK), 2);
  ck_assert_ptr_null(gs_program_verify(s.arena, p->program));
}
END_TEST

START_TEST(one_row_is_sent_not_the_matrix)
{
  struct gs_node *a = sketch_shard(&s, sketch_input(&s, "64,8"), "xy,-");
  struct gs_node *row = gs_build_slice(&s.graph, (struct gs_span){ 0 }, a, (int64_t[]){ 37, 0 },
                                       (int64_t[]){ 38, 8 }, (int64_t[]){ 1, 1 });
  struct gs_plan *p = sketch_plan(&s, row, false);
  ck_assert_double_le(sketch_bytes(&s, p), 2 * 7.0 / 8 * 8 * 4);
}
END_TEST

/* Two slices put together the other way round are a roll: three rows go to one neighbour, once. */
START_TEST(chains_of_windows_travel_once)
{
  struct gs_span at = { 0 };
  struct gs_node *a = sketch_shard(&s, sketch_input(&s, "64,8"), "xy,-");
  struct gs_node *parts[] = {
    gs_build_slice(&s.graph, at, a, (int64_t[]){ 3, 0 }, (int64_t[]){ 64, 8 }, (int64_t[]){ 1, 1 }),
    gs_build_slice(&s.graph, at, a, (int64_t[]){ 0, 0 }, (int64_t[]){ 3, 8 }, (int64_t[]){ 1, 1 })
  };
  union gs_attrs attrs = { .concat = { .dim = 0 } };
  struct gs_node *whole = gs_graph_add(&s.graph, GS_OP_CONCAT, at, parts, 2, &attrs, NULL);
  struct gs_plan *p = sketch_plan(&s, sketch_shard(&s, whole, "xy,-"), false);
  ck_assert_int_eq(sketch_count(p, GS_OP_EXCHANGE), 1);
  ck_assert_double_eq(sketch_bytes(&s, p), 3 * 8 * 4);
  ck_assert_ptr_null(gs_program_verify(s.arena, p->program));
}
END_TEST

/* The same program costs the same to plan whatever the mesh: 2^20 devices give as many steps. */
START_TEST(devices_do_not_count)
{
  int steps[2];
  for (int k = 0; k < 2; k++) {
    struct sketch big;
    sketch_init(&big, k == 0 ? "x=2 y=4" : "x=1024 y=1024");
    struct gs_node *a = sketch_shard(&big, sketch_input(&big, "1048576,4096"), "x,y");
    struct gs_node *w = sketch_shard(&big, sketch_input(&big, "4096,65536"), "-,y");
    struct gs_plan *p = sketch_plan(&big, sketch_einsum(&big, "bm,mh->bh", a, w), false);
    steps[k] = p->program->nsteps;
    sketch_finish(&big);
  }
  ck_assert_int_eq(steps[0], steps[1]);
}
END_TEST

RUN_TESTS("partition",
  tcase_add_checked_fixture(cases, setup, teardown);
  tcase_add_test(cases, elementwise_merges_both_ways);
  tcase_add_test(cases, closed_dims_stay);
  tcase_add_test(cases, uneven_cuts_are_not_invented);
  tcase_add_test(cases, reshape_splits_and_merges_axes);
  tcase_add_test(cases, contraction_leaves_partial_sums);
  tcase_add_test(cases, partial_sums_travel_through_linear_operators);
  tcase_add_test(cases, partial_sums_stop_at_what_is_not_linear);
  tcase_add_test(cases, padding_is_masked_where_it_is_read);
  tcase_add_test(cases, one_row_is_sent_not_the_matrix);
  tcase_add_test(cases, chains_of_windows_travel_once);
  tcase_add_test(cases, devices_do_not_count);
)
