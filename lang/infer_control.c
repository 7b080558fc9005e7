/* lang/infer_control.c - loops and branches: result types, and how they are built. */
#include <config.h>

#include "lang/infer.h"

bool gs_infer_carried(const struct gs_infer *in)
{
  *in->result = *in->wanted;
  return true;
}

/* A loop's own value is of no interest; its results are other nodes. */
bool gs_infer_control(const struct gs_infer *in)
{
  *in->result = (struct gs_type){ .dtype = GS_DTYPE_PRED };
  return true;
}

bool gs_infer_carry(const struct gs_infer *in)
{
  const struct gs_type *first = &in->args[0]->type, *next = &in->args[2]->type;
  *in->result = *first;
  return gs_type_equal(first, next)
         || gs_infer_error(in, "what the loop carries is %s at first but %s after its body", GS_TYPE(first),
                           GS_TYPE(next));
}

bool gs_infer_loop_result(const struct gs_infer *in)
{
  *in->result = in->args[1]->type;
  return true;
}

bool gs_infer_cond_result(const struct gs_infer *in)
{
  const struct gs_type *a = &in->args[1]->type, *b = &in->args[2]->type;
  *in->result = *a;
  return gs_type_equal(a, b)
         || gs_infer_error(in, "the branch for true gives %s, that for false %s", GS_TYPE(a), GS_TYPE(b));
}

struct gs_node *gs_build_loop_value(struct gs_graph *g, struct gs_span at, const struct gs_type *type,
                                    int index)
{
  union gs_attrs attrs = { .carried = { g->region, index } };
  return gs_graph_add(g, GS_OP_LOOP_VALUE, at, NULL, 0, &attrs, type);
}

/* Whether the body may end with NODE: its own value or one from around it. */
static bool check_result(struct gs_graph *g, struct gs_span at, const struct gs_node *node)
{
  if (gs_region_is_inside(g->regions, g->region, node->region))
    return true;
  gs_error(g->diagnostics, at, "%s is a value of another loop's or branch's body",
           node->name != NULL ? node->name : "a result");
  return false;
}

bool gs_build_loop_begin(struct gs_graph *g, struct gs_span at, struct gs_node *const *inits, int ninits,
                         struct gs_node **values)
{
  if (gs_graph_open_region(g) == 0)
    return false;
  for (int i = 0; i < ninits; i++) {
    values[i] = gs_build_loop_value(g, at, &inits[i]->type, i);
    if (gs_node_is_poison(g, values[i])) {
      gs_graph_close_region(g);
      return false;
    }
  }
  return true;
}

/* A scalar pred, or an error. */
static bool check_condition(struct gs_graph *g, struct gs_span at, const char *what,
                            const struct gs_node *p)
{
  if (p->type.rank == 0 && p->type.dtype == GS_DTYPE_PRED)
    return true;
  gs_error(g->diagnostics, at, "%s: the condition is %s, not pred[]", what, GS_TYPE(&p->type));
  gs_hint(g->diagnostics, "compare, and reduce with any or all");
  return false;
}

bool gs_build_loop_end(struct gs_graph *g, struct gs_span at, struct gs_node *const *inits,
                       struct gs_node *const *values, struct gs_node *const *nexts, int ninits,
                       int64_t trips, struct gs_node *condition, struct gs_node **results)
{
  union gs_attrs attrs = { .control = { { g->region, 0 }, trips } };
  struct gs_node **args = GS_NEW_ARRAY(g->arena, struct gs_node *, ninits + 1);
  bool inside = true;
  for (int i = 0; i < ninits && inside; i++)
    inside = check_result(g, at, nexts[i]);
  gs_graph_close_region(g);
  if (!inside || args == NULL || (condition != NULL && !check_condition(g, at, "while_loop", condition)))
    return false;
  for (int i = 0; i < ninits; i++) {
    args[i] = gs_graph_add(g, GS_OP_LOOP_NEXT, at, (struct gs_node *[]){ inits[i], values[i], nexts[i] },
                           3, NULL, NULL);
    if (gs_node_is_poison(g, args[i]))
      return false;
  }
  args[ninits] = condition;
  struct gs_node *loop =
      gs_graph_add(g, GS_OP_LOOP, at, args, ninits + (condition != NULL), &attrs, NULL);
  if (gs_node_is_poison(g, loop))
    return false;
  for (int i = 0; i < ninits; i++) {
    union gs_attrs which = { .carried = { attrs.control.regions[0], i } };
    results[i] = gs_graph_add(g, GS_OP_LOOP_RESULT, at, (struct gs_node *[]){ loop, args[i] }, 2, &which,
                              NULL);
    if (gs_node_is_poison(g, results[i]))
      return false;
  }
  return true;
}

bool gs_build_cond(struct gs_graph *g, struct gs_span at, struct gs_node *p, const int regions[2],
                   struct gs_node *const *thens, struct gs_node *const *otherwises, int nresults,
                   struct gs_node **results)
{
  union gs_attrs attrs = { .control = { { regions[0], regions[1] }, 0 } };
  if (!check_condition(g, at, "cond", p))
    return false;
  struct gs_node *cond = gs_graph_add(g, GS_OP_COND, at, &p, 1, &attrs, NULL);
  for (int i = 0; i < nresults; i++) {
    union gs_attrs which = { .carried = { 0, i } };
    results[i] = gs_graph_add(g, GS_OP_COND_RESULT, at,
                              (struct gs_node *[]){ cond, thens[i], otherwises[i] }, 3, &which, NULL);
    if (gs_node_is_poison(g, results[i]))
      return false;
  }
  return true;
}
