/* partition/reshard_moves.c - layouts over atoms and the moves of PARTITIONING.md 4. */
#include <config.h>

#include "partition/reshard_moves.h"

#include <string.h>

struct moves {
  const struct gs_layout_problem *p;
  const struct gs_layout *from;
  gs_layout_sink *sink;
  void *user;
  double local_bytes;
  uint32_t used;                       /* atoms in some dim */
};

static int first_atom(const struct gs_layout *l, int dim)
{
  int first = 0;
  for (int i = 0; i < dim; i++)
    first += l->count[i];
  return first;
}

static int total_atoms(const struct gs_layout *l)
{
  return first_atom(l, GS_MAX_RANK);
}

static int64_t parts_of(const struct gs_layout_problem *p, const struct gs_layout *l, int dim)
{
  int64_t parts = 1;
  int first = first_atom(l, dim);
  for (int i = 0; i < l->count[dim]; i++)
    parts *= p->atoms.items[l->atoms[first + i]].size;
  return parts;
}

static bool to_layout(const struct gs_layout_problem *p, const struct gs_sharding *s,
                      struct gs_layout *l)
{
  int numbers[GS_AXES_MAX], at = 0;
  memset(l, 0, sizeof *l);
  for (int i = 0; i < s->rank; i++) {
    int n = gs_atoms_of(&p->atoms, s->dims[i].axes, s->dims[i].naxes, numbers);
    if (n < 0 || at + n > GS_LAYOUT_ATOMS)
      return false;
    l->count[i] = (unsigned char)n;
    for (int k = 0; k < n; k++)
      l->atoms[at++] = (unsigned char)numbers[k];
    l->block[i] = gs_sharding_block(s, i, p->type.dims[i]);
  }
  int n = gs_atoms_of(&p->atoms, s->partial, s->npartial, numbers);
  for (int k = 0; k < n; k++)
    l->partial |= 1u << numbers[k];
  return n >= 0;
}

/* Cut further than the sides ask for; false when that gives nothing new or too much. */
static bool cut_finer(struct gs_layout_problem *p, const struct gs_mesh *mesh, enum gs_layout_cut cut)
{
  enum { FINE_ATOMS = 4 };
  int before = p->atoms.count;
  for (int a = 0; a < mesh->naxes; a++) {
    struct gs_axis whole = gs_axis_whole(mesh, a);
    if (mesh->manual >> a & 1)         /* devices along it hold other values */
      continue;
    if (cut == GS_CUT_MESH && !gs_atoms_add(&p->atoms, &whole, 1))
      return false;
  }
  for (int a = 0; cut == GS_CUT_PRIMES && a < p->atoms.count; a++) {
    struct gs_axis atom = p->atoms.items[a];
    int64_t prime = 2;
    while (atom.size % prime != 0 && prime * prime <= atom.size)
      prime++;
    if (atom.size % prime == 0 && atom.size != prime) {
      atom.size = prime;
      if (!gs_atoms_add(&p->atoms, &atom, 1))
        return false;
    }
  }
  return p->atoms.count > before && p->atoms.count <= FINE_ATOMS;
}

bool gs_layout_problem(struct gs_layout_problem *p, const struct gs_sharding *from,
                       const struct gs_sharding *to, const struct gs_type *type, enum gs_layout_cut cut)
{
  *p = (struct gs_layout_problem){ .type = *type, .from = from, .to = to,
                                   .element = gs_dtype_size(type->dtype) };
  const struct gs_sharding *both[] = { from, to };
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < both[k]->rank; i++)
      if (!gs_atoms_add(&p->atoms, both[k]->dims[i].axes, both[k]->dims[i].naxes))
        return false;
    if (!gs_atoms_add(&p->atoms, both[k]->partial, both[k]->npartial))
      return false;
  }
  if (cut != GS_CUT_SIDES && !cut_finer(p, from->mesh, cut))
    return false;
  p->all_may_cut = cut != GS_CUT_SIDES;
  return to_layout(p, from, &p->start) && to_layout(p, to, &p->goal);
}

uint32_t gs_layout_hash(const struct gs_layout_problem *p, const struct gs_layout *l)
{
  uint32_t hash = l->partial * 0x9e3779b1u;
  int n = 0;
  for (int i = 0; i < p->type.rank; i++) {
    hash = (hash ^ (uint32_t)l->block[i] ^ (uint32_t)l->count[i] << 24) * 0x85ebca6bu;
    n += l->count[i];
  }
  for (int i = 0; i < n; i++)
    hash = (hash ^ l->atoms[i]) * 0xc2b2ae35u;
  return hash ^ hash >> 15;
}

bool gs_layout_equal(const struct gs_layout *a, const struct gs_layout *b)
{
  return memcmp(a, b, sizeof *a) == 0;
}

const struct gs_sharding *gs_layout_sharding(const struct gs_layout_problem *p,
                                             struct gs_sharding_table *table,
                                             const struct gs_layout *l)
{
  struct gs_axis axes[GS_LAYOUT_ATOMS], partial[GS_AXES_MAX];
  struct gs_dim_sharding dims[GS_MAX_RANK] = { { 0 } };
  int at = 0, npartial = 0;
  for (int i = 0; i < p->type.rank; i++) {
    int64_t parts = parts_of(p, l, i);
    dims[i].axes = axes + at;
    dims[i].naxes = l->count[i];
    for (int k = 0; k < l->count[i]; k++, at++)
      axes[at] = p->atoms.items[l->atoms[at]];
    if (l->block[i] != gs_ceil_div(p->type.dims[i], parts))
      dims[i].block = l->block[i];
  }
  for (int k = 0; k < p->atoms.count; k++)
    if (l->partial >> k & 1)
      partial[npartial++] = p->atoms.items[k];
  enum gs_op kind = p->from->npartial > 0 ? p->from->partial_kind : p->to->partial_kind;
  return gs_sharding_make(table, p->from->mesh, p->type.rank, dims, partial, npartial, kind);
}

uint32_t gs_layout_used(const struct gs_layout *l)
{
  uint32_t used = 0;
  for (int i = 0, n = total_atoms(l); i < n; i++)
    used |= 1u << l->atoms[i];
  return used;
}

void gs_layout_replicate(const struct gs_layout_problem *p, struct gs_layout *l)
{
  memset(l, 0, sizeof *l);
  for (int i = 0; i < p->type.rank; i++)
    l->block[i] = p->type.dims[i];
}

/* Take the last N atoms of DIM away into MOVE; false when offsets would not fit afterwards. */
static bool remove_atoms(const struct moves *m, struct gs_layout *l, int dim, int n,
                         struct gs_layout_move *move)
{
  int first = first_atom(l, dim), keep = l->count[dim] - n;
  int64_t size = 1;
  for (int i = 0; i < n; i++) {
    move->atoms[i] = l->atoms[first + keep + i];
    size *= m->p->atoms.items[move->atoms[i]].size;
  }
  move->natoms = n;
  int total = total_atoms(l);
  memmove(l->atoms + first + keep, l->atoms + first + keep + n,
          (size_t)(total - first - keep - n) * sizeof l->atoms[0]);
  memset(l->atoms + total - n, 0, (size_t)n * sizeof l->atoms[0]);
  l->count[dim] = (unsigned char)keep;
  l->block[dim] = keep == 0 ? m->p->type.dims[dim] : l->block[dim] * size;
  return true;
}

/* Put MOVE's atoms at the minor end of DIM; false when the blocks do not divide. */
static bool append_atoms(const struct moves *m, struct gs_layout *l, int dim,
                         const struct gs_layout_move *move)
{
  int64_t size = 1;
  for (int i = 0; i < move->natoms; i++)
    size *= m->p->atoms.items[move->atoms[i]].size;
  if (l->count[dim] > 0 && l->block[dim] % size != 0)
    return false;
  int total = total_atoms(l), at = first_atom(l, dim) + l->count[dim];
  if (total + move->natoms > GS_LAYOUT_ATOMS)
    return false;
  memmove(l->atoms + at + move->natoms, l->atoms + at, (size_t)(total - at) * sizeof l->atoms[0]);
  memcpy(l->atoms + at, move->atoms, (size_t)move->natoms * sizeof l->atoms[0]);
  l->count[dim] = (unsigned char)(l->count[dim] + move->natoms);
  l->block[dim] = gs_ceil_div(l->block[dim], size);
  return true;
}

static int64_t atoms_size(const struct moves *m, const struct gs_layout_move *move)
{
  int64_t size = 1;
  for (int i = 0; i < move->natoms; i++)
    size *= m->p->atoms.items[move->atoms[i]].size;
  return size;
}

static void slices(const struct moves *m)
{
  for (int a = 0; a < m->p->atoms.count; a++) {
    bool wanted = m->p->all_may_cut;
    for (int i = 0; i < total_atoms(&m->p->goal) && !wanted; i++)
      wanted = m->p->goal.atoms[i] == a;
    if ((m->used | m->from->partial) >> a & 1 || !wanted)
      continue;
    for (int i = 0; i < m->p->type.rank; i++) {
      struct gs_layout to = *m->from;
      struct gs_layout_move move = { .kind = GS_MOVE_SLICE, .dim = i, .natoms = 1 };
      move.atoms[0] = (unsigned char)a;
      if (append_atoms(m, &to, i, &move))
        m->sink(m->user, &to, &move);
    }
  }
}

/* An uncut dim cut by the goal's first atoms at once, in blocks that the others then divide: one atom
 * after the other would give blocks that do not fit, and elements would have to travel. */
static void slices_to_goal(const struct moves *m)
{
  const struct gs_layout *goal = &m->p->goal;
  for (int i = 0; i < m->p->type.rank; i++) {
    int first = first_atom(goal, i), count = m->from->count[i] == 0 ? goal->count[i] : 0;
    int64_t block = goal->block[i];
    for (int k = 1; k < count; k++)
      block *= m->p->atoms.items[goal->atoms[first + k]].size;
    struct gs_layout_move move = { .kind = GS_MOVE_SLICE, .dim = i };
    for (int n = 1; n <= count; n++) {
      struct gs_layout to = *m->from;
      int atom = goal->atoms[first + n - 1];
      if ((m->used | m->from->partial) >> atom & 1)
        break;
      move.atoms[move.natoms++] = (unsigned char)atom;
      if (!append_atoms(m, &to, i, &move))
        break;
      to.block[i] = block;
      if (n > 1 || block != gs_ceil_div(m->p->type.dims[i], m->p->atoms.items[atom].size))
        m->sink(m->user, &to, &move);
      if (n < count)
        block /= m->p->atoms.items[goal->atoms[first + n]].size;
    }
  }
}

static void gathers(const struct moves *m)
{
  for (int i = 0; i < m->p->type.rank; i++)
    for (int n = 1; n <= m->from->count[i]; n++) {
      struct gs_layout to = *m->from;
      struct gs_layout_move move = { .kind = GS_MOVE_ALL_GATHER, .dim = i };
      if (!remove_atoms(m, &to, i, n, &move))
        continue;
      move.bytes = (double)(atoms_size(m, &move) - 1) * m->local_bytes;
      m->sink(m->user, &to, &move);
    }
}

static void all_to_alls(const struct moves *m)
{
  for (int i = 0; i < m->p->type.rank; i++)
    for (int n = 1; n <= m->from->count[i]; n++)
      for (int j = 0; j < m->p->type.rank; j++) {
        struct gs_layout to = *m->from;
        struct gs_layout_move move = { .kind = GS_MOVE_ALL_TO_ALL, .dim = i, .split_dim = j };
        if (i == j || !remove_atoms(m, &to, i, n, &move) || !append_atoms(m, &to, j, &move))
          continue;
        int64_t size = atoms_size(m, &move);
        /* The split dim may be padded up to a multiple of the group before it is cut. */
        double padded = m->from->block[j] == 0 ? 1
                        : (double)(to.block[j] * size) / (double)m->from->block[j];
        move.bytes = (double)(size - 1) / (double)size * m->local_bytes * padded;
        m->sink(m->user, &to, &move);
      }
}

/* Fill positions of dims from AT on with unused atoms so that every dim keeps its parts. */
static void permutations(const struct moves *m, struct gs_layout *to, int dim, int64_t left,
                         uint32_t used, int at)
{
  while (dim < m->p->type.rank && left == 1) {
    if (++dim < m->p->type.rank) {
      to->count[dim] = 0;
      left = parts_of(m->p, m->from, dim);
    }
  }
  if (dim >= m->p->type.rank) {
    memset(to->atoms + at, 0, sizeof to->atoms - (size_t)at);
    if (!gs_layout_equal(to, m->from))
      m->sink(m->user, to,
              &(struct gs_layout_move){ .kind = GS_MOVE_PERMUTE, .bytes = m->local_bytes });
    return;
  }
  for (int a = 0; a < m->p->atoms.count; a++) {
    int64_t size = m->p->atoms.items[a].size;
    if (used >> a & 1 || left % size != 0 || at >= GS_LAYOUT_ATOMS)
      continue;
    to->atoms[at] = (unsigned char)a;
    to->count[dim]++;
    permutations(m, to, dim, left / size, used | 1u << a, at + 1);
    to->count[dim]--;
  }
}

/* With many atoms all arrangements would be too many: only swaps of two equal ones. */
static void swaps(const struct moves *m)
{
  int total = total_atoms(m->from);
  for (int i = 0; i < total; i++)
    for (int a = 0; a < m->p->atoms.count; a++) {
      struct gs_layout to = *m->from;
      if (a == to.atoms[i] || m->from->partial >> a & 1
          || m->p->atoms.items[a].size != m->p->atoms.items[to.atoms[i]].size)
        continue;
      for (int j = 0; j < total; j++)
        if (to.atoms[j] == a)
          to.atoms[j] = to.atoms[i];
      to.atoms[i] = (unsigned char)a;
      m->sink(m->user, &to,
              &(struct gs_layout_move){ .kind = GS_MOVE_PERMUTE, .bytes = m->local_bytes });
    }
  struct gs_layout goal = m->p->goal;
  goal.partial = m->from->partial;
  bool fits = !gs_layout_equal(&goal, m->from);
  for (int i = 0; i < m->p->type.rank && fits; i++)
    fits = goal.block[i] == m->from->block[i]
           && parts_of(m->p, &goal, i) == parts_of(m->p, m->from, i);
  for (int i = 0; i < total_atoms(&goal) && fits; i++)
    fits = !(goal.partial >> goal.atoms[i] & 1);
  if (fits)
    m->sink(m->user, &goal,
            &(struct gs_layout_move){ .kind = GS_MOVE_PERMUTE, .bytes = m->local_bytes });
}

static void permutes(const struct moves *m)
{
  enum { ALL_ARRANGEMENTS = 4 };
  if (m->used == 0)
    return;
  if (m->p->atoms.count > ALL_ARRANGEMENTS) {
    swaps(m);
    return;
  }
  struct gs_layout to = *m->from;
  memset(to.atoms, 0, sizeof to.atoms);
  to.count[0] = 0;
  permutations(m, &to, 0, parts_of(m->p, m->from, 0), m->from->partial, 0);
}

/* Every set of partial atoms (that the goal does not keep) at once, summed or scattered. */
static void reductions(const struct moves *m)
{
  uint32_t partial = m->from->partial & ~m->p->goal.partial;
  for (uint32_t set = partial; set != 0; set = (set - 1) & partial) {
    struct gs_layout_move move = { .kind = GS_MOVE_ALL_REDUCE };
    for (int a = 0; a < m->p->atoms.count; a++)
      if (set >> a & 1)
        move.atoms[move.natoms++] = (unsigned char)a;
    double n = (double)atoms_size(m, &move);
    struct gs_layout to = *m->from;
    to.partial &= ~set;
    move.bytes = 2 * (n - 1) / n * m->local_bytes;
    m->sink(m->user, &to, &move);
    move.kind = GS_MOVE_REDUCE_SCATTER;
    for (int i = 0; i < m->p->type.rank; i++) {
      to = *m->from;
      to.partial &= ~set;
      move.dim = i;
      int64_t before = to.block[i];
      if (!append_atoms(m, &to, i, &move))
        continue;
      double padded = before == 0 ? 1 : (double)to.block[i] * n / (double)before;
      move.bytes = (n - 1) / n * m->local_bytes * padded;
      m->sink(m->user, &to, &move);
    }
  }
}

static void zero_partials(const struct moves *m)
{
  uint32_t wanted = m->p->goal.partial & ~m->from->partial & ~m->used;
  struct gs_layout to = *m->from;
  struct gs_layout_move move = { .kind = GS_MOVE_ZERO_PARTIAL };
  for (int a = 0; a < m->p->atoms.count; a++)
    if (wanted >> a & 1)
      move.atoms[move.natoms++] = (unsigned char)a;
  to.partial |= wanted;
  if (wanted != 0)
    m->sink(m->user, &to, &move);
}

static void rebalance(const struct moves *m, int dim, int64_t block)
{
  int64_t size = m->p->type.dims[dim], parts = parts_of(m->p, m->from, dim);
  if (block == m->from->block[dim] || block * parts < size)
    return;
  struct gs_exchange_piece piece = { 0, 0, size, 0, 1, 1 };
  double elements = gs_exchange_elements(parts, block, 0, block, 1, &piece, &m->from->block[dim]);
  struct gs_layout to = *m->from;
  struct gs_layout_move move = { .kind = GS_MOVE_REBALANCE, .dim = dim,
                                 .natoms = m->from->count[dim] };
  int first = first_atom(&to, dim);
  memcpy(move.atoms, to.atoms + first, (size_t)move.natoms);
  to.block[dim] = block;
  move.bytes = elements * m->local_bytes / (double)m->from->block[dim];
  m->sink(m->user, &to, &move);
}

/* Blocks worth having: the even ones, the goal's, and those that the goal's next cut divides. */
static void rebalances(const struct moves *m)
{
  for (int i = 0; i < m->p->type.rank; i++) {
    int64_t size = m->p->type.dims[i], parts = parts_of(m->p, m->from, i);
    if (m->from->count[i] == 0 || m->from->block[i] == 0
        || (size % parts == 0 && m->from->block[i] == size / parts
            && m->p->goal.block[i] * parts_of(m->p, &m->p->goal, i) == size))
      continue;
    rebalance(m, i, gs_ceil_div(size, parts));
    int64_t goal_parts = parts_of(m->p, &m->p->goal, i);
    if (goal_parts % parts == 0)
      rebalance(m, i, m->p->goal.block[i] * (goal_parts / parts));
    for (int a = 0; a < m->p->atoms.count; a++) {
      int64_t n = m->p->atoms.items[a].size;
      if (!(m->used >> a & 1))
        rebalance(m, i, gs_ceil_div(gs_ceil_div(size, parts), n) * n);
    }
  }
}

void gs_layout_moves(const struct gs_layout_problem *p, const struct gs_layout *from, bool permute,
                     gs_layout_sink *sink, void *user)
{
  struct moves m = { .p = p, .from = from, .sink = sink, .user = user };
  m.local_bytes = (double)p->element;
  for (int i = 0; i < p->type.rank; i++)
    m.local_bytes *= (double)from->block[i];
  m.used = gs_layout_used(from);
  slices(&m);
  slices_to_goal(&m);
  gathers(&m);
  all_to_alls(&m);
  if (permute)
    permutes(&m);
  reductions(&m);
  zero_partials(&m);
  rebalances(&m);
}
