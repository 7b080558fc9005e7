/* interp/functions_window.c - convolution and pooling. */
#include <config.h>

#include "interp/builtin.h"

#include <ctype.h>
#include <string.h>

#include "interp/eval.h"

/* ---- Layouts: "NHWC,HWIO->NHWC" ---- */

/* Position of LETTER in the LENGTH characters at TEXT, or -1. */
static int letter_at(const char *text, int length, char letter)
{
  const char *found = memchr(text, letter, (size_t)length);
  return found == NULL ? -1 : (int)(found - text);
}

static bool bad_layout(struct gs_call *call, const char *layout, const char *why)
{
  gs_session_fail(call->session, call->span, "conv: layout \"%s\": %s", layout, why);
  gs_hint(&call->session->diagnostics,
          "like \"NHWC,HWIO->NHWC\": N batch, C features, I and O features of the kernel, other letters space");
  return false;
}

/* The spatial letters, in the kernel's order, say which dims belong together. */
static bool parse_layout(struct gs_call *call, const char *layout, struct gs_conv *c)
{
  const char *comma = strchr(layout, ','), *arrow = strstr(layout, "->");
  if (comma == NULL || arrow == NULL || arrow < comma)
    return bad_layout(call, layout, "three parts are needed");
  const char *in = layout, *kernel = comma + 1, *out = arrow + 2;
  int rank = (int)(comma - in);
  if (rank < 2 || rank > GS_MAX_RANK || arrow - kernel != rank || (int)strlen(out) != rank)
    return bad_layout(call, layout, "its parts are of different lengths");
  for (int i = 0; i < rank; i++)
    for (int j = 0; j < i; j++)
      if (in[i] == in[j] || kernel[i] == kernel[j] || out[i] == out[j])
        return bad_layout(call, layout, "a letter stands twice in one part");
  c->batch = (signed char)letter_at(in, rank, 'N');
  c->feature = (signed char)letter_at(in, rank, 'C');
  c->kernel_in = (signed char)letter_at(kernel, rank, 'I');
  c->kernel_out = (signed char)letter_at(kernel, rank, 'O');
  c->out_batch = (signed char)letter_at(out, rank, 'N');
  c->out_feature = (signed char)letter_at(out, rank, 'C');
  if (c->batch < 0 || c->feature < 0 || c->out_batch < 0 || c->out_feature < 0)
    return bad_layout(call, layout, "N and C stand in the first and the last part");
  if (c->kernel_in < 0 || c->kernel_out < 0)
    return bad_layout(call, layout, "I and O stand in the middle part");
  c->nspatial = 0;
  for (int i = 0; i < rank; i++) {
    if (i == c->kernel_in || i == c->kernel_out)
      continue;
    int a = letter_at(in, rank, kernel[i]), b = letter_at(out, rank, kernel[i]);
    if (a < 0 || b < 0 || !isalnum((unsigned char)kernel[i]))
      return bad_layout(call, layout, "its parts have different spatial letters");
    c->kernel_spatial[c->nspatial] = (signed char)i;
    c->spatial[c->nspatial] = (signed char)a;
    c->out_spatial[c->nspatial++] = (signed char)b;
  }
  c->layout = layout;
  return true;
}

/* Batch first, features last, the kernel's features last. */
static const char *usual_layout(struct gs_call *call, int rank)
{
  static const char *const usual[] = { "NC,IO->NC", "NWC,WIO->NWC", "NHWC,HWIO->NHWC", "NDHWC,DHWIO->NDHWC" };
  static const char letters[] = "ABDEFGHJKL";
  if (rank >= 2 && rank <= 5)
    return usual[rank - 2];
  return gs_arena_printf(call->session->values, "N%.*sC,%.*sIO->N%.*sC", rank - 2, letters, rank - 2, letters,
                         rank - 2, letters);
}

/* ---- Windows ---- */

enum window_part { SIZE, STRIDE, DILATE, BASE_DILATE };

static void set_part(struct gs_window *w, enum window_part part, int64_t value)
{
  *(part == SIZE ? &w->size : part == STRIDE ? &w->stride : part == DILATE ? &w->dilate : &w->base_dilate) = value;
}

/* One number for each of COUNT windows from argument I, 1 without it.  A single number serves for all dims of
 * space; windows over batches and features are hardly ever meant. */
static bool window_part(struct gs_call *call, int i, enum window_part part, int count, struct gs_window *windows)
{
  int64_t numbers[GS_MAX_RANK];
  int given = 0;
  if (gs_arg_given(call, i) && !gs_arg_ints(call, i, numbers, GS_MAX_RANK, &given))
    return false;
  bool one = given == 1 && call->args[i].value.kind == GS_VALUE_INT && call->builtin->op == GS_OP_CONV;
  if (given != count && given != 0 && !one)
    return gs_session_fail(call->session, call->args[i].span, "%s: %d number%s in %.*s for %d window dims",
                           call->builtin->name, given, given == 1 ? "" : "s", call->parameters[i].length,
                           call->parameters[i].name, count);
  for (int k = 0; k < count; k++)
    set_part(&windows[k], part, given == 0 ? 1 : numbers[one ? 0 : k]);
  return true;
}

/* As little padding as lets ceil(size / stride) positions fit, the rest behind. */
static void pad_same(struct gs_window *w, int64_t size)
{
  if (w->stride < 1 || w->size < 0 || w->dilate < 1 || w->base_dilate < 1)
    return;                            /* inference says what is wrong */
  int64_t spread = size == 0 ? 0 : (size - 1) * w->base_dilate + 1;
  int64_t positions = spread / w->stride + (spread % w->stride != 0);
  int64_t missing = positions == 0 ? 0 : (positions - 1) * w->stride + (w->size - 1) * w->dilate + 1 - spread;
  missing = missing < 0 ? 0 : missing;
  w->low = missing / 2;
  w->high = missing - w->low;
}

/* "same", "valid" or one pair [low, high] a window; SIZES are those of the dims they go over. */
static bool padding(struct gs_call *call, int i, int count, const int64_t *sizes, struct gs_window *windows)
{
  struct gs_session *s = call->session;
  struct gs_value value = call->args[i].value;
  if (!gs_arg_given(call, i))
    return true;
  if (value.kind == GS_VALUE_STRING) {
    bool same = strcmp(value.text, "same") == 0;
    if (!same && strcmp(value.text, "valid") != 0)
      return gs_session_fail(s, call->args[i].span, "%s: padding is \"same\", \"valid\" or pairs [low, high], not \"%s\"",
                             call->builtin->name, value.text);
    for (int k = 0; k < count && same; k++)
      pad_same(&windows[k], sizes[k]);
    return true;
  }
  if (!gs_value_is_sequence(value) || (int)value.length != count)
    return gs_session_fail(s, call->args[i].span, "%s: padding is one pair [low, high] for each of %d dims",
                           call->builtin->name, count);
  for (int k = 0; k < count; k++) {
    struct gs_value pair = *gs_value_item(value, (size_t)k);
    if (!gs_value_is_sequence(pair) || pair.length != 2 || gs_value_item(pair, 0)->kind != GS_VALUE_INT
        || gs_value_item(pair, 1)->kind != GS_VALUE_INT)
      return gs_session_fail(s, call->args[i].span, "%s: padding %d is %s, not a pair [low, high]",
                             call->builtin->name, k, gs_value_describe(s->values, pair));
    windows[k].low = gs_value_item(pair, 0)->integer;
    windows[k].high = gs_value_item(pair, 1)->integer;
  }
  return true;
}

/* Arguments from FIRST on: stride, pad, lhs_dilate, rhs_dilate. */
static bool conv_windows(struct gs_call *call, int first, const struct gs_node *x, const struct gs_node *kernel,
                         struct gs_conv *c)
{
  int64_t sizes[GS_MAX_RANK];
  for (int k = 0; k < c->nspatial; k++) {
    c->windows[k] = (struct gs_window){ .size = kernel->type.dims[c->kernel_spatial[k]] };
    sizes[k] = x->type.dims[c->spatial[k]];
  }
  return window_part(call, first, STRIDE, c->nspatial, c->windows)
         && window_part(call, first + 2, BASE_DILATE, c->nspatial, c->windows)
         && window_part(call, first + 3, DILATE, c->nspatial, c->windows)
         && padding(call, first + 1, c->nspatial, sizes, c->windows);
}

static bool function_conv(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *args[2];
  union gs_attrs attrs;
  struct gs_conv *c = GS_NEW(s->values, struct gs_conv);
  const char *layout;
  bool reversed = false;
  memset(&attrs, 0, sizeof attrs);
  if (c == NULL)
    return gs_session_out_of_memory(s, call->span);
  c->groups = c->batch_groups = 1;
  if (!gs_arg_tensor(call, 0, &args[0]) || !gs_arg_tensor(call, 1, &args[1])
      || (gs_arg_given(call, 6) && !gs_arg_int(call, 6, &c->groups))
      || (gs_arg_given(call, 8) && !gs_arg_int(call, 8, &c->batch_groups))
      || (gs_arg_given(call, 9) && !gs_arg_bool(call, 9, &reversed)))
    return false;
  if (args[0]->type.rank < 2 || args[0]->type.rank != args[1]->type.rank)
    return gs_session_fail(s, call->span, "conv: %s and a kernel %s: both have a dim for batch or output features, "
                           "one for features, and as many of space", gs_type_string(s->values, &args[0]->type),
                           gs_type_string(s->values, &args[1]->type));
  layout = usual_layout(call, args[0]->type.rank);
  if ((gs_arg_given(call, 7) && !gs_arg_string(call, 7, &layout)) || !parse_layout(call, layout, c))
    return false;
  if (c->nspatial + 2 != args[0]->type.rank)
    return gs_session_fail(s, call->span, "conv: the layout \"%s\" is for tensors of rank %d, not %s", layout,
                           c->nspatial + 2, gs_type_string(s->values, &args[0]->type));
  c->reversed = reversed ? (1u << c->nspatial) - 1 : 0;
  if (!conv_windows(call, 2, args[0], args[1], c))
    return false;
  attrs.conv.conv = c;
  return gs_operate_node(s, gs_graph_add(&s->graph, GS_OP_CONV, call->span, args, 2, &attrs, NULL), out);
}

/* Windows for every dim of X from arguments: WINDOW, STRIDE and PAD behind it, DILATE and BASE (-1: there is
 * none). */
static bool pool_windows(struct gs_call *call, const struct gs_node *x, int window, int dilate, int base,
                         struct gs_window *windows)
{
  int rank = x->type.rank;
  memset(windows, 0, (size_t)(rank + 1) * sizeof *windows);
  for (int k = 0; k < rank; k++)
    windows[k].dilate = windows[k].base_dilate = 1;
  return window_part(call, window, SIZE, rank, windows) && window_part(call, window + 1, STRIDE, rank, windows)
         && (dilate < 0 || window_part(call, dilate, DILATE, rank, windows))
         && (base < 0 || window_part(call, base, BASE_DILATE, rank, windows))
         && padding(call, window + 2, rank, x->type.dims, windows);
}

static struct gs_node *reduce_windows(struct gs_call *call, struct gs_node *x, enum gs_op reduce, int window,
                                      int dilate, int base, const struct gs_window **used)
{
  struct gs_session *s = call->session;
  struct gs_window *windows = GS_NEW_ARRAY(s->values, struct gs_window, x->type.rank + 1);
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  if (windows == NULL || !pool_windows(call, x, window, dilate, base, windows))
    return &s->graph.poison;
  attrs.window.reduce = reduce;
  attrs.window.dims = *used = windows;
  return gs_graph_add(&s->graph, GS_OP_REDUCE_WINDOW, call->span, &x, 1, &attrs, NULL);
}

static bool function_reduce_window(struct gs_call *call, struct gs_value *out)
{
  static const struct { const char *name; enum gs_op op; } kinds[] = {
    { "sum", GS_OP_SUM }, { "prod", GS_OP_PROD }, { "max", GS_OP_REDUCE_MAX }, { "min", GS_OP_REDUCE_MIN }
  };
  struct gs_session *s = call->session;
  struct gs_node *x;
  const struct gs_window *ignored;
  const char *kind;
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_string(call, 1, &kind))
    return false;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (strcmp(kind, kinds[k].name) == 0)
      return gs_operate_node(s, reduce_windows(call, x, kinds[k].op, 2, 5, 6, &ignored), out);
  gs_session_fail(s, call->args[1].span, "reduce_window: there is no kind \"%s\"", kind);
  gs_hint(&s->diagnostics, "kinds are \"sum\", \"prod\", \"max\" and \"min\"");
  return false;
}

static bool function_max_pool(struct gs_call *call, struct gs_value *out)
{
  struct gs_node *x;
  const struct gs_window *ignored;
  return gs_arg_tensor(call, 0, &x)
         && gs_operate_node(call->session, reduce_windows(call, x, GS_OP_REDUCE_MAX, 1, -1, -1, &ignored), out);
}

static bool function_avg_pool(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  const struct gs_window *windows = NULL;
  double size = 1;
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  if (gs_dtype_kind(x->type.dtype) != GS_KIND_FLOAT)
    return gs_session_fail(s, call->args[0].span, "avg_pool: not for %s, only floats",
                           gs_type_string(s->values, &x->type));
  struct gs_node *pair[2] = { reduce_windows(call, x, GS_OP_SUM, 1, -1, -1, &windows) };
  if (gs_node_is_poison(&s->graph, pair[0]))
    return false;
  for (int i = 0; i < x->type.rank; i++)
    size *= (double)windows[i].size;
  pair[1] = gs_build_scalar(&s->graph, call->span, x->type.dtype, size);
  return gs_operate_node(s, gs_build_elementwise(&s->graph, GS_OP_DIV, call->span, pair, 2), out);
}

static bool function_select_and_scatter(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *args[2];
  union gs_attrs attrs;
  const char *select = "max";
  memset(&attrs, 0, sizeof attrs);
  if (!gs_arg_tensor(call, 0, &args[0]) || !gs_arg_tensor(call, 1, &args[1])
      || (gs_arg_given(call, 6) && !gs_arg_string(call, 6, &select)))
    return false;
  bool least = strcmp(select, "min") == 0;
  if (!least && strcmp(select, "max") != 0)
    return gs_session_fail(s, call->args[6].span, "select_and_scatter: select is \"max\" or \"min\", not \"%s\"", select);
  struct gs_window *windows = GS_NEW_ARRAY(s->values, struct gs_window, args[0]->type.rank + 1);
  if (windows == NULL)
    return gs_session_out_of_memory(s, call->span);
  if (!pool_windows(call, args[0], 2, 5, -1, windows))
    return false;
  attrs.window.reduce = least ? GS_OP_REDUCE_MIN : GS_OP_REDUCE_MAX;
  attrs.window.dims = windows;
  return gs_operate_node(s, gs_graph_add(&s->graph, GS_OP_SELECT_AND_SCATTER, call->span, args, 2, &attrs, NULL), out);
}

const struct gs_builtin gs_builtins_window[] = {
  { "conv", "x k stride? pad? lhs_dilate? rhs_dilate? groups? layout? batch_groups? reversed?", function_conv,
    GS_OP_CONV, GS_TOPIC_WINDOWS, "conv(x, k, stride=[2, 2], pad=\"same\", layout=\"NHWC,HWIO->NHWC\")",
    "convolution; pad \"same\", \"valid\" or [low, high] a spatial dim; lhs_dilate= rhs_dilate= groups=" },
  { "reduce_window", "x kind window stride? pad? dilate? base_dilate?", function_reduce_window,
    GS_OP_REDUCE_WINDOW, GS_TOPIC_WINDOWS, "reduce_window(x, \"max\", [4, 1], pad=[[3, 0], [0, 0]])",
    "sum, prod, max or min over windows, one number for every dim of x; padding is the kind's identity" },
  { "max_pool", "x window stride? pad?", function_max_pool, GS_OP_REDUCE_WINDOW, GS_TOPIC_WINDOWS,
    "max_pool(x, [1, 2, 2, 1], stride=[1, 2, 2, 1])", "the largest of each window" },
  { "avg_pool", "x window stride? pad?", function_avg_pool, GS_OP_REDUCE_WINDOW, GS_TOPIC_WINDOWS,
    "avg_pool(x, [1, 2, 2, 1], stride=[1, 2, 2, 1])", "the sum of each window by the window's size" },
  { "select_and_scatter", "x u window stride? pad? dilate? select?", function_select_and_scatter,
    GS_OP_SELECT_AND_SCATTER, GS_TOPIC_WINDOWS, "select_and_scatter(x, u, [1, 2, 2, 1], stride=[1, 2, 2, 1])",
    "zeros, and each element of u added where its window of x is largest (select=\"min\": smallest)" },
  { 0 },
};
