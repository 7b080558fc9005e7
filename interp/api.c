/* interp/api.c - the public functions that ask a session about its variables by name. */
#include <config.h>

#include "gspmd.h"

#include <string.h>

#include "interp/ask.h"
#include "interp/builtin.h"
#include "interp/plans.h"

struct gs_node *gs_session_tensor(struct gs_session *s, const char *name)
{
  const struct gs_binding *binding = gs_scope_find(s->globals, name);
  return binding != NULL && binding->value.kind == GS_VALUE_TENSOR ? binding->value.node : NULL;
}

struct gs_graph *gs_session_graph(struct gs_session *s)
{
  return &s->graph;
}

const struct gs_mesh *gs_session_mesh(const struct gs_session *s)
{
  return s->mesh;
}

/* The variables NAMES as outputs; a list or tuple of tensors counts as its items. */
static bool outputs_of(struct gs_session *s, const char *const *names, int count,
                       struct gs_outputs *outputs)
{
  *outputs = (struct gs_outputs){ .nodes = GS_NEW_ARRAY(s->values, struct gs_node *, count + 1),
                                  .names = GS_NEW_ARRAY(s->values, const char *, count + 1) };
  if (outputs->nodes == NULL || outputs->names == NULL)
    return gs_session_out_of_memory(s, outputs->span);
  for (int i = 0; i < count; i++) {
    struct gs_node *node = gs_session_tensor(s, names[i]);
    if (node == NULL) {
      const struct gs_binding *binding = gs_scope_find(s->globals, names[i]);
      if (binding != NULL)
        return gs_session_fail(s, outputs->span, "\"%s\" is %s, not a tensor", names[i],
                               gs_value_kind_name(binding->value.kind));
      gs_session_fail(s, outputs->span, "the program has no variable \"%s\"", names[i]);
      const char *nearest = gs_nearest_name(s, s->globals, names[i]);
      if (nearest != NULL && gs_session_tensor(s, nearest) != NULL)
        gs_hint(&s->diagnostics, "did you mean \"%s\"?", nearest);
      return false;
    }
    outputs->nodes[i] = node;
    outputs->names[i] = names[i];
  }
  outputs->count = count;
  return count > 0 || gs_session_fail(s, outputs->span, "no variable is named");
}

static enum gs_session_status status_of(struct gs_session *s, bool ok)
{
  bool stopped = !ok && s->interrupted;
  if (gs_arena_failed(s->values))
    ok = gs_session_out_of_memory(s, (struct gs_span){ 0 });
  s->memory_reported = false;
  return stopped ? GS_SESSION_STOPPED : ok ? GS_SESSION_OK : GS_SESSION_FAILED;
}

const struct gs_plan *gs_session_plan(struct gs_session *s, const char *const *names, int count)
{
  struct gs_outputs outputs;
  struct gs_plan_entry *entry =
      outputs_of(s, names, count, &outputs) ? gs_plans_get(s, &outputs, false) : NULL;
  return status_of(s, entry != NULL) == GS_SESSION_OK ? entry->plan : NULL;
}

enum gs_session_status gs_session_run(struct gs_session *s, const char *const *names, int count,
                                      struct gs_tensor **values)
{
  struct gs_outputs outputs;
  bool ok = outputs_of(s, names, count, &outputs);
  struct gs_tensor **results = ok ? gs_ask_run(s, &outputs) : NULL;
  if (results != NULL)
    memcpy(values, results, (size_t)count * sizeof(struct gs_tensor *));
  return status_of(s, results != NULL);
}

enum gs_session_status gs_session_check(struct gs_session *s, const char *const *names, int count)
{
  struct gs_outputs outputs;
  return status_of(s, outputs_of(s, names, count, &outputs) && gs_ask_check(s, &outputs));
}

enum gs_session_status gs_session_save(struct gs_session *s, const char *const *names,
                                       const char *const *paths, int count)
{
  struct gs_outputs outputs;
  return status_of(s, outputs_of(s, names, count, &outputs) && gs_ask_save(s, &outputs, paths));
}

enum gs_session_status gs_session_print_plan(struct gs_session *s, const char *const *names,
                                             int count)
{
  struct gs_outputs outputs;
  return status_of(s, outputs_of(s, names, count, &outputs) && gs_ask_plan(s, &outputs));
}

const void *gs_value_data(const struct gs_tensor *value)
{
  return value->data;
}

const char *gs_value_dtype(const struct gs_tensor *value)
{
  return gs_dtype_name(value->type.dtype);
}

int gs_value_rank(const struct gs_tensor *value)
{
  return value->type.rank;
}

int64_t gs_value_dim(const struct gs_tensor *value, int dim)
{
  return dim >= 0 && dim < value->type.rank ? value->type.dims[dim] : 1;
}

void gs_value_free(struct gs_tensor *value)
{
  gs_tensor_unref(value);
}

const char *gs_version(void)
{
  return PACKAGE_VERSION;
}

const char *gs_backend_name(int index)
{
  const struct gs_backend *backend = gs_backend_at(NULL, index);
  return backend != NULL ? backend->name : NULL;
}
