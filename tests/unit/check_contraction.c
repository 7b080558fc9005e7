/* tests/unit/check_contraction.c - the CPU backend's contractions against the reference, for random
 * specifications: every order of labels in memory, sizes on both sides of what oneDNN is called
 * for.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/reference/reference.h"
#include "tests/unit/fixture.h"
#include "tests/unit/run.h"
#include "tests/unit/sketch.h"

static const struct gs_span nowhere = { 0 };

static unsigned next_random(unsigned *state, unsigned below)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % below;
}

/* An einsum of two operands in text, with the operands' types. */
struct problem { char spec[64], types[2][64]; };

/* The labels whose bit is set in the entry of IN, shuffled; and the type they have. */
static void write_operand(unsigned *state, const bool *in, const int *sizes, int nlabels,
                          const char *dtype, char *labels, char *type)
{
  int n = 0;
  for (int l = 0; l < nlabels; l++)
    if (in[l])
      labels[n++] = (char)('a' + l);
  for (int i = n - 1; i > 0; i--) {
    int j = (int)next_random(state, (unsigned)i + 1);
    char c = labels[i];
    labels[i] = labels[j];
    labels[j] = c;
  }
  labels[n] = '\0';
  int length = snprintf(type, 64, "%s[", dtype);
  for (int i = 0; i < n; i++)
    length += snprintf(type + length, 64 - (size_t)length, "%s%d", i > 0 ? "," : "",
                       sizes[labels[i] - 'a']);
  snprintf(type + length, 64 - (size_t)length, "]");
}

/* Up to five labels, each batch, row, column or summed, of up to MOST elements. */
static struct problem random_problem(unsigned *state, const char *dtype, unsigned most)
{
  enum { LABELS = 5 };
  struct problem p;
  int nlabels = 1 + (int)next_random(state, LABELS), sizes[LABELS];
  bool in[3][LABELS];
  char labels[3][LABELS + 1], type[64];
  for (int l = 0; l < nlabels; l++) {
    unsigned absent = next_random(state, 4);       /* from one operand, the result, or nowhere */
    for (unsigned t = 0; t < 3; t++)
      in[t][l] = t != absent;
    sizes[l] = 1 + (int)next_random(state, next_random(state, 4) == 0 ? 2 : most);
  }
  for (int t = 0; t < 3; t++)
    write_operand(state, in[t], sizes, nlabels, dtype, labels[t], t < 2 ? p.types[t] : type);
  snprintf(p.spec, sizeof p.spec, "%s,%s->%s", labels[0], labels[1], labels[2]);
  return p;
}

static struct gs_tensor *run(struct sketch *s, const struct gs_plan *plan, int nthreads,
                             struct gs_tensor **inputs)
{
  struct gs_host host = { .diagnostics = &s->diagnostics, .nthreads = nthreads };
  struct gs_tensor *result = NULL;
  struct gs_executable *e = gs_backend_cpu.compile(&host, plan);
  ck_assert_ptr_nonnull(e);
  ck_assert_int_eq(gs_backend_cpu.run(e, inputs, 2, &result), GS_OK);
  gs_backend_cpu.release(e);
  return result;
}

/* Factors that lie around zero and are exact in 16 bits. */
static struct gs_tensor *factors(const struct gs_type *type, unsigned *state)
{
  struct gs_tensor *t = gs_tensor_new(NULL, type);
  for (int64_t i = 0; i < gs_type_elements(type); i++)
    gs_element_set(type->dtype, t->data, i, ((double)next_random(state, 65) - 32) / 32);
  return t;
}

/* As close as sums of N products may be: the reference adds in double and rounds once. */
static void compare(const struct gs_tensor *got, const struct gs_tensor *want, const char *what,
                    double n)
{
  enum gs_dtype dtype = want->type.dtype;
  double last = dtype == GS_DTYPE_BF16 ? 0x1p-8 : dtype == GS_DTYPE_F16 ? 0x1p-11 : 0;
  ck_assert_msg(gs_type_equal(&got->type, &want->type), "%s: type", what);
  for (int64_t i = 0; i < gs_type_elements(&want->type); i++) {
    double g = gs_element_get(dtype, got->data, i), w = gs_element_get(dtype, want->data, i);
    double allowed = 2 * last * fabs(w) + 0x1p-22 * (1 + n);
    ck_assert_msg(fabs(g - w) <= allowed, "%s: element %d is %.9g, not %.9g", what, (int)i, g, w);
  }
}

static void check_problem(const struct problem *p, unsigned *state, int nthreads, const char *mesh)
{
  struct sketch s;
  struct gs_tensor *inputs[2], *want;
  struct gs_node *args[2];
  char what[256];
  sketch_init(&s, mesh);
  for (int k = 0; k < 2; k++) {
    struct gs_type type = fixture_type(p->types[k]);
    union gs_attrs attrs = { .input = { .index = k } };
    args[k] = gs_graph_add(&s.graph, GS_OP_INPUT, nowhere, NULL, 0, &attrs, &type);
    inputs[k] = factors(&type, state);
  }
  snprintf(what, sizeof what, "einsum \"%s\" of %s and %s", p->spec, p->types[0], p->types[1]);
  struct gs_node *y = gs_build_einsum(&s.graph, nowhere, p->spec, args, 2);
  struct gs_host host = { .diagnostics = &s.diagnostics };
  ck_assert_msg(!gs_node_is_poison(&s.graph, y), "%s: %s", what, s.first_error);
  ck_assert_int_eq(gs_reference_evaluate(&host, &s.graph, &y, 1, inputs, 2, &want), GS_OK);
  struct gs_tensor *got = run(&s, sketch_plan(&s, y, false), nthreads, inputs);
  double products = (double)gs_type_elements(&inputs[0]->type);
  compare(got, want, what, fmin(products, (double)gs_type_elements(&inputs[1]->type)));
  gs_tensor_unref(got);
  gs_tensor_unref(want);
  for (int k = 0; k < 2; k++)
    gs_tensor_unref(inputs[k]);
  sketch_finish(&s);
}

static const struct { const char *dtype; unsigned most; int count; } sweeps[] = {
  { "f32", 4, 300 }, { "f32", 12, 300 }, { "f32", 40, 60 },
  { "bf16", 8, 200 }, { "f16", 8, 200 }, { "f64", 6, 100 }, { "s32", 6, 100 }, { "c64", 5, 100 },
};

START_TEST(random_specifications)
{
  unsigned state = 17 + (unsigned)_i;
  for (int i = 0; i < sweeps[_i].count; i++) {
    struct problem p = random_problem(&state, sweeps[_i].dtype, sweeps[_i].most);
    check_problem(&p, &state, 1 + i % 3, i % 2 == 0 ? "x=1" : "x=2 y=2");
  }
}
END_TEST

/* Shapes that programs have, large enough for blocked code, and empty ones. */
static const struct problem common[] = {
  { "bm,mh->bh", { "f32[37,130]", "f32[130,65]" } },
  { "bm,hm->bh", { "f32[64,256]", "f32[96,256]" } },
  { "mb,mh->bh", { "f32[200,33]", "f32[200,70]" } },
  { "bm,mh->hb", { "f32[37,130]", "f32[130,65]" } },
  { "bsm,mh->bsh", { "f32[3,17,64]", "f32[64,80]" } },
  { "bqhd,bkhd->bhqk", { "f32[2,33,4,16]", "f32[2,29,4,16]" } },
  { "bhqk,bkhd->bqhd", { "f32[2,4,33,29]", "f32[2,29,4,16]" } },
  { "bsnd,ndm->bsm", { "f32[2,9,4,16]", "f32[4,16,50]" } },
  { "m,mh->h", { "f32[300]", "f32[300,70]" } },
  { "bm,m->b", { "f32[70,300]", "f32[300]" } },
  { "i,i->", { "f32[5000]", "f32[5000]" } },
  { "i,j->ij", { "f32[70]", "f32[90]" } },
  { "bm,mh->bh", { "f32[48,600]", "f32[600,512]" } },         /* rows a power of two apart */
  { "mb,mh->bh", { "f32[600,64]", "f32[600,1024]" } },
  { "kbm,mkh->bh", { "f32[3,33,300]", "f32[300,3,512]" } },
  { "ib,jb->ijb", { "f32[20,30]", "f32[25,30]" } },
  { "bm,mh->bh", { "bf16[37,130]", "bf16[130,65]" } },
  { "bm,mh->bh", { "f32[4,0]", "f32[0,5]" } },
  { "bm,mh->bh", { "f32[0,4]", "f32[4,5]" } },
};

START_TEST(common_shapes)
{
  unsigned state = 5;
  for (int threads = 1; threads <= 2; threads++)
    check_problem(&common[_i], &state, threads, threads == 1 ? "x=1" : "x=2");
}
END_TEST

/* What an operand does not reach must not count: NaN in one row stays there. */
START_TEST(nan_stays_in_its_row)
{
  struct sketch s;
  sketch_init(&s, "x=1");
  struct gs_node *a = sketch_input(&s, "40,50"), *b = sketch_input(&s, "50,60");
  unsigned state = 3;
  struct gs_tensor *inputs[] = { factors(&a->type, &state), factors(&b->type, &state) };
  ((float *)inputs[0]->data)[7 * 50 + 3] = NAN;
  struct gs_tensor *got =
      run(&s, sketch_plan(&s, sketch_einsum(&s, "ij,jk->ik", a, b), false), 1, inputs);
  for (int i = 0; i < 40 * 60; i++)
    ck_assert_msg((i / 60 == 7) == !!isnan(((float *)got->data)[i]), "element %d", i);
  gs_tensor_unref(got);
  gs_tensor_unref(inputs[0]);
  gs_tensor_unref(inputs[1]);
  sketch_finish(&s);
}
END_TEST

RUN_TESTS("contraction",
  tcase_add_loop_test(cases, random_specifications, 0, (int)(sizeof sweeps / sizeof *sweeps));
  tcase_add_loop_test(cases, common_shapes, 0, (int)(sizeof common / sizeof *common));
  tcase_add_test(cases, nan_stays_in_its_row);
)
