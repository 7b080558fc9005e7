/* partition/strategy.h - the ways one operator can run on a mesh [PARTITIONING.md 3].
 *
 * An assignment gives each mesh axis in sight to one factor of the operator, to the partial sums
 * that travel through it, or to none.  From it follow, by the rule alone, the sharding each operand
 * must have and the one the result comes out with.  How it then runs is read off these two: axes on
 * a reduce factor leave the result partial, axes on a window factor of the result mean an exchange.
 */
#ifndef GS_PARTITION_STRATEGY_H
#define GS_PARTITION_STRATEGY_H

#include "partition/complete.h"

struct gs_strategy {
  const struct gs_sharding **required;         /* per operand */
  const struct gs_sharding *produced;
  double cost;                                 /* bytes sent inside, and FLOPs / 1000 */
};

/* Shardings a value may have. */
struct gs_sharding_list { int count; const struct gs_sharding *items[12]; };

struct gs_strategy_request {
  struct gs_arena *arena;
  struct gs_sharding_table *table;
  const struct gs_mesh *mesh;
  const struct gs_node *node;
  const struct gs_rule *rule;
  const struct gs_sharding_list *args;         /* candidates of each operand */
  const struct gs_sharding_list *result;       /* wanted */
  bool wide;                                   /* mesh axes may also cut dims that they cut nowhere around */
};

enum { GS_MAX_STRATEGIES = 160 };

/* Write the distinct strategies to STRATEGIES; their count, -1 when out of memory. */
int gs_strategies(const struct gs_strategy_request *request, struct gs_strategy *strategies);
/* How operand ARG of NODE has to be cut so that the result comes out as RESULT as far as the factors they share
 * say; NULL where it cannot be, or out of memory. */
const struct gs_sharding *gs_strategy_operand(struct gs_sharding_table *table, const struct gs_node *node,
                                              const struct gs_rule *rule, const struct gs_sharding *result,
                                              int arg);

/* What NODE's result comes out as when operand ARG is cut as OPERAND, as far as the factors they share say; likewise. */
const struct gs_sharding *gs_strategy_result(struct gs_sharding_table *table, const struct gs_node *node,
                                             const struct gs_rule *rule, const struct gs_sharding *operand, int arg);

/* Operators whose strategies follow from the shardings around them: loops, branches, the borders of manual
 * regions.  gs_strategies asks these. */
bool gs_strategy_is_given(enum gs_op op);
int gs_strategies_given(const struct gs_strategy_request *request, struct gs_strategy *strategies);

#endif
