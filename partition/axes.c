/* partition/axes.c - lists of sub-axes. */
#include <config.h>

#include "partition/axes.h"

#include <string.h>

bool gs_axis_list_add(struct gs_axis_list *list, struct gs_axis a)
{
  if (a.size == 1)
    return true;
  struct gs_axis *last = list->count > 0 ? &list->items[list->count - 1] : NULL;
  if (last != NULL && last->axis == a.axis && last->pre * last->size == a.pre) {
    last->size *= a.size;
    return true;
  }
  if (list->count == GS_AXES_MAX)
    return false;
  list->items[list->count++] = a;
  return true;
}

void gs_axis_list_set(struct gs_axis_list *list, const struct gs_axis *axes, int naxes)
{
  list->count = 0;
  for (int i = 0; i < naxes; i++)
    gs_axis_list_add(list, axes[i]);
}

int64_t gs_axis_list_size(const struct gs_axis_list *list)
{
  return gs_axes_size(list->items, list->count);
}

bool gs_axis_list_equal(const struct gs_axis_list *a, const struct gs_axis_list *b)
{
  if (a->count != b->count)
    return false;
  for (int i = 0; i < a->count; i++)
    if (!gs_axis_equal(a->items[i], b->items[i]))
      return false;
  return true;
}

bool gs_axis_overlap(struct gs_axis a, struct gs_axis b)
{
  return a.axis == b.axis && a.pre < b.pre * b.size && b.pre < a.pre * a.size;
}

bool gs_axes_overlap(const struct gs_axis *a, int na, const struct gs_axis *b, int nb)
{
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++)
      if (gs_axis_overlap(a[i], b[j]))
        return true;
  return false;
}

void gs_axes_common_prefix(const struct gs_axis *a, int na, const struct gs_axis *b, int nb,
                           struct gs_axis_list *prefix)
{
  int i = 0, j = 0;
  int64_t taken_a = 1, taken_b = 1;    /* of a[i] and b[j] */
  prefix->count = 0;
  while (i < na && j < nb) {
    struct gs_axis x = { a[i].axis, a[i].pre * taken_a, a[i].size / taken_a };
    struct gs_axis y = { b[j].axis, b[j].pre * taken_b, b[j].size / taken_b };
    if (x.axis != y.axis || x.pre != y.pre)
      return;
    int64_t common = x.size < y.size ? x.size : y.size;
    if (x.size % common != 0 || y.size % common != 0)
      return;
    gs_axis_list_add(prefix, (struct gs_axis){ x.axis, x.pre, common });
    taken_a *= common;
    taken_b *= common;
    if (taken_a == a[i].size) {
      i++;
      taken_a = 1;
    }
    if (taken_b == b[j].size) {
      j++;
      taken_b = 1;
    }
  }
}

bool gs_axes_is_prefix(const struct gs_axis *a, int na, const struct gs_axis *b, int nb)
{
  struct gs_axis_list prefix;
  gs_axes_common_prefix(a, na, b, nb, &prefix);
  return gs_axis_list_size(&prefix) == gs_axes_size(a, na);
}

int64_t gs_axes_take(const struct gs_axis *axes, int naxes, int *at, int64_t *offset, int64_t size,
                     struct gs_axis_list *taken)
{
  while (*at < naxes && size > 1) {
    struct gs_axis a = axes[*at];
    int64_t done = *offset > 0 ? *offset : 1, left = a.size / done, part;
    if (size % left == 0)
      part = left;
    else if (left % size == 0)
      part = size;
    else
      break;
    gs_axis_list_add(taken, (struct gs_axis){ a.axis, a.pre * done, part });
    size /= part;
    if (part == left) {
      (*at)++;
      *offset = 1;
    } else {
      *offset = done * part;
    }
  }
  return size;
}

static bool insert_cut(struct gs_atoms *atoms, int axis, int64_t cut)
{
  for (int i = 0; i < atoms->count; i++) {
    struct gs_axis *atom = &atoms->items[i];
    if (atom->axis != axis || cut <= atom->pre || cut >= atom->pre * atom->size)
      continue;
    int64_t first = cut / atom->pre;
    if (cut % atom->pre != 0 || atom->size % first != 0 || atoms->count == GS_AXES_MAX)
      return false;
    memmove(atom + 1, atom, (size_t)(atoms->count - i) * sizeof *atom);
    atoms->count++;
    atom[1] = (struct gs_axis){ axis, cut, atom->size / first };
    atom->size = first;
    return true;
  }
  return true;
}

/* Add the part of A that no atom covers yet. */
static bool cover(struct gs_atoms *atoms, struct gs_axis a)
{
  int64_t at = a.pre, end = a.pre * a.size;
  while (at < end) {
    int64_t next = end;
    bool inside = false;
    int place = 0;
    for (int i = 0; i < atoms->count; i++) {
      const struct gs_axis *atom = &atoms->items[i];
      if (atom->axis < a.axis || (atom->axis == a.axis && atom->pre < at))
        place = i + 1;
      if (atom->axis != a.axis)
        continue;
      if (atom->pre == at) {
        inside = true;
        next = atom->pre * atom->size;
        break;
      }
      if (atom->pre > at && atom->pre < next)
        next = atom->pre;
    }
    if (!inside) {
      if (next % at != 0 || atoms->count == GS_AXES_MAX)
        return false;
      memmove(&atoms->items[place + 1], &atoms->items[place],
              (size_t)(atoms->count - place) * sizeof atoms->items[0]);
      atoms->items[place] = (struct gs_axis){ a.axis, at, next / at };
      atoms->count++;
    }
    at = next;
  }
  return true;
}

bool gs_atoms_add(struct gs_atoms *atoms, const struct gs_axis *axes, int naxes)
{
  for (int i = 0; i < naxes; i++) {
    if (axes[i].size == 1)
      continue;
    if (!insert_cut(atoms, axes[i].axis, axes[i].pre)
        || !insert_cut(atoms, axes[i].axis, axes[i].pre * axes[i].size) || !cover(atoms, axes[i]))
      return false;
  }
  return true;
}

int gs_atoms_of(const struct gs_atoms *atoms, const struct gs_axis *axes, int naxes, int *numbers)
{
  int count = 0;
  for (int i = 0; i < naxes; i++) {
    int64_t at = axes[i].pre, end = axes[i].pre * axes[i].size;
    for (int k = 0; k < atoms->count && at < end; k++)
      if (atoms->items[k].axis == axes[i].axis && atoms->items[k].pre == at) {
        numbers[count++] = k;
        at *= atoms->items[k].size;
      }
    if (at != end)
      return -1;
  }
  return count;
}

int gs_axes_primes(const struct gs_axis *axes, int naxes, struct gs_axis primes[GS_AXES_MAX])
{
  int n = 0;
  for (int i = naxes - 1; i >= 0; i--) {
    int64_t left = axes[i].size;       /* what is still to be cut, major to it */
    for (int64_t p = 2; left > 1; p++) {
      if (p * p > left)
        p = left;
      for (; left % p == 0; left /= p) {
        if (n == GS_AXES_MAX)
          return -1;
        primes[n++] = (struct gs_axis){ axes[i].axis, axes[i].pre * (left / p), p };
      }
    }
  }
  return n;
}
