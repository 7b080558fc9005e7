/* tests/unit/check_reshard.c - paths between shardings: which moves, and what they send. */
#include <config.h>

#include "partition/axes.h"
#include "partition/reshard.h"
#include "tests/differential/dice.h"
#include "tests/unit/run.h"
#include "tests/unit/sketch.h"

/* All f32[16,32] on x=2 y=4 unless the dims say otherwise: 2048 bytes whole. */
static const struct {
  const char *from, *to;
  int64_t dims[2];
  int nmoves;
  enum gs_move_kind first;
  double bytes;
} paths[] = {
  { "x,y", "x,y", { 16, 32 }, 0, GS_MOVE_SLICE, 0 },
  { "-,-", "x,y", { 16, 32 }, 2, GS_MOVE_SLICE, 0 },
  { "x,y", "x,-", { 16, 32 }, 1, GS_MOVE_ALL_GATHER, 3 * 256 },
  { "x,y", "-,-", { 16, 32 }, 2, GS_MOVE_ALL_GATHER, 7 * 256 },
  { "x,-", "-,x", { 16, 32 }, 1, GS_MOVE_ALL_TO_ALL, 512 },
  { "xy,-", "yx,-", { 16, 32 }, 1, GS_MOVE_PERMUTE, 256 },
  { "-,-+y", "-,-", { 16, 32 }, 1, GS_MOVE_ALL_REDUCE, 2 * 3.0 / 4 * 2048 },
  { "-,-+y", "y,-", { 16, 32 }, 1, GS_MOVE_REDUCE_SCATTER, 3.0 / 4 * 2048 },
  { "-,-", "-,-+y", { 16, 32 }, 1, GS_MOVE_ZERO_PARTIAL, 0 },
  /* 7 rows: 2 2 2 1 on y; gathering keeps the order, the cut to 7 rows is free. */
  { "y,-", "-,-", { 7, 32 }, 1, GS_MOVE_ALL_GATHER, 3 * 2 * 32 * 4 },
  { "x,-", "xy,-", { 8, 32 }, 1, GS_MOVE_SLICE, 0 },
  /* 5 rows on x are 3 and 2, on x and y one each: row 2 of the second part must move first. */
  { "x,-", "xy,-", { 5, 32 }, 2, GS_MOVE_REBALANCE, 1 * 32 * 4 },
};

START_TEST(path)
{
  struct sketch s;
  sketch_init(&s, "x=2 y=4");
  struct gs_type type = { .dtype = GS_DTYPE_F32, .rank = 2 };
  type.dims[0] = paths[_i].dims[0];
  type.dims[1] = paths[_i].dims[1];
  struct gs_resharder *r = gs_resharder_new(s.arena, s.table);
  const struct gs_sharding *from = sketch_sharding(&s, paths[_i].from);
  const struct gs_sharding *to = sketch_sharding(&s, paths[_i].to);
  const struct gs_path *p = gs_reshard_path(r, from, to, &type);
  ck_assert_ptr_nonnull(p);
  ck_assert_int_eq(p->nmoves, paths[_i].nmoves);
  ck_assert_double_eq_tol(p->bytes, paths[_i].bytes, 1e-9);
  if (p->nmoves > 0) {
    ck_assert_int_eq(p->moves[0].kind, paths[_i].first);
    ck_assert_ptr_eq(p->moves[p->nmoves - 1].after, to);
  }
  ck_assert_ptr_eq(gs_reshard_path(r, from, to, &type), p);
  sketch_finish(&s);
}
END_TEST

/* Cutting by a third axis for a while halves what the other two move. */
START_TEST(unused_axes_help)
{
  struct sketch s;
  sketch_init(&s, "x=2 y=2 z=2");
  struct gs_type type = { .dtype = GS_DTYPE_F32, .rank = 3, .dims = { 16, 16, 16 } };
  struct gs_resharder *r = gs_resharder_new(s.arena, s.table);
  const struct gs_path *p = gs_reshard_path(r, sketch_sharding(&s, "xy,-,-"),
                                            sketch_sharding(&s, "y,-,x"), &type);
  ck_assert_double_eq_tol(p->bytes, 4096, 1e-9);
  sketch_finish(&s);
}
END_TEST

/* Every pair of shardings of a matrix is reached without gathering everything first, even or not. */
START_TEST(never_falls_back)
{
  static const char *const all[] = { "-,-", "x,-", "-,x", "y,-", "-,y", "x,y", "y,x",
                                     "xy,-", "yx,-", "-,xy", "-,yx" };
  static const int64_t sizes[] = { 16, 13, 7, 3, 1, 0 };
  enum { SHARDINGS = sizeof all / sizeof *all, SIZES = sizeof sizes / sizeof *sizes };
  struct sketch s;
  sketch_init(&s, "x=2 y=3");
  struct gs_resharder *r = gs_resharder_new(s.arena, s.table);
  for (int i = 0; i < SHARDINGS * SHARDINGS * SIZES * SIZES; i++) {
    struct gs_type type = { .dtype = GS_DTYPE_F32, .rank = 2 };
    type.dims[0] = sizes[i / (SHARDINGS * SHARDINGS) % SIZES];
    type.dims[1] = sizes[i / (SHARDINGS * SHARDINGS * SIZES)];
    const struct gs_path *p =
        gs_reshard_path(r, sketch_sharding(&s, all[i % SHARDINGS]),
                        sketch_sharding(&s, all[i / SHARDINGS % SHARDINGS]), &type);
    ck_assert_ptr_nonnull(p);
    ck_assert(!p->fallback);
  }
  sketch_finish(&s);
}
END_TEST

/* N axes dealt to the dims of a tensor of rank 3. */
static const struct gs_sharding *deal(struct sketch *s, struct dice *d, const struct gs_axis *axes, int n)
{
  struct gs_axis lists[3][GS_AXES_MAX];
  struct gs_dim_sharding dims[3] = { 0 };
  int order[GS_AXES_MAX];
  dice_shuffle(d, order, n);
  for (int i = 0; i < 3; i++)
    dims[i].axes = lists[i];
  for (int i = 0; i < n; i++) {
    int dim = dice_below(d, 3);
    lists[dim][dims[dim].naxes++] = axes[order[i]];
  }
  return gs_sharding_make(s->table, s->mesh, 3, dims, NULL, 0, GS_OP_SUM);
}

/* No way round is cheaper than the path found. */
START_TEST(cheapest)
{
  struct sketch s;
  struct dice d = { 1 };
  struct gs_axis axes[4];
  sketch_init(&s, "x=6 y=8 z=2 w=4");
  for (int a = 0; a < 4; a++)
    axes[a] = gs_axis_whole(s.mesh, a);
  struct gs_type type = { .dtype = GS_DTYPE_F32, .rank = 3, .dims = { 1152, 1152, 1152 } };
  struct gs_resharder *r = gs_resharder_new(s.arena, s.table);
  for (int i = 0; i < 400; i++) {
    const struct gs_sharding *from = deal(&s, &d, axes, 4), *middle = deal(&s, &d, axes, 4),
                             *to = deal(&s, &d, axes, 4);
    double whole = gs_reshard_path(r, from, to, &type)->cost;
    double parts = gs_reshard_path(r, from, middle, &type)->cost + gs_reshard_path(r, middle, to, &type)->cost;
    ck_assert_msg(whole <= parts * (1 + 1e-9), "triple %d: %g, %g another way", i, whole, parts);
  }
  sketch_finish(&s);
}
END_TEST

/* By brute force, on small meshes and sizes that all parts divide, or none: no way through any other sharding of two dims is
 * cheaper, so a path is the cheapest chain of direct moves. */
START_TEST(no_detour_is_cheaper)
{
  static const char *const meshes[] = { "x=2 y=2", "x=2 y=3", "x=4 y=2" };
  static const char *const layouts[] = { "-,-", "x,-", "-,x", "y,-", "-,y", "x,y", "y,x", "xy,-", "yx,-", "-,xy",
                                         "-,yx" };
  static const int64_t sizes[][2] = { { 24, 24 }, { 7, 5 }, { 48, 24 }, { 72, 96 } };
  enum { LAYOUTS = sizeof layouts / sizeof *layouts };
  struct sketch s;
  double cost[LAYOUTS][LAYOUTS];
  sketch_init(&s, meshes[_i / 4]);
  struct gs_type type = { .dtype = GS_DTYPE_F32, .rank = 2, .dims = { sizes[_i % 4][0], sizes[_i % 4][1] } };
  struct gs_resharder *r = gs_resharder_new(s.arena, s.table);
  for (int a = 0; a < LAYOUTS; a++)
    for (int b = 0; b < LAYOUTS; b++)
      cost[a][b] = a == b ? 0
                          : gs_reshard_path(r, sketch_sharding(&s, layouts[a]), sketch_sharding(&s, layouts[b]),
                                            &type)->cost;
  for (int m = 0; m < LAYOUTS; m++)
    for (int a = 0; a < LAYOUTS; a++)
      for (int b = 0; b < LAYOUTS; b++)
        ck_assert_msg(cost[a][b] <= cost[a][m] + cost[m][b] + 1e-6, "%s to %s: %g, by %s %g", layouts[a], layouts[b],
                      cost[a][b], layouts[m], cost[a][m] + cost[m][b]);
  sketch_finish(&s);
}
END_TEST

/* Many sub-axes: more arrangements than a search looks at. */
START_TEST(sub_axes_never_fall_back)
{
  struct sketch s;
  struct dice d = { 2 };
  struct gs_axis axes[3], primes[GS_AXES_MAX];
  sketch_init(&s, "x=4 y=12 z=6");
  for (int a = 0; a < 3; a++)
    axes[a] = gs_axis_whole(s.mesh, a);
  int n = gs_axes_primes(axes, 3, primes);
  struct gs_resharder *r = gs_resharder_new(s.arena, s.table);
  for (int i = 0; i < 60; i++) {
    struct gs_type type = { .dtype = GS_DTYPE_F32, .rank = 3, .dims = { 2880, 2880, 2880 } };
    if (i % 2 == 0)
      for (int k = 0; k < 3; k++)
        type.dims[k] = dice_between(&d, 1, 70);
    const struct gs_sharding *from = deal(&s, &d, primes, n), *to = deal(&s, &d, primes, n);
    const struct gs_path *p = gs_reshard_path(r, from, to, &type);
    ck_assert_ptr_nonnull(p);
    ck_assert(!p->fallback);
  }
  sketch_finish(&s);
}
END_TEST

RUN_TESTS("reshard",
  tcase_add_loop_test(cases, path, 0, sizeof paths / sizeof *paths);
  tcase_add_test(cases, unused_axes_help);
  tcase_add_test(cases, never_falls_back);
  tcase_add_test(cases, cheapest);
  tcase_add_test(cases, sub_axes_never_fall_back);
  tcase_add_loop_test(cases, no_detour_is_cheaper, 0, 12);
)
