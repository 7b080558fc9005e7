/* interp/edit.c - changing annotations in place: :shard, :unshard, :undo.
 *
 * A tensor that is annotated already gets another annotation.  For one that is not, an annotated
 * copy is made and everything computed from it is made again on top of that; variables then hold
 * the new tensors, so the program need not be typed again.
 */
#include <config.h>

#include "interp/command.h"

#include <string.h>

#include "interp/annotation.h"
#include "interp/eval.h"
#include "interp/report.h"

enum { MAX_DEPTH = 100 };

/* New nodes by the ids of those they stand for. */
struct replacement {
  struct gs_session *s;
  struct gs_node **by_id;
  int count;
  struct gs_scope **visited;
  int nvisited, room;
};

static struct gs_node *replaced(const struct replacement *r, struct gs_node *node)
{
  return node->id >= 0 && node->id < r->count && r->by_id[node->id] != NULL ? r->by_id[node->id]
                                                                            : node;
}

/* Whether gs_graph_add is told NODE's type rather than finding it out. */
static bool states_type(const struct gs_node *node)
{
  switch (node->op) {
  case GS_OP_RESHAPE:
  case GS_OP_BROADCAST:
  case GS_OP_CONVERT:
  case GS_OP_SLICE:
  case GS_OP_BITCAST:
  case GS_OP_RANDOM:
    return true;
  default:
    return false;
  }
}

/* Make NODE again if any of its operands was replaced. */
static bool remake(struct replacement *r, struct gs_node *node)
{
  struct gs_session *s = r->s;
  bool changed = false;
  for (int i = 0; i < node->nargs; i++)
    changed = changed || replaced(r, node->args[i]) != node->args[i];
  if (!changed)
    return true;
  struct gs_node **args = GS_NEW_ARRAY(s->values, struct gs_node *, node->nargs);
  if (args == NULL)
    return gs_session_out_of_memory(s, node->span);
  for (int i = 0; i < node->nargs; i++)
    args[i] = replaced(r, node->args[i]);
  /* What stood in a loop's body or in a manual region is made there again. */
  s->graph.region = node->region;
  s->graph.manual = node->manual;
  struct gs_node *made = gs_graph_add(&s->graph, node->op, node->span, args, node->nargs,
                                      node->attrs, states_type(node) ? &node->type : NULL);
  s->graph.region = 0;
  s->graph.manual = NULL;
  if (gs_node_is_poison(&s->graph, made))
    return false;
  for (int body = made->region; body != 0; body = s->graph.regions[body].parent)
    s->graph.regions[body].end = s->graph.nnodes;
  made->name = node->name;
  r->by_id[node->id] = made;
  return true;
}

static void rebind_scope(struct replacement *r, struct gs_scope *scope, int depth);

static void rebind_value(struct replacement *r, struct gs_value *value, int depth)
{
  if (value->kind == GS_VALUE_TENSOR)
    value->node = replaced(r, value->node);
  else if (gs_value_is_sequence(*value) && depth < MAX_DEPTH)
    for (uint32_t i = 0; i < value->length; i++)
      rebind_value(r, gs_value_item(*value, i), depth + 1);
  else if (value->kind == GS_VALUE_FUNCTION && depth < MAX_DEPTH)
    rebind_scope(r, value->function->scope, depth + 1);
}

/* Scopes refer to each other through closures; each is visited once. */
static void rebind_scope(struct replacement *r, struct gs_scope *scope, int depth)
{
  for (; scope != NULL && scope != r->s->library; scope = scope->parent) {
    for (int i = 0; i < r->nvisited; i++)
      if (r->visited[i] == scope)
        return;
    if (r->nvisited == r->room) {
      int room = r->room * 2 + 8;
      struct gs_scope **visited = GS_NEW_ARRAY(r->s->values, struct gs_scope *, room);
      if (visited == NULL)
        return;
      if (r->nvisited > 0)
        memcpy(visited, r->visited, (size_t)r->nvisited * sizeof(struct gs_scope *));
      r->visited = visited;
      r->room = room;
    }
    r->visited[r->nvisited++] = scope;
    for (uint32_t i = 0; i < scope->capacity; i++)
      if (scope->bindings[i].name != NULL)
        rebind_value(r, &scope->bindings[i].value, depth);
  }
}

/* Put NEW, made from OLD, in OLD's place everywhere. */
static bool replace_everywhere(struct gs_session *s, struct gs_node *old, struct gs_node *new_node)
{
  struct replacement r = { .s = s, .count = new_node->id };
  r.by_id = GS_NEW_ARRAY(s->values, struct gs_node *, r.count);
  if (r.by_id == NULL)
    return gs_session_out_of_memory(s, new_node->span);
  r.by_id[old->id] = new_node;
  for (int id = old->id + 1; id < r.count; id++)
    if (!remake(&r, s->graph.nodes[id]))
      return false;
  rebind_scope(&r, s->globals, 0);
  return true;
}

static void set_annotation(struct gs_session *s, struct gs_node *node,
                           const struct gs_sharding *annotation)
{
  /* The one member of a node that may change; nodes' attributes are the graph's own copies. */
  ((union gs_attrs *)node->attrs)->shard.annotation = annotation;
  s->changes++;
  gs_session_changed(s);
}

/* Every dim left to completion, as if there were no annotation. */
static const struct gs_sharding *open_sharding(struct gs_session *s, const struct gs_mesh *mesh,
                                               int rank)
{
  struct gs_dim_sharding dims[GS_MAX_RANK] = { 0 };
  for (int i = 0; i < rank; i++)
    dims[i].open = true;
  return gs_sharding_make(s->shardings, mesh, rank, dims, NULL, 0, GS_OP_SUM);
}

static bool remember(struct gs_session *s, struct gs_node *node, const struct gs_sharding *before)
{
  struct gs_annotation_edit *edit = GS_NEW(s->values, struct gs_annotation_edit);
  if (edit == NULL)
    return gs_session_out_of_memory(s, node->span);
  *edit = (struct gs_annotation_edit){ s->edits, node, before };
  s->edits = edit;
  return true;
}

static bool edit_annotation(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  const struct gs_mesh *mesh = s->mesh;
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  if (gs_arg_given(call, 2)) {
    if (call->args[2].value.kind != GS_VALUE_MESH)
      return gs_arg_wrong(call, 2, "a mesh");
    mesh = call->args[2].value.mesh;
  }
  if (mesh == NULL)
    return gs_session_fail(s, call->span, "shard: there is no mesh yet");
  const struct gs_sharding *annotation = gs_annotation_make(call, &call->args[1], mesh, &x->type);
  if (annotation == NULL)
    return false;
  if (x->op == GS_OP_SHARD) {
    if (!remember(s, x, x->attrs->shard.annotation))
      return false;
    set_annotation(s, x, annotation);
  } else {
    union gs_attrs attrs = { .shard = { .annotation = annotation, .span = call->span } };
    struct gs_node *node = gs_graph_add(&s->graph, GS_OP_SHARD, call->span, &x, 1, &attrs, NULL);
    if (gs_node_is_poison(&s->graph, node) ||
        !remember(s, node, open_sharding(s, mesh, x->type.rank)) || !replace_everywhere(s, x, node))
      return false;
    node->name = x->name;
    x = node;
    s->changes++;
    gs_session_changed(s);
  }
  *out = gs_value_tensor(x);
  return gs_report_value(s, call->args[0].ast, *out);
}

static bool remove_annotation(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  if (x->op != GS_OP_SHARD)
    return gs_session_fail(s, call->args[0].span, "unshard: %s has no annotation",
                           gs_report_name(s, call->args[0].ast, call->args[0].value));
  const struct gs_sharding *before = x->attrs->shard.annotation;
  const struct gs_sharding *open = open_sharding(s, before->mesh, x->type.rank);
  if (open == NULL || !remember(s, x, before))
    return gs_session_out_of_memory(s, call->span);
  set_annotation(s, x, open);
  *out = gs_value_tensor(x);
  return gs_report_value(s, call->args[0].ast, *out);
}

static bool run_row(struct gs_session *s, const struct gs_ast *ast, const struct gs_builtin *row)
{
  const struct gs_ast *call = gs_command_call(s, ast);
  struct gs_value ignored;
  return call != NULL && gs_eval_builtin(s, call, row, &ignored);
}

bool gs_command_shard(struct gs_session *s, const struct gs_ast *ast)
{
  static const struct gs_builtin row = {
    "shard", "x 'annotation mesh?", edit_annotation, GS_OP_SHARD, GS_TOPIC_SHARDING,
    ":shard x [data, -1]", "" };
  return run_row(s, ast, &row);
}

bool gs_command_unshard(struct gs_session *s, const struct gs_ast *ast)
{
  static const struct gs_builtin row = {
    "unshard", "x", remove_annotation, GS_OP_SHARD, GS_TOPIC_SHARDING, ":unshard x", "" };
  return run_row(s, ast, &row);
}

bool gs_command_undo(struct gs_session *s, const struct gs_ast *ast)
{
  struct gs_annotation_edit *edit = s->edits;
  if (edit == NULL)
    return gs_session_fail(s, ast->span, "there is no :shard or :unshard to take back");
  s->edits = edit->next;
  set_annotation(s, edit->node, edit->before);
  struct gs_value value = gs_value_tensor(edit->node);
  return gs_report_value(s, ast, value);
}
