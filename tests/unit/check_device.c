/* tests/unit/check_device.c - collectives and device steps of the CPU backend, on programs written
 * by hand: one or two steps between an input cut in one way and a result cut in another.
 *
 * Padding and all undefined areas are poisoned, so that a step which reads them gives another
 * result.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/reference/reference.h"
#include "tests/unit/fixture.h"
#include "tests/unit/run.h"
#include "tests/unit/sketch.h"

enum { MAX_STEPS = 8, MAX_INPUTS = 2 };

struct chain {
  struct sketch s;
  int nsteps, ninputs;
  struct gs_step steps[MAX_STEPS];
  int args[MAX_STEPS][MAX_INPUTS];
  union gs_attrs attrs[MAX_STEPS];
  struct gs_axis axes[MAX_STEPS][8];
  struct gs_tensor *inputs[MAX_INPUTS];
  struct gs_program program;
  struct gs_program_output output;
};

static void chain_init(struct chain *c, const char *mesh)
{
  memset(c, 0, sizeof *c);
  sketch_init(&c->s, mesh);
}

static void chain_finish(struct chain *c)
{
  for (int i = 0; i < c->ninputs; i++)
    gs_tensor_unref(c->inputs[i]);
  sketch_finish(&c->s);
}

/* Append a step over the step before it (collectives) or none; its attributes are still empty. */
static union gs_attrs *chain_add(struct chain *c, enum gs_op op, const char *type,
                                 const char *sharding)
{
  int i = c->nsteps++;
  struct gs_step *step = &c->steps[i];
  union gs_attrs leaf = { .input = { .index = c->s.graph.ninputs } };
  struct gs_type global = fixture_type(type);
  *step = (struct gs_step){ .op = op, .args = c->args[i], .attrs = &c->attrs[i], .global = global };
  step->nargs = op == GS_OP_INPUT || op == GS_OP_IOTA ? 0 : 1;
  c->args[i][0] = i - 1;
  step->sharding = sketch_sharding(&c->s, sharding);
  step->type = gs_sharding_local(step->sharding, &global);
  step->node = gs_graph_add(&c->s.graph, GS_OP_INPUT, (struct gs_span){ 0 }, NULL, 0, &leaf,
                            &global);
  step->reason = gs_op_is_collective(op) ? "a test" : NULL;
  return &c->attrs[i];
}

/* Axes by their letters, for the step last added; returns the step's attributes. */
static union gs_attrs *chain_along(struct chain *c, union gs_attrs *attrs, const char *names,
                                   int dim)
{
  struct gs_axis *axes = c->axes[c->nsteps - 1];
  for (int i = 0; names[i] != '\0'; i++) {
    char name[] = { names[i], '\0' };
    axes[i] = gs_axis_whole(c->s.mesh, gs_mesh_find(c->s.mesh, name));
  }
  attrs->device.axes = axes;
  attrs->device.naxes = (int)strlen(names);
  attrs->device.dim = dim;
  attrs->device.reduce = GS_OP_SUM;
  return attrs;
}

/* Small values that every element type holds and no two neighbours share. */
static struct gs_tensor *numbers(const char *type, int first)
{
  struct gs_type t = fixture_type(type);
  struct gs_tensor *tensor = gs_tensor_new(NULL, &t);
  for (int64_t i = 0; i < gs_type_elements(&t); i++)
    gs_element_set(t.dtype, tensor->data, i,
                   t.dtype == GS_DTYPE_PRED ? i % 3 == 0 : (double)((i + first) % 11));
  return tensor;
}

static void chain_input(struct chain *c, const char *type, const char *sharding)
{
  union gs_attrs *attrs = chain_add(c, GS_OP_INPUT, type, sharding);
  attrs->input.index = c->ninputs;
  c->inputs[c->ninputs] = numbers(type, 1 + 3 * c->ninputs);
  c->ninputs++;
}

static enum gs_status chain_run_with(struct chain *c, struct gs_host *host,
                                     struct gs_tensor **result)
{
  int last = c->nsteps - 1;
  struct gs_node *node = (struct gs_node *)(uintptr_t)c->steps[last].node;
  c->output = (struct gs_program_output){ "y", last, node };
  c->program = (struct gs_program){ c->s.mesh, c->nsteps, c->steps, 1, &c->output };
  const char *wrong = gs_program_verify(c->s.arena, &c->program);
  ck_assert_msg(wrong == NULL, "%s", wrong);
  struct gs_plan plan = { .graph = &c->s.graph, .mesh = c->s.mesh, .program = &c->program };
  *result = NULL;
  host->diagnostics = &c->s.diagnostics;
  struct gs_executable *e = gs_backend_cpu.compile(host, &plan);
  if (e == NULL)
    return GS_FAILED;
  enum gs_status status = gs_backend_cpu.run(e, c->inputs, c->ninputs, result);
  if (status == GS_OK) {               /* nothing may be left over from the first run */
    gs_tensor_unref(*result);
    status = gs_backend_cpu.run(e, c->inputs, c->ninputs, result);
  }
  gs_backend_cpu.release(e);
  return status;
}

/* The result is WANT, whatever the number of threads. */
static void chain_expect(struct chain *c, const struct gs_tensor *want, const char *what)
{
  for (int threads = 1; threads <= 3; threads++) {
    struct gs_host host = { .nthreads = threads, .poison_padding = true };
    struct gs_tensor *got;
    ck_assert_msg(chain_run_with(c, &host, &got) == GS_OK, "%s: %s", what, c->s.first_error);
    ck_assert_msg(gs_type_equal(&want->type, &got->type), "%s: type", what);
    for (int64_t i = 0; i < gs_type_elements(&want->type); i++) {
      double w = gs_element_get(want->type.dtype, want->data, i);
      double g = gs_element_get(got->type.dtype, got->data, i);
      ck_assert_msg(w == g, "%s: element %d is %g, not %g", what, (int)i, g, w);
    }
    gs_tensor_unref(got);
  }
}

/* Steps that only change how a value is cut: what comes out is what went in. */
static const struct {
  enum gs_op op;
  const char *mesh, *type, *from, *to, *axes;
  int dim, split_dim;
} moves[] = {
  { GS_OP_ALL_GATHER, "x=2 y=3", "f32[6,4]", "x,-", "-,-", "x", 0, 0 },
  { GS_OP_ALL_GATHER, "x=2 y=3", "f32[5,4]", "x,-", "-,-", "x", 0, 0 },
  { GS_OP_ALL_GATHER, "x=2 y=3", "f32[5,4]", "x,y", "x,-", "y", 1, 0 },
  { GS_OP_ALL_GATHER, "x=2 y=3", "f32[2,7]", "-,xy", "-,-", "xy", 1, 0 },
  { GS_OP_ALL_GATHER, "x=2 y=3", "f32[2,7]", "-,yx", "-,-", "yx", 1, 0 },
  { GS_OP_ALL_GATHER, "x=2 y=3", "f32[11,2]", "xy,-", "x,-", "y", 0, 0 },
  { GS_OP_ALL_GATHER, "x=8", "f32[3]", "x", "-", "x", 0, 0 },
  { GS_OP_ALL_GATHER, "x=4", "f32[0,3]", "x,-", "-,-", "x", 0, 0 },
  { GS_OP_ALL_GATHER, "x=4", "c128[5]", "x", "-", "x", 0, 0 },
  { GS_OP_ALL_GATHER, "x=4", "pred[5]", "x", "-", "x", 0, 0 },
  { GS_OP_SHARD_SLICE, "x=2 y=3", "f32[6,4]", "-,-", "x,-", "x", 0, 0 },
  { GS_OP_SHARD_SLICE, "x=2 y=3", "f32[5,4]", "-,-", "x,-", "x", 0, 0 },
  { GS_OP_SHARD_SLICE, "x=2 y=3", "f32[11,2]", "x,-", "xy,-", "y", 0, 0 },
  { GS_OP_SHARD_SLICE, "x=2 y=3", "f32[3,7]", "x,-", "x,y", "y", 1, 0 },
  { GS_OP_SHARD_SLICE, "x=8", "s64[3]", "-", "x", "x", 0, 0 },
  { GS_OP_ALL_TO_ALL, "x=2 y=3", "f32[6,4]", "x,-", "-,x", "x", 0, 1 },
  { GS_OP_ALL_TO_ALL, "x=2 y=3", "f32[5,7]", "x,-", "-,x", "x", 0, 1 },
  { GS_OP_ALL_TO_ALL, "x=2 y=3", "f32[5,7]", "-,xy", "xy,-", "xy", 1, 0 },
  { GS_OP_ALL_TO_ALL, "x=2 y=3", "bf16[5,2,7]", "y,-,-", "-,-,y", "y", 0, 2 },
  { GS_OP_ALL_TO_ALL, "x=8", "f32[3,2]", "x,-", "-,x", "x", 0, 1 },
  { GS_OP_ALL_TO_ALL, "x=2 y=3", "f32[12,3]", "xy,-", "x,y", "y", 0, 1 },
  { GS_OP_PERMUTE, "x=2 y=2", "f32[4,6]", "x,y", "y,x", "", 0, 0 },
  { GS_OP_PERMUTE, "x=2 y=3", "f32[12,2]", "xy,-", "yx,-", "", 0, 0 },
  { GS_OP_PERMUTE, "x=2 y=3", "f32[11,2]", "xy,-", "yx,-", "", 0, 0 },
  { GS_OP_PERMUTE, "x=2 y=2", "f32[5,2]", "x,-", "y,-", "", 0, 0 },
};

START_TEST(moves_keep_the_value)
{
  struct chain c;
  chain_init(&c, moves[_i].mesh);
  chain_input(&c, moves[_i].type, moves[_i].from);
  union gs_attrs *attrs = chain_add(&c, moves[_i].op, moves[_i].type, moves[_i].to);
  chain_along(&c, attrs, moves[_i].axes, moves[_i].dim);
  attrs->device.split_dim = moves[_i].split_dim;
  attrs->device.from = c.steps[0].sharding;
  attrs->device.to = c.steps[1].sharding;
  chain_expect(&c, c.inputs[0], gs_op_info(moves[_i].op)->name);
  chain_finish(&c);
}
END_TEST

/* A replicated value made partial, then put together again. */
static const struct { enum gs_op op; const char *type, *to, *axes; int dim; } partials[] = {
  { GS_OP_ALL_REDUCE, "f32[3,5]", "-,-", "x", 0 },
  { GS_OP_ALL_REDUCE, "f32[3,5]", "-,-", "xy", 0 },
  { GS_OP_ALL_REDUCE, "bf16[7]", "-", "y", 0 },
  { GS_OP_ALL_REDUCE, "c64[7]", "-", "yx", 0 },
  { GS_OP_ALL_REDUCE, "u8[7]", "-", "xy", 0 },
  { GS_OP_ALL_REDUCE, "f64[0]", "-", "xy", 0 },
  { GS_OP_REDUCE_SCATTER, "f32[6,5]", "x,-", "x", 0 },
  { GS_OP_REDUCE_SCATTER, "f32[5,3]", "x,-", "x", 0 },
  { GS_OP_REDUCE_SCATTER, "f32[2,7]", "-,xy", "xy", 1 },
  { GS_OP_REDUCE_SCATTER, "s16[4]", "xy", "xy", 0 },
};

START_TEST(partial_values_add_up)
{
  struct chain c;
  const char *uncut = strchr(partials[_i].type, ',') != NULL ? "-,-" : "-";
  chain_init(&c, "x=2 y=3");
  chain_input(&c, partials[_i].type, uncut);
  chain_along(&c, chain_add(&c, GS_OP_ZERO_PARTIAL, partials[_i].type, uncut),
              partials[_i].axes, 0);
  chain_along(&c, chain_add(&c, partials[_i].op, partials[_i].type, partials[_i].to),
              partials[_i].axes, partials[_i].dim);
  chain_expect(&c, c.inputs[0], partials[_i].type);
  chain_finish(&c);
}
END_TEST

/* The value of one device of six combined with its own copies: known without another evaluator. */
static double six_times(enum gs_op reduce, double x)
{
  return reduce == GS_OP_SUM ? 6 * x : reduce == GS_OP_PROD ? x * x * x * x * x * x : x;
}

/* An all-reduce, or a reduce-scatter to TO, of a value that all six devices hold. */
static void check_reduction(enum gs_op op, enum gs_op reduce, const char *type, const char *to,
                            int dim)
{
  struct chain c;
  chain_init(&c, "x=2 y=3");
  chain_input(&c, type, "-,-");
  chain_along(&c, chain_add(&c, op, type, to), "xy", dim)->device.reduce = reduce;
  struct gs_tensor *want = numbers(type, 1);
  for (int64_t i = 0; i < gs_type_elements(&want->type); i++)
    gs_element_set(want->type.dtype, want->data, i,
                   six_times(reduce, gs_element_get(want->type.dtype, want->data, i)));
  chain_expect(&c, want, gs_op_info(reduce)->name);
  gs_tensor_unref(want);
  chain_finish(&c);
}

static const struct { enum gs_op reduce; const char *type; } reductions[] = {
  { GS_OP_SUM, "f32[4,7]" }, { GS_OP_PROD, "f64[4,7]" }, { GS_OP_REDUCE_MAX, "f32[4,7]" },
  { GS_OP_REDUCE_MIN, "bf16[4,7]" }, { GS_OP_SUM, "s32[4,7]" }, { GS_OP_PROD, "s64[4,7]" },
  { GS_OP_REDUCE_MAX, "u16[4,7]" }, { GS_OP_REDUCE_MIN, "s8[4,7]" }, { GS_OP_ALL, "pred[4,7]" },
  { GS_OP_ANY, "pred[4,7]" }, { GS_OP_SUM, "f16[4,7]" }, { GS_OP_SUM, "c128[4,7]" },
};

START_TEST(every_reduction)
{
  check_reduction(GS_OP_ALL_REDUCE, reductions[_i].reduce, reductions[_i].type, "-,-", 0);
  check_reduction(GS_OP_REDUCE_SCATTER, reductions[_i].reduce, reductions[_i].type, "xy,-", 0);
  check_reduction(GS_OP_REDUCE_SCATTER, reductions[_i].reduce, reductions[_i].type, "-,xy", 1);
}
END_TEST

/* Exchanges along the dim of 13, of which each says which graph operator it stands for. */
static const struct {
  enum gs_op op;
  const char *result;                  /* its type */
  int64_t number[3];                   /* start, stride; or low, high, interior; or shift */
  int npieces;
  struct gs_exchange_piece pieces[3];
} exchanges[] = {
  { GS_OP_SLICE, "f32[5,2]", { 3, 1 }, 1, { { 0, 0, 5, 3, 1, 1 } } },
  { GS_OP_SLICE, "f32[6,2]", { 1, 2 }, 1, { { 0, 0, 6, 1, 2, 1 } } },
  { GS_OP_SLICE, "f32[2,2]", { 0, 12 }, 1, { { 0, 0, 2, 0, 12, 1 } } },
  { GS_OP_REVERSE, "f32[13,2]", { 0 }, 1, { { 0, 0, 13, 12, -1, 1 } } },
  { GS_OP_ROLL, "f32[13,2]", { 4 }, 2, { { 0, 0, 4, 9, 1, 1 }, { 0, 4, 9, 0, 1, 1 } } },
  { GS_OP_PAD, "f32[18,2]", { 2, 3, 0 }, 1, { { 0, 2, 13, 0, 1, 1 } } },
  { GS_OP_PAD, "f32[10,2]", { -1, -2, 0 }, 1, { { 0, 0, 10, 1, 1, 1 } } },
  { GS_OP_PAD, "f32[38,2]", { 1, 0, 2 }, 1, { { 0, 1, 37, 0, 1, 3 } } },
  { GS_OP_CONCAT, "f32[20,2]", { 0 }, 2, { { 0, 0, 13, 0, 1, 1 }, { 1, 13, 7, 0, 1, 1 } } },
};

/* The operator itself on whole values. */
static struct gs_tensor *whole_result(const struct chain *c, int row)
{
  struct gs_type type = fixture_type(exchanges[row].result);
  struct gs_tensor *result = gs_tensor_new(NULL, &type);
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  const int64_t *number = exchanges[row].number;
  const float fill = -5;
  const struct gs_type scalar = gs_type_scalar(GS_DTYPE_F32);
  const struct gs_type *types[] = { &c->inputs[0]->type, &scalar };
  const void *args[] = { c->inputs[0]->data, &fill };
  switch (exchanges[row].op) {
  case GS_OP_SLICE:
    attrs.slice.start[0] = number[0];
    attrs.slice.stride[0] = number[1];
    attrs.slice.stride[1] = 1;
    break;
  case GS_OP_PAD:
    attrs.pad.low[0] = number[0];
    attrs.pad.high[0] = number[1];
    attrs.pad.interior[0] = number[2];
    break;
  case GS_OP_ROLL: attrs.roll.shift = number[0]; break;
  case GS_OP_REVERSE: attrs.reverse.dims = 1; break;
  default:                             /* concat */
    types[1] = &c->inputs[1]->type;
    args[1] = c->inputs[1]->data;
  }
  int nargs = exchanges[row].op == GS_OP_PAD ? 2 : c->ninputs;
  struct gs_kernel_call call = { exchanges[row].op, &attrs, nargs, types, args, &type,
                                 result->data, NULL };
  gs_reference_find(call.op)(&call);
  return result;
}

/* Operands cut by AXES, the exchange of ROW, and, with OWN, the sum that completes it. */
static void check_exchange(int row, const char *mesh, const char *axes, bool own)
{
  struct chain c;
  char cut[16];
  const char *type = exchanges[row].result;
  bool two = exchanges[row].op == GS_OP_CONCAT;
  snprintf(cut, sizeof cut, "%s,-", *axes != '\0' ? axes : "-");
  chain_init(&c, mesh);
  chain_input(&c, "f32[13,2]", cut);
  if (two)
    chain_input(&c, "f32[7,2]", cut);
  union gs_attrs *attrs = chain_along(&c, chain_add(&c, own ? GS_OP_OWN_PART : GS_OP_EXCHANGE, type,
                                                    own ? "-,-" : cut), axes, 0);
  struct gs_step *step = &c.steps[c.nsteps - 1];
  step->nargs = two ? 2 : 1;
  c.args[c.nsteps - 1][0] = 0;
  c.args[c.nsteps - 1][1] = 1;
  attrs->device.block = step->type.dims[0];
  attrs->device.size = step->global.dims[0];
  attrs->device.scale = own ? 0 : step->type.dims[0];
  attrs->device.npieces = exchanges[row].npieces;
  attrs->device.pieces = exchanges[row].pieces;
  attrs->device.fill = own ? 0 : -5;
  if (own)
    chain_along(&c, chain_add(&c, GS_OP_ALL_REDUCE, type, "-,-"), axes, 0);
  struct gs_tensor *want = whole_result(&c, row);
  chain_expect(&c, want, gs_op_info(exchanges[row].op)->name);
  gs_tensor_unref(want);
  chain_finish(&c);
}

START_TEST(exchanges_move_intervals)
{
  check_exchange(_i, "x=2 y=3", "x", false);
  check_exchange(_i, "x=2 y=3", "yx", false);
  check_exchange(_i, "x=16", "x", false);
  check_exchange(_i, "x=1", "", false);
}
END_TEST

START_TEST(own_parts_add_up)
{
  if (exchanges[_i].op != GS_OP_PAD) { /* its fill is not the zero that sums want */
    check_exchange(_i, "x=2 y=3", "y", true);
    check_exchange(_i, "x=16", "x", true);
  }
}
END_TEST

START_TEST(mask_overwrites_padding)
{
  static const char *const meshes[] = { "x=3", "x=8", "x=1" };
  for (size_t m = 0; m < sizeof meshes / sizeof *meshes; m++) {
    struct chain c;
    chain_init(&c, meshes[m]);
    chain_input(&c, "f32[5,2]", "x,-");
    union gs_attrs *attrs = chain_along(&c, chain_add(&c, GS_OP_MASK, "f32[5,2]", "x,-"), "x", 0);
    int64_t block = c.steps[0].type.dims[0];
    attrs->device.block = block;
    attrs->device.size = 5;
    attrs->device.fill = 7;
    char padded[24];
    snprintf(padded, sizeof padded, "f32[%d,2]", (int)(block * c.s.mesh->ndevices));
    chain_along(&c, chain_add(&c, GS_OP_ALL_GATHER, padded, "-,-"), "x", 0);
    struct gs_tensor *want = numbers(padded, 1);
    for (int64_t i = 10; i < gs_type_elements(&want->type); i++)
      gs_element_set(GS_DTYPE_F32, want->data, i, 7);
    chain_expect(&c, want, meshes[m]);
    gs_tensor_unref(want);
    chain_finish(&c);
  }
}
END_TEST

START_TEST(iota_counts_over_parts)
{
  static const char *const types[] = { "s32[3,11]", "f32[3,11]", "u64[3,11]", "bf16[3,11]" };
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    struct chain c;
    chain_init(&c, "x=2 y=3");
    union gs_attrs *attrs = chain_add(&c, GS_OP_IOTA, types[t], "-,yx");
    struct gs_axis axes[] = { gs_axis_whole(c.s.mesh, 1), gs_axis_whole(c.s.mesh, 0) };
    attrs->iota.dim = 1;
    attrs->iota.naxes = 2;
    attrs->iota.axes = axes;
    attrs->iota.block = c.steps[0].type.dims[1];
    struct gs_tensor *want = numbers(types[t], 0);
    for (int64_t i = 0; i < gs_type_elements(&want->type); i++)
      gs_element_set(want->type.dtype, want->data, i, (double)(i % 11));
    chain_expect(&c, want, types[t]);
    gs_tensor_unref(want);
    chain_finish(&c);
  }
}
END_TEST

START_TEST(many_devices)
{
  struct chain c;
  chain_init(&c, "x=512");
  chain_input(&c, "s32[1025,3]", "x,-");
  chain_along(&c, chain_add(&c, GS_OP_ALL_GATHER, "s32[1025,3]", "-,-"), "x", 0);
  chain_along(&c, chain_add(&c, GS_OP_SHARD_SLICE, "s32[1025,3]", "x,-"), "x", 0);
  chain_expect(&c, c.inputs[0], "512 devices");
  chain_finish(&c);
}
END_TEST

/* A mesh that can only be planned for: one error that names sizes, and nothing taken. */
START_TEST(too_many_devices)
{
  struct chain c;
  struct gs_budget budget = { .limit = (size_t)1 << 28 };
  struct gs_host host = { .budget = &budget };
  struct gs_tensor *got;
  chain_init(&c, "x=1024 y=1024");
  chain_input(&c, "f32[64,64]", "-,-");
  chain_along(&c, chain_add(&c, GS_OP_ALL_REDUCE, "f32[64,64]", "-,-"), "x", 0);
  ck_assert_int_eq(chain_run_with(&c, &host, &got), GS_FAILED);
  ck_assert_ptr_null(got);
  ck_assert_int_eq(c.s.diagnostics.errors, 1);
  ck_assert_ptr_nonnull(strstr(c.s.first_error, "1048576 devices"));
  ck_assert_uint_eq(budget.used, 0);
  chain_finish(&c);
}
END_TEST

START_TEST(interrupted)
{
  struct chain c;
  _Atomic int interrupt = 1;
  struct gs_host host = { .interrupt = &interrupt };
  struct gs_tensor *got;
  chain_init(&c, "x=4");
  chain_input(&c, "f32[8]", "x");
  chain_along(&c, chain_add(&c, GS_OP_ALL_GATHER, "f32[8]", "-"), "x", 0);
  ck_assert_int_eq(chain_run_with(&c, &host, &got), GS_INTERRUPTED);
  ck_assert_ptr_null(got);
  ck_assert_int_eq(c.s.diagnostics.errors, 0);
  chain_finish(&c);
}
END_TEST

/* What runs gives back is paid back too. */
START_TEST(memory_is_given_back)
{
  struct chain c;
  struct gs_budget budget = { 0 };
  struct gs_host host = { .budget = &budget };
  struct gs_tensor *got;
  chain_init(&c, "x=3");
  chain_input(&c, "f32[7,2]", "x,-");
  chain_along(&c, chain_add(&c, GS_OP_ALL_GATHER, "f32[7,2]", "-,-"), "x", 0);
  ck_assert_int_eq(chain_run_with(&c, &host, &got), GS_OK);
  gs_tensor_unref(got);
  ck_assert_uint_eq(budget.used, 0);
  chain_finish(&c);
}
END_TEST

#define ROWS(table) (int)(sizeof table / sizeof *table)

RUN_TESTS("device",
  tcase_add_loop_test(cases, moves_keep_the_value, 0, ROWS(moves));
  tcase_add_loop_test(cases, partial_values_add_up, 0, ROWS(partials));
  tcase_add_loop_test(cases, every_reduction, 0, ROWS(reductions));
  tcase_add_loop_test(cases, exchanges_move_intervals, 0, ROWS(exchanges));
  tcase_add_loop_test(cases, own_parts_add_up, 0, ROWS(exchanges));
  tcase_add_test(cases, mask_overwrites_padding);
  tcase_add_test(cases, iota_counts_over_parts);
  tcase_add_test(cases, many_devices);
  tcase_add_test(cases, too_many_devices);
  tcase_add_test(cases, interrupted);
  tcase_add_test(cases, memory_is_given_back);
)
