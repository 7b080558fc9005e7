/* tests/differential/simulate.h - a plan run device by device, element by element.
 *
 * The clearest reading of partition/program.h, with the reference's kernels for local steps: when
 * a backend gives wrong values, this says whether the plan or the backend is to blame.  It is
 * slow and for small programs only.
 */
#ifndef GS_TESTS_SIMULATE_H
#define GS_TESTS_SIMULATE_H

#include "partition/partition.h"

/* Run PLAN on the fills of its inputs, with padding poisoned.  OUTPUTS gets a new reference per
 * output.  False: what is wrong is in TEXT (an output that is not the same on devices that should
 * hold the same part of it; out of memory). */
bool simulate_plan(const struct gs_plan *plan, struct gs_tensor **outputs, char *text, size_t size);

#endif
