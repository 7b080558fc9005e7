/* tests/programs/manual.c - manual regions with random bodies, over one or two axes, in one region or in two
 * that stand in each other. */
#include <config.h>

#include "tests/programs/programs.h"

#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 8, BODY_TEXT = 260, MOST_ELEMENTS = 3000 };

/* Which manual axis, 0 or 1, cuts which dim; -1: none. */
struct cut { int on[2]; };

struct value { int64_t dims[3]; };

struct region {
  struct program *p;
  int rank, naxes, axes[2];            /* numbers of the program's axes */
  int64_t local[3];
  int ninputs, nvalues;                /* x0, x1, …: shards of inputs first, then what the body makes */
  struct value values[MOST_VALUES];
  char body[BODY_TEXT];
};

static int64_t size_of(const struct region *r, int k)
{
  return r->p->axes[r->axes[k]];
}

static struct cut random_cut(const struct region *r, int percent)
{
  struct cut cut = { { -1, -1 } };
  for (int k = 0; k < r->naxes; k++)
    if (dice_percent(&r->p->dice, percent))
      cut.on[k] = dice_below(&r->p->dice, r->rank);
  return cut;
}

/* "[[a, b], []]" of the axes in SET (bits). */
static void print_cut(const struct region *r, struct cut cut, int set, char text[64])
{
  int at = snprintf(text, 64, "[");
  for (int d = 0; d < r->rank; d++) {
    int n = 0;
    at += snprintf(text + at, 64 - (size_t)at, "%s[", d > 0 ? ", " : "");
    for (int k = 0; k < r->naxes; k++)
      if (cut.on[k] == d && (set >> k & 1))
        at += snprintf(text + at, 64 - (size_t)at, "%s%c", n++ > 0 ? ", " : "", 'a' + r->axes[k]);
    at += snprintf(text + at, 64 - (size_t)at, "]");
  }
  snprintf(text + at, 64 - (size_t)at, "]");
}

/* One of the axes, or both: "a", "[b, a]"; their size. */
static int64_t random_axes(const struct region *r, char text[16])
{
  int first = dice_below(&r->p->dice, r->naxes);
  if (r->naxes == 1 || dice_percent(&r->p->dice, 60)) {
    snprintf(text, 16, "%c", 'a' + r->axes[first]);
    return size_of(r, first);
  }
  snprintf(text, 16, "[%c, %c]", 'a' + r->axes[first], 'a' + r->axes[1 - first]);
  return size_of(r, 0) * size_of(r, 1);
}

static int64_t elements(const struct region *r, const int64_t *dims)
{
  int64_t n = 1;
  for (int i = 0; i < r->rank; i++)
    n *= dims[i];
  return n;
}

/* What one line of the body makes of value V: its text, and its dims in DIMS; false: nothing. */
static bool random_line(const struct region *r, int v, char *text, size_t room, int64_t *dims)
{
  struct dice *d = &r->p->dice;
  char axes[16];
  int64_t n = random_axes(r, axes);
  int dim = dice_below(d, r->rank), to = dice_below(d, r->rank), shift = dice_below(d, 5) - 2;
  int from = dice_below(d, (int)n), other = dice_below(d, (int)n);
  int with = dice_below(d, r->nvalues);
  switch (dice_below(d, 13)) {
  case 11:
    return memcmp(r->values[with].dims, dims, sizeof r->local) == 0 && snprintf(text, room, "x%d + x%d", v, with) > 0;
  case 0: return snprintf(text, room, "%s(x%d, %s)", dice_percent(d, 50) ? "psum" : "pmax", v, axes) > 0;
  case 1: return snprintf(text, room, "ppermute(x%d, %s, %d)", v, axes, shift) > 0;
  case 2: return snprintf(text, room, "ppermute(x%d, %s, [[%d, %d]])", v, axes, from, other) > 0;
  case 3:
    dims[dim] *= n;
    return snprintf(text, room, "all_gather(x%d, %d, %s)", v, dim, axes) > 0 && elements(r, dims) * n < 400;
  case 4: case 5:
    if (dims[dim] % n != 0)
      return false;
    dims[dim] /= n;
    if (from == 0)
      return snprintf(text, room, "reduce_scatter(x%d, %d, %s)", v, dim, axes) > 0;
    dims[to] *= n;
    return snprintf(text, room, "all_to_all(x%d, %d, %d, %s)", v, dim, to, axes) > 0;
  case 6: return snprintf(text, room, "x%d + convert(axis_index(%s), f32)", v, axes) > 0;
  case 7: return snprintf(text, room, "x%d - sum(x%d, dim=%d, keep=true)", v, v, dim) > 0;
  case 8: return snprintf(text, room, "cumsum(x%d, dim=%d)", v, dim) > 0;
  case 9: return snprintf(text, room, "roll(x%d, %d, %d)", v, shift, dim) > 0;
  case 10:
    return snprintf(text, room, "cond(axis_index(%s) > %d, fn(e) { psum(e, %s) }, fn(e) { e - 1 }, x%d)", axes, from,
                    axes, v) > 0;
  default:
    return snprintf(text, room, "loop(2, fn(i, c) { clamp(-8, c + ppermute(c, %s, %d), 8) }, x%d)", axes, shift, v) > 0;
  }
}

/* Annotate with one of the automatic axes, now and then. */
static void cut_automatically(const struct region *r, char *text, size_t room)
{
  int axis = dice_below(&r->p->dice, r->p->naxes), dim = dice_below(&r->p->dice, r->rank);
  char inner[160];
  for (int k = 0; k < r->naxes; k++)
    if (axis == r->axes[k])
      return;
  if (!dice_percent(&r->p->dice, 40) || snprintf(inner, sizeof inner, "%s", text) >= (int)sizeof inner)
    return;
  int at = snprintf(text, room, "shard(%s, [", inner);
  for (int i = 0; i < r->rank; i++)
    at += snprintf(text + at, room - (size_t)at, i == dim ? "%s%c" : "%s-1", i > 0 ? ", " : "", 'a' + axis);
  snprintf(text + at, room - (size_t)at, "])");
}

static void write_body(struct region *r)
{
  int lines = 1 + dice_below(&r->p->dice, 4);
  size_t used = 0;
  for (int i = 0; i < lines && r->nvalues < MOST_VALUES; i++) {
    char text[200];
    int v = dice_percent(&r->p->dice, 70) ? r->nvalues - 1 : dice_below(&r->p->dice, r->nvalues);
    struct value made = r->values[v];
    if (!random_line(r, v, text, sizeof text, made.dims))
      continue;
    cut_automatically(r, text, sizeof text);
    int n = snprintf(r->body + used, BODY_TEXT - used, "x%d = clamp(-8, %s, 8); ", r->nvalues, text);
    if (n >= (int)(BODY_TEXT - used)) {
      r->body[used] = '\0';
      return;
    }
    used += (size_t)n;
    r->values[r->nvalues++] = made;
  }
}

static void choose_region(struct region *r)
{
  struct dice *d = &r->p->dice;
  int order[4];
  dice_shuffle(d, order, r->p->naxes);
  r->naxes = r->p->naxes > 1 && dice_percent(d, 50) ? 2 : 1;
  memcpy(r->axes, order, sizeof r->axes);
  r->rank = 1 + dice_below(d, 3);
  int64_t all = size_of(r, 0) * (r->naxes > 1 ? size_of(r, 1) : 1);
  for (int i = 0; i < r->rank; i++) {
    const int64_t sizes[] = { 1, 2, 3, 4, size_of(r, 0), all, 2 * all };
    r->local[i] = sizes[dice_below(d, 7)];
  }
}

/* An input whose shards the body sees as its next value, cut by CUT. */
static const char *add_input(struct region *r, struct cut cut)
{
  struct gs_type type = { .dtype = GS_DTYPE_F32, .rank = r->rank };
  memcpy(type.dims, r->local, sizeof r->local);
  for (int k = 0; k < r->naxes; k++)
    if (cut.on[k] >= 0)
      type.dims[cut.on[k]] *= size_of(r, k);
  if (gs_type_elements(&type) > MOST_ELEMENTS)
    return NULL;
  const struct program_value *v = program_leaf(r->p, &type);
  memcpy(r->values[r->nvalues++].dims, r->local, sizeof r->local);
  r->ninputs++;
  return v != NULL ? v->name : NULL;
}

/* "manual(fn(x0) { BODY }, [XS], in=[…], out=…, axes=[…])" over the axes in SET. */
static void print_region(const struct region *r, int set, const char *body, const char *xs, const struct cut *in,
                         struct cut out, char *text, size_t room)
{
  char form[64];
  int at = snprintf(text, room, "manual(fn(%s) { %s }, [%s], in=[", r->ninputs > 1 ? "x0, x1" : "x0", body, xs);
  for (int i = 0; i < r->ninputs && at < (int)room; i++) {
    print_cut(r, in[i], set, form);
    at += snprintf(text + at, room - (size_t)at, "%s%s", i > 0 ? ", " : "", form);
  }
  print_cut(r, out, set, form);
  if (at < (int)room)
    at += snprintf(text + at, room - (size_t)at, "], out=%s, axes=[", form);
  for (int k = 0, n = 0; k < r->naxes && at < (int)room; k++)
    if (set >> k & 1)
      at += snprintf(text + at, room - (size_t)at, "%s%c", n++ > 0 ? ", " : "", 'a' + r->axes[k]);
  if (at < (int)room)
    snprintf(text + at, room - (size_t)at, "])");
}

bool program_manual(struct program *p)
{
  struct region r = { .p = p };
  struct cut in[2], out;
  char xs[32] = "", body[BODY_TEXT + 32], whole[STATEMENT_TEXT], inner[STATEMENT_TEXT];
  choose_region(&r);
  int inputs = 1 + dice_below(&p->dice, 2);
  for (int i = 0; i < inputs; i++) {
    in[i] = random_cut(&r, 70);
    const char *name = add_input(&r, in[i]);
    if (name == NULL)
      return false;
    snprintf(xs + strlen(xs), sizeof xs - strlen(xs), "%s%s", i > 0 ? ", " : "", name);
  }
  write_body(&r);
  int last = r.nvalues - 1, all = (1 << r.naxes) - 1;
  out = random_cut(&r, 100);
  if (dice_percent(&p->dice, 25)) {    /* the same on all devices: no axis need cut it */
    out = (struct cut){ { -1, -1 } };
    snprintf(body, sizeof body, r.naxes > 1 ? "%spsum(x%d, [%c, %c])" : "%spsum(x%d, %c)", r.body, last,
             'a' + r.axes[0], 'a' + r.axes[1]);
  } else {
    snprintf(body, sizeof body, "%sx%d", r.body, last);
  }
  if (r.naxes > 1 && dice_percent(&p->dice, 30)) {
    print_region(&r, 2, body, r.ninputs > 1 ? "x0, x1" : "x0", in, out, inner, sizeof inner);
    print_region(&r, 1, inner, xs, in, out, whole, sizeof whole);
  } else {
    print_region(&r, all, body, xs, in, out, whole, sizeof whole);
  }
  return program_add(p, true, "%s", whole) && program_tamed(p);
}
