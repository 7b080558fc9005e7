/* lang/gather.h - what the dimension numbers of gather and scatter say of each dim. */
#ifndef GS_LANG_GATHER_H
#define GS_LANG_GATHER_H

#include "lang/graph.h"

/* A slice's result is the gather's result or the scatter's updates. */
struct gs_gather_map {
  signed char operand_to_result[GS_MAX_RANK];  /* of an operand dim in its slice; -1: none */
  signed char indices_to_result[GS_MAX_RANK];  /* of a dim of the indices but the last */
  signed char batch_of[GS_MAX_RANK];           /* the indices dim of an operand's batch dim; -1: none */
  signed char component[GS_MAX_RANK];          /* of an index vector, of an operand dim; -1: none */
};

/* ATTRS over an operand of rank OPERAND_RANK and indices of rank INDICES_RANK, as inference let through. */
void gs_gather_map_make(const union gs_attrs *attrs, int operand_rank, int indices_rank,
                        struct gs_gather_map *map);

/* Make of ATTRS' indexed dims of X along which INDICES only count batch dims.  The indices of those left
 * are returned, INDICES itself when nothing changed. */
struct gs_node *gs_gather_find_batches(struct gs_graph *g, struct gs_span at, const struct gs_node *x,
                                       struct gs_node *indices, union gs_attrs *attrs);

#endif
