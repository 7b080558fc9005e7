/* tests/unit/script.c - tests of programs written in the language. */
#include <config.h>

#include "tests/unit/script.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/reference/reference.h"
#include "gspmd.h"

enum { MESSAGE = 256 };

static const char *const result[] = { "y" };

static struct gs_session *start(const char *text)
{
  struct gs_session_options options = { .quiet = true };
  struct gs_session *session = gs_session_new(&options);
  ck_assert_msg(gs_session_run_text(session, "test", text, strlen(text)), "%s", text);
  return session;
}

static void compare(const char *text, const struct gs_tensor *got, const struct gs_tensor *want, bool zero)
{
  ck_assert(gs_type_equal(&got->type, &want->type));
  for (int64_t i = 0; i < gs_type_elements(&want->type); i++) {
    double g = gs_element_get(got->type.dtype, got->data, i), w = gs_element_get(want->type.dtype, want->data, i);
    ck_assert_msg(g == w || (isnan(g) && isnan(w)) || fabs(g - w) <= 1e-4 * (1 + fabs(w)),
                  "%s: element %d is %g, not %g", text, (int)i, g, w);
    ck_assert_msg(!zero || fabs(w) <= 1e-5, "%s: element %d is %g, not 0", text, (int)i, w);
  }
}

static void check(const char *text, bool zero)
{
  struct gs_session *session = start(text);
  struct gs_diagnostics diagnostics = { 0 };
  struct gs_host host = { .diagnostics = &diagnostics, .nthreads = 2, .poison_padding = true };
  struct gs_tensor *got, *want;
  const struct gs_plan *plan = gs_session_plan(session, result, 1);
  struct gs_node *node = gs_session_tensor(session, result[0]);
  ck_assert_msg(plan != NULL, "%s", text);
  struct gs_arena *arena = gs_arena_new(NULL);
  const char *wrong = gs_program_verify(arena, plan->program);
  ck_assert_msg(wrong == NULL, "%s: %s", text, wrong);
  gs_arena_free(arena);
  struct gs_executable *e = gs_backend_cpu.compile(&host, plan);
  ck_assert_ptr_nonnull(e);
  for (int run = 0; run < 2; run++) {
    ck_assert_int_eq(gs_backend_cpu.run(e, NULL, 0, &got), GS_OK);
    ck_assert_int_eq(gs_reference_evaluate(&host, plan->graph, &node, 1, NULL, 0, &want), GS_OK);
    compare(text, got, want, zero);
    gs_tensor_unref(got);
    gs_tensor_unref(want);
  }
  gs_backend_cpu.release(e);
  gs_session_free(session);
}

void script_check(const char *text)
{
  check(text, false);
}

void script_check_zero(const char *text)
{
  check(text, true);
}

int script_steps(const char *text, const char *name)
{
  struct gs_session *session = start(text);
  const struct gs_plan *plan = gs_session_plan(session, result, 1);
  int count = 0;
  ck_assert_ptr_nonnull(plan);
  for (int i = 0; i < plan->program->nsteps; i++)
    count += strcmp(gs_op_info(plan->program->steps[i].op)->name, name) == 0;
  gs_session_free(session);
  return count;
}

double script_bytes(const char *text)
{
  struct gs_session *session = start(text);
  struct gs_program_totals totals;
  const struct gs_plan *plan = gs_session_plan(session, result, 1);
  ck_assert_ptr_nonnull(plan);
  struct gs_arena *arena = gs_arena_new(NULL);
  gs_program_total(arena, plan->program, &totals);
  gs_arena_free(arena);
  gs_session_free(session);
  return totals.bytes;
}

void script_sends(const char *text, double most)
{
  script_check(text);
  double bytes = script_bytes(text);
  ck_assert_msg(bytes <= most + 1e-6, "%s: sends %g", text, bytes);
}

static void keep_message(void *user, const struct gs_diagnostic *diagnostic)
{
  char *kept = user;
  if (diagnostic->severity == GS_ERROR && kept[0] == '\0')
    snprintf(kept, MESSAGE, "%s", diagnostic->message);
}

void script_refused(const char *text, const char *message)
{
  char kept[MESSAGE] = "";
  struct gs_session_options options = { .quiet = true, .sink = keep_message, .user = kept };
  struct gs_session *session = gs_session_new(&options);
  ck_assert_msg(!gs_session_run_text(session, "test", text, strlen(text)), "%s", text);
  ck_assert_msg(strstr(kept, message) != NULL, "%s: %s", text, kept);
  const char *more = "z = iota(f32[4], dim=0) * 2\ncheck(z)\n";
  ck_assert(gs_session_run_text(session, "test", more, strlen(more)));
  gs_session_free(session);
}
