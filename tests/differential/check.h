/* tests/differential/check.h - one recipe through the whole chain, and what came of it. */
#ifndef GS_TESTS_CHECK_H
#define GS_TESTS_CHECK_H

#include "tests/differential/recipe.h"

#include <stdio.h>

enum outcome {
  OUTCOME_PASSED,
  OUTCOME_REFUSED,                     /* a node of the graph could not be made */
  OUTCOME_REFERENCE,                   /* the reference evaluator failed, or gave absurd values */
  OUTCOME_UNPLANNED,                   /* gs_partition gave no plan */
  OUTCOME_INVALID,                     /* gs_program_verify objects */
  OUTCOME_UNCOMPILED, OUTCOME_UNRUN,   /* the backend failed */
  OUTCOME_DIFFERENT,                   /* values differ from the reference's */
  OUTCOME_SHARDING,                    /* an output is not sharded as annotated */
  OUTCOME_CRASHED, OUTCOME_HUNG        /* with check_isolated only */
};

struct result {
  enum outcome outcome;
  char message[400];
  bool dearer;                         /* the chosen plan costs more than the all-completed one */
};

struct check_options {
  bool isolated;                       /* in a process of its own: a crash is a result too */
  bool simulate;                       /* run plans by simulate.h instead of the backend */
  bool silent;                         /* drop what a child writes on standard error */
  FILE *trace;                         /* gets plans and values, if not isolated; may be NULL */
};

void check_recipe(const struct recipe *recipe, const struct check_options *options,
                  struct result *result);
/* check_recipe in a process of its own. */
void check_isolated(const struct recipe *recipe, const struct check_options *options,
                    struct result *result);

/* Make RECIPE smaller as long as it fails in the same way, by at most TRIES checks. */
void shrink_recipe(struct recipe *recipe, enum outcome outcome, const struct check_options *options,
                   int tries);

#endif
