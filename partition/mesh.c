/* partition/mesh.c - meshes and arithmetic on device coordinates. */
#include <config.h>

#include "partition/mesh.h"

#include <inttypes.h>
#include <string.h>

static const int64_t max_devices = (int64_t)1 << 40;

static bool check_axes(struct gs_diagnostics *d, struct gs_span at, int naxes,
                       const struct gs_mesh_axis *axes, int64_t *ndevices)
{
  if (naxes < 1 || naxes > GS_MESH_MAX_AXES) {
    gs_error(d, at, "mesh: %d axes, expected 1 to %d", naxes, GS_MESH_MAX_AXES);
    return false;
  }
  *ndevices = 1;
  for (int i = 0; i < naxes; i++) {
    if (axes[i].size < 1) {
      gs_error(d, at, "mesh: axis %s has size %" PRId64 ", expected at least 1", axes[i].name,
               axes[i].size);
      return false;
    }
    if (!gs_mul_size(*ndevices, axes[i].size, ndevices) || *ndevices > max_devices) {
      gs_error(d, at, "mesh: more than 2^40 devices");
      return false;
    }
    for (int j = 0; j < i; j++)
      if (strcmp(axes[i].name, axes[j].name) == 0) {
        gs_error(d, at, "mesh: two axes are called %s", axes[i].name);
        return false;
      }
  }
  return true;
}

/* An explicit order is given device by device, so looking at each costs no more than reading it. */
static bool check_order(struct gs_arena *arena, struct gs_diagnostics *d, struct gs_span at,
                        const int64_t *order, int64_t ndevices, bool *identity)
{
  bool *seen = GS_NEW_ARRAY(arena, bool, ndevices);
  if (seen == NULL) {
    gs_error(d, at, "mesh: out of memory");
    return false;
  }
  *identity = true;
  for (int64_t i = 0; i < ndevices; i++) {
    if (order[i] < 0 || order[i] >= ndevices || seen[order[i]]) {
      gs_error(d, at, "mesh: device %" PRId64 " %s", order[i],
               order[i] < 0 || order[i] >= ndevices ? "is out of range" : "stands twice");
      gs_hint(d, "an explicit order holds each of 0 to %" PRId64 " once", ndevices - 1);
      return false;
    }
    seen[order[i]] = true;
    *identity = *identity && order[i] == i;
  }
  return true;
}

struct gs_mesh *gs_mesh_new(struct gs_arena *arena, struct gs_diagnostics *d, struct gs_span at,
                            int naxes, const struct gs_mesh_axis *axes, const int64_t *order,
                            bool anonymous)
{
  int64_t ndevices;
  bool identity = true;
  if (!check_axes(d, at, naxes, axes, &ndevices))
    return NULL;
  if (order != NULL && !check_order(arena, d, at, order, ndevices, &identity))
    return NULL;
  struct gs_mesh *mesh = GS_NEW(arena, struct gs_mesh);
  if (mesh == NULL)
    return NULL;
  mesh->naxes = naxes;
  mesh->ndevices = ndevices;
  mesh->anonymous = anonymous;
  for (int i = 0; i < naxes; i++) {
    mesh->axes[i].size = axes[i].size;
    mesh->axes[i].name = gs_arena_string(arena, axes[i].name, strlen(axes[i].name));
  }
  if (!identity)
    mesh->order = gs_arena_copy(arena, order, (size_t)ndevices * sizeof *order);
  return mesh;
}

int gs_mesh_find(const struct gs_mesh *mesh, const char *name)
{
  for (int i = 0; i < mesh->naxes; i++)
    if (strcmp(mesh->axes[i].name, name) == 0)
      return i;
  return -1;
}

bool gs_mesh_equal(const struct gs_mesh *a, const struct gs_mesh *b)
{
  if (a == b)
    return true;
  if (a->naxes != b->naxes || (a->order == NULL) != (b->order == NULL))
    return false;
  for (int i = 0; i < a->naxes; i++)
    if (a->axes[i].size != b->axes[i].size || strcmp(a->axes[i].name, b->axes[i].name) != 0)
      return false;
  return a->order == NULL
         || memcmp(a->order, b->order, (size_t)a->ndevices * sizeof *a->order) == 0;
}

struct gs_axis gs_axis_whole(const struct gs_mesh *mesh, int axis)
{
  return (struct gs_axis){ axis, 1, mesh->axes[axis].size };
}

bool gs_axis_equal(struct gs_axis a, struct gs_axis b)
{
  return a.axis == b.axis && a.pre == b.pre && a.size == b.size;
}

int64_t gs_axes_size(const struct gs_axis *axes, int naxes)
{
  int64_t size = 1;
  for (int i = 0; i < naxes; i++)
    size *= axes[i].size;
  return size;
}

/* Positions between neighbours on A. */
static int64_t axis_stride(const struct gs_mesh *mesh, struct gs_axis a)
{
  int64_t stride = mesh->axes[a.axis].size / (a.pre * a.size);
  for (int i = a.axis + 1; i < mesh->naxes; i++)
    stride *= mesh->axes[i].size;
  return stride;
}

int64_t gs_mesh_coordinate(const struct gs_mesh *mesh, struct gs_axis a, int64_t position)
{
  return position / axis_stride(mesh, a) % a.size;
}

int64_t gs_mesh_part(const struct gs_mesh *mesh, const struct gs_axis *axes, int naxes,
                     int64_t position)
{
  int64_t part = 0;
  for (int i = 0; i < naxes; i++)
    part = part * axes[i].size + gs_mesh_coordinate(mesh, axes[i], position);
  return part;
}

int64_t gs_mesh_with_part(const struct gs_mesh *mesh, const struct gs_axis *axes, int naxes,
                          int64_t position, int64_t part)
{
  for (int i = naxes - 1; i >= 0; i--) {
    int64_t stride = axis_stride(mesh, axes[i]);
    int64_t now = position / stride % axes[i].size;
    position += (part % axes[i].size - now) * stride;
    part /= axes[i].size;
  }
  return position;
}

void gs_axis_print(struct gs_text *text, const struct gs_mesh *mesh, struct gs_axis a)
{
  gs_text_add(text, mesh->axes[a.axis].name);
  if (a.pre != 1 || a.size != mesh->axes[a.axis].size)
    gs_text_printf(text, ":(%" PRId64 ")%" PRId64, a.pre, a.size);
}

void gs_axes_print(struct gs_text *text, const struct gs_mesh *mesh, const struct gs_axis *axes,
                   int naxes)
{
  for (int i = 0; i < naxes; i++) {
    if (i > 0)
      gs_text_add(text, ", ");
    gs_axis_print(text, mesh, axes[i]);
  }
}

void gs_mesh_print(struct gs_text *text, const struct gs_mesh *mesh)
{
  for (int i = 0; i < mesh->naxes; i++)
    gs_text_printf(text, "%s%s=%" PRId64, i > 0 ? ", " : "", mesh->axes[i].name,
                   mesh->axes[i].size);
}
