/* backends/device.c - steps that depend on a device's position. */
#include <config.h>

#include "backends/device.h"

#include <string.h>

#include "backends/combine.h"

/* A tensor seen along one dim: rows of INNER bytes, SIZE of them, OUTER times. */
struct rows { int64_t outer, size, inner; };

static struct rows rows_along(const struct gs_type *type, int dim)
{
  struct rows r = { 1, type->dims[dim], (int64_t)gs_dtype_size(type->dtype) };
  for (int i = 0; i < dim; i++)
    r.outer *= type->dims[i];
  for (int i = dim + 1; i < type->rank; i++)
    r.inner *= type->dims[i];
  return r;
}

/* Copy COUNT rows, from row FROM of IN to row TO of OUT, in every outer position. */
static void copy_rows(const void *in, struct rows ri, int64_t from, void *out, struct rows ro,
                      int64_t to, int64_t count)
{
  if (count <= 0 || ri.inner == 0)
    return;
  for (int64_t o = 0; o < ri.outer; o++)
    memcpy((char *)out + (o * ro.size + to) * ro.inner,
           (const char *)in + (o * ri.size + from) * ri.inner, (size_t)(count * ri.inner));
}

static int64_t smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* A box of elements of SIZE bytes that lies in two tensors, with strides in elements. */
struct box {
  int rank;
  int64_t counts[GS_MAX_RANK], from_strides[GS_MAX_RANK], to_strides[GS_MAX_RANK];
  size_t size;
};

/* Copy a box by its longest stretches that are contiguous on both sides. */
static void copy_box(const struct box *box, const char *from, char *to)
{
  int64_t run = 1, index[GS_MAX_RANK] = { 0 };
  int rank = box->rank;
  for (int i = 0; i < rank; i++)
    if (box->counts[i] <= 0)
      return;
  for (; rank > 0; rank--) {
    bool contiguous = box->from_strides[rank - 1] == run && box->to_strides[rank - 1] == run;
    if (!contiguous && box->counts[rank - 1] != 1)
      break;
    run *= box->counts[rank - 1];
  }
  for (bool more = true; more;) {
    int64_t a = 0, b = 0;
    for (int i = 0; i < rank; i++) {
      a += index[i] * box->from_strides[i];
      b += index[i] * box->to_strides[i];
    }
    memcpy(to + (size_t)b * box->size, from + (size_t)a * box->size, (size_t)run * box->size);
    more = false;
    for (int i = rank - 1; i >= 0 && !more; i--) {
      more = ++index[i] < box->counts[i];
      if (!more)
        index[i] = 0;
    }
  }
}

static const struct gs_type *operand_type(const struct gs_device_call *c, int arg)
{
  return &c->program->steps[c->step->args[arg]].type;
}

static int64_t own_part(const struct gs_device_call *c)
{
  return gs_mesh_part(c->program->mesh, c->step->attrs->device.axes, c->step->attrs->device.naxes,
                      c->position);
}

/* Operand ARG of the member of the device's group with number PART. */
static const void *member(const struct gs_device_call *c, int arg, int64_t part)
{
  return c->read(c->user, arg,
                 gs_mesh_with_part(c->program->mesh, c->step->attrs->device.axes,
                                   c->step->attrs->device.naxes, c->position, part));
}

static int64_t group_size(const struct gs_device_call *c)
{
  return gs_axes_size(c->step->attrs->device.axes, c->step->attrs->device.naxes);
}

static void shard_slice(const struct gs_device_call *c)
{
  int dim = c->step->attrs->device.dim;
  struct rows in = rows_along(operand_type(c, 0), dim), out = rows_along(&c->step->type, dim);
  int64_t from = own_part(c) * out.size;
  copy_rows(c->read(c->user, 0, c->position), in, from, c->result, out, 0,
            smaller(out.size, in.size - from));
}

static void all_gather(const struct gs_device_call *c)
{
  int dim = c->step->attrs->device.dim;
  struct rows in = rows_along(operand_type(c, 0), dim), out = rows_along(&c->step->type, dim);
  int64_t n = group_size(c);
  for (int64_t part = 0; part < n && part * in.size < out.size; part++)
    copy_rows(member(c, 0, part), in, 0, c->result, out, part * in.size,
              smaller(in.size, out.size - part * in.size));
}

static void all_to_all(const struct gs_device_call *c)
{
  int dim = c->step->attrs->device.dim, split = c->step->attrs->device.split_dim;
  const struct gs_type *type = operand_type(c, 0), *result = &c->step->type;
  struct box box = { .rank = type->rank, .size = gs_dtype_size(type->dtype) };
  int64_t from = own_part(c) * result->dims[split];
  memcpy(box.counts, type->dims, sizeof box.counts);
  gs_type_strides(type, box.from_strides);
  gs_type_strides(result, box.to_strides);
  box.counts[split] = smaller(result->dims[split], type->dims[split] - from);
  if (box.counts[split] <= 0)
    return;
  int64_t n = group_size(c);
  for (int64_t part = 0; part < n && part * type->dims[dim] < result->dims[dim]; part++) {
    int64_t to = part * type->dims[dim];
    box.counts[dim] = smaller(type->dims[dim], result->dims[dim] - to);
    copy_box(&box,
             (const char *)member(c, 0, part) + (size_t)(from * box.from_strides[split]) * box.size,
             (char *)c->result + (size_t)(to * box.to_strides[dim]) * box.size);
  }
}

/* The operands of a group's members, looked up once. */
struct members { const struct gs_device_call *call; const void *first[64]; };

static const void *partial_value(const void *user, int64_t number)
{
  const struct members *m = user;
  return number < (int64_t)(sizeof m->first / sizeof *m->first) ? m->first[number]
                                                                : member(m->call, 0, number);
}

static struct gs_partials find_partials(const struct gs_device_call *c, struct members *m)
{
  int64_t n = group_size(c);
  m->call = c;
  for (int64_t i = 0; i < n && i < (int64_t)(sizeof m->first / sizeof *m->first); i++)
    m->first[i] = member(c, 0, i);
  return (struct gs_partials){ c->step->attrs->device.reduce, c->step->type.dtype, n, partial_value,
                               m };
}

/* In shares a member computes elements [part*L, (part+1)*L) of the flat result, L a multiple of a
 * cache line so that no two write to the same. */
static void all_reduce(const struct gs_device_call *c)
{
  enum { LINE = 64 };
  struct members m;
  struct gs_partials partials = find_partials(c, &m);
  int64_t elements = gs_type_elements(&c->step->type), n = partials.count, mine = own_part(c);
  size_t size = gs_dtype_size(c->step->type.dtype);
  int64_t share = ((elements + n - 1) / n + LINE - 1) / LINE * LINE;
  if (c->phase == GS_DEVICE_WHOLE)
    gs_combine(&partials, 0, c->result, elements);
  if (c->phase == GS_DEVICE_SHARE && mine * share < elements)
    gs_combine(&partials, mine * share, (char *)c->result + (size_t)(mine * share) * size,
               smaller(share, elements - mine * share));
  for (int64_t part = 0; c->phase == GS_DEVICE_COLLECT && part < n && part * share < elements;
       part++)
    if (part != mine)
      memcpy((char *)c->result + (size_t)(part * share) * size,
             (const char *)member(c, GS_DEVICE_RESULT, part) + (size_t)(part * share) * size,
             (size_t)smaller(share, elements - part * share) * size);
}

static void reduce_scatter(const struct gs_device_call *c)
{
  int dim = c->step->attrs->device.dim;
  struct rows in = rows_along(operand_type(c, 0), dim), out = rows_along(&c->step->type, dim);
  int64_t from = own_part(c) * out.size, count = smaller(out.size, in.size - from);
  if (count <= 0 || out.inner == 0)
    return;
  struct members m;
  struct gs_partials partials = find_partials(c, &m);
  int64_t inner = out.inner / (int64_t)gs_dtype_size(c->step->type.dtype);
  for (int64_t o = 0; o < out.outer; o++)
    gs_combine(&partials, (o * in.size + from) * inner,
               (char *)c->result + o * out.size * out.inner, count * inner);
}

static void permute(const struct gs_device_call *c)
{
  int64_t source = gs_permute_source(c->step, c->program->mesh, c->position);
  size_t bytes = (size_t)gs_type_bytes(&c->step->type);
  if (bytes > 0)
    memcpy(c->result, c->read(c->user, 0, source), bytes);
}

/* COUNT copies of the SIZE bytes at TO, the first being there already: twice as many at a time. */
static void repeat(char *to, size_t size, int64_t count)
{
  for (int64_t done = 1; done < count; done *= 2)
    memcpy(to + (size_t)done * size, to, (size_t)smaller(done, count - done) * size);
}

static void fill(char *to, const void *value, size_t size, int64_t count)
{
  if (count > 0)
    memcpy(to, value, size);
  repeat(to, size, count);
}

static void fill_row(const struct gs_device_call *c, struct rows out, int64_t row,
                     const void *value)
{
  size_t size = gs_dtype_size(c->step->type.dtype);
  for (int64_t o = 0; o < out.outer; o++)
    fill((char *)c->result + (o * out.size + row) * out.inner, value, size,
         out.inner / (int64_t)size);
}

/* Where global result position G comes from: the piece and source position, or false for none. */
static bool find_source(const struct gs_step *step, int64_t g, int *operand, int64_t *source)
{
  for (int k = 0; k < step->attrs->device.npieces; k++) {
    const struct gs_exchange_piece *p = &step->attrs->device.pieces[k];
    if (g < p->first || g >= p->first + p->count || (g - p->first) % p->divide != 0)
      continue;
    *operand = p->operand;
    *source = p->source + (g - p->first) / p->divide * p->step;
    return true;
  }
  return false;
}

/* EXCHANGE, and with OWN only what the device itself holds. */
static void exchange(const struct gs_device_call *c, bool own)
{
  int dim = c->step->attrs->device.dim;
  struct rows out = rows_along(&c->step->type, dim);
  int64_t mine = own_part(c),
          start = c->step->attrs->device.scale * mine + c->step->attrs->device.offset;
  char value[16];
  gs_element_set(c->step->type.dtype, value, 0, c->step->attrs->device.fill);
  for (int64_t j = 0; j < out.size;) {
    int operand;
    int64_t source, run = 1;
    if (!find_source(c->step, start + j, &operand, &source)) {
      fill_row(c, out, j++, value);
      continue;
    }
    struct rows in = rows_along(operand_type(c, operand), dim);
    int64_t part = source / in.size, next;
    int other;
    while (j + run < out.size && (source + run) / in.size == part
           && find_source(c->step, start + j + run, &other, &next) && other == operand
           && next == source + run)
      run++;
    if (own && part != mine)
      for (int64_t r = 0; r < run; r++)
        fill_row(c, out, j + r, value);
    else
      copy_rows(member(c, operand, part), in, source % in.size, c->result, out, j, run);
    j += run;
  }
}

static void mask(const struct gs_device_call *c)
{
  int dim = c->step->attrs->device.dim;
  struct rows out = rows_along(&c->step->type, dim);
  int64_t valid = c->step->attrs->device.size - own_part(c) * c->step->attrs->device.block;
  const void *in = c->read(c->user, 0, c->position);
  char value[16];
  valid = valid < 0 ? 0 : smaller(valid, out.size);
  if (in != c->result)
    copy_rows(in, out, 0, c->result, out, 0, valid);
  gs_element_set(c->step->type.dtype, value, 0, c->step->attrs->device.fill);
  for (int64_t j = valid; j < out.size; j++)
    fill_row(c, out, j, value);
}

static void zero_partial(const struct gs_device_call *c)
{
  int64_t bytes = gs_type_bytes(&c->step->type);
  size_t size = gs_dtype_size(c->step->type.dtype);
  char value[16];
  gs_element_set(c->step->type.dtype, value, 0, c->step->attrs->device.fill);
  if (own_part(c) != 0)
    fill(c->result, value, size, bytes / (int64_t)size);
  else if (bytes > 0)
    memcpy(c->result, c->read(c->user, 0, c->position), (size_t)bytes);
}

static void iota(const struct gs_device_call *c)
{
  const struct gs_type *type = &c->step->type;
  const union gs_attrs *attrs = c->step->attrs;
  struct rows out = rows_along(type, attrs->iota.dim);
  int64_t start = gs_mesh_part(c->program->mesh, attrs->iota.axes, attrs->iota.naxes, c->position)
                  * attrs->iota.block;
  size_t size = gs_dtype_size(type->dtype), slab = (size_t)(out.size * out.inner);
  char value[16], *to = c->result;
  if (slab == 0)
    return;
  for (int64_t j = 0; j < out.size && out.outer > 0; j++) {
    if (gs_dtype_is_integer(type->dtype))
      gs_element_set_int(type->dtype, value, 0, start + j);
    else
      gs_element_set(type->dtype, value, 0, (double)(start + j));
    fill(to + j * out.inner, value, size, out.inner / (int64_t)size);
  }
  repeat(to, slab, out.outer);
}

bool gs_device_is_shared(const struct gs_step *step)
{
  return step->op == GS_OP_ALL_REDUCE;
}

bool gs_device_handles(enum gs_op op)
{
  enum gs_op_group group = gs_op_info(op)->group;
  return group == GS_GROUP_COLLECTIVE || group == GS_GROUP_DEVICE || op == GS_OP_IOTA;
}

void gs_device_run(const struct gs_device_call *c)
{
  switch (c->step->op) {
  case GS_OP_ALL_GATHER: all_gather(c); break;
  case GS_OP_ALL_REDUCE: all_reduce(c); break;
  case GS_OP_REDUCE_SCATTER: reduce_scatter(c); break;
  case GS_OP_ALL_TO_ALL: all_to_all(c); break;
  case GS_OP_PERMUTE: permute(c); break;
  case GS_OP_EXCHANGE: exchange(c, false); break;
  case GS_OP_OWN_PART: exchange(c, true); break;
  case GS_OP_SHARD_SLICE: shard_slice(c); break;
  case GS_OP_MASK: mask(c); break;
  case GS_OP_ZERO_PARTIAL: zero_partial(c); break;
  case GS_OP_IOTA: iota(c); break;
  default: break;
  }
}

void gs_device_place(const struct gs_step *step, int64_t position, int64_t *begin, int64_t *size)
{
  for (int i = 0; i < step->global.rank; i++) {
    int64_t end;
    gs_sharding_range(step->sharding, i, step->global.dims[i], position, &begin[i], &end);
    size[i] = step->global.dims[i];
  }
}

/* Copy the box that the device's part covers between WHOLE and LOCAL. */
static void copy_part(const struct gs_step *step, int64_t position, char *whole, char *local,
                      bool cut)
{
  const struct gs_type *global = &step->global, *type = &step->type;
  struct box box = { .rank = type->rank, .size = gs_dtype_size(type->dtype) };
  int64_t whole_strides[GS_MAX_RANK], local_strides[GS_MAX_RANK], at = 0;
  gs_type_strides(global, whole_strides);
  gs_type_strides(type, local_strides);
  for (int i = 0; i < type->rank; i++) {
    int64_t begin, end;
    gs_sharding_range(step->sharding, i, global->dims[i], position, &begin, &end);
    box.counts[i] = end - begin;
    if (end <= begin)
      return;
    at += begin * whole_strides[i];
  }
  memcpy(box.from_strides, cut ? whole_strides : local_strides, sizeof box.from_strides);
  memcpy(box.to_strides, cut ? local_strides : whole_strides, sizeof box.to_strides);
  whole += (size_t)at * box.size;
  copy_box(&box, cut ? whole : local, cut ? local : whole);
}

void gs_device_cut(const struct gs_step *step, int64_t position, const void *whole, void *local)
{
  copy_part(step, position, (char *)(uintptr_t)whole, local, true);
}

void gs_device_paste(const struct gs_step *step, int64_t position, const void *local, void *whole)
{
  copy_part(step, position, whole, (char *)(uintptr_t)local, false);
}

bool gs_device_is_first_holder(const struct gs_program *program, const struct gs_sharding *sharding,
                               int64_t position)
{
  int64_t first = 0;
  for (int i = 0; i < sharding->rank; i++)
    first = gs_mesh_with_part(program->mesh, sharding->dims[i].axes, sharding->dims[i].naxes, first,
                              gs_mesh_part(program->mesh, sharding->dims[i].axes,
                                           sharding->dims[i].naxes, position));
  return first == position;
}
