/* tests/unit/check_graph.c - result types of operators, and what is said when there is none. */
#include <config.h>

#include <string.h>
#include <time.h>

#include "tests/unit/fixture.h"
#include "tests/unit/run.h"

static const struct gs_span nowhere = { 0 };
static const char *const names[] = { "x", "w", "z" };

/* Elementwise operators on inputs x, w, z of the types; the result's type, or the messages. */
static const struct { enum gs_op op; const char *types[3], *want; } elementwise[] = {
  { GS_OP_ADD, { "f32[4,8]", "f32[4,8]" }, "f32[4,8]" },
  { GS_OP_ADD, { "f32[4,8]", "f32[]" }, "f32[4,8]" },
  { GS_OP_ADD, { "f32[]", "f32[]" }, "f32[]" },
  { GS_OP_MUL, { "f32[4,1]", "f32[8]" }, "f32[4,8]" },
  { GS_OP_MUL, { "f32[0,1]", "f32[1,8]" }, "f32[0,8]" },
  { GS_OP_EQ, { "c64[2]", "c64[2]" }, "pred[2]" },
  { GS_OP_ABS, { "c128[2]" }, "f64[2]" },
  { GS_OP_WHERE, { "pred[4,1]", "s32[8]", "s32[]" }, "s32[4,8]" },
  { GS_OP_CLAMP, { "f32[]", "f32[9]", "f32[]" }, "f32[9]" },
  { GS_OP_IS_FINITE, { "bf16[3]" }, "pred[3]" },
  { GS_OP_ADD, { "f32[4,8]", "f32[4,6]" },
    "error: add: shapes do not broadcast: dim 1 of x is 8, dim 1 of w is 6\n"
    "note: x is f32[4,8], w is f32[4,6]\n" },
  { GS_OP_WHERE, { "pred[5]", "f32[1]", "f32[4]" },
    "error: where: shapes do not broadcast: dim 0 of x is 5, dim 0 of z is 4\n"
    "note: x is pred[5], z is f32[4]\n" },
  { GS_OP_ADD, { "f32[4,8]", "bf16[8]" },
    "error: add: element types differ: x is f32[4,8], w is bf16[8]\n"
    "hint: convert one of them: convert(w, f32)\n" },
  { GS_OP_SUB, { "s32[2]", "f16[2]" },
    "error: sub: element types differ: x is s32[2], w is f16[2]\n"
    "hint: convert one of them: convert(x, f16)\n" },
  { GS_OP_EXP, { "c64[2]" }, "c64[2]" },
  { GS_OP_EXP, { "s32[2]" },
    "error: exp: x is s32[2], but it needs a float or complex type\nhint: convert(x, f32)\n" },
  { GS_OP_ERF, { "c64[2]" }, "error: erf: x is c64[2], but it needs a float type\n" },
  { GS_OP_ADD, { "pred[2]", "pred[2]" },
    "error: add: x is pred[2], but it needs an integer, float or complex type\n"
    "hint: convert(x, f32)\n" },
  { GS_OP_AND, { "f32[2]", "f32[2]" },
    "error: and: x is f32[2], but it needs pred or an integer type\n"
    "hint: compare it first: x != 0\n" },
  { GS_OP_SHL, { "f32[2]", "s32[2]" },
    "error: shl: x is f32[2], but it needs an integer type\nhint: convert(x, s32)\n" },
  { GS_OP_LT, { "c64[2]", "c64[2]" },
    "error: lt: x is c64[2], but it needs pred, an integer or a float type\n" },
  { GS_OP_WHERE, { "s32[2]", "f32[2]", "f32[2]" },
    "error: where: the condition x is s32[2], but it needs pred\n"
    "hint: compare it: where(x != 0, a, b)\n" },
  { GS_OP_MUL, { "f32[4194304,1]", "f32[1,1099511627776]" },
    "error: broadcast: f32[4194304,1099511627776] has 2^62 elements, more than can be "
    "addressed\n" },
};

START_TEST(elementwise_types)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *args[3];
  int nargs = 0;
  for (; nargs < 3 && elementwise[_i].types[nargs] != NULL; nargs++)
    args[nargs] = fixture_input(&f, names[nargs], elementwise[_i].types[nargs]);
  struct gs_node *y = gs_build_elementwise(&f.graph, elementwise[_i].op, nowhere, args, nargs);
  const char *type = fixture_type_of(&f, y), *messages = fixture_messages(&f);
  ck_assert_str_eq(messages[0] != '\0' ? messages : type, elementwise[_i].want);
  ck_assert(gs_node_is_poison(&f.graph, y) == (messages[0] != '\0'));
  /* poison is carried along without another word */
  args[0] = &f.graph.poison;
  y = gs_build_elementwise(&f.graph, elementwise[_i].op, nowhere, args, nargs);
  ck_assert(gs_node_is_poison(&f.graph, y));
  ck_assert_str_eq(fixture_messages(&f), "");
  fixture_finish(&f);
}
END_TEST

#define NONE { .concat = { 0 } }

/* One-operand operators with attributes. */
static const struct {
  enum gs_op op;
  const char *type;
  union gs_attrs attrs;
  const char *wanted, *want;
} moves[] = {
  { GS_OP_TRANSPOSE, "f32[2,3,4]", { .transpose = { { 2, 0, 1 } } }, NULL, "f32[4,2,3]" },
  { GS_OP_TRANSPOSE, "f32[2,3]", { .transpose = { { 1, 1 } } }, NULL,
    "error: transpose: dim 1 stands twice in the order; f32[2,3] needs each of 0 to 1 once\n" },
  { GS_OP_TRANSPOSE, "f32[2,3]", { .transpose = { { 1, 2 } } }, NULL,
    "error: transpose: x is f32[2,3], which has dims 0 to 1, not 2\n" },
  { GS_OP_RESHAPE, "f32[2,6]", NONE, "f32[3,4]", "f32[3,4]" },
  { GS_OP_RESHAPE, "f32[2,6]", NONE, "f32[5]",
    "error: reshape: x is f32[2,6] with 12 elements, f32[5] has 5\n" },
  { GS_OP_BROADCAST, "f32[3,1]", { .broadcast = { { 0, 2 } } }, "f32[3,5,4]", "f32[3,5,4]" },
  { GS_OP_BROADCAST, "f32[3]", { .broadcast = { { 1 } } }, "f32[3,5]",
    "error: broadcast: dim 0 of x is 3, but dim 1 of f32[3,5] is 5; only dims of size 1 are "
    "repeated\n" },
  { GS_OP_REVERSE, "f32[3]", { .reverse = { 2 } }, NULL,
    "error: reverse: x is f32[3], which has dims 0 to 0, not 1\n" },
  { GS_OP_ROLL, "f32[]", { .roll = { 0, 1 } }, NULL,
    "error: roll: x is a scalar, it has no dim 0\n" },
  { GS_OP_SLICE, "f32[10]", { .slice = { { 1 }, { 3 } } }, "f32[3]", "f32[3]" },
  { GS_OP_SLICE, "f32[10]", { .slice = { { 1 }, { 3 } } }, "f32[4]",
    "error: slice: 4 elements from 1 in steps of 3 reach outside dim 0 of x, f32[10]\n" },
  { GS_OP_SLICE, "f32[10]", { .slice = { { 10 }, { 1 } } }, "f32[0]", "f32[0]" },
  { GS_OP_SUM, "f32[2,3,4]", { .reduce = { 5, false } }, NULL, "f32[3]" },
  { GS_OP_SUM, "f32[2,3,4]", { .reduce = { 5, true } }, NULL, "f32[1,3,1]" },
  { GS_OP_SUM, "f32[2,3]", { .reduce = { 0, false } }, NULL, "f32[2,3]" },
  { GS_OP_SUM, "pred[2]", { .reduce = { 1, false } }, NULL,
    "error: sum: x is pred[2], but it needs an integer, float or complex type\n"
    "hint: convert(x, s32)\n" },
  { GS_OP_ALL, "f32[2]", { .reduce = { 1, false } }, NULL,
    "error: all: x is f32[2], but it needs pred\nhint: compare it: x != 0\n" },
  { GS_OP_REDUCE_MAX, "c64[2]", { .reduce = { 1, false } }, NULL,
    "error: reduce_max: x is c64[2], but it needs a type with an order\n" },
  { GS_OP_ARGMAX, "f32[2,3]", { .reduce = { 2, true } }, NULL, "s32[2,1]" },
  { GS_OP_ARGMAX, "f32[2,3]", { .reduce = { 3, false } }, NULL,
    "error: argmax: an index along one dim is what it gives; x is f32[2,3]\n"
    "hint: name the dim, as in dim=1, or reshape to one dim first\n" },
  { GS_OP_ARGMIN, "f32[2,0]", { .reduce = { 2, false } }, NULL,
    "error: argmin: dim 1 of x has 0 elements, none to point at\n" },
  { GS_OP_CONVERT, "f32[2,3]", NONE, "bf16[]", "bf16[2,3]" },
  { GS_OP_ALL_GATHER, "f32[2]", NONE, NULL,
    "error: all-gather: only the partitioner makes these\n" },
};

START_TEST(move_types)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *x = fixture_input(&f, "x", moves[_i].type);
  struct gs_type wanted;
  if (moves[_i].wanted != NULL)
    wanted = fixture_type(moves[_i].wanted);
  struct gs_node *y = gs_graph_add(&f.graph, moves[_i].op, nowhere, &x, 1, &moves[_i].attrs,
                                   moves[_i].wanted != NULL ? &wanted : NULL);
  const char *type = fixture_type_of(&f, y), *messages = fixture_messages(&f);
  ck_assert_str_eq(messages[0] != '\0' ? messages : type, moves[_i].want);
  fixture_finish(&f);
}
END_TEST

/* pad and concat of x and w. */
static const struct {
  enum gs_op op;
  const char *types[2];
  union gs_attrs attrs;
  const char *want;
} joins[] = {
  { GS_OP_PAD, { "f32[4]", "f32[]" }, { .pad = { { 1 }, { -2 }, { 2 } } }, "f32[9]" },
  { GS_OP_PAD, { "f32[0]", "f32[]" }, { .pad = { { 1 }, { 2 }, { 7 } } }, "f32[3]" },
  { GS_OP_PAD, { "f32[4]", "f32[]" }, { .pad = { { -3 }, { -2 }, { 0 } } },
    "error: pad: dim 0 of x is 4; low -3 and high -2 would leave -1 elements\n" },
  { GS_OP_PAD, { "f32[4]", "f32[]" }, { .pad = { { 0 }, { 0 }, { -1 } } },
    "error: pad: interior is -1 for dim 0, it cannot be negative\n" },
  { GS_OP_PAD, { "f32[4]", "f32[]" }, { .pad = { { INT64_MAX }, { 2 }, { 0 } } },
    "error: pad: dim 0 becomes larger than can be addressed\n" },
  { GS_OP_PAD, { "f32[4]", "s32[]" }, NONE,
    "error: pad: the value w is s32[], but x is f32[4] and needs f32[]\n" },
  { GS_OP_CONCAT, { "f32[4,2]", "f32[3,2]" }, { .concat = { 0 } }, "f32[7,2]" },
  { GS_OP_CONCAT, { "f32[4,2]", "f32[4,3]" }, { .concat = { 0 } },
    "error: concat: dim 1 is 2 in x but 3 in w; only dim 0 may differ\n" },
  { GS_OP_CONCAT, { "f32[4,2]", "f32[4]" }, { .concat = { 0 } },
    "error: concat: ranks differ: x is f32[4,2], w is f32[4]\n" },
  { GS_OP_CONCAT, { "f32[4,2]", "f32[4]" }, { .concat = { 2 } },
    "error: concat: x is f32[4,2], which has dims 0 to 1, not 2\n" },
};

START_TEST(join_types)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *args[2] = {
    fixture_input(&f, "x", joins[_i].types[0]), fixture_input(&f, "w", joins[_i].types[1])
  };
  struct gs_node *y = gs_graph_add(&f.graph, joins[_i].op, nowhere, args, 2, &joins[_i].attrs,
                                   NULL);
  const char *type = fixture_type_of(&f, y), *messages = fixture_messages(&f);
  ck_assert_str_eq(messages[0] != '\0' ? messages : type, joins[_i].want);
  fixture_finish(&f);
}
END_TEST

static const struct {
  const char *type;
  int rank;
  int64_t dims[3];
  const char *want;
} reshapes[] = {
  { "f32[4,6]", 2, { 8, -1 }, "f32[8,3]" },
  { "f32[]", 1, { -1 }, "f32[1]" },
  { "f32[0,3]", 2, { 3, -1 }, "f32[3,0]" },
  { "f32[0,3]", 2, { 0, -1 },
    "error: reshape: x is f32[0,3] with 0 elements, which 0 (the product of the other dims) does "
    "not divide\n" },
  { "f32[4,6]", 2, { 5, -1 },
    "error: reshape: x is f32[4,6] with 24 elements, which 5 (the product of the other dims) does "
    "not divide\n" },
  { "f32[4,6]", 2, { -1, -1 },
    "error: reshape: dims 0 and 1 are both -1, only one can be left open\n" },
  { "f32[4,6]", 2, { -2, 12 }, "error: reshape: f32[-2,12] has a negative size\n" },
  { "f32[4,6]", 3, { INT64_MAX, INT64_MAX, -1 },
    "error: reshape: f32[9223372036854775807,9223372036854775807,-1] has a negative size\n" },
};

START_TEST(reshape_types)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *x = fixture_input(&f, "x", reshapes[_i].type);
  struct gs_node *y = gs_build_reshape(&f.graph, nowhere, x, reshapes[_i].rank, reshapes[_i].dims);
  const char *type = fixture_type_of(&f, y), *messages = fixture_messages(&f);
  ck_assert_str_eq(messages[0] != '\0' ? messages : type, reshapes[_i].want);
  fixture_finish(&f);
}
END_TEST

START_TEST(operands_without_names_are_numbered)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *args[2] = { fixture_input(&f, "x", "f32[2]"), fixture_input(&f, NULL, "s32[2]") };
  gs_build_elementwise(&f.graph, GS_OP_ADD, nowhere, args, 2);
  ck_assert_str_eq(fixture_messages(&f),
                   "error: add: element types differ: x is f32[2], operand 2 is s32[2]\n"
                   "hint: convert one of them: convert(…, f32)\n");
  gs_graph_add(&f.graph, GS_OP_ADD, nowhere, args, 1, NULL, NULL);
  ck_assert_str_eq(fixture_messages(&f), "error: add: takes 2 operands, not 1\n");
  fixture_finish(&f);
}
END_TEST

START_TEST(inputs_are_counted_and_constants_held)
{
  struct fixture f;
  fixture_init(&f);
  fixture_input(&f, "x", "f32[2]");
  struct gs_node *w = fixture_input(&f, "w", "f32[2]");
  ck_assert_int_eq(f.graph.ninputs, 2);
  ck_assert_int_eq(w->attrs->input.index, 1);
  struct gs_type type = fixture_type("f32[1000]");
  struct gs_tensor *tensor = gs_tensor_new(&f.budget, &type);
  struct gs_node *c = gs_build_constant(&f.graph, nowhere, tensor);
  ck_assert_int_eq(tensor->references, 2);
  gs_tensor_unref(tensor);
  ck_assert_ptr_eq(c->attrs->constant.tensor, tensor);
  struct gs_node *s = gs_build_scalar_int(&f.graph, nowhere, GS_DTYPE_U64, -1);
  ck_assert(gs_element_get_int(GS_DTYPE_U64, s->attrs->constant.tensor->data, 0) == -1);
  fixture_finish(&f);                  /* checks that nothing leaked */
}
END_TEST

START_TEST(identities_add_nothing)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *x = fixture_input(&f, "x", "f32[2,3]");
  int64_t dims[2] = { 2, 3 }, zero[2] = { 0, 0 }, one[2] = { 1, 1 };
  ck_assert_ptr_eq(gs_build_reshape(&f.graph, nowhere, x, 2, dims), x);
  ck_assert_ptr_eq(gs_build_broadcast(&f.graph, nowhere, x, 2, dims, NULL), x);
  ck_assert_ptr_eq(gs_build_slice(&f.graph, nowhere, x, zero, dims, one), x);
  ck_assert_ptr_eq(gs_build_convert(&f.graph, nowhere, x, GS_DTYPE_F32), x);
  ck_assert_int_eq(f.graph.nnodes, 1);
  fixture_finish(&f);
}
END_TEST

START_TEST(graphs_grow_fast)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *x = fixture_input(&f, "x", "f32[2,3]"), *y = x;
  clock_t begin = clock();
  for (int i = 0; i < 100000; i++) {
    struct gs_node *args[2] = { y, x };
    y = gs_build_elementwise(&f.graph, GS_OP_ADD, nowhere, args, 2);
  }
  ck_assert_int_eq(y->id, 100000);
  ck_assert_ptr_eq(f.graph.nodes[100000], y);
  /* generous: sanitizers and busy machines are slow */
  ck_assert_double_lt((double)(clock() - begin) / CLOCKS_PER_SEC, 2);
  fixture_finish(&f);
}
END_TEST

START_TEST(running_out_of_memory_is_an_error)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *x = fixture_input(&f, "x", "f32[2,3]");
  f.budget.limit = 1;
  ck_assert(gs_node_is_poison(&f.graph, gs_build_scalar(&f.graph, nowhere, GS_DTYPE_F32, 1)));
  ck_assert_str_eq(fixture_messages(&f), "error: out of memory\n");
  for (int i = 0; i < 10000; i++)
    x = gs_build_reduce(&f.graph, GS_OP_SUM, nowhere, x, 0, false);
  ck_assert(gs_arena_failed(f.arena));
  fixture_finish(&f);
}
END_TEST

RUN_TESTS("graph",
  tcase_add_loop_test(cases, elementwise_types, 0, sizeof elementwise / sizeof *elementwise);
  tcase_add_loop_test(cases, move_types, 0, sizeof moves / sizeof *moves);
  tcase_add_loop_test(cases, join_types, 0, sizeof joins / sizeof *joins);
  tcase_add_loop_test(cases, reshape_types, 0, sizeof reshapes / sizeof *reshapes);
  tcase_add_test(cases, operands_without_names_are_numbered);
  tcase_add_test(cases, inputs_are_counted_and_constants_held);
  tcase_add_test(cases, identities_add_nothing);
  tcase_add_test(cases, graphs_grow_fast);
  tcase_add_test(cases, running_out_of_memory_is_an_error);
)
