/* interp/plans.c - making, keeping and running plans. */
#include <config.h>

#include "interp/plans.h"

#include <string.h>

#include "backends/reference/reference.h"

enum { MAX_PLANS = 16 };

static void release_executable(struct gs_plan_entry *entry)
{
  if (entry->executable != NULL)
    entry->backend->release(entry->executable);
  entry->executable = NULL;
}

static void drop(struct gs_plan_entry *entry)
{
  release_executable(entry);
  gs_arena_free(entry->arena);
}

static bool is_shown(const struct gs_session *s, const struct gs_plan_entry *entry)
{
  return s->shown[0] == entry || s->shown[1] == entry;
}

/* Drop plans that nobody will ask for again; those that diff() may compare stay. */
static void drop_stale(struct gs_session *s)
{
  int kept = 0;
  for (struct gs_plan_entry **link = &s->plans; *link != NULL;) {
    struct gs_plan_entry *entry = *link;
    bool stale = entry->version != s->version || ++kept > MAX_PLANS;
    if (stale && is_shown(s, entry))
      release_executable(entry);
    if (!stale || is_shown(s, entry)) {
      link = &entry->next;
      continue;
    }
    *link = entry->next;
    drop(entry);
  }
}

void gs_plans_forget(struct gs_session *s, int nnodes)
{
  for (struct gs_plan_entry **link = &s->plans; *link != NULL;) {
    struct gs_plan_entry *entry = *link;
    bool gone = false;
    for (int i = 0; i < entry->outputs.count; i++)
      gone = gone || entry->outputs.nodes[i]->id >= nnodes;
    if (!gone) {
      link = &entry->next;
      continue;
    }
    for (int i = 0; i < 2; i++)
      if (s->shown[i] == entry)
        s->shown[i] = NULL;
    *link = entry->next;
    drop(entry);
  }
}

void gs_plans_release(struct gs_session *s)
{
  for (struct gs_plan_entry *entry = s->plans; entry != NULL; entry = entry->next)
    release_executable(entry);
}

void gs_plans_free(struct gs_session *s)
{
  gs_plans_forget(s, -1);
}

static bool same_outputs(const struct gs_outputs *a, const struct gs_outputs *b)
{
  if (a->count != b->count)
    return false;
  for (int i = 0; i < a->count; i++)
    if (a->nodes[i] != b->nodes[i] || strcmp(a->names[i], b->names[i]) != 0)
      return false;
  return true;
}

static struct gs_plan_entry *find(struct gs_session *s, const struct gs_outputs *outputs,
                                  bool record)
{
  for (struct gs_plan_entry **link = &s->plans; *link != NULL; link = &(*link)->next) {
    struct gs_plan_entry *entry = *link;
    if (entry->version != s->version || (record && !entry->recorded) ||
        !same_outputs(&entry->outputs, outputs))
      continue;
    *link = entry->next;
    entry->next = s->plans;
    s->plans = entry;
    return entry;
  }
  return NULL;
}

/* OUTPUTS in the entry's own arena. */
static bool copy_outputs(struct gs_arena *arena, const struct gs_outputs *from,
                         struct gs_outputs *to)
{
  *to = *from;
  size_t count = (size_t)from->count;
  to->nodes = gs_arena_copy(arena, from->nodes, count * sizeof(struct gs_node *));
  to->names = GS_NEW_ARRAY(arena, const char *, count);
  if (to->nodes == NULL || to->names == NULL)
    return false;
  for (size_t i = 0; i < count; i++)
    if ((to->names[i] = gs_arena_string(arena, from->names[i], strlen(from->names[i]))) == NULL)
      return false;
  return true;
}

/* A value of a body has no one value to ask for. */
static bool check_outputs(struct gs_session *s, const struct gs_outputs *outputs)
{
  for (int i = 0; i < outputs->count; i++) {
    const struct gs_node *node = outputs->nodes[i];
    if (node->manual == NULL && node->region == 0)
      continue;
    gs_session_fail(s, outputs->span, "%s is a value of the body of a %s, it is not there outside",
                    node->name != NULL ? node->name : "this",
                    node->manual != NULL ? "manual region" : "loop or a branch");
    gs_hint(&s->diagnostics, "let the body return it");
    return false;
  }
  return true;
}

static bool make(struct gs_session *s, struct gs_arena *arena, const struct gs_outputs *outputs,
                 struct gs_plan_entry *entry)
{
  struct gs_partition_options options = {
    .follow_completed = s->settings.follow_completed, .looped = s->settings.looped_einsum,
    .combine = s->settings.combine, .allow_uneven = s->settings.allow_uneven,
    .record = entry->recorded, .interrupt = &s->interrupt,
  };
  if (!check_outputs(s, outputs))
    return false;
  if (!copy_outputs(arena, outputs, &entry->outputs))
    return gs_session_out_of_memory(s, outputs->span);
  int errors = s->diagnostics.errors;
  entry->plan = gs_partition(arena, &s->graph, s->mesh, entry->outputs.nodes, entry->outputs.names,
                             outputs->count, &options);
  if (entry->plan != NULL && !gs_arena_failed(arena))
    return true;
  if (atomic_load(&s->interrupt) != 0)
    s->interrupted = true;
  else if (s->diagnostics.errors == errors)
    gs_session_out_of_memory(s, outputs->span);
  return false;
}

struct gs_plan_entry *gs_plans_get(struct gs_session *s, const struct gs_outputs *outputs,
                                   bool record)
{
  struct gs_plan_entry *entry = find(s, outputs, record);
  if (entry != NULL)
    return entry;
  drop_stale(s);
  struct gs_arena *arena = gs_arena_new(&s->budget);
  entry = arena != NULL ? GS_NEW(arena, struct gs_plan_entry) : NULL;
  if (entry == NULL) {
    gs_arena_free(arena);
    gs_session_out_of_memory(s, outputs->span);
    return NULL;
  }
  entry->arena = arena;
  entry->version = s->version;
  entry->recorded = record;
  if (!make(s, arena, outputs, entry)) {
    gs_arena_free(arena);
    return NULL;
  }
  entry->next = s->plans;
  s->plans = entry;
  return entry;
}

/* What the backend gave back, with an error for those that forgot to report one. */
static bool status(struct gs_session *s, const struct gs_plan_entry *entry, enum gs_status result,
                   int errors)
{
  if (result == GS_OK)
    return true;
  if (result == GS_INTERRUPTED)
    s->interrupted = true;
  else if (s->diagnostics.errors == errors)
    gs_session_out_of_memory(s, entry->outputs.span);
  return false;
}

bool gs_plans_compile(struct gs_session *s, struct gs_plan_entry *entry)
{
  if (entry->executable != NULL && entry->backend == s->backend)
    return true;
  release_executable(entry);
  struct gs_host host = gs_session_host(s);
  struct gs_host *kept = gs_arena_copy(entry->arena, &host, sizeof host);
  int errors = s->diagnostics.errors;
  if (kept == NULL)
    return gs_session_out_of_memory(s, entry->outputs.span);
  entry->backend = s->backend;
  entry->executable = s->backend->compile(kept, entry->plan);
  bool stopped = atomic_load(&s->interrupt) != 0;
  return entry->executable != NULL ||
         status(s, entry, stopped ? GS_INTERRUPTED : GS_FAILED, errors);
}

bool gs_plans_run(struct gs_session *s, struct gs_plan_entry *entry, struct gs_tensor **values)
{
  struct gs_tensor **inputs;
  int ninputs, errors = s->diagnostics.errors;
  if (!gs_plans_compile(s, entry) || !gs_inputs_gather(s, entry->plan, &inputs, &ninputs))
    return false;
  return status(s, entry, entry->backend->run(entry->executable, inputs, ninputs, values), errors);
}

bool gs_plans_reference(struct gs_session *s, struct gs_plan_entry *entry,
                        struct gs_tensor **values)
{
  struct gs_tensor **inputs;
  int ninputs, errors = s->diagnostics.errors;
  struct gs_host host = gs_session_host(s);
  if (!gs_inputs_gather(s, entry->plan, &inputs, &ninputs))
    return false;
  return status(s, entry,
                gs_reference_evaluate(&host, &s->graph, entry->outputs.nodes, entry->outputs.count,
                                      inputs, ninputs, values),
                errors);
}

void gs_plans_shown(struct gs_session *s, struct gs_plan_entry *entry)
{
  if (s->shown[1] == entry)
    return;
  s->shown[0] = s->shown[1];
  s->shown[1] = entry;
}
