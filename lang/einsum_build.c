/* lang/einsum_build.c - einsums of any number of operands as nodes: diagonals, sums, contractions
 * of two operands at a time, a final transpose.
 */
#include <config.h>

#include "lang/einsum.h"

#include <math.h>
#include <string.h>

/* Take dim I out of TERM's labels. */
static void drop_label(struct gs_einsum_term *term, int i)
{
  term->rank--;
  memmove(&term->labels[i], &term->labels[i + 1], (size_t)(term->rank - i));
}

/* Keep of dims I and J of TERM, which have one label, the elements with equal indices. */
static void take_diagonal(struct gs_einsum *e, struct gs_einsum_term *term, int i, int j)
{
  struct gs_graph *g = e->graph;
  struct gs_type counts = term->node->type;
  enum gs_dtype dtype = counts.dtype;
  counts.dtype = GS_DTYPE_S64;
  union gs_attrs first = { .iota = { .dim = i } }, second = { .iota = { .dim = j } };
  struct gs_node *both[2] = {
    gs_graph_add(g, GS_OP_IOTA, e->at, NULL, 0, &first, &counts),
    gs_graph_add(g, GS_OP_IOTA, e->at, NULL, 0, &second, &counts)
  };
  struct gs_node *choice[3] = {
    gs_graph_add(g, GS_OP_EQ, e->at, both, 2, NULL, NULL), term->node,
    gs_build_scalar(g, e->at, dtype, 0)
  };
  struct gs_node *masked = gs_graph_add(g, GS_OP_WHERE, e->at, choice, 3, NULL, NULL);
  term->node = gs_build_reduce(g, GS_OP_SUM, e->at, masked, 1u << j, false);
  drop_label(term, j);
}

/* Reduce repeated labels of TERM to one dim each. */
static void take_diagonals(struct gs_einsum *e, struct gs_einsum_term *term)
{
  for (int i = 0; i < term->rank; i++) {
    for (int j = term->rank - 1; j > i; j--) {
      if (term->labels[i] == term->labels[j])
        take_diagonal(e, term, i, j);
    }
  }
}

/* Drop dims of size 1 that other operands' "..." make larger: they are repeated. */
static void drop_repeated(struct gs_einsum *e, struct gs_einsum_term *term)
{
  struct gs_type type = gs_type_scalar(term->node->type.dtype);
  struct gs_einsum_term kept = *term;
  kept.rank = 0;
  for (int i = 0; i < term->rank; i++) {
    int64_t size = term->node->type.dims[i];
    if (size != e->sizes[(int)term->labels[i]])
      continue;
    type.dims[type.rank++] = size;
    kept.labels[kept.rank++] = term->labels[i];
  }
  if (kept.rank == term->rank)
    return;
  kept.node = gs_build_reshape(e->graph, e->at, term->node, type.rank, type.dims);
  *term = kept;
}

/* Sum TERM over the labels outside KEEP. */
static void sum_rest(struct gs_einsum *e, struct gs_einsum_term *term, uint64_t keep)
{
  uint32_t dims = 0;
  for (int i = term->rank - 1; i >= 0; i--) {
    if ((keep >> term->labels[i] & 1) == 0)
      dims |= 1u << i;
  }
  if (dims == 0)
    return;
  term->node = gs_build_reduce(e->graph, GS_OP_SUM, e->at, term->node, dims, false);
  for (int i = term->rank - 1; i >= 0; i--) {
    if ((dims >> i & 1) != 0)
      drop_label(term, i);
  }
}

/* The labels of the result and of all operands but those at A and B. */
static uint64_t needed_elsewhere(const struct gs_einsum *e, int a, int b)
{
  uint64_t needed = gs_einsum_labels(&e->out);
  for (int k = 0; k < e->nterms; k++) {
    if (k != a && k != b)
      needed |= gs_einsum_labels(&e->terms[k]);
  }
  return needed;
}

/* The product of the sizes of LABELS. */
static double volume(const struct gs_einsum *e, uint64_t labels)
{
  double product = 1;
  for (int label = 0; label < GS_EINSUM_LABELS; label++) {
    if ((labels >> label & 1) != 0)
      product *= (double)e->sizes[label];
  }
  return product;
}

/* The pair that costs least in multiplications and size of its result. */
static bool cheapest_pair(const struct gs_einsum *e, int *best_a, int *best_b)
{
  double best = INFINITY;
  for (int a = 0; a < e->nterms; a++) {
    for (int b = a + 1; b < e->nterms; b++) {
      uint64_t labels = gs_einsum_labels(&e->terms[a]) | gs_einsum_labels(&e->terms[b]);
      uint64_t result = labels & needed_elsewhere(e, a, b);
      double cost = volume(e, labels) + volume(e, result);
      if (cost < best && __builtin_popcountll(result) <= GS_MAX_RANK) {
        best = cost;
        *best_a = a;
        *best_b = b;
      }
    }
  }
  return best < INFINITY
         || gs_einsum_error(e, "every order of multiplying has a step with more than %d dimensions",
                            (int)GS_MAX_RANK);
}

/* What is left of terms A and B: shared labels, then the first's own, then the second's. */
static struct gs_einsum_term pair_result(const struct gs_einsum *e, int a, int b)
{
  const struct gs_einsum_term *left = &e->terms[a], *right = &e->terms[b];
  uint64_t needed = needed_elsewhere(e, a, b);
  uint64_t shared = gs_einsum_labels(left) & gs_einsum_labels(right);
  struct gs_einsum_term result = { 0 };
  for (int pass = 0; pass < 3; pass++) {
    const struct gs_einsum_term *from = pass < 2 ? left : right;
    for (int i = 0; i < from->rank; i++) {
      bool is_shared = (shared >> from->labels[i] & 1) != 0;
      if (is_shared == (pass == 0) && (needed >> from->labels[i] & 1) != 0)
        result.labels[result.rank++] = from->labels[i];
    }
  }
  return result;
}

/* Labels of TERM as numbers of the node, 0 up in order of appearance. */
static void number_labels(const struct gs_einsum_term *term, signed char numbers[GS_EINSUM_LABELS],
                          int *count, signed char *to)
{
  for (int i = 0; i < GS_MAX_RANK; i++) {
    to[i] = -1;
    if (i >= term->rank)
      continue;
    signed char *number = &numbers[(int)term->labels[i]];
    if (*number < 0)
      *number = (signed char)(*count)++;
    to[i] = *number;
  }
}

/* The einsum node of two terms. */
static struct gs_node *contract(struct gs_einsum *e, const struct gs_einsum_term pair[2],
                                const struct gs_einsum_term *out)
{
  union gs_attrs attrs = { 0 };
  signed char numbers[GS_EINSUM_LABELS];
  memset(numbers, -1, sizeof numbers);
  attrs.einsum.spec = gs_einsum_text(e->graph->arena, pair, 2, out);
  for (int k = 0; k < 2; k++)
    number_labels(&pair[k], numbers, &attrs.einsum.nlabels, attrs.einsum.label[k]);
  number_labels(out, numbers, &attrs.einsum.nlabels, attrs.einsum.out);
  struct gs_node *args[2] = { pair[0].node, pair[1].node };
  return gs_graph_add(e->graph, GS_OP_EINSUM, e->at, args, 2, &attrs, NULL);
}

/* The last term in the result's order of dims. */
static struct gs_node *reorder(struct gs_einsum *e)
{
  const struct gs_einsum_term *term = &e->terms[0];
  union gs_attrs attrs = { 0 };
  bool moved = false;
  for (int i = 0; i < e->out.rank; i++) {
    int from = 0;
    while (term->labels[from] != e->out.labels[i])
      from++;
    attrs.transpose.dims[i] = from;
    moved |= from != i;
  }
  if (!moved)
    return term->node;
  return gs_graph_add(e->graph, GS_OP_TRANSPOSE, e->at, &term->node, 1, &attrs, NULL);
}

struct gs_node *gs_build_einsum(struct gs_graph *g, struct gs_span at, const char *spec,
                                struct gs_node *const *args, int nargs)
{
  for (int k = 0; k < nargs; k++) {
    if (gs_node_is_poison(g, args[k]))
      return &g->poison;
  }
  struct gs_einsum e;
  if (!gs_einsum_read(&e, g, at, spec, args, nargs))
    return &g->poison;
  for (int k = 0; k < nargs; k++) {
    take_diagonals(&e, &e.terms[k]);
    drop_repeated(&e, &e.terms[k]);
  }
  for (int k = 0; k < nargs; k++)
    sum_rest(&e, &e.terms[k], needed_elsewhere(&e, k, k));
  while (e.nterms > 1) {
    int a = 0, b = 1;
    if (e.nterms > 2 && !cheapest_pair(&e, &a, &b))
      return &g->poison;
    struct gs_einsum_term result = e.nterms > 2 ? pair_result(&e, a, b) : e.out;
    struct gs_einsum_term pair[2] = { e.terms[a], e.terms[b] };
    result.node = contract(&e, pair, &result);
    if (gs_node_is_poison(g, result.node))
      return &g->poison;
    e.terms[a] = result;
    e.terms[b] = e.terms[--e.nterms];
  }
  return reorder(&e);
}
