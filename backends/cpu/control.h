/* backends/cpu/control.h - where a run goes at the steps that open and close loops and branches, and which
 * memory they fill. */
#ifndef GS_BACKENDS_CPU_CONTROL_H
#define GS_BACKENDS_CPU_CONTROL_H

#include "partition/program.h"

struct gs_control {
  int64_t *turns;                      /* by step, of loops: turns begun */
  int *first, *cells;                  /* operand k of control step i goes to the memory of step
                                        * cells[first[i] + k], -1: nobody wants it */
  int64_t staging;                     /* bytes a thread needs where an operand is another's target */
};

/* ALIAS says for each step whose memory it uses.  False: out of memory. */
bool gs_control_init(const struct gs_program *program, const int *alias, struct gs_control *control);
void gs_control_free(struct gs_control *control);

/* Whether step INDEX, which opens or closes a scope, fills its targets before the run goes on. */
bool gs_control_copies(const struct gs_program *program, int index);
/* The step after INDEX; CONDITION is the value of its operand, where that is a condition. */
int gs_control_next(const struct gs_program *program, struct gs_control *control, int index, bool condition);

#endif
