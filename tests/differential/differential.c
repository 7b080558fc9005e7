/* tests/differential/differential.c - random programs, partitioned against unpartitioned.
 *
 *   differential [--seeds FIRST LAST] [--fork] [--failures N] [--no-shrink] [--ops] [--simulate]
 *   differential --seed N [--verbose]
 *
 * --fork checks each program in a process of its own, so that a crash is a failure like others;
 * --simulate runs plans by the simulation of simulate.h instead of the CPU backend; --verbose
 * prints the program, its plans and, where they differ, the values.
 *
 * Every failure prints the seed, what went wrong, and a small program that shows it.  Exit status:
 * 0 all passed, 1 some failed, 2 bad usage.
 */
#include <config.h>

#include "tests/differential/check.h"
#include "tests/differential/generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A run of as many seeds must have met every operator. */
enum { SEEDS_FOR_ALL_OPERATORS = 1000, SHRINK_TRIES = 1500 };

struct options {
  uint64_t first, last;
  struct check_options check;
  bool shrink, verbose, count_operators, only_print, tap;
  int failures;                        /* stop after so many */
};

struct totals {
  long passed, failed, dearer;
  long operators[GS_OP_COUNT];
};

static const char *const outcome_names[] = {
  [OUTCOME_PASSED] = "passed", [OUTCOME_REFUSED] = "refused", [OUTCOME_REFERENCE] = "reference",
  [OUTCOME_UNPLANNED] = "not planned", [OUTCOME_INVALID] = "invalid program",
  [OUTCOME_UNCOMPILED] = "not compiled", [OUTCOME_UNRUN] = "not run",
  [OUTCOME_DIFFERENT] = "values differ", [OUTCOME_SHARDING] = "sharding differs",
  [OUTCOME_CRASHED] = "crashed", [OUTCOME_HUNG] = "hung"
};

/* The program, each line after PREFIX. */
static void print_recipe(const struct recipe *recipe, const char *prefix)
{
  struct gs_text text = { .arena = gs_arena_new(NULL) };
  if (text.arena == NULL)
    return;
  recipe_print(&text, recipe);
  for (const char *line = gs_text_string(&text); *line != '\0';) {
    size_t length = strcspn(line, "\n");
    printf("%s%.*s\n", prefix, (int)length, line);
    line += length + (line[length] == '\n' ? 1 : 0);
  }
  gs_arena_free(text.arena);
}

static void check(const struct recipe *recipe, const struct check_options *options,
                  struct result *result)
{
  (options->isolated ? check_isolated : check_recipe)(recipe, options, result);
}

static void report(struct recipe *recipe, const struct options *o, const struct result *result)
{
  struct result again = *result;
  printf("# seed %llu: %s: %s\n", (unsigned long long)recipe->seed,
         outcome_names[result->outcome], result->message);
  fflush(stdout);
  if (o->shrink) {
    shrink_recipe(recipe, result->outcome, &o->check, SHRINK_TRIES);
    check(recipe, &o->check, &again);
    if (strcmp(again.message, result->message) != 0)
      printf("# smaller: %s\n", again.message);
  }
  print_recipe(recipe, o->tap ? "# " : "");
  printf("\n");
  fflush(stdout);
}

static void run_seed(uint64_t seed, const struct options *o, struct totals *totals)
{
  struct recipe recipe;
  struct result result;
  generate_recipe(&recipe, seed);
  for (int i = 0; i < recipe.nnodes; i++)
    totals->operators[recipe.nodes[i].op]++;
  if (o->verbose || o->only_print) {
    printf("# seed %llu\n", (unsigned long long)seed);
    print_recipe(&recipe, "");
    fflush(stdout);
  }
  if (o->only_print)
    return;
  check(&recipe, &o->check, &result);
  totals->dearer += result.dearer ? 1 : 0;
  if (result.outcome == OUTCOME_PASSED) {
    totals->passed++;
    return;
  }
  totals->failed++;
  report(&recipe, o, &result);
}

/* Operators of the table that no program had. */
static int missing_operators(const struct totals *totals, bool print)
{
  int missing = 0;
  for (int op = 0; op < GS_OP_COUNT; op++) {
    if (!recipe_is_visible((enum gs_op)op))
      continue;
    if (print)
      printf("%8ld  %s\n", totals->operators[op], gs_op_info((enum gs_op)op)->name);
    if (totals->operators[op] > 0)
      continue;
    missing++;
    if (!print)
      printf("# no program has %s\n", gs_op_info((enum gs_op)op)->name);
  }
  return missing;
}

static bool parse_number(const char *text, uint64_t *number)
{
  char *end;
  errno = 0;
  unsigned long long value = text == NULL ? 0 : strtoull(text, &end, 10);
  if (text == NULL || errno != 0 || end == text || *end != '\0')
    return false;
  *number = value;
  return true;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
  uint64_t failures = 0;
  for (int i = 1; i < argc; i++) {
    const char *option = argv[i];
    if (strcmp(option, "--fork") == 0) {
      o->check.isolated = true;
    } else if (strcmp(option, "--simulate") == 0) {
      o->check.simulate = true;
    } else if (strcmp(option, "--no-shrink") == 0) {
      o->shrink = false;
    } else if (strcmp(option, "--verbose") == 0) {
      o->verbose = true;
      o->check.trace = stdout;
    } else if (strcmp(option, "--print") == 0) {
      o->only_print = true;
    } else if (strcmp(option, "--tap") == 0) {
      o->tap = true;
    } else if (strcmp(option, "--ops") == 0) {
      o->count_operators = true;
    } else if (strcmp(option, "--failures") == 0 && parse_number(argv[++i], &failures)) {
      o->failures = failures > 1000000 ? 1000000 : (int)failures;
    } else if (strcmp(option, "--seed") == 0 && parse_number(argv[++i], &o->first)) {
      o->last = o->first;
    } else if (strcmp(option, "--seeds") == 0 && i + 2 < argc &&
               parse_number(argv[i + 1], &o->first) && parse_number(argv[i + 2], &o->last)) {
      i += 2;
    } else {
      return false;
    }
  }
  return o->first <= o->last;
}

/* All seeds; as TAP one line for each hundred, whose number is returned. */
static int run_seeds(const struct options *o, struct totals *totals)
{
  long failed = 0;
  int blocks = 0;
  uint64_t begin = o->first;
  for (uint64_t seed = o->first; seed <= o->last && totals->failed < o->failures; seed++) {
    run_seed(seed, o, totals);
    bool ends = (seed - o->first) % 100 == 99 || seed == o->last || totals->failed >= o->failures;
    if (!o->tap || !ends)
      continue;
    printf("%s %d - seeds %llu to %llu\n", totals->failed > failed ? "not ok" : "ok", ++blocks,
           (unsigned long long)begin, (unsigned long long)seed);
    failed = totals->failed;
    begin = seed + 1;
  }
  return blocks;
}

int main(int argc, char **argv)
{
  struct options o = { .first = 1, .last = 2000, .shrink = true, .failures = 20 };
  static struct totals totals;
  if (!parse_options(argc, argv, &o)) {
    fprintf(stderr, "usage: differential [--seeds FIRST LAST | --seed N] [--fork] [--verbose]\n"
                    "                    [--no-shrink] [--failures N] [--print] [--ops] [--tap]\n"
                    "                    [--simulate]\n");
    return 2;
  }
  int blocks = run_seeds(&o, &totals);
  int missing = 0;
  bool stopped = totals.failed >= o.failures;
  bool enough = o.last - o.first + 1 >= SEEDS_FOR_ALL_OPERATORS && !stopped;
  if (o.count_operators || enough)
    missing = missing_operators(&totals, o.count_operators);
  bool all_met = missing == 0 || !enough;
  if (o.tap)
    printf("%s %d - every operator is met\n1..%d\n", all_met ? "ok" : "not ok", blocks + 1,
           blocks + 1);
  printf("%sdifferential: %ld passed, %ld failed (seeds %llu to %llu%s), %d operators never met, "
         "%ld plans dearer than the completed one\n", o.tap ? "# " : "", totals.passed,
         totals.failed, (unsigned long long)o.first, (unsigned long long)o.last,
         stopped ? ", stopped at the limit of failures" : "", missing, totals.dearer);
  bool good = o.tap || (totals.failed == 0 && all_met);       /* TAP says it line by line */
  return fflush(stdout) == 0 && good ? 0 : 1;
}
