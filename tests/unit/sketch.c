/* tests/unit/sketch.c - short ways to write meshes, shardings and graphs in tests. */
#include <config.h>

#include "tests/unit/sketch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep_first(void *user, const struct gs_diagnostic *d)
{
  struct sketch *s = user;
  if (d->severity == GS_ERROR && s->first_error[0] == '\0')
    snprintf(s->first_error, sizeof s->first_error, "%s", d->message);
}

void sketch_init(struct sketch *s, const char *mesh)
{
  struct gs_mesh_axis axes[8];
  char names[8][2];
  int naxes = 0;
  memset(s, 0, sizeof *s);
  s->arena = gs_arena_new(NULL);
  s->diagnostics = (struct gs_diagnostics){ .sink = keep_first, .user = s };
  for (const char *at = mesh; at != NULL && *at != '\0'; at = strchr(at, ' '), naxes++) {
    at += *at == ' ';
    names[naxes][0] = at[0];
    names[naxes][1] = '\0';
    axes[naxes] = (struct gs_mesh_axis){ names[naxes], atoll(at + 2) };
  }
  s->mesh = gs_mesh_new(s->arena, &s->diagnostics, (struct gs_span){ 0 }, naxes, axes, NULL, false);
  s->table = gs_sharding_table_new(s->arena);
  gs_graph_init(&s->graph, s->arena, NULL, &s->diagnostics);
}

void sketch_finish(struct sketch *s)
{
  gs_graph_finish(&s->graph);
  gs_arena_free(s->arena);
}

const struct gs_sharding *sketch_sharding(struct sketch *s, const char *text)
{
  struct gs_dim_sharding dims[GS_MAX_RANK] = { { 0 } };
  struct gs_axis axes[GS_MAX_RANK][8], partial[8];
  int rank = *text == '\0' || *text == '+' ? 0 : 1, npartial = 0;
  for (const char *c = text; *c != '\0'; c++) {
    struct gs_dim_sharding *dim = &dims[rank > 0 ? rank - 1 : 0];
    char name[2] = { *c, '\0' };
    if (*c == ',') {
      rank++;
    } else if (*c == '?') {
      dim->open = true;
    } else if (*c == '+') {
      name[0] = *++c;
      partial[npartial++] = gs_axis_whole(s->mesh, gs_mesh_find(s->mesh, name));
    } else if (*c != '-') {
      axes[rank - 1][dim->naxes++] = gs_axis_whole(s->mesh, gs_mesh_find(s->mesh, name));
      dim->axes = axes[rank - 1];
    }
  }
  return gs_sharding_make(s->table, s->mesh, rank, dims, partial, npartial, GS_OP_SUM);
}

struct gs_node *sketch_input(struct sketch *s, const char *dims)
{
  struct gs_type type = { .dtype = GS_DTYPE_F32 };
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  attrs.input.index = s->graph.ninputs;
  for (const char *at = dims; at != NULL && *at != '\0'; at = strchr(at, ',')) {
    at += *at == ',';
    type.dims[type.rank++] = atoll(at);
  }
  return gs_graph_add(&s->graph, GS_OP_INPUT, (struct gs_span){ 0 }, NULL, 0, &attrs, &type);
}

struct gs_node *sketch_shard(struct sketch *s, struct gs_node *x, const char *sharding)
{
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  attrs.shard.annotation = sketch_sharding(s, sharding);
  return gs_graph_add(&s->graph, GS_OP_SHARD, (struct gs_span){ 0 }, &x, 1, &attrs, NULL);
}

struct gs_node *sketch_apply(struct sketch *s, enum gs_op op, struct gs_node *a, struct gs_node *b)
{
  struct gs_node *args[] = { a, b };
  return gs_build_elementwise(&s->graph, op, (struct gs_span){ 0 }, args, b != NULL ? 2 : 1);
}

struct gs_node *sketch_einsum(struct sketch *s, const char *spec, struct gs_node *a, struct gs_node *b)
{
  struct gs_node *args[] = { a, b };
  return gs_build_einsum(&s->graph, (struct gs_span){ 0 }, spec, args, 2);
}

struct gs_node *sketch_reduce(struct sketch *s, enum gs_op op, struct gs_node *a, int dim)
{
  return gs_build_reduce(&s->graph, op, (struct gs_span){ 0 }, a, 1u << dim, false);
}

struct gs_plan *sketch_plan(struct sketch *s, struct gs_node *y, bool follow_completed)
{
  static const char *const name = "y";
  struct gs_partition_options options = { .follow_completed = follow_completed };
  return gs_partition(s->arena, &s->graph, s->mesh, &y, &name, 1, &options);
}

const char *sketch_completed(struct sketch *s, const struct gs_plan *plan, const struct gs_node *node)
{
  struct gs_text text = { .arena = s->arena };
  gs_sharding_print(&text, plan->completion->shardings[node->id]);
  return gs_text_string(&text);
}

int sketch_count(const struct gs_plan *plan, enum gs_op op)
{
  int n = 0;
  for (int i = 0; i < plan->program->nsteps; i++)
    n += plan->program->steps[i].op == op;
  return n;
}

double sketch_bytes(struct sketch *s, const struct gs_plan *plan)
{
  struct gs_program_totals totals;
  gs_program_total(s->arena, plan->program, &totals);
  return totals.bytes;
}
