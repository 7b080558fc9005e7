/* interp/help.c - :help and :ops, out of the tables of functions, commands, settings and infix
 * operators, and the comments above the library's functions. */
#include <config.h>

#include "interp/help.h"

#include <string.h>

#include "interp/builtin.h"
#include "interp/command.h"
#include "interp/prelude.h"
#include "interp/regex.h"
#include "interp/report.h"
#include "interp/settings.h"

/* What is written without a name: operators and forms of the language. */
static const struct gs_help_row forms[] = {
  { "+ - * /", "a + b", "elementwise with NumPy's broadcasting; a number takes the tensor's type" },
  { "%", "a % b", "the remainder with the sign of a; mod(a, b) has that of b" },
  { "**", "a ** b", "power" },
  { "@", "a @ b", "matrix product, NumPy's matmul" },
  { "compare", "a == b, !=, <, <=, >, >=", "elementwise, giving pred" },
  { "logic", "p and q, p or q, not p", "of bools; of tensors of pred, elementwise" },
  { "|>", "x |> f(y)", "f(x, y)" },
  { "index", "x[i, a:b, a:b:s, :, ..., newaxis]",
    "parts of a tensor; indices are known integers, negative ones count from the end" },
  { "fn", "fn f(x, k=2) = x * k   fn(x) { ... }",
    "a function; a block's value is its last expression" },
  { "if", "if a { ... } else { ... }", "decides while the program is read; it has a value" },
  { "for", "for x in xs { ... }", "goes over a list while the program is read" },
  { "while", "while a { ... }", "repeats while the program is read" },
  { "import", "import \"file.gsl\"", "runs a file once, found beside the importing one" },
  { "types", "f64 f32 bf16 f16 s64 s32 s16 s8 u64 u32 u16 u8 pred c64 c128",
    "element types; f32[8,16] is a tensor's type, f32[] a scalar's" },
  { "annotation", "[data, [x, y], -1, ?]   replicated",
    "for each dim the mesh axes that cut it, -1 for uncut, ? for whatever completion decides" },
  { NULL, NULL, NULL },
};

const struct gs_help_row *gs_help_forms(void)
{
  return forms;
}

/* The function at LINE of a library file, "fn name(...", with the comment above it:
 * "# usage: help". */
static bool library_row(struct gs_arena *arena, const char *text, const char *line,
                        struct gs_help_row *row)
{
  if (strncmp(line, "fn ", 3) != 0 || line - text < 2)
    return false;
  const char *name = line + strlen("fn ");
  size_t length = strcspn(name, "(");
  const char *begin = line;
  do
    begin--;
  while (begin > text && begin[-1] != '\n');
  if (begin[0] != '#' || begin[1] != ' ')
    return false;
  const char *end = line - 1;
  const char *colon = begin;
  while (colon + 1 < end && !(colon[0] == ':' && colon[1] == ' '))
    colon++;
  if (colon + 1 >= end)
    return false;
  row->name = gs_arena_string(arena, name, length);
  row->usage = gs_arena_string(arena, begin + 2, (size_t)(colon - begin - 2));
  row->help = gs_arena_string(arena, colon + 2, (size_t)(end - colon - 2));
  return row->name != NULL && row->usage != NULL && row->help != NULL;
}

bool gs_help_library(struct gs_arena *arena, int index, struct gs_help_row *row)
{
  for (const struct gs_prelude_file *file = gs_prelude_files; file->name != NULL; file++)
    for (const char *line = file->text; line != NULL;) {
      if (library_row(arena, file->text, line, row) && index-- == 0)
        return true;
      line = strchr(line, '\n');
      line = line != NULL ? line + 1 : NULL;
    }
  return false;
}

/* A place to print rows that match REGEX (NULL: all), counting them. */
struct listing {
  struct gs_session *s;
  struct gs_text text;
  const struct gs_regex *regex;
  const char *heading;                 /* printed before the first row */
  int count;
};

static bool row_matches(const struct listing *listing, const char *name, const char *usage,
                        const char *help)
{
  const struct gs_regex *regex = listing->regex;
  return regex == NULL || gs_regex_matches(regex, name, strlen(name)) ||
         gs_regex_matches(regex, usage, strlen(usage)) ||
         gs_regex_matches(regex, help, strlen(help));
}

static void list_row(struct listing *listing, const char *name, const char *usage, const char *help)
{
  enum { COLUMN = 36 };
  if (!row_matches(listing, name, usage, help))
    return;
  if (listing->heading != NULL)
    gs_text_printf(&listing->text, "%s%s\n", listing->count > 0 ? "\n" : "", listing->heading);
  listing->heading = NULL;
  listing->count++;
  if (strlen(usage) > COLUMN)
    gs_text_printf(&listing->text, "  %s\n  %*s  %s\n", usage, COLUMN, "", help);
  else
    gs_text_printf(&listing->text, "  %-*s  %s\n", COLUMN, usage, help);
}

static void list_functions(struct listing *listing)
{
  for (int topic = 0; topic < GS_TOPIC_COUNT; topic++) {
    listing->heading = gs_topic_name((enum gs_topic)topic);
    const struct gs_builtin *row;
    for (int i = 0; (row = gs_builtin_at(i)) != NULL; i++)
      if (row->topic == (enum gs_topic)topic)
        list_row(listing, row->name, row->usage, row->help);
    struct gs_help_row library;
    bool in_language = topic == GS_TOPIC_LIBRARY;
    for (int i = 0; in_language && gs_help_library(listing->text.arena, i, &library); i++)
      list_row(listing, library.name, library.usage, library.help);
  }
}

static void list_forms(struct listing *listing)
{
  listing->heading = "the language";
  for (const struct gs_help_row *row = forms; row->name != NULL; row++)
    list_row(listing, row->name, row->usage, row->help);
}

static void list_commands(struct listing *listing)
{
  const struct gs_command *command;
  listing->heading = "commands";
  for (int i = 0; (command = gs_command_at(i)) != NULL; i++) {
    const char *usage = gs_arena_printf(listing->text.arena, ":%s%s%s", command->name,
                                        command->arguments[0] != '\0' ? " " : "",
                                        command->arguments);
    if (usage != NULL)
      list_row(listing, command->name, usage, command->help);
  }
}

static void list_settings(struct listing *listing)
{
  const struct gs_setting *setting;
  listing->heading = "settings (:set NAME VALUE)";
  for (int i = 0; (setting = gs_setting_at(i)) != NULL; i++)
    list_row(listing, setting->name, setting->name, setting->help);
}

static bool overview(struct gs_session *s)
{
  struct listing listing = { .s = s, .text = gs_report_begin(s) };
  gs_text_add(&listing.text,
              "A program is written once; sharding annotations say how a few tensors are cut.\n"
              "  mesh(data=2, model=4)              a grid of 8 devices\n"
              "  x = input(f32[512, 1024])          a tensor given from outside\n"
              "  x = shard(x, [data, -1])           dim 0 is cut over axis data\n"
              "  y = relu(x @ param(f32[1024, 64]))\n"
              "  :plan y                            what every device does\n"
              "  :run y   :check y                  its values, and whether they are right\n\n");
  list_commands(&listing);
  gs_text_add(&listing.text, "\n:ops lists the functions, :help NAME tells about one, :help REGEX "
                             "searches.\n");
  return gs_report_finish(s, &listing.text);
}

/* Exactly one thing called NAME: its usage and help, and for a function where it belongs. */
static bool explain_one(struct gs_session *s, const char *name)
{
  struct gs_text text = gs_report_begin(s);
  const struct gs_builtin *builtin = gs_builtin_find(name);
  const char *bare = name[0] == ':' ? name + 1 : name;
  const struct gs_command *command = gs_command_find(bare);
  struct gs_help_row row;
  if (builtin != NULL)
    gs_text_printf(&text, "%s\n  %s (%s)\n", builtin->usage, builtin->help,
                   gs_topic_name(builtin->topic));
  for (int i = 0; gs_help_library(text.arena, i, &row); i++)
    if (strcmp(row.name, name) == 0)
      gs_text_printf(&text, "%s\n  %s (library)\n", row.usage, row.help);
  if (command != NULL && strcmp(command->name, bare) == 0)
    gs_text_printf(&text, ":%s %s\n  %s (command)\n", command->name, command->arguments,
                   command->help);
  const struct gs_setting *setting;
  for (int i = 0; (setting = gs_setting_at(i)) != NULL; i++)
    if (strcmp(setting->name, name) == 0)
      gs_text_printf(&text, ":set %s VALUE\n  %s (setting)\n", setting->name, setting->help);
  for (const struct gs_help_row *form = forms; form->name != NULL; form++)
    if (strcmp(form->name, name) == 0)
      gs_text_printf(&text, "%s\n  %s\n", form->usage, form->help);
  bool found = text.length > 0;
  return gs_report_finish(s, &text) && found;
}

static bool search(struct gs_session *s, struct gs_span at, const char *pattern,
                   bool functions_only)
{
  struct gs_regex *regex = NULL;
  if (pattern[0] != '\0' && (regex = gs_regex_new(s, at, pattern, true)) == NULL)
    return false;
  struct listing listing = { .s = s, .text = gs_report_begin(s), .regex = regex };
  list_functions(&listing);
  list_forms(&listing);
  if (!functions_only) {
    list_commands(&listing);
    list_settings(&listing);
  }
  gs_regex_free(regex);
  bool found = listing.count > 0;
  if (!gs_report_finish(s, &listing.text))
    return false;
  if (found)
    return true;
  gs_session_fail(s, at, "nothing is called or described \"%s\"", pattern);
  const char *nearest = gs_nearest_name(s, NULL, pattern);
  if (nearest != NULL)
    gs_hint(&s->diagnostics, "did you mean \"%s\"?", nearest);
  return false;
}

bool gs_help_topic(struct gs_session *s, struct gs_span at, const char *topic)
{
  if (topic[0] == '\0')
    return overview(s);
  return explain_one(s, topic) || search(s, at, topic, false);
}

bool gs_command_help(struct gs_session *s, const struct gs_ast *ast)
{
  return gs_help_topic(s, ast->words_span, ast->words != NULL ? ast->words : "");
}

bool gs_command_ops(struct gs_session *s, const struct gs_ast *ast)
{
  return search(s, ast->words_span, ast->words != NULL ? ast->words : "", true);
}
