/* interp/line.c - a line from the terminal: by Readline, or plainly.
 *
 * Readline calls back without a user pointer, so the reader is the one mutable static of the
 * program beside the flag that the signal handler sets.
 */
#include <config.h>

#include "interp/line.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_READLINE
#include <readline/history.h>
#include <readline/readline.h>
#endif

#include "gspmd.h"

enum { HISTORY_LINES = 5000, MAX_PATH = 4096 };

static struct {
  struct gs_session *session;
  const volatile sig_atomic_t *interrupted;
  const char *before;                  /* the unfinished statement */
  char **candidates;
  size_t ncandidates, room, next;
  char history[MAX_PATH];              /* file name; "" for none */
  int added;                           /* entries not in the file yet */
  bool terminal;                       /* what is typed comes from one */
} reader;

/* Without a terminal what is read is shown too, so that the output reads as a session. */
static enum gs_line_status read_plain(const char *prompt, char **line)
{
  size_t room = 0;
  *line = NULL;
  fputs(prompt, stdout);
  fflush(stdout);
  ssize_t length = getline(line, &room, stdin);
  if (length < 0) {
    free(*line);
    *line = NULL;
    clearerr(stdin);
    if (!*reader.interrupted)
      return GS_LINE_END;
    putchar('\n');
    return GS_LINE_INTERRUPTED;
  }
  if (length > 0 && (*line)[length - 1] == '\n')
    (*line)[length - 1] = '\0';
  if (!reader.terminal)
    puts(*line);
  return GS_LINE_OK;
}

#ifdef HAVE_READLINE

/* Wait for a key; false when an interrupt came instead.  The signal is let through only while
 * waiting, so that none slips in between looking at the flag and sleeping. */
static bool wait_for_key(int descriptor)
{
  struct pollfd key = { .fd = descriptor, .events = POLLIN };
  sigset_t interrupt, outside, waiting;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, &outside);
  waiting = outside;
  sigdelset(&waiting, SIGINT);
  while (!*reader.interrupted && ppoll(&key, 1, NULL, &waiting) < 0 && errno == EINTR)
    rl_check_signals();
  sigprocmask(SIG_SETMASK, &outside, NULL);
  return !*reader.interrupted;
}

/* Readline's key source.  On an interrupt the line is emptied and "entered": readline() then
 * returns by its ordinary path and no key of the next line is lost. */
static int read_key(FILE *in)
{
  unsigned char c;
  if (!wait_for_key(fileno(in))) {
    rl_replace_line("", 0);
    return '\n';
  }
  return read(fileno(in), &c, 1) == 1 ? c : EOF;
}

static void add_candidate(void *user, const char *candidate)
{
  (void)user;
  if (reader.ncandidates == reader.room) {
    size_t room = reader.room * 2 + 64;
    char **grown = realloc(reader.candidates, room * sizeof *grown);
    if (grown == NULL)
      return;
    reader.candidates = grown;
    reader.room = room;
  }
  char *copy = strdup(candidate);
  if (copy != NULL)
    reader.candidates[reader.ncandidates++] = copy;
}

static char *next_candidate(const char *text, int state)
{
  (void)text;
  if (state == 0)
    reader.next = 0;
  return reader.next < reader.ncandidates ? reader.candidates[reader.next++] : NULL;
}

/* Whether the word that starts at START is a file's name. */
static bool names_file(int start)
{
  const char *line = rl_line_buffer;
  if (strncmp(line, ":source ", 8) == 0)
    return true;
  static const char *const openings[] = { "load(\"", "import \"" };
  for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
    const char *found = NULL;
    for (const char *at = line; (at = strstr(at, openings[i])) != NULL; at++)
      found = at + strlen(openings[i]);
    const char *word = line + start;
    if (found != NULL && found <= word && memchr(found, '"', (size_t)(word - found)) == NULL)
      return true;
  }
  return false;
}

/* Called by Readline for what stands between START and END of its line. */
static char **complete(const char *text, int start, int end)
{
  (void)text;
  rl_attempted_completion_over = 1;
  rl_completion_suppress_append = 1;
  if (names_file(start)) {
    rl_attempted_completion_over = 0;
    return NULL;
  }
  size_t before = strlen(reader.before);
  char *whole = malloc(before + (size_t)end + 1);
  if (whole == NULL)
    return NULL;
  memcpy(whole, reader.before, before);
  memcpy(whole + before, rl_line_buffer, (size_t)end);
  whole[before + (size_t)end] = '\0';
  reader.ncandidates = 0;
  bool command = reader.before[0] == '\0';
  gs_session_complete(reader.session, command ? whole + before : whole,
                      command ? (size_t)end : before + (size_t)end, add_candidate, NULL);
  free(whole);
  return rl_completion_matches(text, next_candidate);
}

static void make_folders(char *path)
{
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
}

/* $GSPMD_HISTORY, else below the state folder of the user. */
static void find_history(void)
{
  const char *given = getenv("GSPMD_HISTORY"), *state = getenv("XDG_STATE_HOME");
  const char *home = getenv("HOME");
  int length = -1;
  reader.history[0] = '\0';
  if (given != NULL)
    length = snprintf(reader.history, MAX_PATH, "%s", given);
  else if (state != NULL && state[0] != '\0')
    length = snprintf(reader.history, MAX_PATH, "%s/gspmd/history", state);
  else if (home != NULL)
    length = snprintf(reader.history, MAX_PATH, "%s/.local/state/gspmd/history", home);
  if (length < 0 || length >= MAX_PATH)
    reader.history[0] = '\0';
  if (reader.history[0] != '\0' && given == NULL)
    make_folders(reader.history);
}

void gs_line_open(struct gs_session *session, const volatile sig_atomic_t *interrupted)
{
  reader.session = session;
  reader.interrupted = interrupted;
  reader.before = "";
  reader.terminal = isatty(STDIN_FILENO) != 0;
  if (!reader.terminal)
    return;
  rl_readline_name = "gspmd";
  rl_getc_function = read_key;
  rl_catch_signals = 0;
  rl_attempted_completion_function = complete;
  rl_completer_word_break_characters = " \t\n()[]{},;:=+-*/%@<>!|&\"?";
  rl_completer_quote_characters = "";
  find_history();
  using_history();
  history_comment_char = '#';
  history_write_timestamps = 1;
  history_multiline_entries = 1;
  if (reader.history[0] != '\0')
    read_history(reader.history);
  stifle_history(HISTORY_LINES);
}

enum gs_line_status gs_line_read(const char *prompt, const char *before, char **line)
{
  if (!reader.terminal)
    return read_plain(prompt, line);
  reader.before = before;
  *line = readline(prompt);
  if (*reader.interrupted) {
    free(*line);
    *line = NULL;
    return GS_LINE_INTERRUPTED;
  }
  return *line != NULL ? GS_LINE_OK : GS_LINE_END;
}

void gs_line_remember(const char *statement)
{
  size_t length = strlen(statement);
  while (length > 0 && isspace((unsigned char)statement[length - 1]))
    length--;
  if (length == 0 || statement[0] == ' ' || !reader.terminal)
    return;
  char *entry = strndup(statement, length);
  HIST_ENTRY *last = history_length > 0 ? history_get(history_base + history_length - 1) : NULL;
  if (entry != NULL && (last == NULL || strcmp(last->line, entry) != 0)) {
    add_history(entry);
    reader.added++;
  }
  free(entry);
}

void gs_line_close(void)
{
  if (reader.added > 0 && reader.history[0] != '\0') {
    FILE *file = fopen(reader.history, "a");
    if (file != NULL) {
      fclose(file);
      chmod(reader.history, 0600);
      append_history(reader.added, reader.history);
      history_truncate_file(reader.history, HISTORY_LINES);
    }
  }
  free(reader.candidates);
  memset(&reader, 0, sizeof reader);
}

const char *gs_line_version(void)
{
  return rl_library_version;
}

#else

void gs_line_open(struct gs_session *session, const volatile sig_atomic_t *interrupted)
{
  reader.session = session;
  reader.interrupted = interrupted;
  reader.terminal = isatty(STDIN_FILENO) != 0;
}

enum gs_line_status gs_line_read(const char *prompt, const char *before, char **line)
{
  (void)before;
  return read_plain(prompt, line);
}

void gs_line_remember(const char *statement)
{
  (void)statement;
}

void gs_line_close(void)
{
  memset(&reader, 0, sizeof reader);
}

const char *gs_line_version(void)
{
  return NULL;
}

#endif
