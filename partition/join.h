/* partition/join.h - several meshes over the same devices in one program.
 *
 * One of them is the base; an axis of another becomes a list of the base's sub-axes, so that
 * everything after speaks of one mesh.
 */
#ifndef GS_PARTITION_JOIN_H
#define GS_PARTITION_JOIN_H

#include "partition/axes.h"

/* The sub-axes of BASE that axis AXIS of MESH is.  Reports at AT and returns false when there are
 * none: other number of devices, sizes that do not divide, a device order that is no rearrangement
 * of axes. */
bool gs_mesh_translate(struct gs_arena *arena, struct gs_diagnostics *d, struct gs_span at,
                       const struct gs_mesh *base, const struct gs_mesh *mesh, int axis,
                       struct gs_axis_list *axes);

#endif
