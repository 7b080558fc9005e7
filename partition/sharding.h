/* partition/sharding.h - how a tensor is laid out over a mesh.
 *
 * For each dim an ordered list of sub-axes, major to minor.  With A parts a dim of D elements is
 * cut in blocks of L = ceil(D/A); part p holds [pL, min((p+1)L, D)), the rest of its L is padding
 * of undefined content.  A block other than ceil(D/A) (always enough to hold D) may stand in the
 * middle of a resharding.  Axes in no list: the tensor is replicated along them, unless partial:
 * then the true value is the sum (or product, maximum, …) over the devices along them.
 *
 * Shardings are interned in a table: equal ones are the same pointer.
 */
#ifndef GS_PARTITION_SHARDING_H
#define GS_PARTITION_SHARDING_H

#include "lang/op.h"
#include "lang/type.h"
#include "partition/mesh.h"

struct gs_dim_sharding {
  int naxes;
  bool open;                           /* completion may append axes */
  const struct gs_axis *axes;          /* no two adjacent ones could be fused */
  int64_t block;                       /* 0: ceil(D/A) */
  int64_t parts;                       /* size of the axes; gs_sharding_make fills it in */
};

struct gs_sharding {
  const struct gs_mesh *mesh;
  int rank;
  int npartial;
  const struct gs_axis *partial;
  enum gs_op partial_kind;             /* SUM PROD REDUCE_MAX REDUCE_MIN ALL ANY */
  uint32_t hash;
  struct gs_dim_sharding dims[];
};

struct gs_sharding_table;
struct gs_sharding_table *gs_sharding_table_new(struct gs_arena *arena);

/* The interned sharding; adjacent sub-axes are fused, axes of size 1 dropped.  DIMS has RANK
 * entries.  The axes are copied. */
const struct gs_sharding *gs_sharding_make(struct gs_sharding_table *table, const struct gs_mesh *mesh,
                                           int rank, const struct gs_dim_sharding *dims,
                                           const struct gs_axis *partial, int npartial,
                                           enum gs_op partial_kind);
const struct gs_sharding *gs_sharding_replicated(struct gs_sharding_table *table,
                                                 const struct gs_mesh *mesh, int rank);

/* Parts of dim I. */
int64_t gs_sharding_parts(const struct gs_sharding *s, int i);
/* L of dim I when it has SIZE elements. */
int64_t gs_sharding_block(const struct gs_sharding *s, int i, int64_t size);
/* Every device's shape of a tensor of TYPE. */
struct gs_type gs_sharding_local(const struct gs_sharding *s, const struct gs_type *type);
/* Bytes of that. */
double gs_sharding_local_bytes(const struct gs_sharding *s, const struct gs_type *type);
/* Neither cut nor partial. */
bool gs_sharding_is_replicated(const struct gs_sharding *s);
/* Share of padding in the local parts taken together, 0 to 1. */
double gs_sharding_padding(const struct gs_sharding *s, const struct gs_type *type);
/* Elements of dim I, of SIZE, that the part at POSITION holds: [*begin, *end), maybe empty. */
void gs_sharding_range(const struct gs_sharding *s, int i, int64_t size, int64_t position,
                       int64_t *begin, int64_t *end);

/* "[data, -]", "[[x, y], -] +z": ours, as plans show it ("-" is an uncut dim). */
void gs_sharding_print(struct gs_text *text, const struct gs_sharding *s);
/* "[data, -1]", "[[data, ?], ?]", "replicated", with sub-axes in Shardy's notation: as the user
 * writes it. */
void gs_sharding_print_source(struct gs_text *text, const struct gs_sharding *s);
/* "{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "{replicated}": XLA's V2. */
void gs_sharding_print_xla(struct gs_text *text, const struct gs_sharding *s);
/* "[{\"data\"}, {}]": Shardy's. */
void gs_sharding_print_sdy(struct gs_text *text, const struct gs_sharding *s);

#endif
