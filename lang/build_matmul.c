/* lang/build_matmul.c - a @ b and dot_general, as einsums once their own checks have passed. */
#include <config.h>

#include "lang/graph.h"

#include <inttypes.h>
#include <string.h>

#include "lang/infer.h"

/* Report two operands that do not fit, with their types as a note.  Returns poison. */
static struct gs_node *report_operands(struct gs_graph *g, const struct gs_node *a,
                                       const struct gs_node *b)
{
  gs_note(g->diagnostics, (struct gs_span){ 0 }, "%s is %s, %s is %s", GS_OPERAND(a, 0),
          GS_TYPE(&a->type), GS_OPERAND(b, 1), GS_TYPE(&b->type));
  return &g->poison;
}

/* If exchanging the last two dims of one operand makes the inner sizes equal, say so. */
static void hint_transpose(struct gs_graph *g, const struct gs_node *a, const struct gs_node *b)
{
  const struct gs_type *left = &a->type, *right = &b->type;
  int64_t inner = left->dims[left->rank - 1];
  int64_t wanted = right->dims[right->rank > 1 ? right->rank - 2 : 0];
  const struct gs_node *turned = NULL;
  if (right->rank > 1 && right->dims[right->rank - 1] == inner)
    turned = b;
  else if (left->rank > 1 && left->dims[left->rank - 2] == wanted)
    turned = a;
  if (turned != NULL && turned->name != NULL && turned->type.rank == 2)
    gs_hint(g->diagnostics, "transpose(%s, [1, 0]) would fit", turned->name);
}

/* Whether the dims before the last two broadcast. */
static bool batch_fits(struct gs_graph *g, struct gs_span at, const struct gs_node *a,
                       const struct gs_node *b)
{
  for (int back = 3; back <= a->type.rank && back <= b->type.rank; back++) {
    int64_t left = a->type.dims[a->type.rank - back], right = b->type.dims[b->type.rank - back];
    if (left == right || left == 1 || right == 1)
      continue;
    gs_error(g->diagnostics, at, "matmul: batch dimensions do not broadcast: %" PRId64 " in %s and "
             "%" PRId64 " in %s", left, GS_OPERAND(a, 0), right, GS_OPERAND(b, 1));
    report_operands(g, a, b);
    return false;
  }
  return true;
}

struct gs_node *gs_build_matmul(struct gs_graph *g, struct gs_span at, struct gs_node *a,
                                struct gs_node *b)
{
  struct gs_node *args[2] = { a, b };
  if (gs_node_is_poison(g, a) || gs_node_is_poison(g, b))
    return &g->poison;
  for (int k = 0; k < 2; k++) {
    if (args[k]->type.rank > 0)
      continue;
    gs_error(g->diagnostics, at, "matmul: %s is a scalar, %s", GS_OPERAND(args[k], k),
             GS_TYPE(&args[k]->type));
    gs_hint(g->diagnostics, "* multiplies by a scalar");
    return &g->poison;
  }
  if (!gs_operands_same_dtype(g->diagnostics, at, "matmul", args, 2, 0) || !batch_fits(g, at, a, b))
    return &g->poison;
  int64_t left = a->type.dims[a->type.rank - 1];
  int64_t right = b->type.dims[b->type.rank > 1 ? b->type.rank - 2 : 0];
  if (left != right) {
    gs_error(g->diagnostics, at, "matmul: inner dimensions differ: %" PRId64 " in %s and %" PRId64
             " in %s", left, GS_OPERAND(a, 0), right, GS_OPERAND(b, 1));
    report_operands(g, a, b);
    hint_transpose(g, a, b);
    return &g->poison;
  }
  static const char *const specs[2][2] = { { "k,k->", "k,...kn->...n" },
                                           { "...mk,k->...m", "...mk,...kn->...mn" } };
  return gs_build_einsum(g, at, specs[a->type.rank > 1][b->type.rank > 1], args, 2);
}

/* Report that dims LEFT of a and RIGHT of b, which go together as WHAT, do not fit. */
static bool check_pair(struct gs_graph *g, struct gs_span at, struct gs_node *const args[2],
                       const int dims[2], const char *what)
{
  for (int k = 0; k < 2; k++) {
    const struct gs_node *x = args[k];
    if (dims[k] < 0 || dims[k] >= x->type.rank) {
      gs_error(g->diagnostics, at, "dot_general: %s is %s and has no dim %d to %s",
               GS_OPERAND(x, k), GS_TYPE(&x->type), dims[k], what);
      return false;
    }
  }
  int64_t left = args[0]->type.dims[dims[0]], right = args[1]->type.dims[dims[1]];
  if (left == right)
    return true;
  gs_error(g->diagnostics, at, "dot_general: cannot %s dim %d of %s, %" PRId64 ", with dim %d of "
           "%s, %" PRId64, what, dims[0], GS_OPERAND(args[0], 0), left, dims[1],
           GS_OPERAND(args[1], 1), right);
  report_operands(g, args[0], args[1]);
  return false;
}

/* Letters of both operands' dims, chosen pair by pair. */
struct lettering {
  char of[2][GS_MAX_RANK + 1];
  char next;
};

/* Give the COUNT pairs of dims a letter each, and write it to OUT unless that is NULL. */
static bool letter_pairs(struct gs_graph *g, struct gs_span at, struct gs_node *const args[2],
                         const int *left, const int *right, int count, const char *what,
                         struct lettering *letters, struct gs_text *out)
{
  for (int i = 0; i < count; i++) {
    const int dims[2] = { left[i], right[i] };
    if (!check_pair(g, at, args, dims, what))
      return false;
    for (int k = 0; k < 2; k++) {
      if (letters->of[k][dims[k]] != '\0') {
        gs_error(g->diagnostics, at, "dot_general: dim %d of %s is named twice", dims[k],
                 GS_OPERAND(args[k], k));
        return false;
      }
      letters->of[k][dims[k]] = letters->next;
    }
    if (out != NULL)
      gs_text_add_bytes(out, &letters->next, 1);
    letters->next++;
  }
  return true;
}

struct gs_node *gs_build_dot_general(struct gs_graph *g, struct gs_span at, struct gs_node *a,
                                     struct gs_node *b, const int *batch_a, const int *batch_b,
                                     int nbatch, const int *contract_a, const int *contract_b,
                                     int ncontract)
{
  struct gs_node *args[2] = { a, b };
  if (gs_node_is_poison(g, a) || gs_node_is_poison(g, b)
      || !gs_operands_same_dtype(g->diagnostics, at, "dot_general", args, 2, 0))
    return &g->poison;
  struct lettering letters = { .next = 'a' };
  struct gs_text out = { .arena = g->arena }, spec = { .arena = g->arena };
  if (!letter_pairs(g, at, args, batch_a, batch_b, nbatch, "batch", &letters, &out)
      || !letter_pairs(g, at, args, contract_a, contract_b, ncontract, "contract", &letters, NULL))
    return &g->poison;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < args[k]->type.rank; i++) {
      if (letters.of[k][i] != '\0')
        continue;
      letters.of[k][i] = letters.next++;
      gs_text_add_bytes(&out, &letters.of[k][i], 1);
    }
    gs_text_printf(&spec, "%s%s", k > 0 ? "," : "", letters.of[k]);
  }
  gs_text_printf(&spec, "->%s", gs_text_string(&out));
  return gs_build_einsum(g, at, gs_text_string(&spec), args, 2);
}
