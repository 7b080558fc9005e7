/* interp/repl.c - prompting for statements, and Ctrl-C. */
#include <config.h>

#include "interp/repl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interp/line.h"

/* Signal handlers take no argument but the number: what they touch is static. */
static volatile sig_atomic_t interrupted;
static struct gs_session *volatile interrupt_session;

static void on_interrupt(int signal_number)
{
  (void)signal_number;
  interrupted = 1;
  if (interrupt_session != NULL)
    gs_session_interrupt(interrupt_session);
}

void gs_repl_catch_interrupts(struct gs_session *session)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;    /* no SA_RESTART: reading a key must return */
  sigemptyset(&action.sa_mask);
  interrupt_session = session;
  sigaction(SIGINT, &action, NULL);
}

bool gs_repl_was_interrupted(void)
{
  return interrupted != 0;
}

void gs_repl_die_of_interrupt(void)
{
  interrupt_session = NULL;
  signal(SIGINT, SIG_DFL);
  raise(SIGINT);
}

/* The statement being typed: lines with their newlines. */
struct statement {
  char *text;
  size_t length;
};

static bool add_line(struct statement *statement, const char *line)
{
  size_t length = strlen(line);
  char *grown = realloc(statement->text, statement->length + length + 2);
  if (grown == NULL)
    return false;
  memcpy(grown + statement->length, line, length);
  memcpy(grown + statement->length + length, "\n", 2);
  statement->text = grown;
  statement->length += length + 1;
  return true;
}

static void clear(struct statement *statement)
{
  free(statement->text);
  *statement = (struct statement){ NULL, 0 };
}

static void forget_statement(struct gs_session *session, struct statement *statement)
{
  interrupted = 0;
  gs_session_reset(session);
  clear(statement);
}

/* Feed one line; *MORE tells whether the statement goes on. */
static void feed_line(struct gs_session *session, struct statement *statement, const char *line,
                      bool *more)
{
  if (!add_line(statement, line)) {
    fputs("out of memory\n", stderr);
    clear(statement);
    return;
  }
  size_t length = strlen(line);
  char *with_newline = statement->text + statement->length - length - 1;
  *more = gs_session_feed(session, with_newline, length + 1) == GS_SESSION_MORE;
  fflush(stdout);
  if (gs_session_interrupted(session))
    fputs("interrupted\n", stderr);
  interrupted = 0;
  if (!*more) {
    gs_line_remember(statement->text);
    clear(statement);
  }
}

void gs_repl_run(struct gs_session *session, bool colour, bool quiet)
{
  /* Between \001 and \002 Readline counts no columns. */
  const char *prompt = colour ? "\001\033[1;34m\002gspmd>\001\033[0m\002 " : "gspmd> ";
  const char *continuation = colour ? "\001\033[34m\002  ...>\001\033[0m\002 " : "  ...> ";
  struct statement statement = { NULL, 0 };
  bool more = false;
  if (!quiet)
    printf("gspmd %s    :help tells what there is, :quit ends\n", gs_version());
  gs_line_open(session, &interrupted);
  gs_repl_catch_interrupts(session);
  while (!gs_session_quitting(session)) {
    char *line;
    enum gs_line_status status = gs_line_read(more ? continuation : prompt,
                                              more ? statement.text : "", &line);
    if (status == GS_LINE_INTERRUPTED) {
      forget_statement(session, &statement);
      more = false;
    } else if (status == GS_LINE_END) {
      putchar('\n');
      gs_session_finish(session);
      break;
    } else {
      feed_line(session, &statement, line, &more);
      free(line);
    }
  }
  clear(&statement);
  gs_line_close();
}

bool gs_repl_run_pipe(struct gs_session *session)
{
  enum { CHUNK = 1 << 16 };
  struct statement all = { NULL, 0 };
  size_t room = 0;
  for (;;) {
    if (room - all.length < CHUNK) {
      char *grown = realloc(all.text, room = room * 2 + CHUNK);
      if (grown == NULL) {
        clear(&all);
        return false;
      }
      all.text = grown;
    }
    size_t got = fread(all.text + all.length, 1, room - all.length, stdin);
    if (got == 0)
      break;
    all.length += got;
  }
  bool ok = gs_session_run_text(session, "-", all.text, all.length);
  clear(&all);
  return ok;
}
