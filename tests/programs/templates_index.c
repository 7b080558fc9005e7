/* tests/programs/templates_index.c - statements that pick, put and slice by index. */
#include <config.h>

#include "tests/programs/programs.h"

#include <stdio.h>
#include <string.h>

/* Integers, some of them outside of N elements. */
static const struct program_value *indices(struct program *p, int rank, int64_t n)
{
  struct gs_type type = { .dtype = dice_percent(&p->dice, 70) ? GS_DTYPE_S32 : GS_DTYPE_S64, .rank = rank };
  for (int i = 0; i < rank; i++)
    type.dims[i] = dice_between(&p->dice, 1, 6);
  const struct program_value *v = program_leaf(p, &type);
  if (v == NULL || !program_add(p, true, "%s %% %lld - 1", v->name, (long long)(n + 3)))
    return NULL;
  return &p->values[p->nvalues - 1];
}

bool program_take(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, false, NULL);
  if (v == NULL || gs_type_elements(&v->type) == 0)
    return false;
  struct program_value x = *v;
  int dim = program_dim(p, &x), rank = dice_below(&p->dice, 3);
  const struct program_value *i = indices(p, rank, x.type.dims[dim]);
  if (i == NULL)
    return false;
  if (x.type.rank >= 2 && dice_percent(&p->dice, 30))
    return program_add(p, x.exact, "%s[%s, %s]", x.name, i->name, i->name);
  return program_add(p, x.exact, "take(%s, %s, %d)", x.name, i->name, dim);
}

bool program_take_along(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, true, program_is_summable);
  if (v == NULL || gs_type_elements(&v->type) == 0)
    return false;
  struct program_value x = *v;
  int dim = program_dim(p, &x);
  if (!program_add(p, true, "argmax(%s, dim=%d, keep=true)", x.name, dim))
    return false;
  return program_add(p, true, "take_along(%s, %s, %d)", x.name, p->values[p->nvalues - 1].name, dim);
}

bool program_scatter(struct program *p)
{
  static const char *const kinds[] = { "add", "max", "min", "set", "add" };
  const struct program_value *v = program_pick(p, 1, true, program_is_summable);
  if (v == NULL || gs_type_elements(&v->type) == 0)
    return false;
  struct program_value x = *v;
  int dim = program_dim(p, &x), rank = dice_below(&p->dice, 2) + 1;
  const struct program_value *found = indices(p, rank, x.type.dims[dim]);
  if (found == NULL || x.type.rank + rank > 6)
    return false;
  struct program_value i = *found;
  struct gs_type u = { .dtype = x.type.dtype };
  for (int k = 0; k < x.type.rank; k++)
    if (k != dim)
      u.dims[u.rank++] = x.type.dims[k];
    else
      for (int j = 0; j < rank; j++)
        u.dims[u.rank++] = i.type.dims[j];
  const struct program_value *updates = gs_type_elements(&u) > 3000 ? NULL : program_leaf(p, &u);
  return updates != NULL && program_add(p, true, "scatter(%s, %s, %s, \"%s\", %d)", x.name, i.name, updates->name,
                                        kinds[dice_below(&p->dice, 5)], dim) && program_tamed(p);
}

bool program_dynamic(struct program *p)
{
  const struct program_value *v = program_pick(p, 1, false, NULL);
  int64_t sizes[GS_MAX_RANK];
  char starts[128];
  int at = 0;
  if (v == NULL)
    return false;
  struct program_value x = *v;
  const struct program_value *found = indices(p, 1, 8);
  if (found == NULL)
    return false;
  struct program_value i = *found;
  for (int d = 0; d < x.type.rank; d++) {
    bool part = dice_percent(&p->dice, 60);
    sizes[d] = part ? dice_between(&p->dice, 0, x.type.dims[d]) : x.type.dims[d];
    if (dice_percent(&p->dice, 70))
      at += snprintf(starts + at, sizeof starts - (size_t)at, "%s%s[%lld]", d > 0 ? ", " : "", i.name,
                     (long long)dice_between(&p->dice, 0, i.type.dims[0] - 1));
    else
      at += snprintf(starts + at, sizeof starts - (size_t)at, "%s%d", d > 0 ? ", " : "", dice_below(&p->dice, 3));
  }
  if (dice_percent(&p->dice, 50))
    return program_add(p, x.exact, "dynamic_slice(%s, [%s], %s)", x.name, starts,
                       program_numbers(sizes, x.type.rank));
  struct gs_type u = x.type;
  memcpy(u.dims, sizes, sizeof u.dims);
  const struct program_value *update = program_leaf(p, &u);
  return update != NULL && program_add(p, x.exact, "dynamic_update(%s, %s, [%s])", x.name, update->name, starts);
}

bool program_one_hot(struct program *p)
{
  const struct program_value *i = indices(p, 1 + dice_below(&p->dice, 2), 5);
  return i != NULL && program_add(p, true, "one_hot(%s, %d)", i->name, 1 + dice_below(&p->dice, 9));
}

/* XLA's dimension numbers for X. */
struct numbers {
  int indexed[6], nindexed, operand_batch[6], indices_batch[6], nbatch, collapsed[6], ncollapsed, offset[12], noffset;
  int64_t sizes[6];
  struct gs_type indices, slices;
};

/* What a slice has of dim D: all of it, a position of a batch, or a box that begins where an index says. */
static void choose_slice(struct dice *d, const struct gs_type *x, int i, struct numbers *n)
{
  int kind = dice_below(d, 4), batch = -1;
  for (int j = 0; j < n->indices.rank && kind == 0; j++) {
    bool taken = false;
    for (int k = 0; k < n->nbatch; k++)
      taken = taken || n->indices_batch[k] == j;
    if (!taken && dice_percent(d, 60))
      batch = j;
  }
  n->sizes[i] = x->dims[i];
  if (batch >= 0) {
    n->indices.dims[batch] = x->dims[i];
    n->operand_batch[n->nbatch] = i;
    n->indices_batch[n->nbatch++] = batch;
    n->sizes[i] = 1;
    return;
  }
  if (kind >= 2) {
    n->indexed[n->nindexed++] = i;
    n->sizes[i] = kind == 2 || dice_percent(d, 20) ? dice_between(d, 1, x->dims[i]) : 1;
  }
  if (n->sizes[i] == 1 && dice_percent(d, 70))
    n->collapsed[n->ncollapsed++] = i;
  else
    n->slices.dims[n->noffset++] = n->sizes[i];
}

static bool choose_numbers(struct program *p, const struct gs_type *x, struct numbers *n)
{
  struct dice *d = &p->dice;
  int64_t boxes[6];
  *n = (struct numbers){ .indices = { .dtype = GS_DTYPE_S32, .rank = dice_below(d, 3) },
                         .slices = { .dtype = x->dtype } };
  for (int j = 0; j < n->indices.rank; j++)
    n->indices.dims[j] = dice_between(d, 1, 5);
  for (int i = 0; i < x->rank; i++)
    choose_slice(d, x, i, n);
  int rank = n->indices.rank + n->noffset, left = n->noffset, box = 0, batch = 0;
  if (rank > 6)
    return false;
  memcpy(boxes, n->slices.dims, sizeof boxes);
  n->slices.rank = rank;
  for (int r = 0, at = 0; r < rank; r++) {
    if (left > 0 && dice_below(d, rank - r) < left) {
      n->offset[at++] = r;
      n->slices.dims[r] = boxes[box++];
      left--;
    } else {
      n->slices.dims[r] = n->indices.dims[batch++];
    }
  }
  n->indices.dims[n->indices.rank++] = n->nindexed;
  return gs_type_elements(&n->slices) <= 3000;
}

static const char *dims_text(const int *dims, int count)
{
  int64_t wide[12];
  for (int k = 0; k < count; k++)
    wide[k] = dims[k];
  return program_numbers(wide, count);
}

/* gather and scatter by dimension numbers; some of the indices count. */
bool program_numbered(struct program *p)
{
  static const char *const kinds[] = { "add", "max", "min", "set", "mul" };
  const struct program_value *v = program_pick(p, 1, true, program_is_summable);
  struct numbers n;
  char text[STATEMENT_TEXT], index[40];
  if (v == NULL || v->type.rank > 4 || gs_type_elements(&v->type) == 0 || !choose_numbers(p, &v->type, &n))
    return false;
  struct program_value x = *v;
  bool put = dice_percent(&p->dice, 50);
  const struct program_value *i = program_leaf(p, &n.indices), *u;
  if (i == NULL || !program_add(p, true, "%s %% 9 - 1", i->name))
    return false;
  snprintf(index, sizeof index, "%s", p->values[p->nvalues - 1].name);
  if (n.nindexed == 1 && n.indices.rank == 2 && dice_percent(&p->dice, 50))
    snprintf(index, sizeof index, "iota(s32[%lld,1], dim=0)", (long long)n.indices.dims[0]);
  u = put ? program_leaf(p, &n.slices) : NULL;
  if (put && u == NULL)
    return false;
  snprintf(text, sizeof text, ", %s=%s, %s=%s, index_map=%s, operand_batch=%s, indices_batch=%s",
           put ? "window_dims" : "offset_dims", dims_text(n.offset, n.noffset), put ? "inserted" : "collapsed",
           dims_text(n.collapsed, n.ncollapsed), dims_text(n.indexed, n.nindexed),
           dims_text(n.operand_batch, n.nbatch), dims_text(n.indices_batch, n.nbatch));
  if (!put)
    return program_add(p, true, "gather(%s, %s%s, sizes=%s)", x.name, index, text,
                       program_numbers(n.sizes, x.type.rank));
  return program_add(p, true, "scatter(%s, %s, %s, \"%s\"%s)", x.name, index, u->name,
                     kinds[dice_below(&p->dice, 5)], text) && program_tamed(p);
}
