/* interp/call.c - calls: arguments to parameters, of functions written in the language and of the
 * built-in ones. */
#include <config.h>

#include "interp/eval.h"

#include <string.h>

#include "interp/builtin.h"

enum { MAX_CALL_NOTES = 3 };

/* Where the arguments of a call come from: a syntax tree, with an argument piped in before the
 * others, or values. */
struct supply {
  struct gs_session *s;
  struct gs_scope *scope;
  const struct gs_ast *ast;            /* NULL: values */
  const struct gs_ast *piped;
  const struct gs_value *values;
  int count;
  struct gs_span at;
};

static const struct gs_ast *supply_ast(const struct supply *supply, int i)
{
  if (supply->ast == NULL)
    return NULL;
  if (supply->piped != NULL)
    return i == 0 ? supply->piped : supply->ast->items[i];
  return supply->ast->items[i + 1];
}

/* The name an argument is given by, or NULL. */
static const char *supply_name(const struct supply *supply, int i)
{
  const struct gs_ast *ast = supply_ast(supply, i);
  return ast != NULL && ast->kind == GS_AST_ARGUMENT ? ast->text : NULL;
}

static const struct gs_ast *supply_expression(const struct supply *supply, int i)
{
  const struct gs_ast *ast = supply_ast(supply, i);
  return ast != NULL && ast->kind == GS_AST_ARGUMENT ? ast->items[0] : ast;
}

static struct gs_span supply_span(const struct supply *supply, int i)
{
  const struct gs_ast *ast = supply_expression(supply, i);
  return ast != NULL ? gs_eval_span(supply->s, ast) : supply->at;
}

static bool supply_value(const struct supply *supply, int i, struct gs_value *value)
{
  const struct gs_ast *ast = supply_expression(supply, i);
  if (ast != NULL)
    return gs_eval(supply->s, supply->scope, ast, value);
  *value = supply->values[i];
  return true;
}

static struct gs_scope *take_scope(struct gs_session *s, struct gs_scope *parent)
{
  struct gs_scope *scope = s->free_scopes;
  if (scope == NULL)
    return gs_scope_new(s->values, parent);
  s->free_scopes = scope->parent;
  gs_scope_reuse(scope, parent);
  return scope;
}

static void give_scope(struct gs_session *s, struct gs_scope *scope)
{
  if (scope->captured)
    return;
  scope->parent = s->free_scopes;
  s->free_scopes = scope;
}

static const char *function_name(const struct gs_function *function)
{
  return function->name != NULL ? function->name : "this function";
}

/* "attention" says more than "this function", and a library function must say who complains. */
static bool unknown_argument(const struct supply *supply, int i, const char *callee,
                             const char *const *names, int count)
{
  const char *name = supply_name(supply, i);
  gs_session_fail(supply->s, gs_eval_span(supply->s, supply_ast(supply, i)),
                  "%s has no argument \"%s\"", callee, name);
  const char *nearest = gs_nearest(name, names, (size_t)count);
  if (nearest != NULL) {
    gs_hint(&supply->s->diagnostics, "did you mean %s=?", nearest);
  } else if (count > 0) {
    struct gs_text text = gs_session_text(supply->s);
    for (int k = 0; k < count; k++)
      gs_text_printf(&text, "%s%s", k > 0 ? ", " : "", names[k]);
    gs_hint(&supply->s->diagnostics, "its arguments are %s", gs_text_string(&text));
  }
  return false;
}

static int function_parameter(const struct gs_ast *ast, const char *name)
{
  for (int i = 0; i < ast->nparameters; i++)
    if (strcmp(ast->parameters[i].name, name) == 0)
      return i;
  return -1;
}

static bool unknown_function_argument(const struct supply *supply, int i,
                                      const struct gs_function *function)
{
  const char *names[GS_MAX_PARAMETERS * 4];
  int count = 0;
  for (; count < function->ast->nparameters && count < GS_MAX_PARAMETERS * 4; count++)
    names[count] = function->ast->parameters[count].name;
  return unknown_argument(supply, i, function_name(function), names, count);
}

/* Bind the arguments in SCOPE, which the body will run in. */
static bool bind_arguments(const struct supply *supply, const struct gs_function *function,
                           struct gs_scope *scope)
{
  struct gs_session *s = supply->s;
  const struct gs_ast *ast = function->ast;
  for (int i = 0; i < supply->count; i++) {
    const char *name = supply_name(supply, i);
    int parameter = name != NULL ? function_parameter(ast, name) : i;
    struct gs_value value;
    if (parameter < 0)
      return unknown_function_argument(supply, i, function);
    if (parameter >= ast->nparameters)
      return gs_session_fail(s, supply_span(supply, i), "%s takes %d argument%s, not %d",
                             function_name(function), ast->nparameters,
                             ast->nparameters == 1 ? "" : "s", supply->count);
    const char *bound = ast->parameters[parameter].name;
    if (gs_scope_find_here(scope, bound) != NULL)
      return gs_session_fail(s, supply_span(supply, i), "%s gets its argument \"%s\" twice",
                             function_name(function), bound);
    if (!supply_value(supply, i, &value))
      return false;
    if (!gs_scope_set(s->values, scope, bound, value))
      return gs_session_out_of_memory(s, supply->at);
  }
  for (int i = 0; i < ast->nparameters; i++) {
    const struct gs_ast_parameter *parameter = &ast->parameters[i];
    struct gs_value value;
    if (gs_scope_find_here(scope, parameter->name) != NULL)
      continue;
    if (parameter->value == NULL)
      return gs_session_fail(s, supply->at, "%s needs its argument \"%s\"",
                             function_name(function), parameter->name);
    if (!gs_eval(s, scope, parameter->value, &value))
      return false;
    if (!gs_scope_set(s->values, scope, parameter->name, value))
      return gs_session_out_of_memory(s, supply->at);
  }
  return true;
}

/* Run the body; errors inside are pointed at in the callee, with a note where it was called. */
static bool run_body(struct gs_session *s, struct gs_span at, const struct gs_function *function,
                     struct gs_scope *scope, struct gs_value *out)
{
  struct gs_span call_site = s->call_site;
  const char *path = s->path;
  if (s->calls >= s->settings.depth) {
    gs_session_fail(s, at, "%s: more than %lld calls inside each other", function_name(function),
                    (long long)s->settings.depth);
    gs_hint(&s->diagnostics, "does the recursion end? if so, allow more: :set depth %lld",
            (long long)s->settings.depth * 2);
    return false;
  }
  if (!function->library)
    s->call_site = (struct gs_span){ 0 };
  else if (s->call_site.source == NULL)
    s->call_site = at;
  s->path = function->path;
  s->calls++;
  bool ok = gs_eval(s, scope, function->ast->items[0], out);
  s->calls--;
  s->path = path;
  s->call_site = call_site;
  if (!ok && s->flow == GS_FLOW_RETURN) {
    s->flow = GS_FLOW_NORMAL;
    *out = s->returned;
    return true;
  }
  if (!ok && !s->interrupted && function->library && call_site.source == NULL)
    gs_note(&s->diagnostics, (struct gs_span){ 0 }, "inside %s", function_name(function));
  bool seen = s->notes > 0 && s->noted.source == at.source && s->noted.begin == at.begin;
  if (!ok && !s->interrupted && !function->library && !seen && s->notes < MAX_CALL_NOTES) {
    s->notes++;
    s->noted = at;
    gs_note(&s->diagnostics, at, "in this call of %s", function_name(function));
  }
  return ok;
}

static bool call_function(const struct supply *supply, const struct gs_function *function,
                          struct gs_value *out)
{
  struct gs_session *s = supply->s;
  struct gs_scope *scope = take_scope(s, function->scope);
  if (scope == NULL)
    return gs_session_out_of_memory(s, supply->at);
  const char *calling = s->graph.calling;
  s->graph.calling = NULL;             /* the body's operators speak for themselves */
  bool ok = bind_arguments(supply, function, scope) &&
            run_body(s, supply->at, function, scope, out);
  s->graph.calling = calling;
  give_scope(s, scope);
  return ok;
}

static int builtin_parameter(const struct gs_call *call, const char *name)
{
  size_t length = strlen(name);
  for (int i = 0; i < call->nparameters; i++) {
    const struct gs_parameter *parameter = &call->parameters[i];
    if (!parameter->rest && !parameter->extra && (size_t)parameter->length == length &&
        memcmp(parameter->name, name, length) == 0)
      return i;
  }
  return -1;
}

static bool unknown_builtin_argument(const struct supply *supply, int i, const struct gs_call *call)
{
  const char *names[GS_MAX_PARAMETERS];
  int count = 0;
  for (int k = 0; k < call->nparameters; k++)
    if (!call->parameters[k].rest && !call->parameters[k].extra)
      names[count++] = gs_arena_string(supply->s->values, call->parameters[k].name,
                                       (size_t)call->parameters[k].length);
  return unknown_argument(supply, i, call->builtin->name, names, count);
}

static bool too_many_arguments(const struct supply *supply, int i, const struct gs_call *call)
{
  gs_session_fail(supply->s, supply_span(supply, i), "%s takes no more than %d argument%s",
                  call->builtin->name, i, i == 1 ? "" : "s");
  gs_hint(&supply->s->diagnostics, "%s", call->builtin->usage);
  return false;
}

static bool fill_argument(const struct supply *supply, int i, bool quoted,
                          struct gs_argument *argument)
{
  *argument = (struct gs_argument){ .span = supply_span(supply, i),
                                    .ast = supply_expression(supply, i) };
  if (!quoted || argument->ast == NULL)
    return supply_value(supply, i, &argument->value);
  argument->value = (struct gs_value){ .kind = GS_VALUE_QUOTED, .ast = argument->ast };
  return true;
}

/* The parameter that positional argument number POSITION goes to, or -1. */
static int positional_parameter(const struct gs_call *call, int position)
{
  for (int i = 0; i < call->nparameters && !call->parameters[i].named_only; i++)
    if (call->parameters[i].rest || i == position)
      return call->parameters[i].extra ? -1 : i;
  return -1;
}

static bool bind_builtin_argument(const struct supply *supply, int i, int position,
                                  struct gs_call *call)
{
  const char *name = supply_name(supply, i);
  int k = name != NULL ? builtin_parameter(call, name) : positional_parameter(call, position);
  if (k < 0 && name != NULL) {
    if (call->nparameters == 0 || !call->parameters[call->nparameters - 1].extra)
      return unknown_builtin_argument(supply, i, call);
    call->extra_names[call->nextra] = name;
    return fill_argument(supply, i, false, &call->extra[call->nextra++]);
  }
  if (k < 0)
    return too_many_arguments(supply, i, call);
  const struct gs_parameter *parameter = &call->parameters[k];
  if (parameter->rest)
    return fill_argument(supply, i, parameter->quoted, &call->rest[call->nrest++]);
  if (call->args[k].value.kind != GS_VALUE_ABSENT)
    return gs_session_fail(supply->s, supply_span(supply, i), "%s gets its argument \"%.*s\" twice",
                           call->builtin->name, parameter->length, parameter->name);
  return fill_argument(supply, i, parameter->quoted, &call->args[k]);
}

static bool bind_builtin(const struct supply *supply, struct gs_call *call)
{
  struct gs_session *s = supply->s;
  call->nparameters = gs_builtin_parameters(call->builtin->parameters, call->parameters);
  size_t room = (size_t)supply->count + 1;
  call->rest = GS_NEW_ARRAY(s->values, struct gs_argument, room);
  call->extra = GS_NEW_ARRAY(s->values, struct gs_argument, room);
  call->extra_names = GS_NEW_ARRAY(s->values, const char *, room);
  if (call->rest == NULL || call->extra == NULL || call->extra_names == NULL)
    return gs_session_out_of_memory(s, supply->at);
  for (int i = 0, position = 0; i < supply->count; i++) {
    if (!bind_builtin_argument(supply, i, position, call))
      return false;
    position += supply_name(supply, i) == NULL;
  }
  for (int i = 0; i < call->nparameters; i++) {
    const struct gs_parameter *parameter = &call->parameters[i];
    if (parameter->optional || parameter->rest || parameter->extra ||
        call->args[i].value.kind != GS_VALUE_ABSENT)
      continue;
    gs_session_fail(s, supply->at, "%s needs its argument \"%.*s\"", call->builtin->name,
                    parameter->length, parameter->name);
    gs_hint(&s->diagnostics, "%s", call->builtin->usage);
    return false;
  }
  return true;
}

static bool call_builtin(const struct supply *supply, const struct gs_builtin *builtin,
                         bool statement, struct gs_value *out)
{
  struct gs_call call = { .session = supply->s, .scope = supply->scope, .builtin = builtin,
                          .span = supply->at, .statement = statement };
  *out = gs_value_none();
  const char *calling = supply->s->graph.calling;
  bool ok = bind_builtin(supply, &call);
  supply->s->graph.calling = builtin->name;
  ok = ok && builtin->function(&call, out);
  supply->s->graph.calling = calling;
  if (!ok) {
    if (supply->s->flow == GS_FLOW_NORMAL)
      supply->s->flow = GS_FLOW_STOP;
    return false;
  }
  return true;
}

static bool call_value(const struct supply *supply, struct gs_value function, bool statement,
                       struct gs_value *out)
{
  if (function.kind == GS_VALUE_FUNCTION)
    return call_function(supply, function.function, out);
  if (function.kind == GS_VALUE_BUILTIN)
    return call_builtin(supply, function.builtin, statement, out);
  return gs_session_fail(supply->s, supply->at, "%s cannot be called",
                         gs_value_describe(supply->s->values, function));
}

static bool find_callee(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                        struct gs_value *function)
{
  if (ast->kind != GS_AST_NAME)
    return gs_eval(s, scope, ast, function);
  if (gs_eval_name(s, scope, ast->text, true, function))
    return true;
  gs_session_fail(s, gs_eval_span(s, ast), "unknown function \"%s\"", ast->text);
  const char *nearest = gs_nearest_name(s, scope, ast->text);
  if (nearest != NULL)
    gs_hint(&s->diagnostics, "did you mean \"%s\"?", nearest);
  return false;
}

bool gs_eval_call(struct gs_session *s, struct gs_scope *scope, const struct gs_ast *ast,
                  const struct gs_ast *piped, bool statement, struct gs_value *out)
{
  struct gs_value function;
  if (!find_callee(s, scope, ast->items[0], &function))
    return false;
  struct supply supply = {
    .s = s, .scope = scope, .ast = ast, .piped = piped, .at = gs_eval_span(s, ast),
    .count = ast->nitems - 1 + (piped != NULL),
  };
  return call_value(&supply, function, statement, out);
}

bool gs_eval_builtin(struct gs_session *s, const struct gs_ast *ast,
                     const struct gs_builtin *builtin, struct gs_value *out)
{
  struct supply supply = { .s = s, .scope = s->running, .ast = ast, .at = ast->span,
                           .count = ast->nitems - 1 };
  return call_builtin(&supply, builtin, true, out);
}

bool gs_call(struct gs_session *s, struct gs_span at, struct gs_value function,
             const struct gs_value *args, int nargs, struct gs_value *out)
{
  struct supply supply = { .s = s, .scope = s->globals, .values = args, .count = nargs, .at = at };
  return call_value(&supply, function, false, out);
}
