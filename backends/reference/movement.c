/* backends/reference/movement.c - operators that only move elements. */
#include <config.h>

#include <string.h>

#include "backends/reference/kernels.h"

bool gs_reference_next(const struct gs_type *type, int64_t index[GS_MAX_RANK])
{
  for (int i = type->rank - 1; i >= 0; i--) {
    if (++index[i] < type->dims[i])
      return true;
    index[i] = 0;
  }
  return false;
}

/* Where result position INDEX comes from: writes FROM, or returns false for none. */
typedef bool source_function(const struct gs_kernel_call *call, const int64_t *index,
                             int64_t *from);

/* Each result element is operand ARG's element at SOURCE, or FILL where there is none. */
static void move(const struct gs_kernel_call *call, source_function *source, const void *fill)
{
  const struct gs_type *in = call->arg_types[0];
  size_t size = gs_dtype_size(call->type->dtype);
  int64_t strides[GS_MAX_RANK], index[GS_MAX_RANK] = { 0 }, from[GS_MAX_RANK] = { 0 };
  int64_t n = gs_type_elements(call->type);
  char *out = call->result;
  gs_type_strides(in, strides);
  for (int64_t i = 0; i < n; i++, out += size) {
    if (source(call, index, from)) {
      int64_t at = 0;
      for (int d = 0; d < in->rank; d++)
        at += from[d] * strides[d];
      memcpy(out, (const char *)call->args[0] + (size_t)at * size, size);
    } else {
      memcpy(out, fill, size);
    }
    gs_reference_next(call->type, index);
  }
}

static bool transpose_source(const struct gs_kernel_call *call, const int64_t *index, int64_t *from)
{
  for (int i = 0; i < call->type->rank; i++)
    from[call->attrs->transpose.dims[i]] = index[i];
  return true;
}

void gs_reference_transpose(const struct gs_kernel_call *call)
{
  move(call, transpose_source, NULL);
}

static bool broadcast_source(const struct gs_kernel_call *call, const int64_t *index, int64_t *from)
{
  for (int i = 0; i < call->arg_types[0]->rank; i++)
    from[i] = call->arg_types[0]->dims[i] == 1 ? 0 : index[call->attrs->broadcast.dims[i]];
  return true;
}

void gs_reference_broadcast(const struct gs_kernel_call *call)
{
  move(call, broadcast_source, NULL);
}

static bool reverse_source(const struct gs_kernel_call *call, const int64_t *index, int64_t *from)
{
  for (int i = 0; i < call->type->rank; i++)
    from[i] = call->attrs->reverse.dims >> i & 1 ? call->type->dims[i] - 1 - index[i] : index[i];
  return true;
}

void gs_reference_reverse(const struct gs_kernel_call *call)
{
  move(call, reverse_source, NULL);
}

static bool slice_source(const struct gs_kernel_call *call, const int64_t *index, int64_t *from)
{
  for (int i = 0; i < call->type->rank; i++)
    from[i] = call->attrs->slice.start[i] + index[i] * call->attrs->slice.stride[i];
  return true;
}

void gs_reference_slice(const struct gs_kernel_call *call)
{
  move(call, slice_source, NULL);
}

static bool roll_source(const struct gs_kernel_call *call, const int64_t *index, int64_t *from)
{
  int dim = call->attrs->roll.dim;
  int64_t size = call->type->dims[dim];
  memcpy(from, index, (size_t)call->type->rank * sizeof *from);
  from[dim] = ((index[dim] - call->attrs->roll.shift % size) % size + size) % size;
  return true;
}

void gs_reference_roll(const struct gs_kernel_call *call)
{
  move(call, roll_source, NULL);
}

static bool pad_source(const struct gs_kernel_call *call, const int64_t *index, int64_t *from)
{
  for (int i = 0; i < call->type->rank; i++) {
    int64_t gap = call->attrs->pad.interior[i] + 1, at = index[i] - call->attrs->pad.low[i];
    if (at < 0 || at % gap != 0 || at / gap >= call->arg_types[0]->dims[i])
      return false;
    from[i] = at / gap;
  }
  return true;
}

void gs_reference_pad(const struct gs_kernel_call *call)
{
  move(call, pad_source, call->args[1]);
}

void gs_reference_concat(const struct gs_kernel_call *call)
{
  int dim = call->attrs->concat.dim;
  int64_t outer = 1, inner = (int64_t)gs_dtype_size(call->type->dtype), done = 0;
  for (int i = 0; i < dim; i++)
    outer *= call->type->dims[i];
  for (int i = dim + 1; i < call->type->rank; i++)
    inner *= call->type->dims[i];
  int64_t row = call->type->dims[dim] * inner;
  for (int a = 0; a < call->nargs; a++) {
    int64_t run = call->arg_types[a]->dims[dim] * inner;
    for (int64_t o = 0; o < outer && run > 0; o++)
      memcpy((char *)call->result + o * row + done, (const char *)call->args[a] + o * run,
             (size_t)run);
    done += run;
  }
}
