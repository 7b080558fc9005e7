/* tests/unit/check_einsum.c - einsum, matmul and dot_general: values against the definition, the
 * nodes they become, and what is said of wrong ones.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "backends/reference/reference.h"
#include "tests/unit/fixture.h"
#include "tests/unit/run.h"

static const struct gs_span nowhere = { 0 };

enum { MOST = 4 };

/* A specification, and the same with every dim written: digits are dims of "...", which
 * broadcast. */
static const struct { const char *spec, *full, *types[MOST]; } values[] = {
  { "bm,mh->bh", "bm,mh->bh", { "f64[3,4]", "f64[4,5]" } },
  { "bm,hm->hb", "bm,hm->hb", { "f64[3,4]", "f64[5,4]" } },
  { "bsh,hm->bsm", "bsh,hm->bsm", { "f64[2,3,4]", "f64[4,5]" } },
  { "bqhd,bkhd->bhqk", "bqhd,bkhd->bhqk", { "f64[2,3,2,4]", "f64[2,5,2,4]" } },
  { "i,j->ij", "i,j->ij", { "f64[3]", "f64[4]" } },
  { "ij,ij->", "ij,ij->", { "f64[3,4]", "f64[3,4]" } },
  { "ij,ij->ij", "ij,ij->ij", { "f64[3,4]", "f64[3,4]" } },
  { ",ij->ji", ",ij->ji", { "f64[]", "f64[3,4]" } },
  { " a b , b c -> a c ", "ab,bc->ac", { "f64[3,4]", "f64[4,5]" } },
  { "ba,ac", "ba,ac->bc", { "f64[3,4]", "f64[4,5]" } },
  { "ba", "ba->ab", { "f64[3,4]" } },
  { "bA", "bA->Ab", { "f64[3,4]" } },
  { "ii", "ii->", { "f64[4,4]" } },
  { "ii->i", "ii->i", { "f64[4,4]" } },
  { "iij->ji", "iij->ji", { "f64[4,4,3]" } },
  { "iji,jk->ik", "iji,jk->ik", { "f64[4,3,4]", "f64[3,2]" } },
  { "iii->i", "iii->i", { "f64[3,3,3]" } },
  { "ij->", "ij->", { "f64[3,4]" } },
  { "ijk->ki", "ijk->ki", { "f64[3,4,5]" } },
  { "ab,bcd->ad", "ab,bcd->ad", { "f64[3,4]", "f64[4,5,2]" } },
  { "abx,bc->c", "abx,bc->c", { "f64[3,4,2]", "f64[4,5]" } },
  { "ab,bc,cd->ad", "ab,bc,cd->ad", { "f64[3,4]", "f64[4,5]", "f64[5,2]" } },
  { "ab,cd,bc->da", "ab,cd,bc->da", { "f64[3,4]", "f64[5,2]", "f64[4,5]" } },
  { "ab,ac,ad->bcd", "ab,ac,ad->bcd", { "f64[3,2]", "f64[3,4]", "f64[3,5]" } },
  { "ab,bc,cd,de->ae", "ab,bc,cd,de->ae", { "f64[2,3]", "f64[3,4]", "f64[4,5]", "f64[5,2]" } },
  { "a,a,a->a", "a,a,a->a", { "f64[3]", "f64[3]", "f64[3]" } },
  { "a,b,c->", "a,b,c->", { "f64[3]", "f64[2]", "f64[4]" } },
  { "...ij,...jk->...ik", "10ij,10jk->10ik", { "f64[2,3,4,5]", "f64[2,3,5,2]" } },
  { "...ij,...jk->...ik", "10ij,0jk->10ik", { "f64[2,3,4,5]", "f64[3,5,2]" } },
  { "...ij,...jk->...ik", "10ij,10jk->10ik", { "f64[2,1,4,5]", "f64[1,3,5,2]" } },
  { "i...,i...->...", "i0,i10->10", { "f64[3,4]", "f64[3,2,4]" } },
  { "...i->i...", "10i->i10", { "f64[2,3,4]" } },
  { "...a,a", "0a,a->0", { "f64[3,4]", "f64[4]" } },
  { "b...a,a", "b0a,a->0b", { "f64[2,3,4]", "f64[4]" } },
  { "...,...->...", "10,0->10", { "f64[2,3]", "f64[3]" } },
  { "...,...,...->...", "10,0,10->10", { "f64[2,3]", "f64[3]", "f64[2,1]" } },
  { "...a->...", "a->", { "f64[3]" } },
  { "ij,jk->ik", "ij,jk->ik", { "f64[3,0]", "f64[0,2]" } },
  { "ij,jk->ik", "ij,jk->ik", { "s32[3,4]", "s32[4,2]" } },
};

/* The values of an einsum by its definition: a sum over all assignments to the labels. */
struct definition {
  const char *terms[MOST + 1];         /* the last is the result */
  int lengths[MOST + 1], nterms;
  struct gs_tensor *operands[MOST];
  int64_t sizes[128], index[128];
};

static void read_definition(struct definition *d, const char *full)
{
  memset(d->sizes, 0, sizeof d->sizes);
  d->nterms = 0;
  for (const char *at = full;; at++) {
    int length = (int)strcspn(at, ",-");
    d->terms[d->nterms] = at;
    d->lengths[d->nterms++] = length;
    at += length;
    if (*at == '\0')
      break;
    at += *at == '-';
  }
  for (int k = 0; k < d->nterms - 1; k++) {
    for (int i = 0; i < d->lengths[k]; i++) {
      int64_t *size = &d->sizes[(int)d->terms[k][i]], mine = d->operands[k]->type.dims[i];
      *size = mine != 1 || *size == 0 ? mine : *size;
    }
  }
}

/* Where the current assignment points in a tensor of TERM's dims. */
static int64_t locate(const struct definition *d, int term, const struct gs_type *type)
{
  int64_t at = 0;
  for (int i = 0; i < d->lengths[term]; i++)
    at = at * type->dims[i] + (type->dims[i] == 1 ? 0 : d->index[(int)d->terms[term][i]]);
  return at;
}

static void accumulate(struct definition *d, int label, const struct gs_type *type, double *result)
{
  while (label < 128 && memchr(d->terms[0], label, strlen(d->terms[0])) == NULL)
    label++;
  if (label == 128) {
    double product = 1;
    for (int k = 0; k < d->nterms - 1; k++)
      product *= gs_element_get(d->operands[k]->type.dtype, d->operands[k]->data,
                                locate(d, k, &d->operands[k]->type));
    result[locate(d, d->nterms - 1, type)] += product;
    return;
  }
  bool is_label = label >= '0' && label != '>';
  int64_t size = is_label ? d->sizes[label] : 1;
  for (d->index[label] = 0; d->index[label] < size; d->index[label]++)
    accumulate(d, label + 1, type, result);
}

START_TEST(values_are_by_definition)
{
  struct fixture f;
  struct definition d;
  fixture_init(&f);
  struct gs_node *args[MOST];
  int nargs = 0;
  for (; nargs < MOST && values[_i].types[nargs] != NULL; nargs++) {
    struct gs_type type = fixture_type(values[_i].types[nargs]);
    args[nargs] = fixture_input(&f, NULL, values[_i].types[nargs]);
    d.operands[nargs] = gs_tensor_new(NULL, &type);
    gs_tensor_fill(d.operands[nargs], &(struct gs_fill_spec){ .argument = nargs });
  }
  struct gs_node *y = gs_build_einsum(&f.graph, nowhere, values[_i].spec, args, nargs);
  ck_assert_str_eq(fixture_messages(&f), "");
  struct gs_host host = { .diagnostics = &f.diagnostics };
  struct gs_tensor *got;
  ck_assert_int_eq(gs_reference_evaluate(&host, &f.graph, &y, 1, d.operands, nargs, &got), GS_OK);
  read_definition(&d, values[_i].full);
  int64_t elements = gs_type_elements(&y->type);
  double *want = GS_NEW_ARRAY(f.arena, double, elements + 1);
  accumulate(&d, 0, &y->type, want);
  ck_assert_int_eq(y->type.rank, d.lengths[d.nterms - 1]);
  for (int64_t i = 0; i < elements; i++)
    ck_assert_msg(fabs(gs_element_get(y->type.dtype, got->data, i) - want[i]) < 1e-12,
                  "%s: element %d is %g, not %g", values[_i].spec, (int)i,
                  gs_element_get(y->type.dtype, got->data, i), want[i]);
  gs_tensor_unref(got);
  for (int k = 0; k < nargs; k++)
    gs_tensor_unref(d.operands[k]);
  fixture_finish(&f);
}
END_TEST

/* The nodes after the inputs: operators, and einsums' specifications. */
static const struct { const char *spec, *types[MOST], *want; } chains[] = {
  { "bm,mh->bh", { "f32[3,4]", "f32[4,5]" }, "bm,mh->bh f32[3,5]" },
  { "bm, mh -> bh", { "bf16[3,4]", "bf16[4,5]" }, "bm,mh->bh bf16[3,5]" },
  { "ij->ij", { "f32[3,4]" }, "" },
  { "ij->ji", { "f32[3,4]" }, "transpose f32[4,3]" },
  { "ij->j", { "f32[3,4]" }, "sum f32[4]" },
  { "abx,bc->ac", { "f32[3,4,2]", "f32[4,5]" }, "sum f32[3,4]; ab,bc->ac f32[3,5]" },
  { "...ij,...jk->...ik", { "f32[7,1,4]", "f32[1,4,5]" },
    "reshape f32[4,5]; aij,jk->aik f32[7,1,5]" },
  { "...ab,...bc->...ac", { "f32[7,2,4]", "f32[7,4,5]" }, "dab,dbc->dac f32[7,2,5]" },
  /* the cheapest pair first: fewest multiplications plus elements to keep */
  { "ab,bc,cd->ad", { "f32[100,2]", "f32[2,3]", "f32[3,100]" },
    "bc,cd->bd f32[2,100]; ab,bd->ad f32[100,100]" },
  { "ab,bc,cd->ad", { "f32[100,50]", "f32[50,2]", "f32[2,3]" },
    "bc,cd->bd f32[50,3]; ab,bd->ad f32[100,3]" },
};

START_TEST(chains_of_nodes)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *args[MOST];
  int nargs = 0;
  for (; nargs < MOST && chains[_i].types[nargs] != NULL; nargs++)
    args[nargs] = fixture_input(&f, NULL, chains[_i].types[nargs]);
  gs_build_einsum(&f.graph, nowhere, chains[_i].spec, args, nargs);
  ck_assert_str_eq(fixture_messages(&f), "");
  struct gs_text text = { .arena = f.arena };
  for (int i = nargs; i < f.graph.nnodes; i++) {
    const struct gs_node *node = f.graph.nodes[i];
    gs_text_printf(&text, "%s%s %s", i > nargs ? "; " : "",
                   node->op == GS_OP_EINSUM ? node->attrs->einsum.spec : gs_op_info(node->op)->name,
                   fixture_type_of(&f, node));
  }
  ck_assert_str_eq(gs_text_string(&text), chains[_i].want);
  fixture_finish(&f);
}
END_TEST

/* Wrong einsums of h, w1 and v. */
static const struct { const char *spec, *types[MOST], *want; } errors[] = {
  { "bsh,hm->bsm", { "f32[8,128,2048]", "f32[512,2048]" },
    "error: einsum \"bsh,hm->bsm\": dimension h is 2048 in h but 512 in w1\n"
    "hint: w1 is f32[512,2048]; did you mean \"bsh,mh->bsm\"?\n" },
  { "bm,mh->bh", { "f32[512,1024]", "f32[7,7]" },
    "error: einsum \"bm,mh->bh\": dimension m is 1024 in h but 7 in w1\n"
    "note: h is f32[512,1024], w1 is f32[7,7]\n" },
  { "bm,mh", { "f32[4,3]", "f32[4,5]" },
    "error: einsum \"bm,mh\": dimension m is 3 in h but 4 in w1\n"
    "note: h is f32[4,3], w1 is f32[4,5]\n" },
  { "bm,mh->bh", { "f32[4,3,2]", "f32[3,5]" },
    "error: einsum \"bm,mh->bh\": h is f32[4,3,2], of rank 3, but its term names 2 dimensions\n" },
  { "b...m->b", { "f32[4]" },
    "error: einsum \"b...m->b\": h is f32[4], of rank 1, but its term names at least 2 "
    "dimensions\n" },
  { "bm->b", { "f32[4,3]", "f32[3,5]" },
    "error: einsum \"bm->b\": names 1 operand, but 2 are given\n" },
  { "bm,mh->b", { "f32[4,3]" },
    "error: einsum \"bm,mh->b\": names 2 operands, but 1 is given\n" },
  { "ij,jk->iz", { "f32[2,3]", "f32[3,4]" },
    "error: einsum \"ij,jk->iz\": dimension z of the result is in no operand\n" },
  { "ij,jk->ii", { "f32[2,3]", "f32[3,4]" },
    "error: einsum \"ij,jk->ii\": dimension i stands twice in the result\n" },
  { "ii->i", { "f32[2,3]" },
    "error: einsum \"ii->i\": dimension i stands for 2 and for 3 in h, f32[2,3]\n" },
  { "i1->i", { "f32[2,3]" }, "error: einsum \"i1->i\": '1' is not a dimension's letter\n" },
  { "i\xff->i", { "f32[2,3]" },
    "error: einsum \"i\xff->i\": byte 0xff is not a dimension's letter\n" },
  { "i...j...->i", { "f32[2,3]" },
    "error: einsum \"i...j...->i\": \"...\" stands twice in one term\n" },
  { "...i,i->", { "f32[2,3]", "f32[3]" },
    "error: einsum \"...i,i->\": the operands have dimensions for \"...\", but the result has "
    "none\n" },
  { "...i,...i->...", { "f32[2,3]", "f32[4,3]" },
    "error: einsum \"...i,...i->...\": the dimensions of \"...\" do not broadcast: 2 in h but 4 in "
    "w1\n"
    "note: h is f32[2,3], w1 is f32[4,3]\n" },
  { "i->i->i", { "f32[2]" },
    "error: einsum \"i->i->i\": after the result's dimensions comes \"->i\"\n" },
  { "ij,jk->ik", { "f32[2,3]", "bf16[3,4]" },
    "error: einsum \"ij,jk->ik\": element types differ: h is f32[2,3], w1 is bf16[3,4]\n"
    "hint: convert one of them: convert(w1, f32)\n" },
  { "ij->i", { "pred[2,3]" },
    "error: einsum \"ij->i\": h is pred[2,3], but it needs an integer, float or complex type\n"
    "hint: convert(h, f32)\n" },
  { "abcdefghijklmn->a", { "f32[2]" },
    "error: einsum \"abcdefghijklmn->a\": a term has more than 12 dimensions\n" },
};

START_TEST(error_messages)
{
  static const char *const names[MOST] = { "h", "w1", "v", "u" };
  struct fixture f;
  fixture_init(&f);
  struct gs_node *args[MOST];
  int nargs = 0;
  for (; nargs < MOST && errors[_i].types[nargs] != NULL; nargs++)
    args[nargs] = fixture_input(&f, names[nargs], errors[_i].types[nargs]);
  struct gs_node *y = gs_build_einsum(&f.graph, nowhere, errors[_i].spec, args, nargs);
  ck_assert(gs_node_is_poison(&f.graph, y));
  ck_assert_str_eq(fixture_messages(&f), errors[_i].want);
  fixture_finish(&f);
}
END_TEST

static const struct { const char *types[2], *want; } products[] = {
  { { "f32[3,4]", "f32[4,5]" }, "f32[3,5]" },
  { { "f32[4]", "f32[4]" }, "f32[]" },
  { { "f32[4]", "f32[4,5]" }, "f32[5]" },
  { { "f32[3,4]", "f32[4]" }, "f32[3]" },
  { { "f32[2,3,4]", "f32[4,5]" }, "f32[2,3,5]" },
  { { "f32[2,1,3,4]", "f32[7,4,5]" }, "f32[2,7,3,5]" },
  { { "f32[7,4]", "f32[2,4,5]" }, "f32[2,7,5]" },
  { { "f32[4]", "f32[2,4,5]" }, "f32[2,5]" },
  { { "f32[]", "f32[4]" },
    "error: matmul: a is a scalar, f32[]\nhint: * multiplies by a scalar\n" },
  { { "f32[4,16]", "f32[8,16]" },
    "error: matmul: inner dimensions differ: 16 in a and 8 in b\n"
    "note: a is f32[4,16], b is f32[8,16]\nhint: transpose(b, [1, 0]) would fit\n" },
  { { "f32[2,3,4]", "f32[5,4,5]" },
    "error: matmul: batch dimensions do not broadcast: 2 in a and 5 in b\n"
    "note: a is f32[2,3,4], b is f32[5,4,5]\n" },
  { { "f32[3,4]", "s32[4,5]" },
    "error: matmul: element types differ: a is f32[3,4], b is s32[4,5]\n"
    "hint: convert one of them: convert(b, f32)\n" },
};

START_TEST(matmul_types)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *a = fixture_input(&f, "a", products[_i].types[0]);
  struct gs_node *b = fixture_input(&f, "b", products[_i].types[1]);
  struct gs_node *y = gs_build_matmul(&f.graph, nowhere, a, b);
  const char *type = fixture_type_of(&f, y), *messages = fixture_messages(&f);
  ck_assert_str_eq(messages[0] != '\0' ? messages : type, products[_i].want);
  fixture_finish(&f);
}
END_TEST

START_TEST(dot_general_types)
{
  struct fixture f;
  fixture_init(&f);
  struct gs_node *a = fixture_input(&f, "a", "f32[2,3,4,5]");
  struct gs_node *b = fixture_input(&f, "b", "f32[5,2,6]");
  struct gs_node *y = gs_build_dot_general(&f.graph, nowhere, a, b, (int[]){ 0 }, (int[]){ 1 }, 1,
                                           (int[]){ 3 }, (int[]){ 0 }, 1);
  ck_assert_str_eq(fixture_type_of(&f, y), "f32[2,3,4,6]");
  ck_assert_int_eq(f.graph.nnodes, 3);
  y = gs_build_dot_general(&f.graph, nowhere, a, b, NULL, NULL, 0, (int[]){ 1 }, (int[]){ 0 }, 1);
  ck_assert(gs_node_is_poison(&f.graph, y));
  ck_assert_str_eq(fixture_messages(&f),
                   "error: dot_general: cannot contract dim 1 of a, 3, with dim 0 of b, 5\n"
                   "note: a is f32[2,3,4,5], b is f32[5,2,6]\n");
  gs_build_dot_general(&f.graph, nowhere, a, b, (int[]){ 0 }, (int[]){ 1 }, 1, (int[]){ 0 },
                       (int[]){ 1 }, 1);
  ck_assert_str_eq(fixture_messages(&f), "error: dot_general: dim 0 of a is named twice\n");
  gs_build_dot_general(&f.graph, nowhere, a, b, (int[]){ 4 }, (int[]){ 1 }, 1, NULL, NULL, 0);
  ck_assert_str_eq(fixture_messages(&f),
                   "error: dot_general: a is f32[2,3,4,5] and has no dim 4 to batch\n");
  fixture_finish(&f);
}
END_TEST

/* Random text as a specification: always a node of the graph, or poison with one error. */
START_TEST(random_specifications)
{
  static const char alphabet[] = "aabbcZ,,.-> 1";
  struct fixture f;
  fixture_init(&f);
  struct gs_node *args[3] = {
    fixture_input(&f, "x", "f32[2,3]"), fixture_input(&f, NULL, "f32[3]"),
    fixture_input(&f, "z", "f32[2,2,3]")
  };
  uint32_t random = 1;
  int good = 0;
  for (int round = 0; round < 100000; round++) {
    char spec[20] = "";
    random = random * 1664525u + 1013904223u;
    int length = (int)(random >> 28);
    for (int i = 0; i < length; i++) {
      random = random * 1664525u + 1013904223u;
      spec[i] = alphabet[(random >> 16) % (sizeof alphabet - 1)];
    }
    int nargs = 1 + (int)((random >> 8) % 3), before = f.diagnostics.errors;
    struct gs_node *y = gs_build_einsum(&f.graph, nowhere, spec, args, nargs);
    bool poison = gs_node_is_poison(&f.graph, y);
    ck_assert_msg(f.diagnostics.errors == before + poison, "%s", spec);
    good += !poison;
    f.messages.length = 0;
  }
  ck_assert_int_gt(good, 100);
  fixture_finish(&f);
}
END_TEST

RUN_TESTS("einsum",
  tcase_add_loop_test(cases, values_are_by_definition, 0, sizeof values / sizeof *values);
  tcase_add_loop_test(cases, chains_of_nodes, 0, sizeof chains / sizeof *chains);
  tcase_add_loop_test(cases, error_messages, 0, sizeof errors / sizeof *errors);
  tcase_add_loop_test(cases, matmul_types, 0, sizeof products / sizeof *products);
  tcase_add_test(cases, dot_general_types);
  tcase_add_test(cases, random_specifications);
)
