/* partition/windows.h - chains of slices, pads, rolls, reverses and concatenations along one dim taken
 * as one operator, so that each element travels once [PARTITIONING.md 9, "interval chains fused"].
 */
#ifndef GS_PARTITION_WINDOWS_H
#define GS_PARTITION_WINDOWS_H

#include "partition/complete.h"

/* GRAPH with each chain's last node replaced by an ASSEMBLE node of the same id, type and name; the
 * nodes before it, which nobody else needs, are left unused.  SLICE is the needed part of GRAPH,
 * OUTPUT marks outputs by id.  *FUSED counts the chains; with none GRAPH itself is returned.  NULL:
 * out of memory. */
struct gs_graph *gs_windows_fuse(struct gs_arena *arena, struct gs_graph *graph,
                                 const struct gs_slice_of_graph *slice, const bool *output,
                                 int *fused);

#endif
