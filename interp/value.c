/* interp/value.c - making, comparing and printing values. */
#include <config.h>

#include "interp/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp/builtin.h"

struct gs_items {
  struct gs_value *data;
  uint32_t used, capacity;             /* used: the longest list seen so far */
};

enum { MAX_PRINT_DEPTH = 100 };

static const char *const kind_names[GS_VALUE_KINDS] = {
  [GS_VALUE_ABSENT] = "nothing",
  [GS_VALUE_NONE] = "none",
  [GS_VALUE_BOOL] = "a bool",
  [GS_VALUE_INT] = "an integer",
  [GS_VALUE_FLOAT] = "a float",
  [GS_VALUE_STRING] = "a string",
  [GS_VALUE_LIST] = "a list",
  [GS_VALUE_TUPLE] = "a tuple",
  [GS_VALUE_FUNCTION] = "a function",
  [GS_VALUE_BUILTIN] = "a function",
  [GS_VALUE_DTYPE] = "an element type",
  [GS_VALUE_TYPE] = "a tensor type",
  [GS_VALUE_MESH] = "a mesh",
  [GS_VALUE_AXIS] = "a mesh axis",
  [GS_VALUE_TENSOR] = "a tensor",
  [GS_VALUE_FILL] = "a fill without a type",
  [GS_VALUE_OPEN] = "?",
  [GS_VALUE_REPLICATED] = "replicated",
  [GS_VALUE_NEWAXIS] = "newaxis",
  [GS_VALUE_QUOTED] = "an expression",
};

struct gs_value gs_value_none(void)
{
  return (struct gs_value){ .kind = GS_VALUE_NONE };
}

struct gs_value gs_value_bool(bool boolean)
{
  return (struct gs_value){ .kind = GS_VALUE_BOOL, .boolean = boolean };
}

struct gs_value gs_value_int(int64_t integer)
{
  return (struct gs_value){ .kind = GS_VALUE_INT, .integer = integer };
}

struct gs_value gs_value_float(double number)
{
  return (struct gs_value){ .kind = GS_VALUE_FLOAT, .number = number };
}

struct gs_value gs_value_tensor(struct gs_node *node)
{
  return (struct gs_value){ .kind = GS_VALUE_TENSOR, .node = node };
}

struct gs_value gs_value_string(struct gs_arena *arena, const char *text, size_t length)
{
  if (length > GS_VALUE_MAX_ITEMS)
    return (struct gs_value){ .kind = GS_VALUE_ABSENT };
  char *copy = gs_arena_string(arena, text, length);
  if (copy == NULL)
    return (struct gs_value){ .kind = GS_VALUE_ABSENT };
  return (struct gs_value){ .kind = GS_VALUE_STRING, .length = (uint32_t)length, .text = copy };
}

static struct gs_items *items_new(struct gs_arena *arena, size_t capacity)
{
  if (capacity > GS_VALUE_MAX_ITEMS)
    return NULL;
  struct gs_items *items = GS_NEW(arena, struct gs_items);
  struct gs_value *data = GS_NEW_ARRAY(arena, struct gs_value, capacity);
  if (items == NULL || (data == NULL && capacity > 0))
    return NULL;
  items->data = data;
  items->capacity = (uint32_t)capacity;
  return items;
}

struct gs_value gs_value_list(struct gs_arena *arena, enum gs_value_kind kind, size_t length)
{
  struct gs_items *items = items_new(arena, length);
  if (items == NULL)
    return (struct gs_value){ .kind = GS_VALUE_ABSENT };
  items->used = (uint32_t)length;
  return (struct gs_value){ .kind = kind, .length = (uint32_t)length, .items = items };
}

struct gs_value gs_value_append(struct gs_arena *arena, struct gs_value list, struct gs_value item)
{
  struct gs_items *items = list.items;
  if (items->used != list.length || items->used == items->capacity) {
    struct gs_items *grown = items_new(arena, (size_t)list.length * 2 + 4);
    if (grown == NULL)
      return (struct gs_value){ .kind = GS_VALUE_ABSENT };
    if (list.length > 0)
      memcpy(grown->data, items->data, list.length * sizeof *items->data);
    items = grown;
  }
  items->data[list.length] = item;
  items->used = list.length + 1;
  list.items = items;
  list.length++;
  return list;
}

bool gs_value_is_sequence(struct gs_value value)
{
  return value.kind == GS_VALUE_LIST || value.kind == GS_VALUE_TUPLE;
}

bool gs_value_is_number(struct gs_value value)
{
  return value.kind == GS_VALUE_INT || value.kind == GS_VALUE_FLOAT;
}

struct gs_value *gs_value_item(struct gs_value list, size_t index)
{
  return &list.items->data[index];
}

double gs_value_number(struct gs_value value)
{
  return value.kind == GS_VALUE_INT ? (double)value.integer : value.number;
}

const char *gs_value_kind_name(enum gs_value_kind kind)
{
  return kind_names[kind];
}

const char *gs_value_describe(struct gs_arena *arena, struct gs_value value)
{
  if (value.kind == GS_VALUE_TENSOR) {
    const char *type = gs_type_string(arena, &value.node->type);
    return type != NULL ? type : kind_names[value.kind];
  }
  return kind_names[value.kind];
}

static bool equal_at(struct gs_value a, struct gs_value b, int depth)
{
  if (gs_value_is_number(a) && gs_value_is_number(b))
    return a.kind == GS_VALUE_INT && b.kind == GS_VALUE_INT
               ? a.integer == b.integer : gs_value_number(a) == gs_value_number(b);
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case GS_VALUE_BOOL:
    return a.boolean == b.boolean;
  case GS_VALUE_STRING:
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
  case GS_VALUE_LIST:
  case GS_VALUE_TUPLE:
    if (a.length != b.length || depth > MAX_PRINT_DEPTH)
      return false;
    for (uint32_t i = 0; i < a.length; i++)
      if (!equal_at(*gs_value_item(a, i), *gs_value_item(b, i), depth + 1))
        return false;
    return true;
  case GS_VALUE_DTYPE:
    return a.dtype == b.dtype;
  case GS_VALUE_TYPE:
    return gs_type_equal(a.type, b.type);
  case GS_VALUE_MESH:
    return gs_mesh_equal(a.mesh, b.mesh);
  case GS_VALUE_AXIS:
    return a.length == b.length && gs_mesh_equal(a.mesh, b.mesh);
  case GS_VALUE_FUNCTION:
    return a.function == b.function;
  case GS_VALUE_BUILTIN:
    return a.builtin == b.builtin;
  case GS_VALUE_TENSOR:
    return a.node == b.node;
  case GS_VALUE_FILL:
    return a.fill == b.fill;
  default:
    return true;
  }
}

bool gs_value_equal(struct gs_value a, struct gs_value b)
{
  return equal_at(a, b, 0);
}

void gs_float_print(struct gs_text *text, double number)
{
  if (isnan(number)) {
    gs_text_add(text, "nan");
  } else if (isinf(number)) {
    gs_text_add(text, number > 0 ? "inf" : "-inf");
  } else {
    char digits[40];
    int n = snprintf(digits, sizeof digits, "%.12g", number);
    gs_text_add_bytes(text, digits, (size_t)n);
    if (strpbrk(digits, ".en") == NULL)
      gs_text_add(text, ".0");
  }
}

static void print_quoted(struct gs_text *text, const char *string, size_t length)
{
  gs_text_add(text, "\"");
  for (size_t i = 0; i < length; i++) {
    char c = string[i];
    if (c == '\n')
      gs_text_add(text, "\\n");
    else if (c == '\t')
      gs_text_add(text, "\\t");
    else if (c == '"' || c == '\\')
      gs_text_printf(text, "\\%c", c);
    else
      gs_text_add_bytes(text, &c, 1);
  }
  gs_text_add(text, "\"");
}

static void print_at(struct gs_text *text, struct gs_value value, bool quote, int depth);

static void print_items(struct gs_text *text, struct gs_value value, int depth)
{
  bool tuple = value.kind == GS_VALUE_TUPLE;
  gs_text_add(text, tuple ? "(" : "[");
  for (uint32_t i = 0; i < value.length; i++) {
    if (i > 0)
      gs_text_add(text, ", ");
    print_at(text, *gs_value_item(value, i), true, depth + 1);
  }
  gs_text_add(text, !tuple ? "]" : value.length == 1 ? ",)" : ")");
}

static void print_mesh(struct gs_text *text, const struct gs_mesh *mesh)
{
  gs_text_add(text, "mesh [");
  gs_mesh_print(text, mesh);
  gs_text_printf(text, "], %lld device%s%s", (long long)mesh->ndevices,
                 mesh->ndevices == 1 ? "" : "s",
                 mesh->order != NULL ? " in an explicit order" : "");
}

static void print_at(struct gs_text *text, struct gs_value value, bool quote, int depth)
{
  if (depth > MAX_PRINT_DEPTH) {
    gs_text_add(text, "...");
    return;
  }
  switch (value.kind) {
  case GS_VALUE_BOOL:
    gs_text_add(text, value.boolean ? "true" : "false");
    break;
  case GS_VALUE_INT:
    gs_text_printf(text, "%lld", (long long)value.integer);
    break;
  case GS_VALUE_FLOAT:
    gs_float_print(text, value.number);
    break;
  case GS_VALUE_STRING:
    if (quote)
      print_quoted(text, value.text, value.length);
    else
      gs_text_add_bytes(text, value.text, value.length);
    break;
  case GS_VALUE_LIST:
  case GS_VALUE_TUPLE:
    print_items(text, value, depth);
    break;
  case GS_VALUE_FUNCTION:
    gs_text_printf(text, "fn %s", value.function->name != NULL ? value.function->name : "(...)");
    break;
  case GS_VALUE_BUILTIN:
    gs_text_printf(text, "fn %s", value.builtin->name);
    break;
  case GS_VALUE_DTYPE:
    gs_text_add(text, gs_dtype_name(value.dtype));
    break;
  case GS_VALUE_TYPE:
    gs_type_print(text, value.type);
    break;
  case GS_VALUE_MESH:
    print_mesh(text, value.mesh);
    break;
  case GS_VALUE_AXIS:
    gs_text_printf(text, "axis %s", value.mesh->axes[value.length].name);
    break;
  case GS_VALUE_TENSOR:
    if (value.node->name != NULL)
      gs_text_printf(text, "%s: ", value.node->name);
    gs_type_print(text, &value.node->type);
    break;
  default:
    gs_text_add(text, kind_names[value.kind]);
    break;
  }
}

void gs_value_print(struct gs_text *text, struct gs_value value, bool quote)
{
  print_at(text, value, quote, 0);
}
