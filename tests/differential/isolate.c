/* tests/differential/isolate.c - a check in a process of its own. */
#include <config.h>

#include "tests/differential/check.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds of processor time, and by the clock for what waits; a check takes milliseconds. */
enum { PATIENCE = 20, PATIENCE_WAITING = 200 };

static _Noreturn void child(const struct recipe *recipe, const struct check_options *options,
                            int out)
{
  struct result result;
  struct check_options own = *options;
  own.trace = NULL;
  setrlimit(RLIMIT_CPU, &(struct rlimit){ .rlim_cur = PATIENCE, .rlim_max = PATIENCE + 5 });
  alarm(PATIENCE_WAITING);
  int null = own.silent ? open("/dev/null", O_WRONLY) : -1;
  if (null >= 0)
    dup2(null, STDERR_FILENO);
  check_recipe(recipe, &own, &result);
  _exit(write(out, &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
}

void check_isolated(const struct recipe *recipe, const struct check_options *options,
                    struct result *result)
{
  int ends[2], status = 0;
  *result = (struct result){ .outcome = OUTCOME_CRASHED, .message = "no process" };
  fflush(NULL);
  if (pipe(ends) != 0)
    return;
  pid_t pid = fork();
  if (pid < 0)
    return;
  if (pid == 0)
    child(recipe, options, ends[1]);
  close(ends[1]);
  ssize_t got = read(ends[0], result, sizeof *result);
  close(ends[0]);
  waitpid(pid, &status, 0);
  if (got == (ssize_t)sizeof *result)
    return;
  *result = (struct result){ .outcome = OUTCOME_CRASHED };
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU)) {
    result->outcome = OUTCOME_HUNG;
    snprintf(result->message, sizeof result->message, "no end after %d seconds",
             WTERMSIG(status) == SIGALRM ? PATIENCE_WAITING : PATIENCE);
  } else if (WIFSIGNALED(status)) {
    snprintf(result->message, sizeof result->message, "crashed: %s", strsignal(WTERMSIG(status)));
  } else {
    snprintf(result->message, sizeof result->message, "the process ended with status %d",
             WEXITSTATUS(status));
  }
}
