/* lang/op.c - look-ups in the table of operators. */
#include <config.h>

#include "lang/op.h"

#include <string.h>

static const struct gs_op_info table[] = {
#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) \
  [GS_OP_##id] = { name, GS_GROUP_##group, nargs, GS_LINEAR_##linear, flops, usage, help },
#include "lang/ops.def"
#undef GS_OP
};

static const char *const group_names[GS_GROUP_COUNT] = {
  [GS_GROUP_LEAF] = "sources",
  [GS_GROUP_ELEMENTWISE] = "elementwise",
  [GS_GROUP_SHARDING] = "sharding",
  [GS_GROUP_SHAPE] = "shape",
  [GS_GROUP_REDUCTION] = "reductions",
  [GS_GROUP_CONTRACTION] = "contraction",
  [GS_GROUP_WINDOW] = "windows",
  [GS_GROUP_INDEXING] = "indexing",
  [GS_GROUP_ORDER] = "order",
  [GS_GROUP_TRANSFORM] = "transforms",
  [GS_GROUP_RANDOM] = "random",
  [GS_GROUP_CONTROL] = "control",
  [GS_GROUP_MANUAL] = "manual regions",
  [GS_GROUP_COLLECTIVE] = "collectives",
  [GS_GROUP_DEVICE] = "device"
};

const struct gs_op_info *gs_op_info(enum gs_op op)
{
  return &table[op];
}

bool gs_op_find(const char *name, size_t length, enum gs_op *op)
{
  for (int i = 0; i < GS_OP_COUNT; i++) {
    if (table[i].usage[0] == '\0')      /* only the partitioner and the builders make these */
      continue;
    if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0) {
      *op = (enum gs_op)i;
      return true;
    }
  }
  return false;
}

const char *gs_op_group_name(enum gs_op_group group)
{
  return group_names[group];
}

bool gs_op_is_collective(enum gs_op op)
{
  return table[op].group == GS_GROUP_COLLECTIVE;
}
