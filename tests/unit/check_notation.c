/* tests/unit/check_notation.c - shardings written in XLA's and Shardy's notation and read back. */
#include <config.h>

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "partition/axes.h"
#include "partition/sharding_parse.h"
#include "tests/differential/dice.h"
#include "tests/unit/run.h"
#include "tests/unit/sketch.h"

static struct sketch s;

typedef const struct gs_sharding *parser(const struct gs_sharding_parse *, int, const char *);

static const struct gs_sharding *parse(parser *read, int rank, const char *text)
{
  struct gs_sharding_parse p = { s.arena, s.table, s.mesh, &s.diagnostics, { 0 } };
  s.first_error[0] = '\0';
  return read(&p, rank, text);
}

static const struct { const char *mesh, *text, *sharding; } xla_texts[] = {
  { "x=2 y=4", "{replicated}", "-,-" },
  { "x=2 y=4", "{devices=[2,4]<=[8]}", "x,y" },
  { "x=2 y=4", "{devices=[4,2]<=[2,4]T(1,0)}", "y,x" },
  { "x=2 y=4", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "x,-" },
  { "x=2 y=4", "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={replicated}}", "-,y" },
  { "x=2 y=4", "{devices=[8,1]<=[2,2,2]}", "xy,-" },
  { "x=2 y=4", "{devices=[2,4]0,1,2,3,4,5,6,7}", "x,y" },
  { "x=2 y=4", "{devices=[4,2]0,4,1,5,2,6,3,7}", "y,x" },
  { "x=2 y=4", "{devices=[2,1,4]3,1,2,0,7,6,5,4 last_tile_dim_replicate}", "x,-" },
  { "x=2 y=4", "{devices=[1,4,2]4,0,1,5,6,2,3,7 last_tile_dim_replicate}", "-,y" },
  { "x=2 y=4", "{devices=[2,1,4]<=[8] last_tile_dims={unreduced}}", "x,-+y" },
  { "x=3", "{devices=[3,1]0,1,2}", "x,-" },
  { "x=1 y=2 z=1", "{devices=[1,2]<=[2]}", "-,y" },
};

START_TEST(xla_notation)
{
  sketch_init(&s, xla_texts[_i].mesh);
  const struct gs_sharding *read = parse(gs_sharding_parse_xla, 2, xla_texts[_i].text);
  ck_assert_str_eq(s.first_error, "");
  ck_assert_ptr_eq(read, sketch_sharding(&s, xla_texts[_i].sharding));
  sketch_finish(&s);
}
END_TEST

static const struct { const char *text, *sharding; } sdy_texts[] = {
  { "[{\"x\"}, {}]", "x,-" },
  { "[{\"x\", \"y\", ?}, {?}]", "xy?,?" },
  { "[{\"x\"}p1, {?}p0], replicated={}, unreduced={}", "x,?" },
  { "#sdy.sharding<@mesh, [{}, {\"y\"}], replicated={\"x\"}>", "-,y" },
  { "<@mesh, [{\"y\"}, {}], unreduced={\"x\"}>", "y,-+x" },
  { "[{\"y\":(1)2, \"y\":(2)2}, {\"x\"}]", "y,x" },
};

START_TEST(sdy_notation)
{
  sketch_init(&s, "x=2 y=4");
  const struct gs_sharding *read = parse(gs_sharding_parse_sdy, 2, sdy_texts[_i].text);
  ck_assert_str_eq(s.first_error, "");
  ck_assert_ptr_eq(read, sketch_sharding(&s, sdy_texts[_i].sharding));
  sketch_finish(&s);
}
END_TEST

static const struct { parser *read; const char *text, *error; } bad[] = {
  { gs_sharding_parse_xla, "", "expected \"{replicated}\", \"{manual}\" or \"{devices=[…\" at the end" },
  { gs_sharding_parse_xla, "{maximal device=0}",
    "expected \"{replicated}\", \"{manual}\" or \"{devices=[…\" at \"{maximal device=\"" },
  { gs_sharding_parse_xla, "{replicated} x", "expected nothing more at \"x\"" },
  { gs_sharding_parse_xla, "{manual}", "its manual devices are not along the mesh's manual axes" },
  { gs_sharding_parse_xla, "{devices=[2,4]<=[8]", "expected '}' at the end" },
  { gs_sharding_parse_xla, "{devices=[2,4]<=[]}", "the iota has another number of devices than the mesh" },
  { gs_sharding_parse_xla, "{devices=[2,4]<=[2,4]T(0,0)}",
    "the transposition is no permutation of the iota's dims" },
  { gs_sharding_parse_xla, "{devices=[2,2]<=[4]}", "4 tiles for a mesh of 8 devices" },
  { gs_sharding_parse_xla, "{devices=[0,4]<=[8]}", "a tile dim is 0 or they are too large" },
  { gs_sharding_parse_xla, "{devices=[2,2,2]<=[8]}", "3 dims, the tensor has 2" },
  { gs_sharding_parse_xla, "{devices=[8]<=[8] last_tile_dims={replicated, manual}}",
    "more last tile dims than tile dims" },
  { gs_sharding_parse_xla, "{devices=[2,4]<=[8] last_tile_dims={cut}}",
    "expected replicated, manual or unreduced at \"cut}}\"" },
  { gs_sharding_parse_xla, "{devices=[2,4]0,1,2,3,4,5,7,6}", "its order of devices is none of mesh axes" },
  { gs_sharding_parse_xla, "{devices=[2,4]0,1,2,3,4,5,6,6}",
    "a device stands twice or is none of the mesh's" },
  { gs_sharding_parse_xla, "{devices=[2,4]0,1,2}", "expected ',' at \"}\"" },
  { gs_sharding_parse_xla, "{devices=[2,4]0,1,2,3,4,5,6,7,8}", "it lists more devices than the mesh has" },
  { gs_sharding_parse_xla, "{devices=[99999999999999999999,4]<=[8]}", "a number is too large" },
  { gs_sharding_parse_sdy, "", "expected '[' at the end" },
  { gs_sharding_parse_sdy, "[{\"x\"}]", "it has fewer dims than the tensor" },
  { gs_sharding_parse_sdy, "[{}, {}, {}]", "it has more dims than the tensor" },
  { gs_sharding_parse_sdy, "[{\"x\"}, {\"x\"}]", "an axis is used twice" },
  { gs_sharding_parse_sdy, "[{\"x\"}, {}], replicated={\"x\"}", "an axis is used twice" },
  { gs_sharding_parse_sdy, "[{\"y\":(1)2}, {\"y\"}]", "an axis is used twice" },
  { gs_sharding_parse_sdy, "[{\"y\":(1)3}, {}]", "a sub-axis does not divide its axis" },
  { gs_sharding_parse_sdy, "[{\"y\":(0)2}, {}]", "a sub-axis does not divide its axis" },
  { gs_sharding_parse_sdy, "[{\"model\"}, {}]", "expected an axis of the mesh at \"model\"}, {}]\"" },
  { gs_sharding_parse_sdy, "[{?, \"x\"}, {}]", "expected '}' at \", \"x\"}, {}]\"" },
  { gs_sharding_parse_sdy, "[{}, {}] what", "expected nothing more at \"what\"" },
  { gs_sharding_parse_sdy, "<@mesh, [{}, {}]", "expected '>' at the end" },
};

START_TEST(bad_texts)
{
  char expected[300];
  sketch_init(&s, "x=2 y=4");
  ck_assert_ptr_null(parse(bad[_i].read, 2, bad[_i].text));
  ck_assert_int_eq(s.diagnostics.errors, 1);
  snprintf(expected, sizeof expected, "sharding \"%s\": %s", bad[_i].text, bad[_i].error);
  ck_assert_str_eq(s.first_error, expected);
  sketch_finish(&s);
}
END_TEST

/* A mesh of at most 4 axes, in an order of its own now and then. */
static void random_mesh(struct dice *d)
{
  static const int sizes[] = { 1, 2, 3, 4, 5, 6, 8, 12 };
  static const char *const names[] = { "a", "b", "c", "d" };
  struct gs_mesh_axis axes[4];
  int naxes = 1 + dice_below(d, 4), ndevices = 1;
  sketch_init(&s, "x=1");
  for (int i = 0; i < naxes; i++) {
    axes[i] = (struct gs_mesh_axis){ names[i], sizes[dice_below(d, 8)] };
    ndevices *= (int)axes[i].size;
  }
  int *shuffled = GS_NEW_ARRAY(s.arena, int, ndevices);
  int64_t *order = GS_NEW_ARRAY(s.arena, int64_t, ndevices);
  dice_shuffle(d, shuffled, ndevices);
  for (int i = 0; i < ndevices; i++)
    order[i] = shuffled[i];
  s.mesh = gs_mesh_new(s.arena, &s.diagnostics, (struct gs_span){ 0 }, naxes, axes,
                       dice_percent(d, 25) ? order : NULL, false);
  ck_assert_ptr_nonnull(s.mesh);
}

/* Prime sub-axes dealt to dims, to partial sums, or to nothing. */
static const struct gs_sharding *random_sharding(struct dice *d, int rank, bool open, bool partial)
{
  struct gs_axis whole[4], primes[GS_AXES_MAX], lists[6][GS_AXES_MAX];
  int order[GS_AXES_MAX], count[6] = { 0 };
  for (int a = 0; a < s.mesh->naxes; a++)
    whole[a] = gs_axis_whole(s.mesh, a);
  int n = gs_axes_primes(whole, s.mesh->naxes, primes);
  dice_shuffle(d, order, n);
  for (int i = 0; i < n; i++) {
    int to = dice_below(d, rank + 1 + partial);
    lists[to][count[to]++] = primes[order[i]];
  }
  struct gs_dim_sharding dims[4] = { 0 };
  for (int i = 0; i < rank; i++)
    dims[i] = (struct gs_dim_sharding){ .naxes = count[i], .open = open && dice_percent(d, 30), .axes = lists[i] };
  return gs_sharding_make(s.table, s.mesh, rank, dims, lists[rank + 1], partial ? count[rank + 1] : 0,
                          GS_OP_SUM);
}

static void round_trip(struct dice *d, parser *read,
                       void (*write)(struct gs_text *, const struct gs_sharding *))
{
  random_mesh(d);
  for (int i = 0; i < 20; i++) {
    bool sdy = read == gs_sharding_parse_sdy;
    int rank = dice_below(d, 5);
    const struct gs_sharding *sharding = random_sharding(d, rank, sdy, sdy);
    struct gs_text text = { .arena = s.arena };
    write(&text, sharding);
    const struct gs_sharding *back = parse(read, rank, gs_text_string(&text));
    ck_assert_msg(back == sharding, "%s: %s", gs_text_string(&text), s.first_error);
  }
  sketch_finish(&s);
}

START_TEST(round_trips)
{
  struct dice d = { 4711 };
  for (int i = 0; i < 300; i++) {
    round_trip(&d, gs_sharding_parse_xla, gs_sharding_print_xla);
    round_trip(&d, gs_sharding_parse_sdy, gs_sharding_print_sdy);
  }
}
END_TEST

START_TEST(manual_axes)
{
  sketch_init(&s, "x=2 y=4 z=3");
  struct gs_mesh inside = *s.mesh;
  s.mesh = &inside;
  inside.manual = 2;
  ck_assert_ptr_eq(
      parse(gs_sharding_parse_xla, 2, "{devices=[2,1,4,3]<=[24] last_tile_dims={manual, replicated}}"),
      sketch_sharding(&s, "x,-"));
  ck_assert_ptr_eq(parse(gs_sharding_parse_xla, 2, "{devices=[2,3,4]<=[2,4,3]T(0,2,1) last_tile_dims={manual}}"),
                   sketch_sharding(&s, "x,z"));
  ck_assert_ptr_null(parse(gs_sharding_parse_xla, 2, "{replicated}"));
  inside.manual = 7;
  ck_assert_ptr_eq(parse(gs_sharding_parse_xla, 0, "{manual}"), sketch_sharding(&s, ""));
  sketch_finish(&s);
}
END_TEST

/* An iota is read without looking at each device. */
START_TEST(many_devices)
{
  sketch_init(&s, "x=1073741824 y=1024");
  ck_assert_ptr_eq(parse(gs_sharding_parse_xla, 2, "{devices=[1024,1073741824]<=[1073741824,1024]T(1,0)}"),
                   sketch_sharding(&s, "y,x"));
  sketch_finish(&s);
}
END_TEST

/* ---- the corpus ---- */

/* JAX keeps the order of devices beside the module, whose texts count positions in it. */
static bool corpus_mesh(const json_t *mesh)
{
  struct gs_mesh_axis axes[GS_MESH_MAX_AXES];
  json_t *list = json_object_get(mesh, "axes");
  size_t n = json_array_size(list);
  if (n == 0)
    return false;
  for (size_t i = 0; i < n; i++) {
    json_t *axis = json_array_get(list, i);
    axes[i].name = json_string_value(json_array_get(axis, 0));
    axes[i].size = json_integer_value(json_array_get(axis, 1));
  }
  s.mesh = gs_mesh_new(s.arena, &s.diagnostics, (struct gs_span){ 0 }, (int)n, axes, NULL, false);
  return s.mesh != NULL;
}

/* The dims listed beside the text; NULL where one is said to be cut by axes the mesh does not name. */
static const struct gs_sharding *corpus_dims(const json_t *dims)
{
  struct gs_dim_sharding cut[GS_MAX_RANK] = { 0 };
  struct gs_axis axes[GS_MAX_RANK][GS_MESH_MAX_AXES];
  int rank = (int)json_array_size(dims);
  for (int i = 0; i < rank; i++) {
    json_t *list = json_array_get(dims, (size_t)i);
    cut[i].naxes = (int)json_array_size(list);
    cut[i].axes = axes[i];
    for (int k = 0; k < cut[i].naxes; k++) {
      const char *name = json_string_value(json_array_get(list, (size_t)k));
      int axis = name != NULL ? gs_mesh_find(s.mesh, name) : -1;
      if (axis < 0)
        return NULL;
      axes[i][k] = gs_axis_whole(s.mesh, axis);
    }
  }
  return gs_sharding_make(s.table, s.mesh, rank, cut, NULL, 0, GS_OP_SUM);
}

static int check_case(const char *path)
{
  int compared = 0;
  json_t *root = json_load_file(path, 0, NULL), *output;
  ck_assert_msg(root != NULL, "%s", path);
  sketch_init(&s, "x=1");
  size_t i;
  if (corpus_mesh(json_object_get(root, "mesh"))) {
    json_array_foreach(json_object_get(root, "outputs"), i, output) {
      json_t *sharding = json_object_get(output, "sharding");
      const char *text = json_string_value(json_object_get(sharding, "xla"));
      const struct gs_sharding *listed = corpus_dims(json_object_get(sharding, "dims"));
      if (text == NULL || listed == NULL)
        continue;
      const struct gs_sharding *read = parse(gs_sharding_parse_xla, listed->rank, text);
      ck_assert_msg(read == listed, "%s: %s: %s", path, text, s.first_error);
      compared++;
    }
  }
  sketch_finish(&s);
  json_decref(root);
  return compared;
}

START_TEST(corpus)
{
  const char *source = getenv("srcdir");
  char folder[1000], path[2000];
  int compared = 0;
  snprintf(folder, sizeof folder, "%s/tests/xla", source != NULL ? source : ".");
  DIR *groups = opendir(folder);
  ck_assert_msg(groups != NULL, "%s", folder);
  for (struct dirent *group; (group = readdir(groups)) != NULL;) {
    snprintf(path, sizeof path, "%s/%s", folder, group->d_name);
    DIR *cases = group->d_name[0] != '.' ? opendir(path) : NULL;
    for (struct dirent *file; cases != NULL && (file = readdir(cases)) != NULL;) {
      const char *dot = strrchr(file->d_name, '.');
      if (dot == NULL || strcmp(dot, ".json") != 0)
        continue;
      snprintf(path, sizeof path, "%s/%s/%s", folder, group->d_name, file->d_name);
      compared += check_case(path);
    }
    if (cases != NULL)
      closedir(cases);
  }
  closedir(groups);
  ck_assert_int_gt(compared, 300);
}
END_TEST

RUN_TESTS("notation",
  tcase_add_loop_test(cases, xla_notation, 0, sizeof xla_texts / sizeof *xla_texts);
  tcase_add_loop_test(cases, sdy_notation, 0, sizeof sdy_texts / sizeof *sdy_texts);
  tcase_add_loop_test(cases, bad_texts, 0, sizeof bad / sizeof *bad);
  tcase_add_test(cases, round_trips);
  tcase_add_test(cases, manual_axes);
  tcase_add_test(cases, many_devices);
  tcase_add_test(cases, corpus);
)
