/* interp/plans.h - plans of a session's tensors, kept until what they depend on changes, and their
 * runs.
 *
 * Each plan lives in an arena of its own.  Asking again for the same outputs gives the same plan
 * as long as the mesh, the annotations and the settings are the same.
 */
#ifndef GS_INTERP_PLANS_H
#define GS_INTERP_PLANS_H

#include "interp/session.h"

/* Tensors to be computed together, as the user calls them. */
struct gs_outputs {
  struct gs_node **nodes;
  const char **names;
  int count;
  struct gs_span span;                 /* of the request */
};

struct gs_plan_entry {
  struct gs_plan_entry *next;
  struct gs_arena *arena;
  struct gs_plan *plan;
  struct gs_outputs outputs;
  int version;                         /* of the session when it was made */
  bool recorded;                       /* has the events that trace prints */
  const struct gs_backend *backend;    /* of the executable */
  struct gs_executable *executable;    /* NULL: not compiled yet */
};

/* The plan of OUTPUTS; RECORD keeps completion's steps.  NULL: reported, or interrupted. */
struct gs_plan_entry *gs_plans_get(struct gs_session *s, const struct gs_outputs *outputs,
                                   bool record);
/* Ready ENTRY for the session's backend. */
bool gs_plans_compile(struct gs_session *s, struct gs_plan_entry *entry);
/* Run; VALUES gets one reference per output. */
bool gs_plans_run(struct gs_session *s, struct gs_plan_entry *entry, struct gs_tensor **values);
/* The same values without any partitioning. */
bool gs_plans_reference(struct gs_session *s, struct gs_plan_entry *entry,
                        struct gs_tensor **values);
/* ENTRY was shown: diff() compares the last two. */
void gs_plans_shown(struct gs_session *s, struct gs_plan_entry *entry);
/* Drop the plans that hold nodes from NNODES on, which are about to go. */
void gs_plans_forget(struct gs_session *s, int nnodes);
/* Drop everything that was compiled: the backend or its threads change. */
void gs_plans_release(struct gs_session *s);
void gs_plans_free(struct gs_session *s);

/* interp/inputs.c: the values given for inputs and parameters, by index; NULL where its fill is to
 * be used.  They stay the session's.  False: reported. */
bool gs_inputs_gather(struct gs_session *s, const struct gs_plan *plan,
                      struct gs_tensor ***inputs, int *count);
void gs_inputs_free(struct gs_session *s);

#endif
