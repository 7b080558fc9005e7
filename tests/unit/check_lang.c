/* tests/unit/check_lang.c - memory, messages, types, the operator table and tensors. */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "tests/unit/fixture.h"
#include "tests/unit/run.h"

START_TEST(arena_counts_and_rewinds)
{
  struct gs_budget budget = { 0 };
  struct gs_arena *arena = gs_arena_new(&budget);
  char *first = gs_arena_alloc(arena, 10);
  first[9] = 'x';
  size_t used = budget.used;
  struct gs_arena_mark mark = gs_arena_mark(arena);
  for (int i = 0; i < 100000; i++) {
    char *p = gs_arena_alloc(arena, (size_t)(i % 70));
    ck_assert_uint_eq((uintptr_t)p % _Alignof(max_align_t), 0);
    for (int k = 0; k < i % 70; k++)
      ck_assert_int_eq(p[k], 0);
    memset(p, 0xff, (size_t)(i % 70));
  }
  ck_assert_uint_gt(budget.used, 3000000);
  ck_assert_uint_eq(budget.used, gs_arena_size(arena));
  gs_arena_rewind(arena, mark);
  ck_assert_uint_eq(budget.used, used);
  ck_assert_int_eq(first[9], 'x');
  char *again = gs_arena_alloc(arena, 64);
  for (int k = 0; k < 64; k++)
    ck_assert_int_eq(again[k], 0);
  ck_assert(!gs_arena_failed(arena));
  gs_arena_free(arena);
  ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(arena_budget_is_soft)
{
  struct gs_budget budget = { .limit = 100000 };
  struct gs_arena *arena = gs_arena_new(&budget);
  ck_assert_ptr_null(gs_arena_alloc(arena, (size_t)1 << 30));
  ck_assert(gs_arena_failed(arena));
  gs_arena_clear_failure(arena);
  for (int i = 0; i < 1000; i++)
    ck_assert_ptr_nonnull(gs_arena_alloc(arena, 1000));
  ck_assert(gs_arena_failed(arena));
  ck_assert_uint_le(budget.used, budget.limit);
  ck_assert_ptr_null(gs_arena_array(arena, SIZE_MAX / 2, 3));
  ck_assert_ptr_null(gs_arena_alloc(arena, SIZE_MAX));
  gs_arena_free(arena);
  ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(texts_grow)
{
  struct gs_arena *arena = gs_arena_new(NULL);
  struct gs_text text = { .arena = arena }, none = { 0 };
  ck_assert_str_eq(gs_text_string(&text), "");
  for (int i = 0; i < 1000; i++)
    gs_text_printf(&text, "%d,", i);
  gs_text_add(&text, "end");
  ck_assert_uint_eq(text.length, strlen(text.data));
  ck_assert_int_eq(strncmp(text.data, "0,1,2,3,", 8), 0);
  ck_assert_str_eq(text.data + text.length - 8, ",999,end");
  gs_text_add(&none, "nowhere");
  gs_text_printf(&none, "%d", 1);
  ck_assert_str_eq(gs_text_string(&none), "");
  gs_arena_free(arena);
}
END_TEST

static const char *shown(struct gs_arena *arena, const char *name, const char *source_text,
                         uint32_t begin, uint32_t end)
{
  struct gs_source source = { name, source_text, strlen(source_text), 5 };
  struct gs_diagnostic d = { GS_ERROR, { &source, begin, end }, "no" };
  struct gs_text text = { .arena = arena };
  gs_diagnostic_print(&text, &d, false);
  return gs_text_string(&text);
}

START_TEST(diagnostics_quote_the_line)
{
  struct gs_arena *arena = gs_arena_new(NULL);
  ck_assert_str_eq(shown(arena, "t.gsl", "a = 1\nb = foo(a)\n", 10, 16),
                   "t.gsl:6:5: error: no\n"
                   "    6 | b = foo(a)\n"
                   "      |     ^~~~~~\n");
  ck_assert_str_eq(shown(arena, NULL, "\tb\xc3\xa4 = foo", 4, 5),
                   "error: no\n  \tb\xc3\xa4 = foo\n  \t  ^\n");
  ck_assert_str_eq(shown(arena, NULL, "a\nb", 0, 3), "error: no\n  a\n  ^\n");
  ck_assert_str_eq(shown(arena, NULL, "a\x1b[2J", 1, 2), "error: no\n  a?[2J\n   ^\n");
  ck_assert_str_eq(shown(arena, "e", "", 0, 0), "e:5:1: error: no\n    5 | \n      | ^\n");
  char line[400];
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\0';
  const char *text = shown(arena, NULL, line, 200, 220);
  ck_assert_ptr_nonnull(strstr(text, "  ...xxx"));
  ck_assert_ptr_nonnull(strstr(text, "xxx...\n"));
  ck_assert_uint_lt(strlen(text), 300);
  gs_arena_free(arena);
}
END_TEST

START_TEST(diagnostics_may_be_long)
{
  struct fixture f;
  fixture_init(&f);
  gs_error(&f.diagnostics, (struct gs_span){ 0 }, "%2000d", 7);
  ck_assert_uint_eq(strlen(fixture_messages(&f)), strlen("error: \n") + 2000);
  ck_assert_int_eq(f.diagnostics.errors, 1);
  fixture_finish(&f);
}
END_TEST

START_TEST(sixteen_bit_floats)
{
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    float half = gs_f16_to_f32((uint16_t)bits), brain = gs_bf16_to_f32((uint16_t)bits);
    if (!isnan(half))
      ck_assert_uint_eq(gs_f16_from_f32(half), bits);
    else
      ck_assert(isnan(gs_f16_to_f32(gs_f16_from_f32(half))));
    if (!isnan(brain))
      ck_assert_uint_eq(gs_bf16_from_f32(brain), bits);
    /* half way to the next one goes to the even */
    if ((bits & 0x7fff) < 0x7bff) {
      float next = gs_f16_to_f32((uint16_t)(bits + 1)), middle = (half + next) / 2;
      ck_assert_uint_eq(gs_f16_from_f32(middle), (bits + 1) & ~1u);
      ck_assert_uint_eq(gs_f16_from_f32(nextafterf(middle, next)), bits + 1);
      ck_assert_uint_eq(gs_f16_from_f32(nextafterf(middle, half)), bits);
    }
  }
  ck_assert_uint_eq(gs_f16_from_f32(65519.99f), 0x7bff);
  ck_assert_uint_eq(gs_f16_from_f32(65520.0f), 0x7c00);
  ck_assert_uint_eq(gs_bf16_from_f32(3.3961775e38f), 0x7f80);
}
END_TEST

START_TEST(elements_round_once_and_saturate)
{
  unsigned char data[16];
  /* just above half way between two bf16: f32 in between would round down to even */
  gs_element_set(GS_DTYPE_BF16, data, 0, 1 + 0x1p-8 + 0x1p-40);
  ck_assert_double_eq(gs_element_get(GS_DTYPE_BF16, data, 0), 1 + 0x1p-7);
  gs_element_set(GS_DTYPE_S8, data, 0, -1000.5);
  ck_assert_int_eq(gs_element_get_int(GS_DTYPE_S8, data, 0), -128);
  gs_element_set(GS_DTYPE_S8, data, 0, -1.9);
  ck_assert_int_eq(gs_element_get_int(GS_DTYPE_S8, data, 0), -1);
  gs_element_set(GS_DTYPE_U8, data, 0, 300);
  ck_assert_int_eq(gs_element_get_int(GS_DTYPE_U8, data, 0), 255);
  gs_element_set(GS_DTYPE_U16, data, 0, -3);
  ck_assert_int_eq(gs_element_get_int(GS_DTYPE_U16, data, 0), 0);
  gs_element_set(GS_DTYPE_S64, data, 0, 1e30);
  ck_assert(gs_element_get_int(GS_DTYPE_S64, data, 0) == INT64_MAX);
  gs_element_set(GS_DTYPE_S32, data, 0, NAN);
  ck_assert_int_eq(gs_element_get_int(GS_DTYPE_S32, data, 0), 0);
  gs_element_set_int(GS_DTYPE_S8, data, 0, 257);
  ck_assert_int_eq(gs_element_get_int(GS_DTYPE_S8, data, 0), 1);
  gs_element_set(GS_DTYPE_PRED, data, 0, 0.5);
  ck_assert_int_eq(gs_element_get_int(GS_DTYPE_PRED, data, 0), 1);
  gs_element_set_complex(GS_DTYPE_C128, data, 0, 2, -3);
  ck_assert_double_eq(gs_element_get(GS_DTYPE_C128, data, 0), 2);
  ck_assert_double_eq(gs_element_get_imag(GS_DTYPE_C128, data, 0), -3);
}
END_TEST

static const struct { const char *type; bool valid; int64_t elements; } sizes[] = {
  { "f32[]", true, 1 },
  { "f32[3,4]", true, 12 },
  { "f32[0,4]", true, 0 },
  { "u8[4611686018427387904]", true, (int64_t)1 << 62 },
  { "f32[4611686018427387904]", false, 0 },
  { "f32[1000000000,1000000000,1000000000]", false, 0 },
  { "f32[0,4611686018427387904]", false, 0 },
  { "f32[-1]", false, 0 }
};

START_TEST(type_sizes)
{
  struct gs_type type = fixture_type(sizes[_i].type);
  char buffer[GS_TYPE_TEXT];
  ck_assert_str_eq(gs_type_format(&type, buffer), sizes[_i].type);
  ck_assert_msg(gs_type_valid(&type) == sizes[_i].valid, "%s", sizes[_i].type);
  if (sizes[_i].valid)
    ck_assert(gs_type_elements(&type) == sizes[_i].elements);
}
END_TEST

START_TEST(operator_table_is_tidy)
{
  for (int i = 0; i < GS_OP_COUNT; i++) {
    const struct gs_op_info *info = gs_op_info((enum gs_op)i);
    enum gs_op found;
    bool user = info->usage[0] != '\0';
    ck_assert_msg(gs_op_find(info->name, strlen(info->name), &found) == user, "%s", info->name);
    if (user)
      ck_assert_int_eq((int)found, i);
    for (const char *c = info->name; *c != '\0'; c++)
      ck_assert_msg(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_'
                    || (!user && *c == '-'), "%s", info->name);
    ck_assert_msg(info->help[strlen(info->help) - 1] != '.', "%s", info->name);
    ck_assert_msg(!user || info->usage[0] != '\0', "%s", info->name);
    ck_assert_ptr_nonnull(gs_op_group_name(info->group));
  }
}
END_TEST

/* A filled tensor of TYPE. */
static struct gs_tensor *filled(const char *type_text, struct gs_fill_spec spec)
{
  struct gs_type type = fixture_type(type_text);
  struct gs_tensor *tensor = gs_tensor_new(NULL, &type);
  gs_tensor_fill(tensor, &spec);
  return tensor;
}

START_TEST(pattern_is_exact)
{
  struct gs_tensor *x = filled("f64[3,100]", (struct gs_fill_spec){ .argument = 3 });
  struct gs_tensor *n = filled("s32[300]", (struct gs_fill_spec){ .argument = 3 });
  struct gs_tensor *p = filled("pred[300]", (struct gs_fill_spec){ .argument = 3 });
  for (uint64_t i = 0; i < 300; i++) {
    double value = (double)((i * 2654435761u + 3 * 40503u) % 4294967296u) / 4294967296.0 - 0.5;
    ck_assert_double_eq(((double *)x->data)[i], value);
    ck_assert_int_eq(((int32_t *)n->data)[i], (int32_t)floor(16 * (value + 0.5)));
    ck_assert_int_eq(((uint8_t *)p->data)[i], value > 0);
  }
  gs_tensor_unref(x);
  gs_tensor_unref(n);
  gs_tensor_unref(p);
}
END_TEST

START_TEST(random_fills_have_their_moments)
{
  struct gs_tensor *x = filled("f32[100000]", (struct gs_fill_spec){
                               .kind = GS_FILL_NORMAL, .argument = 1, .mean = 2, .std = 0.5 });
  struct gs_tensor *u = filled("bf16[100000]",
                               (struct gs_fill_spec){ .kind = GS_FILL_UNIFORM, .argument = 1 });
  double sum = 0, squares = 0, total = 0;
  for (int64_t i = 0; i < 100000; i++) {
    double value = gs_element_get(GS_DTYPE_F32, x->data, i) - 2;
    double in_unit = gs_element_get(GS_DTYPE_BF16, u->data, i);
    ck_assert(in_unit >= 0 && in_unit < 1);
    sum += value;
    squares += value * value;
    total += in_unit;
  }
  ck_assert_double_lt(fabs(sum / 100000), 0.01);
  ck_assert_double_lt(fabs(sqrt(squares / 100000) - 0.5), 0.01);
  ck_assert_double_lt(fabs(total / 100000 - 0.5), 0.01);
  gs_tensor_unref(x);
  gs_tensor_unref(u);
}
END_TEST

START_TEST(other_fills)
{
  struct gs_tensor *i = filled("s8[2,3]",
                               (struct gs_fill_spec){ .kind = GS_FILL_IOTA, .argument = 1 });
  ck_assert_mem_eq(i->data, ((int8_t[]){ 0, 1, 2, 0, 1, 2 }), 6);
  struct gs_tensor *d = filled("f32[2,3]",
                               (struct gs_fill_spec){ .kind = GS_FILL_DATA, .data = i });
  ck_assert_float_eq(((float *)d->data)[5], 2);
  struct gs_tensor *full = filled("u8[2]",
                                  (struct gs_fill_spec){ .kind = GS_FILL_FULL, .argument = 7 });
  ck_assert_mem_eq(full->data, ((uint8_t[]){ 7, 7 }), 2);
  gs_tensor_unref(i);
  gs_tensor_unref(d);
  gs_tensor_unref(full);
}
END_TEST

static const struct {
  const char *type;
  double argument;
  enum gs_fill kind;
  const char *text;
} prints[] = {
  { "f32[]", 0.1, GS_FILL_FULL, "0.1" },
  { "f64[]", 1e-7, GS_FILL_FULL, "1e-07" },
  { "s32[3]", 0, GS_FILL_IOTA, "[0, 1, 2]" },
  { "f32[2,3]", 1, GS_FILL_IOTA, "[[0, 1, 2],\n [0, 1, 2]]" },
  { "f32[2]", 0.25, GS_FILL_FULL, "[0.25, 0.25]" },
  { "f32[2]", 1e10, GS_FILL_FULL, "[1.00000e+10, 1.00000e+10]" },
  { "pred[2]", 0, GS_FILL_IOTA, "[false,  true]" },
  { "u64[1]", 3, GS_FILL_FULL, "[3]" },
  { "c64[1]", 1.5, GS_FILL_FULL, "[1.5+0.0i]" },
  { "f32[0,3]", 0, GS_FILL_ZEROS, "[]" },
  { "f32[2]", INFINITY, GS_FILL_FULL, "[inf, inf]" },
  { "s32[2,1,2]", 2, GS_FILL_IOTA, "[[[0, 1]],\n\n [[0, 1]]]" },
  { "s32[2000]", 0, GS_FILL_IOTA, "[   0,    1,    2, ..., 1997, 1998, 1999]" }
};

START_TEST(tensors_print)
{
  struct gs_arena *arena = gs_arena_new(NULL);
  struct gs_text text = { .arena = arena };
  struct gs_tensor *x = filled(prints[_i].type, (struct gs_fill_spec){
                               .kind = prints[_i].kind, .argument = prints[_i].argument });
  gs_tensor_print(&text, x, 6);
  ck_assert_str_eq(gs_text_string(&text), prints[_i].text);
  gs_tensor_unref(x);
  gs_arena_free(arena);
}
END_TEST

START_TEST(large_tensors_print_briefly)
{
  struct gs_arena *arena = gs_arena_new(NULL);
  struct gs_text text = { .arena = arena };
  struct gs_tensor *x = filled("s8[3,3,3,3,3,3,3,3,3,3,3,3]", (struct gs_fill_spec){ 0 });
  gs_tensor_print(&text, x, 6);
  ck_assert_uint_lt(text.length, 100000);
  gs_tensor_unref(x);
  gs_arena_free(arena);
}
END_TEST

START_TEST(tensors_respect_the_budget)
{
  struct gs_budget budget = { .limit = 1000 };
  struct gs_type small = fixture_type("f32[100]"), large = fixture_type("f32[200]");
  struct gs_tensor *x = gs_tensor_new(&budget, &small);
  ck_assert_uint_eq((uintptr_t)x->data % 64, 0);
  ck_assert_ptr_null(gs_tensor_new(&budget, &large));
  gs_tensor_ref(x);
  gs_tensor_unref(x);
  ck_assert_uint_eq(budget.used, 400);
  gs_tensor_unref(x);
  ck_assert_uint_eq(budget.used, 0);
}
END_TEST

RUN_TESTS("lang",
  tcase_add_test(cases, arena_counts_and_rewinds);
  tcase_add_test(cases, arena_budget_is_soft);
  tcase_add_test(cases, texts_grow);
  tcase_add_test(cases, diagnostics_quote_the_line);
  tcase_add_test(cases, diagnostics_may_be_long);
  tcase_add_test(cases, sixteen_bit_floats);
  tcase_add_test(cases, elements_round_once_and_saturate);
  tcase_add_loop_test(cases, type_sizes, 0, sizeof sizes / sizeof *sizes);
  tcase_add_test(cases, operator_table_is_tidy);
  tcase_add_test(cases, pattern_is_exact);
  tcase_add_test(cases, random_fills_have_their_moments);
  tcase_add_test(cases, other_fills);
  tcase_add_loop_test(cases, tensors_print, 0, sizeof prints / sizeof *prints);
  tcase_add_test(cases, large_tensors_print_briefly);
  tcase_add_test(cases, tensors_respect_the_budget);
)
