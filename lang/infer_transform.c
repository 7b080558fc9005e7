/* lang/infer_transform.c - result types of transforms, matrix decompositions, random numbers and
 * reinterpreted bits. */
#include <config.h>

#include <inttypes.h>

#include "lang/infer.h"

static bool is_complex(enum gs_dtype dtype)
{
  return gs_dtype_kind(dtype) == GS_KIND_COMPLEX;
}

/* The complex type of a float's precision, and back. */
static enum gs_dtype complex_of(enum gs_dtype dtype)
{
  return dtype == GS_DTYPE_F64 || dtype == GS_DTYPE_C128 ? GS_DTYPE_C128 : GS_DTYPE_C64;
}

static enum gs_dtype real_of(enum gs_dtype dtype)
{
  return dtype == GS_DTYPE_C128 ? GS_DTYPE_F64 : GS_DTYPE_F32;
}

bool gs_infer_component(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  if (!is_complex(in->result->dtype))
    return gs_infer_error(in, "%s is %s, but it needs a complex type", GS_OPERAND(in->args[0], 0),
                          GS_TYPE(&in->args[0]->type));
  in->result->dtype = real_of(in->result->dtype);
  return true;
}

bool gs_infer_conjugate(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  return is_complex(in->result->dtype)
         || gs_infer_error(in, "%s is %s, but it needs a complex type", GS_OPERAND(in->args[0], 0),
                           GS_TYPE(&in->args[0]->type));
}

bool gs_infer_complex(const struct gs_infer *in)
{
  const struct gs_type *a = &in->args[0]->type, *b = &in->args[1]->type;
  if (!gs_operands_same_dtype(in->diagnostics, in->at, "complex", in->args, 2, 0))
    return false;
  if (a->dtype != GS_DTYPE_F32 && a->dtype != GS_DTYPE_F64)
    return gs_infer_error(in, "the parts are %s; they need f32 or f64", gs_dtype_name(a->dtype));
  if (a->rank != 0 && b->rank != 0 && !gs_shape_equal(a, b))
    return gs_infer_error(in, "shapes differ: %s and %s", GS_TYPE(a), GS_TYPE(b));
  *in->result = a->rank != 0 ? *a : *b;
  in->result->dtype = complex_of(a->dtype);
  return true;
}

bool gs_infer_bitcast(const struct gs_infer *in)
{
  const struct gs_type *x = &in->args[0]->type;
  size_t from = gs_dtype_size(x->dtype), to = gs_dtype_size(in->wanted->dtype);
  *in->result = *x;
  in->result->dtype = in->wanted->dtype;
  if (x->dtype == GS_DTYPE_PRED || in->wanted->dtype == GS_DTYPE_PRED || is_complex(x->dtype)
      || is_complex(in->wanted->dtype))
    return gs_infer_error(in, "from %s to %s: only between integers and floats", gs_dtype_name(x->dtype),
                          gs_dtype_name(in->wanted->dtype));
  if (from > to) {
    if (x->rank == GS_MAX_RANK)
      return gs_infer_error(in, "the result has more than %d dims", GS_MAX_RANK);
    in->result->dims[in->result->rank++] = (int64_t)(from / to);
  } else if (from < to) {
    if (x->rank == 0 || x->dims[x->rank - 1] != (int64_t)(to / from))
      return gs_infer_error(in, "%s to %s: the last dim has to have %zu elements", GS_TYPE(x),
                            gs_dtype_name(in->wanted->dtype), to / from);
    in->result->dims[--in->result->rank] = 0;
  }
  return true;
}

bool gs_infer_fft(const struct gs_infer *in)
{
  const struct gs_type *x = &in->args[0]->type;
  enum gs_fft_kind kind = in->attrs->fft.kind;
  int dim = in->attrs->fft.dim;
  bool real = kind == GS_RFFT;
  *in->result = *x;
  if (!gs_infer_check_dim(in, dim))
    return false;
  if (real ? x->dtype != GS_DTYPE_F32 && x->dtype != GS_DTYPE_F64 : !is_complex(x->dtype))
    return gs_infer_error(in, "%s is %s; it needs %s", GS_OPERAND(in->args[0], 0), GS_TYPE(x),
                          real ? "f32 or f64" : "a complex type");
  if (kind == GS_RFFT) {
    in->result->dtype = complex_of(x->dtype);
    in->result->dims[dim] = x->dims[dim] == 0 ? 0 : x->dims[dim] / 2 + 1;
  } else if (kind == GS_IRFFT) {
    int64_t size = in->attrs->fft.size;
    in->result->dtype = real_of(x->dtype);
    in->result->dims[dim] = size;
    if (size < 0)
      return gs_infer_error(in, "%" PRId64 " numbers are asked for", size);
    if (size > 0 && size / 2 + 1 > x->dims[dim])
      return gs_infer_error(in, "%" PRId64 " real numbers need %" PRId64 " coefficients, %s has %" PRId64, size,
                            size / 2 + 1, GS_TYPE(x), x->dims[dim]);
  }
  return true;
}

/* The last two dims are a square matrix of floats. */
static bool check_square(const struct gs_infer *in, int arg)
{
  const struct gs_type *a = &in->args[arg]->type;
  if (gs_dtype_kind(a->dtype) != GS_KIND_FLOAT)
    return gs_infer_error(in, "%s is %s; it needs a float type", GS_OPERAND(in->args[arg], arg), GS_TYPE(a));
  if (a->rank < 2 || a->dims[a->rank - 1] != a->dims[a->rank - 2])
    return gs_infer_error(in, "%s is %s; its last two dims have to be equal", GS_OPERAND(in->args[arg], arg),
                          GS_TYPE(a));
  return true;
}

bool gs_infer_cholesky(const struct gs_infer *in)
{
  *in->result = in->args[0]->type;
  return check_square(in, 0);
}

bool gs_infer_triangular_solve(const struct gs_infer *in)
{
  const struct gs_type *a = &in->args[0]->type, *b = &in->args[1]->type;
  *in->result = *b;
  if (!check_square(in, 0)
      || !gs_operands_same_dtype(in->diagnostics, in->at, "triangular_solve", in->args, 2, 0))
    return false;
  bool fits = a->rank == b->rank;
  for (int i = 0; i < a->rank - 2 && fits; i++)
    fits = a->dims[i] == b->dims[i];
  fits = fits && b->dims[b->rank - (in->attrs->solve.left ? 2 : 1)] == a->dims[a->rank - 1];
  return fits || gs_infer_error(in, "%s and %s: batch dims are equal, and dim %d of the second fits the matrix",
                                GS_TYPE(a), GS_TYPE(b), b->rank - (in->attrs->solve.left ? 2 : 1));
}

bool gs_infer_random(const struct gs_infer *in)
{
  const struct gs_type *key = &in->args[0]->type;
  enum gs_dtype_kind kind = gs_dtype_kind(in->wanted->dtype);
  bool bits = in->attrs->random.kind == GS_RANDOM_BITS;
  *in->result = *in->wanted;
  if (key->rank != 0 || !gs_dtype_is_integer(key->dtype))
    return gs_infer_error(in, "the key is %s; it is an integer scalar", GS_TYPE(key));
  if (bits ? !gs_dtype_is_integer(in->wanted->dtype) : kind != GS_KIND_FLOAT)
    return gs_infer_error(in, "numbers of type %s; %s", gs_dtype_name(in->wanted->dtype),
                          bits ? "bits are integers" : "these are floats");
  return true;
}
