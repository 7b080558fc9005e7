/* interp/main_options.c - options of the command, one row each. */
#include <config.h>

#include "interp/main_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/line.h"
#include "interp/settings.h"

enum {
  OPTION_COLOR = 256, OPTION_FORMAT, OPTION_PLAN, OPTION_SAVE, OPTION_CHECK, OPTION_DRY_RUN,
  OPTION_THREADS, OPTION_MEMORY, OPTION_SEED, OPTION_PROFILE, OPTION_INPUT, OPTION_UNEVEN,
  OPTION_NO_INIT, OPTION_POISON, OPTION_VERBOSE, OPTION_HELP, OPTION_VERSION
};

static const struct row {
  const char *name, *argument;         /* argument: NULL for none */
  int code;
  const char *help;
} rows[] = {
  { "eval", "TEXT", 'e', "run TEXT (may be repeated; before the script)" },
  { "interactive", NULL, 'i', "go to the prompt afterwards" },
  { "backend", "NAME", 'b', "what executes: cpu (default), reference or a plug-in" },
  { "mesh", "SPEC", 'm', "2,4 or data=2,model=4: overrides the script's mesh()" },
  { "input", "NAME=FILE", OPTION_INPUT, "the .npy file with the value of an input or parameter" },
  { "seed", "N", OPTION_SEED, "added to the seed of every random fill" },
  { "profile", "NAME", OPTION_PROFILE, "the devices' speed, for estimates" },
  { "format", "text|json", OPTION_FORMAT, "reports for people, or one JSON object a line" },
  { "plan", "NAME,...", OPTION_PLAN, "after the script, print the plan of NAME" },
  { "save", "NAME=FILE", OPTION_SAVE, "after the script, run and save as .npy" },
  { "check", "NAME,...", OPTION_CHECK, "after the script, compare with the unpartitioned values" },
  { "dry-run", NULL, OPTION_DRY_RUN, "plan only, never execute" },
  { "allow-uneven", NULL, OPTION_UNEVEN, "completion may bring in padding" },
  { "poison-padding", NULL, OPTION_POISON, "fill padding with NaN" },
  { "threads", "N", OPTION_THREADS, "threads that execute (default: one per core)" },
  { "memory-limit", "SIZE", OPTION_MEMORY, "memory the session may use, as 512M or 2G" },
  { "color", "WHEN", OPTION_COLOR, "auto, always or never" },
  { "quiet", NULL, 'q', "no warnings, no greeting" },
  { "verbose", NULL, OPTION_VERBOSE, "say more" },
  { "no-init", NULL, OPTION_NO_INIT, "do not read the init file at the prompt" },
  { "help", NULL, OPTION_HELP, "print this and end" },
  { "version", NULL, OPTION_VERSION, "print the version and end" },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

void gs_main_print_help(void)
{
  puts("Usage: gspmd [OPTION]... [SCRIPT [ARGUMENT]...]\n"
       "Partition a tensor program over a mesh of devices, show what each device does, and run "
       "it.\n"
       "Without a script, -e or input from a pipe: a prompt.\n");
  for (int i = 0; i < ROWS; i++) {
    char left[64];
    char letter[5] = "    ";
    if (rows[i].code < 256)
      snprintf(letter, sizeof letter, "-%c, ", (char)rows[i].code);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, rows[i].name,
             rows[i].argument != NULL ? "=" : "", rows[i].argument != NULL ? rows[i].argument : "");
    printf("  %-26s %s\n", left, rows[i].help);
  }
  puts("\nExit status: 0 success, 1 an error in the program, 2 bad usage, 3 a check or assert "
       "failed.\n"
       "Environment: NO_COLOR, GSPMD_HISTORY, XDG_CONFIG_HOME (gspmd/init.gsl), XDG_STATE_HOME,\n"
       "GSPMD_PLUGIN_PATH (folders with backends).");
}

void gs_main_print_version(void)
{
  printf("gspmd %s\nbackends:", gs_version());
  for (int i = 0; gs_backend_name(i) != NULL; i++)
    printf(" %s", gs_backend_name(i));
  printf("\nline editing: %s%s\n", gs_line_version() != NULL ? "Readline " : "none",
         gs_line_version() != NULL ? gs_line_version() : "");
}

static bool usage(const char *format, const char *option, const char *value)
{
  fputs("gspmd: ", stderr);
  fprintf(stderr, format, option, value);
  fputs("\nTry 'gspmd --help'.\n", stderr);
  return false;
}

static bool add(struct gs_main_names *list, const char *name, const char *file)
{
  size_t room = (size_t)list->count + 1;
  const char **names = realloc(list->names, room * sizeof(const char *));
  if (names != NULL)
    list->names = names;
  const char **files = realloc(list->files, room * sizeof(const char *));
  if (files != NULL)
    list->files = files;
  if (names == NULL || files == NULL)
    return usage("out of memory%s%s", "", "");
  names[list->count] = name;
  files[list->count++] = file;
  return true;
}

/* "a,b" as two names; TEXT is cut up. */
static bool add_names(struct gs_main_names *list, char *text, const char *option)
{
  char *rest = text;
  for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ","))
    if (name[0] != '\0' && !add(list, name, NULL))
      return false;
  return list->count > 0 || usage("--%s needs a name, not '%s'", option, text);
}

/* "NAME=FILE"; TEXT is cut in two. */
static bool add_pair(struct gs_main_names *list, char *text, const char *option)
{
  char *equals = strchr(text, '=');
  if (equals == NULL || equals == text || equals[1] == '\0')
    return usage("--%s needs NAME=FILE, not '%s'", option, text);
  *equals = '\0';
  return add(list, text, equals + 1);
}

static bool number(const char *text, const char *option, int64_t least, int64_t most,
                   int64_t *result)
{
  char *end;
  errno = 0;
  *result = strtoll(text, &end, 10);
  return (end != text && *end == '\0' && errno == 0 && *result >= least && *result <= most) ||
         usage("--%s cannot be '%s'", option, text);
}

static bool choice(const char *text, const char *option, const char *const *names, int *result)
{
  for (int i = 0; names[i] != NULL; i++)
    if (strcmp(names[i], text) == 0) {
      *result = i;
      return true;
    }
  return usage("--%s cannot be '%s'", option, text);
}

/* Options that take a number, a size or one of some words. */
static bool valued_option(struct gs_main_options *options, int code, const char *name,
                          const char *text)
{
  static const char *const formats[] = { "text", "json", NULL };
  static const char *const colours[] = { "auto", "always", "never", NULL };
  int64_t value = 0;
  int chosen = 0;
  switch (code) {
  case OPTION_THREADS:
    if (!number(text, name, 0, 4096, &value))
      return false;
    options->session.threads = (int)value;
    return true;
  case OPTION_SEED:
    return number(text, name, INT64_MIN, INT64_MAX, &options->session.seed);
  case OPTION_MEMORY:
    if (!gs_size_parse(text, &value) || value == 0)
      return usage("--%s needs a size such as 512M or 2G, not '%s'", name, text);
    options->session.memory_limit = (size_t)value;
    return true;
  case OPTION_FORMAT:
    if (!choice(text, name, formats, &chosen))
      return false;
    options->session.json = chosen == 1;
    return true;
  default:
    if (!choice(text, name, colours, &chosen))
      return false;
    options->colour = (enum gs_colour)chosen;
    return true;
  }
}

static bool apply(struct gs_main_options *options, int code, const char *name, char *text)
{
  struct gs_session_options *session = &options->session;
  switch (code) {
  case 'e':
    return add(&options->eval, text, NULL);
  case OPTION_INPUT:
    return add_pair(&options->inputs, text, name);
  case OPTION_SAVE:
    return add_pair(&options->saves, text, name);
  case OPTION_PLAN:
    return add_names(&options->plans, text, name);
  case OPTION_CHECK:
    return add_names(&options->checks, text, name);
  case 'b':
    session->backend = text;
    return true;
  case 'm':
    session->mesh = text;
    return true;
  case OPTION_PROFILE:
    session->profile = text;
    return true;
  default: {
    const struct { int code; bool *flag; } flags[] = {
      { 'i', &options->interactive },          { OPTION_DRY_RUN, &session->dry_run },
      { OPTION_UNEVEN, &options->allow_uneven }, { OPTION_POISON, &session->poison_padding },
      { 'q', &session->quiet },                { OPTION_VERBOSE, &session->verbose },
      { OPTION_NO_INIT, &options->no_init },   { OPTION_HELP, &options->help },
      { OPTION_VERSION, &options->version },
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
      if (flags[i].code == code) {
        *flags[i].flag = true;
        return true;
      }
    return valued_option(options, code, name, text);
  }
  }
}

/* getopt's own tables from ours. */
static void getopt_tables(struct option longs[ROWS + 1], char shorts[2 * ROWS + 2])
{
  size_t n = 0;
  shorts[n++] = '+';                   /* what follows the script is the script's */
  for (int i = 0; i < ROWS; i++) {
    longs[i] = (struct option){ rows[i].name,
                                rows[i].argument != NULL ? required_argument : no_argument, NULL,
                                rows[i].code };
    if (rows[i].code >= 256)
      continue;
    shorts[n++] = (char)rows[i].code;
    if (rows[i].argument != NULL)
      shorts[n++] = ':';
  }
  shorts[n] = '\0';
  longs[ROWS] = (struct option){ NULL, 0, NULL, 0 };
}

static const char *name_of(int code)
{
  for (int i = 0; i < ROWS; i++)
    if (rows[i].code == code)
      return rows[i].name;
  return "";
}

void gs_main_free(struct gs_main_options *options)
{
  struct gs_main_names *lists[] = { &options->eval, &options->inputs, &options->saves,
                                    &options->plans, &options->checks };
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    free(lists[i]->names);
    free(lists[i]->files);
  }
}

bool gs_main_parse(int argc, char **argv, struct gs_main_options *options)
{
  struct option longs[ROWS + 1];
  char shorts[2 * ROWS + 2];
  *options = (struct gs_main_options){ .colour = GS_COLOUR_AUTO };
  getopt_tables(longs, shorts);
  int code;
  while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
    if (code == '?') {
      fputs("Try 'gspmd --help'.\n", stderr);
      return false;
    }
    if (!apply(options, code, name_of(code), optarg))
      return false;
  }
  if (optind < argc) {
    options->script = argv[optind];
    options->session.args = (const char *const *)(argv + optind + 1);
    options->session.nargs = argc - optind - 1;
  }
  return true;
}
