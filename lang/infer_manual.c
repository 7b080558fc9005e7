/* lang/infer_manual.c - result types in manual regions. */
#include <config.h>

#include <inttypes.h>

#include "lang/infer.h"

static int64_t group_size(const struct gs_infer *in)
{
  const struct gs_manual *manual = in->args[0]->manual;
  int64_t n = 1;
  for (int i = 0; i < in->attrs->manual.naxes && manual != NULL; i++)
    n *= manual->sizes[(int)in->attrs->manual.axes[i]];
  return n;
}

static bool divided(const struct gs_infer *in, int dim, int64_t n)
{
  int64_t size = in->args[0]->type.dims[dim];
  if (size % n == 0) {
    in->result->dims[dim] = size / n;
    return true;
  }
  gs_infer_error(in, "dim %d of %s, %s, has %" PRId64 " elements, which %" PRId64 " devices do not divide", dim,
                 GS_OPERAND(in->args[0], 0), GS_TYPE(&in->args[0]->type), size, n);
  gs_hint(in->diagnostics, "in a manual region all shards are of one size; pad the dim");
  return false;
}

static bool multiplied(const struct gs_infer *in, int dim, int64_t n)
{
  return gs_mul_size(in->result->dims[dim], n, &in->result->dims[dim])
         || gs_infer_error(in, "dim %d gets larger than can be addressed", dim);
}

bool gs_infer_to_shard(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  for (int i = 0; i < in->result->rank; i++)
    if (!divided(in, i, in->attrs->manual.parts[i]))
      return false;
  return true;
}

bool gs_infer_from_shard(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  for (int i = 0; i < in->result->rank; i++)
    if (!multiplied(in, i, in->attrs->manual.parts[i]))
      return false;
  return true;
}

static bool check_reduction(const struct gs_infer *in)
{
  enum gs_dtype_kind kind = gs_dtype_kind(in->args[0]->type.dtype);
  enum gs_op reduce = in->attrs->manual.reduce;
  bool logical = reduce == GS_OP_ANY || reduce == GS_OP_ALL;
  return (logical == (kind == GS_KIND_PRED) && (reduce == GS_OP_SUM || kind != GS_KIND_COMPLEX))
         || gs_infer_error(in, "not for %s", GS_TYPE(&in->args[0]->type));
}

bool gs_infer_psum(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  return check_reduction(in);
}

bool gs_infer_manual_gather(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  return gs_infer_check_dim(in, in->attrs->manual.dim) && multiplied(in, in->attrs->manual.dim, group_size(in));
}

bool gs_infer_manual_scatter(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  return check_reduction(in) && gs_infer_check_dim(in, in->attrs->manual.dim)
         && divided(in, in->attrs->manual.dim, group_size(in));
}

bool gs_infer_manual_exchange(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  return gs_infer_check_dim(in, in->attrs->manual.dim) && gs_infer_check_dim(in, in->attrs->manual.concat)
         && divided(in, in->attrs->manual.dim, group_size(in))
         && multiplied(in, in->attrs->manual.concat, group_size(in));
}

bool gs_infer_ppermute(const struct gs_infer *in)
{
  int64_t n = group_size(in);
  *in->result = in->args[0]->type;
  for (int i = 0; i < in->attrs->manual.npairs; i++) {
    const int64_t *pair = in->attrs->manual.pairs[i];
    if (pair[0] < 0 || pair[0] >= n || pair[1] < 0 || pair[1] >= n)
      return gs_infer_error(in, "pair [%" PRId64 ", %" PRId64 "] along %" PRId64 " devices", pair[0], pair[1], n);
    for (int j = 0; j < i; j++)
      if (in->attrs->manual.pairs[j][1] == pair[1] || in->attrs->manual.pairs[j][0] == pair[0])
        return gs_infer_error(in, "device %" PRId64 " %s twice",
                              in->attrs->manual.pairs[j][1] == pair[1] ? pair[1] : pair[0],
                              in->attrs->manual.pairs[j][1] == pair[1] ? "receives" : "sends");
  }
  return true;
}

bool gs_infer_axis_index(const struct gs_infer *in)
{
  *in->result = (struct gs_type){ .dtype = GS_DTYPE_S32 };
  return true;
}
