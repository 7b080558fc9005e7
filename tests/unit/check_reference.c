/* tests/unit/check_reference.c - reference functions against values known by hand. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/reference/reference.h"
#include "tests/unit/fixture.h"
#include "tests/unit/run.h"

static const struct gs_span nowhere = { 0 };

enum { MOST = 12 };

/* A constant of TYPE with VALUES, row-major. */
static struct gs_node *constant(struct fixture *f, const char *text, const double *values)
{
  struct gs_type type = fixture_type(text);
  struct gs_tensor *tensor = gs_tensor_new(&f->budget, &type);
  for (int64_t i = 0; i < gs_type_elements(&type); i++)
    gs_element_set(type.dtype, tensor->data, i, values[i]);
  struct gs_node *node = gs_build_constant(&f->graph, nowhere, tensor);
  gs_tensor_unref(tensor);
  return node;
}

static struct gs_tensor *evaluate(struct fixture *f, struct gs_node *node)
{
  struct gs_host host = { .diagnostics = &f->diagnostics, .budget = &f->budget };
  struct gs_tensor *result = NULL;
  ck_assert_msg(!gs_node_is_poison(&f->graph, node), "%s", fixture_messages(f));
  ck_assert_int_eq(gs_reference_evaluate(&host, &f->graph, &node, 1, NULL, 0, &result), GS_OK);
  ck_assert(gs_type_equal(&result->type, &node->type));
  return result;
}

static bool same(double got, double want, double tolerance)
{
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got);
  if (tolerance == 0 || isinf(want) || want == 0)
    return got == want && !signbit(got) == !signbit(want);
  return fabs(got - want) <= tolerance * fabs(want);
}

/* NODE's value is WANT, row-major; TOLERANCE is relative. */
static void check_values(struct fixture *f, struct gs_node *node, const double *want,
                         double tolerance, const char *what)
{
  struct gs_tensor *t = evaluate(f, node);
  for (int64_t i = 0; i < gs_type_elements(&t->type); i++) {
    double got = gs_element_get(t->type.dtype, t->data, i);
    ck_assert_msg(same(got, want[i], tolerance), "%s: element %d is %.17g, not %.17g", what, (int)i,
                  got, want[i]);
  }
  gs_tensor_unref(t);
}

#define N NAN
#define I INFINITY

/* Operators on up to six elements of a type; exact where TOLERANCE is 0. */
static const struct {
  enum gs_op op; const char *type; double args[3][6], want[6], tolerance;
} points[] = {
  { GS_OP_DIV, "s32[6]", { { 7, -7, 7, -7, 5, -2147483648.0 }, { 2, 2, -2, -2, 0, -1 } },
    { 3, -3, -3, 3, -1, -2147483648.0 }, 0 },
  { GS_OP_REM, "s32[6]", { { 7, -7, 7, -7, 5, -2147483648.0 }, { 2, 2, -2, -2, 0, -1 } },
    { 1, -1, 1, -1, 5, 0 }, 0 },
  { GS_OP_MOD, "s32[6]", { { 7, -7, 7, -7, 5, -2147483648.0 }, { 2, 2, -2, -2, 0, -1 } },
    { 1, 1, -1, -1, 5, 0 }, 0 },
  { GS_OP_DIV, "u8[3]", { { 200, 7, 9 }, { 3, 0, 10 } }, { 66, 255, 0 }, 0 },
  { GS_OP_REM, "u8[3]", { { 200, 7, 9 }, { 3, 0, 10 } }, { 2, 7, 9 }, 0 },
  { GS_OP_REM, "f64[6]", { { 7.5, -7.5, 7.5, -7.5, 1, I }, { 2, 2, -2, -2, 0, 2 } },
    { 1.5, -1.5, 1.5, -1.5, N, N }, 0 },
  { GS_OP_MOD, "f64[6]", { { 7.5, -7.5, 7.5, -7.5, 1, I }, { 2, 2, -2, -2, 0, 2 } },
    { 1.5, 0.5, -0.5, -1.5, N, N }, 0 },
  { GS_OP_ADD, "s8[3]", { { 127, -128, 100 }, { 1, -1, 27 } }, { -128, 127, 127 }, 0 },
  { GS_OP_SUB, "u16[2]", { { 0, 5 }, { 1, 3 } }, { 65535, 2 }, 0 },
  { GS_OP_MUL, "s16[2]", { { 300, -300 }, { 300, 2 } }, { 24464, -600 }, 0 },
  { GS_OP_ABS, "s8[3]", { { -128, -5, 5 } }, { -128, 5, 5 }, 0 },
  { GS_OP_NEG, "u8[2]", { { 1, 0 } }, { 255, 0 }, 0 },
  { GS_OP_SIGN, "s32[3]", { { -9, 0, 9 } }, { -1, 0, 1 }, 0 },
  { GS_OP_SIGN, "f32[6]", { { -2, -0.0, 0, 3, N, -I } }, { -1, -0.0, 0, 1, N, -1 }, 0 },
  { GS_OP_SHL, "s8[5]", { { 1, 1, -1, 3, 1 }, { 7, 8, 4, 200, -1 } }, { -128, 0, -16, 0, 0 }, 0 },
  { GS_OP_SHR, "s8[5]", { { -128, -1, 64, -2, -5 }, { 3, 9, 9, 1, -1 } },
    { -16, -1, 0, -1, -1 }, 0 },
  { GS_OP_SHR, "u32[3]", { { 4294967295.0, 8, 9 }, { 31, 32, 1 } }, { 1, 0, 4 }, 0 },
  { GS_OP_POW, "s32[6]", { { 3, 2, 2, -1, 1, 0 }, { 4, 31, -1, -3, -7, 0 } },
    { 81, -2147483648.0, 0, -1, 1, 1 }, 0 },
  { GS_OP_POW, "f64[5]", { { 2, 0, -8, -8, N }, { 0.5, 0, 2, 0.5, 0 } },
    { M_SQRT2, 1, 64, N, 1 }, 1e-15 },
  { GS_OP_MAX, "f32[5]", { { 1, N, 2, -I, 3 }, { 2, 1, N, 5, -3 } }, { 2, N, N, 5, 3 }, 0 },
  { GS_OP_MIN, "f32[5]", { { 1, N, 2, -I, 3 }, { 2, 1, N, 5, -3 } }, { 1, N, N, -I, -3 }, 0 },
  { GS_OP_MAX, "u32[2]", { { 4294967295.0, 0 }, { 1, 2147483648.0 } },
    { 4294967295.0, 2147483648.0 }, 0 },
  { GS_OP_AND, "u8[2]", { { 12, 255 }, { 10, 15 } }, { 8, 15 }, 0 },
  { GS_OP_OR, "pred[4]", { { 0, 0, 1, 1 }, { 0, 1, 0, 1 } }, { 0, 1, 1, 1 }, 0 },
  { GS_OP_XOR, "pred[4]", { { 0, 0, 1, 1 }, { 0, 1, 0, 1 } }, { 0, 1, 1, 0 }, 0 },
  { GS_OP_NOT, "pred[2]", { { 0, 1 } }, { 1, 0 }, 0 },
  { GS_OP_NOT, "s8[2]", { { 0, -128 } }, { -1, 127 }, 0 },
  { GS_OP_NOT, "u16[2]", { { 0, 255 } }, { 65535, 65280 }, 0 },
  { GS_OP_EQ, "f32[3]", { { 1, N, 0 }, { 1, N, -0.0 } }, { 1, 0, 1 }, 0 },
  { GS_OP_NE, "f32[3]", { { 1, N, 0 }, { 1, N, -0.0 } }, { 0, 1, 0 }, 0 },
  { GS_OP_LT, "u32[2]", { { 4294967295.0, 1 }, { 1, 2 } }, { 0, 1 }, 0 },
  { GS_OP_GE, "f32[3]", { { 1, N, 2 }, { 1, 1, 3 } }, { 1, 0, 0 }, 0 },
  { GS_OP_LE, "s8[2]", { { -1, 1 }, { 1, -1 } }, { 1, 0 }, 0 },
  { GS_OP_GT, "pred[2]", { { 1, 0 }, { 0, 1 } }, { 1, 0 }, 0 },
  { GS_OP_CLAMP, "f32[5]", { { 0, 0, 0, N, 3 }, { -1, 0.5, 2, 1, 1 }, { 1, 1, 1, 1, 2 } },
    { 0, 0.5, 1, N, 2 }, 0 },
  { GS_OP_CLAMP, "u8[2]", { { 10, 10 }, { 250, 3 }, { 200, 200 } }, { 200, 10 }, 0 },
  { GS_OP_RELU, "f32[4]", { { -1, 2, N, -I } }, { 0, 2, N, 0 }, 0 },
  { GS_OP_RELU, "s16[2]", { { -5, 5 } }, { 0, 5 }, 0 },
  { GS_OP_ROUND, "f32[6]", { { 0.5, 1.5, 2.5, -0.5, -1.5, 8388609 } },
    { 0, 2, 2, -0.0, -2, 8388609 }, 0 },
  { GS_OP_FLOOR, "f32[4]", { { 1.5, -1.5, -0.0, I } }, { 1, -2, -0.0, I }, 0 },
  { GS_OP_CEIL, "f32[4]", { { 1.5, -1.5, -0.5, -I } }, { 2, -1, -0.0, -I }, 0 },
  { GS_OP_IS_FINITE, "f16[4]", { { 1, I, -I, N } }, { 1, 0, 0, 0 }, 0 },
  { GS_OP_EXP, "f64[4]", { { 1, 0, -I, 710 } }, { 2.718281828459045, 1, 0, I }, 1e-15 },
  { GS_OP_EXPM1, "f64[3]", { { 1e-20, 1, -I } }, { 1e-20, 1.718281828459045, -1 }, 1e-15 },
  { GS_OP_LOG, "f64[4]", { { 10, 0, -1, I } }, { 2.302585092994046, -I, N, I }, 1e-15 },
  { GS_OP_LOG1P, "f64[3]", { { 1e-20, -1, 1 } }, { 1e-20, -I, 0.6931471805599453 }, 1e-15 },
  { GS_OP_SQRT, "f32[4]", { { 2, -1, -0.0, I } }, { 1.41421353816986084, N, -0.0, I }, 0 },
  { GS_OP_RSQRT, "f64[3]", { { 4, 0, I } }, { 0.5, I, 0 }, 0 },
  { GS_OP_CBRT, "f64[2]", { { -27, 8 } }, { -3, 2 }, 1e-15 },
  { GS_OP_SIN, "f64[2]", { { 1, I } }, { 0.8414709848078965, N }, 1e-15 },
  { GS_OP_COS, "f64[2]", { { 1, 0 } }, { 0.5403023058681398, 1 }, 1e-15 },
  { GS_OP_TAN, "f64[1]", { { 1 } }, { 1.5574077246549023 }, 1e-15 },
  { GS_OP_TANH, "f64[3]", { { 1, I, -I } }, { 0.7615941559557649, 1, -1 }, 1e-15 },
  { GS_OP_SIGMOID, "f64[4]", { { 0, 1, -800, 800 } }, { 0.5, 0.7310585786300049, 0, 1 }, 1e-15 },
  { GS_OP_ERF, "f64[2]", { { 1, -I } }, { 0.8427007929497149, -1 }, 1e-15 },
  { GS_OP_GELU, "f64[3]", { { 1, -10, 40 } },
    { 0.8413447460685429, -7.619853024160525e-23, 40 }, 1e-13 },
  { GS_OP_SILU, "f64[2]", { { 1, -1 } }, { 0.7310585786300049, -0.2689414213699951 }, 1e-15 },
  { GS_OP_SOFTPLUS, "f64[4]", { { 0, 1000, -1000, -40 } },
    { M_LN2, 1000, 0, 4.248354255291589e-18 }, 1e-15 },
  { GS_OP_ATAN2, "f64[4]", { { 1, 0, -0.0, 1 }, { 0, -1, -1, 1 } },
    { M_PI_2, M_PI, -M_PI, M_PI_4 }, 1e-15 },
  { GS_OP_ADD, "bf16[2]", { { 1, 1 }, { 0.00390625, 0.01171875 } }, { 1, 1.015625 }, 0 },
  { GS_OP_MUL, "f16[2]", { { 300, 0.0001 }, { 300, 0.0001 } }, { I, 0 }, 0 },
};

START_TEST(elementwise_points)
{
  struct fixture f;
  struct gs_node *args[3];
  int nargs = gs_op_info(points[_i].op)->nargs;
  fixture_init(&f);
  for (int k = 0; k < nargs; k++)
    args[k] = constant(&f, points[_i].type, points[_i].args[k]);
  struct gs_node *node = gs_build_elementwise(&f.graph, points[_i].op, nowhere, args, nargs);
  check_values(&f, node, points[_i].want, points[_i].tolerance, gs_op_info(points[_i].op)->name);
  fixture_finish(&f);
}
END_TEST

/* A scalar serves for all elements, in every place; more elements than one block. */
START_TEST(elementwise_scalars)
{
  enum { MANY = 1000 };
  static double x[MANY], sum[MANY], difference[MANY];
  static const double ten[] = { 10 };
  struct fixture f;
  fixture_init(&f);
  for (int i = 0; i < MANY; i++) {
    x[i] = i;
    sum[i] = i + 10;
    difference[i] = 10 - i;
  }
  static const char *const vectors[] = { "f32[1000]", "f64[1000]", "s32[1000]", "bf16[100]" };
  static const char *const scalars[] = { "f32[]", "f64[]", "s32[]", "bf16[]" };
  for (int t = 0; t < 4; t++) {
    struct gs_node *xs = constant(&f, vectors[t], x), *ts = constant(&f, scalars[t], ten);
    check_values(
        &f, gs_build_elementwise(&f.graph, GS_OP_ADD, nowhere, (struct gs_node *[]){ xs, ts }, 2),
        sum, 0, vectors[t]);
    check_values(
        &f, gs_build_elementwise(&f.graph, GS_OP_SUB, nowhere, (struct gs_node *[]){ ts, xs }, 2),
        difference, 0, vectors[t]);
  }
  fixture_finish(&f);
}
END_TEST

/* where chooses by its pred in every element type. */
START_TEST(where_in_every_type)
{
  static const double p[] = { 1, 0, 1 }, a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 }, want[] = { 1, 5, 3 };
  char type[16];
  struct fixture f;
  if (_i == GS_DTYPE_PRED)
    return;
  fixture_init(&f);
  snprintf(type, sizeof type, "%s[3]", gs_dtype_name((enum gs_dtype)_i));
  struct gs_node *args[] = { constant(&f, "pred[3]", p), constant(&f, type, a),
                             constant(&f, type, b) };
  check_values(&f, gs_build_elementwise(&f.graph, GS_OP_WHERE, nowhere, args, 3), want, 0, type);
  fixture_finish(&f);
}
END_TEST

static const struct { const char *from, *to; double x[6], want[6]; } conversions[] = {
  { "f32[6]", "s32", { 1.9, -1.9, N, 3e9, -3e9, I },
    { 1, -1, 0, 2147483647, -2147483648.0, 2147483647 } },
  { "f32[6]", "u8", { 1.9, -1.9, N, 300, 255.5, -I }, { 1, 0, 0, 255, 255, 0 } },
  { "f64[3]", "f32", { 1 + 0x1p-24, 1 + 0x1.8p-24, 1e300 }, { 1, 1 + 0x1p-23, I } },
  { "f64[3]", "bf16", { 1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-40, N }, { 1, 1 + 0x1p-7, N } },
  { "f32[4]", "f16", { 65520, 65519, 0x1p-25, 0x1.8p-25 }, { I, 65504, 0, 0x1p-24 } },
  { "s32[3]", "s8", { 127, 128, -129 }, { 127, -128, 127 } },
  { "s32[3]", "pred", { 0, 256, -1 }, { 0, 1, 1 } },
  { "f32[4]", "pred", { 0, -0.0, 0.25, N }, { 0, 0, 1, 1 } },
  { "pred[2]", "f32", { 0, 1 }, { 0, 1 } },
  { "s64[2]", "f32", { 0x1p60, -0x1p40 }, { 0x1p60, -0x1p40 } },
  { "f32[2]", "c64", { 1.5, -2 }, { 1.5, -2 } },
  { "c64[2]", "s32", { 1.5, -2 }, { 1, -2 } },
};

START_TEST(converts)
{
  struct fixture f;
  enum gs_dtype to;
  fixture_init(&f);
  ck_assert(gs_dtype_find(conversions[_i].to, strlen(conversions[_i].to), &to));
  struct gs_node *x = constant(&f, conversions[_i].from, conversions[_i].x);
  check_values(&f, gs_build_convert(&f.graph, nowhere, x, to), conversions[_i].want, 0,
               conversions[_i].to);
  fixture_finish(&f);
}
END_TEST

/* What one function gives for 64-bit integers A and B. */
static int64_t integers(enum gs_op op, enum gs_dtype dtype, int64_t a, int64_t b)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *args[] = { gs_build_scalar_int(&f.graph, nowhere, dtype, a),
                             gs_build_scalar_int(&f.graph, nowhere, dtype, b) };
  struct gs_tensor *t = evaluate(&f, gs_build_elementwise(&f.graph, op, nowhere, args, 2));
  int64_t value = gs_element_get_int(t->type.dtype, t->data, 0);
  gs_tensor_unref(t);
  fixture_finish(&f);
  return value;
}

START_TEST(exact_64_bits)
{
  int64_t big = ((int64_t)1 << 53) + 1;
  ck_assert_int_eq(integers(GS_OP_ADD, GS_DTYPE_S64, big, big), 2 * big);
  ck_assert_int_eq(integers(GS_OP_ADD, GS_DTYPE_S64, INT64_MAX, 1), INT64_MIN);
  ck_assert_int_eq(integers(GS_OP_DIV, GS_DTYPE_S64, INT64_MIN, -1), INT64_MIN);
  ck_assert_int_eq(integers(GS_OP_REM, GS_DTYPE_S64, INT64_MIN, -1), 0);
  ck_assert_int_eq(integers(GS_OP_DIV, GS_DTYPE_U64, -1, 2), INT64_MAX);
  ck_assert_int_eq(integers(GS_OP_LT, GS_DTYPE_U64, 1, -1), 1);
  ck_assert_int_eq(integers(GS_OP_MAX, GS_DTYPE_U64, 1, -1), -1);
  ck_assert_int_eq(integers(GS_OP_POW, GS_DTYPE_U64, 1, -1), 1);
  /* The order of 3 divides 2^62. */
  ck_assert_int_eq(integers(GS_OP_POW, GS_DTYPE_U64, 3, INT64_MIN), 1);
  ck_assert_int_eq(integers(GS_OP_SHR, GS_DTYPE_U64, INT64_MIN, 63), 1);
  ck_assert_int_eq(integers(GS_OP_SHR, GS_DTYPE_S64, INT64_MIN, 63), -1);
  ck_assert_int_eq(integers(GS_OP_SHL, GS_DTYPE_S64, 1, 64), 0);
}
END_TEST

/* Large integers are rounded to a narrow float once, not to double first. */
START_TEST(large_integers_to_float)
{
  static const struct { enum gs_dtype from; int64_t value; float want; } cases[] = {
    { GS_DTYPE_S64, ((int64_t)1 << 60) + ((int64_t)1 << 36) + 1, 0x1.000002p60f },
    { GS_DTYPE_S64, ((int64_t)1 << 60) + ((int64_t)1 << 36), 0x1p60f },
    { GS_DTYPE_S64, -((int64_t)1 << 60) - ((int64_t)1 << 36) - 1, -0x1.000002p60f },
    { GS_DTYPE_U64, -1, 0x1p64f },
    { GS_DTYPE_U64, INT64_MIN + ((int64_t)1 << 39) + 1, 0x1.000002p63f },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fixture f;
    fixture_init(&f);
    struct gs_node *x = gs_build_scalar_int(&f.graph, nowhere, cases[i].from, cases[i].value);
    double want = (double)cases[i].want;
    check_values(&f, gs_build_convert(&f.graph, nowhere, x, GS_DTYPE_F32), &want, 0, "convert");
    fixture_finish(&f);
  }
}
END_TEST

/* Reductions over DIMS of a tensor of up to 12 elements. */
static const struct {
  enum gs_op op; const char *type; uint32_t dims; double x[MOST], want[MOST];
} reductions[] = {
  { GS_OP_SUM, "f32[2,3]", 1, { 1, 2, 3, 4, 5, 6 }, { 5, 7, 9 } },
  { GS_OP_SUM, "f32[2,3]", 2, { 1, 2, 3, 4, 5, 6 }, { 6, 15 } },
  { GS_OP_SUM, "f32[2,3]", 3, { 1, 2, 3, 4, 5, 6 }, { 21 } },
  { GS_OP_SUM, "f32[2,3]", 0, { 1, 2, 3, 4, 5, 6 }, { 1, 2, 3, 4, 5, 6 } },
  { GS_OP_SUM, "f32[2,2,3]", 5, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, { 30, 48 } },
  { GS_OP_SUM, "f32[2,0]", 2, { 0 }, { 0, 0 } },
  { GS_OP_SUM, "s8[3]", 1, { 100, 100, 100 }, { 44 } },
  { GS_OP_SUM, "bf16[4]", 1, { 256, 1, 1, 1 }, { 260 } },
  { GS_OP_SUM, "c64[3]", 1, { 1, 2, 3 }, { 6 } },
  { GS_OP_PROD, "f64[2,2]", 1, { 1, 2, 3, 4 }, { 3, 8 } },
  { GS_OP_PROD, "s32[0,2]", 1, { 0 }, { 1, 1 } },
  { GS_OP_PROD, "c128[2]", 1, { 3, 4 }, { 12 } },
  { GS_OP_REDUCE_MAX, "f32[2,3]", 2, { 1, N, 3, -4, -5, -I }, { N, -4 } },
  { GS_OP_REDUCE_MAX, "f32[2,0]", 2, { 0 }, { -I, -I } },
  { GS_OP_REDUCE_MIN, "f32[2,3]", 2, { 1, N, 3, -4, -5, -I }, { N, -I } },
  { GS_OP_REDUCE_MAX, "s8[0,1]", 1, { 0 }, { -128 } },
  { GS_OP_REDUCE_MIN, "s8[0,1]", 1, { 0 }, { 127 } },
  { GS_OP_REDUCE_MIN, "u16[0,1]", 1, { 0 }, { 65535 } },
  { GS_OP_REDUCE_MAX, "u32[3]", 1, { 1, 4294967295.0, 5 }, { 4294967295.0 } },
  { GS_OP_REDUCE_MAX, "pred[2]", 1, { 0, 1 }, { 1 } },
  { GS_OP_ALL, "pred[2,2]", 2, { 1, 1, 1, 0 }, { 1, 0 } },
  { GS_OP_ANY, "pred[2,2]", 2, { 0, 0, 1, 0 }, { 0, 1 } },
  { GS_OP_ALL, "pred[0]", 1, { 0 }, { 1 } },
  { GS_OP_ANY, "pred[0]", 1, { 0 }, { 0 } },
  { GS_OP_ARGMAX, "f32[2,3]", 2, { 1, 3, 3, 5, N, N }, { 1, 1 } },
  { GS_OP_ARGMIN, "f32[2,3]", 2, { 3, 1, 1, 5, N, N }, { 1, 1 } },
  { GS_OP_ARGMAX, "f32[2,3]", 1, { 1, 3, 3, 5, 0, 3 }, { 1, 0, 0 } },
  { GS_OP_ARGMAX, "u32[2]", 1, { 1, 4294967295.0 }, { 1 } },
  { GS_OP_ARGMIN, "s64[3]", 1, { 1, -4, -4 }, { 1 } },
  { GS_OP_ARGMAX, "pred[3]", 1, { 0, 1, 1 }, { 1 } },
};

START_TEST(reduces)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *x = constant(&f, reductions[_i].type, reductions[_i].x);
  for (int keep = 0; keep < 2; keep++)
    check_values(
        &f, gs_build_reduce(&f.graph, reductions[_i].op, nowhere, x, reductions[_i].dims, keep),
        reductions[_i].want, 0, gs_op_info(reductions[_i].op)->name);
  fixture_finish(&f);
}
END_TEST

static const struct {
  const char *spec, *types[2]; double a[MOST], b[MOST], want[MOST];
} products[] = {
  { "ij,jk->ik", { "f32[2,2]", "f32[2,2]" }, { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 19, 22, 43, 50 } },
  { "ij,kj->ik", { "f32[2,2]", "f32[2,2]" }, { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 17, 23, 39, 53 } },
  { "ij,jk->ki", { "f64[2,2]", "f64[2,2]" }, { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 19, 43, 22, 50 } },
  { "i,j->ij", { "s32[2]", "s32[3]" }, { 2, 3 }, { 1, 2, 3 }, { 2, 4, 6, 3, 6, 9 } },
  { "ij,ij->", { "f32[2,2]", "f32[2,2]" }, { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 70 } },
  { "bi,bi->b", { "bf16[2,2]", "bf16[2,2]" }, { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 17, 53 } },
  { "i,i->", { "s8[2]", "s8[2]" }, { 100, 100 }, { 1, 2 }, { 44 } },
  { "i,i->", { "c64[2]", "c64[2]" }, { 1, 2 }, { 3, 4 }, { 11 } },
  { "ij,jk->ik", { "f32[2,0]", "f32[0,2]" }, { 0 }, { 0 }, { 0, 0, 0, 0 } },
  { "i,i->", { "u64[2]", "u64[2]" }, { 0x1p62, 0x1p62 }, { 2, 1 }, { 0x1p63 + 0x1p62 } },
};

START_TEST(einsums)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *args[] = { constant(&f, products[_i].types[0], products[_i].a),
                             constant(&f, products[_i].types[1], products[_i].b) };
  check_values(&f, gs_build_einsum(&f.graph, nowhere, products[_i].spec, args, 2),
               products[_i].want, 0, products[_i].spec);
  fixture_finish(&f);
}
END_TEST

/* Sums side by side and one by one are the same, whatever lies contiguous. */
START_TEST(einsum_orders)
{
  static const struct { const char *spec, *turned, *a, *b, *b_turned; } pairs[] = {
    { "ik,kj->ij", "ik,jk->ij", "f32[5,300]", "f32[300,70]", "f32[70,300]" },
    { "bik,bkj->bij", "bik,bjk->bij", "f32[3,5,30]", "f32[3,30,17]", "f32[3,17,30]" },
    { "ikl,klj->ij", "ikl,jkl->ij", "f32[4,6,5]", "f32[6,5,300]", "f32[300,6,5]" },
  };
  struct fixture f;
  fixture_init(&f);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    struct gs_node *a = fixture_input(&f, "a", pairs[i].a), *b = fixture_input(&f, "b", pairs[i].b);
    int rank = b->type.rank, kept = i == 1 ? 1 : 0;
    union gs_attrs turn = { .transpose = { { 0 } } };
    for (int d = 0; d < rank; d++)     /* the last dim comes after those kept in front */
      turn.transpose.dims[d] = d < kept ? d : d == kept ? rank - 1 : d - 1;
    struct gs_node *turned = gs_graph_add(&f.graph, GS_OP_TRANSPOSE, nowhere, &b, 1, &turn, NULL);
    ck_assert_str_eq(fixture_type_of(&f, turned), pairs[i].b_turned);
    struct gs_node *one[] = { a, b }, *other[] = { a, turned };
    struct gs_tensor *x = evaluate(&f, gs_build_einsum(&f.graph, nowhere, pairs[i].spec, one, 2));
    struct gs_tensor *y =
        evaluate(&f, gs_build_einsum(&f.graph, nowhere, pairs[i].turned, other, 2));
    ck_assert(gs_type_equal(&x->type, &y->type));
    ck_assert_mem_eq(x->data, y->data, (size_t)gs_type_bytes(&x->type));
    gs_tensor_unref(x);
    gs_tensor_unref(y);
  }
  fixture_finish(&f);
}
END_TEST

/* Operators that move elements, of x = 0 1 2 … of a type. */
static const struct {
  const char *what; enum gs_op op; const char *type, *wanted;
  union gs_attrs attrs; double want[MOST];
} movements[] = {
  { "transpose", GS_OP_TRANSPOSE, "f32[2,3]", NULL, { .transpose = { { 1, 0 } } },
    { 0, 3, 1, 4, 2, 5 } },
  { "transpose of bytes", GS_OP_TRANSPOSE, "u8[2,1,2]", NULL, { .transpose = { { 2, 1, 0 } } },
    { 0, 2, 1, 3 } },
  { "broadcast", GS_OP_BROADCAST, "f32[2]", "f32[2,3]", { .broadcast = { { 0 } } },
    { 0, 0, 0, 1, 1, 1 } },
  { "broadcast of size 1", GS_OP_BROADCAST, "f32[1,2]", "f32[3,2]", { .broadcast = { { 0, 1 } } },
    { 0, 1, 0, 1, 0, 1 } },
  { "reverse", GS_OP_REVERSE, "s64[2,3]", NULL, { .reverse = { 2 } }, { 2, 1, 0, 5, 4, 3 } },
  { "reverse both", GS_OP_REVERSE, "s64[2,3]", NULL, { .reverse = { 3 } }, { 5, 4, 3, 2, 1, 0 } },
  { "slice", GS_OP_SLICE, "f32[3,4]", "f32[2,2]", { .slice = { { 1, 0 }, { 1, 3 } } },
    { 4, 7, 8, 11 } },
  { "roll", GS_OP_ROLL, "f32[5]", NULL, { .roll = { 0, 2 } }, { 3, 4, 0, 1, 2 } },
  { "roll back, more than once round", GS_OP_ROLL, "f32[5]", NULL, { .roll = { 0, -7 } },
    { 2, 3, 4, 0, 1 } },
  { "roll of dim 0", GS_OP_ROLL, "c128[2,2]", NULL, { .roll = { 0, 1 } }, { 2, 3, 0, 1 } },
  { "reshape", GS_OP_RESHAPE, "f32[2,3]", "f32[3,2]", { .reverse = { 0 } }, { 0, 1, 2, 3, 4, 5 } },
};

START_TEST(moves)
{
  static const double counting[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
  struct fixture f;
  fixture_init(&f);
  struct gs_node *x = constant(&f, movements[_i].type, counting);
  struct gs_type wanted = { 0 };
  if (movements[_i].wanted != NULL)
    wanted = fixture_type(movements[_i].wanted);
  struct gs_node *y = gs_graph_add(&f.graph, movements[_i].op, nowhere, &x, 1, &movements[_i].attrs,
                                   movements[_i].wanted != NULL ? &wanted : NULL);
  check_values(&f, y, movements[_i].want, 0, movements[_i].what);
  fixture_finish(&f);
}
END_TEST

START_TEST(pads)
{
  static const struct {
    const char *type; union gs_attrs attrs; double want[MOST];
  } cases[] = {
    { "f32[3]", { .pad = { { 1 }, { 2 }, { 0 } } }, { 9, 0, 1, 2, 9, 9 } },
    { "f32[3]", { .pad = { { 0 }, { 0 }, { 2 } } }, { 0, 9, 9, 1, 9, 9, 2 } },
    { "f32[3]", { .pad = { { -1 }, { 1 }, { 1 } } }, { 9, 1, 9, 2, 9 } },
    { "s32[2,2]", { .pad = { { 0, -1 }, { 1, 1 }, { 0, 0 } } }, { 1, 9, 3, 9, 9, 9 } },
    { "f32[0]", { .pad = { { 1 }, { 1 }, { 0 } } }, { 9, 9 } },
  };
  static const double counting[] = { 0, 1, 2, 3 }, nine[] = { 9 };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fixture f;
    fixture_init(&f);
    struct gs_node *x = constant(&f, cases[i].type, counting);
    struct gs_node *args[] = { x, constant(&f, x->type.dtype == GS_DTYPE_F32 ? "f32[]" : "s32[]",
                                           nine) };
    check_values(&f, gs_graph_add(&f.graph, GS_OP_PAD, nowhere, args, 2, &cases[i].attrs, NULL),
                 cases[i].want, 0, "pad");
    fixture_finish(&f);
  }
}
END_TEST

START_TEST(concatenations_and_counts)
{
  static const double a[] = { 1, 2 }, b[] = { 3, 4, 5, 6 }, first[] = { 1, 2, 3, 4, 5, 6 },
                      second[] = { 1, 3, 4, 2, 5, 6 }, count[] = { 0, 1, 2, 0, 1, 2 };
  struct fixture f;
  fixture_init(&f);
  union gs_attrs dim0 = { .concat = { 0 } }, dim1 = { .concat = { 1 } };
  struct gs_node *rows[] = { constant(&f, "f32[1,2]", a), constant(&f, "f32[2,2]", b) };
  check_values(&f, gs_graph_add(&f.graph, GS_OP_CONCAT, nowhere, rows, 2, &dim0, NULL), first, 0,
               "concat");
  struct gs_node *columns[] = { constant(&f, "f32[2,1]", a), constant(&f, "f32[2,2]", b) };
  check_values(&f, gs_graph_add(&f.graph, GS_OP_CONCAT, nowhere, columns, 2, &dim1, NULL), second,
               0, "concat");
  union gs_attrs iota = { .iota = { .dim = 1 } };
  struct gs_type types[] = { fixture_type("s32[2,3]"), fixture_type("f16[2,3]") };
  for (int i = 0; i < 2; i++)
    check_values(&f, gs_graph_add(&f.graph, GS_OP_IOTA, nowhere, NULL, 0, &iota, &types[i]), count,
                 0, "iota");
  fixture_finish(&f);
}
END_TEST

/* Inputs given and filled, values dropped after their last use, interrupts. */
START_TEST(evaluations)
{
  struct fixture f;
  struct gs_host host = { .diagnostics = &f.diagnostics, .budget = &f.budget };
  fixture_init(&f);
  struct gs_node *x = fixture_input(&f, "x", "f32[100000]"), *y = x;
  for (int i = 0; i < 50; i++)
    y = gs_build_elementwise(&f.graph, GS_OP_NEG, nowhere, &y, 1);
  struct gs_tensor *given = gs_tensor_new(&f.budget, &x->type), *outputs[2];
  memset(given->data, 0, 400000);
  ((float *)given->data)[7] = 7;
  f.budget.limit = f.budget.used + 1000000;      /* room for two values beside the input */
  struct gs_node *nodes[] = { y, y };
  ck_assert_int_eq(gs_reference_evaluate(&host, &f.graph, nodes, 2, &given, 1, outputs), GS_OK);
  ck_assert_double_eq(gs_element_get(GS_DTYPE_F32, outputs[0]->data, 7), 7);
  ck_assert_ptr_eq(outputs[0], outputs[1]);
  gs_tensor_unref(outputs[0]);
  gs_tensor_unref(outputs[1]);
  f.budget.limit = f.budget.used + 600000;
  ck_assert_int_eq(gs_reference_evaluate(&host, &f.graph, nodes, 2, &given, 1, outputs), GS_FAILED);
  ck_assert_ptr_null(outputs[0]);
  ck_assert_str_eq(fixture_messages(&f), "error: out of memory for the value of neg\n");
  f.budget.limit = 0;
  _Atomic int interrupt = 1;
  host.interrupt = &interrupt;
  ck_assert_int_eq(gs_reference_evaluate(&host, &f.graph, nodes, 2, &given, 1, outputs),
                   GS_INTERRUPTED);
  ck_assert_ptr_null(outputs[1]);
  gs_tensor_unref(given);
  fixture_finish(&f);
}
END_TEST

#define ADD_EACH(test, table) \
  tcase_add_loop_test(cases, test, 0, (int)(sizeof table / sizeof *table))

RUN_TESTS("reference",
  ADD_EACH(elementwise_points, points);
  tcase_add_test(cases, elementwise_scalars);
  tcase_add_loop_test(cases, where_in_every_type, 0, GS_DTYPE_COUNT);
  ADD_EACH(converts, conversions);
  tcase_add_test(cases, exact_64_bits);
  tcase_add_test(cases, large_integers_to_float);
  ADD_EACH(reduces, reductions);
  ADD_EACH(einsums, products);
  tcase_add_test(cases, einsum_orders);
  ADD_EACH(moves, movements);
  tcase_add_test(cases, pads);
  tcase_add_test(cases, concatenations_and_counts);
  tcase_add_test(cases, evaluations);
)
