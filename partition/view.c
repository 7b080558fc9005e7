/* partition/view.c - the steps of a program as lines: which are shown, their numbers and names. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "partition/print_parts.h"

enum { WIDEST_NAME = 12 };

/* Steps without a line of their own. */
static bool is_folded(const struct gs_step *step)
{
  return step->op == GS_OP_SHARD || gs_is_scalar_constant(step->op, &step->type);
}

static int behind(const struct gs_view *view, int step)
{
  while (view->program->steps[step].op == GS_OP_SHARD)
    step = view->program->steps[step].args[0];
  return step;
}

/* Call the step NAME too. */
static void add_name(struct gs_view *view, int step, const char *name)
{
  const char **names = &view->names[behind(view, step)];
  if (name == NULL || (*names != NULL && strcmp(*names, name) == 0))
    return;
  *names = *names == NULL ? name : gs_arena_printf(view->arena, "%s, %s", *names, name);
}

/* The first step that holds a node's value has its name; another layout of it later has not. */
static void name_steps(struct gs_view *view)
{
  const struct gs_program *p = view->program;
  int top = 0;
  for (int i = 0; i < p->nsteps; i++)
    top = p->steps[i].node->id > top ? p->steps[i].node->id : top;
  bool *named = GS_NEW_ARRAY(view->arena, bool, top + 1);
  for (int i = 0; i < p->nsteps && named != NULL; i++) {
    const struct gs_step *s = &p->steps[i];
    if (named[s->node->id] || !(s->is_value || s->op == GS_OP_SHARD))
      continue;
    named[s->node->id] = true;
    add_name(view, i, s->node->name);
  }
  for (int i = 0; i < p->noutputs; i++) {
    /* The output may be a whole expression. */
    const char *name = p->outputs[i].name;
    if (view->names[behind(view, p->outputs[i].step)] == NULL)
      add_name(view, p->outputs[i].step, gs_paint_width(name) <= WIDEST_NAME ? name : "out");
  }
}

static void number_steps(struct gs_view *view)
{
  const struct gs_program *p = view->program;
  bool *output = GS_NEW_ARRAY(view->arena, bool, p->nsteps + 1);
  for (int i = 0; output != NULL && i < p->noutputs; i++)
    output[behind(view, p->outputs[i].step)] = true;
  for (int i = 0; i < p->nsteps; i++) {
    if (is_folded(&p->steps[i]) && (p->steps[i].op == GS_OP_SHARD || output == NULL || !output[i]))
      continue;
    view->numbers[i] = ++view->nshown;
    int width = view->names[i] == NULL ? 0 : gs_paint_width(view->names[i]);
    if (width > view->name_width)
      view->name_width = width < WIDEST_NAME ? width : WIDEST_NAME;
  }
}

bool gs_view_make(struct gs_view *view, struct gs_arena *arena, const struct gs_plan *plan)
{
  const struct gs_program *p = plan->program;
  *view = (struct gs_view){ .arena = arena, .plan = plan, .program = p };
  view->numbers = GS_NEW_ARRAY(arena, int, p->nsteps + 1);
  view->names = GS_NEW_ARRAY(arena, const char *, p->nsteps + 1);
  if (view->numbers == NULL || view->names == NULL)
    return false;
  for (int i = p->nsteps - 1; i >= 0 && view->home == NULL; i--)
    if (p->steps[i].node->span.source != NULL)
      view->home = p->steps[i].node->span.source->name;
  if (p->noutputs > 0 && p->outputs[0].node->span.source != NULL)
    view->home = p->outputs[0].node->span.source->name;
  name_steps(view);
  number_steps(view);
  return true;
}

void gs_view_operand(struct gs_text *text, const struct gs_view *view, int step)
{
  const struct gs_step *s = &view->program->steps[behind(view, step)];
  if (gs_is_scalar_constant(s->op, &s->type))
    gs_print_scalar(text, s->attrs->constant.tensor);
  else
    gs_text_printf(text, "#%d", view->numbers[s - view->program->steps]);
}

static void print_operands(struct gs_text *text, const struct gs_view *view,
                           const struct gs_step *step, const char *between)
{
  for (int i = 0; i < step->nargs; i++) {
    gs_text_add(text, i > 0 ? between : " ");
    gs_view_operand(text, view, step->args[i]);
  }
}

/* ", by 1": whole shards sent on, or what pairs the user wrote; false: nothing so simple. */
static bool print_shift(struct gs_text *text, const struct gs_view *view, const struct gs_step *step)
{
  int64_t shift = 0;
  bool wraps = false;
  if (step->op == GS_OP_EXCHANGE && step->node->op == GS_OP_PPERMUTE && step->node->attrs->manual.npairs > 0)
    gs_print_route(text, step->node->attrs);
  else if (gs_step_shift(view->program, step, &shift, &wraps))
    gs_text_printf(text, " by %" PRId64 "%s", shift, wraps ? "" : ", none past the end");
  else
    return false;
  return true;
}

void gs_view_where(struct gs_text *text, const struct gs_view *view, const struct gs_step *step)
{
  const union gs_attrs *a = step->attrs;
  struct gs_axis axes[GS_STEP_AXES];
  int naxes = gs_step_axes(step, axes);
  if (naxes > 0 && step->op != GS_OP_MASK) {
    gs_text_add(text, " over ");
    gs_axes_print(text, view->program->mesh, axes, naxes);
  }
  switch ((int)step->op) {
  case GS_OP_ALL_REDUCE:
  case GS_OP_ZERO_PARTIAL:
    return;
  case GS_OP_PERMUTE:
    gs_text_add(text, ", ");
    gs_sharding_print(text, a->device.from);
    gs_text_add(text, " to ");
    gs_sharding_print(text, a->device.to);
    return;
  case GS_OP_ALL_TO_ALL:
    gs_text_printf(text, ", dim %d to %d", a->device.dim, a->device.split_dim);
    return;
  case GS_OP_MASK:
    if (a->device.block < 0 || a->device.block * gs_axes_size(a->device.axes, a->device.naxes) < a->device.size) {
      gs_text_printf(text, ", dim %d but for the parts %s the own one with %g", a->device.dim,
                     a->device.block < 0 ? "before" : "behind", a->device.fill);
      return;
    }
    gs_text_printf(text, ", dim %d past %" PRId64 " with %g", a->device.dim, a->device.size,
                   a->device.fill);
    return;
  default:
    if (!print_shift(text, view, step))
      gs_text_printf(text, ", dim %d", a->device.dim);
  }
  if ((step->op == GS_OP_EXCHANGE || step->op == GS_OP_OWN_PART)
      && gs_op_info(step->node->op)->group == GS_GROUP_SHAPE)
    gs_text_printf(text, " for %s", gs_op_info(step->node->op)->name);
}

/* The column of types shows the shape; dims that are the last ones go without saying. */
static void print_broadcast(struct gs_text *text, const struct gs_step *step,
                            const struct gs_type *operand)
{
  int64_t dims[GS_MAX_RANK];
  bool last = true;
  for (int i = 0; i < operand->rank; i++) {
    dims[i] = step->attrs->broadcast.dims[i];
    last = last && dims[i] == step->type.rank - operand->rank + i;
  }
  if (last)
    return;
  gs_text_add(text, ", dims=");
  gs_print_dims(text, dims, operand->rank);
}

/* A gather or a scatter that dynamic_slice or dynamic_update is another name of: one box, moved so that it
 * fits. */
static bool is_one_box(const struct gs_view *view, const struct gs_step *step)
{
  const union gs_attrs *a = step->attrs;
  return (step->op == GS_OP_GATHER || (step->op == GS_OP_SCATTER && a->gather.combine == GS_OP_COUNT))
         && a->gather.clamp && a->gather.collapsed == 0 && a->gather.nbatch == 0
         && view->program->steps[step->args[1]].type.rank == 1;
}

static const char *operator_name(const struct gs_view *view, const struct gs_step *step)
{
  if (is_one_box(view, step))
    return step->op == GS_OP_GATHER ? "dynamic_slice" : "dynamic_update";
  return gs_function_name(step->op, step->attrs);
}

/* Only the indexed dims: the columns show the rest. */
static void print_indexed(struct gs_text *text, const struct gs_view *view, const struct gs_step *step)
{
  const union gs_attrs *a = step->attrs;
  if (step->op == GS_OP_SCATTER && !is_one_box(view, step))
    gs_text_printf(text, ", %s", a->gather.combine == GS_OP_COUNT ? "put" : gs_op_info(a->gather.combine)->name);
  for (int k = 0; k < a->gather.nindexed; k++)
    gs_text_printf(text, "%s%d", k == 0 ? ", dim " : ", ", a->gather.indexed[k]);
}

bool gs_view_is_frame(const struct gs_step *step)
{
  return gs_op_info(step->op)->group == GS_GROUP_CONTROL && step->op != GS_OP_LOOP_VALUE
         && step->op != GS_OP_LOOP_RESULT && step->op != GS_OP_COND_RESULT;
}

/* Result INDEX of the two branches of COND: "#9 or #11". */
static void print_choice(struct gs_text *text, const struct gs_view *view, const struct gs_step *step)
{
  const struct gs_step *steps = view->program->steps;
  int cond = step->args[0], index = step->attrs->carried.index, end = steps[cond].end;
  for (int i = cond + 1; i <= end; i++)
    if (steps[i].op == GS_OP_BRANCH_END && steps[i].scope == cond) {
      gs_view_operand(text, view, steps[i].args[index]);
      gs_text_add(text, i < end ? " or " : "");
    }
}

/* What opens, closes and carries: "loop 5 times", "carried, first #1", "again with #7, #10". */
static void print_control(struct gs_text *text, const struct gs_view *view, const struct gs_step *step)
{
  const struct gs_step *steps = view->program->steps;
  int last = step->op == GS_OP_BRANCH_END ? steps[step->scope].end : -1;
  switch ((int)step->op) {
  case GS_OP_LOOP:
    if (step->attrs->control.trips >= 0)
      gs_text_printf(text, "loop %" PRId64 " time%s%s", step->attrs->control.trips,
                     step->attrs->control.trips == 1 ? "" : "s",
                     step->node->op == GS_OP_EINSUM ? ", the product piece by piece" : "");
    else
      gs_text_add(text, "loop");
    return;
  case GS_OP_LOOP_VALUE:
    gs_text_add(text, "carried, first ");
    gs_view_operand(text, view, steps[step->scope].args[step->attrs->carried.index]);
    return;
  case GS_OP_LOOP_TEST: gs_text_add(text, "while"); break;
  case GS_OP_LOOP_END: gs_text_add(text, "again with"); break;
  case GS_OP_LOOP_RESULT:
    gs_text_add(text, "last ");
    gs_view_operand(text, view, step->args[0] + 1 + step->attrs->carried.index);
    return;
  case GS_OP_COND: gs_text_add(text, "if"); break;
  case GS_OP_BRANCH_END: gs_text_add(text, step == &steps[last] ? "end, giving" : "giving"); break;
  case GS_OP_COND_RESULT: print_choice(text, view, step); return;
  default: return;
  }
  print_operands(text, view, step, ", ");
  if (step->op == GS_OP_BRANCH_END && step != &steps[last])
    gs_text_add(text, "; else");
}

void gs_view_operation(struct gs_text *text, const struct gs_view *view, const struct gs_step *step)
{
  const struct gs_op_info *info = gs_op_info(step->op);
  if (info->group == GS_GROUP_CONTROL) {
    print_control(text, view, step);
    return;
  }
  bool device = info->group == GS_GROUP_COLLECTIVE || info->group == GS_GROUP_DEVICE;
  bool reduces = step->op == GS_OP_ALL_REDUCE || step->op == GS_OP_REDUCE_SCATTER;
  if (gs_step_group_size(step) > 1)
    gs_paint(text, GS_ROLE_COLLECTIVE, gs_op_info(gs_step_kind(view->program, step))->name);
  else
    gs_text_add(text, operator_name(view, step));
  if (reduces && step->attrs->device.reduce != GS_OP_SUM)
    gs_text_printf(text, " %s", gs_op_info(step->attrs->device.reduce)->name);
  if (info->group == GS_GROUP_CONTRACTION)
    gs_text_printf(text, " %s", step->attrs->einsum.spec);
  print_operands(text, view, step, device || info->group == GS_GROUP_CONTRACTION ? " " : ", ");
  if (device)
    gs_view_where(text, view, step);
  else if (step->op == GS_OP_IOTA)
    gs_text_printf(text, " dim=%d", step->attrs->iota.dim);
  else if (step->op == GS_OP_BROADCAST)
    print_broadcast(text, step, &view->program->steps[step->args[0]].type);
  else if (step->op == GS_OP_GATHER || step->op == GS_OP_SCATTER)
    print_indexed(text, view, step);
  else if (step->op != GS_OP_RESHAPE && step->op != GS_OP_CONVERT)
    gs_print_attributes(text, step->op, step->attrs,
                        step->nargs > 0 ? &view->program->steps[step->args[0]].type : NULL,
                        &step->type);
}

void gs_view_step(struct gs_text *text, const struct gs_view *view, int step)
{
  const char *name = view->names[step];
  int depth = view->program->steps[step].depth;
  gs_text_printf(text, "%*s", 2 * depth, "");
  if (name != NULL) {
    gs_paint(text, GS_ROLE_NAME, name);
    int spaces = view->name_width - gs_paint_width(name);
    gs_text_printf(text, "%*s = ", spaces > 0 ? spaces : 0, "");
  }
  gs_view_operation(text, view, &view->program->steps[step]);
}

/* Newlines are counted from the last place asked for: neighbours are near. */
static int line_of(struct gs_view *view, struct gs_span span)
{
  const struct gs_source *source = span.source;
  if (view->source != source) {
    view->source = source;
    view->offset = 0;
    view->line = source->first_line;
  }
  uint32_t end = span.begin < source->length ? span.begin : (uint32_t)source->length;
  for (; view->offset < end; view->offset++)
    view->line += source->text[view->offset] == '\n';
  for (; view->offset > end; view->offset--)
    view->line -= source->text[view->offset - 1] == '\n';
  return view->line;
}

const char *gs_view_place(struct gs_view *view, struct gs_span span)
{
  if (span.source == NULL)
    return NULL;
  const char *name = span.source->name;
  int line = line_of(view, span);
  bool home = name == NULL || (view->home != NULL && strcmp(name, view->home) == 0);
  return home ? gs_arena_printf(view->arena, "%d", line)
              : gs_arena_printf(view->arena, "%s:%d", name, line);
}

const char *gs_node_title(const struct gs_node *node)
{
  while (node->name == NULL && node->op == GS_OP_SHARD)
    node = node->args[0];
  return node->name;
}

void gs_view_node(struct gs_text *text, struct gs_view *view, const struct gs_node *node)
{
  const char *place = gs_view_place(view, node->span), *name = gs_node_title(node);
  if (name != NULL)
    gs_paint(text, GS_ROLE_NAME, name);
  else
    gs_text_add(text, gs_op_info(node->op)->name);
  if (place != NULL)
    gs_text_printf(text, " (%s%s)", strchr(place, ':') == NULL ? "line " : "", place);
}

const struct gs_step *gs_view_root(const struct gs_view *view, const struct gs_step *step)
{
  while (!step->is_value && step->nargs > 0
         && (gs_op_is_collective(step->op) || gs_op_info(step->op)->group == GS_GROUP_DEVICE
             || step->op == GS_OP_SHARD))
    step = &view->program->steps[step->args[0]];
  return step;
}
