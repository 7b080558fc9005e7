/* backends/backend.h - what runs an SPMD program.
 *
 * A backend compiles a plan once and runs it any number of times on whole (unsharded) input
 * tensors, giving whole output tensors.  It never prints or exits: errors go to the host's
 * diagnostics.  Members marked optional may be NULL.
 */
#ifndef GS_BACKENDS_BACKEND_H
#define GS_BACKENDS_BACKEND_H

#include "partition/partition.h"

enum { GS_BACKEND_ABI = 1 };

enum gs_status { GS_OK, GS_FAILED, GS_INTERRUPTED };         /* GS_FAILED: reported */

/* What the host gives a backend; outlives every executable made with it. */
struct gs_host {
  struct gs_diagnostics *diagnostics;
  struct gs_budget *budget;            /* count what is allocated; may be NULL */
  const _Atomic int *interrupt;        /* stop soon with GS_INTERRUPTED when non-zero; may be NULL */
  int nthreads;                        /* 0: one per core */
  bool poison_padding;                 /* fill padding with NaN (integers: all ones): for tests */
};

struct gs_executable;                  /* the backend's own */

struct gs_backend {
  unsigned abi;                        /* GS_BACKEND_ABI of its build */
  const char *name, *description;
  /* Ready PLAN to run.  PLAN outlives the executable.  NULL: reported. */
  struct gs_executable *(*compile)(const struct gs_host *host, const struct gs_plan *plan);
  /* Run.  INPUTS[i] is the whole value of the input or parameter with attrs->input.index i, or NULL
   * to use its fill; NINPUTS counts them.  OUTPUTS gets a new reference per output of the program. */
  enum gs_status (*run)(struct gs_executable *executable, struct gs_tensor *const *inputs, int ninputs,
                        struct gs_tensor **outputs);
  void (*release)(struct gs_executable *executable);
};

extern const struct gs_backend gs_backend_reference;         /* the unpartitioned graph, naive loops */
extern const struct gs_backend gs_backend_cpu;               /* all devices in this process, threads */

/* The built-in backend called NAME, or NULL. */
const struct gs_backend *gs_backend_find(const char *name);
/* Names of all, one after the other: index from 0; NULL past the last. */
const struct gs_backend *gs_backend_at(int index);

#endif
