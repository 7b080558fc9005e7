/* interp/main.c - the command gspmd: a thin client of the library. */
#include <config.h>

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gspmd.h"
#include "interp/main_options.h"
#include "interp/repl.h"

static void print_output(void *user, const char *text, size_t length)
{
  (void)user;
  fwrite(text, 1, length, stdout);
}

/* What was printed before an error comes before it, also where both go to one file. */
static void print_message(void *user, const char *text, size_t length)
{
  (void)user;
  fflush(stdout);
  fwrite(text, 1, length, stderr);
}

static bool colour_for(enum gs_colour colour, int descriptor)
{
  const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
  if (colour != GS_COLOUR_AUTO)
    return colour == GS_COLOUR_ALWAYS;
  return (no_colour == NULL || no_colour[0] == '\0') && isatty(descriptor) != 0 && term != NULL &&
         strcmp(term, "dumb") != 0;
}

static int terminal_width(void)
{
  struct winsize size;
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col > 20 ? size.ws_col : 0;
}

/* Standard output is checked: a full disk must not look like success. */
static int finish(int status)
{
  errno = 0;
  bool lost = ferror(stdout) != 0;
  if (fflush(stdout) != 0 || lost) {
    fprintf(stderr, "gspmd: cannot write to standard output: %s\n",
            errno != 0 ? strerror(errno) : "an error before");
    return GS_EXIT_ERROR;
  }
  return status;
}

static struct gs_session *start(struct gs_main_options *options, bool prompt)
{
  struct gs_session_options *session = &options->session;
  session->output = print_output;
  session->message = print_message;
  session->interactive = prompt;
  session->colour = colour_for(options->colour, STDOUT_FILENO);
  session->message_colour = colour_for(options->colour, STDERR_FILENO);
  session->unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  session->width = terminal_width();
  session->plugin_folders = getenv("GSPMD_PLUGIN_PATH");
  return gs_session_new(session);
}

static bool give_inputs(struct gs_session *s, const struct gs_main_names *inputs)
{
  bool ok = true;
  for (int i = 0; i < inputs->count; i++)
    ok = gs_session_set_input_file(s, inputs->names[i], inputs->files[i]) && ok;
  return ok;
}

/* -e texts, then the script or what is piped in. */
static bool run_program(struct gs_session *s, const struct gs_main_options *options, bool pipe)
{
  bool ok = true;
  if (options->allow_uneven)
    gs_session_run_text(s, "options", ":set allow_uneven on", strlen(":set allow_uneven on"));
  for (int i = 0; ok && i < options->eval.count; i++)
    ok = gs_session_run_text(s, "-e", options->eval.names[i], strlen(options->eval.names[i]));
  if (!ok || gs_session_quitting(s))
    return ok;
  if (pipe || (options->script != NULL && strcmp(options->script, "-") == 0))
    return gs_repl_run_pipe(s);
  return options->script == NULL || gs_session_run_file(s, options->script);
}

static void run_requests(struct gs_session *s, const struct gs_main_options *options)
{
  const struct gs_main_names *plans = &options->plans, *saves = &options->saves;
  const struct gs_main_names *checks = &options->checks;
  bool ok = true;
  if (plans->count > 0)
    ok = gs_session_print_plan(s, plans->names, plans->count) == GS_SESSION_OK;
  if (ok && saves->count > 0)
    ok = gs_session_save(s, saves->names, saves->files, saves->count) == GS_SESSION_OK;
  if (ok && checks->count > 0)
    gs_session_check(s, checks->names, checks->count);
}

static void read_init_file(struct gs_session *s)
{
  const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  char path[4096];
  int length = -1;
  if (config != NULL && config[0] != '\0')
    length = snprintf(path, sizeof path, "%s/gspmd/init.gsl", config);
  else if (home != NULL)
    length = snprintf(path, sizeof path, "%s/.config/gspmd/init.gsl", home);
  if (length > 0 && length < (int)sizeof path && access(path, R_OK) == 0)
    gs_session_run_file(s, path);
}

static int status_of(const struct gs_session *s)
{
  return gs_session_errors(s) > 0     ? GS_EXIT_ERROR
         : gs_session_failures(s) > 0 ? GS_EXIT_FAILED
                                      : GS_EXIT_OK;
}

static int run(struct gs_main_options *options)
{
  bool nothing_else = options->script == NULL && options->eval.count == 0;
  bool prompt = options->interactive || (nothing_else && isatty(STDIN_FILENO) != 0);
  bool pipe = nothing_else && !prompt;
  struct gs_session *s = start(options, prompt);
  if (s == NULL) {
    fputs("gspmd: out of memory\n", stderr);
    return GS_EXIT_ERROR;
  }
  if (gs_session_errors(s) > 0) {
    gs_session_free(s);
    return GS_EXIT_USAGE;
  }
  gs_repl_catch_interrupts(s);
  bool ok = give_inputs(s, &options->inputs);
  if (ok && prompt && !options->no_init)
    read_init_file(s);
  if (ok && run_program(s, options, pipe))
    run_requests(s, options);
  bool stopped = gs_repl_was_interrupted();
  int status = status_of(s);
  if (prompt && !stopped && !gs_session_quitting(s)) {
    gs_repl_run(s, colour_for(options->colour, STDOUT_FILENO),
                options->session.quiet);
    status = GS_EXIT_OK;
  }
  gs_session_free(s);
  status = finish(status);
  if (stopped) {
    fputs("interrupted\n", stderr);
    gs_repl_die_of_interrupt();
  }
  return status;
}

int main(int argc, char **argv)
{
  struct gs_main_options options;
  /* Only the character set: numbers are written with a point everywhere. */
  setlocale(LC_CTYPE, "");
  int status = GS_EXIT_USAGE;
  if (gs_main_parse(argc, argv, &options)) {
    if (options.help || options.version) {
      (options.help ? gs_main_print_help : gs_main_print_version)();
      status = finish(GS_EXIT_OK);
    } else {
      status = run(&options);
    }
  }
  gs_main_free(&options);
  return status;
}
