/* lang/infer_gather.c - result types of gather and scatter. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "lang/gather.h"
#include "lang/infer.h"

void gs_gather_map_make(const union gs_attrs *attrs, int operand_rank, int indices_rank,
                        struct gs_gather_map *map)
{
  uint32_t left_out = attrs->gather.collapsed;
  memset(map, -1, sizeof *map);
  for (int k = 0; k < attrs->gather.nbatch; k++) {
    map->batch_of[attrs->gather.operand_batch[k]] = attrs->gather.indices_batch[k];
    left_out |= 1u << attrs->gather.operand_batch[k];
  }
  for (int k = 0; k < attrs->gather.nindexed; k++)
    map->component[attrs->gather.indexed[k]] = (signed char)k;
  int operand = 0, index = 0, rank = indices_rank - 1 + operand_rank - __builtin_popcount(left_out);
  for (int r = 0; r < rank && r < GS_MAX_RANK; r++) {
    if (attrs->gather.offset_dims >> r & 1) {
      while (operand < operand_rank && (left_out >> operand & 1))
        operand++;
      if (operand < operand_rank)
        map->operand_to_result[operand++] = (signed char)r;
    } else if (index < indices_rank - 1) {
      map->indices_to_result[index++] = (signed char)r;
    }
  }
}

static bool check_indices(const struct gs_infer *in)
{
  const struct gs_type *x = &in->args[0]->type, *indices = &in->args[1]->type;
  int n = in->attrs->gather.nindexed;
  if (!gs_dtype_is_integer(indices->dtype)) {
    gs_infer_error(in, "indices are integers, %s is %s", GS_OPERAND(in->args[1], 1), GS_TYPE(indices));
    gs_hint(in->diagnostics, "convert(…, s32), or tensor([0, 2], dtype=s32)");
    return false;
  }
  if (indices->rank == 0 || indices->dims[indices->rank - 1] != n)
    return gs_infer_error(in, "the last dim of the indices, %s, has to have %d element%s, one for each indexed dim",
                          GS_TYPE(indices), n, n == 1 ? "" : "s");
  uint32_t seen = 0;
  for (int k = 0; k < n + in->attrs->gather.nbatch; k++) {
    int dim = k < n ? in->attrs->gather.indexed[k] : in->attrs->gather.operand_batch[k - n];
    if (dim < 0 || dim >= x->rank)
      return gs_infer_error(in, "%s has no dim %d", GS_TYPE(x), dim);
    if (seen >> dim & 1)
      return gs_infer_error(in, "dim %d is named twice", dim);
    seen |= 1u << dim;
  }
  for (int k = 0; k < in->attrs->gather.nbatch; k++) {
    int a = in->attrs->gather.operand_batch[k], b = in->attrs->gather.indices_batch[k];
    if (b < 0 || b >= indices->rank - 1 || x->dims[a] != indices->dims[b])
      return gs_infer_error(in, "batch dim %d of %s does not fit dim %d of the indices %s", a, GS_TYPE(x), b,
                            GS_TYPE(indices));
  }
  return true;
}

/* The dims named for slices, of a result (scatter: updates) of RANK dims, are those that slices keep. */
static bool check_slice_dims(const struct gs_infer *in, int rank)
{
  bool scatter = in->op == GS_OP_SCATTER;
  const char *named = scatter ? "window_dims" : "offset_dims", *whole = scatter ? "updates" : "a result";
  uint32_t dims = in->attrs->gather.offset_dims;
  int count = __builtin_popcount(dims), kept = rank - (in->args[1]->type.rank - 1);
  for (int k = 0; k < in->attrs->gather.nbatch; k++)
    if (in->attrs->gather.collapsed >> in->attrs->gather.operand_batch[k] & 1)
      return gs_infer_error(in, "dim %d is named twice", in->attrs->gather.operand_batch[k]);
  if (count != kept)
    return gs_infer_error(in, "%s name%s %d dim%s, but slices of %s keep %d", named, count == 1 ? "s" : "", count,
                          count == 1 ? "" : "s", GS_TYPE(&in->args[0]->type), kept < 0 ? 0 : kept);
  for (int r = rank; r < 32; r++)
    if (dims >> r & 1)
      return gs_infer_error(in, "%s name dim %d of %s of rank %d", named, r, whole, rank);
  return true;
}

/* The type of all slices together. */
static bool slices_type(const struct gs_infer *in, struct gs_type *type)
{
  const struct gs_type *x = &in->args[0]->type, *indices = &in->args[1]->type;
  const union gs_attrs *a = in->attrs;
  struct gs_gather_map map;
  int rank = indices->rank - 1 + x->rank - __builtin_popcount(a->gather.collapsed) - a->gather.nbatch;
  if (!check_indices(in))
    return false;
  if ((a->gather.collapsed >> x->rank) != 0)
    return gs_infer_error(in, "a collapsed dim that %s does not have", GS_TYPE(x));
  if (rank > GS_MAX_RANK)
    return gs_infer_error(in, "the result has more than %d dims", GS_MAX_RANK);
  if (!check_slice_dims(in, rank))
    return false;
  gs_gather_map_make(a, x->rank, indices->rank, &map);
  *type = (struct gs_type){ .dtype = x->dtype, .rank = rank };
  for (int i = 0; i < x->rank; i++) {
    int64_t size = a->gather.sizes[i];
    bool batch = map.batch_of[i] >= 0;
    if (batch && map.component[i] >= 0)
      return gs_infer_error(in, "dim %d is a batch dim and indexed", i);
    if (!batch && (size < 0 || size > x->dims[i]))
      return gs_infer_error(in, "a slice of %" PRId64 " along dim %d of %s", size, i, GS_TYPE(x));
    if ((a->gather.collapsed >> i & 1) && size != 1)
      return gs_infer_error(in, "dim %d is collapsed, but a slice has %" PRId64 " elements along it", i, size);
    if (map.operand_to_result[i] >= 0)
      type->dims[map.operand_to_result[i]] = size;
  }
  for (int j = 0; j < indices->rank - 1; j++)
    type->dims[map.indices_to_result[j]] = indices->dims[j];
  return true;
}

bool gs_infer_gather(const struct gs_infer *in)
{
  return slices_type(in, in->result);
}

bool gs_infer_scatter(const struct gs_infer *in)
{
  const struct gs_type *x = &in->args[0]->type, *updates = &in->args[2]->type;
  enum gs_op combine = in->attrs->gather.combine;
  enum gs_dtype_kind kind = gs_dtype_kind(x->dtype);
  struct gs_type wanted;
  if (x->dtype != updates->dtype) {
    gs_infer_error(in, "element types differ: %s is %s, the updates are %s", GS_OPERAND(in->args[0], 0),
                   GS_TYPE(x), GS_TYPE(updates));
    gs_hint(in->diagnostics, "convert the updates to %s", gs_dtype_name(x->dtype));
    return false;
  }
  bool orders = combine == GS_OP_REDUCE_MAX || combine == GS_OP_REDUCE_MIN;
  if ((combine != GS_OP_COUNT && kind == GS_KIND_PRED) || (orders && kind == GS_KIND_COMPLEX))
    return gs_infer_error(in, "%s cannot be combined, only set", GS_TYPE(x));
  if (!slices_type(in, &wanted))
    return false;
  *in->result = *x;
  return gs_shape_equal(&wanted, updates)
         || gs_infer_error(in, "the updates are %s where the indices %s into %s ask for %s",
                           GS_TYPE(updates), GS_TYPE(&in->args[1]->type), GS_TYPE(x), GS_TYPE(&wanted));
}
