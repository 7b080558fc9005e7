/* partition/choose_state.h - what the joint choice of shardings works on. */
#ifndef GS_PARTITION_CHOOSE_STATE_H
#define GS_PARTITION_CHOOSE_STATE_H

#include "partition/choose.h"

enum { GS_MAX_CANDIDATES = 10, GS_MAX_WANTS = 3 };

struct gs_choose_value {
  int ncandidates, nkept;
  /* The completed one, what annotated values want, as many as NKEPT; then the cheapest to have. */
  const struct gs_sharding *candidates[GS_MAX_CANDIDATES];
  double bytes[GS_MAX_CANDIDATES];     /* on a device */
  double best[GS_MAX_CANDIDATES];      /* the cheapest way to have the value like that, operands' cost shared */
  int way[GS_MAX_CANDIDATES];          /* the strategy that does it */
  const struct gs_ways *ways;          /* NULL for leaves */
  bool free;                           /* made on each device as wanted: constants, iota */
  bool given;                          /* an input nobody annotated: handed over as wanted */
  int chosen, strategy;
  bool settled;                        /* chosen for what is chosen around it */
  const struct gs_sharding *layout;    /* of a leaf */
};

/* What annotated values that come of a value ask of it, nearest first. */
struct gs_wants { int count; const struct gs_sharding *items[GS_MAX_WANTS]; };

struct gs_choose_state {
  const struct gs_choose_request *r;
  struct gs_node *const *nodes;
  struct gs_choose_value *values;      /* by id */
  struct gs_wants *wants;              /* by id */
  bool completed_only;
  double *prices;                      /* scratch: of what strategies require, operand by operand */
  int nprices;
};

#endif
