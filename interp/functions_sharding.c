/* interp/functions_sharding.c - mesh, shard, mesh_split. */
#include <config.h>

#include "interp/builtin.h"

#include <string.h>

#include "interp/annotation.h"
#include "interp/eval.h"

/* mesh(8), mesh([2, 4]) and mesh([[0, 1], [3, 2]]): sizes, or the devices' order. */
struct mesh_reader {
  struct gs_call *call;
  int naxes;
  int64_t sizes[GS_MESH_MAX_AXES];
  int64_t *order, count;
};

static bool order_shape(struct mesh_reader *reader, struct gs_value value)
{
  struct gs_session *s = reader->call->session;
  int64_t total = 1;
  while (gs_value_is_sequence(value)) {
    if (reader->naxes == GS_MESH_MAX_AXES)
      return gs_session_fail(s, reader->call->span, "mesh: more than %d axes", GS_MESH_MAX_AXES);
    if (value.length == 0)
      return gs_session_fail(s, reader->call->span, "mesh: an axis of size 0");
    reader->sizes[reader->naxes++] = (int64_t)value.length;
    if (!gs_mul_size(total, (int64_t)value.length, &total) || total > GS_VALUE_MAX_ITEMS)
      return gs_session_fail(s, reader->call->span, "mesh: too many devices");
    value = *gs_value_item(value, 0);
  }
  reader->order = GS_NEW_ARRAY(s->meshes, int64_t, total);
  return reader->order != NULL || gs_session_out_of_memory(s, reader->call->span);
}

static bool read_order(struct mesh_reader *reader, struct gs_value value, int depth)
{
  struct gs_call *call = reader->call;
  if (!gs_value_is_sequence(value)) {
    if (value.kind != GS_VALUE_INT || depth != reader->naxes)
      return gs_session_fail(call->session, call->span,
                             "mesh: the devices' order is nested lists of equal length of "
                             "integers, and here is %s",
                             gs_value_kind_name(value.kind));
    reader->order[reader->count++] = value.integer;
    return true;
  }
  if (depth == reader->naxes || (int64_t)value.length != reader->sizes[depth])
    return gs_session_fail(call->session, call->span, "mesh: rows of different lengths");
  for (uint32_t i = 0; i < value.length; i++)
    if (!read_order(reader, *gs_value_item(value, i), depth + 1))
      return false;
  return true;
}

static struct gs_mesh *mesh_of_list(struct gs_call *call, struct gs_value list)
{
  struct gs_session *s = call->session;
  struct mesh_reader reader = { .call = call };
  struct gs_mesh_axis axes[GS_MESH_MAX_AXES];
  bool nested = gs_value_is_sequence(list) && list.length > 0 &&
                gs_value_is_sequence(*gs_value_item(list, 0));
  if (nested && (!order_shape(&reader, list) || !read_order(&reader, list, 0)))
    return NULL;
  if (!nested && !gs_arg_ints(call, 0, reader.sizes, GS_MESH_MAX_AXES, &reader.naxes))
    return NULL;
  for (int i = 0; i < reader.naxes; i++)
    axes[i] = (struct gs_mesh_axis){ gs_arena_printf(s->meshes, "%d", i), reader.sizes[i] };
  return gs_mesh_new(s->meshes, &s->diagnostics, call->span, reader.naxes, axes, reader.order,
                     true);
}

static struct gs_mesh *mesh_of_names(struct gs_call *call)
{
  struct gs_session *s = call->session;
  struct gs_mesh_axis axes[GS_MESH_MAX_AXES];
  if (call->nextra > GS_MESH_MAX_AXES) {
    gs_session_fail(s, call->span, "mesh: more than %d axes", GS_MESH_MAX_AXES);
    return NULL;
  }
  for (int i = 0; i < call->nextra; i++) {
    struct gs_value size = call->extra[i].value;
    if (size.kind != GS_VALUE_INT) {
      gs_session_fail(s, call->extra[i].span, "mesh: axis %s has a size that is %s, not an integer",
                      call->extra_names[i], gs_value_describe(s->values, size));
      return NULL;
    }
    axes[i] = (struct gs_mesh_axis){ call->extra_names[i], size.integer };
  }
  return gs_mesh_new(s->meshes, &s->diagnostics, call->span, call->nextra, axes, NULL, false);
}

/* A mesh made by a statement of its own becomes the current one, and so does the first; in
 * `m = mesh(...)` a later one is only a value. */
static bool function_mesh(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_value shape = call->args[0].value;
  const struct gs_mesh *mesh = NULL;
  if (call->nextra > 0 && shape.kind != GS_VALUE_ABSENT)
    return gs_session_fail(s, call->span, "mesh takes a list of sizes or named axes, not both");
  if (shape.kind == GS_VALUE_MESH) {
    mesh = shape.mesh;
  } else if (call->nextra == 0 && shape.kind == GS_VALUE_ABSENT) {
    if (s->mesh == NULL)
      return gs_session_fail(s, call->span,
                             "there is no mesh yet: mesh(data=2, model=4) makes one");
    mesh = s->mesh;
  } else {
    struct gs_mesh *made = call->nextra > 0 ? mesh_of_names(call) : mesh_of_list(call, shape);
    if (made == NULL)
      return false;
    const char *profile = s->options.profile;
    if (gs_arg_given(call, 1) && !gs_arg_string(call, 1, &profile))
      return false;
    made->profile = profile;
    mesh = made;
  }
  if (call->statement || s->mesh == NULL) {
    gs_mesh_use(s, mesh);
    mesh = s->mesh;
  }
  *out = (struct gs_value){ .kind = GS_VALUE_MESH, .mesh = mesh };
  return true;
}

static bool annotate(struct gs_call *call, const struct gs_argument *annotation,
                     const struct gs_mesh *mesh, struct gs_value *out)
{
  struct gs_session *s = call->session;
  struct gs_node *x;
  if (!gs_arg_tensor(call, 0, &x))
    return false;
  union gs_attrs attrs = { .shard = { .span = call->span } };
  attrs.shard.annotation = gs_annotation_make(call, annotation, mesh, &x->type);
  if (attrs.shard.annotation == NULL)
    return false;
  return gs_operate_node(s, gs_graph_add(&s->graph, GS_OP_SHARD, call->span, &x, 1, &attrs, NULL),
                         out);
}

static bool function_shard(struct gs_call *call, struct gs_value *out)
{
  struct gs_session *s = call->session;
  const struct gs_mesh *mesh = s->mesh;
  if (gs_arg_given(call, 2)) {
    if (call->args[2].value.kind != GS_VALUE_MESH)
      return gs_arg_wrong(call, 2, "a mesh");
    mesh = call->args[2].value.mesh;
  }
  if (mesh == NULL) {
    gs_session_fail(s, call->span, "shard: there is no mesh yet");
    gs_hint(&s->diagnostics, "make one first: mesh(data=2, model=4)");
    return false;
  }
  return annotate(call, &call->args[1], mesh, out);
}

static bool function_mesh_split(struct gs_call *call, struct gs_value *out)
{
  if (call->args[1].value.kind != GS_VALUE_MESH)
    return gs_arg_wrong(call, 1, "a mesh");
  return annotate(call, &call->args[2], call->args[1].value.mesh, out);
}

const struct gs_builtin gs_builtins_sharding[] = {
  { "mesh", "shape? profile? **", function_mesh, GS_OP_SHARD, GS_TOPIC_SHARDING,
    "mesh(data=2, model=4)  mesh([2, 4])  mesh([[0, 1], [3, 2]])",
    "the grid of devices: named axes, sizes alone, or the devices in an explicit order" },
  { "shard", "x 'annotation mesh?", function_shard, GS_OP_SHARD, GS_TOPIC_SHARDING,
    "shard(x, [data, -1])",
    "x, annotated: for each dim a mesh axis, a list of axes, -1 (uncut) or ? (left open)" },
  { "mesh_split", "x mesh 'annotation", function_mesh_split, GS_OP_SHARD, GS_TOPIC_SHARDING,
    "mesh_split(x, m, [0, -1])", "shard as the GSPMD paper writes it" },
  { 0 },
};
