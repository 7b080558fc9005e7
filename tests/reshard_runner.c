/* tests/reshard_runner.c - resharding pairs: values kept, bytes at or under the known minimum.
 *
 *   reshard_runner [--data tests/reshard/cases.json] [--case NUMBER] [--list] [--verbose] [--csv]
 *                  [--tap]
 */
#include <config.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/reference/reference.h"
#include "partition/print.h"
#include "tests/corpus.h"
#include "tests/differential/compare.h"

struct pair {
  struct gs_arena *arena;
  struct gs_graph graph;
  struct gs_diagnostics diagnostics;
  struct gs_sharding_table *table;
  const struct gs_mesh *mesh;
  struct gs_node *output;
  char error[200];
};

static void collect(void *user, const struct gs_diagnostic *diagnostic)
{
  struct pair *p = user;
  if (diagnostic->severity == GS_ERROR && p->error[0] == '\0')
    snprintf(p->error, sizeof p->error, "%s", diagnostic->message);
}

static const struct gs_mesh *make_mesh(struct pair *p, const json_t *axes)
{
  struct gs_mesh_axis made[GS_MESH_MAX_AXES];
  int naxes = (int)json_array_size(axes);
  for (int i = 0; i < naxes && i < GS_MESH_MAX_AXES; i++) {
    const json_t *axis = json_array_get(axes, (size_t)i);
    made[i].name = json_string_value(json_array_get(axis, 0));
    made[i].size = json_integer_value(json_array_get(axis, 1));
  }
  return gs_mesh_new(p->arena, &p->diagnostics, (struct gs_span){ 0 }, naxes, made, NULL, false);
}

static const struct gs_sharding *make_sharding(struct pair *p, const json_t *lists)
{
  struct gs_dim_sharding dims[GS_MAX_RANK] = { 0 };
  struct gs_axis axes[GS_MAX_RANK][GS_MESH_MAX_AXES];
  int rank = (int)json_array_size(lists);
  for (int i = 0; i < rank && i < GS_MAX_RANK; i++) {
    const json_t *list = json_array_get(lists, (size_t)i);
    dims[i].naxes = (int)json_array_size(list);
    dims[i].axes = axes[i];
    for (int j = 0; j < dims[i].naxes && j < GS_MESH_MAX_AXES; j++) {
      const char *name = json_string_value(json_array_get(list, (size_t)j));
      axes[i][j] = gs_axis_whole(p->mesh, gs_mesh_find(p->mesh, name));
    }
  }
  return gs_sharding_make(p->table, p->mesh, rank, dims, NULL, 0, GS_OP_SUM);
}

static struct gs_node *annotate(struct pair *p, struct gs_node *x, const json_t *lists)
{
  union gs_attrs attrs = { 0 };
  attrs.shard.annotation = make_sharding(p, lists);
  return gs_graph_add(&p->graph, GS_OP_SHARD, (struct gs_span){ 0 }, &x, 1, &attrs, NULL);
}

/* shard(shard(input, from), to) */
static bool build(struct pair *p, const json_t *c)
{
  const json_t *shape = json_object_get(c, "shape");
  const char *dtype = json_string_value(json_object_get(c, "dtype"));
  struct gs_type type = { .rank = (int)json_array_size(shape) };
  union gs_attrs attrs = { 0 };
  p->diagnostics = (struct gs_diagnostics){ .sink = collect, .user = p };
  p->arena = gs_arena_new(NULL);
  if (p->arena == NULL || dtype == NULL || !gs_dtype_find(dtype, strlen(dtype), &type.dtype))
    return false;
  for (int i = 0; i < type.rank; i++)
    type.dims[i] = json_integer_value(json_array_get(shape, (size_t)i));
  gs_graph_init(&p->graph, p->arena, NULL, &p->diagnostics);
  p->table = gs_sharding_table_new(p->arena);
  p->mesh = make_mesh(p, json_object_get(c, "mesh"));
  if (p->mesh == NULL)
    return false;
  struct gs_node *x = gs_graph_add(&p->graph, GS_OP_INPUT, (struct gs_span){ 0 }, NULL, 0, &attrs,
                                   &type);
  x = annotate(p, x, json_object_get(c, "from"));
  p->output = annotate(p, x, json_object_get(c, "to"));
  return !gs_node_is_poison(&p->graph, p->output);
}

static void release(struct pair *p)
{
  if (p->arena == NULL)
    return;
  gs_graph_finish(&p->graph);
  gs_arena_free(p->arena);
}

static void compare_values(struct pair *p, const struct gs_plan *plan, struct corpus_report *report)
{
  struct gs_host host = { .diagnostics = &p->diagnostics, .nthreads = 1, .poison_padding = true };
  struct gs_tensor *want = NULL, *got = NULL;
  char difference[300];
  struct gs_executable *executable = gs_backend_cpu.compile(&host, plan);
  if (executable == NULL || gs_backend_cpu.run(executable, NULL, 0, &got) != GS_OK ||
      gs_reference_evaluate(&host, &p->graph, &p->output, 1, NULL, 0, &want) != GS_OK)
    corpus_fail(report, FAILED, "run: %s", p->error);
  else if (!compare_tensors(want, got, 0, difference, sizeof difference))
    corpus_fail(report, FAILED, "values: %s", difference);
  gs_tensor_unref(want);
  gs_tensor_unref(got);
  if (executable != NULL)
    gs_backend_cpu.release(executable);
}

static void plan_pair(struct pair *p, const json_t *c, bool verbose, struct corpus_report *report)
{
  const char *name = "y";
  const struct gs_partition_options options = { .follow_completed = true };
  struct gs_plan *plan = gs_partition(p->arena, &p->graph, p->mesh, &p->output, &name, 1, &options);
  if (plan == NULL) {
    corpus_fail(report, FAILED, "no plan: %s", p->error);
    return;
  }
  if (verbose) {
    struct gs_text text = { .arena = p->arena };
    struct gs_print_options print = { .format = GS_FORMAT_TEXT, .width = 110, .device = -1 };
    gs_print_plan(&text, plan, &print);
    fputs(gs_text_string(&text), stdout);
  }
  const char *wrong = gs_program_verify(p->arena, plan->program);
  if (wrong != NULL)
    corpus_fail(report, FAILED, "invalid program: %s", wrong);
  struct gs_program_totals totals;
  gs_program_total(p->arena, plan->program, &totals);
  report->ours = totals.bytes;
  report->theirs = json_number_value(json_object_get(c, "cheapest_bytes"));
  if (totals.bytes > report->theirs + 0.5)
    corpus_fail(report, FAILED, "sends %.0f bytes in %d collectives, cheapest %.0f in %d",
                totals.bytes, totals.collectives, report->theirs,
                (int)json_integer_value(json_object_get(c, "cheapest_collectives")));
  compare_values(p, plan, report);
}

static void run_case(const struct corpus_options *o, int number, const json_t *c,
                     struct corpus_totals *totals)
{
  struct pair p = { 0 };
  struct corpus_report report = { .verdict = PASSED, .ours = -1, .theirs = -1 };
  char name[400], *from = json_dumps(json_object_get(c, "from"), JSON_COMPACT);
  char *to = json_dumps(json_object_get(c, "to"), JSON_COMPACT);
  char *shape = json_dumps(json_object_get(c, "shape"), JSON_COMPACT);
  snprintf(name, sizeof name, "%d %s %s to %s", number, shape, from, to);
  free(from);
  free(to);
  free(shape);
  if (o->list) {
    printf("%s\n", name);
    return;
  }
  if (build(&p, c))
    plan_pair(&p, c, o->verbose, &report);
  else
    corpus_fail(&report, FAILED, "cannot be built: %s", p.error);
  release(&p);
  corpus_count(o, name, &report, totals);
}

int main(int argc, char **argv)
{
  struct corpus_options options;
  struct corpus_totals totals = { 0 };
  if (!corpus_parse(argc, argv, "tests/reshard/cases.json", &options))
    return 2;
  json_t *cases = json_load_file(options.data, 0, NULL);
  if (!json_is_array(cases)) {
    fprintf(stderr, "%s: cannot read %s\n", argv[0], options.data);
    return 2;
  }
  for (size_t i = 0; i < json_array_size(cases); i++)
    if (options.name == NULL || strtoul(options.name, NULL, 10) == i + 1)
      run_case(&options, (int)i + 1, json_array_get(cases, i), &totals);
  json_decref(cases);
  corpus_print_totals(&options, "reshard", &totals);
  if (!options.list)
    corpus_finish(&options, &totals);
  return fflush(stdout) == 0 && (options.tap || totals.failed == 0) ? 0 : 1;
}
