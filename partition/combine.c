/* partition/combine.c - small all-reduces over the same devices taken together.
 *
 * Values that are summed at the same time lie behind each other in one buffer.  Which ones: in a run of steps
 * that neither opens nor closes a loop or a branch every all-reduce has a level, the number of equal ones that it
 * needs the results of; those of one level do not need each other.  What the later ones are made of moves to where
 * the first one stands.
 */
#include <config.h>

#include "partition/combine.h"

#include <string.h>

#include "partition/axes.h"
#include "partition/rewriter.h"

struct combiner {
  struct gs_rewriter r;
  int *next;                           /* by old step: the next all-reduce of its group, -1 ends it */
  int *first;                          /* by old step: the group's first one, -1: in no group */
  int *last;                           /* by level: the last all-reduce of the group that is made, -1 */
  bool *seen, *made;                   /* by old step */
};

static bool is_border(const struct gs_step *s)
{
  return gs_op_info(s->op)->group == GS_GROUP_CONTROL;
}

static bool may_combine(const struct gs_program *p, int i, int64_t limit)
{
  const struct gs_step *s = &p->steps[i];
  return s->op == GS_OP_ALL_REDUCE && gs_type_bytes(&s->type) <= limit && gs_type_elements(&s->type) > 0
         && gs_step_group_size(s) > 1;
}

static bool alike(const struct gs_step *a, const struct gs_step *b)
{
  const union gs_attrs *x = a->attrs, *y = b->attrs;
  if (a->type.dtype != b->type.dtype || x->device.reduce != y->device.reduce || x->device.naxes != y->device.naxes)
    return false;
  for (int k = 0; k < x->device.naxes; k++)
    if (!gs_axis_equal(x->device.axes[k], y->device.axes[k]))
      return false;
  return true;
}

/* How many all-reduces like LIKE of this run, BEGIN to END, each step needs one after the other. */
static void count_levels(const struct gs_program *p, int begin, int end, int like, int64_t limit, int *level)
{
  for (int i = begin; i < end; i++) {
    const struct gs_step *s = &p->steps[i];
    level[i] = 0;
    for (int a = 0; a < s->nargs; a++) {
      int arg = s->args[a];
      if (arg < begin)
        continue;
      int needs = level[arg] + (may_combine(p, arg, limit) && alike(&p->steps[arg], &p->steps[like]));
      level[i] = needs > level[i] ? needs : level[i];
    }
  }
}

/* Put together the all-reduces like LIKE of a run of steps; how many joined another. */
static int group_alike(struct combiner *c, int like, int end, int64_t limit, const int *level)
{
  const struct gs_program *p = c->r.from;
  int found = 0;
  for (int i = like; i < end; i++) {
    if (c->seen[i] || !may_combine(p, i, limit) || !alike(&p->steps[like], &p->steps[i]))
      continue;
    int *last = &c->last[level[i]];
    c->seen[i] = true;
    if (*last >= like) {
      int first = c->first[*last] >= 0 ? c->first[*last] : *last;
      c->first[first] = c->first[i] = first;
      c->next[*last] = i;
      found++;
    }
    *last = i;
  }
  for (int i = like; i < end; i++)
    c->last[level[i]] = -1;
  return found;
}

static int find_groups(struct combiner *c, int64_t limit)
{
  const struct gs_program *p = c->r.from;
  int *level = GS_NEW_ARRAY(c->r.arena, int, p->nsteps + 1), found = 0, begin = 0;
  if (level == NULL) {
    c->r.failed = true;
    return 0;
  }
  for (int i = 0; i <= p->nsteps; i++)
    c->next[i] = c->first[i] = c->last[i] = -1;
  for (int end = 0; end <= p->nsteps; end++) {
    if (end < p->nsteps && !is_border(&p->steps[end]))
      continue;
    for (int i = begin; i < end; i++)
      if (may_combine(p, i, limit) && !c->seen[i]) {
        count_levels(p, begin, end, i, limit, level);
        found += group_alike(c, i, end, limit, level);
      }
    begin = end + 1;
  }
  return found;
}

/* STEP's local value as one dim. */
static int flatten(struct combiner *c, int step, const struct gs_node *node)
{
  const struct gs_type *type = &c->r.steps[step].type;
  struct gs_type flat = { .dtype = type->dtype, .rank = 1, .dims = { gs_type_elements(type) } };
  return type->rank == 1 ? step : gs_rewriter_make(&c->r, GS_OP_RESHAPE, &step, 1, NULL, &flat, node);
}

/* Elements AT on of BUFFER in the shape of old all-reduce I. */
static int take_out(struct combiner *c, int buffer, int64_t at, int i)
{
  const struct gs_step *old = &c->r.from->steps[i];
  struct gs_type flat = { .dtype = old->type.dtype, .rank = 1, .dims = { gs_type_elements(&old->type) } };
  union gs_attrs *attrs = gs_rewriter_attrs(&c->r);
  if (attrs == NULL)
    return buffer;
  attrs->slice.start[0] = at;
  attrs->slice.stride[0] = 1;
  int part = gs_rewriter_make(&c->r, GS_OP_SLICE, &buffer, 1, attrs, &flat, old->node);
  return old->type.rank == 1 ? part : gs_rewriter_make(&c->r, GS_OP_RESHAPE, &part, 1, NULL, &old->type, old->node);
}

/* The group that begins with old all-reduce FIRST, whose operands are there. */
static void make_group(struct combiner *c, int first)
{
  const struct gs_program *p = c->r.from;
  const struct gs_step *old = &p->steps[first];
  int count = 0, n = 0;
  for (int i = first; i >= 0; i = c->next[i])
    count++;
  int *parts = GS_NEW_ARRAY(c->r.arena, int, count);
  union gs_attrs *attrs = gs_rewriter_attrs(&c->r);
  struct gs_type whole = { .dtype = old->type.dtype, .rank = 1 };
  if (parts == NULL || attrs == NULL) {
    c->r.failed = true;
    return;
  }
  gs_rewriter_enter(&c->r, first);
  for (int i = first; i >= 0; i = c->next[i]) {
    parts[n] = flatten(c, c->r.map[p->steps[i].args[0]], p->steps[i].node);
    whole.dims[0] += c->r.steps[parts[n++]].type.dims[0];
  }
  attrs->concat.dim = 0;
  int buffer = gs_rewriter_make(&c->r, GS_OP_CONCAT, parts, count, attrs, &whole, old->node);
  const struct gs_dim_sharding uncut = { .naxes = 0 };
  c->r.steps[buffer].sharding = gs_sharding_make(c->r.table, p->mesh, 1, &uncut, old->attrs->device.axes,
                                                 old->attrs->device.naxes, old->attrs->device.reduce);
  c->r.failed = c->r.failed || c->r.steps[buffer].sharding == NULL;
  buffer = gs_rewriter_make(&c->r, GS_OP_ALL_REDUCE, &buffer, 1, old->attrs, &whole, old->node);
  c->r.steps[buffer].reason = old->reason;
  int64_t at = 0;
  for (int i = first; i >= 0; i = c->next[i]) {
    gs_rewriter_replace(&c->r, i, take_out(c, buffer, at, i));
    at += gs_type_elements(&p->steps[i].type);
    c->made[i] = true;
  }
}

/* The operands of old step I (of all its group) that are not there, onto STACK; how many. */
static int push_missing(const struct combiner *c, int i, int *stack)
{
  const struct gs_program *p = c->r.from;
  int n = 0;
  for (int member = c->first[i] >= 0 ? c->first[i] : i; member >= 0; member = c->first[i] >= 0 ? c->next[member] : -1)
    for (int a = 0; a < p->steps[member].nargs; a++)
      if (!c->made[p->steps[member].args[a]])
        stack[n++] = p->steps[member].args[a];
  return n;
}

/* Old step I, after what it needs. */
static void make_step(struct combiner *c, int i, int *stack)
{
  int n = 1;
  stack[0] = i;
  while (n > 0 && !c->r.failed) {
    int top = stack[n - 1], missing = c->made[top] ? 0 : push_missing(c, top, stack + n);
    n += missing;
    if (missing > 0)
      continue;
    n--;
    if (c->made[top])
      continue;
    if (c->first[top] >= 0) {
      make_group(c, c->first[top]);
    } else {
      gs_rewriter_copy(&c->r, top);
      c->made[top] = true;
    }
  }
}

struct gs_program *gs_program_combine(struct gs_arena *arena, struct gs_sharding_table *table,
                                      struct gs_program *program, int64_t limit)
{
  struct combiner c;
  int room = program->nsteps + 1;
  if (!gs_rewriter_init(&c.r, arena, table, program))
    return NULL;
  c.next = GS_NEW_ARRAY(arena, int, room);
  c.first = GS_NEW_ARRAY(arena, int, room);
  c.last = GS_NEW_ARRAY(arena, int, room);
  c.seen = GS_NEW_ARRAY(arena, bool, room);
  c.made = GS_NEW_ARRAY(arena, bool, room);
  if (c.next == NULL || c.first == NULL || c.last == NULL || c.seen == NULL || c.made == NULL)
    return NULL;
  if (limit == 0 || find_groups(&c, limit) == 0)
    return c.r.failed ? NULL : program;
  for (int i = 0; i < program->nsteps; i++)
    room += program->steps[i].nargs;
  int *stack = GS_NEW_ARRAY(arena, int, room);
  for (int i = 0; i < program->nsteps && stack != NULL && !c.r.failed; i++)
    make_step(&c, i, stack);
  return stack == NULL ? NULL : gs_rewriter_finish(&c.r);
}
