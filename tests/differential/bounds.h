/* tests/differential/bounds.h - how large values get, and how far two right answers may differ.
 *
 * Interval arithmetic with an error term: enough to keep operators inside their domains, to ask
 * for discontinuous ones only where the operands are exact, and to compare results with a
 * tolerance that follows from the program.
 */
#ifndef GS_TESTS_BOUNDS_H
#define GS_TESTS_BOUNDS_H

#include "tests/differential/recipe.h"

struct bounds {
  double low, high;                    /* of all finite elements (real and imaginary parts) */
  double error;                        /* between two right answers; 0: they are equal */
  bool integral;                       /* every element is a whole number */
  bool wild;                           /* infinities, NaN or the limits of integers may occur */
};

/* Bounds of node INDEX from those before it; false: outside what is worth testing. */
bool bounds_node(const struct recipe *recipe, int index, struct bounds *all);
bool bounds_compute(const struct recipe *recipe, struct bounds *all);

/* Where operator OP is tame; false: anywhere.  *EXACT says that it must be given exact values. */
bool bounds_domain(enum gs_op op, int argument, double *low, double *high, bool *exact);

#endif
