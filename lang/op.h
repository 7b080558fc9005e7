/* lang/op.h - the table of operators (ops.def) as C. */
#ifndef GS_LANG_OP_H
#define GS_LANG_OP_H

#include <stdbool.h>
#include <stddef.h>

enum gs_op {
#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) GS_OP_##id,
#include "lang/ops.def"
#undef GS_OP
  GS_OP_COUNT
};

enum gs_op_group {
  GS_GROUP_LEAF, GS_GROUP_ELEMENTWISE, GS_GROUP_SHARDING, GS_GROUP_SHAPE, GS_GROUP_REDUCTION,
  GS_GROUP_CONTRACTION, GS_GROUP_WINDOW, GS_GROUP_INDEXING, GS_GROUP_ORDER, GS_GROUP_TRANSFORM, GS_GROUP_RANDOM, GS_GROUP_CONTROL, GS_GROUP_MANUAL, GS_GROUP_COLLECTIVE, GS_GROUP_DEVICE, GS_GROUP_COUNT
};

/* Which operands may hold partial sums (the true value is the sum over a mesh axis) so that the
 * result is then a partial sum over the same axis. */
enum gs_linear {
  GS_LINEAR_NONE,
  GS_LINEAR_EACH,                      /* any one operand, the others whole: neg, mul, einsum */
  GS_LINEAR_FIRST,                     /* the first operand only: div */
  GS_LINEAR_JOINT,                     /* all operands at once: add, concat */
  GS_LINEAR_SELECT,                    /* all but the first at once: where */
  GS_LINEAR_SCATTER,                   /* the first and the third at once, when they are added */
  GS_LINEAR_MOVE,                      /* only moves elements: partial sums, maxima, … pass */
  GS_LINEAR_PAD,                       /* the first, when the padding value is zero */
  GS_LINEAR_CONVERT                    /* between float types that do not narrow */
};

struct gs_op_info {
  const char *name;
  enum gs_op_group group;
  int nargs;                           /* -1: any number from 1 */
  enum gs_linear linear;
  int flops;                           /* per point of the factor space */
  const char *usage, *help;
};

const struct gs_op_info *gs_op_info(enum gs_op op);
/* The operator a user may call NAME (rows without a usage are not found); false if none. */
bool gs_op_find(const char *name, size_t length, enum gs_op *op);
const char *gs_op_group_name(enum gs_op_group group);
/* Communicates with other devices. */
bool gs_op_is_collective(enum gs_op op);

#endif
