/* partition/partition.c - the way from a graph to its plan. */
#include <config.h>

#include "partition/partition.h"

#include <string.h>

#include "partition/emit.h"
#include "partition/join.h"
#include "partition/looped.h"
#include "partition/windows.h"

struct job {
  struct gs_arena *arena;
  struct gs_graph *graph;
  struct gs_node *const *outputs;
  const char *const *names;
  int noutputs;
  const struct gs_partition_options *options;
  struct gs_sharding_table *table;
  struct gs_resharder *resharder;
  struct gs_slice_of_graph *slice;
  const struct gs_mesh *mesh;
  const struct gs_mesh **meshes;               /* by id: the mesh as seen where the node is */
  const struct gs_sharding **annotations;      /* by id */
  bool *fixed, *output;                        /* by id */
};

static const struct gs_mesh *single_device(struct gs_arena *arena, struct gs_diagnostics *d)
{
  struct gs_mesh_axis axis = { "device", 1 };
  return gs_mesh_new(arena, d, (struct gs_span){ 0 }, 1, &axis, NULL, false);
}

/* The mesh of the program: that of a manual region, else the current one if an annotation uses it, else that
 * of the first annotation. */
static const struct gs_mesh *base_mesh(const struct job *j, const struct gs_mesh *current)
{
  const struct gs_mesh *first = NULL;
  bool found = false;
  for (int i = 0; i < j->slice->count; i++) {
    const struct gs_node *node = j->graph->nodes[j->slice->order[i]];
    if (node->manual != NULL)
      return node->manual->mesh;
    if (node->op != GS_OP_SHARD || node->attrs->shard.annotation == NULL)
      continue;
    const struct gs_mesh *mesh = node->attrs->shard.annotation->mesh;
    found = found || (current != NULL && gs_mesh_equal(mesh, current));
    if (first == NULL)
      first = mesh;
  }
  if (found)
    return current;
  return first != NULL ? first : current != NULL ? current : single_device(j->arena, j->graph->diagnostics);
}

/* The annotation of NODE in terms of the program's mesh. */
static const struct gs_sharding *translate(struct job *j, const struct gs_node *node)
{
  const struct gs_sharding *from = node->attrs->shard.annotation;
  bool same = gs_mesh_equal(from->mesh, j->mesh);
  struct gs_axis_list lists[GS_MAX_RANK], axes;
  struct gs_dim_sharding dims[GS_MAX_RANK] = { { 0 } };
  for (int i = 0; i < from->rank; i++) {
    lists[i].count = 0;
    for (int k = 0; k < from->dims[i].naxes; k++) {
      struct gs_axis a = from->dims[i].axes[k];
      if (same)
        gs_axis_list_set(&axes, &a, 1);
      else if (!gs_mesh_translate(j->arena, j->graph->diagnostics, node->attrs->shard.span, j->mesh,
                                  from->mesh, a.axis, &axes))
        return NULL;
      for (int t = 0; t < axes.count; t++)
        gs_axis_list_add(&lists[i], axes.items[t]);
    }
    dims[i] = (struct gs_dim_sharding){ .naxes = lists[i].count, .open = from->dims[i].open, .axes = lists[i].items };
  }
  const struct gs_mesh *mesh = j->meshes[node->id];
  for (int i = 0; i < from->rank; i++)
    for (int k = 0; k < dims[i].naxes; k++)
      if (mesh->manual >> dims[i].axes[k].axis & 1) {
        gs_error(j->graph->diagnostics, node->attrs->shard.span,
                 "shard: axis %s is manual here, the shards along it are the body's own",
                 mesh->axes[dims[i].axes[k].axis].name);
        return NULL;
      }
  return gs_sharding_make(j->table, mesh, from->rank, dims, NULL, 0, GS_OP_SUM);
}

/* The mesh as each node sees it.  Manual regions are over the program's mesh. */
static bool find_meshes(struct job *j)
{
  struct view { const struct gs_manual *manual; struct gs_mesh *mesh; struct view *next; } *views = NULL, *v;
  j->meshes = GS_NEW_ARRAY(j->arena, const struct gs_mesh *, j->graph->nnodes + 1);
  if (j->meshes == NULL)
    return false;
  for (int id = 0; id < j->graph->nnodes; id++) {
    const struct gs_node *node = j->graph->nodes[id];
    j->meshes[id] = j->mesh;
    if (node->manual == NULL || !j->slice->needed[id])
      continue;
    for (v = views; v != NULL && v->manual != node->manual;)
      v = v->next;
    if (v == NULL) {
      if (!gs_mesh_equal(node->manual->mesh, j->mesh)) {
        gs_error(j->graph->diagnostics, node->span, "manual: the region is over another mesh than the program");
        return false;
      }
      v = GS_NEW(j->arena, struct view);
      struct gs_mesh *inside = gs_arena_copy(j->arena, j->mesh, sizeof *inside);
      if (v == NULL || inside == NULL)
        return false;
      inside->manual = node->manual->axes;
      *v = (struct view){ node->manual, inside, views };
      views = v;
    }
    j->meshes[id] = v->mesh;
  }
  return true;
}

static bool read_annotations(struct job *j)
{
  int nnodes = j->graph->nnodes;
  j->annotations = GS_NEW_ARRAY(j->arena, const struct gs_sharding *, nnodes + 1);
  j->fixed = GS_NEW_ARRAY(j->arena, bool, nnodes + 1);
  j->output = GS_NEW_ARRAY(j->arena, bool, nnodes + 1);
  if (j->annotations == NULL || j->fixed == NULL || j->output == NULL)
    return false;
  for (int i = 0; i < j->slice->count; i++) {
    const struct gs_node *node = j->graph->nodes[j->slice->order[i]];
    if (node->op != GS_OP_SHARD || node->attrs->shard.annotation == NULL)
      continue;
    j->annotations[node->id] = translate(j, node);
    if (j->annotations[node->id] == NULL)
      return false;
    /* An annotated input arrives sharded that way. */
    const struct gs_node *x = node->args[0];
    j->fixed[node->id] = true;
    if (x->op == GS_OP_INPUT || x->op == GS_OP_PARAM)
      j->fixed[x->id] = true;
  }
  for (int i = 0; i < j->noutputs; i++)
    j->output[j->outputs[i]->id] = true;
  return true;
}

/* Lower is better: bytes sent and FLOPs / 1000, ties by collectives [PARTITIONING.md 10]. */
static double objective(struct gs_arena *arena, const struct gs_program *program, double *bytes)
{
  struct gs_program_totals totals;
  gs_program_total(arena, program, &totals);
  *bytes = totals.bytes;
  return totals.bytes + totals.flops / 1000 + totals.collectives * 1e-2;
}

/* SLICE is what CHOICES were made for: without values that others have taken in. */
static bool list_departures(struct gs_plan *plan, struct job *j, const struct gs_slice_of_graph *slice,
                            const struct gs_choice *choices)
{
  int capacity = 0;
  for (int i = 0; i < slice->count; i++)
    capacity += choices[slice->order[i]].sharding != plan->completion->shardings[slice->order[i]];
  plan->departures = GS_NEW_ARRAY(j->arena, struct gs_departure, capacity + 1);
  if (plan->departures == NULL)
    return false;
  for (int i = 0; i < slice->count; i++) {
    int id = slice->order[i];
    const struct gs_sharding *completed = plan->completion->shardings[id];
    const struct gs_node *node = j->graph->nodes[id];
    if (choices[id].sharding == NULL)  /* taken into a chain */
      continue;
    if (choices[id].sharding != completed && (node->nargs > 0 || node->op == GS_OP_INPUT
                                              || node->op == GS_OP_PARAM))
      plan->departures[plan->ndepartures++] = (struct gs_departure){ id, completed,
                                                                     choices[id].sharding };
  }
  return true;
}

/* What a loop carries has one sharding: the one it has in the body. */
static void join_carries(struct job *j, struct gs_completion *completion)
{
  for (int i = 0; i < j->slice->count; i++) {
    const struct gs_node *node = j->graph->nodes[j->slice->order[i]];
    if (node->op != GS_OP_LOOP_NEXT)
      continue;
    completion->shardings[node->id] = completion->shardings[node->args[1]->id];
    j->fixed[node->id] = j->fixed[node->args[1]->id] = true;
  }
}

/* Completion leaves dims open; from here on that no longer matters. */
static bool close_dims(struct job *j, struct gs_completion *completion)
{
  for (int i = 0; i < j->slice->count; i++) {
    const struct gs_sharding *s = completion->shardings[j->slice->order[i]];
    struct gs_dim_sharding dims[GS_MAX_RANK];
    bool open = false;
    for (int d = 0; d < s->rank; d++) {
      dims[d] = s->dims[d];
      open = open || dims[d].open;
      dims[d].open = false;
    }
    if (open)
      s = gs_sharding_make(j->table, s->mesh, s->rank, dims, NULL, 0, GS_OP_SUM);
    if (s == NULL)
      return false;
    completion->shardings[j->slice->order[i]] = s;
  }
  return true;
}

enum { LARGE = 20000 };                /* nodes; from here on the fewer tries the better */

/* The best so far. */
struct best { double cost; const struct gs_choice *choices; };

/* Choose and emit by REQUEST; keep the program if it is better than the plan's, the BEST. */
static bool try_program(struct gs_plan *plan, struct job *j, const struct gs_choose_request *request,
                        struct best *best)
{
  double bytes;
  struct gs_choice *chosen = gs_choose(request);
  struct gs_program *other =
      chosen != NULL ? gs_emit(request, chosen, j->outputs, j->names, j->noutputs) : NULL;
  if (other == NULL)
    return false;
  double other_cost = objective(j->arena, other, &bytes);
  if (other_cost >= best->cost - 1e-6)
    return true;
  *best = (struct best){ other_cost, chosen };
  plan->program = other;
  plan->ndepartures = 0;
  return list_departures(plan, j, request->slice, chosen);
}

/* Where something is moved: nodes whose operands or result are not where they are wanted. */
static void find_moves(const struct gs_slice_of_graph *slice, const struct gs_choice *choices, bool *moved)
{
  for (int i = 0; i < slice->count; i++) {
    const struct gs_node *node = slice->graph->nodes[slice->order[i]];
    const struct gs_choice *c = &choices[node->id];
    if (c->strategy == NULL)
      continue;
    moved[node->id] = moved[node->id] || c->strategy->produced != c->sharding;
    for (int a = 0; a < node->nargs; a++)
      if (c->strategy->required[a] != choices[node->args[a]->id].sharding)
        moved[node->id] = moved[node->args[a]->id] = true;
  }
}

/* Again with more ways to run operators where something is moved.  Outputs stay as they are: what was found for them came of the program
 * itself, here they would be moved just to end up finer. */
static bool try_more_ways(struct gs_plan *plan, struct job *j, struct gs_choose_request request, struct best *best)
{
  struct gs_completion pinned = *request.completion;
  size_t count = (size_t)request.slice->graph->nnodes + 1;
  bool *fixed = gs_arena_copy(j->arena, request.fixed, count * sizeof *fixed);
  bool *wide = GS_NEW_ARRAY(j->arena, bool, count);
  pinned.shardings = gs_arena_copy(j->arena, pinned.shardings, count * sizeof *pinned.shardings);
  if (fixed == NULL || wide == NULL || pinned.shardings == NULL)
    return false;
  for (int i = 0; i < j->noutputs; i++) {
    int id = j->outputs[i]->id;
    pinned.shardings[id] = best->choices[id].sharding;
    fixed[id] = true;
  }
  request.completion = &pinned;
  request.fixed = fixed;
  find_moves(request.slice, best->choices, wide);
  request.wide = wide;
  if (!try_program(plan, j, &request, best))
    return false;
  request.shared = true;
  return request.slice->count > LARGE || try_program(plan, j, &request, best);
}

static bool outputs_are_annotated(const struct job *j)
{
  for (int i = 0; i < j->noutputs; i++)
    if (!j->fixed[j->outputs[i]->id])
      return false;
  return true;
}

static bool plan_programs(struct gs_plan *plan, struct job *j)
{
  struct gs_choose_request request = {
    .arena = j->arena, .table = j->table, .resharder = j->resharder, .slice = j->slice,
    .completion = plan->completion, .meshes = j->meshes, .fixed = j->fixed, .output = j->output, .options = j->options,
    .ways = gs_ways_table_new(j->arena)
  };
  if (request.ways == NULL)
    return false;
  struct gs_choice *completed = gs_choose_completed(&request);
  if (completed == NULL)
    return false;
  plan->program = gs_emit(&request, completed, j->outputs, j->names, j->noutputs);
  if (plan->program == NULL)
    return false;
  struct best best = { objective(j->arena, plan->program, &plan->completed_bytes), completed };
  if (j->options->follow_completed || plan->completed_bytes == 0)
    return true;
  /* The two tries take about as long as all else; in large programs one has to do. */
  bool large = j->slice->count > LARGE, annotated = outputs_are_annotated(j);
  if (!(large && annotated) && !try_program(plan, j, &request, &best))
    return false;
  if (!(large && !annotated) && !try_more_ways(plan, j, request, &best))
    return false;
  int fused;
  struct gs_graph *graph = gs_windows_fuse(j->arena, j->graph, j->slice, j->output, &fused);
  if (graph == NULL || fused == 0)
    return graph != NULL;
  request.slice = gs_slice_of_graph(j->arena, graph, j->outputs, j->noutputs);
  request.ways = gs_ways_table_new(j->arena);
  return request.slice != NULL && request.ways != NULL && try_program(plan, j, &request, &best);
}

static bool prepare(struct job *j, const struct gs_mesh *current)
{
  j->table = gs_sharding_table_new(j->arena);
  j->slice = gs_slice_of_graph(j->arena, j->graph, j->outputs, j->noutputs);
  if (j->table == NULL || j->slice == NULL)
    return false;
  j->resharder = gs_resharder_new(j->arena, j->table);
  j->mesh = base_mesh(j, current);
  return j->resharder != NULL && j->mesh != NULL && find_meshes(j) && read_annotations(j);
}

struct gs_plan *gs_partition(struct gs_arena *arena, struct gs_graph *graph, const struct gs_mesh *mesh,
                             struct gs_node *const *outputs, const char *const *names, int noutputs,
                             const struct gs_partition_options *options)
{
  const struct gs_partition_options defaults = { 0 };
  struct job j = { .arena = arena, .graph = graph, .outputs = outputs, .names = names,
                   .noutputs = noutputs, .options = options != NULL ? options : &defaults };
  struct gs_span at = noutputs > 0 ? outputs[0]->span : (struct gs_span){ 0 };
  int errors = graph->diagnostics != NULL ? graph->diagnostics->errors : 0;
  struct gs_plan *plan = GS_NEW(arena, struct gs_plan);
  bool made = plan != NULL && prepare(&j, mesh);
  if (made) {
    plan->graph = graph;
    plan->mesh = j.mesh;
    plan->completion = gs_complete(arena, j.table, j.slice, j.mesh, j.meshes, j.annotations, j.options);
    made = plan->completion != NULL && close_dims(&j, plan->completion);
    if (made)
      join_carries(&j, plan->completion);
    made = made && plan_programs(plan, &j);
    if (made) {
      plan->program = gs_program_loop_einsums(arena, j.table, plan->program, j.options->looped);
      made = plan->program != NULL;
    }
  }
  if (made && !gs_arena_failed(arena))
    return plan;
  if (graph->diagnostics == NULL || graph->diagnostics->errors == errors)
    gs_error(graph->diagnostics, at, "planning needs more memory than the limit allows");
  return NULL;
}
