/* partition/emit_steps.c - single steps, for all emission. */
#include <config.h>

#include "partition/form.h"

#include <math.h>
#include <string.h>

union gs_attrs *gs_emit_attrs(struct gs_emitter *e)
{
  union gs_attrs *attrs = GS_NEW(e->b.arena, union gs_attrs);
  if (attrs == NULL)
    e->b.failed = true;
  return attrs;
}

int gs_emit_add(struct gs_emitter *e, enum gs_op op, const int *args, int nargs, const union gs_attrs *attrs,
               const struct gs_type *global, const struct gs_sharding *sharding,
               const struct gs_node *node)
{
  struct gs_step step = { .op = op, .nargs = nargs, .args = args, .attrs = attrs, .global = *global,
                          .sharding = sharding, .node = node };
  if (sharding == NULL) {
    e->b.failed = true;
    return 0;
  }
  step.type = gs_sharding_local(sharding, global);
  return gs_builder_add(&e->b, &step);
}

double gs_emit_identity(enum gs_op reduce, enum gs_dtype dtype)
{
  bool floating = gs_dtype_kind(dtype) == GS_KIND_FLOAT;
  double bits = 8 * (double)gs_dtype_size(dtype);
  switch (reduce) {
  case GS_OP_PROD: case GS_OP_ALL: return 1;
  case GS_OP_REDUCE_MAX: case GS_OP_ARGMAX:
    return floating ? -INFINITY : gs_dtype_kind(dtype) == GS_KIND_SIGNED ? -exp2(bits - 1) : 0;
  case GS_OP_REDUCE_MIN: case GS_OP_ARGMIN:
    return floating ? INFINITY : gs_dtype_kind(dtype) == GS_KIND_SIGNED ? exp2(bits - 1) : exp2(bits);
  default: return 0;
  }
}

int gs_emit_mask(struct gs_emitter *e, int step, int i, enum gs_op reduce, const struct gs_node *node)
{
  return gs_emit_fill_padding(e, step, i, gs_emit_identity(reduce, e->b.steps[step].type.dtype), node);
}

int gs_emit_fill_padding(struct gs_emitter *e, int step, int i, double fill, const struct gs_node *node)
{
  const struct gs_step s = e->b.steps[step];
  int64_t size = s.global.dims[i], block = gs_sharding_block(s.sharding, i, size);
  if (block * gs_sharding_parts(s.sharding, i) == size)
    return step;
  union gs_attrs *attrs = gs_emit_attrs(e);
  if (attrs == NULL)
    return step;
  attrs->device.dim = i;
  attrs->device.naxes = s.sharding->dims[i].naxes;
  attrs->device.axes = s.sharding->dims[i].axes;
  attrs->device.block = block;
  attrs->device.size = size;
  attrs->device.fill = fill;
  return gs_emit_add(e, GS_OP_MASK, &step, 1, attrs, &s.global, s.sharding, node);
}

const struct gs_sharding *gs_emit_with_dim(struct gs_emitter *e, const struct gs_sharding *sh, int i,
                                          const struct gs_sharding *from)
{
  struct gs_dim_sharding dims[GS_MAX_RANK];
  memcpy(dims, sh->dims, (size_t)sh->rank * sizeof dims[0]);
  dims[i] = from->dims[i];
  return gs_sharding_make(e->r->table, sh->mesh, sh->rank, dims, sh->partial, sh->npartial,
                          sh->partial_kind);
}

int gs_emit_reduce(struct gs_emitter *e, enum gs_op op, int arg, int dim, bool keep,
                      const struct gs_type *global, const struct gs_sharding *sh,
                      const struct gs_node *node)
{
  union gs_attrs *attrs = gs_emit_attrs(e);
  if (attrs == NULL)
    return arg;
  attrs->reduce.dims = 1u << dim;
  attrs->reduce.keep = keep;
  return gs_emit_add(e, op, &arg, 1, attrs, global, sh, node);
}

int gs_emit_iota(struct gs_emitter *e, int dim, const struct gs_dim_sharding *cut, int64_t block,
                    const struct gs_type *global, const struct gs_sharding *sh,
                    const struct gs_node *node)
{
  union gs_attrs *attrs = gs_emit_attrs(e);
  if (attrs == NULL)
    return 0;
  attrs->iota.dim = dim;
  if (cut != NULL) {
    attrs->iota.naxes = cut->naxes;
    attrs->iota.axes = cut->axes;
    attrs->iota.block = block;
  }
  return gs_emit_add(e, GS_OP_IOTA, NULL, 0, attrs, global, sh, node);
}

int gs_emit_gather(struct gs_emitter *e, int arg, int dim, const struct gs_dim_sharding *cut,
                   const struct gs_type *global, const struct gs_sharding *sh,
                   const struct gs_node *node, const char *reason)
{
  union gs_attrs *attrs = gs_emit_attrs(e);
  if (attrs == NULL)
    return arg;
  attrs->device.dim = dim;
  attrs->device.naxes = cut->naxes;
  attrs->device.axes = cut->axes;
  int made = gs_emit_add(e, GS_OP_ALL_GATHER, &arg, 1, attrs, global, sh, node);
  e->b.steps[made].reason = reason;
  return made;
}

int gs_emit_slice(struct gs_emitter *e, int arg, int dim, int64_t begin,
                  const struct gs_type *global, const struct gs_sharding *sharding,
                  const struct gs_node *node)
{
  union gs_attrs *attrs = gs_emit_attrs(e);
  if (attrs == NULL)
    return arg;
  for (int i = 0; i < global->rank; i++)
    attrs->slice.stride[i] = 1;
  attrs->slice.start[dim] = begin;
  return gs_emit_add(e, GS_OP_SLICE, &arg, 1, attrs, global, sharding, node);
}

int gs_emit_number(struct gs_emitter *e, double value, const struct gs_node *node)
{
  enum { ALIGNMENT = 64 };
  struct gs_type scalar = { .dtype = GS_DTYPE_F64 };
  union gs_attrs *attrs = gs_emit_attrs(e);
  struct gs_tensor *tensor = GS_NEW(e->b.arena, struct gs_tensor);
  char *data = GS_NEW_ARRAY(e->b.arena, char, ALIGNMENT + sizeof value);
  if (attrs == NULL || tensor == NULL || data == NULL) {
    e->b.failed = true;
    return 0;
  }
  data += (ALIGNMENT - (uintptr_t)data % ALIGNMENT) % ALIGNMENT;
  gs_element_set(scalar.dtype, data, 0, value);
  tensor->type = scalar;
  tensor->data = data;
  tensor->references = 1;              /* the arena's, which never drops it */
  attrs->constant.tensor = tensor;
  return gs_emit_add(e, GS_OP_CONSTANT, NULL, 0, attrs, &scalar, gs_emit_scalar(e, node), node);
}

const struct gs_sharding *gs_emit_scalar(struct gs_emitter *e, const struct gs_node *node)
{
  return gs_sharding_replicated(e->r->table, e->r->meshes[node->id], 0);
}

int gs_emit_part(struct gs_emitter *e, const struct gs_axis *axes, int naxes, const struct gs_mesh *mesh,
                 const struct gs_node *node)
{
  struct gs_dim_sharding cut = { .naxes = naxes, .axes = axes };
  struct gs_type parts = { .dtype = GS_DTYPE_S32, .rank = 1, .dims = { gs_axes_size(axes, naxes) } };
  struct gs_type scalar = { .dtype = GS_DTYPE_S32 };
  const struct gs_sharding *along = gs_sharding_make(e->r->table, mesh, 1, &cut, NULL, 0, GS_OP_SUM);
  int part = gs_emit_iota(e, 0, along == NULL ? &cut : &along->dims[0], 1, &parts, along, node);
  return gs_emit_add(e, GS_OP_RESHAPE, &part, 1, NULL, &scalar, gs_sharding_replicated(e->r->table, mesh, 0),
                     node);
}
