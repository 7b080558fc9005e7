/* tests/unit/check_sharding.c - meshes, lists of sub-axes, shardings in three notations. */
#include <config.h>

#include <string.h>

#include "partition/axes.h"
#include "partition/join.h"
#include "tests/unit/run.h"
#include "tests/unit/sketch.h"

static struct sketch s;

static void print(void (*printer)(struct gs_text *, const struct gs_sharding *), const char *sharding,
                  const char *expected)
{
  struct gs_text text = { .arena = s.arena };
  printer(&text, sketch_sharding(&s, sharding));
  ck_assert_str_eq(gs_text_string(&text), expected);
}

START_TEST(notations)
{
  sketch_init(&s, "x=2 y=4");
  print(gs_sharding_print, "x,-", "[x, -]");
  print(gs_sharding_print, "yx,-", "[[y, x], -]");
  print(gs_sharding_print, "-,y+x", "[-, y] +x");
  print(gs_sharding_print_source, "x,-", "[x, -1]");
  print(gs_sharding_print_source, "-,-", "replicated");
  print(gs_sharding_print_source, "?,?", "[?, ?]");
  print(gs_sharding_print_source, "xy?,-", "[[x, y, ?], -1]");
  print(gs_sharding_print_xla, "-,-", "{replicated}");
  print(gs_sharding_print_xla, "x,y", "{devices=[2,4]<=[8]}");
  print(gs_sharding_print_xla, "y,x", "{devices=[4,2]<=[2,4]T(1,0)}");
  print(gs_sharding_print_xla, "xy,-", "{devices=[8,1]<=[8]}");
  print(gs_sharding_print_xla, "yx,-", "{devices=[8,1]<=[2,4]T(1,0)}");
  print(gs_sharding_print_xla, "x,-", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}");
  print(gs_sharding_print_xla, "-,y", "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}");
  print(gs_sharding_print_sdy, "x,-", "[{\"x\"}, {}]");
  print(gs_sharding_print_sdy, "xy,?", "[{\"x\", \"y\"}, {?}]");
  sketch_finish(&s);
}
END_TEST

START_TEST(notations_in_manual_regions)
{
  sketch_init(&s, "x=2 y=4 z=3");
  struct gs_mesh inside = *s.mesh;
  s.mesh = &inside;
  inside.manual = 2;
  print(gs_sharding_print, "x,-", "[x, -] manual y");
  print(gs_sharding_print_xla, "-,-", "{devices=[1,1,4,6]<=[2,4,3]T(1,0,2) last_tile_dims={manual, replicated}}");
  print(gs_sharding_print_xla, "x,-", "{devices=[2,1,4,3]<=[24] last_tile_dims={manual, replicated}}");
  print(gs_sharding_print_xla, "x,z", "{devices=[2,3,4]<=[2,4,3]T(0,2,1) last_tile_dims={manual}}");
  inside.manual = 7;
  print(gs_sharding_print_xla, "-,-", "{manual}");
  print(gs_sharding_print_xla, "", "{manual}");
  sketch_finish(&s);
}
END_TEST

START_TEST(equal_shardings_are_one_pointer)
{
  sketch_init(&s, "x=2 y=4");
  ck_assert_ptr_eq(sketch_sharding(&s, "x,y"), sketch_sharding(&s, "x,y"));
  ck_assert_ptr_ne(sketch_sharding(&s, "xy,-"), sketch_sharding(&s, "yx,-"));
  ck_assert_ptr_ne(sketch_sharding(&s, "x,-"), sketch_sharding(&s, "x,-+y"));
  struct gs_axis halves[] = { { 1, 1, 2 }, { 1, 2, 2 } };
  struct gs_dim_sharding fused[] = { { .naxes = 2, .axes = halves }, { 0 } };
  ck_assert_ptr_eq(gs_sharding_make(s.table, s.mesh, 2, fused, NULL, 0, GS_OP_SUM),
                   sketch_sharding(&s, "y,-"));
  sketch_finish(&s);
}
END_TEST

START_TEST(uneven_parts)
{
  sketch_init(&s, "x=2 y=4");
  const struct gs_sharding *sh = sketch_sharding(&s, "y,x");
  struct gs_type type = { .dtype = GS_DTYPE_F32, .rank = 2, .dims = { 5, 3 } };
  struct gs_type local = gs_sharding_local(sh, &type);
  int64_t begin, end;
  ck_assert_int_eq(local.dims[0], 2);
  ck_assert_int_eq(local.dims[1], 2);
  gs_sharding_range(sh, 0, 5, 2, &begin, &end);        /* y=2 */
  ck_assert_int_eq(begin, 4);
  ck_assert_int_eq(end, 5);
  gs_sharding_range(sh, 0, 5, 3, &begin, &end);        /* y=3: all padding */
  ck_assert_int_eq(begin, end);
  ck_assert_double_eq_tol(gs_sharding_padding(sh, &type), 1 - 15.0 / 32, 1e-12);
  sketch_finish(&s);
}
END_TEST

START_TEST(coordinates)
{
  sketch_init(&s, "x=2 y=6");
  struct gs_axis list[] = { { 1, 2, 3 }, { 0, 1, 2 } };
  for (int64_t p = 0; p < 12; p++) {
    int64_t part = gs_mesh_part(s.mesh, list, 2, p);
    ck_assert_int_eq(part, p % 3 * 2 + p / 6);
    ck_assert_int_eq(gs_mesh_with_part(s.mesh, list, 2, p, part), p);
  }
  ck_assert_int_eq(gs_mesh_coordinate(s.mesh, (struct gs_axis){ 1, 1, 2 }, 5), 1);
  sketch_finish(&s);
}
END_TEST

START_TEST(prefixes_cut_at_common_boundaries)
{
  struct gs_axis_list prefix;
  struct gs_axis whole = { 0, 1, 4 }, half = { 0, 1, 2 }, third = { 0, 1, 3 };
  gs_axes_common_prefix(&whole, 1, &half, 1, &prefix);
  ck_assert_int_eq(gs_axis_list_size(&prefix), 2);
  ck_assert(gs_axes_is_prefix(&half, 1, &whole, 1));
  ck_assert(!gs_axes_is_prefix(&whole, 1, &half, 1));
  struct gs_axis six = { 0, 1, 6 };
  gs_axes_common_prefix(&six, 1, &whole, 1, &prefix);
  ck_assert_int_eq(prefix.count, 0);
  ck_assert(gs_axes_is_prefix(&third, 1, &six, 1));
  ck_assert(gs_axis_overlap(half, whole));
  ck_assert(!gs_axis_overlap(half, (struct gs_axis){ 0, 2, 2 }));
}
END_TEST

static const struct { int naxes; struct gs_mesh_axis axes[3]; const char *error; } bad_meshes[] = {
  { 2, { { "x", 2 }, { "x", 4 } }, "mesh: two axes are called x" },
  { 1, { { "x", 0 } }, "mesh: axis x has size 0, expected at least 1" },
  { 2, { { "x", (int64_t)1 << 30 }, { "y", (int64_t)1 << 30 } }, "mesh: more than 2^40 devices" },
};

START_TEST(bad_mesh)
{
  sketch_init(&s, "x=2");
  ck_assert_ptr_null(gs_mesh_new(s.arena, &s.diagnostics, (struct gs_span){ 0 },
                                 bad_meshes[_i].naxes, bad_meshes[_i].axes, NULL, false));
  ck_assert_str_eq(s.first_error, bad_meshes[_i].error);
  sketch_finish(&s);
}
END_TEST

START_TEST(bad_order)
{
  sketch_init(&s, "x=2");
  struct gs_mesh_axis axis = { "x", 3 };
  ck_assert_ptr_null(gs_mesh_new(s.arena, &s.diagnostics, (struct gs_span){ 0 }, 1, &axis,
                                 (int64_t[]){ 0, 2, 2 }, false));
  ck_assert_str_eq(s.first_error, "mesh: device 2 stands twice");
  sketch_finish(&s);
}
END_TEST

/* Axis "a" of a [4, 2] mesh is x and the major half of y of a [2, 4] mesh. */
START_TEST(joined_meshes)
{
  sketch_init(&s, "x=2 y=4");
  struct gs_mesh_axis axes[] = { { "a", 4 }, { "b", 2 } };
  struct gs_axis_list list;
  const struct gs_mesh *other =
      gs_mesh_new(s.arena, &s.diagnostics, (struct gs_span){ 0 }, 2, axes, NULL, false);
  ck_assert(gs_mesh_translate(s.arena, &s.diagnostics, (struct gs_span){ 0 }, s.mesh, other, 0, &list));
  ck_assert_int_eq(list.count, 2);
  ck_assert(gs_axis_equal(list.items[0], (struct gs_axis){ 0, 1, 2 }));
  ck_assert(gs_axis_equal(list.items[1], (struct gs_axis){ 1, 1, 2 }));
  /* Transposed: position p of the mesh is device order[p]. */
  other = gs_mesh_new(s.arena, &s.diagnostics, (struct gs_span){ 0 }, 2, axes,
                      (int64_t[]){ 0, 4, 1, 5, 2, 6, 3, 7 }, false);
  ck_assert(gs_mesh_translate(s.arena, &s.diagnostics, (struct gs_span){ 0 }, s.mesh, other, 0, &list));
  ck_assert_int_eq(list.count, 1);
  ck_assert(gs_axis_equal(list.items[0], (struct gs_axis){ 1, 1, 4 }));
  other = gs_mesh_new(s.arena, &s.diagnostics, (struct gs_span){ 0 }, 2, axes,
                      (int64_t[]){ 0, 1, 2, 3, 4, 5, 7, 6 }, false);
  ck_assert(!gs_mesh_translate(s.arena, &s.diagnostics, (struct gs_span){ 0 }, s.mesh, other, 1, &list));
  sketch_finish(&s);
}
END_TEST

RUN_TESTS("sharding",
  tcase_add_test(cases, notations);
  tcase_add_test(cases, notations_in_manual_regions);
  tcase_add_test(cases, equal_shardings_are_one_pointer);
  tcase_add_test(cases, uneven_parts);
  tcase_add_test(cases, coordinates);
  tcase_add_test(cases, prefixes_cut_at_common_boundaries);
  tcase_add_loop_test(cases, bad_mesh, 0, sizeof bad_meshes / sizeof *bad_meshes);
  tcase_add_test(cases, bad_order);
  tcase_add_test(cases, joined_meshes);
)
