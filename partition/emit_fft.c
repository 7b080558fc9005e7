/* partition/emit_fft.c - Fourier transforms along a cut dim, in four steps instead of a gather.
 *
 * N = P L numbers in P parts are a matrix of P rows.  Transformed are its columns, which come together by an
 * all-to-all, then, turned by exp(-2 pi i row column / N), its rows, after a second one; element (r, c) of what
 * that gives is number c P + r of the result, so a third one brings each device its part (D. Bailey, "FFTs in
 * external or hierarchical memory", 1990).  L has to divide into P.
 */
#include <config.h>

#include "partition/form.h"

#include <string.h>

static const double pi = 3.14159265358979323846;

double gs_bytes_fft(const struct gs_form_query *q)
{
  const struct gs_node *node = q->node;
  int dim = node->attrs->fft.dim;
  const struct gs_type *x = &node->args[0]->type;
  int64_t parts = gs_sharding_parts(q->produced, dim), n = x->dims[dim];
  if (parts == 1)
    return 0;
  if (n % parts != 0 || n / parts % parts != 0 || x->rank == GS_MAX_RANK)
    return -1;
  struct gs_type in = gs_sharding_local(q->required[0], x), out = gs_sharding_local(q->produced, &node->type);
  return (double)(parts - 1) / (double)parts * ((double)gs_type_bytes(&in) + 2 * (double)gs_type_bytes(&out));
}

/* The transform of NODE with its cut dim as dims DIM and DIM + 1: rows and columns. */
struct matrix {
  struct gs_emitter *e;
  const struct gs_node *node;
  int dim;
  struct gs_type type;                 /* of the whole, PARTS rows */
  const struct gs_sharding *by_row, *by_column;
};

/* SHARDING of the transformed value with its cut dim as two, of which number CUT (0 or 1) is cut. */
static const struct gs_sharding *split(struct gs_emitter *e, const struct gs_sharding *sharding, int dim, int cut)
{
  struct gs_dim_sharding dims[GS_MAX_RANK];
  memset(dims, 0, sizeof dims);
  for (int i = 0; i < sharding->rank; i++)
    if (i != dim)
      dims[i < dim ? i : i + 1] = sharding->dims[i];
  dims[dim + cut] = sharding->dims[dim];
  return gs_sharding_make(e->r->table, sharding->mesh, sharding->rank + 1, dims, sharding->partial,
                          sharding->npartial, sharding->partial_kind);
}

/* What is cut by rows cut by columns, or the other way. */
static int turn(const struct matrix *m, int arg, bool by_row, const struct gs_type *type)
{
  static const char reason[] = "the transform's columns come together, then its rows, then each part";
  struct gs_emitter *e = m->e;
  union gs_attrs *attrs = gs_emit_attrs(e);
  const struct gs_dim_sharding *cut = &m->by_row->dims[m->dim];
  if (attrs == NULL)
    return arg;
  attrs->device.dim = by_row ? m->dim + 1 : m->dim;
  attrs->device.split_dim = by_row ? m->dim : m->dim + 1;
  attrs->device.naxes = cut->naxes;
  attrs->device.axes = cut->axes;
  int made = gs_emit_add(e, GS_OP_ALL_TO_ALL, &arg, 1, attrs, type, by_row ? m->by_row : m->by_column, m->node);
  e->b.steps[made].reason = reason;
  return made;
}

static int transform(const struct matrix *m, int arg, int dim, const struct gs_sharding *sharding)
{
  union gs_attrs *attrs = gs_emit_attrs(m->e);
  if (attrs == NULL)
    return arg;
  attrs->fft.kind = m->node->attrs->fft.kind;
  attrs->fft.dim = dim;
  attrs->fft.size = m->type.dims[dim];
  return gs_emit_add(m->e, GS_OP_FFT, &arg, 1, attrs, &m->type, sharding, m->node);
}

/* Roots of unity for a device's columns, as large as the matrix. */
static int roots(const struct matrix *m)
{
  struct gs_emitter *e = m->e;
  const struct gs_dim_sharding dims[2] = { { .naxes = 0 }, m->by_column->dims[m->dim + 1] };
  const struct gs_sharding *sharding =
      gs_sharding_make(e->r->table, m->by_column->mesh, 2, dims, NULL, 0, GS_OP_SUM);
  int64_t rows = m->type.dims[m->dim], columns = m->type.dims[m->dim + 1];
  struct gs_type type = { .dtype = GS_DTYPE_S64, .rank = 2, .dims = { rows, columns } };
  double sign = m->node->attrs->fft.kind == GS_IFFT ? 2 : -2;
  union gs_attrs *spread = gs_emit_attrs(e);
  if (sharding == NULL || spread == NULL) {
    e->b.failed = true;
    return 0;
  }
  int row = gs_emit_iota(e, 0, NULL, 0, &type, sharding, m->node);
  int column = gs_emit_iota(e, 1, &sharding->dims[1], columns / gs_sharding_parts(sharding, 1), &type, sharding,
                            m->node);
  int product = gs_emit_add(e, GS_OP_MUL, (int[]){ row, column }, 2, NULL, &type, sharding, m->node);
  type.dtype = GS_DTYPE_F64;
  int angle = gs_emit_add(e, GS_OP_CONVERT, &product, 1, NULL, &type, sharding, m->node);
  int unit = gs_emit_number(e, sign * pi / ((double)rows * (double)columns), m->node);
  angle = gs_emit_add(e, GS_OP_MUL, (int[]){ angle, unit }, 2, NULL, &type, sharding, m->node);
  int parts[2] = { gs_emit_add(e, GS_OP_COS, &angle, 1, NULL, &type, sharding, m->node),
                   gs_emit_add(e, GS_OP_SIN, &angle, 1, NULL, &type, sharding, m->node) };
  type.dtype = m->type.dtype == GS_DTYPE_C64 ? GS_DTYPE_F32 : GS_DTYPE_F64;
  for (int k = 0; k < 2 && type.dtype == GS_DTYPE_F32; k++)
    parts[k] = gs_emit_add(e, GS_OP_CONVERT, &parts[k], 1, NULL, &type, sharding, m->node);
  type.dtype = m->type.dtype;
  int root = gs_emit_add(e, GS_OP_COMPLEX, parts, 2, NULL, &type, sharding, m->node);
  spread->broadcast.dims[0] = m->dim;
  spread->broadcast.dims[1] = m->dim + 1;
  return gs_emit_add(e, GS_OP_BROADCAST, &root, 1, spread, &m->type, m->by_column, m->node);
}

/* Rows and columns change places, and are one dim again. */
static int join(const struct matrix *m, int arg, const struct gs_sharding *produced)
{
  union gs_attrs *attrs = gs_emit_attrs(m->e);
  struct gs_type type = m->type;
  if (attrs == NULL)
    return arg;
  for (int i = 0; i < type.rank; i++)
    attrs->transpose.dims[i] = i == m->dim ? i + 1 : i == m->dim + 1 ? i - 1 : i;
  type.dims[m->dim] = m->type.dims[m->dim + 1];
  type.dims[m->dim + 1] = m->type.dims[m->dim];
  arg = gs_emit_add(m->e, GS_OP_TRANSPOSE, &arg, 1, attrs, &type, m->by_row, m->node);
  return gs_emit_add(m->e, GS_OP_RESHAPE, &arg, 1, NULL, &m->node->type, produced, m->node);
}

int gs_emit_fft(struct gs_emitter *e, const struct gs_node *node, int *args, const struct gs_strategy *strategy)
{
  const struct gs_sharding *produced = strategy->produced;
  struct matrix m = { .e = e, .node = node, .dim = node->attrs->fft.dim, .type = node->type };
  if (produced->dims[m.dim].naxes == 0)
    return gs_emit_plain(e, node, args, strategy);
  m.by_row = split(e, produced, m.dim, 0);
  m.by_column = split(e, produced, m.dim, 1);
  if (m.by_row == NULL || m.by_column == NULL) {
    e->b.failed = true;
    return args[0];
  }
  int64_t parts = gs_sharding_parts(produced, m.dim);
  m.type.rank++;
  memmove(m.type.dims + m.dim + 1, m.type.dims + m.dim, (size_t)(node->type.rank - m.dim) * sizeof *m.type.dims);
  m.type.dims[m.dim] = parts;
  m.type.dims[m.dim + 1] /= parts;
  struct gs_type in = m.type;
  in.dtype = node->args[0]->type.dtype;
  int value = gs_emit_add(e, GS_OP_RESHAPE, &args[0], 1, NULL, &in, m.by_row, node);
  value = transform(&m, turn(&m, value, false, &in), m.dim, m.by_column);
  value = gs_emit_add(e, GS_OP_MUL, (int[]){ value, roots(&m) }, 2, NULL, &m.type, m.by_column, node);
  value = transform(&m, turn(&m, value, true, &m.type), m.dim + 1, m.by_row);
  return join(&m, turn(&m, value, false, &m.type), produced);
}
