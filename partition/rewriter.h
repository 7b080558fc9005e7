/* partition/rewriter.h - a program made from another one, step after step, some of them replaced by others. */
#ifndef GS_PARTITION_REWRITER_H
#define GS_PARTITION_REWRITER_H

#include "partition/program.h"

struct gs_rewriter {
  struct gs_arena *arena;
  struct gs_sharding_table *table;
  const struct gs_program *from;
  struct gs_step *steps;
  int nsteps, capacity;
  int *map;                            /* by old step: the new one */
  int scope, depth;                    /* of steps made now */
  double count;
  bool failed;                         /* out of memory: the program is not usable */
};

/* Begin a program like FROM; false when out of memory. */
bool gs_rewriter_init(struct gs_rewriter *r, struct gs_arena *arena, struct gs_sharding_table *table,
                      const struct gs_program *from);
/* STEP as it is, at the end; its index. */
int gs_rewriter_add(struct gs_rewriter *r, const struct gs_step *step);
/* Attributes to fill in, zeroed; NULL when out of memory. */
union gs_attrs *gs_rewriter_attrs(struct gs_rewriter *r);
/* A helper step of NODE whose whole is what each device has. */
int gs_rewriter_make(struct gs_rewriter *r, enum gs_op op, const int *args, int nargs, const union gs_attrs *attrs,
                     const struct gs_type *type, const struct gs_node *node);
/* Old step I with its new operands, which are there. */
void gs_rewriter_copy(struct gs_rewriter *r, int i);
/* Steps made from here on stand where old step I stood. */
void gs_rewriter_enter(struct gs_rewriter *r, int i);
/* New step RESULT holds what old step I held. */
void gs_rewriter_replace(struct gs_rewriter *r, int i, int result);
/* The program; NULL when out of memory. */
struct gs_program *gs_rewriter_finish(struct gs_rewriter *r);

#endif
