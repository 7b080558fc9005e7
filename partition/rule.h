/* partition/rule.h - the factor rule: which dims of an operator's operands and result are the same
 * factor of its computation [DESIGN.md, "Operators"; PARTITIONING.md 2, 3].
 *
 * Completion, the choice of how an operator runs, its emission and its cost read only this; they
 * have no case for a single operator.
 */
#ifndef GS_PARTITION_RULE_H
#define GS_PARTITION_RULE_H

#include "lang/graph.h"
#include "partition/axes.h"
#include "partition/sharding.h"

enum { GS_MAX_FACTORS = 40 };

enum gs_factor_kind {
  GS_FACTOR_PASS,                      /* each device computes its part */
  GS_FACTOR_REDUCE,                    /* partial results, reduced over the devices */
  GS_FACTOR_SELECT,                    /* each device handles what lies in its part; results add up */
  GS_FACTOR_SPECIAL,                   /* the operator's own distributed form, see form.h */
  GS_FACTOR_WINDOW,                    /* result positions are moved operand positions */
  GS_FACTOR_OPAQUE                     /* the rest of a reshaped dim: cannot be cut */
};

struct gs_factor {
  enum gs_factor_kind kind;
  int64_t size;                        /* of a window: of the result's dim */
  enum gs_op reduce;                   /* REDUCE, SELECT only */
  /* Levels of completion: operand to result, result to operand, operand to operand. */
  unsigned char forward, backward, across;
};

/* The factors a dim consists of, major to minor; none for a dim that is only repeated. */
struct gs_dim_rule {
  unsigned char count;
  bool either;                         /* the dim is cut by one of the factors, the first as a rule */
  unsigned char factors[GS_MAX_RANK];
};
struct gs_value_rule { int rank; const struct gs_dim_rule *dims; };

/* Dims of a reshape whose elements stay together, when they do not fall into factors: operand dims
 * [from, from_end) become result dims [to, to_end). */
struct gs_flat_group { int from, from_end, to, to_end; };

struct gs_rule {
  int nfactors;
  const struct gs_factor *factors;
  int nargs;
  const struct gs_value_rule *args;
  struct gs_value_rule result;
  int joined;                          /* operand that is combined with the results of reduce factors, so
                                        * it has to be partial too; -1: none.  The result is this operand
                                        * changed in places: in completion it leads */
  unsigned levels;                     /* bit l: some factor passes at level l of completion */
  int ngroups;                         /* reshape only */
  const struct gs_flat_group *groups;
};

/* The rule of NODE, in ARENA; NULL when out of memory. */
const struct gs_rule *gs_rule_of(struct gs_arena *arena, const struct gs_node *node);

/* The axes of SHARDING, that of a dim which RULE says is DIM, that fall on its factor number K: from the
 * major factor on each takes axes whose product divides its size; what does not fit ends the walk.
 * A single factor takes them all, divisible or not. */
void gs_rule_factor_axes(const struct gs_rule *rule, const struct gs_dim_rule *dim,
                         const struct gs_dim_sharding *sharding, int k, struct gs_axis_list *axes);

/* The one dim along which window operator NODE moves elements; -1 when there are none or several, or
 * NODE is no window operator. */
int gs_rule_window_dim(const struct gs_node *node);

/* Where result positions along DIM of a window operator come from, as exchange pieces on whole
 * tensors (scale, offset 0).  PIECES has room for gs_rule_piece_room; the count is returned. */
int gs_rule_pieces(const struct gs_node *node, int dim, struct gs_exchange_piece *pieces);
int gs_rule_piece_room(const struct gs_node *node);

#endif
