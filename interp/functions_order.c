/* interp/functions_order.c - sorting and cumulative operators. */
#include <config.h>

#include "interp/builtin.h"

#include <string.h>

#include "interp/eval.h"

enum { MAX_KEYS = 8 };

/* The tensor x and its dim from argument I, the last one without it. */
static bool tensor_and_dim(struct gs_call *call, int i, struct gs_node **x, int *dim)
{
  if (!gs_arg_tensor(call, 0, x))
    return false;
  if ((*x)->type.rank == 0)
    return gs_session_fail(call->session, call->args[0].span, "%s: a scalar has no dims", call->builtin->name);
  *dim = (*x)->type.rank - 1;
  return !gs_arg_given(call, i) || gs_arg_dim(call, i, (*x)->type.rank, dim);
}

static struct gs_node *positions(struct gs_call *call, const struct gs_node *x, int dim)
{
  struct gs_type type = x->type;
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  attrs.iota.dim = dim;
  type.dtype = GS_DTYPE_S32;
  return gs_graph_add(&call->session->graph, GS_OP_IOTA, call->span, NULL, 0, &attrs, &type);
}

static bool order_by(struct gs_call *call, struct gs_node *const *args, int nargs, int dim, bool descending,
                     struct gs_value *out)
{
  struct gs_session *s = call->session;
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  attrs.order.dim = dim;
  attrs.order.descending = descending;
  return gs_operate_node(s, gs_graph_add(&s->graph, GS_OP_SORT, call->span, args, nargs, &attrs, NULL), out);
}

/* The keys of argument I: a tensor or a list of them. */
static bool keys_argument(struct gs_call *call, int i, struct gs_node **keys, int *count)
{
  struct gs_node **nodes;
  *count = 1;
  if (call->args[i].value.kind == GS_VALUE_TENSOR)
    return gs_arg_tensor(call, i, &keys[0]);
  if (!gs_arg_tensors(call, i, &nodes, count))
    return false;
  if (*count < 1 || *count > MAX_KEYS)
    return gs_session_fail(call->session, call->args[i].span, "%s: %d keys, from 1 to %d are possible",
                           call->builtin->name, *count, MAX_KEYS);
  memcpy(keys, nodes, (size_t)*count * sizeof *keys);
  return true;
}

static bool function_sort(struct gs_call *call, struct gs_value *out)
{
  struct gs_node *args[MAX_KEYS + 1], *x;
  int dim, nkeys = 0;
  bool descending = false;
  if (!tensor_and_dim(call, 1, &x, &dim) || (gs_arg_given(call, 2) && !gs_arg_bool(call, 2, &descending))
      || (gs_arg_given(call, 3) && !keys_argument(call, 3, args, &nkeys)))
    return false;
  args[nkeys] = x;
  return order_by(call, args, nkeys + 1, dim, descending, out);
}

static bool function_argsort(struct gs_call *call, struct gs_value *out)
{
  struct gs_node *args[2];
  int dim;
  bool descending = false;
  if (!tensor_and_dim(call, 1, &args[0], &dim) || (gs_arg_given(call, 2) && !gs_arg_bool(call, 2, &descending)))
    return false;
  args[1] = positions(call, args[0], dim);
  return !gs_node_is_poison(&call->session->graph, args[1]) && order_by(call, args, 2, dim, descending, out);
}

static bool function_top_k(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *args[2], *made[2];
  union gs_attrs attrs;
  int last;
  memset(&attrs, 0, sizeof attrs);
  if (!tensor_and_dim(call, 2, &args[0], &last) || !gs_arg_int(call, 1, &attrs.order.k))
    return false;
  args[1] = positions(call, args[0], last);
  for (int i = 0; i < 2; i++) {
    made[i] = gs_graph_add(&s->graph, GS_OP_TOP_K, call->span, args, i + 1, &attrs, NULL);
    if (gs_node_is_poison(&s->graph, made[i]))
      return false;
  }
  *out = gs_value_list(s->values, GS_VALUE_TUPLE, 2);
  if (out->kind == GS_VALUE_ABSENT)
    return gs_session_out_of_memory(s, call->span);
  for (size_t i = 0; i < 2; i++)
    *gs_value_item(*out, i) = gs_value_tensor(made[i]);
  return true;
}

static bool function_cumulative(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  if (!tensor_and_dim(call, 1, &x, &attrs.order.dim)
      || (gs_arg_given(call, 2) && !gs_arg_bool(call, 2, &attrs.order.reverse)))
    return false;
  return gs_operate_node(s, gs_graph_add(&s->graph, call->builtin->op, call->span, &x, 1, &attrs, NULL), out);
}

#define CUMULATIVE(name, id, help) \
  { name, "x dim? reverse?", function_cumulative, GS_OP_##id, GS_TOPIC_ORDER, name "(x, 0, reverse=false)", help }

const struct gs_builtin gs_builtins_order[] = {
  { "sort", "x dim? descending? by?", function_sort, GS_OP_SORT, GS_TOPIC_ORDER,
    "sort(x, 1, descending=false)  sort(x, 0, by=[k1, k2])",
    "in order along dim, stably; by= other tensors of its shape, the first one counting most" },
  { "argsort", "x dim? descending?", function_argsort, GS_OP_SORT, GS_TOPIC_ORDER, "argsort(x, 1)",
    "the positions (s32) that would sort x along dim, the first of equals first" },
  { "top_k", "x k", function_top_k, GS_OP_TOP_K, GS_TOPIC_ORDER, "v, i = top_k(x, 4)",
    "the k largest along the last dim, largest first, and their positions (s32)" },
  CUMULATIVE("cumsum", CUMSUM, "sums of all elements so far along dim"),
  CUMULATIVE("cumprod", CUMPROD, "products of all elements so far along dim"),
  CUMULATIVE("cummax", CUMMAX, "the largest so far along dim; NaN wins"),
  CUMULATIVE("cummin", CUMMIN, "the smallest so far along dim; NaN wins"),
  { 0 },
};
