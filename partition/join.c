/* partition/join.c - axes of one mesh in terms of another over the same devices. */
#include <config.h>

#include "partition/join.h"

#include <inttypes.h>

static int64_t stride_of(const struct gs_mesh *mesh, int axis)
{
  int64_t stride = 1;
  for (int i = axis + 1; i < mesh->naxes; i++)
    stride *= mesh->axes[i].size;
  return stride;
}

/* Where in BASE the device at each position of MESH stands; NULL (identity) when neither has an
 * order of its own. */
static int64_t *positions_in_base(struct gs_arena *arena, const struct gs_mesh *base,
                                  const struct gs_mesh *mesh)
{
  int64_t *inverse = GS_NEW_ARRAY(arena, int64_t, base->ndevices);
  int64_t *where = GS_NEW_ARRAY(arena, int64_t, base->ndevices);
  if (inverse == NULL || where == NULL)
    return NULL;
  for (int64_t p = 0; p < base->ndevices; p++)
    inverse[base->order != NULL ? base->order[p] : p] = p;
  for (int64_t p = 0; p < base->ndevices; p++)
    where[p] = inverse[mesh->order != NULL ? mesh->order[p] : p];
  return where;
}

/* The sub-axis of SIZE whose neighbours are STRIDE positions apart in BASE. */
static bool axis_at(const struct gs_mesh *base, int64_t stride, int64_t size, struct gs_axis *found)
{
  for (int b = 0; b < base->naxes; b++) {
    int64_t low = stride_of(base, b), high = low * base->axes[b].size;
    if (stride < low || stride >= high || stride % low != 0)
      continue;
    if (high % (stride * size) != 0)
      return false;
    *found = (struct gs_axis){ b, high / (stride * size), size };
    return true;
  }
  return false;
}

/* Cut what is left of an axis, SIZE with its end STRIDE positions wide, into digits of prime size,
 * major first, each one sub-axis of BASE.  Which prime comes first is up to BASE: all are tried. */
static bool translate_digits(const struct gs_mesh *base, int64_t size, int64_t stride,
                             const int64_t *where, struct gs_axis_list *axes)
{
  if (size == 1)
    return true;
  int64_t left = size;
  for (int64_t p = 2; left > 1; p = p * p > left && left > p ? left : p + 1) {
    struct gs_axis digit;
    struct gs_axis_list before = *axes;
    if (left % p != 0)
      continue;
    while (left % p == 0)
      left /= p;
    if (axis_at(base, where != NULL ? where[stride / p] : stride / p, p, &digit)
        && gs_axis_list_add(axes, digit)
        && translate_digits(base, size / p, stride / p, where, axes))
      return true;
    *axes = before;
  }
  return false;
}

/* With explicit orders the digits must explain every position. */
static bool digits_hold(const struct gs_mesh *base, const struct gs_mesh *mesh, int axis,
                        const int64_t *where, const struct gs_axis_list *axes)
{
  int64_t stride = stride_of(mesh, axis), size = mesh->axes[axis].size;
  for (int64_t p = 0; p < mesh->ndevices; p++)
    if (gs_mesh_part(base, axes->items, axes->count, where[p]) != p / stride % size)
      return false;
  return true;
}

bool gs_mesh_translate(struct gs_arena *arena, struct gs_diagnostics *d, struct gs_span at,
                       const struct gs_mesh *base, const struct gs_mesh *mesh, int axis,
                       struct gs_axis_list *axes)
{
  const int64_t *where = NULL;
  if (base->ndevices != mesh->ndevices) {
    gs_error(d, at, "this annotation is on a mesh of %" PRId64 " devices, the program's other mesh has %"
             PRId64, mesh->ndevices, base->ndevices);
    gs_hint(d, "all meshes of one program must be over the same devices");
    return false;
  }
  if (base->order != NULL || mesh->order != NULL) {
    where = positions_in_base(arena, base, mesh);
    if (where == NULL)
      return false;
  }
  int64_t size = mesh->axes[axis].size;
  axes->count = 0;
  if (translate_digits(base, size, stride_of(mesh, axis) * size, where, axes)
      && (where == NULL || digits_hold(base, mesh, axis, where, axes)))
    return true;
  struct gs_text a = { .arena = arena }, b = { .arena = arena };
  gs_mesh_print(&a, mesh);
  gs_mesh_print(&b, base);
  gs_error(d, at, "axis %s of mesh [%s] is no product of sub-axes of mesh [%s]",
           mesh->axes[axis].name, gs_text_string(&a), gs_text_string(&b));
  gs_hint(d, "meshes of one program must cut the devices at common boundaries");
  return false;
}
