/* partition/rule_draft.h - a factor rule while it is made, and the functions named in the rule column of
 * lang/ops.def. */
#ifndef GS_PARTITION_RULE_DRAFT_H
#define GS_PARTITION_RULE_DRAFT_H

#include "partition/rule.h"

/* A rule being made: as large as one can get, then copied. */
struct gs_rule_draft {
  struct gs_arena *arena;
  const struct gs_node *node;
  int nfactors;
  struct gs_factor factors[GS_MAX_FACTORS];
  int ngroups;
  struct gs_flat_group groups[GS_MAX_RANK];
  struct gs_dim_rule result[GS_MAX_RANK];
  struct gs_dim_rule arg[3][GS_MAX_RANK];      /* of the first three operands */
  int joined;                                  /* as in struct gs_rule */
  bool same_args;                              /* all operands of rank > 0 follow arg[0] */
};

typedef void gs_rule_function(struct gs_rule_draft *draft);
#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) \
  gs_rule_function gs_rule_##rule;
#include "lang/ops.def"
#undef GS_OP

/* A factor of KIND that passes at LEVEL of completion every way; its number. */
int gs_rule_add_factor(struct gs_rule_draft *draft, enum gs_factor_kind kind, int64_t size, int level);
/* DIM has FACTOR too, minor to those it has. */
void gs_rule_put(struct gs_dim_rule *dim, int factor);

#endif
