/* backends/backend.h - what runs an SPMD program.
 *
 * A backend compiles a plan once and runs it any number of times on whole (unsharded) input
 * tensors, giving whole output tensors.  It never prints or exits: errors go to the host's
 * diagnostics.  Members marked optional may be NULL.
 */
#ifndef GS_BACKENDS_BACKEND_H
#define GS_BACKENDS_BACKEND_H

#include "partition/partition.h"

/* Of everything declared here: a plug-in built for another version is refused. */
enum { GS_BACKEND_ABI = 2 };

enum gs_status { GS_OK, GS_FAILED, GS_INTERRUPTED };         /* GS_FAILED: reported */

/* What the host gives a backend; outlives every executable made with it. */
struct gs_host {
  struct gs_diagnostics *diagnostics;
  struct gs_budget *budget;            /* count what is allocated; may be NULL */
  const _Atomic int *interrupt;        /* stop soon with GS_INTERRUPTED when non-zero; may be NULL */
  int nthreads;                        /* 0: one per core */
  bool poison_padding;                 /* fill padding with NaN (integers: all ones): for tests */
  const char *settings;                /* "NAME=VALUE NAME=VALUE", names of the backend's; may be NULL */
  struct gs_backend_registry *backends;        /* where a backend finds others; may be NULL */
};

/* What `:backend NAME` can set. */
struct gs_backend_setting_name { const char *name, *help; };

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
  const struct gs_backend_setting_name *settings;      /* optional; ends with a NULL name */
};

extern const struct gs_backend gs_backend_reference;         /* the unpartitioned graph, naive loops */
extern const struct gs_backend gs_backend_cpu;               /* all devices in this process, threads */

/* ---- Plug-ins: files *.so that have the function GS_BACKEND_ENTRY ---- */

#define GS_BACKEND_ENTRY "gs_backend_entry"
/* Gives the plug-in's backend, which lives as long as the plug-in is open. */
typedef const struct gs_backend *gs_backend_entry_function(void);

struct gs_backend_registry;
/* The built-in backends, and those of plug-ins in FOLDERS (separated by ':', may be NULL) and in the folder of
 * the installation; they are looked for when first asked for.  NULL: out of memory. */
struct gs_backend_registry *gs_backend_registry_new(const char *folders);
/* After all executables; NULL is fine. */
void gs_backend_registry_free(struct gs_backend_registry *registry);
/* The backend called NAME, or NULL.  Without a REGISTRY only built-in ones. */
const struct gs_backend *gs_backend_find(struct gs_backend_registry *registry, const char *name);
/* All, one after the other: index from 0; NULL past the last. */
const struct gs_backend *gs_backend_at(struct gs_backend_registry *registry, int index);
/* File INDEX that is no plug-in for this host, and why; false past the last. */
bool gs_backend_refused(struct gs_backend_registry *registry, int index, const char **path, const char **reason);
/* The value of setting NAME, *LENGTH bytes; NULL when it is not given. */
const char *gs_backend_setting(const struct gs_host *host, const char *name, size_t *length);

#endif
