/* partition/partition.c - the way from a graph to its plan. */
#include <config.h>

#include "partition/partition.h"

#include <string.h>

#include "partition/attempts.h"
#include "partition/combine.h"
#include "partition/join.h"
#include "partition/looped.h"

static const struct gs_mesh *single_device(struct gs_arena *arena, struct gs_diagnostics *d)
{
  struct gs_mesh_axis axis = { "device", 1 };
  return gs_mesh_new(arena, d, (struct gs_span){ 0 }, 1, &axis, NULL, false);
}

/* The mesh of the program: that of a manual region, else the current one if an annotation uses it, else that
 * of the first annotation. */
static const struct gs_mesh *base_mesh(const struct gs_planning *j, const struct gs_mesh *current)
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
static const struct gs_sharding *translate(struct gs_planning *j, const struct gs_node *node)
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
static bool find_meshes(struct gs_planning *j)
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

static bool read_annotations(struct gs_planning *j)
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

/* What a loop carries has one sharding: the one it has in the body. */
static void join_carries(struct gs_planning *j, struct gs_completion *completion)
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
static bool close_dims(struct gs_planning *j, struct gs_completion *completion)
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

static bool prepare(struct gs_planning *j, const struct gs_mesh *current)
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
  struct gs_planning j = { .arena = arena, .graph = graph, .outputs = outputs, .names = names,
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
    made = made && gs_attempts_make(plan, &j);
    if (made) {
      plan->program = gs_program_combine(arena, j.table, plan->program, j.options->combine);
      made = plan->program != NULL;
    }
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
