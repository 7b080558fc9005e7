/* lang/infer.c - the words and checks that the infer functions share. */
#include <config.h>

#include "lang/infer.h"

#include <stdio.h>

const char *gs_operand_name(const struct gs_node *node, int index, char buffer[GS_OPERAND_TEXT])
{
  if (node->name != NULL)
    return node->name;
  snprintf(buffer, GS_OPERAND_TEXT, "operand %d", index + 1);
  return buffer;
}

bool gs_infer_error(const struct gs_infer *in, const char *format, ...)
{
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  gs_error(in->diagnostics, in->at, "%s: %s", in->name, message);
  return false;
}

/* The type to convert to so that nothing is lost: floats before integers, wide before narrow. */
static bool prefer_first(enum gs_dtype a, enum gs_dtype b)
{
  static const int ranks[] = {
    [GS_KIND_PRED] = 0, [GS_KIND_UNSIGNED] = 1, [GS_KIND_SIGNED] = 2, [GS_KIND_FLOAT] = 3,
    [GS_KIND_COMPLEX] = 4
  };
  int rank_a = ranks[gs_dtype_kind(a)], rank_b = ranks[gs_dtype_kind(b)];
  return rank_a != rank_b ? rank_a > rank_b : gs_dtype_size(a) >= gs_dtype_size(b);
}

bool gs_operands_same_dtype(struct gs_diagnostics *d, struct gs_span at, const char *what,
                            struct gs_node *const *args, int nargs, int first)
{
  for (int i = first + 1; i < nargs; i++) {
    enum gs_dtype a = args[first]->type.dtype, b = args[i]->type.dtype;
    if (a == b)
      continue;
    gs_error(d, at, "%s: element types differ: %s is %s, %s is %s", what,
             GS_OPERAND(args[first], first), GS_TYPE(&args[first]->type), GS_OPERAND(args[i], i),
             GS_TYPE(&args[i]->type));
    bool keep_first = prefer_first(a, b);
    int changed = keep_first ? i : first;
    gs_hint(d, "convert one of them: convert(%s, %s)",
            args[changed]->name != NULL ? args[changed]->name : "…",
            gs_dtype_name(keep_first ? a : b));
    return false;
  }
  return true;
}

bool gs_infer_check_dim(const struct gs_infer *in, int dim)
{
  const struct gs_node *x = in->args[0];
  if (dim >= 0 && dim < x->type.rank)
    return true;
  if (x->type.rank == 0)
    return gs_infer_error(in, "%s is a scalar, it has no dim %d", GS_OPERAND(x, 0), dim);
  return gs_infer_error(in, "%s is %s, which has dims 0 to %d, not %d", GS_OPERAND(x, 0),
                        GS_TYPE(&x->type), x->type.rank - 1, dim);
}

bool gs_infer_check_dim_set(const struct gs_infer *in, uint32_t dims)
{
  for (int i = 0; i < 32; i++) {
    if ((dims >> i & 1) != 0 && !gs_infer_check_dim(in, i))
      return false;
  }
  return true;
}

bool gs_infer_device(const struct gs_infer *in)
{
  return gs_infer_error(in, "only the partitioner makes these");
}
