/* backends/cpu/index.c - gathers and scatters of rows: one indexed dim, of which a slice has one element, all of
 * the others, which stand in the same order in operand and slices.
 *
 * The operand is [before, indexed, row], the slices [before, indices, row].  Everything else is the reference
 * function's.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/kernel.h"
#include "backends/cpu/vector.h"
#include "backends/device.h"
#include "backends/reference/block.h"

enum { UNIT = GS_BLOCK };

struct rows {
  struct gs_cpu_kernel kernel;
  const struct gs_step *operand;
  int dim;                             /* the indexed one */
  int64_t before, indices, row, held;  /* held: how much of the indexed dim is here */
  int64_t bytes;                       /* of a row */
  enum gs_dtype index_type;
  bool clamp;
  gs_vector_fold *fold;                /* scatter: NULL puts */
};

/* Rows of the operand's part at POSITION that COUNT indices from AT on say, -1: not there. */
static void find_rows(const struct rows *r, const void *indices, int64_t position, int64_t at, int64_t count,
                      int64_t *found)
{
  int64_t begin[GS_MAX_RANK], size[GS_MAX_RANK];
  gs_device_place(r->operand, position, begin, size);
  int64_t first = begin[r->dim], whole = size[r->dim], last = whole < first + r->held ? whole : first + r->held;
  gs_block_load_int(r->index_type, indices, at, 1, count, found);
  for (int64_t i = 0; i < count; i++) {
    int64_t k = found[i];
    if (r->clamp)
      k = k < 0 ? 0 : k >= whole ? whole - 1 : k;
    found[i] = k < first || k >= last ? -1 : k - first;
  }
}

static void copy_row(char *to, const char *from, int64_t bytes)
{
  if (bytes == 4)
    memcpy(to, from, 4);
  else if (bytes == 8)
    memcpy(to, from, 8);
  else
    memcpy(to, from, (size_t)bytes);
}

static void gather_run(const struct gs_cpu_kernel *kernel, const void *const *args, void *result, int64_t position,
                       int thread)
{
  const struct rows *r = (const struct rows *)kernel;
  (void)thread;
  for (int64_t at = 0; at < r->indices; at += UNIT) {
    int64_t found[UNIT], count = r->indices - at < UNIT ? r->indices - at : UNIT;
    find_rows(r, args[1], position, at, count, found);
    for (int64_t b = 0; b < r->before; b++) {
      const char *from = (const char *)args[0] + b * r->held * r->bytes;
      char *to = (char *)result + (b * r->indices + at) * r->bytes;
      for (int64_t i = 0; i < count; i++, to += r->bytes)
        if (found[i] >= 0)
          copy_row(to, from + found[i] * r->bytes, r->bytes);
        else
          memset(to, 0, (size_t)r->bytes);
    }
  }
}

static void scatter_run(const struct gs_cpu_kernel *kernel, const void *const *args, void *result, int64_t position,
                        int thread)
{
  const struct rows *r = (const struct rows *)kernel;
  (void)thread;
  if (result != args[0])
    memcpy(result, args[0], (size_t)(r->before * r->held * r->bytes));
  for (int64_t at = 0; at < r->indices; at += UNIT) {
    int64_t found[UNIT], count = r->indices - at < UNIT ? r->indices - at : UNIT;
    find_rows(r, args[1], position, at, count, found);
    for (int64_t b = 0; b < r->before; b++) {
      char *to = (char *)result + b * r->held * r->bytes;
      const char *from = (const char *)args[2] + (b * r->indices + at) * r->bytes;
      for (int64_t i = 0; i < count; i++, from += r->bytes)
        if (found[i] >= 0 && r->fold != NULL)
          r->fold(to + found[i] * r->bytes, from, r->row, 1);
        else if (found[i] >= 0)
          copy_row(to + found[i] * r->bytes, from, r->bytes);
    }
  }
}

static void release(struct gs_cpu_kernel *kernel)
{
  free(kernel);
}

/* Whether the slices' dims that come from the operand stand around those of the indices as they do around the
 * indexed one. */
static bool in_order(const union gs_attrs *attrs, int dim, int nindices, int rank)
{
  int before = 0, at = 0;
  for (int i = 0; i < dim; i++)
    before += !(attrs->gather.collapsed >> i & 1);
  while (at < rank && (attrs->gather.offset_dims >> at & 1))
    at++;
  for (int k = at; k < at + nindices; k++)
    if (attrs->gather.offset_dims >> k & 1)
      return false;
  return nindices == 0 || at == before || (at == before + 1 && !(attrs->gather.collapsed >> dim & 1));
}

static bool describe(const struct gs_program *program, const struct gs_step *step, const struct gs_type *slices,
                     struct rows *r)
{
  const union gs_attrs *attrs = step->attrs;
  const struct gs_type *x = &r->operand->type, *indices = &program->steps[step->args[1]].type;
  if (attrs->gather.nindexed != 1 || attrs->gather.nbatch != 0 || gs_type_elements(slices) == 0
      || gs_type_elements(x) == 0)
    return false;
  r->dim = attrs->gather.indexed[0];
  r->before = r->row = r->indices = 1;
  r->held = x->dims[r->dim];
  r->index_type = indices->dtype;
  r->clamp = attrs->gather.clamp;
  for (int i = 0; i < x->rank; i++) {
    if (attrs->gather.sizes[i] != (i == r->dim ? 1 : r->operand->global.dims[i])
        || (i != r->dim && (attrs->gather.collapsed >> i & 1)
            && (x->dims[i] != 1 || gs_sharding_parts(r->operand->sharding, i) > 1)))
      return false;
    *(i < r->dim ? &r->before : &r->row) *= i == r->dim ? 1 : x->dims[i];
  }
  for (int i = 0; i < indices->rank - 1; i++)
    r->indices *= indices->dims[i];
  r->bytes = r->row * (int64_t)gs_dtype_size(x->dtype);
  return in_order(attrs, r->dim, indices->rank - 1, slices->rank)
         && gs_type_elements(slices) == r->before * r->indices * r->row;
}

/* How SCATTER combines, NULL for those that put.  False: there is no fast way. */
static bool find_fold(const union gs_attrs *attrs, enum gs_dtype dtype, gs_vector_fold **fold)
{
  enum gs_lane lane = gs_lane_of(dtype);
  enum gs_op op = attrs->gather.combine;
  *fold = NULL;
  if (op == GS_OP_COUNT)
    return true;
  if (lane == GS_LANE_COUNT || gs_lane_half(dtype) >= 0)
    return false;
  *fold = gs_vector_best()->fold[op][lane];
  *fold = *fold == NULL ? gs_vector_any.fold[op][lane] : *fold;
  return *fold != NULL;
}

struct gs_cpu_kernel *gs_cpu_rows_new(const struct gs_program *program, int index)
{
  const struct gs_step *step = &program->steps[index];
  bool put = step->op == GS_OP_SCATTER;
  struct rows r = { .operand = &program->steps[step->args[0]] }, *made;
  if (!describe(program, step, put ? &program->steps[step->args[2]].type : &step->type, &r)
      || (put && !find_fold(step->attrs, step->type.dtype, &r.fold)) || (!put && !r.clamp)
      || (made = malloc(sizeof *made)) == NULL)
    return NULL;
  r.kernel = (struct gs_cpu_kernel){ .run = put ? scatter_run : gather_run, .release = release,
                                     .nargs = step->nargs, .args = step->args };
  *made = r;
  return &made->kernel;
}
