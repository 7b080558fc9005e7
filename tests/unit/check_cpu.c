/* tests/unit/check_cpu.c - local operators of the CPU backend against the reference functions: every
 * elementwise operator on every element type, chains that are fused, reductions along all dims,
 * movement; on sizes around those of blocks, with one to three threads.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/reference/reference.h"
#include "gspmd.h"
#include "tests/unit/run.h"

enum { MAX_INPUTS = 8 };

struct trial {
  const struct gs_graph *graph;
  const struct gs_plan *plan;
  struct gs_node *node;
  struct gs_tensor *inputs[MAX_INPUTS];
  int ninputs;
};

static unsigned next_random(unsigned *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* Values of all sizes, and now and then one that is none. */
static double random_value(enum gs_dtype dtype, unsigned *state)
{
  static const double special[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 1e-40, -1e-40, 1e30, 88.9, -104 };
  unsigned r = next_random(state);
  double around = ((double)(next_random(state) % 20001) - 10000) / 2500;
  if (gs_dtype_kind(dtype) != GS_KIND_FLOAT)
    return gs_dtype_kind(dtype) == GS_KIND_UNSIGNED ? fabs(floor(around * 8)) : floor(around * 8);
  return r % 50 == 0 ? special[r / 50 % (sizeof special / sizeof *special)] : r % 7 == 0 ? around * 10
                                                                                          : around;
}

/* Fill the inputs; TAME: without what is no number. */
static void fill_inputs(struct trial *t, bool tame)
{
  unsigned state = 7;
  for (int i = 0; i < t->graph->nnodes; i++) {
    const struct gs_node *node = t->graph->nodes[i];
    if (node->op != GS_OP_INPUT)
      continue;
    struct gs_tensor *tensor = gs_tensor_new(NULL, &node->type);
    for (int64_t k = 0; k < gs_type_elements(&node->type); k++) {
      double value = random_value(node->type.dtype, &state);
      value = tame && !(fabs(value) < 1e3) ? 1 : value;
      if (node->type.dtype == GS_DTYPE_PRED)
        value = value > 0;
      gs_element_set_complex(node->type.dtype, tensor->data, k, value, 0.5 * value);
    }
    t->inputs[node->attrs->input.index] = tensor;
    t->ninputs++;
  }
}

/* Units in the last place that a result may differ by, and by how much beside that. */
static void compare(const struct gs_tensor *got, const struct gs_tensor *want, const char *text,
                    double units, double beside)
{
  enum gs_dtype dtype = want->type.dtype;
  double last = dtype == GS_DTYPE_BF16  ? 0x1p-7
                : dtype == GS_DTYPE_F16 ? 0x1p-10
                : dtype == GS_DTYPE_F64 ? 0x1p-52 : 0x1p-23;
  ck_assert_msg(gs_type_equal(&got->type, &want->type), "%s: type", text);
  for (int64_t i = 0; i < gs_type_elements(&want->type); i++) {
    double g = gs_element_get(dtype, got->data, i), w = gs_element_get(dtype, want->data, i);
    bool exact = gs_dtype_is_integer(dtype) || dtype == GS_DTYPE_PRED;
    double allowed = exact ? 0 : units * last * fabs(w) + beside + (dtype == GS_DTYPE_F16 ? 1e-7 : 1e-37);
    bool same = g == w || (isnan(g) && isnan(w)) || (isfinite(w) && fabs(g - w) <= allowed);
    ck_assert_msg(same, "%s: element %d is %.9g, not %.9g", text, (int)i, g, w);
  }
}

/* Whether TEXT, which sets y, is a program at all; if so its value must be the reference's. */
static bool check_program(const char *text, int nthreads, bool tame, double units, double beside)
{
  static const char *const names[] = { "y" };
  struct gs_session_options options = { .quiet = true };
  struct gs_session *session = gs_session_new(&options);
  struct gs_diagnostics diagnostics = { 0 };
  struct gs_host host = { .diagnostics = &diagnostics, .nthreads = nthreads, .poison_padding = true };
  struct trial t = { 0 };
  struct gs_tensor *got, *want;
  bool valid = gs_session_run_text(session, "test", text, strlen(text));
  if (valid) {
    t.graph = gs_session_graph(session);
    t.plan = gs_session_plan(session, names, 1);
    t.node = gs_session_tensor(session, "y");
    fill_inputs(&t, tame);
    struct gs_executable *e = gs_backend_cpu.compile(&host, t.plan);
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(gs_backend_cpu.run(e, t.inputs, t.ninputs, &got), GS_OK);
    gs_backend_cpu.release(e);
    ck_assert_int_eq(
        gs_reference_evaluate(&host, t.graph, &t.node, 1, t.inputs, t.ninputs, &want), GS_OK);
    compare(got, want, text, units, beside);
    gs_tensor_unref(got);
    gs_tensor_unref(want);
  }
  for (int i = 0; i < t.ninputs; i++)
    gs_tensor_unref(t.inputs[i]);
  gs_session_free(session);
  return valid;
}

/* ---- Every elementwise operator ---- */

static const int sizes[] = { 0, 1, 7, 1000, 5000 };

static void write_program(char *text, size_t room, enum gs_op op, enum gs_dtype dtype, int size)
{
  const struct gs_op_info *info = gs_op_info(op);
  const char *type = gs_dtype_name(dtype);
  const char *first = op == GS_OP_WHERE ? "pred" : type;
  bool word = op == GS_OP_AND || op == GS_OP_OR;       /* written between the operands */
  if (info->nargs == 1)
    snprintf(text, room, "mesh([1])\na = input(%s[%d])\ny = %s(a)\n", type, size, info->name);
  else if (info->nargs == 2)
    snprintf(text, room, "mesh([1])\na = input(%s[%d])\nb = input(%s[%d])\ny = %s%s%s\n", type, size,
             type, size, word ? "a " : info->name, word ? info->name : "(a, b)", word ? " b" : "");
  else
    snprintf(text, room,
             "mesh([1])\na = input(%s[%d])\nb = input(%s[%d])\nc = input(%s[%d])\ny = %s(a, b, c)\n", first,
             size, type, size, type, size, info->name);
}

START_TEST(elementwise)
{
  enum gs_op op = (enum gs_op)_i;
  char text[256];
  int programs = 0;
  if (gs_op_info(op)->group != GS_GROUP_ELEMENTWISE || op == GS_OP_CONVERT)
    return;
  for (int d = 0; d < GS_DTYPE_COUNT; d++)
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      write_program(text, sizeof text, op, (enum gs_dtype)d, sizes[k]);
      programs += check_program(text, 1 + (int)k % 3, false, 8, 0);
    }
  ck_assert_int_gt(programs, 0);
}
END_TEST

START_TEST(conversions)
{
  char text[128];
  for (int d = 0; d < GS_DTYPE_COUNT; d++) {
    snprintf(text, sizeof text, "mesh([1])\na = input(%s[1500])\ny = convert(a, %s)\n",
             gs_dtype_name((enum gs_dtype)_i), gs_dtype_name((enum gs_dtype)d));
    check_program(text, 1, false, 1, 0);
  }
}
END_TEST

/* ---- Chains, reductions, movement ---- */

/* The program is `y = EXPRESSION` over x, an input of the type, and v, w, s of its last dim, its
 * first dim and rank 0. */
static const struct { const char *expression; double units; } expressions[] = {
  { "relu(x * 2 + 1) - x / 3", 8 },
  { "x * v + s", 8 },
  { "where(x > s, exp(neg(abs(x))), tanh(x) * v)", 16 },
  { "x + expand(w, 1) * v", 8 },
  { "sigmoid(x) * gelu(x) + erf(x) * silu(x)", 64 },
  { "(x + s) * (x + s) - (x + s)", 64 },
  { "softmax(x, dim=1)", 64 },
  { "softmax(x, dim=0)", 64 },
  { "log_softmax(x, dim=1)", 64 },
  { "layer_norm(x, v, v)", 4096 },
  { "x - mean(x, dim=1, keep=true)", 64 },
  { "x * expand(sum(x, dim=1), 1) / (1 + expand(max(abs(x), dim=1), 1))", 256 },
  { "exp(x - expand(max(x, dim=1), 1)) / expand(sum(exp(x - expand(max(x, dim=1), 1)), dim=1), 1)", 64 },
  { "sum(x)", 64 }, { "sum(x, dim=0)", 64 }, { "sum(x, dim=1)", 64 }, { "sum(x, dim=1, keep=true)", 64 },
  { "max(x)", 0 }, { "max(x, dim=0)", 0 }, { "max(x, dim=1)", 0 },
  { "min(x)", 0 }, { "min(x, dim=0)", 0 }, { "min(x, dim=1)", 0 },
  { "prod(x / 4, dim=0)", 4096 }, { "prod(x / 4, dim=1)", 4096 },
  { "sum(x * x * v, dim=1)", 64 }, { "sum(exp(x) * v, dim=0)", 64 },
  { "sqrt(sum(x * x, dim=1)) * w", 64 },
  { "x / sqrt(sum(x * x))", 64 },
  { "logsumexp(x, dim=1) + w", 64 },
  { "any(x > s, dim=1)", 0 }, { "all(x > s - 9, dim=0)", 0 }, { "argmax(x, dim=1)", 0 },
  { "sum(convert(x, s32), dim=1)", 0 }, { "max(convert(x, s8), dim=0)", 0 },
  { "sum(convert(convert(x, u16), u32), dim=0)", 0 },
  { "convert(sum(convert(x, bf16), dim=1), f32)", 0x1p22 },
  { "convert(convert(x, f16) * convert(v, f16), f32)", 16384 },
  { "sum(transpose(x, [1, 0]), dim=0)", 64 }, { "sum(transpose(x, [1, 0]) * w, dim=1)", 64 },
  { "transpose(x, [1, 0])", 0 }, { "transpose(x, [1, 0]) + w", 8 },
  { "broadcast(v, [3, 2], dims=[1])", 0 },
  { "reverse(x, [0])", 0 }, { "reverse(x, [0, 1])", 0 }, { "roll(x, 3, 0)", 0 }, { "roll(x, -1, 1)", 0 },
  { "pad(x, [1, 2], [0, 3], interior=[2, 1], value=5)", 0 },
  { "pad(x, [-1, 2], [1, -1], value=-1)", 0 },
  { "concat([x, x * 2, x], 0)", 8 }, { "concat([x, x + 1], 1)", 8 },
  { "x[::2, :]", 0 }, { "x[:, 1:]", 0 }, { "reshape(x, [-1]) * 2", 8 }
};

static const char *const shapes[][3] = {       /* x, its last dim, its first */
  { "1,1", "1", "1" }, { "3,2", "2", "3" }, { "5,7", "7", "5" }, { "33,64", "64", "33" },
  { "1000,3", "3", "1000" }, { "7,1000", "1000", "7" }, { "9,1500", "1500", "9" }, { "2,40000", "40000", "2" },
  { "1,5000", "5000", "1" }, { "5000,1", "1", "5000" }
};

static void check_expression(const char *expression, double units, const char *mesh, int threads)
{
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    char text[512];
    snprintf(text, sizeof text,
             "%s\nx = input(f32[%s])\nv = input(f32[%s])\nw = input(f32[%s])\ns = input(f32[])\n"
             "%sy = %s\n",
             mesh, shapes[k][0], shapes[k][1], shapes[k][2],
             strchr(mesh, '=') != NULL ? "x = shard(x, [a, b])\n" : "", expression);
    check_program(text, threads, true, units, units * 0x1p-23);
  }
}

START_TEST(alone)
{
  ck_assert(check_program("mesh([1])\nx = input(f32[4])\ny = x * 2\n", 1, true, 0, 0));
  check_expression(expressions[_i].expression, expressions[_i].units, "mesh([1])", 1 + _i % 3);
}
END_TEST

START_TEST(cut)
{
  check_expression(expressions[_i].expression, expressions[_i].units, "mesh(a=2, b=3)", 2);
}
END_TEST

/* Three dims: reductions over each set of them, broadcasts between them.  A sum may be near zero while
 * what it adds up is near a thousand. */
START_TEST(three_dims)
{
  static const char *const forms[] = {
    "sum(x, dim=[%s])", "max(x * x, dim=[%s])", "x - sum(x, dim=[%s], keep=true)",
    "sum(x * z, dim=[%s], keep=true)", "sum(transpose(x, [2, 0, 1]), dim=[%s])"
  };
  static const char *const dims[] = { "0", "1", "2", "0, 1", "0, 2", "1, 2", "0, 1, 2" };
  char form[128], text[256];
  for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
    snprintf(form, sizeof form, forms[_i], dims[k]);
    snprintf(text, sizeof text,
             "mesh([1])\nx = input(f32[6,5,130])\nz = input(f32[6,1,130])\ny = %s\n", form);
    ck_assert(check_program(text, 1 + (int)k % 3, true, 64, 4096 * 0x1p-23));
  }
}
END_TEST

#define COUNT(table) ((int)(sizeof table / sizeof *table))

RUN_TESTS("cpu",
  tcase_add_loop_test(cases, elementwise, 0, GS_OP_COUNT);
  tcase_add_loop_test(cases, conversions, 0, GS_DTYPE_COUNT);
  tcase_add_loop_test(cases, alone, 0, COUNT(expressions));
  tcase_add_loop_test(cases, cut, 0, COUNT(expressions));
  tcase_add_loop_test(cases, three_dims, 0, 5);
)
