/* partition/axes.h - lists of sub-axes, major to minor: prefixes, overlap, cutting.
 *
 * All reasoning is on sub-axes cut at common boundaries [PARTITIONING.md 1]: [x:(1)2] is a prefix
 * of [x].  A list fits a fixed array, so that nothing here allocates.
 */
#ifndef GS_PARTITION_AXES_H
#define GS_PARTITION_AXES_H

#include "partition/mesh.h"

enum { GS_AXES_MAX = 24 };

struct gs_axis_list {
  int count;
  struct gs_axis items[GS_AXES_MAX];
};

/* Append A, fused with the last one where they are adjacent; size 1 adds nothing.  False when the
 * list is full. */
bool gs_axis_list_add(struct gs_axis_list *list, struct gs_axis a);
void gs_axis_list_set(struct gs_axis_list *list, const struct gs_axis *axes, int naxes);
int64_t gs_axis_list_size(const struct gs_axis_list *list);
bool gs_axis_list_equal(const struct gs_axis_list *a, const struct gs_axis_list *b);

/* Devices share a coordinate of both. */
bool gs_axis_overlap(struct gs_axis a, struct gs_axis b);
bool gs_axes_overlap(const struct gs_axis *a, int na, const struct gs_axis *b, int nb);

/* The longest list that both begin with. */
void gs_axes_common_prefix(const struct gs_axis *a, int na, const struct gs_axis *b, int nb,
                           struct gs_axis_list *prefix);
/* Whether B begins with A. */
bool gs_axes_is_prefix(const struct gs_axis *a, int na, const struct gs_axis *b, int nb);

/* Move from the front of AXES (from position *at on, with *offset of that axis already taken; both
 * start at 0) sub-axes whose product divides SIZE to TAKEN; returns what is left of SIZE. */
int64_t gs_axes_take(const struct gs_axis *axes, int naxes, int *at, int64_t *offset, int64_t size,
                     struct gs_axis_list *taken);

/* AXES cut into sub-axes of prime size, minor-most first; their number, -1 when they are more than
 * GS_AXES_MAX. */
int gs_axes_primes(const struct gs_axis *axes, int naxes, struct gs_axis primes[GS_AXES_MAX]);

/* Sub-axes that appear whole or not at all in each list cut: the atoms of a resharding problem. */
struct gs_atoms {
  int count;
  struct gs_axis items[GS_AXES_MAX];
};
/* Cut atoms at the boundaries of AXES too.  False when they do not divide or are too many. */
bool gs_atoms_add(struct gs_atoms *atoms, const struct gs_axis *axes, int naxes);
/* AXES as atom numbers; the count is returned, -1 when an axis is not covered. */
int gs_atoms_of(const struct gs_atoms *atoms, const struct gs_axis *axes, int naxes, int *numbers);

#endif
