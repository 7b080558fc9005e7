/* interp/functions_transform.c - Fourier transforms, triangular matrices, reinterpreted bits. */
#include <config.h>

#include "interp/builtin.h"

#include <string.h>

#include "interp/eval.h"

static struct gs_node *add_fft(struct gs_call *call, enum gs_fft_kind kind, struct gs_node *x, int dim, int64_t size)
{
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  attrs.fft.kind = kind;
  attrs.fft.dim = dim;
  attrs.fft.size = kind == GS_IRFFT ? size : 0;
  return gs_graph_add(&call->session->graph, GS_OP_FFT, call->span, &x, 1, &attrs, NULL);
}

/* Argument 1, the dims, in order; the last one without it. */
static bool transformed_dims(struct gs_call *call, const struct gs_node *x, int *dims, int *count)
{
  uint32_t set;
  if (x->type.rank == 0)
    return gs_session_fail(call->session, call->args[0].span, "%s: a scalar has no dims", call->builtin->name);
  dims[0] = x->type.rank - 1;
  *count = 1;
  if (!gs_arg_given(call, 1))
    return true;
  if (!gs_arg_dims(call, 1, x->type.rank, &set, dims, count))
    return false;
  return *count > 0 || gs_session_fail(call->session, call->args[1].span, "%s: no dims", call->builtin->name);
}

/* A real tensor as a complex one, for transforms of complex numbers. */
static struct gs_node *as_complex(struct gs_call *call, struct gs_node *x)
{
  if (gs_dtype_kind(x->type.dtype) != GS_KIND_FLOAT)
    return x;
  return gs_build_convert(&call->session->graph, call->span, x,
                          x->type.dtype == GS_DTYPE_F64 ? GS_DTYPE_C128 : GS_DTYPE_C64);
}

/* One dim after the other; the real side is the last of them. */
static bool transform(struct gs_call *call, enum gs_fft_kind kind, struct gs_value *out)
{
  struct gs_node *x;
  int dims[GS_MAX_RANK], count;
  int64_t size = 0;
  if (!gs_arg_tensor(call, 0, &x) || !transformed_dims(call, x, dims, &count))
    return false;
  int last = dims[count - 1];
  bool forward = kind == GS_FFT || kind == GS_RFFT;
  if (kind != GS_RFFT)
    x = as_complex(call, x);
  if (kind == GS_IRFFT) {
    size = x->type.dims[last] == 0 ? 0 : 2 * (x->type.dims[last] - 1);
    if (gs_arg_given(call, 2) && !gs_arg_int(call, 2, &size))
      return false;
  }
  if (forward)
    x = add_fft(call, kind, x, last, size);
  for (int i = count - 2; i >= 0; i--)
    x = add_fft(call, forward ? GS_FFT : GS_IFFT, x, dims[i], 0);
  if (!forward)
    x = add_fft(call, kind, x, last, size);
  return gs_operate_node(call->session, x, out);
}

static bool function_fft(struct gs_call *call, struct gs_value *out)
{
  return transform(call, GS_FFT, out);
}

static bool function_ifft(struct gs_call *call, struct gs_value *out)
{
  return transform(call, GS_IFFT, out);
}

static bool function_rfft(struct gs_call *call, struct gs_value *out)
{
  return transform(call, GS_RFFT, out);
}

static bool function_irfft(struct gs_call *call, struct gs_value *out)
{
  return transform(call, GS_IRFFT, out);
}

static bool function_cholesky(struct gs_call *call, struct gs_value *out)
{
  struct gs_node *a;
  return gs_arg_tensor(call, 0, &a)
         && gs_operate_node(call->session, gs_graph_add(&call->session->graph, GS_OP_CHOLESKY, call->span, &a, 1,
                                                        NULL, NULL), out);
}

static bool function_triangular_solve(struct gs_call *call, struct gs_value *out)
{
  struct gs_node *args[2];
  union gs_attrs attrs;
  memset(&attrs, 0, sizeof attrs);
  attrs.solve.lower = attrs.solve.left = true;
  if (!gs_arg_tensor(call, 0, &args[0]) || !gs_arg_tensor(call, 1, &args[1])
      || (gs_arg_given(call, 2) && !gs_arg_bool(call, 2, &attrs.solve.lower))
      || (gs_arg_given(call, 3) && !gs_arg_bool(call, 3, &attrs.solve.left))
      || (gs_arg_given(call, 4) && !gs_arg_bool(call, 4, &attrs.solve.transpose))
      || (gs_arg_given(call, 5) && !gs_arg_bool(call, 5, &attrs.solve.unit)))
    return false;
  return gs_operate_node(call->session, gs_graph_add(&call->session->graph, GS_OP_TRIANGULAR_SOLVE, call->span, args,
                                                     2, &attrs, NULL), out);
}

static bool function_bitcast(struct gs_call *call, struct gs_value *out)
{
  struct gs_node *x;
  struct gs_type wanted = { 0 };
  if (!gs_arg_tensor(call, 0, &x) || !gs_arg_dtype(call, 1, &wanted.dtype))
    return false;
  return gs_operate_node(call->session, gs_graph_add(&call->session->graph, GS_OP_BITCAST, call->span, &x, 1, NULL,
                                                     &wanted), out);
}

const struct gs_builtin gs_builtins_transform[] = {
  { "fft", "x dims?", function_fft, GS_OP_FFT, GS_TOPIC_TRANSFORMS, "fft(x, dims=[0, 1])",
    "discrete Fourier transform along dims, the last one without" },
  { "ifft", "x dims?", function_ifft, GS_OP_FFT, GS_TOPIC_TRANSFORMS, "ifft(z)", "its inverse" },
  { "rfft", "x dims?", function_rfft, GS_OP_FFT, GS_TOPIC_TRANSFORMS, "rfft(x)",
    "of real numbers: the first n/2 + 1 coefficients (of the last of dims), the others being their conjugates" },
  { "irfft", "z dims? n?", function_irfft, GS_OP_FFT, GS_TOPIC_TRANSFORMS, "irfft(z, n=9)",
    "the n (2(m-1) without) real numbers that z are the coefficients of" },
  { "cholesky", "a", function_cholesky, GS_OP_CHOLESKY, GS_TOPIC_TRANSFORMS, "cholesky(a)",
    "lower l with l @ l' = a for matrices in the last two dims; NaN where a is not positive definite" },
  { "triangular_solve", "a b lower? left? transpose? unit?", function_triangular_solve, GS_OP_TRIANGULAR_SOLVE,
    GS_TOPIC_TRANSFORMS, "triangular_solve(a, b, lower=true, left=true)",
    "x with a @ x = b, or x @ a = b when not left, a triangular; transpose=, unit= (a diagonal of ones)" },
  { "bitcast", "x dtype", function_bitcast, GS_OP_BITCAST, GS_TOPIC_SHAPE, "bitcast(x, u32)",
    "the same bits as another element type; a last dim comes or goes where sizes differ" },
  { 0 },
};
