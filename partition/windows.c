/* partition/windows.c - fusing chains of window operators. */
#include <config.h>

#include "partition/windows.h"

#include <string.h>

enum { MAX_PIECES = 64, MAX_BASES = 16 };

/* A window operator as pieces of its bases along one dim. */
struct assembly {
  int dim;
  int nbases, npieces;
  struct gs_node *bases[MAX_BASES];
  struct gs_exchange_piece pieces[MAX_PIECES];
  bool fills;                          /* some positions come from no piece */
  double fill;
  bool chained;                        /* takes in another assembly */
};

/* Steps K of an outer piece whose source, FROM + K*STEP, lies in [BEGIN, END). */
static void steps_inside(int64_t from, int64_t step, int64_t begin, int64_t end, int64_t *low,
                         int64_t *high)
{
  int64_t first = step > 0 ? begin : end - 1, last = step > 0 ? end - 1 : begin;
  *low = -gs_floor_div(-(first - from), step);
  *high = gs_floor_div(last - from, step);
}

static int add_base(struct assembly *a, struct gs_node *node)
{
  for (int i = 0; i < a->nbases; i++)
    if (a->bases[i] == node)
      return i;
  if (a->nbases == MAX_BASES)
    return -1;
  a->bases[a->nbases] = node;
  return a->nbases++;
}

/* Add to A what OUTER reads of INNER, one of inner's pieces.  False: no room, or a combination of
 * gaps that no piece describes. */
static bool add_through(struct assembly *a, const struct gs_exchange_piece *outer,
                        const struct assembly *inner, const struct gs_exchange_piece *piece)
{
  int64_t low, high, steps = (outer->count - 1) / outer->divide;
  bool straight = outer->divide == 1 && outer->step == 1;
  if (piece->divide != 1 && !straight)
    return false;
  steps_inside(outer->source, outer->step, piece->first, piece->first + piece->count, &low, &high);
  low = low < 0 ? 0 : low;
  high = high > steps ? steps : high;
  int64_t inside = outer->source + low * outer->step - piece->first;   /* position in the piece */
  if (piece->divide != 1 && inside % piece->divide != 0) {
    int64_t skip = piece->divide - inside % piece->divide;
    low += skip;
    inside += skip;
  }
  if (low > high)
    return true;
  int base = add_base(a, inner->bases[piece->operand]);
  if (base < 0 || a->npieces == MAX_PIECES)
    return false;
  a->pieces[a->npieces++] = (struct gs_exchange_piece){
    base, outer->first + low * outer->divide, (high - low) * outer->divide + 1,
    piece->source + inside / piece->divide * piece->step, outer->step * piece->step,
    outer->divide * piece->divide
  };
  return true;
}

/* A piece that reads operand NODE as it is. */
static bool add_plain(struct assembly *a, const struct gs_exchange_piece *outer, struct gs_node *node)
{
  int base = add_base(a, node);
  if (base < 0 || a->npieces == MAX_PIECES)
    return false;
  a->pieces[a->npieces] = *outer;
  a->pieces[a->npieces++].operand = base;
  return true;
}

/* Put INNER in the place of the operand that OUTER reads; A is as before when that cannot be. */
static bool take_in(struct assembly *a, const struct gs_exchange_piece *outer,
                    const struct assembly *inner)
{
  int nbases = a->nbases, npieces = a->npieces;
  if (inner->dim != a->dim || (inner->fills && a->fills && inner->fill != a->fill))
    return false;
  for (int k = 0; k < inner->npieces; k++)
    if (!add_through(a, outer, inner, &inner->pieces[k])) {
      a->nbases = nbases;
      a->npieces = npieces;
      return false;
    }
  if (inner->fills) {
    a->fills = true;
    a->fill = inner->fill;
  }
  a->chained = true;
  return true;
}

static bool only_user(const struct gs_slice_of_graph *slice, int id, int user)
{
  for (int u = slice->first_user[id]; u < slice->first_user[id + 1]; u++)
    if (slice->users[u] != user)
      return false;
  return true;
}

/* The assembly of NODE, or false when it is no window operator along one dim. */
static bool assemble(const struct gs_slice_of_graph *slice, const struct gs_node *node,
                     struct assembly *const *known, const bool *output, struct assembly *a)
{
  struct gs_exchange_piece pieces[MAX_PIECES];
  int dim = gs_rule_window_dim(node);
  if (dim < 0 || gs_rule_piece_room(node) > MAX_PIECES || node->nargs > MAX_BASES)
    return false;
  if (node->op == GS_OP_PAD && node->args[1]->op != GS_OP_CONSTANT)
    return false;
  memset(a, 0, sizeof *a);
  a->dim = dim;
  a->fills = node->op == GS_OP_PAD;
  if (a->fills)
    a->fill = gs_element_get(node->type.dtype, node->args[1]->attrs->constant.tensor->data, 0);
  int npieces = gs_rule_pieces(node, dim, pieces);
  for (int k = 0; k < npieces; k++) {
    struct gs_node *arg = node->args[pieces[k].operand];
    const struct assembly *inner = known[arg->id];
    bool free = inner != NULL && arg->region == node->region && !output[arg->id] && only_user(slice, arg->id, node->id);
    if (!(free && take_in(a, &pieces[k], inner)) && !add_plain(a, &pieces[k], arg))
      return false;
  }
  return a->nbases > 0;
}

static struct gs_node *assembled_node(struct gs_arena *arena, const struct gs_node *node,
                                      const struct assembly *a)
{
  struct gs_node *made = gs_arena_copy(arena, node, sizeof *node);
  union gs_attrs *attrs = GS_NEW(arena, union gs_attrs);
  struct gs_exchange_piece *pieces =
      gs_arena_copy(arena, a->pieces, (size_t)a->npieces * sizeof *pieces);
  struct gs_node **bases = gs_arena_copy(arena, a->bases, (size_t)a->nbases * sizeof *bases);
  if (made == NULL || attrs == NULL || bases == NULL || (pieces == NULL && a->npieces > 0))
    return NULL;
  attrs->device.dim = a->dim;
  attrs->device.pieces = pieces;
  attrs->device.npieces = a->npieces;
  attrs->device.fill = a->fills ? a->fill : 0;
  made->op = GS_OP_ASSEMBLE;
  made->attrs = attrs;
  made->args = bases;
  made->nargs = a->nbases;
  return made;
}

static bool has_windows(const struct gs_slice_of_graph *slice)
{
  int found = 0;
  for (int i = 0; i < slice->count && found < 2; i++)
    found += gs_rule_window_dim(slice->graph->nodes[slice->order[i]]) >= 0;
  return found >= 2;
}

struct gs_graph *gs_windows_fuse(struct gs_arena *arena, struct gs_graph *graph,
                                 const struct gs_slice_of_graph *slice, const bool *output, int *fused)
{
  *fused = 0;
  if (!has_windows(slice))
    return graph;
  struct gs_graph *copy = gs_arena_copy(arena, graph, sizeof *graph);
  struct assembly **known = GS_NEW_ARRAY(arena, struct assembly *, graph->nnodes + 1);
  struct gs_node **nodes = gs_arena_copy(arena, graph->nodes, (size_t)graph->nnodes * sizeof *nodes);
  if (copy == NULL || known == NULL || nodes == NULL)
    return NULL;
  for (int i = 0; i < slice->count; i++) {
    const struct gs_node *node = graph->nodes[slice->order[i]];
    struct assembly a;
    if (!assemble(slice, node, known, output, &a))
      continue;
    known[node->id] = gs_arena_copy(arena, &a, sizeof a);
    if (known[node->id] == NULL)
      return NULL;
    if (!a.chained)
      continue;
    nodes[node->id] = assembled_node(arena, node, &a);
    if (nodes[node->id] == NULL)
      return NULL;
    ++*fused;
  }
  copy->nodes = nodes;
  return *fused > 0 ? copy : graph;
}
