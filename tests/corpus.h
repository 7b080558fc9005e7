/* tests/corpus.h - what the runners of the corpora share: options, verdicts, totals.
 *
 * A runner gives a verdict for each case; failures are printed one a line (or all as TAP, or as
 * comma-separated values), then the totals.
 */
#ifndef GS_TESTS_CORPUS_H
#define GS_TESTS_CORPUS_H

#include <stdbool.h>
#include <stddef.h>

enum verdict { PASSED, FAILED, SKIPPED };

struct corpus_report {
  enum verdict verdict;
  char message[600];
  double ours, theirs;                 /* bytes; below 0: not compared */
  const char *relation;                /* of the shardings */
};

struct corpus_options {
  const char *data, *exceptions, *group, *name;
  bool list, verbose, csv, tap;
};

struct corpus_totals {
  int passed, failed, skipped;
  int before;                          /* cases counted elsewhere, for TAP's numbers */
  double ours, theirs;
};

/* False: bad usage, which has been said.  DATA is the default folder or file. */
bool corpus_parse(int argc, char **argv, const char *data, struct corpus_options *options);

/* Count REPORT and print what OPTIONS ask for. */
void corpus_count(const struct corpus_options *options, const char *name,
                  const struct corpus_report *report, struct corpus_totals *totals);
/* "einsum  86 passed, 0 failed, 0 skipped; 12 KiB sent, XLA 14 KiB (86%)" */
void corpus_print_totals(const struct corpus_options *options, const char *title,
                         const struct corpus_totals *totals);
void corpus_add(struct corpus_totals *sum, const struct corpus_totals *part);
/* The TAP plan, after all cases. */
void corpus_finish(const struct corpus_options *options, const struct corpus_totals *totals);

__attribute__((format(printf, 3, 4)))
void corpus_fail(struct corpus_report *report, enum verdict verdict, const char *format, ...);

#endif
