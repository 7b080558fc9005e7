/* partition/form.c - the distributed form of each operator. */
#include <config.h>

#include "partition/form.h"

double gs_bytes_plain(const struct gs_form_query *query)
{
  (void)query;
  return 0;
}

int gs_emit_plain(struct gs_emitter *e, const struct gs_node *node, int *args,
                  const struct gs_strategy *strategy)
{
  return gs_emit_add(e, node->op, args, node->nargs, node->attrs, &node->type, strategy->produced, node);
}

static const struct gs_form forms[] = {
#define GS_OP(id, name, group, nargs, infer, rule, form, eval, linear, flops, usage, help) \
  [GS_OP_##id] = { gs_bytes_##form, gs_emit_##form },
#include "lang/ops.def"
#undef GS_OP
};

const struct gs_form *gs_form_of(enum gs_op op)
{
  return &forms[op];
}
