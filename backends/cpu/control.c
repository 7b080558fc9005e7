/* backends/cpu/control.c - loops and branches. */
#include <config.h>

#include "backends/cpu/control.h"

#include <stdlib.h>

static bool has_targets(enum gs_op op)
{
  return op == GS_OP_LOOP || op == GS_OP_LOOP_END || op == GS_OP_BRANCH_END;
}

/* Carried values stand behind their loop in order. */
static void find_carried(const struct gs_program *program, struct gs_control *c, int i)
{
  int loop = program->steps[i].op == GS_OP_LOOP ? i : program->steps[i].scope;
  for (int k = 0; k < program->steps[i].nargs; k++)
    c->cells[c->first[i] + k] = loop + 1 + k;
}

/* A branch's results go where COND_RESULT steps say. */
static void find_chosen(const struct gs_program *program, struct gs_control *c, const int *ends, int result)
{
  const struct gs_step *step = &program->steps[result];
  int cond = step->args[0], index = step->attrs->carried.index;
  c->cells[c->first[ends[cond]] + index] = result;
  c->cells[c->first[program->steps[cond].end] + index] = result;
}

/* Room to hold all operands of a step one of whose operands is another's target. */
static int64_t staging_of(const struct gs_program *program, const struct gs_control *c, const int *alias,
                          int i)
{
  const struct gs_step *step = &program->steps[i];
  int64_t bytes = 0;
  bool crossed = false;
  for (int k = 0; k < step->nargs; k++) {
    bytes += gs_type_bytes(&program->steps[step->args[k]].type);
    for (int j = 0; j < step->nargs; j++)
      crossed = crossed || (j != k && alias[step->args[k]] == c->cells[c->first[i] + j]);
  }
  return crossed ? bytes : 0;
}

bool gs_control_init(const struct gs_program *program, const int *alias, struct gs_control *c)
{
  size_t n = (size_t)program->nsteps + 1;
  int total = 0;
  c->first = calloc(n, sizeof *c->first);
  c->turns = calloc(n, sizeof *c->turns);
  int *then_end = calloc(n, sizeof *then_end);
  for (int i = 0; i < program->nsteps && c->first != NULL; i++) {
    c->first[i] = total;
    total += has_targets(program->steps[i].op) ? program->steps[i].nargs : 0;
  }
  c->cells = calloc((size_t)total + 1, sizeof *c->cells);
  bool ok = c->first != NULL && c->turns != NULL && then_end != NULL && c->cells != NULL;
  for (int i = 0; i < total && ok; i++)
    c->cells[i] = -1;
  for (int i = 0; i < program->nsteps && ok; i++) {
    const struct gs_step *step = &program->steps[i];
    if (step->op == GS_OP_LOOP || step->op == GS_OP_LOOP_END)
      find_carried(program, c, i);
    else if (step->op == GS_OP_BRANCH_END && program->steps[step->scope].end != i)
      then_end[step->scope] = i;
    else if (step->op == GS_OP_COND_RESULT)
      find_chosen(program, c, then_end, i);
  }
  for (int i = 0; i < program->nsteps && ok; i++)
    if (has_targets(program->steps[i].op)) {
      int64_t bytes = staging_of(program, c, alias, i);
      c->staging = bytes > c->staging ? bytes : c->staging;
    }
  /* Where the branch for true ends, for the jump over it. */
  for (int i = 0; i < program->nsteps && ok; i++)
    if (program->steps[i].op == GS_OP_COND)
      c->turns[i] = then_end[i];
  free(then_end);
  return ok;
}

void gs_control_free(struct gs_control *c)
{
  free(c->first);
  free(c->turns);
  free(c->cells);
}

bool gs_control_copies(const struct gs_program *program, int index)
{
  return has_targets(program->steps[index].op);
}

int gs_control_next(const struct gs_program *program, struct gs_control *c, int index, bool condition)
{
  const struct gs_step *step = &program->steps[index], *opening = NULL;
  switch ((int)step->op) {
  case GS_OP_LOOP:
    c->turns[index] = 1;
    return step->attrs->control.trips == 0 ? step->end + 1 : index + 1;
  case GS_OP_LOOP_TEST:
    return condition ? index + 1 : program->steps[step->scope].end + 1;
  case GS_OP_LOOP_END:
    opening = &program->steps[step->scope];
    return c->turns[step->scope]++ == opening->attrs->control.trips ? index + 1 : step->scope + 1;
  case GS_OP_COND:
    return condition ? index + 1 : (int)c->turns[index] + 1;
  case GS_OP_BRANCH_END:
    return program->steps[step->scope].end + 1;
  default:
    return index + 1;
  }
}
