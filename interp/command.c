/* interp/command.c - the table of commands. */
#include <config.h>

#include "interp/command.h"

#include <stdlib.h>
#include <string.h>

#include "interp/annotation.h"
#include "interp/ask.h"
#include "interp/eval.h"
#include "interp/regex.h"
#include "interp/report.h"

static const char *words_of(const struct gs_ast *ast)
{
  return ast->words != NULL ? ast->words : "";
}

/* The function of the same name, over the words. */
static bool command_function(struct gs_session *s, const struct gs_ast *ast)
{
  const struct gs_command *command = gs_command_find(ast->text);
  const struct gs_ast *call = gs_command_call(s, ast);
  struct gs_value ignored;
  return call != NULL && gs_eval_builtin(s, call, gs_builtin_find(command->name), &ignored);
}

static bool wants(struct gs_session *s, const struct gs_ast *ast, const char *what)
{
  return gs_session_fail(s, ast->span, ":%s %s", gs_command_find(ast->text)->name, what);
}

/* A file name, bare or quoted, at the end of the words. */
static const char *file_name(struct gs_session *s, const char *text)
{
  size_t length = strlen(text);
  if (length >= 2 && text[0] == '"' && text[length - 1] == '"')
    return gs_arena_string(s->values, text + 1, length - 2);
  return text;
}

static bool command_source(struct gs_session *s, const struct gs_ast *ast)
{
  const char *path = file_name(s, words_of(ast));
  if (path == NULL || path[0] == '\0')
    return wants(s, ast, "needs a file's name");
  return gs_session_read_file(s, ast->words_span, gs_session_resolve(s, path));
}

static bool command_quit(struct gs_session *s, const struct gs_ast *ast)
{
  (void)ast;
  s->quitting = true;
  s->flow = GS_FLOW_STOP;
  return false;
}

static bool command_reset(struct gs_session *s, const struct gs_ast *ast)
{
  (void)ast;
  s->reset_wanted = true;
  return true;
}

static bool command_mesh(struct gs_session *s, const struct gs_ast *ast)
{
  const char *words = words_of(ast);
  if (words[0] != '\0') {
    const struct gs_mesh *mesh = gs_mesh_from_text(s, ast->words_span, words);
    if (mesh == NULL)
      return false;
    gs_mesh_use(s, mesh);
  }
  if (s->mesh == NULL) {
    gs_session_print(s, "no mesh yet; mesh(data=2, model=4) makes one\n");
    return true;
  }
  return gs_report_value(s, ast, (struct gs_value){ .kind = GS_VALUE_MESH, .mesh = s->mesh });
}

static void list_backends(struct gs_session *s)
{
  const struct gs_backend *backend;
  const char *path, *reason;
  for (int i = 0; (backend = gs_backend_at(s->backends, i)) != NULL; i++) {
    gs_session_print(s, "%s %-10s %s\n", backend == s->backend ? "*" : " ", backend->name, backend->description);
    for (int k = 0; backend->settings != NULL && backend->settings[k].name != NULL; k++)
      gs_session_print(s, "               %s=  %s\n", backend->settings[k].name, backend->settings[k].help);
  }
  for (int i = 0; gs_backend_refused(s->backends, i, &path, &reason); i++)
    gs_session_print(s, "  not %s: %s\n", path, reason);
}

/* Whether every word of WORDS sets something that BACKEND has; reports. */
static bool check_settings(struct gs_session *s, struct gs_span at, const struct gs_backend *backend, const char *words)
{
  while (*words != '\0') {
    size_t word = strcspn(words, " "), name = strcspn(words, "= ");
    int k = 0;
    if (words[name] != '=' || name == 0)
      return gs_session_fail(s, at, "backend: \"%.*s\" is not NAME=VALUE", (int)word, words);
    while (backend->settings != NULL && backend->settings[k].name != NULL
           && (strlen(backend->settings[k].name) != name || strncmp(backend->settings[k].name, words, name) != 0))
      k++;
    if (backend->settings == NULL || backend->settings[k].name == NULL)
      return gs_session_fail(s, at, "backend %s has no setting \"%.*s\"", backend->name, (int)name, words);
    words += word + strspn(words + word, " ");
  }
  return true;
}

/* :backend [NAME [SETTING=VALUE]...] */
static bool command_backend(struct gs_session *s, const struct gs_ast *ast)
{
  const char *words = words_of(ast);
  size_t length = strcspn(words, " ");
  if (length == 0) {
    list_backends(s);
    return true;
  }
  const char *name = gs_arena_string(s->values, words, length);
  if (name == NULL)
    return gs_session_out_of_memory(s, ast->span);
  const struct gs_backend *backend = gs_backend_find(s->backends, name);
  const char *given = words + length + strspn(words + length, " ");
  if (backend == NULL)
    return gs_session_fail(s, ast->words_span, "unknown backend \"%s\"; :backend lists them", name);
  if (!check_settings(s, ast->words_span, backend, given))
    return false;
  char *settings = malloc(strlen(given) + 1);
  if (settings == NULL)
    return gs_session_out_of_memory(s, ast->span);
  gs_plans_release(s);
  free(s->backend_settings);
  s->backend_settings = strcpy(settings, given);
  s->backend = backend;
  return true;
}

/* :save x FILE */
static bool command_save(struct gs_session *s, const struct gs_ast *ast)
{
  const char *words = words_of(ast), *blank = strrchr(words, ' ');
  if (blank == NULL)
    return wants(s, ast, "needs a name and a file: :save y y.npy");
  size_t length = (size_t)(blank - words);
  while (length > 0 && words[length - 1] == ' ')
    length--;
  char *name = gs_arena_string(s->values, words, length);
  const char *path = file_name(s, blank + 1);
  if (name == NULL || path == NULL)
    return gs_session_out_of_memory(s, ast->span);
  const struct gs_binding *binding = gs_scope_find(s->running, name);
  if (binding == NULL || binding->value.kind != GS_VALUE_TENSOR)
    return gs_session_fail(s, ast->words_span, "\"%s\" is no tensor", name);
  struct gs_node *node = binding->value.node;
  const char *shown = name;
  struct gs_outputs outputs = { &node, &shown, 1, ast->span };
  return gs_ask_save(s, &outputs, &path);
}

static void print_variable(struct gs_text *text, const char *name, struct gs_value value)
{
  if (value.kind != GS_VALUE_TENSOR) {
    gs_text_printf(text, "%s = ", name);
    gs_value_print(text, value, true);
  } else {
    gs_text_printf(text, "%s : ", name);
    gs_type_print(text, &value.node->type);
    if (value.node->op == GS_OP_SHARD) {
      gs_text_add(text, "  shard ");
      gs_sharding_print_source(text, value.node->attrs->shard.annotation);
    } else if (value.node->op == GS_OP_INPUT || value.node->op == GS_OP_PARAM ||
               value.node->op == GS_OP_CONSTANT) {
      gs_text_printf(text, "  %s", gs_op_info(value.node->op)->name);
    }
  }
  gs_text_add(text, "\n");
}

static bool command_vars(struct gs_session *s, const struct gs_ast *ast)
{
  const char *pattern = words_of(ast);
  struct gs_regex *regex = NULL;
  if (pattern[0] != '\0' && (regex = gs_regex_new(s, ast->words_span, pattern, false)) == NULL)
    return false;
  size_t count;
  const char **names = gs_scope_names(s->values, s->globals, &count);
  struct gs_text text = gs_report_begin(s);
  for (size_t i = 0; names != NULL && i < count; i++)
    if (regex == NULL || gs_regex_matches(regex, names[i], strlen(names[i])))
      print_variable(&text, names[i], gs_scope_find(s->globals, names[i])->value);
  gs_regex_free(regex);
  return gs_report_finish(s, &text);
}

#define FUNCTION(name, arguments, help) \
  { name, arguments, command_function, GS_OPERANDS_VARIABLES, help }

static const struct gs_command commands[] = {
  { "backend", "[NAME [SETTING=VALUE]...]", command_backend, GS_OPERANDS_BACKENDS,
    "show the backends, or choose what runs programs, and how" },
  FUNCTION("check", "Y...", "compare partitioned with unpartitioned values"),
  FUNCTION("cost", "Y...", "an estimate of time, memory and communication"),
  FUNCTION("diff", "", "the last two plans shown, side by side"),
  FUNCTION("explain", "Y...", "why every dim has its sharding and every collective is there"),
  FUNCTION("graph", "Y... [format=dot]", "the logical graph with the completed shardings"),
  { "help", "[NAME or REGEX]", gs_command_help, GS_OPERANDS_TOPICS,
    "what there is, or about one function, operator, command or setting" },
  { "mesh", "[AXIS=SIZE...]", command_mesh, GS_OPERANDS_AXES, "show the mesh, or make another" },
  { "ops", "[REGEX]", gs_command_ops, GS_OPERANDS_TOPICS, "list functions and operators" },
  FUNCTION("plan", "Y... [device=N] [format=json]", "the program every device runs"),
  FUNCTION("print", "X...", "print values"),
  { "quit", "", command_quit, GS_OPERANDS_NONE, "end the session" },
  { "reset", "", command_reset, GS_OPERANDS_NONE, "forget variables, graph and mesh" },
  FUNCTION("run", "Y...", "execute and print the values"),
  { "save", "Y FILE", command_save, GS_OPERANDS_VARIABLES, "execute and write as .npy" },
  { "set", "[NAME [VALUE]]", gs_command_set, GS_OPERANDS_SETTINGS, "show or change settings" },
  { "shard", "X [AXIS, -1, ...]", gs_command_shard, GS_OPERANDS_VARIABLES,
    "change the annotation of X in place, also for what was made from X" },
  FUNCTION("show", "X", "which device holds which block"),
  { "source", "FILE", command_source, GS_OPERANDS_FILE, "run a file in this session" },
  FUNCTION("time", "Y... [runs=N]", "execute many times and measure"),
  FUNCTION("trace", "Y...", "completion of the shardings step by step"),
  { "undo", "", gs_command_undo, GS_OPERANDS_NONE, "take back the last :shard or :unshard" },
  { "unshard", "X", gs_command_unshard, GS_OPERANDS_VARIABLES, "take the annotation of X away" },
  { "vars", "[REGEX]", command_vars, GS_OPERANDS_VARIABLES, "list variables" },
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

const struct gs_command *gs_command_at(int index)
{
  return index >= 0 && index < COMMANDS ? &commands[index] : NULL;
}

/* How many commands begin with NAME; FOUND is one that is it, or the first that does. */
static int candidates(const char *name, const struct gs_command **found)
{
  int count = 0;
  size_t length = strlen(name);
  for (int i = 0; i < COMMANDS; i++) {
    if (strncmp(commands[i].name, name, length) != 0)
      continue;
    if (commands[i].name[length] == '\0') {
      *found = &commands[i];
      return 1;
    }
    if (count++ == 0)
      *found = &commands[i];
  }
  return count;
}

const struct gs_command *gs_command_find(const char *name)
{
  const struct gs_command *found = NULL;
  return candidates(name, &found) == 1 ? found : NULL;
}

static bool unknown_command(struct gs_session *s, const struct gs_ast *ast)
{
  const char *names[COMMANDS];
  for (int i = 0; i < COMMANDS; i++)
    names[i] = commands[i].name;
  gs_session_fail(s, ast->span, "unknown command :%s", ast->text);
  const char *nearest = gs_nearest(ast->text, names, COMMANDS);
  if (nearest != NULL)
    gs_hint(&s->diagnostics, "did you mean :%s?", nearest);
  else
    gs_hint(&s->diagnostics, ":help lists what there is");
  return false;
}

bool gs_command_run(struct gs_session *s, const struct gs_ast *ast)
{
  const struct gs_command *command = NULL;
  int count = candidates(ast->text, &command);
  if (count == 0)
    return unknown_command(s, ast);
  if (count == 1)
    return command->function(s, ast);
  struct gs_text text = gs_session_text(s);
  for (int i = 0; i < COMMANDS; i++)
    if (strncmp(commands[i].name, ast->text, strlen(ast->text)) == 0)
      gs_text_printf(&text, "%s:%s", text.length > 0 ? ", " : "", commands[i].name);
  return gs_session_fail(s, ast->span, ":%s may be %s", ast->text, gs_text_string(&text));
}

bool gs_command_friendly(struct gs_session *s, const char *word)
{
  bool help = strcmp(word, "help") == 0 || strcmp(word, "?") == 0;
  if (help)
    return gs_help_topic(s, (struct gs_span){ 0 }, "");
  if (strcmp(word, "quit") != 0 && strcmp(word, "exit") != 0)
    return false;
  s->quitting = true;
  return true;
}
