/* interp/complete.c - what may stand at the cursor. */
#include <config.h>

#include "gspmd.h"

#include <ctype.h>
#include <string.h>

#include "interp/builtin.h"
#include "interp/command.h"
#include "interp/help.h"
#include "interp/settings.h"

struct finder {
  struct gs_session *s;
  const char *prefix;
  size_t length;
  gs_completion_function *found;
  void *user;
};

static void offer(const struct finder *finder, const char *name)
{
  if (strncmp(name, finder->prefix, finder->length) == 0)
    finder->found(finder->user, name);
}

/* A name with something behind it, "name(" or "name=". */
static void offer_with(const struct finder *finder, const char *name, size_t length,
                       const char *end)
{
  char text[80];
  if (length + strlen(end) < sizeof text) {
    memcpy(text, name, length);
    strcpy(text + length, end);
    offer(finder, text);
  }
}

static void offer_functions(const struct finder *finder)
{
  const struct gs_builtin *row;
  for (int i = 0; (row = gs_builtin_at(i)) != NULL; i++)
    offer_with(finder, row->name, strlen(row->name), "(");
  struct gs_help_row library;
  for (int i = 0; gs_help_library(finder->s->values, i, &library); i++)
    offer_with(finder, library.name, strlen(library.name), "(");
}

static void offer_variables(const struct finder *finder)
{
  size_t count;
  const char **names = gs_scope_names(finder->s->values, finder->s->globals, &count);
  for (size_t i = 0; names != NULL && i < count; i++)
    offer(finder, names[i]);
}

static void offer_axes(const struct finder *finder)
{
  const struct gs_mesh *mesh = finder->s->mesh;
  for (int i = 0; mesh != NULL && i < mesh->naxes; i++)
    if (isalpha((unsigned char)mesh->axes[i].name[0]))
      offer(finder, mesh->axes[i].name);
}

/* Keywords the parser would accept here; its other tokens are not words. */
static void offer_keywords(const struct finder *finder, const char *text, size_t length)
{
  enum { MAX_TOKENS = 64 };
  const char *names[MAX_TOKENS];
  int count = gs_parser_expected(finder->s->values, text, length - finder->length, names,
                                 MAX_TOKENS);
  for (int i = 0; i < count; i++) {
    const char *name = names[i];
    size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    if (letters > 1 && name[letters] == '\0')
      offer(finder, name);
  }
}

/* The keyword arguments of the function whose parentheses hold the cursor. */
static void offer_arguments(const struct finder *finder, const char *text, size_t length)
{
  int depth = 0;
  size_t i = length;
  while (i > 0 && depth <= 0) {
    i--;
    depth += text[i] == '(' || text[i] == '[' ? 1 : text[i] == ')' || text[i] == ']' ? -1 : 0;
  }
  if (depth <= 0 || text[i] != '(')
    return;
  size_t end = i;
  while (i > 0 && (isalnum((unsigned char)text[i - 1]) || text[i - 1] == '_'))
    i--;
  char name[64];
  if (end - i == 0 || end - i >= sizeof name)
    return;
  memcpy(name, text + i, end - i);
  name[end - i] = '\0';
  const struct gs_builtin *builtin = gs_builtin_find(name);
  struct gs_parameter parameters[GS_MAX_PARAMETERS];
  int count = builtin != NULL ? gs_builtin_parameters(builtin->parameters, parameters) : 0;
  for (int k = 0; k < count; k++)
    if (parameters[k].optional && !parameters[k].extra)
      offer_with(finder, parameters[k].name, (size_t)parameters[k].length, "=");
}

static void offer_commands(const struct finder *finder)
{
  const struct gs_command *command;
  for (int i = 0; (command = gs_command_at(i)) != NULL; i++)
    offer(finder, command->name);
}

static void offer_settings(const struct finder *finder)
{
  const struct gs_setting *setting;
  for (int i = 0; (setting = gs_setting_at(i)) != NULL; i++)
    offer(finder, setting->name);
}

static void offer_operands(const struct finder *finder, enum gs_operands operands)
{
  switch (operands) {
  case GS_OPERANDS_VARIABLES:
    offer_variables(finder);
    offer_axes(finder);
    break;
  case GS_OPERANDS_TOPICS:
    offer_commands(finder);
    offer_settings(finder);
    for (int i = 0; gs_builtin_at(i) != NULL; i++)
      offer(finder, gs_builtin_at(i)->name);
    break;
  case GS_OPERANDS_SETTINGS:
    offer_settings(finder);
    break;
  case GS_OPERANDS_BACKENDS:
    for (int i = 0; gs_backend_at(finder->s->backends, i) != NULL; i++)
      offer(finder, gs_backend_at(finder->s->backends, i)->name);
    break;
  case GS_OPERANDS_AXES:
    offer_axes(finder);
    break;
  case GS_OPERANDS_FILE:
  case GS_OPERANDS_NONE:
    break;
  }
}

static void complete_command(const struct finder *finder, const char *words, size_t length)
{
  char name[32];
  size_t letters = 0;
  while (letters < length && isalpha((unsigned char)words[letters]))
    letters++;
  if (letters == length) {
    offer_commands(finder);
    return;
  }
  if (letters >= sizeof name)
    return;
  memcpy(name, words, letters);
  name[letters] = '\0';
  const struct gs_command *command = gs_command_find(name);
  if (command != NULL)
    offer_operands(finder, command->operands);
}

void gs_session_complete(struct gs_session *s, const char *text, size_t length,
                         gs_completion_function *found, void *user)
{
  size_t start = length;
  while (start > 0 && (isalnum((unsigned char)text[start - 1]) || text[start - 1] == '_'))
    start--;
  struct finder finder = { .s = s, .prefix = text + start, .length = length - start,
                           .found = found, .user = user };
  struct gs_arena_mark mark = gs_arena_mark(s->values);
  size_t blank = 0;
  while (blank < length && text[blank] == ' ')
    blank++;
  if (blank < length && text[blank] == ':') {
    complete_command(&finder, text + blank + 1, length - blank - 1);
  } else {
    offer_arguments(&finder, text, start);
    offer_variables(&finder);
    offer_axes(&finder);
    offer_functions(&finder);
    offer_keywords(&finder, text, length);
    for (int dtype = 0; dtype < GS_DTYPE_COUNT; dtype++)
      offer(&finder, gs_dtype_name((enum gs_dtype)dtype));
  }
  gs_arena_rewind(s->values, mark);
}
