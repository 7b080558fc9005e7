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

bool gs_buffers_shares(const struct gs_step *step)
{
  bool data = step->op == GS_OP_INPUT || step->op == GS_OP_PARAM || step->op == GS_OP_CONSTANT;
  return data && gs_sharding_is_replicated(step->sharding) && gs_type_equal(&step->type, &step->global);
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

/* Only renames what its operand holds. */
static bool is_alias(const struct gs_step *step)
{
  return step->op == GS_OP_RESHAPE || step->op == GS_OP_SHARD;
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
    last[alias[i]] = i;
    for (int a = 0; a < nargs; a++)
      last[alias[args[a]]] = i;
  }
  for (int i = 0; i < program->noutputs; i++)
    last[alias[program->outputs[i].step]] = program->nsteps;
}

bool gs_buffers_plan(const struct gs_program *program, struct gs_cpu_kernel *const *kernels,
                     const bool *needed, struct gs_buffers *b)
{
  struct planner p = { 0 };
  size_t n = (size_t)program->nsteps + 1;
  int *last = calloc(n, sizeof *last), *ends = calloc(n + 1, sizeof *ends), *ending = calloc(n, sizeof *ending);
  b->offset = calloc(n, sizeof *b->offset);
  b->alias = calloc(n, sizeof *b->alias);
  p.failed = last == NULL || ends == NULL || ending == NULL || b->offset == NULL || b->alias == NULL;
  for (int i = 0; i < program->nsteps && !p.failed; i++)
    b->alias[i] = is_alias(&program->steps[i]) ? b->alias[program->steps[i].args[0]] : i;
  if (!p.failed)
    find_last_uses(program, kernels, needed, b->alias, last);
  /* Steps by their last use: ending[ends[k] .. ends[k+1]) end at step k. */
  for (int i = 0; i < program->nsteps && !p.failed; i++)
    if (needed[i] && b->alias[i] == i && last[i] < program->nsteps)
      ends[last[i] + 1]++;
  for (int k = 0; k < program->nsteps && !p.failed; k++)
    ends[k + 1] += ends[k];
  int *cursor = p.failed ? NULL : calloc(n + 1, sizeof *cursor);
  p.failed = cursor == NULL;
  for (int i = 0; i < program->nsteps && !p.failed; i++)
    if (needed[i] && b->alias[i] == i && last[i] < program->nsteps)
      ending[ends[last[i]] + cursor[last[i]]++] = i;
  for (int i = 0; i < program->nsteps && !p.failed; i++) {
    const struct gs_step *step = &program->steps[i];
    if (b->alias[i] != i)
      b->offset[i] = b->offset[b->alias[i]];
    else
      b->offset[i] = !needed[i] || gs_buffers_shares(step) ? -1 : take(&p, rounded(&step->type));
    for (int k = ends[i]; k < ends[i + 1]; k++)
      if (b->offset[ending[k]] >= 0)
        give(&p, b->offset[ending[k]], rounded(&program->steps[ending[k]].type));
  }
  b->size = p.huge ? INT64_MAX : p.top;
  for (struct hole *h = p.holes, *next; h != NULL; h = next) {
    next = h->next;
    free(h);
  }
  free(last);
  free(ends);
  free(ending);
  free(cursor);
  return !p.failed;
}

void gs_buffers_free(struct gs_buffers *b)
{
  free(b->offset);
  free(b->alias);
}
