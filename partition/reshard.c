/* partition/reshard.c - shortest paths between shardings (A*; the moves are in reshard_moves.c). */
#include <config.h>

#include "partition/reshard.h"

#include <string.h>

#include "partition/reshard_moves.h"

struct memo {
  const struct gs_sharding *from, *to;
  int64_t dims[GS_MAX_RANK];
  size_t element;
  uint32_t hash;
  struct gs_path *path;                /* NULL until asked for */
  double cost;                         /* of the cheapest path over the atoms of both sides; 0: unknown */
  double bound;                        /* no such path is cheaper */
  struct memo *next;
};

enum { BUCKETS = 1 << 12, MAX_STATES = 6000, FINE_STATES = 1500, FEW_STATES = 80, MOST_HASTE = 9, SOME_HASTE = 3 };

struct search;

struct gs_resharder {
  struct gs_arena *arena;
  struct gs_sharding_table *table;
  struct search *search;               /* one at a time, its memory used again */
  struct memo *buckets[BUCKETS];
};

struct gs_resharder *gs_resharder_new(struct gs_arena *arena, struct gs_sharding_table *table)
{
  struct gs_resharder *r = GS_NEW(arena, struct gs_resharder);
  if (r != NULL) {
    r->arena = arena;
    r->table = table;
  }
  return r;
}

/* A state reached, with how. */
struct reached {
  struct gs_layout layout;
  double cost, bytes;
  double bound;                        /* cost, and what is certainly still to come; in haste, a guess */
  int before;                          /* index of the state before, -1 at the start */
  struct gs_layout_move move;
  bool settled;
  int next;                            /* in its hash chain, -1 ends it */
};

/* In the heap: a state with the bound it had when it was put there. */
struct entry {
  double bound;
  int state;
};

enum { HEADS = 1024 };

/* A search under way; implements the sink that move generation reports to. */
struct search {
  struct gs_layout_problem problem;
  struct gs_layout goal;
  struct reached *states;
  int count, capacity;
  int current;
  int heads[HEADS];
  struct entry *heap;
  int heap_count;
  struct gs_arena *arena;
  double wanted;                       /* bytes of the goal's part */
  uint32_t cutting;                    /* atoms that slices may cut by */
  bool even;                           /* the goal's parts fill their blocks */
  double haste;                        /* 1: the cheapest path; more: one that is found sooner */
  double limit;                        /* only cheaper paths are of use */
  int most;                            /* states to look at */
  bool failed;
};

static void heap_push(struct search *s, struct entry entry)
{
  int at = s->heap_count++;
  while (at > 0 && s->heap[(at - 1) / 2].bound > entry.bound) {
    s->heap[at] = s->heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  s->heap[at] = entry;
}

static struct entry heap_pop(struct search *s)
{
  struct entry top = s->heap[0], last = s->heap[--s->heap_count];
  int at = 0;
  for (;;) {
    int child = 2 * at + 1;
    if (child >= s->heap_count)
      break;
    if (child + 1 < s->heap_count && s->heap[child + 1].bound < s->heap[child].bound)
      child++;
    if (s->heap[child].bound >= last.bound)
      break;
    s->heap[at] = s->heap[child];
    at = child;
  }
  s->heap[at] = last;
  return top;
}

static bool grow(struct search *s)
{
  int capacity = s->capacity * 2;
  struct reached *states = GS_NEW_ARRAY(s->arena, struct reached, capacity);
  struct entry *heap = GS_NEW_ARRAY(s->arena, struct entry, capacity * 8);
  if (states == NULL || heap == NULL)
    return false;
  memcpy(states, s->states, (size_t)s->count * sizeof *states);
  memcpy(heap, s->heap, (size_t)s->heap_count * sizeof *heap);
  s->states = states;
  s->heap = heap;
  s->capacity = capacity;
  return true;
}

/* Whether slices alone, or gathers alone, lead from A to B: every dim's atoms begin with the other's. */
static bool lies_on_the_way(const struct search *s, const struct gs_layout *a, const struct gs_layout *b)
{
  int at_a = 0, at_b = 0;
  bool finer = true, coarser = true;
  for (int i = 0; i < s->problem.type.rank; i++) {
    int common = 0;
    while (common < a->count[i] && common < b->count[i]
           && a->atoms[at_a + common] == b->atoms[at_b + common])
      common++;
    finer = finer && common == b->count[i];
    coarser = coarser && common == a->count[i];
    at_a += a->count[i];
    at_b += b->count[i];
  }
  return finer || coarser;
}

/* How the atoms that cut a dim here and in the goal differ, after those that both begin with. */
struct difference {
  uint32_t atoms;                      /* bit set of both sides */
  double held;                         /* share of the goal's part that a device has, on average, at most */
};

static int64_t gcd(int64_t a, int64_t b)
{
  return b == 0 ? a : gcd(b, a % b);
}

/* Of A, NA atoms here, and B, NB in the goal. */
static struct difference compare_dim(const struct search *s, const unsigned char *a, int na,
                                     const unsigned char *b, int nb)
{
  const struct gs_axis *atoms = s->problem.atoms.items;
  uint32_t here = 0, there = 0;
  int64_t parts_here = 1, parts_there = 1;
  int common = 0;
  while (common < na && common < nb && a[common] == b[common])
    common++;
  for (int i = common; i < na; i++) {
    here |= 1u << a[i];
    parts_here *= atoms[a[i]].size;
  }
  for (int i = common; i < nb; i++) {
    there |= 1u << b[i];
    parts_there *= atoms[b[i]].size;
  }
  struct difference d = { here | there, 1.0 / (double)parts_here };
  if ((here & there) == 0)
    return d;
  /* The same atoms elsewhere: parts of the first ones, n and m, meet in n + m - gcd of n*m cases. */
  int64_t n = atoms[a[common]].size, m = atoms[b[common]].size;
  double meet = (double)(n + m - gcd(n, m)) / ((double)n * (double)m);
  double most = (double)parts_there / (double)parts_here;
  d.held = most < meet ? most : meet;
  return d;
}

/* Share of what a device holds in the goal that it has in L, on average, at most: the product over dims
 * that no atom ties together, the least of those that are. */
static double share_held(const struct search *s, const struct gs_layout *l)
{
  struct difference tied[GS_MAX_RANK];
  int count = 0, at = 0, at_goal = 0;
  for (int i = 0; i < s->problem.type.rank; i++) {
    struct difference d = compare_dim(s, l->atoms + at, l->count[i], s->goal.atoms + at_goal, s->goal.count[i]);
    for (int k = 0; k < count; k++)
      if (tied[k].atoms & d.atoms) {
        d.atoms |= tied[k].atoms;
        d.held = tied[k].held < d.held ? tied[k].held : d.held;
        tied[k--] = tied[--count];
      }
    tied[count++] = d;
    at += l->count[i];
    at_goal += s->goal.count[i];
  }
  double held = 1;
  for (int k = 0; k < count; k++)
    held *= tied[k].held;
  return held;
}

/* Bytes of a device's part, padding and all. */
static double block_bytes(const struct search *s, const struct gs_layout *l)
{
  double bytes = (double)s->problem.element;
  for (int i = 0; i < s->problem.type.rank; i++)
    bytes *= (double)l->block[i];
  return bytes;
}

/* Parts that the atoms in SET make. */
static double parts_of_set(const struct search *s, uint32_t set)
{
  double parts = 1;
  for (int a = 0; a < s->problem.atoms.count; a++)
    if (set >> a & 1)
      parts *= (double)s->problem.atoms.items[a].size;
  return parts;
}

/* What summing over GROUP devices costs, and making what WANTED there is of it.  It is cheapest where as
 * little as can be is summed: what HELD there is, cut by the atoms that nothing uses, which is free. */
static double sum_to_come(const struct search *s, const struct gs_layout *l, double held, double wanted,
                          double group)
{
  uint32_t idle = s->cutting & ~l->partial & ~gs_layout_used(l);
  double scattered = held / parts_of_set(s, idle) / group;
  return (group - 1) * scattered + (wanted > scattered ? wanted - scattered : 0);
}

/* What a device in layout L must still send, on average: what it has less than the goal, or the rest of
 * the sums.  Never more than a path costs, whatever the path. */
static double still_to_come(const struct search *s, const struct gs_layout *l)
{
  double held = block_bytes(s, l), wanted = s->wanted;
  uint32_t summed = l->partial & ~s->goal.partial;
  if (summed != 0) {
    double group = parts_of_set(s, summed);
    return s->goal.partial != 0 ? (group - 1) / group * wanted : sum_to_come(s, l, held, wanted, group);
  }
  double missing = wanted > held ? wanted - held : 0;
  double moving = s->even ? wanted * (1 - share_held(s, l))
                  : lies_on_the_way(s, l, &s->goal) ? 0 : wanted / 2;
  return moving > missing ? moving : missing;
}

/* Atoms of dims here and in the goal that do not stand behind the same others: all must go or come. */
static int misplaced(const struct search *s, const struct gs_layout *l)
{
  int count = 0, at = 0, at_goal = 0;
  for (int i = 0; i < s->problem.type.rank; i++) {
    int common = 0;
    while (common < l->count[i] && common < s->goal.count[i]
           && l->atoms[at + common] == s->goal.atoms[at_goal + common])
      common++;
    count += l->count[i] + s->goal.count[i] - 2 * common;
    at += l->count[i];
    at_goal += s->goal.count[i];
  }
  return count;
}

static void reach(void *user, const struct gs_layout *to, const struct gs_layout_move *move)
{
  struct search *s = user;
  double hop = move->kind == GS_MOVE_SLICE || move->kind == GS_MOVE_ZERO_PARTIAL 
                   ? GS_COLLECTIVE_COST / 100 : GS_COLLECTIVE_COST;
  double cost = (s->current < 0 ? 0 : s->states[s->current].cost) + move->bytes + hop;
  unsigned head = gs_layout_hash(&s->problem, to) % HEADS;
  int at = s->heads[head];
  while (at >= 0 && !gs_layout_equal(&s->states[at].layout, to))
    at = s->states[at].next;
  if (at >= 0 && s->states[at].cost <= cost)
    return;
  double rest = still_to_come(s, to);
  if (cost + rest >= s->limit)
    return;
  double bound = cost + rest;
  if (s->haste > 1)
    bound += s->haste * (rest + misplaced(s, to) * s->wanted / 8);
  if (at < 0) {
    if (s->count == s->capacity && !grow(s)) {
      s->failed = true;
      return;
    }
    at = s->count++;
    s->states[at] = (struct reached){ .layout = *to, .next = s->heads[head] };
    s->heads[head] = at;
  }
  struct reached *r = &s->states[at];
  r->settled = false;
  r->cost = cost;
  r->bound = bound;
  r->bytes = (s->current < 0 ? 0 : s->states[s->current].bytes) + move->bytes;
  r->before = s->current;
  r->move = *move;
  if (s->heap_count < s->capacity * 8)
    heap_push(s, (struct entry){ bound, at });
  else
    s->failed = true;
}

static bool search_start(struct search *s, const struct gs_layout *start)
{
  if (s->states == NULL) {
    s->capacity = 64;
    s->states = GS_NEW_ARRAY(s->arena, struct reached, s->capacity);
    s->heap = GS_NEW_ARRAY(s->arena, struct entry, s->capacity * 8);
  }
  s->count = s->heap_count = 0;
  s->failed = s->states == NULL || s->heap == NULL;
  if (s->failed)
    return false;
  for (int i = 0; i < HEADS; i++)
    s->heads[i] = -1;
  s->current = -1;
  reach(s, start, &(struct gs_layout_move){ .kind = GS_MOVE_SLICE });
  s->states[0].cost = 0;
  return true;
}

/* Index of the goal, or -1. */
static int search_run(struct search *s)
{
  while (s->heap_count > 0 && s->count < s->most && !s->failed) {
    struct entry entry = heap_pop(s);
    int at = entry.state;
    if (s->states[at].settled || entry.bound > s->states[at].bound)
      continue;
    s->states[at].settled = true;
    if (gs_layout_equal(&s->states[at].layout, &s->goal))
      return at;
    s->current = at;
    struct gs_layout from = s->states[at].layout;
    bool permute = s->states[at].before < 0 || s->states[at].move.kind != GS_MOVE_PERMUTE;
    gs_layout_moves(&s->problem, &from, permute, reach, s);
  }
  return -1;
}

static bool path_from(struct gs_resharder *r, struct search *s, int goal, struct gs_path *path)
{
  int n = 0;
  for (int at = goal; s->states[at].before >= 0; at = s->states[at].before)
    n++;
  struct gs_move *moves = GS_NEW_ARRAY(r->arena, struct gs_move, n);
  if (moves == NULL && n > 0)
    return false;
  path->nmoves = n;
  path->moves = moves;
  path->bytes = s->states[goal].bytes;
  path->cost = s->states[goal].cost;
  for (int at = goal; s->states[at].before >= 0; at = s->states[at].before) {
    const struct gs_layout_move *m = &s->states[at].move;
    struct gs_axis axes[GS_AXES_MAX];
    for (int i = 0; i < m->natoms; i++)
      axes[i] = s->problem.atoms.items[m->atoms[i]];
    moves[--n] = (struct gs_move){
      .kind = m->kind, .dim = m->dim, .split_dim = m->split_dim, .naxes = m->natoms,
      .axes = gs_arena_copy(r->arena, axes, (size_t)m->natoms * sizeof *axes), .bytes = m->bytes,
      .after = gs_layout_sharding(&s->problem, r->table, &s->states[at].layout)
    };
    if (moves[n].after == NULL)
      return false;
  }
  if (path->nmoves > 0)
    moves[path->nmoves - 1].after = s->problem.to;
  return true;
}

/* From, to MIDDLE, to: two paths put together. */
static bool path_through(struct gs_resharder *r, const struct gs_layout_problem *p,
                         const struct gs_sharding *middle, struct gs_path *path)
{
  if (middle == NULL || middle == p->from || middle == p->to)
    return false;
  const struct gs_path *a = gs_reshard_path(r, p->from, middle, &p->type);
  const struct gs_path *b = gs_reshard_path(r, middle, p->to, &p->type);
  if (a == NULL || b == NULL)
    return false;
  struct gs_move *moves = GS_NEW_ARRAY(r->arena, struct gs_move, a->nmoves + b->nmoves);
  if (moves == NULL)
    return false;
  memcpy(moves, a->moves, (size_t)a->nmoves * sizeof *moves);
  memcpy(moves + a->nmoves, b->moves, (size_t)b->nmoves * sizeof *moves);
  *path = (struct gs_path){ a->nmoves + b->nmoves, moves, a->bytes + b->bytes, a->cost + b->cost,
                            a->fallback || b->fallback };
  return true;
}

/* Gather everything and cut it anew: always there, never cheap. */
static bool path_by_replication(struct gs_resharder *r, const struct gs_layout_problem p,
                                struct gs_path *path)
{
  struct gs_layout replicated = p.start;
  gs_layout_replicate(&p, &replicated);
  path->fallback = path_through(r, &p, gs_layout_sharding(&p, r->table, &replicated), path);
  return path->fallback;
}

/* Partial sums cannot become partial maxima but by being summed first. */
static bool path_by_reduction(struct gs_resharder *r, const struct gs_layout_problem p,
                              struct gs_path *path)
{
  struct gs_layout whole = p.start;
  whole.partial = 0;
  return path_through(r, &p, gs_layout_sharding(&p, r->table, &whole), path);
}

/* Whether the goal has no padding and no partial results: then whatever a device lacks has to be sent. */
static bool is_even(const struct gs_layout_problem *p)
{
  if (p->goal.partial != 0)
    return false;
  for (int i = 0; i < p->type.rank; i++)
    if (p->goal.block[i] * gs_sharding_parts(p->to, i) != p->type.dims[i])
      return false;
  return true;
}

static bool reduces_twice(const struct gs_sharding *from, const struct gs_sharding *to)
{
  return from->npartial > 0 && to->npartial > 0 && from->partial_kind != to->partial_kind;
}

/* Pose the problem; only paths below LIMIT are of use.  NULL when it cannot be, or out of memory. */
static struct search *prepare(struct gs_resharder *r, const struct gs_sharding *from, const struct gs_sharding *to,
                              const struct gs_type *type, enum gs_layout_cut cut, double limit)
{
  struct search *s = r->search != NULL ? r->search : GS_NEW(r->arena, struct search);
  if (s == NULL)
    return NULL;
  r->search = s;
  s->arena = r->arena;
  s->limit = limit;
  s->most = cut == GS_CUT_SIDES ? MAX_STATES : FINE_STATES;
  s->haste = 1;
  if (!gs_layout_problem(&s->problem, from, to, type, cut))
    return NULL;
  s->goal = s->problem.goal;
  s->even = is_even(&s->problem);
  s->wanted = block_bytes(s, &s->goal);
  s->cutting = s->problem.all_may_cut ? ~(uint32_t)0 : gs_layout_used(&s->goal);
  return s;
}

/* Index of the goal, or -1.  Where looking at many states shows no cheapest path, one not much dearer is better than
 * none: in haste, up to MOST. */
static int search_goal(struct search *s, double most)
{
  s->count = s->most;
  s->failed = false;
  for (; s->haste <= most && s->count >= s->most && !s->failed; s->haste *= 3) {
    int goal = search_start(s, &s->problem.start) ? search_run(s) : -1;
    if (goal >= 0)
      return goal;
  }
  return -1;
}

/* The cheapest path over the atoms that CUT gives, if it costs less than LIMIT. */
static bool search_path(struct gs_resharder *r, const struct gs_sharding *from,
                        const struct gs_sharding *to, const struct gs_type *type,
                        enum gs_layout_cut cut, double limit, struct gs_path *path)
{
  struct search *s = prepare(r, from, to, type, cut, limit);
  if (s == NULL)
    return false;
  if (reduces_twice(from, to))
    return cut == GS_CUT_SIDES && path_by_reduction(r, s->problem, path);
  int goal = search_goal(s, cut == GS_CUT_SIDES ? MOST_HASTE : 1);
  if (goal >= 0)
    return path_from(r, s, goal, path);
  return cut == GS_CUT_SIDES && !s->failed && path_by_replication(r, s->problem, path);
}

/* Several moves that send, some between dims or devices, may be cheaper while the tensor is cut
 * otherwise. */
static bool finer_may_help(const struct gs_path *path)
{
  bool exchanges = false;
  int sending = 0;
  for (int i = 0; i < path->nmoves; i++) {
    sending += path->moves[i].bytes > 0;
    exchanges = exchanges || path->moves[i].kind == GS_MOVE_PERMUTE
                || path->moves[i].kind == GS_MOVE_ALL_TO_ALL;
  }
  return exchanges && sending > 1;
}

/* By another axis there may be less padding to send. */
static bool is_padded(const struct gs_sharding *s, const struct gs_type *type)
{
  return gs_sharding_padding(s, type) > 0;
}

static bool find_path(struct gs_resharder *r, const struct gs_sharding *from,
                      const struct gs_sharding *to, const struct gs_type *type, struct gs_path *path)
{
  if (from == to)
    return true;
  if (!search_path(r, from, to, type, GS_CUT_SIDES, 1e300, path))
    return false;
  bool padded = path->bytes > 0 && (is_padded(from, type) || is_padded(to, type));
  for (enum gs_layout_cut cut = GS_CUT_MESH; cut <= GS_CUT_PRIMES && (padded || finer_may_help(path)); cut++) {
    struct gs_path other = { 0 };
    if (search_path(r, from, to, type, cut, path->cost - 1e-9, &other))
      *path = other;
  }
  return true;
}

static uint32_t memo_hash(const struct gs_sharding *from, const struct gs_sharding *to,
                          const struct gs_type *type)
{
  uint64_t hash = from->hash * 0x9e3779b97f4a7c15u ^ to->hash;
  for (int i = 0; i < type->rank; i++)
    hash = (hash ^ (uint64_t)type->dims[i]) * 0xff51afd7ed558ccdu;
  hash ^= gs_dtype_size(type->dtype);
  return (uint32_t)(hash ^ hash >> 29 ^ hash >> 47);
}

/* What is known of the paths; NULL when out of memory. */
static struct memo *recall(struct gs_resharder *r, const struct gs_sharding *from, const struct gs_sharding *to,
                           const struct gs_type *type)
{
  uint32_t hash = memo_hash(from, to, type);
  size_t element = gs_dtype_size(type->dtype);
  struct memo *m = r->buckets[hash % BUCKETS];
  for (; m != NULL; m = m->next)
    if (m->hash == hash && m->from == from && m->to == to && m->element == element
        && memcmp(m->dims, type->dims, (size_t)type->rank * sizeof m->dims[0]) == 0)
      return m;
  if ((m = GS_NEW(r->arena, struct memo)) == NULL)
    return NULL;
  *m = (struct memo){ .from = from, .to = to, .element = element, .hash = hash, .next = r->buckets[hash % BUCKETS] };
  memcpy(m->dims, type->dims, sizeof m->dims);
  return r->buckets[hash % BUCKETS] = m;
}

const struct gs_path *gs_reshard_path(struct gs_resharder *r, const struct gs_sharding *from,
                                      const struct gs_sharding *to, const struct gs_type *type)
{
  struct memo *m = recall(r, from, to, type);
  struct gs_path *path;
  if (m == NULL || m->path != NULL)
    return m == NULL ? NULL : m->path;
  if ((path = GS_NEW(r->arena, struct gs_path)) == NULL || !find_path(r, from, to, type, path))
    return NULL;
  return m->path = path;
}

double gs_reshard_bound(const struct gs_sharding *from, double held, const struct gs_sharding *to, double wanted)
{
  if (from->npartial > 0 && to->npartial == 0) {
    double n = (double)gs_axes_size(from->partial, from->npartial);
    return (n - 1) / n * wanted;
  }
  return wanted > held ? wanted - held : 0;
}

double gs_reshard_cost(struct gs_resharder *r, const struct gs_sharding *from, const struct gs_sharding *to,
                       const struct gs_type *type, double limit)
{
  if (from == to)
    return 0;
  struct memo *m = recall(r, from, to, type);
  if (m == NULL)
    return GS_NO_LIMIT;
  if (m->cost > 0 || m->path != NULL)
    return m->path != NULL ? m->path->cost : m->cost;
  if (m->bound >= limit)
    return m->bound;
  struct search *s = reduces_twice(from, to) ? NULL : prepare(r, from, to, type, GS_CUT_SIDES, limit);
  if (s != NULL)
    s->most = FEW_STATES;
  int goal = s != NULL ? search_goal(s, SOME_HASTE) : -1;
  if (goal >= 0)
    return m->cost = s->states[goal].cost;
  if (s != NULL && !s->failed && s->count < s->most && limit < GS_NO_LIMIT)
    return m->bound = limit;
  if (s != NULL && !s->failed && s->count >= s->most)  /* hard to find: taken for as dear as gathering all of it */
    return m->cost = (double)gs_type_bytes(type) + 2 * (from->npartial > 0 ? block_bytes(s, &s->problem.start) : 0);
  const struct gs_path *path = gs_reshard_path(r, from, to, type);
  return path == NULL ? GS_NO_LIMIT : path->cost;
}
