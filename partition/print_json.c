/* partition/print_json.c - the plan as one JSON object on one line: every key always present. */
#include <config.h>

#include "partition/print_json.h"

#include <string.h>

#include "partition/paint.h"
#include "partition/print_device.h"

struct writer {
  struct gs_json json;
  struct gs_view view;
  struct gs_arena *scratch;
  int64_t position;                    /* of the device asked for, -1: none */
};

/* "all-gather" is all_gather here. */
static const char *op_name(struct writer *w, enum gs_op op)
{
  const char *name = gs_op_info(op)->name;
  char *copy = gs_arena_string(w->scratch, name, strlen(name));
  for (char *c = copy; c != NULL && *c != '\0'; c++)
    if (*c == '-')
      *c = '_';
  return copy == NULL ? name : copy;
}

static void put_op(struct writer *w, const char *key, enum gs_op op)
{
  gs_json_put_string(&w->json, key, op_name(w, op));
}

/* An exchange is a permute of less than whole parts. */
static enum gs_op kind_of(enum gs_op op)
{
  return op == GS_OP_EXCHANGE ? GS_OP_PERMUTE : op;
}

static void put_shape(struct writer *w, const char *key, const struct gs_type *type)
{
  gs_json_key(&w->json, key);
  gs_json_open(&w->json, '[');
  for (int i = 0; i < type->rank; i++)
    gs_json_integer(&w->json, type->dims[i]);
  gs_json_close(&w->json, ']');
}

static void add_axes(struct writer *w, const struct gs_axis *axes, int naxes)
{
  gs_json_open(&w->json, '[');
  for (int i = 0; i < naxes; i++) {
    struct gs_text text = { .arena = w->scratch };
    gs_axis_print(&text, w->view.program->mesh, axes[i]);
    gs_json_string(&w->json, gs_text_string(&text));
  }
  gs_json_close(&w->json, ']');
}

static void add_manual_axes(struct writer *w, const struct gs_mesh *mesh)
{
  struct gs_axis axes[32];
  int n = 0;
  for (int a = 0; a < mesh->naxes; a++)
    if (mesh->manual >> a & 1)
      axes[n++] = gs_axis_whole(mesh, a);
  add_axes(w, axes, n);
}

static void put_sharding(struct writer *w, const char *key, const struct gs_sharding *s)
{
  struct gs_text xla = { .arena = w->scratch }, sdy = { .arena = w->scratch };
  gs_json_key(&w->json, key);
  gs_json_open(&w->json, '{');
  gs_json_key(&w->json, "dims");
  gs_json_open(&w->json, '[');
  for (int i = 0; i < s->rank; i++)
    add_axes(w, s->dims[i].axes, s->dims[i].naxes);
  gs_json_close(&w->json, ']');
  gs_json_key(&w->json, "partial");
  add_axes(w, s->partial, s->npartial);
  gs_json_put_string(&w->json, "partial_kind",
                     s->npartial == 0 ? NULL : gs_op_info(s->partial_kind)->name);
  gs_json_key(&w->json, "manual");
  add_manual_axes(w, s->mesh);
  gs_sharding_print_xla(&xla, s);
  gs_sharding_print_sdy(&sdy, s);
  gs_json_put_string(&w->json, "xla", gs_text_string(&xla));
  gs_json_put_string(&w->json, "sdy", gs_text_string(&sdy));
  gs_json_close(&w->json, '}');
}

static void put_source(struct writer *w, struct gs_span span)
{
  struct gs_text text = { .arena = w->scratch };
  gs_span_print(&text, span);
  gs_json_put_string(&w->json, "source", text.length == 0 ? NULL : gs_text_string(&text));
}

static void put_mesh(struct writer *w, const struct gs_mesh *mesh)
{
  gs_json_key(&w->json, "mesh");
  gs_json_open(&w->json, '{');
  gs_json_key(&w->json, "axes");
  gs_json_open(&w->json, '[');
  for (int i = 0; i < mesh->naxes; i++) {
    gs_json_open(&w->json, '[');
    gs_json_string(&w->json, mesh->axes[i].name);
    gs_json_integer(&w->json, mesh->axes[i].size);
    gs_json_close(&w->json, ']');
  }
  gs_json_close(&w->json, ']');
  gs_json_put_integer(&w->json, "devices", mesh->ndevices);
  gs_json_put_string(&w->json, "profile", mesh->profile);
  gs_json_close(&w->json, '}');
}

static void put_outputs(struct writer *w)
{
  const struct gs_program *p = w->view.program;
  gs_json_key(&w->json, "outputs");
  gs_json_open(&w->json, '[');
  for (int i = 0; i < p->noutputs; i++) {
    const struct gs_step *s = &p->steps[p->outputs[i].step];
    gs_json_open(&w->json, '{');
    gs_json_put_string(&w->json, "name", p->outputs[i].name);
    gs_json_put_integer(&w->json, "step", p->outputs[i].step + 1);
    gs_json_put_string(&w->json, "dtype", gs_dtype_name(s->type.dtype));
    put_shape(w, "shape", &s->global);
    put_shape(w, "local_shape", &s->type);
    put_sharding(w, "sharding", s->sharding);
    gs_json_close(&w->json, '}');
  }
  gs_json_close(&w->json, ']');
}

/* The elements the device asked for holds, [begin, end) a dim. */
static void put_ranges(struct writer *w, const struct gs_step *s)
{
  gs_json_key(&w->json, "range");
  if (w->position < 0) {
    gs_json_null(&w->json);
    return;
  }
  gs_json_open(&w->json, '[');
  for (int i = 0; i < s->sharding->rank; i++) {
    int64_t begin, end;
    gs_sharding_range(s->sharding, i, s->global.dims[i], w->position, &begin, &end);
    gs_json_open(&w->json, '[');
    gs_json_integer(&w->json, begin);
    gs_json_integer(&w->json, end);
    gs_json_close(&w->json, ']');
  }
  gs_json_close(&w->json, ']');
}

/* What an operator has beside its operands, as the text of a plan says it; null for nothing. */
static void put_attributes(struct writer *w, const struct gs_step *s)
{
  enum gs_op_group group = gs_op_info(s->op)->group;
  struct gs_text text = { .arena = w->scratch };
  if (group == GS_GROUP_COLLECTIVE || group == GS_GROUP_DEVICE)
    gs_view_where(&text, &w->view, s);
  else
    gs_print_attributes(&text, s->op, s->attrs,
                        s->nargs > 0 ? &w->view.program->steps[s->args[0]].type : NULL, &s->type);
  const char *string = gs_text_string(&text);
  string += strspn(string, ", ");
  gs_json_put_string(&w->json, "attributes", string[0] == '\0' ? NULL : string);
}

static void put_value(struct writer *w, const struct gs_step *s)
{
  gs_json_key(&w->json, "value");
  if (gs_is_scalar_constant(s->op, &s->type))
    gs_json_number(&w->json, gs_element_get(s->type.dtype, s->attrs->constant.tensor->data, 0));
  else
    gs_json_null(&w->json);
}

static void add_step(struct writer *w, int index)
{
  const struct gs_step *s = &w->view.program->steps[index];
  gs_json_open(&w->json, '{');
  gs_json_put_integer(&w->json, "id", index + 1);
  put_op(w, "op", s->op);
  gs_json_put_string(&w->json, "name", w->view.names[index]);
  gs_json_put_string(&w->json, "spec", s->op == GS_OP_EINSUM ? s->attrs->einsum.spec : NULL);
  put_attributes(w, s);
  gs_json_key(&w->json, "operands");
  gs_json_open(&w->json, '[');
  for (int i = 0; i < s->nargs; i++)
    gs_json_integer(&w->json, s->args[i] + 1);
  gs_json_close(&w->json, ']');
  put_value(w, s);
  gs_json_put_string(&w->json, "dtype", gs_dtype_name(s->type.dtype));
  put_shape(w, "local_shape", &s->type);
  put_sharding(w, "sharding", s->sharding);
  put_ranges(w, s);
  gs_json_put_number(&w->json, "flops", gs_step_flops(w->view.program, s));
  put_source(w, s->node->span);
  gs_json_close(&w->json, '}');
}

static void put_peers(struct writer *w, const struct gs_step *s)
{
  struct gs_peers peers;
  gs_json_key(&w->json, "peers");
  if (w->position < 0) {
    gs_json_null(&w->json);
    return;
  }
  gs_step_peers(w->view.program, s, w->position, &peers);
  gs_json_open(&w->json, '[');
  for (int i = 0; i < peers.count; i++)
    gs_json_integer(&w->json, peers.devices[i]);
  gs_json_close(&w->json, ']');
}

static void add_collective(struct writer *w, int index)
{
  const struct gs_program *p = w->view.program;
  const struct gs_step *s = &p->steps[index];
  const struct gs_type *operand = &p->steps[s->args[0]].type;
  struct gs_axis axes[GS_STEP_AXES];
  int naxes = gs_step_axes(s, axes);
  gs_json_open(&w->json, '{');
  gs_json_put_integer(&w->json, "step", index + 1);
  put_op(w, "kind", kind_of(s->op));
  gs_json_key(&w->json, "halo");
  gs_json_bool(&w->json, gs_step_kind(w->view.program, s) == GS_OP_EXCHANGE);
  gs_json_key(&w->json, "axes");
  add_axes(w, axes, naxes);
  gs_json_put_integer(&w->json, "group_size", gs_axes_size(axes, naxes));
  gs_json_put_integer(&w->json, "groups", p->mesh->ndevices / gs_axes_size(axes, naxes));
  put_peers(w, s);
  gs_json_put_string(&w->json, "dtype", gs_dtype_name(operand->dtype));
  put_shape(w, "operand_shape", operand);
  gs_json_put_number(&w->json, "bytes", gs_step_bytes(p, s));
  gs_json_put_integer(&w->json, "count", (int64_t)s->count);
  gs_json_put_string(&w->json, "reason", s->reason);
  put_source(w, s->node->span);
  gs_json_close(&w->json, '}');
}

static void put_steps(struct writer *w)
{
  const struct gs_program *p = w->view.program;
  struct gs_arena_mark mark = gs_arena_mark(w->scratch);
  gs_json_key(&w->json, "steps");
  gs_json_open(&w->json, '[');
  for (int i = 0; i < p->nsteps; i++) {
    add_step(w, i);
    gs_arena_rewind(w->scratch, mark);
  }
  gs_json_close(&w->json, ']');
  gs_json_key(&w->json, "collectives");
  gs_json_open(&w->json, '[');
  for (int i = 0; i < p->nsteps; i++)
    if (gs_step_group_size(&p->steps[i]) > 1)
      add_collective(w, i);
  gs_json_close(&w->json, ']');
}

static void put_totals(struct writer *w)
{
  struct gs_program_totals t;
  double by_kind[GS_OP_COUNT] = { 0 };
  gs_program_total(w->scratch, w->view.program, &t);
  for (int op = 0; op < GS_OP_COUNT; op++)
    by_kind[kind_of((enum gs_op)op)] += t.bytes_by_op[op];
  gs_json_key(&w->json, "totals");
  gs_json_open(&w->json, '{');
  gs_json_put_number(&w->json, "bytes", t.bytes);
  gs_json_key(&w->json, "bytes_by_kind");
  gs_json_open(&w->json, '{');
  for (int op = 0; op < GS_OP_COUNT; op++)
    if (by_kind[op] > 0)
      gs_json_put_number(&w->json, op_name(w, (enum gs_op)op), by_kind[op]);
  gs_json_close(&w->json, '}');
  gs_json_put_integer(&w->json, "collectives", t.collectives);
  gs_json_put_number(&w->json, "flops", t.flops);
  gs_json_put_number(&w->json, "flops_whole", t.whole_flops);
  gs_json_put_integer(&w->json, "peak_memory", t.peak_memory);
  gs_json_put_number(&w->json, "padding_fraction", t.padding);
  gs_json_put_number(&w->json, "time_s", t.time);
  gs_json_put_number(&w->json, "completed_bytes", w->view.plan->completed_bytes);
  gs_json_close(&w->json, '}');
}

static void put_departures(struct writer *w)
{
  const struct gs_plan *plan = w->view.plan;
  gs_json_key(&w->json, "departures");
  gs_json_open(&w->json, '[');
  for (int i = 0; i < plan->ndepartures; i++) {
    const struct gs_node *node = plan->graph->nodes[plan->departures[i].node];
    gs_json_open(&w->json, '{');
    gs_json_put_string(&w->json, "name", node->name);
    put_op(w, "op", node->op);
    put_sharding(w, "completed", plan->departures[i].completed);
    put_sharding(w, "chosen", plan->departures[i].chosen);
    put_source(w, node->span);
    gs_json_close(&w->json, '}');
  }
  gs_json_close(&w->json, ']');
}

static void add_warning(void *user, const char *message)
{
  struct writer *w = user;
  struct gs_text plain = { .arena = w->scratch };
  gs_paint_strip(&plain, message);
  gs_json_string(&w->json, gs_text_string(&plain));
}

static void print_plan(struct writer *w)
{
  const struct gs_program *p = w->view.program;
  struct gs_text names = { .arena = w->scratch };
  for (int i = 0; i < p->noutputs; i++)
    gs_text_printf(&names, "%s%s", i > 0 ? "," : "", p->outputs[i].name);
  gs_json_open(&w->json, '{');
  gs_json_put_integer(&w->json, "version", 1);
  gs_json_put_string(&w->json, "plan", gs_text_string(&names));
  gs_json_key(&w->json, "device");
  if (w->position < 0)
    gs_json_null(&w->json);
  else
    gs_json_integer(&w->json, gs_mesh_device(p->mesh, w->position));
  put_mesh(w, p->mesh);
  put_outputs(w);
  put_steps(w);
  put_totals(w);
  put_departures(w);
  gs_json_key(&w->json, "warnings");
  gs_json_open(&w->json, '[');
  gs_view_warnings(&w->view, add_warning, w);
  gs_json_close(&w->json, ']');
  gs_json_close(&w->json, '}');
  gs_text_add(w->json.text, "\n");
}

void gs_print_plan_json(struct gs_text *text, const struct gs_plan *plan,
                        const struct gs_print_options *options)
{
  struct writer w = { .json = { .text = text }, .scratch = gs_arena_new(NULL), .position = -1 };
  if (w.scratch == NULL)
    return;
  if (options->device >= 0)
    w.position = gs_mesh_position(plan->program->mesh, options->device);
  if (gs_view_make(&w.view, w.scratch, plan))
    print_plan(&w);
  gs_arena_free(w.scratch);
}
