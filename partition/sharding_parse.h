/* partition/sharding_parse.h - shardings read from XLA's and Shardy's notation.
 *
 * The counterpart of gs_sharding_print_xla and _sdy: what those write is read back as the same
 * sharding, but for what a notation cannot say (XLA's: partial sums and open dims; both: which
 * kind of partial value, a sum is meant).
 */
#ifndef GS_PARTITION_SHARDING_PARSE_H
#define GS_PARTITION_SHARDING_PARSE_H

#include "partition/sharding.h"

struct gs_sharding_parse {
  struct gs_arena *scratch;            /* for lists of devices */
  struct gs_sharding_table *table;
  const struct gs_mesh *mesh;
  struct gs_diagnostics *diagnostics;
  struct gs_span at;                   /* what is blamed for a wrong text */
};

/* The sharding of a tensor of RANK dims that TEXT says, or NULL after reporting: malformed, for
 * other devices than the mesh's, or not expressible by its (sub-)axes.
 *
 * "{replicated}", "{manual}", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
 * "<=[2,4]T(1,0)", "last_tile_dims={manual, replicated}", and devices listed one by one.  Manual
 * axes must be those of the mesh. */
const struct gs_sharding *gs_sharding_parse_xla(const struct gs_sharding_parse *p, int rank,
                                                const char *text);

/* "[{\"x\", ?}, {\"y\":(1)2}], replicated={\"z\"}, unreduced={}", also with "#sdy.sharding<@mesh, …>"
 * around it.  Axes said to be replicated must be left out of the dims; that completion may not use
 * them later is not kept, nor are priorities ("p1"). */
const struct gs_sharding *gs_sharding_parse_sdy(const struct gs_sharding_parse *p, int rank,
                                                const char *text);

#endif
