/* lang/infer_contraction.c - the result type of a two-operand einsum.
 *
 * The attributes come from gs_build_einsum and its like, which have said everything in the user's
 * words; what is checked here is that nobody else hands in labels that do not fit.
 */
#include <config.h>

#include "lang/infer.h"

#include <inttypes.h>

/* Where a label was seen: bits 0 and 1 the operands, bit 2 the result. */
struct label_use { unsigned places; int64_t size; };

static bool use_label(const struct gs_infer *in, struct label_use *uses, int label, int place)
{
  const char *spec = in->attrs->einsum.spec;
  if (label < 0 || label >= in->attrs->einsum.nlabels || label >= GS_MAX_LABELS)
    return gs_infer_error(in, "\"%s\": label %d is not one of %d", spec, label,
                          in->attrs->einsum.nlabels);
  if ((uses[label].places >> place & 1) != 0)
    return gs_infer_error(in, "\"%s\": a label stands twice in one tensor", spec);
  uses[label].places |= 1u << place;
  return true;
}

static bool use_operand(const struct gs_infer *in, struct label_use *uses, int operand)
{
  const struct gs_type *type = &in->args[operand]->type;
  for (int i = 0; i < type->rank; i++) {
    int label = in->attrs->einsum.label[operand][i];
    if (!use_label(in, uses, label, operand))
      return false;
    if (operand == 1 && (uses[label].places & 1) != 0 && uses[label].size != type->dims[i])
      return gs_infer_error(in, "\"%s\": dim %d of %s is %" PRId64 ", not %" PRId64,
                            in->attrs->einsum.spec, i, GS_OPERAND(in->args[1], 1), type->dims[i],
                            uses[label].size);
    uses[label].size = type->dims[i];
  }
  return true;
}

bool gs_infer_einsum(const struct gs_infer *in)
{
  struct label_use uses[GS_MAX_LABELS] = { 0 };
  if (!gs_operands_same_dtype(in->diagnostics, in->at, "einsum", in->args, in->nargs, 0)
      || !use_operand(in, uses, 0) || !use_operand(in, uses, 1))
    return false;
  enum gs_dtype dtype = in->args[0]->type.dtype;
  if (dtype == GS_DTYPE_PRED)
    return gs_infer_error(in, "%s is %s, but it needs an integer, float or complex type",
                          GS_OPERAND(in->args[0], 0), GS_TYPE(&in->args[0]->type));
  *in->result = gs_type_scalar(dtype);
  for (int i = 0; i < GS_MAX_RANK && in->attrs->einsum.out[i] >= 0; i++) {
    int label = in->attrs->einsum.out[i];
    if (!use_label(in, uses, label, 2))
      return false;
    in->result->dims[in->result->rank++] = uses[label].size;
  }
  for (int label = 0; label < in->attrs->einsum.nlabels; label++) {
    if ((uses[label].places & (uses[label].places - 1)) == 0)
      return gs_infer_error(in, "\"%s\": a label stands in one tensor only",
                            in->attrs->einsum.spec);
  }
  return true;
}
