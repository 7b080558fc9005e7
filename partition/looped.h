/* partition/looped.h - looped einsums (collective matmul): a gather before, or a reduce-scatter behind, a
 * contraction becomes a loop in which pieces travel from neighbour to neighbour while the contraction
 * works on the piece that is there [PARTITIONING.md 3, 4.5].
 *
 * The bytes sent are the same; time is about that of the longer of the two instead of their sum.
 */
#ifndef GS_PARTITION_LOOPED_H
#define GS_PARTITION_LOOPED_H

#include "partition/partition.h"

/* PROGRAM with einsums looped: every one that can be when MODE is ALWAYS, with AUTO those that the mesh's
 * profile makes faster (none without a profile).  PROGRAM itself when there are none.  Shardings are made
 * in TABLE.  NULL: out of memory. */
struct gs_program *gs_program_loop_einsums(struct gs_arena *arena, struct gs_sharding_table *table,
                                           struct gs_program *program, enum gs_looped_mode mode);

#endif
