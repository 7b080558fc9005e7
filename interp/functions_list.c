/* interp/functions_list.c - numbers, lists, and what is known of a tensor before it is computed. */
#include <config.h>

#include "interp/builtin.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/eval.h"

static bool finish_list(struct gs_call *call, struct gs_value *out)
{
  return out->kind != GS_VALUE_ABSENT || gs_session_out_of_memory(call->session, call->span);
}

static bool function_len(struct gs_call *call, struct gs_value *out)
{
  struct gs_value value = call->args[0].value;
  if (value.kind == GS_VALUE_TENSOR && value.node->type.rank > 0)
    *out = gs_value_int(value.node->type.dims[0]);
  else if (gs_value_is_sequence(value) || value.kind == GS_VALUE_STRING)
    *out = gs_value_int((int64_t)value.length);
  else
    return gs_arg_wrong(call, 0, "a list, a string or a tensor");
  return true;
}

static bool function_range(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  int64_t start = 0, end, step = 1, span;
  if (!gs_arg_int(call, 0, &end))
    return false;
  if (gs_arg_given(call, 1)) {
    start = end;
    if (!gs_arg_int(call, 1, &end))
      return false;
  }
  if (gs_arg_given(call, 2) && !gs_arg_int(call, 2, &step))
    return false;
  if (step == 0 || step == INT64_MIN)
    return gs_session_fail(s, call->args[2].span, "range: a step of %lld", (long long)step);
  if (step > 0 ? start >= end : start <= end) {
    *out = gs_value_list(s->values, GS_VALUE_LIST, 0);
    return finish_list(call, out);
  }
  int64_t stride = step > 0 ? step : -step;
  if (__builtin_sub_overflow(step > 0 ? end : start, step > 0 ? start : end, &span) ||
      (span - 1) / stride >= GS_VALUE_MAX_ITEMS)
    return gs_session_fail(s, call->span, "range: the list would be too long");
  int64_t count = (span - 1) / stride + 1;
  *out = gs_value_list(s->values, GS_VALUE_LIST, (size_t)count);
  for (int64_t i = 0; i < count && out->kind != GS_VALUE_ABSENT; i++)
    *gs_value_item(*out, (size_t)i) = gs_value_int(start + i * step);
  return finish_list(call, out);
}

static bool function_append(struct gs_call *call, struct gs_value *out)
{
  struct gs_value list;
  if (!gs_arg_sequence(call, 0, &list))
    return false;
  *out = gs_value_append(call->session->values, list, call->args[1].value);
  return finish_list(call, out);
}

static bool function_list(struct gs_call *call, struct gs_value *out)
{
  struct gs_value list;
  if (!gs_arg_sequence(call, 0, &list))
    return false;
  *out = list;
  out->kind = GS_VALUE_LIST;
  return true;
}

static bool make_pair(struct gs_call *call, struct gs_value a, struct gs_value b,
                      struct gs_value *out)
{
  *out = gs_value_list(call->session->values, GS_VALUE_TUPLE, 2);
  if (out->kind == GS_VALUE_ABSENT)
    return finish_list(call, out);
  *gs_value_item(*out, 0) = a;
  *gs_value_item(*out, 1) = b;
  return true;
}

static bool function_zip(struct gs_call *call, struct gs_value *out)
{
  struct gs_value a, b;
  if (!gs_arg_sequence(call, 0, &a) || !gs_arg_sequence(call, 1, &b))
    return false;
  uint32_t length = a.length < b.length ? a.length : b.length;
  *out = gs_value_list(call->session->values, GS_VALUE_LIST, length);
  for (uint32_t i = 0; i < length && out->kind != GS_VALUE_ABSENT; i++)
    if (!make_pair(call, *gs_value_item(a, i), *gs_value_item(b, i), gs_value_item(*out, i)))
      return false;
  return finish_list(call, out);
}

static bool function_enumerate(struct gs_call *call, struct gs_value *out)
{
  struct gs_value list;
  if (!gs_arg_sequence(call, 0, &list))
    return false;
  *out = gs_value_list(call->session->values, GS_VALUE_LIST, list.length);
  for (uint32_t i = 0; i < list.length && out->kind != GS_VALUE_ABSENT; i++)
    if (!make_pair(call, gs_value_int((int64_t)i), *gs_value_item(list, i), gs_value_item(*out, i)))
      return false;
  return finish_list(call, out);
}

static bool function_map(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_value list;
  if (!gs_arg_sequence(call, 1, &list))
    return false;
  *out = gs_value_list(s->values, GS_VALUE_LIST, list.length);
  for (uint32_t i = 0; i < list.length && out->kind != GS_VALUE_ABSENT; i++)
    if (!gs_call(s, call->span, call->args[0].value, gs_value_item(list, i), 1,
                 gs_value_item(*out, i)))
      return false;
  return finish_list(call, out);
}

static bool function_shape(struct gs_call *call, struct gs_value *out)
{
  struct gs_value value = call->args[0].value;
  const struct gs_type *type = value.kind == GS_VALUE_TENSOR ? &value.node->type : NULL;
  if (type == NULL && !gs_arg_type(call, 0, &type))
    return false;
  *out = gs_value_list(call->session->values, GS_VALUE_LIST, (size_t)type->rank);
  for (int i = 0; i < type->rank && out->kind != GS_VALUE_ABSENT; i++)
    *gs_value_item(*out, (size_t)i) = gs_value_int(type->dims[i]);
  return finish_list(call, out);
}

static bool function_dtype(struct gs_call *call, struct gs_value *out)
{
  struct gs_value value = call->args[0].value;
  const struct gs_type *type = value.kind == GS_VALUE_TENSOR ? &value.node->type : NULL;
  if (type == NULL && !gs_arg_type(call, 0, &type))
    return false;
  *out = (struct gs_value){ .kind = GS_VALUE_DTYPE, .dtype = type->dtype };
  return true;
}

static bool function_rank(struct gs_call *call, struct gs_value *out)
{
  struct gs_node *x;
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  *out = gs_value_int(x->type.rank);
  return true;
}

/* The number of elements, or of those along some dims. */
static bool function_size(struct gs_call *call, struct gs_value *out)
{
  struct gs_node *x;
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  uint32_t dims = (1u << x->type.rank) - 1;
  if (gs_arg_given(call, 1) && !gs_arg_dims(call, 1, x->type.rank, &dims, NULL, NULL))
    return false;
  int64_t size = 1;
  for (int i = 0; i < x->type.rank; i++)
    if ((dims >> i & 1) != 0)
      size *= x->type.dims[i];
  *out = gs_value_int(size);
  return true;
}

static bool function_kind(struct gs_call *call, struct gs_value *out)
{
  static const char *const names[] = {
    [GS_KIND_FLOAT] = "float", [GS_KIND_SIGNED] = "integer", [GS_KIND_UNSIGNED] = "integer",
    [GS_KIND_PRED] = "pred", [GS_KIND_COMPLEX] = "complex",
  };
  struct gs_value value = call->args[0].value;
  const char *name = gs_value_kind_name(value.kind);
  if (value.kind == GS_VALUE_TENSOR)
    name = names[gs_dtype_kind(value.node->type.dtype)];
  else if (strncmp(name, "a ", 2) == 0 || strncmp(name, "an ", 3) == 0)
    name = strchr(name, ' ') + 1;
  *out = gs_value_string(call->session->values, name, strlen(name));
  return finish_list(call, out);
}

static bool bad_number(struct gs_call *call)
{
  struct gs_value value = call->args[0].value;
  if (value.kind == GS_VALUE_STRING)
    return gs_session_fail(call->session, call->args[0].span, "%s: \"%s\" is no number",
                           call->builtin->name, value.text);
  gs_arg_wrong(call, 0, "a number or a string");
  if (value.kind == GS_VALUE_TENSOR)
    gs_hint(&call->session->diagnostics,
            "run(x) computes a tensor now; of a scalar it gives the number");
  return false;
}

static bool function_int(struct gs_call *call, struct gs_value *out)
{
  struct gs_value value = call->args[0].value;
  if (value.kind == GS_VALUE_STRING) {
    char *end;
    errno = 0;
    long long integer = strtoll(value.text, &end, 10);
    if (end == value.text || *end != '\0' || errno != 0)
      return bad_number(call);
    *out = gs_value_int(integer);
  } else if (value.kind == GS_VALUE_FLOAT) {
    double whole = trunc(value.number);
    if (!(whole >= -0x1p63 && whole < 0x1p63))
      return gs_session_fail(call->session, call->args[0].span, "int: %g is too large", whole);
    *out = gs_value_int((int64_t)whole);
  } else if (value.kind == GS_VALUE_INT || value.kind == GS_VALUE_BOOL) {
    *out = value.kind == GS_VALUE_BOOL ? gs_value_int(value.boolean) : value;
  } else {
    return bad_number(call);
  }
  return true;
}

static bool function_float(struct gs_call *call, struct gs_value *out)
{
  struct gs_value value = call->args[0].value;
  if (value.kind == GS_VALUE_STRING) {
    char *end;
    double number = strtod(value.text, &end);
    if (end == value.text || *end != '\0')
      return bad_number(call);
    *out = gs_value_float(number);
  } else if (gs_value_is_number(value)) {
    *out = gs_value_float(gs_value_number(value));
  } else {
    return bad_number(call);
  }
  return true;
}

static bool function_bool(struct gs_call *call, struct gs_value *out)
{
  bool truth;
  if (!gs_eval_truth(call->session, call->args[0].span, call->args[0].value, &truth))
    return false;
  *out = gs_value_bool(truth);
  return true;
}

const struct gs_builtin gs_builtins_list[] = {
  { "len", "x", function_len, GS_OP_COUNT, GS_TOPIC_VALUES, "len(xs)",
    "the number of items of a list or string, the first dim of a tensor" },
  { "range", "start end? step?", function_range, GS_OP_COUNT, GS_TOPIC_VALUES,
    "range(4)  range(2, 10, 2)", "a list of integers, without the end" },
  { "list", "x", function_list, GS_OP_COUNT, GS_TOPIC_VALUES, "list((1, 2))",
    "a tuple's items as a list" },
  { "append", "xs item", function_append, GS_OP_COUNT, GS_TOPIC_VALUES, "xs = append(xs, 3)",
    "a list with one more item; xs itself does not change" },
  { "zip", "a b", function_zip, GS_OP_COUNT, GS_TOPIC_VALUES, "zip(a, b)",
    "pairs of items of two lists, as long as the shorter" },
  { "enumerate", "xs", function_enumerate, GS_OP_COUNT, GS_TOPIC_VALUES, "enumerate(xs)",
    "a list of pairs: position and item" },
  { "map", "f xs", function_map, GS_OP_COUNT, GS_TOPIC_VALUES, "map(fn(x) x * x, range(4))",
    "the list of f(item) for each item" },
  { "shape", "x", function_shape, GS_OP_COUNT, GS_TOPIC_VALUES, "shape(x)",
    "the list of a tensor's or tensor type's dims" },
  { "dtype", "x", function_dtype, GS_OP_COUNT, GS_TOPIC_VALUES, "dtype(x)",
    "a tensor's or tensor type's element type" },
  { "rank", "x", function_rank, GS_OP_COUNT, GS_TOPIC_VALUES, "rank(x)",
    "a tensor's number of dims" },
  { "size", "x dim?", function_size, GS_OP_COUNT, GS_TOPIC_VALUES, "size(x, dim=[0, 1])",
    "a tensor's number of elements, or that along some dims" },
  { "kind", "x", function_kind, GS_OP_COUNT, GS_TOPIC_VALUES, "kind(x)",
    "what x is, as a string: \"integer\", \"list\", ...; of a tensor what its elements are" },
  { "int", "x", function_int, GS_OP_COUNT, GS_TOPIC_VALUES, "int(\"12\")",
    "an integer from a string or float, toward zero" },
  { "float", "x", function_float, GS_OP_COUNT, GS_TOPIC_VALUES, "float(\"1.5\")",
    "a float from a string or integer" },
  { "bool", "x", function_bool, GS_OP_COUNT, GS_TOPIC_VALUES, "bool(xs)",
    "false for 0, none and what is empty" },
  { 0 },
};
