/* partition/reshard_moves.h - shardings as small numbers, and the moves between them.
 *
 * A resharding problem is first cut into atoms: sub-axes that appear whole or not at all on either
 * side.  A layout then says which atoms cut which dim, in blocks of how many elements.
 */
#ifndef GS_PARTITION_RESHARD_MOVES_H
#define GS_PARTITION_RESHARD_MOVES_H

#include "partition/axes.h"
#include "partition/reshard.h"

enum { GS_LAYOUT_ATOMS = 20 };

struct gs_layout {
  unsigned char count[GS_MAX_RANK];
  unsigned char atoms[GS_LAYOUT_ATOMS];        /* dim after dim, major to minor */
  uint32_t partial;                            /* bit set of atoms */
  uint32_t unused;                             /* always 0: layouts are compared as bytes */
  int64_t block[GS_MAX_RANK];
};

struct gs_layout_problem {
  struct gs_type type;
  const struct gs_sharding *from, *to;
  struct gs_atoms atoms;
  struct gs_layout start, goal;
  size_t element;
  bool all_may_cut;                    /* not only the goal's atoms are worth cutting by */
};

struct gs_layout_move {
  enum gs_move_kind kind;
  int dim, split_dim, natoms;
  unsigned char atoms[GS_LAYOUT_ATOMS];
  double bytes;
};

typedef void gs_layout_sink(void *user, const struct gs_layout *to, const struct gs_layout_move *move);

/* How finely a problem is cut; finer cuts find cheaper ways and take longer. */
enum gs_layout_cut {
  GS_CUT_SIDES,                        /* at the boundaries of both sides */
  GS_CUT_MESH,                         /* and the mesh's other axes: to cut by one for a while */
  GS_CUT_PRIMES                        /* and every axis into its prime factors */
};

/* False when the two cannot be cut into (few enough) atoms. */
bool gs_layout_problem(struct gs_layout_problem *p, const struct gs_sharding *from,
                       const struct gs_sharding *to, const struct gs_type *type, enum gs_layout_cut cut);
uint32_t gs_layout_hash(const struct gs_layout_problem *p, const struct gs_layout *layout);
bool gs_layout_equal(const struct gs_layout *a, const struct gs_layout *b);
const struct gs_sharding *gs_layout_sharding(const struct gs_layout_problem *p,
                                             struct gs_sharding_table *table,
                                             const struct gs_layout *layout);
/* The atoms that cut dims, a bit set. */
uint32_t gs_layout_used(const struct gs_layout *layout);
/* LAYOUT with nothing cut and nothing partial. */
void gs_layout_replicate(const struct gs_layout_problem *p, struct gs_layout *layout);
/* Report every move from FROM to SINK; without PERMUTE no permutes (after a permute a second one is of
 * no use). */
void gs_layout_moves(const struct gs_layout_problem *p, const struct gs_layout *from, bool permute,
                     gs_layout_sink *sink, void *user);

#endif
