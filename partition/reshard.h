/* partition/reshard.h - the cheapest way from one sharding of a tensor to another.
 *
 * A shortest path over the moves of PARTITIONING.md 4, by bytes one device sends, then by number of
 * collectives.  Between the moves dims may have blocks other than ceil(D/A); a rebalancing exchange
 * along the dim's own axes goes from one block to another, so uneven dims need no other case.
 * Paths are remembered for (from, to, shape, element size).
 */
#ifndef GS_PARTITION_RESHARD_H
#define GS_PARTITION_RESHARD_H

#include "partition/program.h"

enum gs_move_kind {
  GS_MOVE_SLICE, GS_MOVE_ALL_GATHER, GS_MOVE_ALL_TO_ALL, GS_MOVE_PERMUTE, GS_MOVE_ALL_REDUCE,
  GS_MOVE_REDUCE_SCATTER, GS_MOVE_ZERO_PARTIAL, GS_MOVE_REBALANCE
};

struct gs_move {
  enum gs_move_kind kind;
  int dim, split_dim;                  /* ALL_TO_ALL: from dim to split_dim; others use dim */
  int naxes;
  const struct gs_axis *axes;
  double bytes;
  const struct gs_sharding *after;
};

struct gs_path {
  int nmoves;
  const struct gs_move *moves;
  double bytes;                        /* sent by one device */
  double cost;                         /* bytes, and a little for each collective */
  bool fallback;                       /* everything gathered and cut again: no path was found */
};

/* What a collective costs beside its bytes: with equal bytes as much as a hundred FLOPs. */
#define GS_COLLECTIVE_COST 0.1

/* More than any path costs. */
#define GS_NO_LIMIT 1e30

struct gs_resharder;
/* Remembers paths in ARENA; shardings are made in TABLE. */
struct gs_resharder *gs_resharder_new(struct gs_arena *arena, struct gs_sharding_table *table);

/* The cheapest path; NULL when out of memory.  FROM and TO have the same mesh and the rank of
 * TYPE.  TO may be partial only along axes that FROM does not cut. */
const struct gs_path *gs_reshard_path(struct gs_resharder *r, const struct gs_sharding *from,
                                      const struct gs_sharding *to, const struct gs_type *type);
/* A cost that no path is below, without a search: what a device must receive beyond what it holds.  HELD and
 * WANTED are the bytes on a device of FROM and TO. */
double gs_reshard_bound(const struct gs_sharding *from, double held, const struct gs_sharding *to, double wanted);
/* What the path costs, or LIMIT or more when that is at least LIMIT: as far as a short search tells, which does not
 * look for paths that cut the tensor by more than both sides do, and takes a move for dear where many states lie on
 * the way.  gs_reshard_path may find a cheaper one. */
double gs_reshard_cost(struct gs_resharder *r, const struct gs_sharding *from, const struct gs_sharding *to,
                       const struct gs_type *type, double limit);

#endif
