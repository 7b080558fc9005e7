/* interp/argument.c - the arguments of a built-in function as the types it wants. */
#include <config.h>

#include "interp/builtin.h"

#include <string.h>

#include "interp/eval.h"

bool gs_arg_given(const struct gs_call *call, int i)
{
  enum gs_value_kind kind = call->args[i].value.kind;
  return kind != GS_VALUE_ABSENT && kind != GS_VALUE_NONE;
}

bool gs_arg_wrong(struct gs_call *call, int i, const char *wanted)
{
  const struct gs_parameter *parameter = &call->parameters[i];
  gs_session_fail(call->session, call->args[i].span, "%s: %.*s must be %s, not %s",
                  call->builtin->name, parameter->length, parameter->name, wanted,
                  gs_value_describe(call->session->values, call->args[i].value));
  if (call->builtin->usage[0] != '\0')
    gs_hint(&call->session->diagnostics, "%s", call->builtin->usage);
  return false;
}

bool gs_arg_tensor(struct gs_call *call, int i, struct gs_node **node)
{
  if (call->args[i].value.kind != GS_VALUE_TENSOR)
    return gs_arg_wrong(call, i, "a tensor");
  *node = call->args[i].value.node;
  return true;
}

bool gs_arg_int(struct gs_call *call, int i, int64_t *integer)
{
  if (call->args[i].value.kind != GS_VALUE_INT)
    return gs_arg_wrong(call, i, "an integer");
  *integer = call->args[i].value.integer;
  return true;
}

bool gs_arg_number(struct gs_call *call, int i, double *number)
{
  if (!gs_value_is_number(call->args[i].value))
    return gs_arg_wrong(call, i, "a number");
  *number = gs_value_number(call->args[i].value);
  return true;
}

bool gs_arg_bool(struct gs_call *call, int i, bool *boolean)
{
  if (call->args[i].value.kind != GS_VALUE_BOOL)
    return gs_arg_wrong(call, i, "true or false");
  *boolean = call->args[i].value.boolean;
  return true;
}

bool gs_arg_string(struct gs_call *call, int i, const char **string)
{
  if (call->args[i].value.kind != GS_VALUE_STRING)
    return gs_arg_wrong(call, i, "a string");
  *string = call->args[i].value.text;
  return true;
}

bool gs_arg_dtype(struct gs_call *call, int i, enum gs_dtype *dtype)
{
  if (call->args[i].value.kind != GS_VALUE_DTYPE)
    return gs_arg_wrong(call, i, "an element type such as f32");
  *dtype = call->args[i].value.dtype;
  return true;
}

bool gs_arg_type(struct gs_call *call, int i, const struct gs_type **type)
{
  if (call->args[i].value.kind != GS_VALUE_TYPE)
    return gs_arg_wrong(call, i, "a tensor type such as f32[8,16]");
  *type = call->args[i].value.type;
  return true;
}

bool gs_arg_sequence(struct gs_call *call, int i, struct gs_value *list)
{
  if (!gs_value_is_sequence(call->args[i].value))
    return gs_arg_wrong(call, i, "a list");
  *list = call->args[i].value;
  return true;
}

bool gs_arg_ints(struct gs_call *call, int i, int64_t *integers, int max, int *count)
{
  struct gs_value value = call->args[i].value;
  if (value.kind == GS_VALUE_INT) {
    integers[0] = value.integer;
    *count = 1;
    return true;
  }
  if (!gs_value_is_sequence(value))
    return gs_arg_wrong(call, i, "an integer or a list of them");
  if (value.length > (uint32_t)max)
    return gs_session_fail(call->session, call->args[i].span, "%s: %u integers; at most %d",
                           call->builtin->name, value.length, max);
  for (uint32_t k = 0; k < value.length; k++) {
    struct gs_value item = *gs_value_item(value, k);
    if (item.kind != GS_VALUE_INT)
      return gs_session_fail(call->session, call->args[i].span,
                             "%s: item %u of %.*s is %s, not an integer", call->builtin->name, k,
                             call->parameters[i].length, call->parameters[i].name,
                             gs_value_describe(call->session->values, item));
    integers[k] = item.integer;
  }
  *count = (int)value.length;
  return true;
}

static bool check_dim(struct gs_call *call, int i, int rank, int64_t integer, int *dim)
{
  if (integer >= -rank && integer < rank) {
    *dim = (int)(integer < 0 ? integer + rank : integer);
    return true;
  }
  return gs_session_fail(call->session, call->args[i].span, "%s: dim %lld of a tensor of rank %d",
                         call->builtin->name, (long long)integer, rank);
}

bool gs_arg_dim(struct gs_call *call, int i, int rank, int *dim)
{
  int64_t integer;
  return gs_arg_int(call, i, &integer) && check_dim(call, i, rank, integer, dim);
}

bool gs_arg_dims(struct gs_call *call, int i, int rank, uint32_t *set, int *order, int *count)
{
  int64_t integers[GS_MAX_RANK];
  int n;
  if (!gs_arg_ints(call, i, integers, GS_MAX_RANK, &n))
    return false;
  *set = 0;
  for (int k = 0; k < n; k++) {
    int dim = 0;
    if (!check_dim(call, i, rank, integers[k], &dim))
      return false;
    if ((*set >> dim & 1) != 0)
      return gs_session_fail(call->session, call->args[i].span, "%s: dim %d appears twice",
                             call->builtin->name, dim);
    *set |= 1u << dim;
    if (order != NULL)
      order[k] = dim;
  }
  if (count != NULL)
    *count = n;
  return true;
}

bool gs_arg_shape(struct gs_call *call, int i, bool open, int64_t dims[GS_MAX_RANK], int *rank)
{
  if (!gs_arg_ints(call, i, dims, GS_MAX_RANK, rank))
    return false;
  int open_dims = 0;
  for (int k = 0; k < *rank; k++) {
    open_dims += dims[k] == -1;
    if (dims[k] < 0 && !(open && dims[k] == -1))
      return gs_session_fail(call->session, call->args[i].span, "%s: dim %d has size %lld",
                             call->builtin->name, k, (long long)dims[k]);
  }
  if (open_dims > 1)
    return gs_session_fail(call->session, call->args[i].span,
                           "%s: only one dim may be left open with -1", call->builtin->name);
  return true;
}

/* The element type plain numbers among VALUES take: that of the first tensor. */
static bool tensor_among(const struct gs_value *values, int count, enum gs_dtype *dtype)
{
  for (int i = 0; i < count; i++)
    if (values[i].kind == GS_VALUE_TENSOR) {
      *dtype = values[i].node->type.dtype;
      return true;
    }
  return false;
}

bool gs_arg_tensors(struct gs_call *call, int i, struct gs_node ***nodes, int *count)
{
  struct gs_session *s = call->session;
  struct gs_value list = { 0 };
  if (i >= 0 && !gs_arg_sequence(call, i, &list))
    return false;
  int n = i >= 0 ? (int)list.length : call->nrest;
  struct gs_value *values = GS_NEW_ARRAY(s->values, struct gs_value, n + 1);
  *nodes = GS_NEW_ARRAY(s->values, struct gs_node *, n + 1);
  if (values == NULL || *nodes == NULL)
    return gs_session_out_of_memory(s, call->span);
  for (int k = 0; k < n; k++)
    values[k] = i >= 0 ? *gs_value_item(list, (size_t)k) : call->rest[k].value;
  enum gs_dtype dtype = GS_DTYPE_F32;
  bool weak = tensor_among(values, n, &dtype);
  for (int k = 0; k < n; k++) {
    struct gs_span at = i >= 0 ? call->args[i].span : call->rest[k].span;
    bool number = gs_value_is_number(values[k]) || values[k].kind == GS_VALUE_BOOL;
    if (values[k].kind == GS_VALUE_TENSOR)
      (*nodes)[k] = values[k].node;
    else if (weak && number)
      (*nodes)[k] = gs_operate_scalar(s, at, dtype, values[k]);
    else
      return gs_session_fail(s, at, "%s: operand %d is %s, not a tensor", call->builtin->name,
                             k + 1, gs_value_kind_name(values[k].kind));
    if (gs_node_is_poison(&s->graph, (*nodes)[k]))
      return false;
  }
  *count = n;
  return true;
}
