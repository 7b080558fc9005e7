/* interp/eval.c - statements, names, blocks, loops and functions. */
#include <config.h>

#include "interp/eval.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/builtin.h"
#include "interp/command.h"
#include "interp/plans.h"
#include "interp/report.h"

enum { STACK_LIMIT = 4 << 20 };        /* bytes; half of what a main thread commonly has */

struct gs_span gs_eval_span(const struct gs_session *s, const struct gs_ast *ast)
{
  return s->call_site.source != NULL ? s->call_site : ast->span;
}

bool gs_eval_step(struct gs_session *s, const struct gs_ast *ast)
{
  if (++s->steps_taken > s->settings.steps) {
    gs_error(&s->diagnostics, gs_eval_span(s, ast), "stopped after %lld steps",
             (long long)s->settings.steps);
    gs_hint(&s->diagnostics, "if the loop does end, allow more: :set steps %lld",
            (long long)s->settings.steps * 10);
    s->flow = GS_FLOW_STOP;
    return false;
  }
  if (atomic_load_explicit(&s->interrupt, memory_order_relaxed) != 0) {
    s->interrupted = true;
    s->flow = GS_FLOW_STOP;
    return false;
  }
  return !gs_arena_failed(s->values) || gs_session_out_of_memory(s, gs_eval_span(s, ast));
}

static bool check_stack(struct gs_session *s, const struct gs_ast *ast)
{
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  uintptr_t used = here < s->stack_base ? s->stack_base - here : here - s->stack_base;
  if (used < STACK_LIMIT)
    return true;
  return gs_session_fail(s, gs_eval_span(s, ast), "nested too deeply");
}

/* Names that mean a constant unless a variable has them. */
static bool constant_name(const char *name, struct gs_value *out)
{
  static const struct { const char *name; struct gs_value value; } constants[] = {
    { "inf", { .kind = GS_VALUE_FLOAT, .number = (double)INFINITY } },
    { "nan", { .kind = GS_VALUE_FLOAT, .number = (double)NAN } },
    { "none", { .kind = GS_VALUE_NONE } },
    { "pi", { .kind = GS_VALUE_FLOAT, .number = 3.14159265358979323846 } },
    { "replicated", { .kind = GS_VALUE_REPLICATED } },
  };
  for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
    if (strcmp(constants[i].name, name) == 0) {
      *out = constants[i].value;
      return true;
    }
  enum gs_dtype dtype;
  if (!gs_dtype_find(name, strlen(name), &dtype))
    return false;
  *out = (struct gs_value){ .kind = GS_VALUE_DTYPE, .dtype = dtype };
  return true;
}

bool gs_eval_name(struct gs_session *s, struct gs_scope *scope, const char *name, bool callee,
                  struct gs_value *out)
{
  const struct gs_binding *binding = gs_scope_find(scope, name);
  if (binding != NULL) {
    *out = binding->value;
    return true;
  }
  int axis = callee || s->mesh == NULL ? -1 : gs_mesh_find(s->mesh, name);
  if (axis >= 0) {
    *out = (struct gs_value){ .kind = GS_VALUE_AXIS, .length = (uint32_t)axis, .mesh = s->mesh };
    return true;
  }
  const struct gs_builtin *builtin = gs_builtin_find(name);
  if (builtin != NULL) {
    *out = (struct gs_value){ .kind = GS_VALUE_BUILTIN, .builtin = builtin };
    return true;
  }
  if (constant_name(name, out))
    return true;
  gs_session_load_library(s);
  binding = gs_scope_find(s->library, name);
  if (binding == NULL)
    return false;
  *out = binding->value;
  return true;
}

static bool unknown_name(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast)
{
  gs_session_fail(s, gs_eval_span(s, ast), "unknown name \"%s\"", ast->text);
  const char *nearest = gs_nearest_name(s, scope, ast->text);
  if (nearest != NULL)
    gs_hint(&s->diagnostics, "did you mean \"%s\"?", nearest);
  return false;
}

bool gs_eval_truth(struct gs_session *s, struct gs_span at, struct gs_value value, bool *truth)
{
  switch (value.kind) {
  case GS_VALUE_BOOL:
    *truth = value.boolean;
    return true;
  case GS_VALUE_NONE:
    *truth = false;
    return true;
  case GS_VALUE_INT:
  case GS_VALUE_FLOAT:
    *truth = gs_value_number(value) != 0;
    return true;
  case GS_VALUE_STRING:
  case GS_VALUE_LIST:
  case GS_VALUE_TUPLE:
    *truth = value.length != 0;
    return true;
  case GS_VALUE_TENSOR:
    gs_session_fail(s, at, "a tensor (%s) is neither true nor false before the program runs",
                    gs_value_describe(s->values, value));
    gs_hint(&s->diagnostics, "where(p, a, b) chooses element by element, cond(p, f, g) in the "
            "graph; run(x) computes a value now");
    return false;
  default:
    return gs_session_fail(s, at, "%s is neither true nor false", gs_value_kind_name(value.kind));
  }
}

/* Remember that node ID has a global variable's name. */
static bool mark_named(struct gs_session *s, int id)
{
  if (id >= s->nnamed) {
    int capacity = id < 512 ? 1024 : id > INT_MAX / 2 ? INT_MAX : id * 2;
    bool *named = GS_NEW_ARRAY(s->text, bool, capacity);
    if (named == NULL)
      return false;
    if (s->nnamed > 0)
      memcpy(named, s->named, (size_t)s->nnamed);
    s->named = named;
    s->nnamed = capacity;
  }
  s->named[id] = true;
  return true;
}

/* A tensor is called after the first variable bound to it, a global one if there is one.  So is
 * what an annotation made at once stands on: x = shard(input(...), ...) names the input too. */
static bool name_node(struct gs_session *s, struct gs_scope *scope, struct gs_node *node,
                      const char *name)
{
  if (scope == s->globals) {
    if (node->id < s->nnamed && s->named[node->id])
      return true;
    node->name = name;
    if (!mark_named(s, node->id))
      return false;
  } else if (node->name == NULL && s->call_site.source == NULL) {
    node->name = name;
  }
  for (; node->op == GS_OP_SHARD && node->args[0]->name == NULL; node = node->args[0])
    node->args[0]->name = node->name;
  return true;
}

bool gs_eval_bind(struct gs_session *s, struct gs_scope *scope, struct gs_span at, const char *name,
                  struct gs_value value)
{
  if (value.kind == GS_VALUE_TENSOR && !name_node(s, scope, value.node, name))
    return gs_session_out_of_memory(s, at);
  if (scope == s->globals || scope == s->library || scope->captured)
    s->changes++;
  if (!gs_scope_set(s->values, scope, name, value))
    return gs_session_out_of_memory(s, at);
  return true;
}

static bool eval_assign(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast)
{
  struct gs_value value;
  int ntargets = ast->nitems - 1;
  const struct gs_ast *source = ast->items[ntargets];
  if (!gs_eval(s, scope, source, &value))
    return false;
  if (ntargets == 1)
    return gs_eval_bind(s, scope, ast->span, ast->items[0]->text, value);
  if (!gs_value_is_sequence(value))
    return gs_session_fail(s, gs_eval_span(s, source), "%s cannot be taken apart into %d names",
                           gs_value_describe(s->values, value), ntargets);
  if (value.length != (uint32_t)ntargets)
    return gs_session_fail(s, gs_eval_span(s, source), "%u value%s for %d names", value.length,
                           value.length == 1 ? "" : "s", ntargets);
  for (int i = 0; i < ntargets; i++)
    if (!gs_eval_bind(s, scope, ast->span, ast->items[i]->text, *gs_value_item(value, (size_t)i)))
      return false;
  return true;
}

static bool eval_function(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                          struct gs_value *out)
{
  struct gs_function *function = GS_NEW(s->values, struct gs_function);
  if (function == NULL)
    return gs_session_out_of_memory(s, ast->span);
  *function = (struct gs_function){
    .name = ast->kind == GS_AST_FUNCTION ? ast->text : NULL, .ast = ast, .scope = scope,
    .path = s->path, .library = scope == s->library,
  };
  for (struct gs_scope *kept = scope; kept != NULL && !kept->captured; kept = kept->parent)
    kept->captured = true;
  *out = (struct gs_value){ .kind = GS_VALUE_FUNCTION, .function = function };
  if (ast->kind == GS_AST_LAMBDA)
    return true;
  return gs_eval_bind(s, scope, ast->span, ast->text, *out);
}

/* STATEMENT: the value is not used. */
static bool eval_item(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                      bool statement, struct gs_value *out);

static bool eval_block(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                       bool statement, struct gs_value *out)
{
  if (ast->kind != GS_AST_BLOCK)
    return eval_item(s, scope, ast, statement, out);
  *out = gs_value_none();
  for (int i = 0; i < ast->nitems; i++)
    if (!eval_item(s, scope, ast->items[i], statement || i + 1 < ast->nitems, out))
      return false;
  return true;
}

static bool eval_for(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast)
{
  struct gs_value list, ignored;
  const struct gs_ast *source = ast->items[0];
  if (!gs_eval(s, scope, source, &list))
    return false;
  if (list.kind == GS_VALUE_INT) {
    gs_session_fail(s, gs_eval_span(s, source), "for goes over a list, not an integer");
    gs_hint(&s->diagnostics, "range(%lld) gives 0, 1, 2, ...", (long long)list.integer);
    return false;
  }
  if (!gs_value_is_sequence(list))
    return gs_session_fail(s, gs_eval_span(s, source), "for goes over a list, not %s",
                           gs_value_describe(s->values, list));
  for (uint32_t i = 0; i < list.length; i++)
    if (!gs_eval_step(s, ast) ||
        !gs_eval_bind(s, scope, ast->span, ast->text, *gs_value_item(list, i)) ||
        !eval_block(s, scope, ast->items[1], true, &ignored))
      return false;
  return true;
}

static bool eval_condition(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                           bool *truth)
{
  struct gs_value value;
  return gs_eval(s, scope, ast, &value) && gs_eval_truth(s, gs_eval_span(s, ast), value, truth);
}

static bool eval_while(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast)
{
  struct gs_value ignored;
  for (;;) {
    bool truth;
    if (!gs_eval_step(s, ast) || !eval_condition(s, scope, ast->items[0], &truth))
      return false;
    if (!truth)
      return true;
    if (!eval_block(s, scope, ast->items[1], true, &ignored))
      return false;
  }
}

static bool eval_if(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                    bool statement, struct gs_value *out)
{
  bool truth;
  *out = gs_value_none();
  if (!eval_condition(s, scope, ast->items[0], &truth))
    return false;
  const struct gs_ast *branch = truth ? ast->items[1] : ast->nitems > 2 ? ast->items[2] : NULL;
  return branch == NULL || eval_block(s, scope, branch, statement, out);
}

static bool eval_return(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast)
{
  struct gs_value value = gs_value_none();
  if (s->calls == 0)
    return gs_session_fail(s, ast->span, "return outside a function");
  if (ast->nitems > 0 && ast->items[0] != NULL && !gs_eval(s, scope, ast->items[0], &value))
    return false;
  s->returned = value;
  s->flow = GS_FLOW_RETURN;
  return false;
}

static bool eval_items(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                       struct gs_value *out)
{
  enum gs_value_kind kind = ast->kind == GS_AST_LIST ? GS_VALUE_LIST : GS_VALUE_TUPLE;
  *out = gs_value_list(s->values, kind, (size_t)ast->nitems);
  if (out->kind == GS_VALUE_ABSENT)
    return gs_session_out_of_memory(s, ast->span);
  for (int i = 0; i < ast->nitems; i++)
    if (!gs_eval(s, scope, ast->items[i], gs_value_item(*out, (size_t)i)))
      return false;
  return true;
}

/* `and` and `or` look at the right side only if the left does not decide; tensors are combined
 * element by element. */
static bool eval_binary(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                        struct gs_value *out)
{
  struct gs_value operands[2];
  if (!gs_eval(s, scope, ast->items[0], &operands[0]))
    return false;
  bool logical = ast->op == GS_AST_AND || ast->op == GS_AST_OR;
  if (logical && operands[0].kind != GS_VALUE_TENSOR) {
    bool truth;
    if (!gs_eval_truth(s, gs_eval_span(s, ast->items[0]), operands[0], &truth))
      return false;
    *out = operands[0];
    if (truth == (ast->op == GS_AST_OR))
      return true;
    if (!gs_eval(s, scope, ast->items[1], &operands[1]))
      return false;
    if (operands[1].kind != GS_VALUE_TENSOR) {
      *out = operands[1];
      return true;
    }
  } else if (!gs_eval(s, scope, ast->items[1], &operands[1])) {
    return false;
  }
  return gs_operate_binary(s, gs_eval_span(s, ast), ast->op, operands, out);
}

static bool eval_unary(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                       struct gs_value *out)
{
  const struct gs_ast *literal = ast->items[0];
  struct gs_value operand;
  if (ast->op == GS_AST_NEG && literal->kind == GS_AST_INT && literal->integer == INT64_MIN) {
    *out = gs_value_int(INT64_MIN);    /* see gs_literal_integer */
    return true;
  }
  return gs_eval(s, scope, ast->items[0], &operand) &&
         gs_operate_unary(s, gs_eval_span(s, ast), ast->op, operand, out);
}

static bool eval_pipe(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                      bool statement, struct gs_value *out)
{
  if (ast->items[1]->kind == GS_AST_CALL)
    return gs_eval_call(s, scope, ast->items[1], ast->items[0], statement, out);
  struct gs_value argument, function;
  return gs_eval(s, scope, ast->items[0], &argument) &&
         gs_eval(s, scope, ast->items[1], &function) &&
         gs_call(s, gs_eval_span(s, ast), function, &argument, 1, out);
}

static bool eval_string(struct gs_session *s, const struct gs_ast *ast, struct gs_value *out)
{
  if (ast->length > GS_VALUE_MAX_ITEMS)
    return gs_session_fail(s, ast->span, "string too long");
  *out = (struct gs_value){ .kind = GS_VALUE_STRING, .length = (uint32_t)ast->length,
                            .text = ast->text };
  return true;
}

static bool eval_item(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                      bool statement, struct gs_value *out)
{
  *out = gs_value_none();
  switch (ast->kind) {
  case GS_AST_CALL:
    return gs_eval_step(s, ast) && check_stack(s, ast) &&
           gs_eval_call(s, scope, ast, NULL, statement, out);
  case GS_AST_PIPE:
    return check_stack(s, ast) && eval_pipe(s, scope, ast, statement, out);
  case GS_AST_IF:
    return check_stack(s, ast) && eval_if(s, scope, ast, statement, out);
  case GS_AST_BLOCK:
    return check_stack(s, ast) && eval_block(s, scope, ast, statement, out);
  case GS_AST_ASSIGN:
    return eval_assign(s, scope, ast);
  case GS_AST_FOR:
    return check_stack(s, ast) && eval_for(s, scope, ast);
  case GS_AST_WHILE:
    return check_stack(s, ast) && eval_while(s, scope, ast);
  case GS_AST_RETURN:
    return eval_return(s, scope, ast);
  case GS_AST_IMPORT:
    return gs_session_import(s, ast->span, ast->text);
  case GS_AST_COMMAND:
    return gs_command_run(s, ast);
  default:
    return gs_eval(s, scope, ast, out);
  }
}

bool gs_eval(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
             struct gs_value *out)
{
  if (!gs_eval_step(s, ast) || !check_stack(s, ast))
    return false;
  switch (ast->kind) {
  case GS_AST_INT:
    *out = gs_value_int(ast->integer);
    return true;
  case GS_AST_FLOAT:
    *out = gs_value_float(ast->number);
    return true;
  case GS_AST_STRING:
    return eval_string(s, ast, out);
  case GS_AST_TRUE:
  case GS_AST_FALSE:
    *out = gs_value_bool(ast->kind == GS_AST_TRUE);
    return true;
  case GS_AST_NAME:
    return gs_eval_name(s, scope, ast->text, false, out) || unknown_name(s, scope, ast);
  case GS_AST_OPEN:
    *out = (struct gs_value){ .kind = GS_VALUE_OPEN };
    return true;
  case GS_AST_NEWAXIS:
    *out = (struct gs_value){ .kind = GS_VALUE_NEWAXIS };
    return true;
  case GS_AST_LIST:
  case GS_AST_TUPLE:
    return eval_items(s, scope, ast, out);
  case GS_AST_UNARY:
    return eval_unary(s, scope, ast, out);
  case GS_AST_BINARY:
    return eval_binary(s, scope, ast, out);
  case GS_AST_INDEX:
    return gs_eval_index(s, scope, ast, out);
  case GS_AST_LAMBDA:
  case GS_AST_FUNCTION:
    return eval_function(s, scope, ast, out);
  case GS_AST_ARGUMENT:
  case GS_AST_RANGE:
  case GS_AST_ELLIPSIS:
    return gs_session_fail(s, ast->span, "this has a meaning only inside a call or an index");
  default:
    return eval_item(s, scope, ast, false, out);
  }
}

static bool is_expression(const struct gs_ast *ast)
{
  switch (ast->kind) {
  case GS_AST_FUNCTION:
  case GS_AST_ASSIGN:
  case GS_AST_FOR:
  case GS_AST_WHILE:
  case GS_AST_IF:
  case GS_AST_BLOCK:
  case GS_AST_RETURN:
  case GS_AST_IMPORT:
  case GS_AST_COMMAND:
    return false;
  default:
    return true;
  }
}

static bool run_statement(struct gs_session *s, struct gs_ast *ast)
{
  struct gs_value value;
  if (ast->kind == GS_AST_OPEN || ast->kind == GS_AST_NAME) {
    const char *word = ast->kind == GS_AST_OPEN ? "?" : ast->text;
    if (!(ast->kind == GS_AST_NAME && gs_eval_name(s, s->globals, word, false, &value)) &&
        gs_command_friendly(s, word))
      return true;
  }
  if (!eval_item(s, s->running, ast, true, &value))
    return false;
  if (is_expression(ast) && s->options.interactive && !s->script)
    return gs_report_value(s, ast, value);
  return true;
}

/* What a statement has made in the values arena, so that it can be taken back. */
struct snapshot {
  struct gs_arena_mark mark;
  struct gs_graph graph;
  int64_t changes;
};

static void take_back(struct gs_session *s, const struct snapshot *before)
{
  if (s->nnamed > before->graph.nnodes && s->named != NULL)
    memset(s->named + before->graph.nnodes, 0, (size_t)(s->nnamed - before->graph.nnodes));
  for (int id = before->graph.nnodes; id < s->graph.nnodes; id++) {
    const struct gs_node *node = s->graph.nodes[id];
    if (node->op == GS_OP_CONSTANT)
      gs_tensor_unref(node->attrs->constant.tensor);
  }
  gs_plans_forget(s, before->graph.nnodes);
  s->graph = before->graph;
  s->free_scopes = NULL;
  gs_arena_rewind(s->values, before->mark);
}

bool gs_eval_statement(struct gs_session *s, struct gs_ast *statement)
{
  struct snapshot before = { gs_arena_mark(s->values), s->graph, s->changes };
  bool outermost = s->nesting++ == 0;
  int calls = s->calls;
  struct gs_span call_site = s->call_site;
  s->flow = GS_FLOW_NORMAL;
  s->call_site = (struct gs_span){ 0 };
  if (outermost) {
    s->graph.region = 0;               /* whatever an error left open */
    s->graph.manual = NULL;
    s->stack_base = (uintptr_t)__builtin_frame_address(0);
    s->steps_taken = 0;
    s->notes = 0;
    s->interrupted = false;
  }
  bool ok = run_statement(s, statement);
  if (gs_arena_failed(s->values) || gs_arena_failed(s->text) || gs_arena_failed(s->meshes))
    ok = gs_session_out_of_memory(s, statement->span);
  s->nesting--;
  s->calls = calls;
  s->call_site = call_site;
  if (!ok && s->changes == before.changes)
    take_back(s, &before);
  if (outermost && s->interrupted)
    atomic_store(&s->interrupt, 0);
  if (outermost && s->reset_wanted)
    gs_session_clear(s);
  return ok;
}
