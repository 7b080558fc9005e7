/* partition/print_graph.c - the logical graph as source text, each value's completed sharding
 * beside it.  Fed back it makes the same graph (but for the values of large constants). */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "partition/print_dot.h"
#include "partition/print_parts.h"

enum { MOST_LITERALS = 64 };

enum column { STATEMENT, TYPE, SHARDING, LINE, NCOLUMNS };
static const struct gs_column columns[NCOLUMNS] = {
  [STATEMENT] = { "statement", "", false, true },
  [TYPE] = { "type", "", false, false },
  [SHARDING] = { "sharding", "", false, false },
  [LINE] = { "line", "", false, false }
};

struct grapher {
  struct gs_writer w;
  struct gs_view view;
  const struct gs_plan *plan;
  const char **names;                  /* by node id, unique */
  const char **taken;                  /* open addressing */
  size_t slots;
};

/* Take NAME; false when another node has it. */
static bool take(struct grapher *g, const char *name)
{
  uint32_t hash = 2166136261u;
  for (const char *c = name; *c != '\0'; c++)
    hash = (hash ^ (unsigned char)*c) * 16777619u;
  size_t at = hash & (g->slots - 1);
  for (; g->taken[at] != NULL; at = (at + 1) & (g->slots - 1))
    if (strcmp(g->taken[at], name) == 0)
      return false;
  g->taken[at] = name;
  return true;
}

static bool name_nodes(struct grapher *g)
{
  int n = g->plan->completion->nnodes;
  for (g->slots = 64; g->slots < (size_t)n * 2; g->slots *= 2)
    ;
  g->names = GS_NEW_ARRAY(g->w.scratch, const char *, n + 1);
  g->taken = GS_NEW_ARRAY(g->w.scratch, const char *, g->slots);
  if (g->names == NULL || g->taken == NULL)
    return false;
  for (int id = 0; id < n; id++) {
    if (g->plan->completion->shardings[id] == NULL)
      continue;
    const char *name = g->plan->graph->nodes[id]->name;
    const char *unique = name != NULL ? name : gs_arena_printf(g->w.scratch, "t%d", id);
    while (unique != NULL && !take(g, unique))
      unique = gs_arena_printf(g->w.scratch, "%s_%d", unique, id);
    if (unique == NULL)
      return false;
    g->names[id] = unique;
  }
  return true;
}

/* What users call OP: its usage up to the parenthesis. */
static void print_function(struct gs_text *text, enum gs_op op, const union gs_attrs *attrs)
{
  const char *usage = gs_op_info(op)->usage;
  if (op == GS_OP_FFT || op == GS_OP_RANDOM || op == GS_OP_PSUM) {
    gs_text_add(text, gs_function_name(op, attrs));
    return;
  }
  if (usage[0] == '\0')
    gs_text_add(text, gs_op_info(op)->name);
  else
    gs_text_add_bytes(text, usage, strcspn(usage, "("));
}

/* A plain number takes the type of the tensor it meets. */
static bool meets_tensor(const struct gs_node *node, const struct gs_node *scalar)
{
  for (int i = 0; i < node->nargs; i++)
    if (!gs_is_scalar_constant(node->args[i]->op, &node->args[i]->type)
        && node->args[i]->type.dtype == scalar->type.dtype)
      return true;
  return false;
}

static void print_operand(struct gs_text *text, const struct grapher *g, const struct gs_node *node,
                          int i)
{
  const struct gs_node *a = node->args[i];
  if (!gs_is_scalar_constant(a->op, &a->type)) {
    gs_text_add(text, g->names[a->id]);
    return;
  }
  bool plain = meets_tensor(node, a);
  gs_text_add(text, plain ? "" : "tensor(");
  gs_print_scalar(text, a->attrs->constant.tensor);
  if (!plain)
    gs_text_printf(text, ", dtype=%s)", gs_dtype_name(a->type.dtype));
}

static void print_operands(struct gs_text *text, const struct grapher *g,
                           const struct gs_node *node, int count)
{
  for (int i = 0; i < count; i++) {
    gs_text_add(text, i > 0 ? ", " : "");
    print_operand(text, g, node, i);
  }
}

static void print_normal(struct gs_text *text, const struct gs_fill_spec *fill)
{
  gs_text_printf(text, ", normal(%.0f", fill->argument);
  if (fill->mean != 0) {
    gs_text_add(text, ", mean=");
    gs_print_float(text, fill->mean, false);
  }
  if (fill->std != 1) {
    gs_text_add(text, ", std=");
    gs_print_float(text, fill->std, false);
  }
  gs_text_add(text, ")");
}

static void print_fill(struct gs_text *text, const struct gs_fill_spec *fill)
{
  switch (fill->kind) {
  case GS_FILL_PATTERN: gs_text_printf(text, ", pattern(%.0f)", fill->argument); break;
  case GS_FILL_ZEROS: gs_text_add(text, ", zeros()"); break;
  case GS_FILL_ONES: gs_text_add(text, ", ones()"); break;
  case GS_FILL_FULL:
    gs_text_add(text, ", full(");
    gs_print_float(text, fill->argument, false);
    gs_text_add(text, ")");
    break;
  case GS_FILL_IOTA: gs_text_printf(text, ", iota(%.0f)", fill->argument); break;
  case GS_FILL_NORMAL:
    print_normal(text, fill);
    break;
  case GS_FILL_UNIFORM: gs_text_printf(text, ", uniform(%.0f)", fill->argument); break;
  case GS_FILL_DATA: break;
  }
}

/* Nested lists of the elements from *NEXT on. */
static void print_literal(struct gs_text *text, const struct gs_tensor *t, int dim, int64_t *next)
{
  if (dim == t->type.rank) {
    gs_print_float(text, gs_element_get(t->type.dtype, t->data, (*next)++),
                   t->type.dtype != GS_DTYPE_F64);
    return;
  }
  gs_text_add(text, "[");
  for (int64_t i = 0; i < t->type.dims[dim]; i++) {
    gs_text_add(text, i > 0 ? ", " : "");
    print_literal(text, t, dim + 1, next);
  }
  gs_text_add(text, "]");
}

static void print_constant(struct gs_text *text, const struct gs_node *node)
{
  int64_t next = 0, count = gs_type_elements(&node->type);
  if (count > MOST_LITERALS || count == 0
      || gs_dtype_kind(node->type.dtype) == GS_KIND_COMPLEX) {
    gs_text_add(text, "input(");       /* too large to write down: to be given */
    gs_type_print(text, &node->type);
  } else {
    gs_text_add(text, "tensor(");
    print_literal(text, node->attrs->constant.tensor, 0, &next);
    gs_text_printf(text, ", dtype=%s", gs_dtype_name(node->type.dtype));
  }
  gs_text_add(text, ")");
}

static void print_source_of(struct gs_text *text, const struct gs_node *node)
{
  gs_text_printf(text, "%s(", gs_op_info(node->op)->name);
  gs_type_print(text, &node->type);
  if (node->op == GS_OP_IOTA)
    gs_print_attributes(text, node->op, node->attrs, NULL, &node->type);
  else
    print_fill(text, &node->attrs->input.fill);
  gs_text_add(text, ")");
}

/* What a collective of a manual region works along, or the manual axes that cut a value at its border. */
static void print_manual_axes(struct gs_text *text, const struct gs_node *node)
{
  const struct gs_manual *manual = node->manual != NULL ? node->manual : node->args[0]->manual;
  if (node->attrs->manual.spec != NULL) {
    gs_text_add(text, ", ");
    gs_sharding_print_source(text, node->attrs->manual.spec);
  }
  if (node->op == GS_OP_MANUAL_GATHER || node->op == GS_OP_MANUAL_SCATTER || node->op == GS_OP_MANUAL_EXCHANGE)
    gs_text_printf(text, ", %d", node->attrs->manual.dim);
  if (node->op == GS_OP_MANUAL_EXCHANGE)
    gs_text_printf(text, ", %d", node->attrs->manual.concat);
  for (int i = 0; i < node->attrs->manual.naxes; i++)
    gs_text_printf(text, "%s%s", i > 0 ? ", " : node->op == GS_OP_AXIS_INDEX ? "[" : ", [",
                   manual->mesh->axes[(int)node->attrs->manual.axes[i]].name);
  gs_text_add(text, node->attrs->manual.naxes > 0 ? "]" : "");
  if (node->op == GS_OP_PPERMUTE)
    gs_print_route(text, node->attrs);
}

static void print_call(struct gs_text *text, const struct grapher *g, const struct gs_node *node)
{
  print_function(text, node->op, node->attrs);
  gs_text_add(text, node->op == GS_OP_CONCAT ? "([" : "(");
  if (node->op == GS_OP_EINSUM)
    gs_text_printf(text, "\"%s\", ", node->attrs->einsum.spec);
  print_operands(text, g, node, node->op == GS_OP_PAD ? 1 : node->op == GS_OP_AXIS_INDEX ? 0 : node->nargs);
  gs_text_add(text, node->op == GS_OP_CONCAT ? "]" : "");
  if (node->op == GS_OP_SHARD) {
    gs_text_add(text, ", ");
    if (node->attrs->shard.annotation != NULL)
      gs_sharding_print_source(text, node->attrs->shard.annotation);
    else
      gs_text_add(text, "replicated");
  }
  gs_print_attributes(text, node->op, node->attrs, node->nargs > 0 ? &node->args[0]->type : NULL,
                      &node->type);
  if (gs_op_info(node->op)->group == GS_GROUP_MANUAL)
    print_manual_axes(text, node);
  if (node->op == GS_OP_CONV)
    gs_text_printf(text, ", layout=\"%s\"", node->attrs->conv.conv->layout);
  if (node->op == GS_OP_PAD) {
    gs_text_add(text, ", value=");
    print_operand(text, g, node, 1);
  }
  gs_text_add(text, ")");
}

/* The payload first, then what it is ordered by. */
static void print_ordered(struct gs_text *text, const struct grapher *g, const struct gs_node *node)
{
  int payload = node->nargs - 1;
  if (node->op == GS_OP_TOP_K) {
    gs_text_add(text, "top_k(");
    print_operand(text, g, node, 0);
    gs_text_printf(text, ", %" PRId64 ")[%d]", node->attrs->order.k, payload > 0);
    return;
  }
  gs_text_add(text, "sort(");
  print_operand(text, g, node, payload);
  gs_text_printf(text, ", %d%s", node->attrs->order.dim,
                 node->attrs->order.descending ? ", descending=true" : "");
  if (payload > 0) {
    gs_text_add(text, ", by=[");
    print_operands(text, g, node, payload);
    gs_text_add(text, "]");
  }
  gs_text_add(text, ")");
}

static void print_node(struct gs_text *text, const struct grapher *g, const struct gs_node *node)
{
  gs_paint(text, GS_ROLE_NAME, g->names[node->id]);
  gs_text_add(text, " = ");
  if (node->op == GS_OP_SHARD && node->attrs->shard.annotation == NULL) {
    print_operand(text, g, node, 0);   /* its annotation was taken away */
  } else if (node->op == GS_OP_CONSTANT) {
    print_constant(text, node);
  } else if (node->op == GS_OP_LOOP_VALUE) {
    gs_text_printf(text, "c%d[%d]", node->attrs->carried.region, node->attrs->carried.index);
  } else if (node->op == GS_OP_LOOP_RESULT || node->op == GS_OP_COND_RESULT) {
    gs_text_printf(text, "%s[%d]", g->names[node->args[0]->id], node->attrs->carried.index);
  } else if (node->nargs == 0) {
    print_source_of(text, node);
  } else if (node->op == GS_OP_SORT || node->op == GS_OP_TOP_K) {
    print_ordered(text, g, node);
  } else if (node->op == GS_OP_SLICE) {
    print_operand(text, g, node, 0);
    gs_print_attributes(text, node->op, node->attrs, &node->args[0]->type, &node->type);
  } else {
    print_call(text, g, node);
  }
}

static void add_row(struct grapher *g, struct gs_table *table, const struct gs_node *node, int depth)
{
  const char **row = gs_table_row(table);
  struct gs_text statement = gs_writer_text(&g->w), type = gs_writer_text(&g->w),
                 sharding = gs_writer_text(&g->w);
  if (row == NULL)
    return;
  gs_text_printf(&statement, "%*s", 2 * depth, "");
  print_node(&statement, g, node);
  gs_text_add(&type, "# ");
  gs_type_print(&type, &node->type);
  gs_print_sharding(&sharding, g->plan->completion->shardings[node->id]);
  row[STATEMENT] = gs_text_string(&statement);
  row[TYPE] = gs_text_string(&type);
  row[SHARDING] = gs_text_string(&sharding);
  const char *place = gs_view_place(&g->view, node->span);
  if (place != NULL)
    row[LINE] = gs_arena_printf(g->w.scratch, "%s%s", strchr(place, ':') == NULL ? "line " : "",
                                place);
}

/* The devices in order as nested lists, from position *NEXT on. */
static void print_order(struct gs_text *text, const struct gs_mesh *mesh, int axis, int64_t *next)
{
  if (axis == mesh->naxes) {
    gs_text_printf(text, "%" PRId64, mesh->order[(*next)++]);
    return;
  }
  gs_text_add(text, "[");
  for (int64_t i = 0; i < mesh->axes[axis].size; i++) {
    gs_text_add(text, i > 0 ? ", " : "");
    print_order(text, mesh, axis + 1, next);
  }
  gs_text_add(text, "]");
}

static void print_mesh(struct gs_text *text, const struct gs_mesh *mesh)
{
  int64_t sizes[GS_MESH_MAX_AXES], next = 0;
  gs_text_add(text, "mesh(");
  for (int i = 0; i < mesh->naxes; i++)
    sizes[i] = mesh->axes[i].size;
  if (!mesh->anonymous)
    gs_mesh_print(text, mesh);
  else if (mesh->order != NULL && mesh->ndevices <= MOST_LITERALS)
    print_order(text, mesh, 0, &next);
  else
    gs_print_dims(text, sizes, mesh->naxes);
  if (mesh->profile != NULL)
    gs_text_printf(text, ", profile=\"%s\"", mesh->profile);
  gs_text_add(text, ")");
}

static void add_mesh(struct grapher *g, struct gs_table *table)
{
  const char **row = gs_table_row(table);
  struct gs_text line = gs_writer_text(&g->w);
  print_mesh(&line, g->plan->mesh);
  if (row != NULL)
    row[STATEMENT] = gs_text_string(&line);
}

/* A row without a value of its own. */
static struct gs_text *open_frame(struct grapher *g, struct gs_text *text, int depth)
{
  *text = gs_writer_text(&g->w);
  gs_text_printf(text, "%*s", 2 * depth, "");
  return text;
}

static void add_frame(struct gs_table *table, struct gs_text *text)
{
  const char **row = gs_table_row(table);
  if (row != NULL)
    row[STATEMENT] = gs_text_string(text);
}

/* "[x, y]": operand ARG of the nodes that carry LOOP's values. */
static void print_carried(struct gs_text *text, const struct grapher *g, const struct gs_node *loop, int arg)
{
  int n = loop->nargs - (loop->attrs->control.trips < 0);
  for (int k = 0; k < n; k++) {
    gs_text_add(text, k > 0 ? ", " : "[");
    print_operand(text, g, loop->args[k], arg);
  }
  gs_text_add(text, "]");
}

static void print_region(struct grapher *g, struct gs_table *table, int region, int begin, int end, int depth);

static void print_body(struct grapher *g, struct gs_table *table, int region, int depth)
{
  const struct gs_region *r = &g->plan->graph->regions[region];
  print_region(g, table, region, r->begin, r->end, depth);
}

static void print_loop(struct grapher *g, struct gs_table *table, const struct gs_node *loop, int depth)
{
  int region = loop->attrs->control.regions[0];
  const struct gs_node *test = loop->attrs->control.trips < 0 ? loop->args[loop->nargs - 1] : NULL;
  struct gs_text text;
  gs_text_printf(open_frame(g, &text, depth), "%s = ", g->names[loop->id]);
  if (test == NULL)
    gs_text_printf(&text, "loop(%" PRId64 ", fn(turn, c%d) {", loop->attrs->control.trips, region);
  else
    gs_text_printf(&text, "while_loop(fn(c%d) {", region);
  add_frame(table, &text);
  print_body(g, table, region, depth + 1);
  if (test != NULL) {                  /* the condition and the body see the same values */
    gs_text_add(open_frame(g, &text, depth + 1), g->names[test->id]);
    add_frame(table, &text);
    gs_text_printf(open_frame(g, &text, depth), "}, fn(c%d) {", region);
    add_frame(table, &text);
    print_body(g, table, region, depth + 1);
  }
  print_carried(open_frame(g, &text, depth + 1), g, loop, 2);
  add_frame(table, &text);
  gs_text_add(open_frame(g, &text, depth), "}, ");
  print_carried(&text, g, loop, 0);
  gs_text_add(&text, ")");
  add_frame(table, &text);
}

static void print_cond(struct grapher *g, struct gs_table *table, const struct gs_node *cond, int depth)
{
  const struct gs_graph *graph = g->plan->graph;
  struct gs_text text;
  for (int branch = 0; branch < 2; branch++) {
    open_frame(g, &text, depth);
    if (branch == 0) {
      gs_text_printf(&text, "%s = cond(", g->names[cond->id]);
      print_operand(&text, g, cond, 0);
    } else {
      gs_text_add(&text, "}");
    }
    gs_text_add(&text, ", fn() {");
    add_frame(table, &text);
    print_body(g, table, cond->attrs->control.regions[branch], depth + 1);
    open_frame(g, &text, depth + 1);
    const char *before = "[";
    for (int id = cond->id + 1; id < g->plan->completion->nnodes; id++) {
      const struct gs_node *result = graph->nodes[id];
      if (result->op != GS_OP_COND_RESULT || result->args[0] != cond)
        break;                         /* results stand behind their branch */
      gs_text_add(&text, before);
      if (g->names[id] != NULL)
        print_operand(&text, g, result, 1 + branch);
      else
        gs_text_add(&text, "0");       /* nobody needs it */
      before = ", ";
    }
    gs_text_add(&text, "]");
    add_frame(table, &text);
  }
  gs_text_add(open_frame(g, &text, depth), "})");
  add_frame(table, &text);
}

static void print_region(struct grapher *g, struct gs_table *table, int region, int begin, int end, int depth)
{
  for (int id = begin; id < end; id++) {
    const struct gs_node *node = g->plan->graph->nodes[id];
    if (g->plan->completion->shardings[id] == NULL || node->region != region
        || gs_is_scalar_constant(node->op, &node->type) || node->op == GS_OP_LOOP_NEXT)
      continue;
    if (node->op == GS_OP_LOOP)
      print_loop(g, table, node, depth);
    else if (node->op == GS_OP_COND)
      print_cond(g, table, node, depth);
    else
      add_row(g, table, node, depth);
  }
}

static void print_nodes(struct grapher *g)
{
  struct gs_table table;
  const struct gs_completion *c = g->plan->completion;
  gs_table_init(&table, g->w.scratch, columns, NCOLUMNS);
  add_mesh(g, &table);
  print_region(g, &table, 0, 0, c->nnodes, 0);
  gs_writer_table(&g->w, &table);
}

void gs_print_graph(struct gs_text *text, const struct gs_plan *plan,
                    const struct gs_print_options *options)
{
  struct grapher g = { .plan = plan };
  if (options->format == GS_FORMAT_DOT) {
    gs_print_graph_dot(text, plan, options);
    return;
  }
  if (!gs_writer_open(&g.w, text, options, "graph"))
    return;
  if (gs_view_make(&g.view, g.w.scratch, plan) && name_nodes(&g))
    print_nodes(&g);
  gs_writer_close(&g.w);
}
