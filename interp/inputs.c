/* interp/inputs.c - values given from outside for a program's inputs and parameters. */
#include <config.h>

#include "interp/plans.h"

#include <string.h>

#include "lang/npy.h"

static struct gs_given_input *find(struct gs_session *s, const char *name)
{
  for (struct gs_given_input *given = s->inputs; given != NULL; given = given->next)
    if (strcmp(given->name, name) == 0)
      return given;
  return NULL;
}

/* The entry for NAME, emptied. */
static struct gs_given_input *entry_for(struct gs_session *s, const char *name)
{
  struct gs_given_input *given = find(s, name);
  if (given == NULL) {
    given = GS_NEW(s->text, struct gs_given_input);
    if (given == NULL || (given->name = gs_arena_string(s->text, name, strlen(name))) == NULL) {
      gs_session_out_of_memory(s, (struct gs_span){ 0 });
      return NULL;
    }
    given->next = s->inputs;
    s->inputs = given;
  }
  gs_tensor_unref(given->tensor);
  given->tensor = NULL;
  given->path = NULL;
  return given;
}

bool gs_session_set_input_file(struct gs_session *s, const char *name, const char *path)
{
  struct gs_given_input *given = entry_for(s, name);
  if (given == NULL)
    return false;
  given->tensor =
      gs_npy_load(&s->budget, &s->diagnostics, (struct gs_span){ 0 }, path, NULL);
  given->path = gs_arena_string(s->text, path, strlen(path));
  return given->tensor != NULL;
}

bool gs_session_set_input(struct gs_session *s, const char *name, struct gs_tensor *tensor)
{
  struct gs_given_input *given = entry_for(s, name);
  if (given != NULL)
    given->tensor = gs_tensor_ref(tensor);
  return given != NULL;
}

/* TENSOR with DTYPE: bf16 and f16 are kept as f32 in files, and NumPy's own default is f64. */
static struct gs_tensor *converted(struct gs_session *s, const struct gs_tensor *tensor,
                                   enum gs_dtype dtype)
{
  struct gs_type type = tensor->type;
  type.dtype = dtype;
  struct gs_tensor *result = gs_tensor_new(&s->budget, &type);
  if (result == NULL)
    return NULL;
  bool whole = gs_dtype_is_integer(dtype);
  for (int64_t i = 0, n = gs_type_elements(&type); i < n; i++) {
    if (whole)
      gs_element_set_int(dtype, result->data, i,
                         gs_element_get_int(tensor->type.dtype, tensor->data, i));
    else
      gs_element_set(dtype, result->data, i, gs_element_get(tensor->type.dtype, tensor->data, i));
  }
  return result;
}

static bool convertible(enum gs_dtype from, enum gs_dtype to)
{
  return gs_dtype_kind(from) == gs_dtype_kind(to) && gs_dtype_kind(to) != GS_KIND_COMPLEX;
}

/* Make GIVEN fit NODE, or say why it does not. */
static bool fit(struct gs_session *s, const struct gs_node *node, struct gs_given_input *given)
{
  const struct gs_type *has = &given->tensor->type, *wants = &node->type;
  if (gs_type_equal(has, wants))
    return true;
  if (gs_shape_equal(has, wants) && convertible(has->dtype, wants->dtype)) {
    struct gs_tensor *tensor = converted(s, given->tensor, wants->dtype);
    if (tensor == NULL)
      return gs_session_out_of_memory(s, node->span);
    gs_tensor_unref(given->tensor);
    given->tensor = tensor;
    return true;
  }
  return gs_session_fail(s, node->span, "input %s is %s but %s holds %s", node->name,
                         gs_type_string(s->values, wants),
                         given->path != NULL ? given->path : "the value given for it",
                         gs_type_string(s->values, has));
}

bool gs_inputs_gather(struct gs_session *s, const struct gs_plan *plan,
                      struct gs_tensor ***inputs, int *count)
{
  *count = s->graph.ninputs;
  *inputs = GS_NEW_ARRAY(s->values, struct gs_tensor *, *count + 1);
  if (*inputs == NULL)
    return gs_session_out_of_memory(s, (struct gs_span){ 0 });
  for (int id = 0; s->inputs != NULL && id < plan->completion->nnodes; id++) {
    const struct gs_node *node = s->graph.nodes[id];
    if ((node->op != GS_OP_INPUT && node->op != GS_OP_PARAM) || node->name == NULL ||
        plan->completion->shardings[id] == NULL)
      continue;
    struct gs_given_input *given = find(s, node->name);
    if (given == NULL || given->tensor == NULL)
      continue;
    if (!fit(s, node, given))
      return false;
    (*inputs)[node->attrs->input.index] = given->tensor;
  }
  return true;
}

void gs_inputs_free(struct gs_session *s)
{
  for (struct gs_given_input *given = s->inputs; given != NULL; given = given->next)
    gs_tensor_unref(given->tensor);
  s->inputs = NULL;
}
