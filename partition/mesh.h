/* partition/mesh.h - the grid of devices a program is partitioned over.
 *
 * A mesh is an ordered list of named axes; positions count row-major, the last axis fastest: with
 * axes (x=2, y=3), position 4 sits at x=1, y=1.  Device number = position, unless an explicit
 * order is kept.  A mesh never changes; shardings and programs point into it.
 *
 * A sub-axis a:(p)s of axis a, of size n, is the middle factor when a is seen as (p, s, n/(p s)),
 * major to minor [PARTITIONING.md 1].  The whole axis is a:(1)n.
 *
 * Nothing here but the two functions that say so looks at every device.
 */
#ifndef GS_PARTITION_MESH_H
#define GS_PARTITION_MESH_H

#include "lang/diag.h"

enum { GS_MESH_MAX_AXES = 16 };

struct gs_mesh_axis {
  const char *name;
  int64_t size;                        /* >= 1 */
};

struct gs_mesh {
  int naxes;
  int64_t ndevices;                    /* product of the sizes, at most 2^40 */
  struct gs_mesh_axis axes[GS_MESH_MAX_AXES];
  const int64_t *order;                /* device at each position; NULL: the position itself */
  bool anonymous;                      /* made by mesh([2, 4]): axes are written by number */
  const char *profile;                 /* of the devices' speed, or NULL: generic */
  uint32_t manual;                     /* bit a: seen from inside a manual region over axis a */
};

/* A sub-axis: pre * size divides the axis's size. */
struct gs_axis {
  int axis;                            /* index in the mesh */
  int64_t pre, size;
};

/* A/B rounded up, for A >= 0 and B > 0. */
static inline int64_t gs_ceil_div(int64_t a, int64_t b)
{
  return a / b + (a % b != 0);
}

/* A/B rounded down. */
static inline int64_t gs_floor_div(int64_t a, int64_t b)
{
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* A mesh in ARENA, names copied.  Reports at AT and returns NULL: duplicate or bad names, sizes
 * below 1, too many axes or devices, an order that is no permutation.  ORDER may be NULL. */
struct gs_mesh *gs_mesh_new(struct gs_arena *arena, struct gs_diagnostics *d, struct gs_span at,
                            int naxes, const struct gs_mesh_axis *axes, const int64_t *order,
                            bool anonymous);
/* Index of the axis called NAME, or -1. */
int gs_mesh_find(const struct gs_mesh *mesh, const char *name);
bool gs_mesh_equal(const struct gs_mesh *a, const struct gs_mesh *b);
struct gs_axis gs_axis_whole(const struct gs_mesh *mesh, int axis);
bool gs_axis_equal(struct gs_axis a, struct gs_axis b);
/* Product of the sizes, 1 for none. */
int64_t gs_axes_size(const struct gs_axis *axes, int naxes);

/* Coordinate on sub-axis A of the device at POSITION. */
int64_t gs_mesh_coordinate(const struct gs_mesh *mesh, struct gs_axis a, int64_t position);
/* Mixed-radix number of the coordinates on AXES, major to minor: which part of a dim cut by AXES
 * is at POSITION. */
int64_t gs_mesh_part(const struct gs_mesh *mesh, const struct gs_axis *axes, int naxes, int64_t position);
/* POSITION with its coordinates on AXES replaced by those of PART. */
int64_t gs_mesh_with_part(const struct gs_mesh *mesh, const struct gs_axis *axes, int naxes,
                          int64_t position, int64_t part);

/* "data", "data:(1)2"; an anonymous axis by its number. */
void gs_axis_print(struct gs_text *text, const struct gs_mesh *mesh, struct gs_axis a);
/* "x, y" */
void gs_axes_print(struct gs_text *text, const struct gs_mesh *mesh, const struct gs_axis *axes, int naxes);
/* "data=2, model=4" */
void gs_mesh_print(struct gs_text *text, const struct gs_mesh *mesh);

#endif
