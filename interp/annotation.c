/* interp/annotation.c - annotations to shardings, mesh texts to meshes. */
#include <config.h>

#include "interp/annotation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interp/eval.h"
#include "partition/sharding_parse.h"

/* What is being read: the annotation of a tensor of TYPE on MESH, for CALL. */
struct reader {
  struct gs_session *s;
  struct gs_call *call;
  const struct gs_mesh *mesh;
  const struct gs_type *type;
  int used_by[GS_MESH_MAX_AXES];       /* the dim that has this axis, or -1 */
  struct gs_axis axes[GS_MAX_RANK][GS_MESH_MAX_AXES];
  struct gs_dim_sharding dims[GS_MAX_RANK];
};

static void hint_axes(struct reader *reader, const char *name)
{
  const char *names[GS_MESH_MAX_AXES];
  for (int i = 0; i < reader->mesh->naxes; i++)
    names[i] = reader->mesh->axes[i].name;
  const char *nearest = name != NULL ? gs_nearest(name, names, (size_t)reader->mesh->naxes) : NULL;
  struct gs_text text = gs_session_text(reader->s);
  gs_mesh_print(&text, reader->mesh);
  if (nearest != NULL)
    gs_hint(&reader->s->diagnostics, "did you mean \"%s\"? the mesh is [%s]", nearest,
            gs_text_string(&text));
  else
    gs_hint(&reader->s->diagnostics, "the mesh is [%s]; -1 leaves a dim uncut, ? open",
            gs_text_string(&text));
}

/* The mesh axis that VALUE means, or -1 after reporting. */
static int axis_of(struct reader *reader, struct gs_value value, struct gs_span at)
{
  const struct gs_mesh *mesh = reader->mesh;
  const char *function = reader->call->builtin->name;
  if (value.kind == GS_VALUE_INT) {
    if (value.integer >= 0 && value.integer < mesh->naxes)
      return (int)value.integer;
    gs_session_fail(reader->s, at, "%s: axis %lld of a mesh with %d ax%s", function,
                    (long long)value.integer, mesh->naxes, mesh->naxes == 1 ? "is" : "es");
    hint_axes(reader, NULL);
    return -1;
  }
  const char *name = value.kind == GS_VALUE_STRING ? value.text
                     : value.kind == GS_VALUE_AXIS ? value.mesh->axes[value.length].name
                                                   : NULL;
  if (name == NULL) {
    gs_session_fail(reader->s, at, "%s: a dim is cut by mesh axes, not by %s", function,
                    gs_value_describe(reader->s->values, value));
    hint_axes(reader, NULL);
    return -1;
  }
  int axis = gs_mesh_find(mesh, name);
  if (axis < 0) {
    gs_session_fail(reader->s, at, "%s: no mesh axis is called \"%s\"", function, name);
    hint_axes(reader, name);
  }
  return axis;
}

static bool add_axis(struct reader *reader, int dim, struct gs_value value, struct gs_span at)
{
  int axis = axis_of(reader, value, at);
  if (axis < 0)
    return false;
  const char *name = reader->mesh->axes[axis].name;
  const struct gs_manual *manual = reader->s->graph.manual;
  if (manual != NULL && manual->mesh == reader->mesh && (manual->axes >> axis & 1))
    return gs_session_fail(reader->s, at, "%s: axis %s is manual here, the shards along it are the body's own",
                           reader->call->builtin->name, name);
  if (reader->used_by[axis] == dim)
    return gs_session_fail(reader->s, at, "%s: axis %s cuts dim %d twice",
                           reader->call->builtin->name, name, dim);
  if (reader->used_by[axis] >= 0) {
    gs_session_fail(reader->s, at, "%s: axis %s cuts both dim %d and dim %d",
                    reader->call->builtin->name, name, reader->used_by[axis], dim);
    gs_hint(&reader->s->diagnostics, "an axis may appear once in an annotation");
    return false;
  }
  reader->used_by[axis] = dim;
  struct gs_dim_sharding *sharding = &reader->dims[dim];
  reader->axes[dim][sharding->naxes++] = gs_axis_whole(reader->mesh, axis);
  sharding->axes = reader->axes[dim];
  return true;
}

/* The source of item I of a list literal, else of the whole. */
static const struct gs_ast *item_ast(const struct gs_ast *ast, uint32_t i)
{
  return ast != NULL && ast->kind == GS_AST_LIST && (int)i < ast->nitems ? ast->items[i] : ast;
}

static struct gs_span span_of(const struct reader *reader, const struct gs_ast *ast)
{
  return ast != NULL ? gs_eval_span(reader->s, ast) : reader->call->span;
}

static bool read_dim(struct reader *reader, int dim, struct gs_value value,
                     const struct gs_ast *ast)
{
  if (value.kind == GS_VALUE_OPEN) {
    reader->dims[dim].open = true;
    return true;
  }
  if (value.kind == GS_VALUE_NONE || (value.kind == GS_VALUE_INT && value.integer == -1))
    return true;
  if (!gs_value_is_sequence(value))
    return add_axis(reader, dim, value, span_of(reader, ast));
  for (uint32_t i = 0; i < value.length; i++) {
    struct gs_value item = *gs_value_item(value, i);
    const struct gs_ast *source = item_ast(ast, i);
    if (item.kind == GS_VALUE_OPEN)
      reader->dims[dim].open = true;
    else if (!add_axis(reader, dim, item, span_of(reader, source)))
      return false;
  }
  return true;
}

/* Evaluate as anywhere else, but a bare name in a list is the mesh axis of that name first. */
static bool eval_item(struct reader *reader, const struct gs_ast *ast, int depth,
                      struct gs_value *out)
{
  struct gs_session *s = reader->s;
  if (ast->kind == GS_AST_NAME && depth > 0) {
    int axis = gs_mesh_find(reader->mesh, ast->text);
    if (axis >= 0) {
      *out = (struct gs_value){ .kind = GS_VALUE_AXIS, .length = (uint32_t)axis,
                                .mesh = reader->mesh };
      return true;
    }
    if (gs_eval_name(s, reader->call->scope, ast->text, false, out))
      return true;
    gs_session_fail(s, gs_eval_span(s, ast), "%s: no mesh axis is called \"%s\"",
                    reader->call->builtin->name, ast->text);
    hint_axes(reader, ast->text);
    return false;
  }
  if (ast->kind != GS_AST_LIST || depth > 1)
    return gs_eval(s, reader->call->scope, ast, out);
  *out = gs_value_list(s->values, GS_VALUE_LIST, (size_t)ast->nitems);
  if (out->kind == GS_VALUE_ABSENT)
    return gs_session_out_of_memory(s, ast->span);
  for (int i = 0; i < ast->nitems; i++)
    if (!eval_item(reader, ast->items[i], depth + 1, gs_value_item(*out, (size_t)i)))
      return false;
  return true;
}

static bool check_rank(struct reader *reader, struct gs_value list, struct gs_span at)
{
  int rank = reader->type->rank;
  if (list.length == (uint32_t)rank)
    return true;
  gs_session_fail(reader->s, at, "%s: %u dim%s in the annotation of %s, which has %d",
                  reader->call->builtin->name, list.length, list.length == 1 ? "" : "s",
                  gs_type_string(reader->s->values, reader->type), rank);
  if (list.length < (uint32_t)rank)
    gs_hint(&reader->s->diagnostics, "every dim needs an entry; -1 leaves it uncut, ? open");
  return false;
}

/* "{devices=[2,1,4]<=[8] …}" is XLA's notation, "[{"x"}, {}]" Shardy's. */
static const struct gs_sharding *read_notation(struct reader *reader, const char *text, struct gs_span at)
{
  struct gs_session *s = reader->s;
  const struct gs_manual *manual = s->graph.manual;
  struct gs_sharding_parse parse = { s->meshes, s->shardings, reader->mesh, &s->diagnostics, at };
  const struct gs_sharding *sharding = text[strspn(text, " \t\n")] == '{'
                                           ? gs_sharding_parse_xla(&parse, reader->type->rank, text)
                                           : gs_sharding_parse_sdy(&parse, reader->type->rank, text);
  if (sharding != NULL && sharding->npartial > 0) {
    gs_session_fail(s, at, "%s: an annotation cannot say that sums are partial", reader->call->builtin->name);
    return NULL;
  }
  for (int i = 0; sharding != NULL && i < sharding->rank; i++)
    for (int k = 0; k < sharding->dims[i].naxes; k++)
      if (manual != NULL && manual->mesh == reader->mesh && (manual->axes >> sharding->dims[i].axes[k].axis & 1)) {
        gs_session_fail(s, at, "%s: axis %s is manual here, the shards along it are the body's own",
                        reader->call->builtin->name, reader->mesh->axes[sharding->dims[i].axes[k].axis].name);
        return NULL;
      }
  return sharding;
}

const struct gs_sharding *gs_annotation_make(struct gs_call *call, const struct gs_argument *arg,
                                             const struct gs_mesh *mesh,
                                             const struct gs_type *type)
{
  struct gs_session *s = call->session;
  struct reader reader = { .s = s, .call = call, .mesh = mesh, .type = type };
  struct gs_value value = arg->value;
  const struct gs_ast *ast = arg->ast;
  for (int i = 0; i < GS_MESH_MAX_AXES; i++)
    reader.used_by[i] = -1;
  if (value.kind == GS_VALUE_QUOTED && !eval_item(&reader, value.ast, 0, &value))
    return NULL;
  if (value.kind == GS_VALUE_STRING)
    return read_notation(&reader, value.text, arg->span);
  if (value.kind == GS_VALUE_OPEN) {
    for (int i = 0; i < type->rank; i++)
      reader.dims[i].open = true;
  } else if (gs_value_is_sequence(value)) {
    if (!check_rank(&reader, value, arg->span))
      return NULL;
    for (int i = 0; i < type->rank; i++)
      if (!read_dim(&reader, i, *gs_value_item(value, (size_t)i), item_ast(ast, (uint32_t)i)))
        return NULL;
  } else if (value.kind != GS_VALUE_REPLICATED) {
    gs_session_fail(s, arg->span, "%s: an annotation is a list with an entry for every dim, or "
                    "replicated, not %s", call->builtin->name,
                    gs_value_describe(s->values, value));
    return NULL;
  }
  const struct gs_sharding *sharding = gs_sharding_make(s->shardings, mesh, type->rank, reader.dims,
                                                        NULL, 0, GS_OP_SUM);
  if (sharding == NULL)
    gs_session_out_of_memory(s, arg->span);
  return sharding;
}

/* One "name=size" or "size" of a mesh text. */
static bool text_axis(struct gs_session *s, const char *text, size_t length,
                      struct gs_mesh_axis *axis, bool *named)
{
  const char *equals = memchr(text, '=', length);
  const char *number = equals != NULL ? equals + 1 : text;
  *named = equals != NULL;
  char *end;
  errno = 0;
  axis->size = strtoll(number, &end, 10);
  if (end == number || errno != 0 || end != text + length)
    return false;
  axis->name = equals != NULL ? gs_arena_string(s->meshes, text, (size_t)(equals - text)) : NULL;
  return true;
}

const struct gs_mesh *gs_mesh_from_text(struct gs_session *s, struct gs_span at, const char *text)
{
  struct gs_mesh_axis axes[GS_MESH_MAX_AXES];
  static const char separators[] = ", []\t";
  int n = 0, nnamed = 0;
  for (const char *cursor = text + strspn(text, separators); *cursor != '\0';) {
    size_t length = strcspn(cursor, separators);
    bool named;
    if (n == GS_MESH_MAX_AXES || !text_axis(s, cursor, length, &axes[n], &named))
      break;
    if (!named)
      axes[n].name = gs_arena_printf(s->meshes, "%d", n);
    nnamed += named;
    n++;
    cursor += length;
    cursor += strspn(cursor, separators);
    if (*cursor == '\0' && (nnamed == 0 || nnamed == n))
      return gs_mesh_new(s->meshes, &s->diagnostics, at, n, axes, NULL, nnamed == 0);
  }
  gs_session_fail(s, at, "\"%s\" is no mesh", text);
  gs_hint(&s->diagnostics, "write sizes, 2,4, or axes with sizes, data=2,model=4");
  return NULL;
}

/* --mesh given as bare sizes keeps the program's names when there are as many. */
static const struct gs_mesh *overridden(struct gs_session *s, const struct gs_mesh *mesh)
{
  const struct gs_mesh *override = s->mesh_override;
  if (override == NULL || !override->anonymous || override->naxes != mesh->naxes)
    return override != NULL ? override : mesh;
  struct gs_mesh_axis axes[GS_MESH_MAX_AXES];
  for (int i = 0; i < mesh->naxes; i++)
    axes[i] = (struct gs_mesh_axis){ mesh->axes[i].name, override->axes[i].size };
  struct gs_mesh *made = gs_mesh_new(s->meshes, &s->diagnostics, (struct gs_span){ 0 }, mesh->naxes,
                                     axes, NULL, mesh->anonymous);
  if (made != NULL)
    made->profile = mesh->profile;
  return made != NULL ? made : mesh;
}

void gs_mesh_use(struct gs_session *s, const struct gs_mesh *mesh)
{
  s->mesh = overridden(s, mesh);
  s->changes++;
  gs_session_changed(s);
}
