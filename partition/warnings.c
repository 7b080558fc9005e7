/* partition/warnings.c - what in a plan deserves a second look: full replication, much padding. */
#include <config.h>

#include <inttypes.h>

#include "partition/print_parts.h"

enum { MOST_PADDINGS = 16 };

static const double much_padding = 0.25;
static const int64_t much_memory = 64 << 10;

static bool is_cut(const struct gs_sharding *s)
{
  for (int i = 0; s != NULL && i < s->rank; i++)
    if (s->dims[i].naxes > 0)
      return true;
  return false;
}

/* Completion left the value of STEP cut. */
static bool meant_cut(const struct gs_view *view, const struct gs_step *step)
{
  const struct gs_completion *c = view->plan->completion;
  return step->node->id < c->nnodes && is_cut(c->shardings[step->node->id]);
}

/* A gather that leaves the whole of a value on every device though its sharding asks for parts: of a large
 * computed value, or of one of which then only parts are used.  That a small operand is gathered, or a
 * weight, is how many good plans go. */
static bool replicates(const struct gs_view *view, int step, const bool *cut_again)
{
  const struct gs_step *s = &view->program->steps[step];
  bool manual = s->sharding->mesh->manual != 0;        /* other devices hold other shards */
  if (s->op != GS_OP_ALL_GATHER || manual || is_cut(s->sharding) || gs_step_group_size(s) <= 1)
    return false;
  const struct gs_step *root = gs_view_root(view, s);
  if (!gs_type_equal(&root->global, &root->node->type))      /* only a piece of the value */
    return false;
  if (!meant_cut(view, root) || (s->is_value && !meant_cut(view, s)))
    return false;
  return cut_again[step] || (root->nargs > 0 && gs_type_bytes(&s->type) >= much_memory);
}

static void warn_replicated(struct gs_view *view, gs_warning_function *line, void *user)
{
  const struct gs_program *p = view->program;
  bool *cut_again = GS_NEW_ARRAY(view->arena, bool, p->nsteps + 1);
  if (cut_again == NULL)
    return;
  for (int i = 0; i < p->nsteps; i++)
    if (p->steps[i].op == GS_OP_SHARD_SLICE)
      cut_again[p->steps[i].args[0]] = true;
  for (int i = 0; i < p->nsteps; i++)  /* by all that use it */
    for (int k = 0; k < p->steps[i].nargs && p->steps[i].op != GS_OP_SHARD_SLICE; k++)
      cut_again[p->steps[i].args[k]] = false;
  for (int i = 0; i < p->nsteps; i++) {
    if (!replicates(view, i, cut_again))
      continue;
    struct gs_text text = { .arena = view->arena };
    gs_view_node(&text, view, gs_view_root(view, &p->steps[i])->node);
    gs_text_printf(&text, ": full replication, every device holds all ");
    gs_print_bytes(&text, (double)gs_type_bytes(&p->steps[i].type));
    gs_text_printf(&text, " of it (#%d)", view->numbers[i]);
    line(user, gs_text_string(&text));
  }
}

/* Values padded in the same way, told together. */
struct padding {
  const struct gs_step *first;
  int dim, more;
  double share;
};

static int worst_dim(const struct gs_step *s)
{
  int worst = 0;
  double least = 2;
  for (int i = 0; i < s->sharding->rank; i++) {
    double held = (double)gs_sharding_parts(s->sharding, i)
                  * (double)gs_sharding_block(s->sharding, i, s->global.dims[i]);
    double used = held > 0 ? (double)s->global.dims[i] / held : 1;
    if (used < least) {
      least = used;
      worst = i;
    }
  }
  return worst;
}

static bool same_padding(const struct padding *p, const struct gs_step *s, int dim)
{
  return p->first->global.dims[p->dim] == s->global.dims[dim]
         && gs_sharding_parts(p->first->sharding, p->dim) == gs_sharding_parts(s->sharding, dim);
}

static void tell_padding(struct gs_view *view, const struct padding *p, gs_warning_function *line,
                         void *user)
{
  const struct gs_dim_sharding *d = &p->first->sharding->dims[p->dim];
  struct gs_text text = { .arena = view->arena };
  gs_view_node(&text, view, p->first->node);
  gs_text_add(&text, ": ");
  gs_print_percent(&text, p->share);
  gs_text_printf(&text, " is padding, dim %d has %" PRId64 " elements in %" PRId64 " parts over ",
                 p->dim, p->first->global.dims[p->dim],
                 gs_sharding_parts(p->first->sharding, p->dim));
  gs_axes_print(&text, view->program->mesh, d->axes, d->naxes);
  if (p->more > 0)
    gs_text_printf(&text, "; likewise %d more value%s", p->more, p->more == 1 ? "" : "s");
  line(user, gs_text_string(&text));
}

static void warn_padding(struct gs_view *view, gs_warning_function *line, void *user)
{
  struct padding found[MOST_PADDINGS];
  int count = 0;
  for (int i = 0; i < view->program->nsteps; i++) {
    const struct gs_step *s = &view->program->steps[i];
    if (!s->is_value || s->sharding->rank == 0)
      continue;
    double share = gs_sharding_padding(s->sharding, &s->global);
    if (share <= much_padding)
      continue;
    int dim = worst_dim(s), k = 0;
    while (k < count && !same_padding(&found[k], s, dim))
      k++;
    if (k < count)
      found[k].more++;
    else if (count < MOST_PADDINGS)
      found[count++] = (struct padding){ s, dim, 0, share };
  }
  for (int k = 0; k < count; k++)
    tell_padding(view, &found[k], line, user);
}

void gs_view_warnings(struct gs_view *view, gs_warning_function *line, void *user)
{
  warn_replicated(view, line, user);
  warn_padding(view, line, user);
}

void gs_print_warning_line(void *user, const char *message)
{
  struct gs_writer *w = user;
  struct gs_text line = gs_writer_text(w);
  gs_paint(&line, GS_ROLE_WARNING, "warning: ");
  gs_text_add(&line, message);
  gs_writer_line(w, &line);
}

void gs_print_warnings(struct gs_text *text, const struct gs_plan *plan,
                       const struct gs_print_options *options)
{
  struct gs_print_options plain = *options;
  struct gs_writer w;
  struct gs_view view;
  plain.format = GS_FORMAT_TEXT;
  if (!gs_writer_open(&w, text, &plain, "warnings"))
    return;
  if (gs_view_make(&view, w.scratch, plan))
    gs_view_warnings(&view, gs_print_warning_line, &w);
  gs_writer_close(&w);
}
