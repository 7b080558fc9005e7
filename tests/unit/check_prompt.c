/* tests/unit/check_prompt.c - the command at a terminal: prompts, Ctrl-C, Ctrl-D, completion and
 * the history file.  A pseudo-terminal plays the user's. */
#include <config.h>

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/run.h"

enum { ROOM = 1 << 16, PATIENCE = 30000 };

struct terminal {
  pid_t child;
  int master;
  char screen[ROOM];                   /* everything shown so far */
  size_t length, seen;
  char folder[64];
};

static void start(struct terminal *t)
{
  const char *gspmd = getenv("GSPMD");
  *t = (struct terminal){ .folder = "check_prompt.XXXXXX" };
  ck_assert_ptr_nonnull(mkdtemp(t->folder));
  t->child = forkpty(&t->master, NULL, NULL, NULL);
  ck_assert_int_ge(t->child, 0);
  if (t->child == 0) {
    char path[128];
    snprintf(path, sizeof path, "%s/history", t->folder);
    setenv("GSPMD_HISTORY", path, 1);
    setenv("XDG_CONFIG_HOME", t->folder, 1);
    setenv("TERM", "dumb", 1);
    execl(gspmd != NULL ? gspmd : "./gspmd", "gspmd", (char *)NULL);
    _exit(127);
  }
}

/* Wait until WANTED is shown after what was waited for last. */
static void expect(struct terminal *t, const char *wanted)
{
  for (;;) {
    const char *found = strstr(t->screen + t->seen, wanted);
    if (found != NULL) {
      t->seen = (size_t)(found - t->screen) + strlen(wanted);
      return;
    }
    struct pollfd ready = { .fd = t->master, .events = POLLIN };
    ck_assert_msg(poll(&ready, 1, PATIENCE) > 0, "waited for \"%s\" after \"%s\"", wanted,
                  t->screen + t->seen);
    ssize_t got = read(t->master, t->screen + t->length, ROOM - 1 - t->length);
    ck_assert_msg(got > 0, "ended before \"%s\": \"%s\"", wanted, t->screen + t->seen);
    t->length += (size_t)got;
    t->screen[t->length] = '\0';
  }
}

static void type(struct terminal *t, const char *keys)
{
  ck_assert_int_eq(write(t->master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* Wait for the end; the exit status. */
static int finish(struct terminal *t)
{
  char rest[256];
  int status;
  while (read(t->master, rest, sizeof rest) > 0)
    continue;
  waitpid(t->child, &status, 0);
  close(t->master);
  char path[128];
  snprintf(path, sizeof path, "%s/history", t->folder);
  unlink(path);
  rmdir(t->folder);
  ck_assert(WIFEXITED(status));
  return WEXITSTATUS(status);
}

START_TEST(session)
{
  struct terminal t;
  start(&t);
  expect(&t, "gspmd> ");
  type(&t, "mesh(data=2, model=4)\n");
  expect(&t, "8 devices\r\ngspmd> ");
  type(&t, "x = (1 +\n");
  expect(&t, "  ...> ");
  type(&t, "2)\nx\n");
  expect(&t, "\r\n3\r\ngspmd> ");
  type(&t, "nosuch\n");
  expect(&t, "error: unknown name \"nosuch\"");
  expect(&t, "gspmd> ");
  type(&t, "x\n");
  expect(&t, "\r\n3\r\ngspmd> ");
  type(&t, ":quit\n");
  ck_assert_int_eq(finish(&t), 0);
}
END_TEST

START_TEST(interrupts)
{
  struct terminal t;
  start(&t);
  expect(&t, "gspmd> ");
  type(&t, "abc def");
  expect(&t, "abc def");
  type(&t, "\003");
  expect(&t, "gspmd> ");
  type(&t, "10 + 1\n");
  expect(&t, "\r\n11\r\ngspmd> ");
  type(&t, "y = (1 +\n");
  expect(&t, "  ...> ");
  type(&t, "\003");
  expect(&t, "gspmd> ");
  type(&t, "while true { }\n");
  expect(&t, "while true { }\r\n");
  usleep(100000);
  type(&t, "\003");
  expect(&t, "interrupted");
  expect(&t, "gspmd> ");
  type(&t, "20 + 2\n");
  expect(&t, "\r\n22\r\ngspmd> ");
  type(&t, "z = [\n");
  expect(&t, "  ...> ");
  type(&t, "\004");
  expect(&t, "is never closed");
  ck_assert_int_eq(finish(&t), 0);
}
END_TEST

START_TEST(completion)
{
  struct terminal t;
  start(&t);
  expect(&t, "gspmd> ");
  type(&t, "mesh(data=2, model=4)\nweights = 3\n");
  expect(&t, "weights = 3\r\ngspmd> ");
  type(&t, "wei\t\n");
  expect(&t, "weights\r\n3\r\ngspmd> ");
  type(&t, "eins\t");
  expect(&t, "einsum(");
  type(&t, "\003");
  expect(&t, "gspmd> ");
  type(&t, ":va\t\n");
  expect(&t, ":vars\r\n");
  expect(&t, "weights = 3\r\ngspmd> ");
  type(&t, "\004");
  ck_assert_int_eq(finish(&t), 0);
}
END_TEST

START_TEST(history)
{
  struct terminal t;
  start(&t);
  expect(&t, "gspmd> ");
  type(&t, "a = (1 +\n2)\n b = 3\na\n");
  expect(&t, "\r\n3\r\ngspmd> ");
  type(&t, "\020\020");
  expect(&t, "2)");
  type(&t, "\003");
  expect(&t, "gspmd> ");
  type(&t, ":quit\n");
  int status;
  waitpid(t.child, &status, 0);
  char path[128], text[ROOM] = "";
  snprintf(path, sizeof path, "%s/history", t.folder);
  FILE *file = fopen(path, "r");
  ck_assert_ptr_nonnull(file);
  text[fread(text, 1, ROOM - 1, file)] = '\0';
  fclose(file);
  struct stat info;
  ck_assert_int_eq(stat(path, &info), 0);
  ck_assert_int_eq(info.st_mode & 0777, 0600);
  unlink(path);
  rmdir(t.folder);
  close(t.master);
  ck_assert_ptr_nonnull(strstr(text, "a = (1 +\n2)\n"));
  ck_assert_ptr_null(strstr(text, "b = 3"));
}
END_TEST

#ifdef HAVE_READLINE
RUN_TESTS("prompt",
  tcase_add_test(cases, session);
  tcase_add_test(cases, interrupts);
  tcase_add_test(cases, completion);
  tcase_add_test(cases, history);
)
#else
int main(void)
{
  puts("1..0 # SKIP built without Readline");
  return EXIT_SUCCESS;
}
#endif
