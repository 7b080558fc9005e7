/* tests/xla_case.h - one case of the XLA corpus: its program and what XLA did with it.
 *
 * The fields are described in tests/xla/README.md.
 */
#ifndef GS_TESTS_XLA_CASE_H
#define GS_TESTS_XLA_CASE_H

#include <jansson.h>

#include "partition/partition.h"

enum { XLA_OUTPUTS = 16 };

struct xla_case {
  char group[32], name[96];
  char *program;
  size_t length;
  json_t *root;
  json_t *outputs;
  int noutputs;
  const char *names[XLA_OUTPUTS];      /* of the outputs */
};

/* Read the case whose program is at PATH.  NULL, or what is wrong. */
const char *xla_case_read(struct xla_case *c, const char *path);
void xla_case_free(struct xla_case *c);

/* How the sharding of our outputs compares with that of one of XLA's partitioners. */
enum xla_relation {
  XLA_EQUAL,
  XLA_FINER,                           /* XLA's axes of each dim come first in ours */
  XLA_DIFFERENT,                       /* or XLA's is none of whole axes */
  XLA_NONE                             /* XLA failed: there is nothing to compare with */
};

/* The nearest relation to one of the two, and the bytes to compare with: the fewest any partitioner
 * sends whose outputs are sharded so; with finer outputs, before it gathers them.  Below 0: none. */
enum xla_relation xla_compare_shardings(const struct xla_case *c,
                                        const struct gs_sharding *const *ours, double *bytes);
/* Shardy's sharding of an output as "[x, -]" into TEXT. */
void xla_print_sharding(const struct xla_case *c, int output, char *text, size_t size);

/* Compare VALUE with the recorded elements and sums of OUTPUT; false: the difference in TEXT. */
bool xla_compare_values(const struct xla_case *c, int output, const struct gs_tensor *value,
                        char *text, size_t size);
/* How far values of that type may be apart where the largest is LARGEST. */
double xla_tolerance(const struct xla_case *c, enum gs_dtype dtype, double largest);

/* A called function that neither the program defines nor KNOWN knows, into NAME; false: none. */
bool xla_missing_function(const struct xla_case *c, bool (*known)(void *user, const char *name),
                          void *user, char *name, size_t size);

#endif
