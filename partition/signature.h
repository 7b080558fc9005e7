/* partition/signature.h - nodes that are alike: same operator, attributes, operand and result types.
 *
 * A model of many equal layers has few kinds of nodes; rules and strategies are made once a kind.
 */
#ifndef GS_PARTITION_SIGNATURE_H
#define GS_PARTITION_SIGNATURE_H

#include "lang/graph.h"

struct gs_signatures;
struct gs_signatures *gs_signatures_new(struct gs_arena *arena);
/* A number from 0 for NODE's kind, the same for nodes alike; -1 when out of memory. */
int gs_signature_of(struct gs_signatures *table, const struct gs_node *node);

#endif
