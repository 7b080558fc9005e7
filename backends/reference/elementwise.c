/* backends/reference/elementwise.c - operators that work element by element. */
#include <config.h>

#include <string.h>

#include "backends/reference/block.h"
#include "backends/reference/kernels.h"
#include "backends/reference/scalar.h"

static int64_t operand_index(const struct gs_kernel_call *call, int a, int64_t i)
{
  return call->arg_types[a]->rank == 0 ? 0 : i;
}

/* The type the computation happens in: that of the last operand (where's first is a pred). */
static enum gs_dtype working_type(const struct gs_kernel_call *call)
{
  return call->arg_types[call->nargs - 1]->dtype;
}

static double complex get_complex(enum gs_dtype dtype, const void *data, int64_t index)
{
  return CMPLX(gs_element_get(dtype, data, index), gs_element_get_imag(dtype, data, index));
}

/* Block after block of N elements: the operands are read into their BLOCKs, a scalar again and
 * again, and the operator's value goes into the first. */
static void apply_float(const struct gs_kernel_call *call, int64_t n)
{
  double block[3][GS_BLOCK], a[3] = { 0 };
  for (int64_t at = 0; at < n; at += GS_BLOCK) {
    int64_t count = n - at < GS_BLOCK ? n - at : GS_BLOCK;
    for (int k = 0; k < call->nargs; k++)
      gs_block_load(call->arg_types[k]->dtype, call->args[k], operand_index(call, k, at),
                    operand_index(call, k, 1), count, block[k]);
    for (int64_t i = 0; i < count; i++) {
      for (int k = 0; k < call->nargs; k++)
        a[k] = block[k][i];
      block[0][i] = gs_scalar_float(call->op, a);
    }
    gs_block_store(call->type->dtype, call->result, at, count, block[0]);
  }
}

static void apply_integer(const struct gs_kernel_call *call, int64_t n)
{
  int64_t block[3][GS_BLOCK], a[3] = { 0 };
  for (int64_t at = 0; at < n; at += GS_BLOCK) {
    int64_t count = n - at < GS_BLOCK ? n - at : GS_BLOCK;
    for (int k = 0; k < call->nargs; k++)
      gs_block_load_int(call->arg_types[k]->dtype, call->args[k], operand_index(call, k, at),
                        operand_index(call, k, 1), count, block[k]);
    for (int64_t i = 0; i < count; i++) {
      for (int k = 0; k < call->nargs; k++)
        a[k] = block[k][i];
      block[0][i] = gs_scalar_integer(call->op, working_type(call), a);
    }
    gs_block_store_int(call->type->dtype, call->result, at, count, block[0]);
  }
}

static void apply_complex(const struct gs_kernel_call *call, int64_t n)
{
  double complex a[3];
  for (int64_t i = 0; i < n; i++) {
    for (int k = 0; k < call->nargs; k++)
      a[k] = get_complex(call->arg_types[k]->dtype, call->args[k], operand_index(call, k, i));
    double complex value = gs_scalar_complex(call->op, a);
    gs_element_set_complex(call->type->dtype, call->result, i, creal(value), cimag(value));
  }
}

void gs_reference_elementwise(const struct gs_kernel_call *call)
{
  int64_t n = gs_type_elements(call->type);
  if (call->op == GS_OP_COMPLEX) {
    apply_complex(call, n);
    return;
  }
  switch (gs_dtype_kind(working_type(call))) {
  case GS_KIND_FLOAT: apply_float(call, n); break;
  case GS_KIND_COMPLEX: apply_complex(call, n); break;
  case GS_KIND_SIGNED: case GS_KIND_UNSIGNED: case GS_KIND_PRED: apply_integer(call, n); break;
  }
}

static bool is_integral(enum gs_dtype dtype)
{
  return gs_dtype_is_integer(dtype) || dtype == GS_DTYPE_PRED;
}

/* The integer VALUE as a double that a float type no wider than f32 rounds as it would VALUE: what
 * double cannot hold of large ones is kept as one bit that says "and some more". */
static double for_rounding(enum gs_dtype from, int64_t value)
{
  bool negative = from != GS_DTYPE_U64 && value < 0;
  uint64_t size = negative ? 0 - (uint64_t)value : (uint64_t)value;
  if (size >> 53 != 0)
    size = (size >> 12 << 12) | (uint64_t)((size & 0xfff) != 0) << 11;
  return negative ? -(double)size : (double)size;
}

static void convert_complex(const struct gs_kernel_call *call, int64_t i)
{
  double complex value = get_complex(call->arg_types[0]->dtype, call->args[0], i);
  if (call->type->dtype == GS_DTYPE_PRED)
    gs_element_set_int(GS_DTYPE_PRED, call->result, i, creal(value) != 0 || cimag(value) != 0);
  else
    gs_element_set_complex(call->type->dtype, call->result, i, creal(value), cimag(value));
}

void gs_reference_convert(const struct gs_kernel_call *call)
{
  enum gs_dtype from = call->arg_types[0]->dtype, to = call->type->dtype;
  bool is_complex = gs_dtype_kind(from) == GS_KIND_COMPLEX || gs_dtype_kind(to) == GS_KIND_COMPLEX;
  int64_t n = gs_type_elements(call->type), integers[GS_BLOCK];
  double block[GS_BLOCK];
  for (int64_t at = 0; at < n; at += GS_BLOCK) {
    int64_t count = n - at < GS_BLOCK ? n - at : GS_BLOCK;
    for (int64_t i = 0; i < count && is_complex; i++)
      convert_complex(call, at + i);
    if (is_complex)
      continue;
    if (is_integral(from) && to != GS_DTYPE_F64) {
      gs_block_load_int(from, call->args[0], at, 1, count, integers);
      for (int64_t i = 0; i < count && !is_integral(to); i++)
        block[i] = for_rounding(from, integers[i]);
    } else {
      gs_block_load(from, call->args[0], at, 1, count, block);
    }
    if (is_integral(from) && is_integral(to))
      gs_block_store_int(to, call->result, at, count, integers);
    else
      gs_block_store(to, call->result, at, count, block);
  }
}

void gs_reference_copy(const struct gs_kernel_call *call)
{
  int64_t bytes = gs_type_bytes(call->type);
  if (bytes > 0)
    memcpy(call->result, call->args[0], (size_t)bytes);
}

void gs_reference_iota(const struct gs_kernel_call *call)
{
  int64_t index[GS_MAX_RANK] = { 0 }, n = gs_type_elements(call->type);
  for (int64_t i = 0; i < n; i++) {
    int64_t value = index[call->attrs->iota.dim];
    if (gs_dtype_is_integer(call->type->dtype))
      gs_element_set_int(call->type->dtype, call->result, i, value);
    else
      gs_element_set(call->type->dtype, call->result, i, (double)value);
    gs_reference_next(call->type, index);
  }
}
