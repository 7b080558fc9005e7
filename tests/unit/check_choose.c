/* tests/unit/check_choose.c - the joint choice of shardings against every combination of them.
 *
 * Small random programs of matrices on x=2, y=2.  A program in which each value is pinned by an
 * annotation leaves nothing to choose but how operators run; the cheapest over all ways to pin is
 * what brute force finds.  It cannot pin partial sums, so the planner may do better.  Where values are used
 * several times the choice is by local improvement and may be a little dearer.
 */
#include <config.h>

#include <string.h>

#include "partition/reshard.h"
#include "tests/differential/dice.h"
#include "tests/unit/run.h"
#include "tests/unit/sketch.h"

static const char *const layouts[] = { "-,-", "x,-", "-,x", "y,-", "-,y", "x,y", "y,x",
                                       "xy,-", "yx,-", "-,xy", "-,yx" };

enum { LAYOUTS = sizeof layouts / sizeof *layouts, LEAVES = 4, MAX_NODES = LEAVES + 4 };

/* Values 0 to LEAVES - 1 are annotated inputs; each other one is made of two before it. */
struct program {
  int count;                           /* of all values, the last is the output */
  int layout[MAX_NODES];               /* of leaves and the output */
  enum gs_op op[MAX_NODES];            /* EINSUM, ADD or MUL */
  int args[MAX_NODES][2];
};

/* A tree: every value is used once. */
static struct program random_tree(struct dice *d)
{
  struct program p = { .count = LEAVES + LEAVES - 1 };
  int roots[MAX_NODES], nroots = LEAVES;
  for (int i = 0; i < LEAVES; i++)
    roots[i] = i;
  for (int i = LEAVES; i < p.count; i++)
    for (int k = 0; k < 2; k++) {
      int at = dice_below(d, nroots);
      p.args[i][k] = roots[at];
      roots[at] = roots[--nroots];
      if (k == 1)
        roots[nroots++] = i;
    }
  return p;
}

/* Values may be used several times, and every one is. */
static struct program random_dag(struct dice *d)
{
  struct program p = { .count = LEAVES + LEAVES - 1 };
  for (int i = LEAVES; i < p.count; i++) {
    p.args[i][0] = i == LEAVES ? 0 : i - 1;
    p.args[i][1] = dice_below(d, i);
  }
  return p;
}

static void random_details(struct dice *d, struct program *p)
{
  static const enum gs_op ops[] = { GS_OP_EINSUM, GS_OP_EINSUM, GS_OP_ADD, GS_OP_MUL };
  for (int i = 0; i < p->count; i++) {
    p->layout[i] = dice_below(d, LAYOUTS);
    p->op[i] = ops[dice_below(d, 4)];
  }
}

/* The planner's objective for P; PINS has a layout for each value between leaves and output, or is
 * NULL: the planner chooses. */
static double cost_of(const struct program *p, const int *pins)
{
  struct sketch s;
  struct gs_node *nodes[MAX_NODES];
  struct gs_program_totals totals;
  sketch_init(&s, "x=2 y=2");
  for (int i = 0; i < p->count; i++) {
    struct gs_node *a = i < LEAVES ? NULL : nodes[p->args[i][0]], *b = i < LEAVES ? NULL : nodes[p->args[i][1]];
    int layout = i < LEAVES || i == p->count - 1 ? p->layout[i] : pins != NULL ? pins[i - LEAVES] : -1;
    nodes[i] = i < LEAVES ? sketch_input(&s, "24,24")
               : p->op[i] == GS_OP_EINSUM ? sketch_einsum(&s, "mk,kn->mn", a, b)
                                          : sketch_apply(&s, p->op[i], a, b);
    if (layout >= 0)
      nodes[i] = sketch_shard(&s, nodes[i], layouts[layout]);
  }
  struct gs_plan *plan = sketch_plan(&s, nodes[p->count - 1], false);
  ck_assert_ptr_nonnull(plan);
  gs_program_total(s.arena, plan->program, &totals);
  sketch_finish(&s);
  return totals.bytes + totals.flops / 1000 + totals.collectives * GS_COLLECTIVE_COST;
}

static double brute_force(const struct program *p)
{
  int free_values = p->count - LEAVES - 1, pins[MAX_NODES] = { 0 };
  double cheapest = 1e300;
  for (;;) {
    double cost = cost_of(p, pins);
    cheapest = cost < cheapest ? cost : cheapest;
    int i = 0;
    while (i < free_values && ++pins[i] == LAYOUTS)
      pins[i++] = 0;
    if (i == free_values)
      return cheapest;
  }
}

/* The planner's cost over brute force's, at worst and on average over PROGRAMS random ones. */
static void compare(struct program (*make)(struct dice *), uint64_t seed, int programs, double most,
                    double mean)
{
  struct dice d = { seed };
  double sum = 0;
  for (int i = 0; i < programs; i++) {
    struct program p = make(&d);
    random_details(&d, &p);
    double ratio = (cost_of(&p, NULL) + 1) / (brute_force(&p) + 1);
    ck_assert_msg(ratio <= most + 1e-9, "program %d costs %g of the cheapest", i, ratio);
    sum += ratio;
  }
  ck_assert_msg(sum <= mean * programs, "programs cost %g of the cheapest on average", sum / programs);
}

START_TEST(trees)
{
  compare(random_tree, 1, 40, 1.01, 1.0005);
}
END_TEST

START_TEST(dags)
{
  compare(random_dag, 2, 40, 1.2, 1.02);
}
END_TEST

RUN_TESTS("choose",
  tcase_add_test(cases, trees);
  tcase_add_test(cases, dags);
)
