/* backends/reference/gather.c - gather and scatter, whole or of a part of the operand.
 *
 * For each index vector a box of the operand meets a box of the slices.  Of an operand that is here in
 * part, what lies outside of the part is zero in a gather and not touched in a scatter.
 */
#include <config.h>

#include <complex.h>
#include <math.h>
#include <string.h>

#include "backends/reference/block.h"
#include "backends/reference/kernels.h"
#include "lang/gather.h"

struct access {
  const union gs_attrs *attrs;
  const struct gs_type *operand, *indices, *slices;    /* slices: the result, the updates */
  const void *index_data;
  struct gs_gather_map map;
  int64_t begin[GS_MAX_RANK], size[GS_MAX_RANK];       /* of the whole operand, see struct gs_place */
  int64_t operand_strides[GS_MAX_RANK], index_strides[GS_MAX_RANK], slice_strides[GS_MAX_RANK];
};

/* Where a slice and the operand meet: COUNT positions along each operand dim. */
struct meeting { int64_t operand, slice, count[GS_MAX_RANK]; };

static void start_access(const struct gs_kernel_call *call, const struct gs_type *slices, struct access *a)
{
  *a = (struct access){ .attrs = call->attrs, .operand = call->arg_types[0], .indices = call->arg_types[1],
                        .slices = slices, .index_data = call->args[1] };
  gs_gather_map_make(call->attrs, a->operand->rank, a->indices->rank, &a->map);
  for (int i = 0; i < a->operand->rank; i++) {
    bool here = call->place == NULL || a->map.batch_of[i] >= 0;
    a->begin[i] = here ? 0 : call->place->begin[i];
    a->size[i] = here ? a->operand->dims[i] : call->place->size[i];
  }
  gs_type_strides(a->operand, a->operand_strides);
  gs_type_strides(a->indices, a->index_strides);
  gs_type_strides(slices, a->slice_strides);
}

/* Whether slices may lie outside of what is here. */
static bool is_in_part(const struct access *a)
{
  for (int i = 0; i < a->operand->rank; i++)
    if (a->begin[i] != 0 || a->size[i] != a->operand->dims[i])
      return true;
  return false;
}

/* Elements of operand dim I in a slice: of a dim that is cut only a part may be asked for, as the slices
 * are cut too. */
static int64_t slice_size(const struct access *a, int i)
{
  int to = a->map.operand_to_result[i];
  return to >= 0 ? a->slices->dims[to] : 1;
}

/* The slice of the index vector at position BATCH of the indices.  False: it meets nothing. */
static bool meet(const struct access *a, const int64_t *batch, struct meeting *m)
{
  int64_t vector = 0;
  m->operand = m->slice = 0;
  for (int j = 0; j < a->indices->rank - 1; j++) {
    vector += batch[j] * a->index_strides[j];
    m->slice += batch[j] * a->slice_strides[a->map.indices_to_result[j]];
  }
  for (int i = 0; i < a->operand->rank; i++) {
    int component = a->map.component[i], in_batch = a->map.batch_of[i], to = a->map.operand_to_result[i];
    int64_t size = slice_size(a, i), start = 0, whole = a->attrs->gather.sizes[i];
    bool cut = component < 0 && in_batch < 0 && to >= 0 && size == a->operand->dims[i] && whole == a->size[i];
    if (in_batch >= 0)
      start = batch[in_batch];
    else if (component >= 0)
      start = gs_element_get_int(a->indices->dtype, a->index_data, vector + component);
    if (component >= 0 && a->attrs->gather.clamp)
      start = start < 0 ? 0 : start > a->size[i] - whole ? a->size[i] - whole : start;
    if (component >= 0 && to >= 0 && whole == a->size[i] && a->attrs->gather.clamp) {
      cut = true;                      /* taken whole: both are cut in the same way */
      start = 0;
    }
    if (start < 0 || start > a->size[i] - whole)   /* a box that does not fit is left out, as in XLA */
      return false;
    int64_t here = cut ? 0 : a->begin[i], limit = a->size[i] - here;
    limit = cut || limit > a->operand->dims[i] ? a->operand->dims[i] : limit;
    int64_t low = start - here, high = low + size, skipped = low < 0 ? -low : 0;
    high = high > limit ? limit : high;
    low += skipped;
    if (high <= low)
      return false;
    m->count[i] = high - low;
    m->operand += low * a->operand_strides[i];
    m->slice += to >= 0 ? skipped * a->slice_strides[to] : 0;
  }
  return true;
}

/* Step BATCH to the next index vector; false after the last. */
static bool next_batch(const struct access *a, int64_t *batch)
{
  for (int j = a->indices->rank - 2; j >= 0; j--) {
    if (++batch[j] < a->indices->dims[j])
      return true;
    batch[j] = 0;
  }
  return false;
}

static bool has_batches(const struct access *a)
{
  for (int j = 0; j < a->indices->rank - 1; j++)
    if (a->indices->dims[j] == 0)
      return false;
  return true;
}

/* A run of elements that lie one behind the other in both: TO and FROM are positions in them. */
typedef void run_function(const struct gs_kernel_call *call, int64_t operand, int64_t slice, int64_t count);

/* The meeting's elements, run by run. */
static void each_run(const struct gs_kernel_call *call, const struct access *a, const struct meeting *m,
                     run_function *run)
{
  int rank = a->operand->rank;
  int64_t length = 1, index[GS_MAX_RANK] = { 0 };
  for (; rank > 0; rank--) {
    int to = a->map.operand_to_result[rank - 1];
    bool straight = a->operand_strides[rank - 1] == length && to >= 0 && a->slice_strides[to] == length;
    if (!straight && m->count[rank - 1] != 1)
      break;
    length *= m->count[rank - 1];
    if (m->count[rank - 1] != a->operand->dims[rank - 1]
        || (to >= 0 && m->count[rank - 1] != a->slices->dims[to])) {
      rank--;
      break;
    }
  }
  for (;;) {
    int64_t operand = m->operand, slice = m->slice;
    for (int i = 0; i < rank; i++) {
      int to = a->map.operand_to_result[i];
      operand += index[i] * a->operand_strides[i];
      slice += to >= 0 ? index[i] * a->slice_strides[to] : 0;
    }
    run(call, operand, slice, length);
    int i = rank - 1;
    for (; i >= 0 && ++index[i] == m->count[i]; i--)
      index[i] = 0;
    if (i < 0)
      return;
  }
}

static void copy_out(const struct gs_kernel_call *call, int64_t operand, int64_t slice, int64_t count)
{
  size_t size = gs_dtype_size(call->type->dtype);
  memcpy((char *)call->result + (size_t)slice * size, (const char *)call->args[0] + (size_t)operand * size,
         (size_t)count * size);
}

void gs_reference_gather(const struct gs_kernel_call *call)
{
  struct access a;
  struct meeting m;
  int64_t batch[GS_MAX_RANK] = { 0 };
  start_access(call, call->type, &a);
  if (gs_type_elements(call->type) == 0 || !has_batches(&a))
    return;
  if (is_in_part(&a))
    memset(call->result, 0, (size_t)gs_type_bytes(call->type));
  do
    if (meet(&a, batch, &m))
      each_run(call, &a, &m, copy_out);
  while (next_batch(&a, batch));
}

static void put(const struct gs_kernel_call *call, int64_t operand, int64_t slice, int64_t count)
{
  size_t size = gs_dtype_size(call->type->dtype);
  memcpy((char *)call->result + (size_t)operand * size, (const char *)call->args[2] + (size_t)slice * size,
         (size_t)count * size);
}

static double combine_float(enum gs_op op, double a, double b)
{
  switch ((int)op) {
  case GS_OP_PROD: return a * b;
  case GS_OP_REDUCE_MAX: return isnan(a) || a > b ? a : b;
  case GS_OP_REDUCE_MIN: return isnan(a) || a < b ? a : b;
  default: return a + b;
  }
}

static int64_t combine_integer(enum gs_op op, bool is_signed, int64_t a, int64_t b)
{
  bool less = is_signed ? a < b : (uint64_t)a < (uint64_t)b;
  switch ((int)op) {
  case GS_OP_PROD: return (int64_t)((uint64_t)a * (uint64_t)b);
  case GS_OP_REDUCE_MAX: return less ? b : a;
  case GS_OP_REDUCE_MIN: return less ? a : b;
  default: return (int64_t)((uint64_t)a + (uint64_t)b);
  }
}

static void combine_floats(const struct gs_kernel_call *call, int64_t operand, int64_t slice, int64_t count)
{
  enum gs_dtype dtype = call->type->dtype;
  double a[GS_BLOCK], b[GS_BLOCK];
  for (int64_t i = 0; i < count; i += GS_BLOCK) {
    int64_t n = count - i < GS_BLOCK ? count - i : GS_BLOCK;
    gs_block_load(dtype, call->result, operand + i, 1, n, a);
    gs_block_load(dtype, call->args[2], slice + i, 1, n, b);
    for (int64_t k = 0; k < n; k++)
      a[k] = combine_float(call->attrs->gather.combine, a[k], b[k]);
    gs_block_store(dtype, call->result, operand + i, n, a);
  }
}

static void combine_integers(const struct gs_kernel_call *call, int64_t operand, int64_t slice, int64_t count)
{
  enum gs_dtype dtype = call->type->dtype;
  bool is_signed = gs_dtype_kind(dtype) == GS_KIND_SIGNED;
  for (int64_t i = 0; i < count; i++) {
    int64_t a = gs_element_get_int(dtype, call->result, operand + i);
    int64_t b = gs_element_get_int(dtype, call->args[2], slice + i);
    gs_element_set_int(dtype, call->result, operand + i,
                       combine_integer(call->attrs->gather.combine, is_signed, a, b));
  }
}

static void combine_complex(const struct gs_kernel_call *call, int64_t operand, int64_t slice, int64_t count)
{
  enum gs_dtype dtype = call->type->dtype;
  for (int64_t i = 0; i < count; i++) {
    double complex a = CMPLX(gs_element_get(dtype, call->result, operand + i),
                             gs_element_get_imag(dtype, call->result, operand + i));
    double complex b = CMPLX(gs_element_get(dtype, call->args[2], slice + i),
                             gs_element_get_imag(dtype, call->args[2], slice + i));
    a = call->attrs->gather.combine == GS_OP_PROD ? a * b : a + b;
    gs_element_set_complex(dtype, call->result, operand + i, creal(a), cimag(a));
  }
}

void gs_reference_scatter(const struct gs_kernel_call *call)
{
  struct access a;
  struct meeting m;
  int64_t batch[GS_MAX_RANK] = { 0 };
  enum gs_dtype_kind kind = gs_dtype_kind(call->type->dtype);
  run_function *run = call->attrs->gather.combine == GS_OP_COUNT ? put
                      : kind == GS_KIND_FLOAT                    ? combine_floats
                      : kind == GS_KIND_COMPLEX                  ? combine_complex
                                                                 : combine_integers;
  start_access(call, call->arg_types[2], &a);
  if (gs_type_elements(call->type) == 0)
    return;
  if (call->result != call->args[0])
    memcpy(call->result, call->args[0], (size_t)gs_type_bytes(call->type));
  if (gs_type_elements(call->arg_types[2]) == 0 || !has_batches(&a))
    return;
  do
    if (meet(&a, batch, &m))
      each_run(call, &a, &m, run);
  while (next_batch(&a, batch));
}
