/* partition/combine.h - small all-reduces over the same devices taken together [PARTITIONING.md 9]. */
#ifndef GS_PARTITION_COMBINE_H
#define GS_PARTITION_COMBINE_H

#include "partition/program.h"

/* PROGRAM with all-reduces of the same kind over the same devices, of at most LIMIT bytes each, as one where none
 * needs another's result: the bytes are the same, but the devices wait for each other once.  PROGRAM itself
 * when there are none.  Shardings are made in TABLE.  NULL: out of memory. */
struct gs_program *gs_program_combine(struct gs_arena *arena, struct gs_sharding_table *table,
                                      struct gs_program *program, int64_t limit);

#endif
