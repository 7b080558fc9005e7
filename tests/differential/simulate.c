/* tests/differential/simulate.c - a plan run device by device, element by element. */
#include <config.h>

#include "tests/differential/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/reference/reference.h"
#include "tests/differential/compare.h"

struct simulation {
  const struct gs_program *program;
  const struct gs_mesh *mesh;
  int64_t ndevices;
  unsigned char **parts;               /* [step * ndevices + position] */
  char *text;
  size_t size;
};

static unsigned char *part_of(const struct simulation *s, int step, int64_t position)
{
  return s->parts[step * s->ndevices + position];
}

/* NaN, or all ones. */
static void poison(enum gs_dtype dtype, void *data, int64_t elements)
{
  enum gs_dtype_kind kind = gs_dtype_kind(dtype);
  for (int64_t i = 0; i < elements; i++) {
    if (kind == GS_KIND_FLOAT)
      gs_element_set(dtype, data, i, NAN);
    else if (kind == GS_KIND_COMPLEX)
      gs_element_set_complex(dtype, data, i, NAN, NAN);
    else if (kind == GS_KIND_PRED)
      gs_element_set_int(dtype, data, i, 1);
    else
      gs_element_set_int(dtype, data, i, -1);
  }
}

static void unravel(const struct gs_type *type, int64_t linear, int64_t *index)
{
  for (int i = type->rank - 1; i >= 0; i--) {
    index[i] = linear % type->dims[i];
    linear /= type->dims[i];
  }
}

/* -1 when outside. */
static int64_t ravel(const struct gs_type *type, const int64_t *index)
{
  int64_t linear = 0;
  for (int i = 0; i < type->rank; i++) {
    if (index[i] < 0 || index[i] >= type->dims[i])
      return -1;
    linear = linear * type->dims[i] + index[i];
  }
  return linear;
}

/* Where in the whole tensor element INDEX of the part at POSITION lies; -1: in the padding. */
static int64_t global_element(const struct gs_step *step, int64_t position, const int64_t *index)
{
  const struct gs_sharding *s = step->sharding;
  int64_t whole[GS_MAX_RANK];
  for (int i = 0; i < step->type.rank; i++) {
    const struct gs_dim_sharding *d = &s->dims[i];
    whole[i] = gs_mesh_part(s->mesh, d->axes, d->naxes, position) * step->type.dims[i] + index[i];
  }
  return ravel(&step->global, whole);
}

/* The whole value of a leaf; NULL: out of memory. */
static struct gs_tensor *leaf_value(const struct gs_step *step)
{
  if (step->op == GS_OP_CONSTANT)
    return gs_tensor_ref(step->attrs->constant.tensor);
  struct gs_tensor *value = gs_tensor_new(NULL, &step->global);
  if (value != NULL)
    gs_tensor_fill(value, &step->attrs->input.fill);
  return value;
}

static bool simulate_leaf(const struct simulation *s, int step_index)
{
  const struct gs_step *step = &s->program->steps[step_index];
  size_t size = gs_dtype_size(step->type.dtype);
  int64_t elements = gs_type_elements(&step->type), index[GS_MAX_RANK];
  struct gs_tensor *value = leaf_value(step);
  if (value == NULL)
    return false;
  for (int64_t p = 0; p < s->ndevices; p++) {
    for (int64_t i = 0; i < elements; i++) {
      unravel(&step->type, i, index);
      int64_t from = global_element(step, p, index);
      if (from >= 0)
        memcpy(part_of(s, step_index, p) + (size_t)i * size,
               (const char *)value->data + (size_t)from * size, size);
    }
  }
  gs_tensor_unref(value);
  return true;
}

static void simulate_iota(const struct simulation *s, int step_index)
{
  const struct gs_step *step = &s->program->steps[step_index];
  int64_t elements = gs_type_elements(&step->type), index[GS_MAX_RANK];
  for (int64_t p = 0; p < s->ndevices; p++) {
    int64_t part = gs_mesh_part(s->mesh, step->attrs->iota.axes, step->attrs->iota.naxes, p);
    for (int64_t i = 0; i < elements; i++) {
      unravel(&step->type, i, index);
      int64_t value = part * step->attrs->iota.block + index[step->attrs->iota.dim];
      gs_element_set(step->type.dtype, part_of(s, step_index, p), i, (double)value);
    }
  }
}

/* Where an element of a result comes from. */
struct origin {
  enum { FROM_PART, FROM_FILL, FROM_NOWHERE } kind;
  int operand;
  int64_t position;                    /* of the device; for reductions any of the group */
  int64_t index[GS_MAX_RANK];
};

static void exchange_origin(const struct simulation *s, const struct gs_step *step, int64_t part,
                            int64_t position, struct origin *o)
{
  int dim = step->attrs->device.dim;
  int64_t g = step->attrs->device.scale * part + step->attrs->device.offset + o->index[dim];
  o->kind = FROM_FILL;
  for (int k = 0; k < step->attrs->device.npieces; k++) {
    const struct gs_exchange_piece *piece = &step->attrs->device.pieces[k];
    int64_t past = g - piece->first;
    if (past < 0 || past >= piece->count || past % piece->divide != 0)
      continue;
    const struct gs_step *operand = &s->program->steps[step->args[piece->operand]];
    int64_t source = piece->source + past / piece->divide * piece->step;
    int64_t block = operand->type.dims[dim];
    o->kind = FROM_PART;
    o->operand = piece->operand;
    o->position = gs_mesh_with_part(s->mesh, step->attrs->device.axes, step->attrs->device.naxes,
                                    position, source / block);
    o->index[dim] = source % block;
    return;
  }
}

/* The origin of element o->index of the result at POSITION. */
static void find_origin(const struct simulation *s, const struct gs_step *step, int64_t position,
                        struct origin *o)
{
  const union gs_attrs *a = step->attrs;
  const struct gs_axis *axes = a->device.axes;
  int naxes = a->device.naxes, dim = a->device.dim, split = a->device.split_dim;
  const struct gs_type *from = &s->program->steps[step->args[0]].type;
  int64_t part = gs_mesh_part(s->mesh, axes, naxes, position), sender;
  o->kind = FROM_PART;
  o->operand = 0;
  o->position = position;
  switch (step->op) {
  case GS_OP_ALL_TO_ALL:
    o->index[split] += part * step->type.dims[split];
    /* fall through */
  case GS_OP_ALL_GATHER:
    sender = o->index[dim] / from->dims[dim];
    o->index[dim] %= from->dims[dim];
    o->position = gs_mesh_with_part(s->mesh, axes, naxes, position, sender);
    break;
  case GS_OP_REDUCE_SCATTER:
  case GS_OP_SHARD_SLICE:
    o->index[dim] += part * step->type.dims[dim];
    break;
  case GS_OP_PERMUTE:
    o->position = gs_permute_source(step, s->mesh, position);
    break;
  case GS_OP_EXCHANGE:
  case GS_OP_OWN_PART:
    exchange_origin(s, step, part, position, o);
    if (step->op == GS_OP_OWN_PART && o->position != position)
      o->kind = FROM_FILL;
    break;
  case GS_OP_MASK:
    if (part * a->device.block + o->index[dim] >= a->device.size)
      o->kind = FROM_FILL;
    break;
  case GS_OP_ZERO_PARTIAL:
    if (part != 0)
      o->kind = FROM_FILL;
    break;
  default:                             /* ALL_REDUCE */
    break;
  }
}

static double combine(enum gs_op reduce, double a, double b)
{
  switch (reduce) {
  case GS_OP_PROD:
    return a * b;
  case GS_OP_REDUCE_MAX:
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
  case GS_OP_REDUCE_MIN:
    return isnan(a) || isnan(b) ? NAN : fmin(a, b);
  case GS_OP_ALL:
    return a != 0 && b != 0;
  case GS_OP_ANY:
    return a != 0 || b != 0;
  default:
    return a + b;
  }
}

static int64_t combine_integers(enum gs_op reduce, bool is_signed, int64_t a, int64_t b)
{
  if (reduce == GS_OP_SUM)
    return (int64_t)((uint64_t)a + (uint64_t)b);
  if (reduce == GS_OP_PROD)
    return (int64_t)((uint64_t)a * (uint64_t)b);
  bool less = is_signed ? a < b : (uint64_t)a < (uint64_t)b;
  return less == (reduce == GS_OP_REDUCE_MIN) ? a : b;
}

/* Element AT of the operand reduced over the group of POSITION, into element TO of RESULT. */
static void reduce_element(const struct simulation *s, const struct gs_step *step, int64_t position,
                           int64_t at, void *result, int64_t to)
{
  const union gs_attrs *a = step->attrs;
  enum gs_dtype dtype = step->type.dtype;
  bool integers = gs_dtype_is_integer(dtype), is_signed = gs_dtype_kind(dtype) == GS_KIND_SIGNED;
  double re = 0, im = 0;
  int64_t whole = 0, members = gs_axes_size(a->device.axes, a->device.naxes);
  for (int64_t m = 0; m < members; m++) {
    int64_t p = gs_mesh_with_part(s->mesh, a->device.axes, a->device.naxes, position, m);
    const void *data = part_of(s, step->args[0], p);
    double element = gs_element_get(dtype, data, at), imag = gs_element_get_imag(dtype, data, at);
    int64_t integer = gs_element_get_int(dtype, data, at);
    re = m == 0 ? element : combine(a->device.reduce, re, element);
    im = m == 0 ? imag : im + imag;
    whole = m == 0 ? integer : combine_integers(a->device.reduce, is_signed, whole, integer);
  }
  if (integers)
    gs_element_set_int(dtype, result, to, whole);
  else if (gs_dtype_kind(dtype) == GS_KIND_COMPLEX)
    gs_element_set_complex(dtype, result, to, re, im);
  else
    gs_element_set(dtype, result, to, re);
}

static void simulate_device_step(const struct simulation *s, int step_index)
{
  const struct gs_step *step = &s->program->steps[step_index];
  bool reduces = step->op == GS_OP_ALL_REDUCE || step->op == GS_OP_REDUCE_SCATTER;
  size_t size = gs_dtype_size(step->type.dtype);
  int64_t elements = gs_type_elements(&step->type);
  for (int64_t p = 0; p < s->ndevices; p++) {
    unsigned char *result = part_of(s, step_index, p);
    for (int64_t i = 0; i < elements; i++) {
      struct origin o;
      unravel(&step->type, i, o.index);
      find_origin(s, step, p, &o);
      int64_t at = o.kind == FROM_PART
                     ? ravel(&s->program->steps[step->args[o.operand]].type, o.index) : -1;
      if (o.kind == FROM_FILL)
        gs_element_set(step->type.dtype, result, i, step->attrs->device.fill);
      else if (at >= 0 && reduces)
        reduce_element(s, step, p, at, result, i);
      else if (at >= 0)
        memcpy(result + (size_t)i * size,
               part_of(s, step->args[o.operand], o.position) + (size_t)at * size, size);
    }
  }
}

static bool simulate_local(const struct simulation *s, int step_index)
{
  enum { MOST = 16 };
  const struct gs_step *step = &s->program->steps[step_index];
  gs_reference_function *kernel = gs_reference_find(step->op);
  const struct gs_type *types[MOST];
  const void *args[MOST];
  if (kernel == NULL || step->nargs > MOST)
    return false;
  for (int64_t p = 0; p < s->ndevices; p++) {
    for (int i = 0; i < step->nargs; i++) {
      types[i] = &s->program->steps[step->args[i]].type;
      args[i] = part_of(s, step->args[i], p);
    }
    struct gs_kernel_call call = {
      .op = step->op, .attrs = step->attrs, .nargs = step->nargs, .arg_types = types, .args = args,
      .type = &step->type, .result = part_of(s, step_index, p)
    };
    kernel(&call);
  }
  return true;
}

static bool simulate_step(const struct simulation *s, int index)
{
  const struct gs_step *step = &s->program->steps[index];
  int64_t elements = gs_type_elements(&step->type), bytes = gs_type_bytes(&step->type);
  for (int64_t p = 0; p < s->ndevices; p++) {
    unsigned char *part = malloc((size_t)bytes + 1);
    s->parts[index * s->ndevices + p] = part;
    if (part == NULL)
      return false;
    poison(step->type.dtype, part, elements);
  }
  switch (gs_op_info(step->op)->group) {
  case GS_GROUP_LEAF:
    if (step->op != GS_OP_IOTA)
      return simulate_leaf(s, index);
    simulate_iota(s, index);
    return true;
  case GS_GROUP_COLLECTIVE:
  case GS_GROUP_DEVICE:
    simulate_device_step(s, index);
    return true;
  default:
    return simulate_local(s, index);
  }
}

/* The parts put together; devices that hold the same part must agree. */
static struct gs_tensor *assemble(const struct simulation *s, int step_index)
{
  const struct gs_step *step = &s->program->steps[step_index];
  size_t size = gs_dtype_size(step->type.dtype);
  int64_t elements = gs_type_elements(&step->type), index[GS_MAX_RANK];
  struct gs_tensor *whole = gs_tensor_new(NULL, &step->global);
  unsigned char *seen = calloc((size_t)gs_type_elements(&step->global) + 1, 1);
  for (int64_t p = 0; whole != NULL && seen != NULL && p < s->ndevices; p++) {
    for (int64_t i = 0; i < elements; i++) {
      unravel(&step->type, i, index);
      int64_t to = global_element(step, p, index);
      if (to < 0)
        continue;
      const unsigned char *element = part_of(s, step_index, p) + (size_t)i * size;
      unsigned char *place = (unsigned char *)whole->data + (size_t)to * size;
      if (seen[to] && memcmp(place, element, size) != 0 && s->text[0] == '\0') {
        char where[100];
        compare_index(&step->global, to, where, sizeof where);
        snprintf(s->text, s->size, "step %d: %s is not the same on all devices", step_index, where);
      }
      memcpy(place, element, size);
      seen[to] = 1;
    }
  }
  free(seen);
  return whole;
}

bool simulate_plan(const struct gs_plan *plan, struct gs_tensor **outputs, char *text, size_t size)
{
  const struct gs_program *program = plan->program;
  struct simulation s = {
    .program = program, .mesh = program->mesh, .ndevices = program->mesh->ndevices, .text = text,
    .size = size
  };
  text[0] = '\0';
  size_t nparts = (size_t)program->nsteps * (size_t)s.ndevices;
  s.parts = calloc(nparts + 1, sizeof *s.parts);
  bool good = s.parts != NULL;
  for (int i = 0; good && i < program->nsteps; i++) {
    good = simulate_step(&s, i);
    if (!good)
      snprintf(text, size, "step %d (%s) cannot be run", i, gs_op_info(program->steps[i].op)->name);
  }
  for (int i = 0; good && i < program->noutputs; i++) {
    outputs[i] = assemble(&s, program->outputs[i].step);
    good = outputs[i] != NULL && text[0] == '\0';
  }
  for (size_t i = 0; s.parts != NULL && i < nparts; i++)
    free(s.parts[i]);
  free(s.parts);
  return good;
}
