/* partition/ways.h - the strategies of nodes alike between shardings alike, made once.
 *
 * A model of many equal layers asks for the same strategies in every layer.
 */
#ifndef GS_PARTITION_WAYS_H
#define GS_PARTITION_WAYS_H

#include "partition/strategy.h"

/* The distinct shardings that the strategies require of one operand, and their bytes on a device. */
struct gs_operand_ways { int count; const struct gs_sharding **required; double *bytes; };

struct gs_ways {
  int count, nargs;
  const struct gs_strategy *strategies;
  double least;                                /* cost of the cheapest strategy */
  const double *bytes;                         /* of what each strategy produces, on a device */
  const struct gs_operand_ways *operands;
  const unsigned char *which;                  /* [strategy * nargs + operand]: index in the operand's list */
};

/* Ways found so far, in ARENA; NULL when out of memory. */
struct gs_ways_table *gs_ways_table_new(struct gs_arena *arena);
/* The ways of REQUEST's node, of kind KIND (gs_slice_of_graph); NULL when out of memory or when there is none. */
const struct gs_ways *gs_ways_find(struct gs_ways_table *table, int kind,
                                   const struct gs_strategy_request *request);

#endif
