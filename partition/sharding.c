/* partition/sharding.c - the table of shardings and questions about one. */
#include <config.h>

#include "partition/sharding.h"

#include <string.h>

struct gs_sharding_table {
  struct gs_arena *arena;
  const struct gs_sharding **slots;    /* open addressing; capacity a power of two */
  size_t count, capacity;
};

struct gs_sharding_table *gs_sharding_table_new(struct gs_arena *arena)
{
  struct gs_sharding_table *table = GS_NEW(arena, struct gs_sharding_table);
  if (table == NULL)
    return NULL;
  table->arena = arena;
  table->capacity = 256;
  table->slots = GS_NEW_ARRAY(arena, const struct gs_sharding *, table->capacity);
  return table->slots == NULL ? NULL : table;
}

/* Copy AXES into OUT, leaving out those of size 1 and fusing neighbours. */
static int normalize_axes(const struct gs_axis *axes, int naxes, struct gs_axis *out)
{
  int n = 0;
  for (int i = 0; i < naxes; i++) {
    struct gs_axis a = axes[i];
    if (a.size == 1)
      continue;
    if (n > 0 && out[n - 1].axis == a.axis && out[n - 1].pre * out[n - 1].size == a.pre)
      out[n - 1].size *= a.size;
    else
      out[n++] = a;
  }
  return n;
}

static uint32_t hash_mix(uint32_t hash, uint64_t value)
{
  for (int i = 0; i < 2; i++) {
    hash ^= (uint32_t)(value >> (32 * i));
    hash *= 0x9e3779b1u;
    hash ^= hash >> 15;
  }
  return hash;
}

static uint32_t hash_axes(uint32_t hash, const struct gs_axis *axes, int naxes)
{
  hash = hash_mix(hash, (uint64_t)naxes);
  for (int i = 0; i < naxes; i++)
    hash = hash_mix(hash, ((uint64_t)axes[i].axis << 56) ^ ((uint64_t)axes[i].pre << 28)
                              ^ (uint64_t)axes[i].size);
  return hash;
}

static bool axes_equal(const struct gs_axis *a, int na, const struct gs_axis *b, int nb)
{
  if (na != nb)
    return false;
  for (int i = 0; i < na; i++)
    if (!gs_axis_equal(a[i], b[i]))
      return false;
  return true;
}

static bool sharding_equal(const struct gs_sharding *a, const struct gs_sharding *b)
{
  if (a->hash != b->hash || a->mesh != b->mesh || a->rank != b->rank
      || a->partial_kind != b->partial_kind
      || !axes_equal(a->partial, a->npartial, b->partial, b->npartial))
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i].open != b->dims[i].open || a->dims[i].block != b->dims[i].block
        || !axes_equal(a->dims[i].axes, a->dims[i].naxes, b->dims[i].axes, b->dims[i].naxes))
      return false;
  return true;
}

static bool table_grow(struct gs_sharding_table *table)
{
  size_t capacity = table->capacity * 2;
  const struct gs_sharding **slots = GS_NEW_ARRAY(table->arena, const struct gs_sharding *, capacity);
  if (slots == NULL)
    return false;
  for (size_t i = 0; i < table->capacity; i++) {
    const struct gs_sharding *s = table->slots[i];
    if (s == NULL)
      continue;
    size_t at = s->hash & (capacity - 1);
    while (slots[at] != NULL)
      at = (at + 1) & (capacity - 1);
    slots[at] = s;
  }
  table->slots = slots;
  table->capacity = capacity;
  return true;
}

/* KEY's axes lie in scratch memory: the table's own copy has them in the arena. */
static const struct gs_sharding *table_insert(struct gs_sharding_table *table, size_t at,
                                              const struct gs_sharding *key)
{
  size_t dims = (size_t)key->rank * sizeof key->dims[0];
  struct gs_sharding *s = gs_arena_alloc(table->arena, sizeof *s + dims);
  if (s == NULL)
    return NULL;
  memcpy(s, key, sizeof *s + dims);
  for (int i = 0; i < s->rank; i++) {
    s->dims[i].axes = gs_arena_copy(table->arena, key->dims[i].axes,
                                    (size_t)key->dims[i].naxes * sizeof(struct gs_axis));
    s->dims[i].parts = gs_axes_size(key->dims[i].axes, key->dims[i].naxes);
  }
  s->partial = gs_arena_copy(table->arena, key->partial,
                             (size_t)key->npartial * sizeof(struct gs_axis));
  table->slots[at] = s;
  table->count++;
  return s;
}

enum { MAX_SCRATCH_AXES = 128 };

/* Partial axes are a set: kept in mesh order. */
static void sort_axes(struct gs_axis *axes, int naxes)
{
  for (int i = 1; i < naxes; i++)
    for (int j = i; j > 0; j--) {
      struct gs_axis a = axes[j - 1], b = axes[j];
      if (a.axis < b.axis || (a.axis == b.axis && a.pre < b.pre))
        break;
      axes[j - 1] = b;
      axes[j] = a;
    }
}

const struct gs_sharding *gs_sharding_make(struct gs_sharding_table *table, const struct gs_mesh *mesh,
                                           int rank, const struct gs_dim_sharding *dims,
                                           const struct gs_axis *partial, int npartial,
                                           enum gs_op partial_kind)
{
  struct gs_axis scratch[MAX_SCRATCH_AXES];
  _Alignas(struct gs_sharding) char
      memory[sizeof(struct gs_sharding) + GS_MAX_RANK * sizeof(struct gs_dim_sharding)];
  struct gs_sharding *key = (struct gs_sharding *)memory;
  int used = 0;
  memset(memory, 0, sizeof memory);
  key->mesh = mesh;
  key->rank = rank;
  uint32_t hash = hash_mix(17, (uint64_t)rank);
  for (int i = 0; i < rank; i++) {
    if (used + dims[i].naxes > MAX_SCRATCH_AXES)
      return NULL;
    key->dims[i].naxes = normalize_axes(dims[i].axes, dims[i].naxes, scratch + used);
    key->dims[i].axes = scratch + used;
    key->dims[i].open = dims[i].open;
    key->dims[i].block = dims[i].block;
    used += key->dims[i].naxes;
    hash = hash_axes(hash, key->dims[i].axes, key->dims[i].naxes);
    hash = hash_mix(hash, (uint64_t)dims[i].block * 2 + (uint64_t)dims[i].open);
  }
  if (used + npartial > MAX_SCRATCH_AXES)
    return NULL;
  struct gs_axis sorted[MAX_SCRATCH_AXES];
  if (npartial > 0)
    memcpy(sorted, partial, (size_t)npartial * sizeof *partial);
  sort_axes(sorted, npartial);
  key->npartial = normalize_axes(sorted, npartial, scratch + used);
  key->partial = scratch + used;
  key->partial_kind = key->npartial > 0 ? partial_kind : GS_OP_SUM;
  hash = hash_axes(hash, key->partial, key->npartial);
  key->hash = hash_mix(hash, (uint64_t)key->partial_kind);

  if (table->count * 2 >= table->capacity && !table_grow(table))
    return NULL;
  size_t at = key->hash & (table->capacity - 1);
  for (; table->slots[at] != NULL; at = (at + 1) & (table->capacity - 1))
    if (sharding_equal(table->slots[at], key))
      return table->slots[at];
  return table_insert(table, at, key);
}

const struct gs_sharding *gs_sharding_replicated(struct gs_sharding_table *table,
                                                 const struct gs_mesh *mesh, int rank)
{
  const struct gs_dim_sharding none[GS_MAX_RANK] = { { 0 } };
  return gs_sharding_make(table, mesh, rank, none, NULL, 0, GS_OP_SUM);
}

int64_t gs_sharding_parts(const struct gs_sharding *s, int i)
{
  return s->dims[i].parts;
}

int64_t gs_sharding_block(const struct gs_sharding *s, int i, int64_t size)
{
  if (s->dims[i].block != 0)
    return s->dims[i].block;
  return s->dims[i].parts == 1 ? size : gs_ceil_div(size, s->dims[i].parts);
}

struct gs_type gs_sharding_local(const struct gs_sharding *s, const struct gs_type *type)
{
  struct gs_type local = *type;
  for (int i = 0; i < type->rank; i++)
    local.dims[i] = gs_sharding_block(s, i, type->dims[i]);
  return local;
}

double gs_sharding_local_bytes(const struct gs_sharding *s, const struct gs_type *type)
{
  double bytes = (double)gs_dtype_size(type->dtype);
  for (int i = 0; i < type->rank; i++)
    bytes *= (double)gs_sharding_block(s, i, type->dims[i]);
  return bytes;
}

bool gs_sharding_is_replicated(const struct gs_sharding *s)
{
  for (int i = 0; i < s->rank; i++)
    if (s->dims[i].naxes > 0)
      return false;
  return s->npartial == 0;
}

double gs_sharding_padding(const struct gs_sharding *s, const struct gs_type *type)
{
  double used = 1;
  for (int i = 0; i < s->rank; i++) {
    double held = (double)gs_sharding_parts(s, i) * (double)gs_sharding_block(s, i, type->dims[i]);
    if (held == 0)
      return 0;
    used *= (double)type->dims[i] / held;
  }
  return 1 - used;
}

void gs_sharding_range(const struct gs_sharding *s, int i, int64_t size, int64_t position,
                       int64_t *begin, int64_t *end)
{
  int64_t block = gs_sharding_block(s, i, size);
  int64_t part = gs_mesh_part(s->mesh, s->dims[i].axes, s->dims[i].naxes, position);
  *begin = part * block < size ? part * block : size;
  *end = *begin + block < size ? *begin + block : size;
}
