/* backends/reference/elementwise.c - operators that work element by element. */
#include <config.h>

#include <string.h>

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

static void apply_float(const struct gs_kernel_call *call, int64_t n)
{
  double a[3];
  for (int64_t i = 0; i < n; i++) {
    for (int k = 0; k < call->nargs; k++)
      a[k] = gs_element_get(call->arg_types[k]->dtype, call->args[k], operand_index(call, k, i));
    gs_element_set(call->type->dtype, call->result, i, gs_scalar_float(call->op, a));
  }
}

static void apply_integer(const struct gs_kernel_call *call, int64_t n)
{
  int64_t a[3];
  for (int64_t i = 0; i < n; i++) {
    for (int k = 0; k < call->nargs; k++)
      a[k] = gs_element_get_int(call->arg_types[k]->dtype, call->args[k], operand_index(call, k, i));
    gs_element_set_int(call->type->dtype, call->result, i,
                       gs_scalar_integer(call->op, working_type(call), a));
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

void gs_reference_convert(const struct gs_kernel_call *call)
{
  enum gs_dtype from = call->arg_types[0]->dtype, to = call->type->dtype;
  int64_t n = gs_type_elements(call->type);
  for (int64_t i = 0; i < n; i++) {
    if (to == GS_DTYPE_PRED)
      gs_element_set_int(to, call->result, i,
                         gs_element_get(from, call->args[0], i) != 0
                             || gs_element_get_imag(from, call->args[0], i) != 0);
    else if (is_integral(from) && is_integral(to))
      gs_element_set_int(to, call->result, i, gs_element_get_int(from, call->args[0], i));
    else if (gs_dtype_kind(to) == GS_KIND_COMPLEX)
      gs_element_set_complex(to, call->result, i, gs_element_get(from, call->args[0], i),
                             gs_element_get_imag(from, call->args[0], i));
    else
      gs_element_set(to, call->result, i, gs_element_get(from, call->args[0], i));
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
