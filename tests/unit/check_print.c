/* tests/unit/check_print.c - units, JSON, and each report in each format. */
#include <config.h>

#include "partition/json.h"
#include "partition/print.h"
#include "tests/unit/run.h"
#include "tests/unit/sketch.h"

#include <jansson.h>
#include <string.h>

static const struct { double value; const char *bytes, *count; } units[] = {
  { 0, "0 B", "0" },
  { 12, "12 B", "12" },
  { 1023, "1023 B", "1023" },
  { 1024, "1 KiB", "1024" },
  { 9999, "9.76 KiB", "9999" },
  { 12345, "12.1 KiB", "12.3 k" },
  { 786432, "768 KiB", "0.8 M" },
  { 1048575, "1 MiB", "1.05 M" },
  { 1835008, "1.75 MiB", "1.84 M" },
  { 268435456, "256 MiB", "268 M" },
  { 999.7e6, "953 MiB", "1 G" },
  { 1610612736, "1.5 GiB", "1.61 G" },
  { 3e21, "2602 EiB", "3000 E" },
};

START_TEST(units_for_people)
{
  struct gs_arena *arena = gs_arena_new(NULL);
  struct gs_text bytes = { .arena = arena }, count = { .arena = arena };
  gs_print_bytes(&bytes, units[_i].value);
  gs_print_count(&count, units[_i].value);
  ck_assert_str_eq(gs_text_string(&bytes), units[_i].bytes);
  ck_assert_str_eq(gs_text_string(&count), units[_i].count);
  gs_arena_free(arena);
}
END_TEST

START_TEST(json_is_escaped)
{
  struct gs_arena *arena = gs_arena_new(NULL);
  struct gs_text text = { .arena = arena };
  struct gs_json json = { .text = &text };
  gs_json_open(&json, '[');
  gs_json_string(&json, "a\"b\\c\nd\x01\xc3\xa9\xff\xed\xa0\x80");
  gs_json_string(&json, NULL);
  gs_json_number(&json, 1e300 * 1e300);
  gs_json_number(&json, 786432);
  gs_json_number(&json, 0.1);
  gs_json_open(&json, '{');
  gs_json_put_integer(&json, "k", -1);
  gs_json_key(&json, "l");
  gs_json_bool(&json, true);
  gs_json_close(&json, '}');
  gs_json_close(&json, ']');
  ck_assert_str_eq(gs_text_string(&text),
                   "[\"a\\\"b\\\\c\\nd\\u0001\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\","
                   "null,null,786432,0.1,{\"k\":-1,\"l\":true}]");
  json_t *back = json_loads(gs_text_string(&text), 0, NULL);
  ck_assert_ptr_nonnull(back);
  json_decref(back);
  gs_arena_free(arena);
}
END_TEST

/* The feed-forward layer of the paper, with the places of its program text. */
static const char program[] =
  "mesh(x=2, y=4)\n"
  "x = input(f32[8,128,512])\n"
  "w1 = input(f32[512,2048])\n"
  "w2 = input(f32[2048,512])\n"
  "h = max(einsum(\"bsm,mh->bsh\", x, w1), 0)\n"
  "y = einsum(\"bsh,hm->bsm\", h, w2)\n";
static const struct gs_source source = { "layer.gsl", program, sizeof program - 1, 1 };

static struct gs_node *at_line(struct gs_node *node, const char *name, int line)
{
  uint32_t offset = 0;
  for (; line > 1; offset++)
    line -= program[offset] == '\n';
  node->name = name;
  node->span = (struct gs_span){ &source, offset, offset + 1 };
  return node;
}

struct layer {
  struct sketch s;
  struct gs_node *y;
  struct gs_plan *plan;
  struct gs_print_options options;
  struct gs_text text;
};

static struct gs_node *annotated(struct sketch *s, const char *dims, const char *sharding,
                                 const char *name, int line)
{
  struct gs_node *input = at_line(sketch_input(s, dims), name, line);
  return at_line(sketch_shard(s, input, sharding), name, line);
}

static void layer_init(struct layer *l, const char *mesh, const char *dims)
{
  memset(l, 0, sizeof *l);
  struct sketch *s = &l->s;
  sketch_init(s, mesh);
  struct gs_node *x = annotated(s, dims, "x,-,y", "x", 2);
  struct gs_node *w1 = annotated(s, "512,2048", "x,y", "w1", 3);
  struct gs_node *w2 = annotated(s, "2048,512", "y,x", "w2", 4);
  struct gs_node *h = at_line(sketch_einsum(s, "bsm,mh->bsh", x, w1), NULL, 5);
  struct gs_node *zero = gs_build_scalar(&s->graph, h->span, GS_DTYPE_F32, 0);
  h = at_line(sketch_apply(s, GS_OP_MAX, h, zero), "h", 5);
  struct gs_node *y = at_line(sketch_einsum(s, "bsh,hm->bsm", h, w2), NULL, 6);
  l->y = at_line(sketch_shard(s, y, "x,-,y"), "y", 6);
  const char *name = "y";
  struct gs_partition_options options = { .record = true };
  l->plan = gs_partition(s->arena, &s->graph, s->mesh, &l->y, &name, 1, &options);
  ck_assert_ptr_nonnull(l->plan);
  ck_assert_pstr_eq(gs_program_verify(s->arena, l->plan->program), NULL);
  l->options = (struct gs_print_options){ .unicode = true, .device = -1 };
  l->text.arena = s->arena;
}

static void layer_finish(struct layer *l)
{
  sketch_finish(&l->s);
}

static void expect(const struct layer *l, const char *part)
{
  const char *text = gs_text_string(&l->text);
  ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

START_TEST(plan_as_text)
{
  struct layer l;
  layer_init(&l, "x=2 y=4", "8,128,512");
  gs_print_plan(&l.text, l.plan, &l.options);
  ck_assert_str_eq(gs_text_string(&l.text),
    "y : f32[8,128,512] [x, -, y]        mesh x=2, y=4: 8 devices, one program\n"
    "   #  step                                per device      sharding      line  groups    sends  FLOPs\n"
    "   1  x  = input                          f32[4,128,128]  [x, -, y]        2\n"
    "   2  w1 = input                          f32[256,512]    [x, y]           3\n"
    "   3  w2 = input                          f32[512,256]    [y, x]           4\n"
    "   4  all-gather #1 over y, dim 2         f32[4,128,512]  [x, -, -]        2     2x4  768 KiB\n"
    "   5  all-gather #2 over x, dim 0         f32[512,512]    [-, y]           3     4x2  512 KiB\n"
    "   6  einsum bsm,mh->bsh #4 #5            f32[4,128,512]  [x, -, y]        5                   268 M\n"
    "   7  h  = max #6, 0                      f32[4,128,512]  [x, -, y]        5                   0.3 M\n"
    "   8  all-gather #3 over x, dim 1         f32[512,512]    [y, -]           4     4x2  512 KiB\n"
    "   9  einsum bsh,hm->bsm #7 #8            f32[4,128,512]  [x, -, -] +y     6                   268 M\n"
    "  10  y  = reduce-scatter #9 over y, dim 2  f32[4,128,128]  [x, -, y]      6     2x4  768 KiB\n"
    "sends 2.5 MiB a device in 4 collectives (all-gather 1.75 MiB, reduce-scatter 768 KiB)\n"
    "537 MFLOP a device, 1/8 of the whole \xc2\xb7 peak 4.25 MiB \xc2\xb7 no padding\n"
    "( +y: partial sums over y )\n");
  layer_finish(&l);
}
END_TEST

START_TEST(plan_of_one_device)
{
  struct layer l;
  layer_init(&l, "x=2 y=4", "8,128,512");
  l.options.device = 5;
  gs_print_plan(&l.text, l.plan, &l.options);
  expect(&l, "device 5 at x=1, y=1 of mesh x=2, y=4\n");
  expect(&l, "f32[4,128,128]  [4:8, :, 128:256]");
  expect(&l, "4 5 6 7");
  l.options.device = 8;
  gs_print_plan(&l.text, l.plan, &l.options);
  expect(&l, "device 8 does not exist: the mesh has devices 0 to 7\n");
  layer_finish(&l);
}
END_TEST

START_TEST(plan_without_unicode_or_colour)
{
  struct layer l;
  layer_init(&l, "x=2 y=4", "8,128,512");
  l.options.unicode = false;
  gs_print_plan(&l.text, l.plan, &l.options);
  gs_print_show(&l.text, l.plan, &l.options);
  gs_print_explain(&l.text, l.plan, &l.options);
  for (const char *c = gs_text_string(&l.text); *c != '\0'; c++)
    ck_assert_msg(*c == '\n' || (*c >= ' ' && *c <= '~'), "byte %d", *c);
  l.options.colour = true;
  gs_print_plan(&l.text, l.plan, &l.options);
  expect(&l, "\033[33mall-gather\033[0m");
  layer_finish(&l);
}
END_TEST

static json_int_t integer_at(json_t *object, const char *key)
{
  json_t *value = json_object_get(object, key);
  ck_assert_msg(json_is_integer(value), "%s is no integer", key);
  return json_integer_value(value);
}

START_TEST(plan_as_json)
{
  struct layer l;
  layer_init(&l, "x=2 y=4", "8,128,512");
  l.options.format = GS_FORMAT_JSON;
  gs_print_plan(&l.text, l.plan, &l.options);
  const char *text = gs_text_string(&l.text);
  ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
  json_t *plan = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  ck_assert_ptr_nonnull(plan);
  ck_assert_int_eq(integer_at(plan, "version"), 1);
  ck_assert_str_eq(json_string_value(json_object_get(plan, "plan")), "y");
  json_t *totals = json_object_get(plan, "totals");
  ck_assert_int_eq(integer_at(totals, "bytes"), 2621440);
  ck_assert_int_eq(integer_at(json_object_get(totals, "bytes_by_kind"), "all_gather"), 1835008);
  ck_assert_int_eq(integer_at(totals, "peak_memory"), 4456448 + 4);
  ck_assert_int_eq(integer_at(totals, "flops_whole"), 8 * integer_at(totals, "flops"));
  json_t *collective = json_array_get(json_object_get(plan, "collectives"), 0);
  ck_assert_str_eq(json_string_value(json_object_get(collective, "kind")), "all_gather");
  ck_assert_int_eq(integer_at(collective, "group_size"), 4);
  ck_assert_int_eq(integer_at(collective, "groups"), 2);
  ck_assert_int_eq(integer_at(collective, "count"), 1);
  ck_assert(json_is_false(json_object_get(collective, "halo")));
  json_t *steps = json_object_get(plan, "steps");
  ck_assert_uint_eq(json_array_size(steps), (size_t)l.plan->program->nsteps);
  json_t *output = json_array_get(json_object_get(plan, "outputs"), 0);
  ck_assert_str_eq(json_string_value(json_object_get(json_object_get(output, "sharding"), "xla")),
                   "{devices=[2,1,4]<=[8]}");
  json_decref(plan);
  layer_finish(&l);
}
END_TEST

typedef void print_report(struct gs_text *text, const struct gs_plan *plan,
                          const struct gs_print_options *options);
static void print_own_diff(struct gs_text *text, const struct gs_plan *plan,
                           const struct gs_print_options *options)
{
  gs_print_diff(text, plan, plan, options);
}
static print_report *const reports[] = { gs_print_plan, gs_print_graph, gs_print_explain,
                                         gs_print_trace, gs_print_show, print_own_diff };

/* Uneven, so that warnings, masks and departures are in it. */
START_TEST(every_report_as_json)
{
  struct layer l;
  layer_init(&l, "x=3 y=5", "4,20,512");
  l.options.format = GS_FORMAT_JSON;
  reports[_i](&l.text, l.plan, &l.options);
  json_error_t error;
  json_t *report = json_loads(gs_text_string(&l.text), JSON_REJECT_DUPLICATES, &error);
  ck_assert_msg(report != NULL, "%s", error.text);
  ck_assert_int_eq(integer_at(report, "version"), 1);
  json_decref(report);
  layer_finish(&l);
}
END_TEST

START_TEST(every_report_as_html)
{
  struct layer l;
  layer_init(&l, "x=2 y=4", "8,128,512");
  l.options.format = GS_FORMAT_HTML;
  reports[_i](&l.text, l.plan, &l.options);
  const char *text = gs_text_string(&l.text);
  ck_assert_ptr_eq(strstr(text, "<!DOCTYPE html>"), text);
  ck_assert_str_eq(text + strlen(text) - strlen("</html>\n"), "</html>\n");
  ck_assert_ptr_null(strchr(text, '\001'));
  ck_assert_ptr_null(strstr(text, "bsm,mh->bsh"));           /* escaped: &gt; */
  layer_finish(&l);
}
END_TEST

static const struct {
  print_report *report;
  enum gs_format format;
  const char *parts[5];
} says[] = {
  { gs_print_plan, GS_FORMAT_DOT,
    { "digraph plan {\n", "fillcolor=orange, label=\"#4 all-gather #1 over y, dim 2\\n" } },
  { gs_print_graph, GS_FORMAT_DOT, { "label=\"einsum bsm,mh->bsh\\n" } },
  { gs_print_graph, GS_FORMAT_TEXT,
    { "mesh(x=2, y=4)\n", "x = input(f32[8,128,512], pattern(0))", "x_1 = shard(x, [x, -1, y])",
      "t6 = einsum(\"bsm,mh->bsh\", x_1, w1_3)", "h = max(t6, 0)" } },
  { gs_print_explain, GS_FORMAT_TEXT,
    { "dim 2  on y  annotated (line 6)\n", "#4 all-gather #1 over y, dim 2: 768 KiB, 30% of all\n",
      "x = shard(x, [x, -1, -1]) would remove it, at 4 times the memory for x\n" } },
  { gs_print_trace, GS_FORMAT_TEXT,
    { "x (line 2) is annotated [x, -1, y]\n", "forward through einsum", "so y is [x, -, y]\n" } },
  { gs_print_warnings, GS_FORMAT_TEXT, { "" } },
};

START_TEST(report_says)
{
  struct layer l;
  layer_init(&l, "x=2 y=4", "8,128,512");
  l.options.format = says[_i].format;
  says[_i].report(&l.text, l.plan, &l.options);
  for (int i = 0; i < 5 && says[_i].parts[i] != NULL; i++)
    expect(&l, says[_i].parts[i]);
  layer_finish(&l);
}
END_TEST

/* An input, elementwise operators, and the output far from the annotation. */
START_TEST(explain_long_chain)
{
  struct layer l;
  memset(&l, 0, sizeof l);
  sketch_init(&l.s, "x=2 y=4");
  struct gs_node *y = annotated(&l.s, "16,32", "x,-", "x", 2);
  for (int i = 0; i < 20; i++)
    y = at_line(sketch_apply(&l.s, i % 2 ? GS_OP_NEG : GS_OP_EXP, y, NULL), NULL, 5);
  l.plan = sketch_plan(&l.s, y, false);
  l.options = (struct gs_print_options){ .device = -1 };
  l.text.arena = l.s.arena;
  gs_print_explain(&l.text, l.plan, &l.options);
  expect(&l, "annotated on x (line 2) dim 0 -> exp");
  expect(&l, "-> 13 more ->");
  expect(&l, "no collectives");
  layer_finish(&l);
}
END_TEST

START_TEST(show_draws_a_grid)
{
  struct layer l;
  layer_init(&l, "x=2 y=4", "8,128,512");
  l.options.unicode = false;
  gs_print_show(&l.text, l.plan, &l.options);
  expect(&l, "        0:128     128:256   256:384   384:512\n"
             "      +---------+---------+---------+---------+\n"
             "  0:4 | 0       | 1       | 2       | 3       |\n"
             "      +---------+---------+---------+---------+\n"
             "  4:8 | 4       | 5       | 6       | 7       |\n");
  layer_finish(&l);
}
END_TEST

static const struct { const char *mesh, *part; } grids[] = {
  { "x=1 y=1", "| 0 |" },
  { "x=2 y=2 z=8", "| 0 1 2 3 +4" },
  { "x=64 y=32", "| 2016" },
  { "x=1024 y=1024", "..." },
};

START_TEST(show_elides)
{
  struct layer l;
  layer_init(&l, grids[_i].mesh, "128,8,512");
  l.options.unicode = false;
  gs_print_show(&l.text, l.plan, &l.options);
  expect(&l, grids[_i].part);
  ck_assert_uint_lt(l.text.length, 6000);
  layer_finish(&l);
}
END_TEST

START_TEST(padding_is_warned_of)
{
  struct layer l;
  layer_init(&l, "x=3 y=4", "4,128,512");
  gs_print_warnings(&l.text, l.plan, &l.options);
  expect(&l, "warning: x (line 2): 33% is padding, dim 0 has 4 elements in 3 parts over x");
  layer_finish(&l);
}
END_TEST

/* Completion leaves h cut, but the product wants all of it everywhere. */
START_TEST(full_replication_is_warned_of)
{
  struct layer l;
  memset(&l, 0, sizeof l);
  sketch_init(&l.s, "x=8");
  struct gs_node *h = annotated(&l.s, "64,512", "x,-", "a", 2);
  h = at_line(sketch_apply(&l.s, GS_OP_TANH, h, NULL), "h", 5);
  struct gs_node *w = annotated(&l.s, "512,4096", "-,x", "w", 3);
  struct gs_node *y = sketch_shard(&l.s, sketch_einsum(&l.s, "bm,mh->bh", h, w), "-,x");
  l.plan = sketch_plan(&l.s, y, false);
  l.text.arena = l.s.arena;
  gs_print_warnings(&l.text, l.plan, &l.options);
  ck_assert_str_eq(gs_text_string(&l.text), "warning: h (line 5): full replication, every device "
                                            "holds all 128 KiB of it (#4)\n");
  layer_finish(&l);
}
END_TEST

START_TEST(diff_of_two_plans)
{
  struct layer l;
  layer_init(&l, "x=3 y=5", "7,20,512");
  const char *name = "y";
  struct gs_partition_options follow = { .follow_completed = true };
  struct gs_plan *before = gs_partition(l.s.arena, &l.s.graph, l.s.mesh, &l.y, &name, 1, &follow);
  gs_print_diff(&l.text, before, l.plan, &l.options);
  expect(&l, "  sends ");
  expect(&l, "y : [x, -, y]\n");
  l.text.length = 0;
  gs_print_diff(&l.text, l.plan, l.plan, &l.options);
  expect(&l, "the same ");
  layer_finish(&l);
}
END_TEST

enum { REPORTS = sizeof reports / sizeof *reports };
RUN_TESTS("print",
  tcase_add_loop_test(cases, units_for_people, 0, sizeof units / sizeof *units);
  tcase_add_test(cases, json_is_escaped);
  tcase_add_test(cases, plan_as_text);
  tcase_add_test(cases, plan_of_one_device);
  tcase_add_test(cases, plan_without_unicode_or_colour);
  tcase_add_test(cases, plan_as_json);
  tcase_add_loop_test(cases, every_report_as_json, 0, REPORTS);
  tcase_add_loop_test(cases, every_report_as_html, 0, REPORTS);
  tcase_add_loop_test(cases, report_says, 0, sizeof says / sizeof *says);
  tcase_add_test(cases, explain_long_chain);
  tcase_add_test(cases, show_draws_a_grid);
  tcase_add_loop_test(cases, show_elides, 0, sizeof grids / sizeof *grids);
  tcase_add_test(cases, padding_is_warned_of);
  tcase_add_test(cases, full_replication_is_warned_of);
  tcase_add_test(cases, diff_of_two_plans);
)
