/* interp/annotation.h - meshes and shardings as users write them. */
#ifndef GS_INTERP_ANNOTATION_H
#define GS_INTERP_ANNOTATION_H

#include "interp/builtin.h"

/* The sharding that argument ARG of a call states for a tensor of TYPE on MESH. NULL: reported. */
const struct gs_sharding *gs_annotation_make(struct gs_call *call, const struct gs_argument *arg,
                                             const struct gs_mesh *mesh,
                                             const struct gs_type *type);
/* "data=2, model=4" or "2,4", as --mesh and :mesh take it. NULL: reported. */
const struct gs_mesh *gs_mesh_from_text(struct gs_session *s, struct gs_span at, const char *text);
/* Make MESH, or what --mesh makes of it, the current one. */
void gs_mesh_use(struct gs_session *s, const struct gs_mesh *mesh);

#endif
