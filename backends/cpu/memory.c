/* backends/cpu/memory.c - buffers by live range, first fit. */
#include <config.h>

#include "backends/cpu/memory.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 };

/* A free stretch of the arena; the last one has no end. */
struct hole { int64_t begin, end; struct hole *next; };

struct planner {
  struct hole *holes;
  int64_t top;
  bool failed, huge;                   /* no memory; more than 64 bits count */
};

bool gs_buffers_is_data(const struct gs_step *step)
{
  return step->op == GS_OP_INPUT || step->op == GS_OP_PARAM || step->op == GS_OP_CONSTANT;
}

int64_t gs_buffers_begin(const struct gs_step *step, int64_t position)
{
  int64_t strides[GS_MAX_RANK], at = 0, begin, end;
  gs_type_strides(&step->global, strides);
  for (int i = 0; i < step->type.rank; i++) {
    if (step->type.dims[i] == step->global.dims[i])
      continue;
    gs_sharding_range(step->sharding, i, step->global.dims[i], position, &begin, &end);
    at += begin * strides[i];
  }
  return at * (int64_t)gs_dtype_size(step->type.dtype);
}

/* Whether each part lies in the whole tensor in one piece, without padding: dims of one element, one
 * that is cut evenly, then uncut ones. */
static bool is_in_one_piece(const struct gs_step *step)
{
  bool several = false;
  for (int i = 0; i < step->type.rank; i++) {
    int64_t local = step->type.dims[i], global = step->global.dims[i];
    if (local == 0 || (several && local != global)
        || local * gs_sharding_parts(step->sharding, i) != global)
      return false;
    several = several || local != 1;
  }
  return true;
}

/* Whether no two devices hold the same part. */
static bool is_held_once(const struct gs_step *step)
{
  int64_t parts = 1;
  for (int i = 0; i < step->sharding->rank; i++)
    parts *= gs_sharding_parts(step->sharding, i);
  return parts == step->sharding->mesh->ndevices;
}

/* Outputs that devices can write where they belong. */
static void place_outputs(const struct gs_program *program, struct gs_buffers *b)
{
  for (int i = 0; i < program->nsteps; i++)
    b->output[i] = -1;
  for (int i = 0; i < program->noutputs; i++) {
    int index = program->outputs[i].step;
    const struct gs_step *step = &program->steps[index];
    if (b->alias[index] == index && !gs_buffers_is_data(step) && is_in_one_piece(step)
        && is_held_once(step))
      b->output[index] = i;
  }
}

static bool is_in_arena(const struct gs_step *step, const struct gs_buffers *b, int index)
{
  return b->output[index] < 0 && !(gs_buffers_is_data(step) && is_in_one_piece(step));
}

static int64_t take(struct planner *p, int64_t bytes)
{
  for (struct hole **at = &p->holes; *at != NULL; at = &(*at)->next) {
    struct hole *h = *at;
    if (h->end - h->begin < bytes)
      continue;
    int64_t begin = h->begin;
    h->begin += bytes;
    if (h->begin == h->end) {
      *at = h->next;
      free(h);
    }
    return begin;
  }
  int64_t begin = p->top;
  p->huge = p->huge || !gs_add_size(p->top, bytes, &p->top);
  return begin;
}

static void give(struct planner *p, int64_t begin, int64_t bytes)
{
  struct hole **at = &p->holes, *before = NULL;
  if (bytes == 0 || p->huge)
    return;
  for (; *at != NULL && (*at)->begin < begin; at = &(*at)->next)
    before = *at;
  if (before != NULL && before->end == begin) {
    before->end += bytes;
  } else {
    struct hole *h = malloc(sizeof *h);
    if (h == NULL) {
      p->failed = true;
      return;
    }
    *h = (struct hole){ begin, begin + bytes, *at };
    *at = h;
    before = h;
  }
  struct hole *next = before->next;
  if (next != NULL && next->begin == before->end) {
    before->end = next->end;
    before->next = next->next;
    free(next);
  }
}

static int64_t rounded(const struct gs_type *type)
{
  return (gs_type_bytes(type) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

bool gs_buffers_stands_alone(const struct gs_step *step)
{
  return gs_op_is_collective(step->op) || gs_op_info(step->op)->group == GS_GROUP_CONTROL;
}

static void use_until(int *last, int owner, int step)
{
  last[owner] = step > last[owner] ? step : last[owner];
}

static void find_last_uses(const struct gs_program *program, struct gs_cpu_kernel *const *kernels,
                           const bool *needed, const int *alias, int *last)
{
  for (int i = 0; i < program->nsteps; i++) {
    const struct gs_step *step = &program->steps[i];
    int nargs = kernels[i] != NULL ? kernels[i]->nargs : step->nargs;
    const int *args = kernels[i] != NULL ? kernels[i]->args : step->args;
    if (!needed[i])
      continue;
    use_until(last, alias[i], gs_step_last_use(program, alias[i], i));
    for (int a = 0; a < nargs; a++)
      use_until(last, alias[args[a]], gs_step_last_use(program, alias[args[a]], i));
  }
  for (int i = 0; i < program->noutputs; i++)
    last[alias[program->outputs[i].step]] = program->nsteps;
}

/* Last readers of values, and whether memory that a loop's condition leaves to the result may change. */
struct readers { int *value, *last, *test; };

static bool find_readers(const struct gs_program *program, struct gs_cpu_kernel *const *kernels,
                         const bool *needed, struct readers *r)
{
  size_t n = (size_t)program->nsteps + 1;
  r->value = calloc(n, sizeof *r->value);
  r->last = calloc(n, sizeof *r->last);
  r->test = calloc(n, sizeof *r->test);
  if (r->value == NULL || r->last == NULL || r->test == NULL)
    return false;
  for (int i = 0; i < program->nsteps; i++) {
    const struct gs_step *step = &program->steps[i];
    int nargs = kernels[i] != NULL ? kernels[i]->nargs : step->nargs, alias = gs_step_alias(program, i);
    const int *args = kernels[i] != NULL ? kernels[i]->args : step->args;
    r->value[i] = alias == i || step->op == GS_OP_LOOP_RESULT ? i : r->value[alias];
    if (step->op == GS_OP_LOOP_TEST)
      r->test[step->scope] = i;
    for (int a = 0; a < nargs && needed[i]; a++)
      use_until(r->last, r->value[args[a]], i);
  }
  for (int i = 0; i < program->noutputs; i++)
    r->last[r->value[program->outputs[i].step]] = program->nsteps;
  return true;
}

/* Whether the scatter at INDEX may write into its operand, so that an array that a loop fills is not copied
 * in every turn: nothing else reads it from here on. */
static bool may_write_in_place(const struct gs_program *program, const struct readers *r,
                               int index)
{
  const struct gs_step *step = &program->steps[index];
  if (step->op != GS_OP_SCATTER)
    return false;
  int value = r->value[step->args[0]];
  const struct gs_step *operand = &program->steps[value];
  return r->last[value] == index && operand->scope == step->scope && operand->op != GS_OP_LOOP_RESULT
         && (operand->op != GS_OP_LOOP_VALUE || r->test[step->scope] < index)
         && r->value[step->args[1]] != value && r->value[step->args[2]] != value && !gs_buffers_is_data(operand);
}

/* Steps in order of a KEY below LIMIT that each has: those with key k are order[first[k]] up to
 * order[first[k+1]]. */
struct sorted { int *first, *order; };

static bool sort_steps(const struct gs_program *program, const bool *which, const int *key,
                       struct sorted *sorted)
{
  int n = program->nsteps;
  sorted->first = calloc((size_t)n + 2, sizeof *sorted->first);
  sorted->order = calloc((size_t)n + 1, sizeof *sorted->order);
  if (sorted->first == NULL || sorted->order == NULL)
    return false;
  for (int i = 0; i < n; i++)
    if (which[i] && key[i] < n)
      sorted->first[key[i] + 2]++;
  for (int k = 0; k < n; k++)
    sorted->first[k + 2] += sorted->first[k + 1];
  for (int i = 0; i < n; i++)
    if (which[i] && key[i] < n)
      sorted->order[sorted->first[key[i] + 1]++] = i;
  return true;
}

/* Offsets, in the order in which memory is first written. */
static void assign_offsets(const struct gs_program *program, struct planner *p, const struct sorted *begin,
                           const struct sorted *end, struct gs_buffers *b)
{
  for (int i = 0; i < program->nsteps; i++) {
    for (int k = begin->first[i]; k < begin->first[i + 1]; k++) {
      const struct gs_step *step = &program->steps[begin->order[k]];
      if (is_in_arena(step, b, begin->order[k]))
        b->offset[begin->order[k]] = take(p, rounded(&step->type));
    }
    for (int k = end->first[i]; k < end->first[i + 1]; k++)
      if (b->offset[end->order[k]] >= 0)
        give(p, b->offset[end->order[k]], rounded(&program->steps[end->order[k]].type));
  }
  for (int i = 0; i < program->nsteps; i++)
    b->offset[i] = b->offset[b->alias[i]];
  b->size = p->huge ? INT64_MAX : p->top;
}

bool gs_buffers_plan(const struct gs_program *program, struct gs_cpu_kernel *const *kernels,
                     const bool *needed, struct gs_buffers *b)
{
  struct planner p = { 0 };
  struct sorted begin = { 0 }, end = { 0 };
  size_t n = (size_t)program->nsteps + 1;
  int *last = calloc(n, sizeof *last), *first = calloc(n, sizeof *first);
  bool *own = calloc(n, sizeof *own);  /* has memory of its own */
  struct readers readers = { 0 };
  b->offset = calloc(n, sizeof *b->offset);
  b->alias = calloc(n, sizeof *b->alias);
  b->output = calloc(n, sizeof *b->output);
  b->in_place = calloc(n, sizeof *b->in_place);
  bool ok = last != NULL && first != NULL && own != NULL && b->offset != NULL && b->alias != NULL
            && b->output != NULL && b->in_place != NULL && find_readers(program, kernels, needed, &readers);
  for (int i = 0; i < program->nsteps && ok; i++) {
    b->in_place[i] = needed[i] && may_write_in_place(program, &readers, i);
    int alias = b->in_place[i] ? program->steps[i].args[0] : gs_step_alias(program, i);
    b->alias[i] = alias == i ? i : b->alias[alias];
    own[i] = needed[i] && alias == i;
    first[i] = gs_step_begin(program, i);
    b->offset[i] = -1;
  }
  if (ok) {
    find_last_uses(program, kernels, needed, b->alias, last);
    place_outputs(program, b);
    ok = sort_steps(program, own, first, &begin) && sort_steps(program, own, last, &end);
  }
  if (ok)
    assign_offsets(program, &p, &begin, &end, b);
  for (struct hole *h = p.holes, *next; h != NULL; h = next) {
    next = h->next;
    free(h);
  }
  free(begin.first);
  free(begin.order);
  free(end.first);
  free(end.order);
  free(last);
  free(first);
  free(own);
  free(readers.value);
  free(readers.last);
  free(readers.test);
  return ok && !p.failed;
}

void gs_buffers_free(struct gs_buffers *b)
{
  free(b->offset);
  free(b->alias);
  free(b->output);
  free(b->in_place);
}
