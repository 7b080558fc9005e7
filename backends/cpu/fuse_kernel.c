/* backends/cpu/fuse_kernel.c - from a group to a kernel: strides, tiles, passes, scratch memory. */
#include <config.h>

#include "backends/cpu/fuse_kernel.h"

#include <stdlib.h>
#include <string.h>

enum {
  TILE = 1024,                         /* elements that a tile should have */
  TILE_BYTES = 192 * 1024,             /* and the most that all its values may take */
  ALIGNMENT = 64
};

static bool is_reduction(enum gs_op op)
{
  return gs_op_info(op)->group == GS_GROUP_REDUCTION;
}

/* ---- Nodes ---- */

static void set_type(struct gs_fused_node *n, enum gs_dtype dtype)
{
  n->lane = gs_lane_of(dtype);
  n->size = gs_lane_size(n->lane);
  n->half = gs_lane_half(dtype);
  n->stored = (int64_t)gs_dtype_size(dtype);
}

static void make_leaf(struct gs_fused_kernel *k, const struct gs_program *program,
                      const struct gs_fused_value *v)
{
  const struct gs_type *type = &program->steps[v->step].type;
  struct gs_fused_node *n = &k->nodes[k->nnodes++];
  int64_t strides[GS_MAX_RANK];
  set_type(n, type->dtype);
  n->is_leaf = true;
  gs_type_strides(type, strides);
  for (int i = 0; i < type->rank; i++)
    if (v->map[i] >= 0 && type->dims[i] != 1)
      n->strides[(int)v->map[i]] += strides[i];
  k->leaf_steps[k->nleaves++] = v->step;
}

static void make_node(struct gs_fused_kernel *k, const struct gs_program *program,
                      const struct gs_fused_value *v, const int *node_of)
{
  const struct gs_step *step = &program->steps[v->step];
  struct gs_fused_node *n = &k->nodes[k->nnodes++];
  enum gs_dtype last = program->steps[step->args[step->nargs - 1]].type.dtype;
  set_type(n, step->type.dtype);
  n->op = v->op;
  n->from = gs_lane_of(last);
  n->nargs = v->nargs;
  for (int a = 0; a < v->nargs; a++)
    n->args[a] = node_of[v->args[a]];
  if (is_reduction(v->op))
    n->reduce = gs_fuse_reduction(v->op, last, k->sums_rows);
  else if (v->op == GS_OP_CONVERT)
    n->convert = gs_vector_conversion(n->from, n->lane);
  else
    n->apply = gs_fuse_function(v->op, last);
}

/* Leaves, then the others in the order of steps: the group has them the other way round. */
static void make_nodes(struct gs_fused_kernel *k, const struct gs_program *program,
                       const struct gs_group *group)
{
  int node_of[GS_FUSE_VALUES];
  for (int v = group->nvalues - 1; v >= 0; v--) {
    if (!group->values[v].is_leaf)
      continue;
    node_of[v] = k->nnodes;
    make_leaf(k, program, &group->values[v]);
  }
  for (int v = group->nvalues - 1; v >= 0; v--) {
    if (group->values[v].is_leaf)
      continue;
    node_of[v] = k->nnodes;
    make_node(k, program, &group->values[v], node_of);
  }
}

/* ---- The domain ---- */

static enum gs_loop_region region_of(const struct gs_domain *d, int dim)
{
  return d->split >= 0 && dim >= d->split ? GS_COLUMNS
         : d->middle >= 0 && dim >= d->middle ? GS_MIDDLE : GS_OUTER;
}

/* Whether every leaf steps through dims A and B, one after the other, as through one. */
static bool merges(const struct gs_fused_kernel *k, int a, int b, int64_t size_of_b)
{
  for (int n = 0; n < k->nleaves; n++)
    if (k->nodes[n].strides[a] != k->nodes[n].strides[b] * size_of_b)
      return false;
  return true;
}

/* Merge dims; without reductions the last of them becomes the columns. */
static void make_domain(struct gs_fused_kernel *k, const struct gs_domain *d)
{
  enum gs_loop_region regions[GS_FUSE_DIMS];
  int count = 0;
  for (int i = 0; i < d->ndims; i++) {
    enum gs_loop_region region = region_of(d, i);
    bool merge = count > 0 && regions[count - 1] == region && merges(k, count - 1, i, d->size[i]);
    int to = merge ? count - 1 : count++;
    for (int n = 0; n < k->nleaves; n++)
      k->nodes[n].strides[to] = k->nodes[n].strides[i];
    k->size[to] = merge ? k->size[to] * d->size[i] : d->size[i];
    regions[to] = region;
  }
  k->ndims = count;
  k->split = d->split >= 0 ? 0 : count > 0 ? count - 1 : 0;
  for (int i = 0; i < count && d->split >= 0; i++)
    k->split += regions[i] != GS_COLUMNS;
  k->outer = k->middle = k->columns = 1;
  for (int i = 0; i < count; i++)
    *(i >= k->split ? &k->columns : regions[i] == GS_MIDDLE ? &k->middle : &k->outer) *= k->size[i];
  for (int n = 0; n < k->nleaves; n++)
    for (int i = count; i < GS_FUSE_DIMS; i++)
      k->nodes[n].strides[i] = 0;
}

static bool is_linear(const struct gs_fused_kernel *k, const struct gs_fused_node *n)
{
  int64_t expected = 1;
  for (int i = k->ndims - 1; i >= 0; i--) {
    if (n->strides[i] != expected)
      return false;
    expected *= k->size[i];
  }
  return true;
}

/* Which nodes vary along rows, columns or both. */
static void find_extents(struct gs_fused_kernel *k, const struct gs_program *program,
                         const struct gs_group *group)
{
  const struct gs_domain *d = &group->domain;
  for (int i = 0; i < k->nleaves; i++) {
    struct gs_fused_node *n = &k->nodes[i];
    bool rows = false, columns = false;
    for (int j = 0; j < k->ndims; j++)
      *(j < k->split ? &rows : &columns) |= n->strides[j] != 0;
    n->extent = columns ? GS_FULL : rows ? GS_PER_ROW : GS_CONSTANT;
    n->linear = is_linear(k, n);
  }
  for (int v = group->nvalues - 1, node = k->nleaves; v >= 0; v--) {
    const struct gs_fused_value *value = &group->values[v];
    if (value->is_leaf)
      continue;
    struct gs_fused_node *n = &k->nodes[node++];
    bool full = d->split < 0 || d->split == d->ndims;
    for (int i = 0; i < program->steps[value->step].type.rank; i++)
      full = full || (value->map[i] >= 0 && value->map[i] >= d->split);
    n->extent = n->reduce == NULL && full ? GS_FULL : GS_PER_ROW;
  }
}

/* ---- Tiles and passes ---- */

static int64_t rounded(int64_t bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t largest_size(const struct gs_fused_kernel *k)
{
  int64_t size = 1;
  for (int i = 0; i < k->nnodes; i++)
    size = k->nodes[i].size > size ? k->nodes[i].size : size;
  return size;
}

/* Give every full node that is not a leaf in place a buffer of SLOT bytes, shared by those that are
 * not alive at once; the bytes of all are returned. */
static int64_t share_buffers(struct gs_fused_kernel *k, int64_t slot)
{
  int last[GS_FUSE_VALUES], owner[GS_FUSE_VALUES], nslots = 0;
  for (int i = 0; i < k->nnodes; i++) {
    last[i] = i;
    for (int a = 0; a < k->nodes[i].nargs; a++)
      last[k->nodes[i].args[a]] = i;
  }
  for (int i = 0; i < k->nnodes; i++) {
    if (k->nodes[i].extent != GS_FULL)
      continue;
    int s = 0;
    while (s < nslots && owner[s] >= 0 && last[owner[s]] >= i)
      s++;
    nslots += s == nslots;
    owner[s] = i;
    k->nodes[i].buffer = s * slot;
  }
  return nslots * slot;
}

/* Buffers of everything else, where per-row nodes keep theirs; the bytes of all. */
static int64_t place_rest(struct gs_fused_kernel *k, int64_t begin)
{
  int64_t at = begin, elements = k->tile_rows * k->tile_columns;
  for (int i = 0; i < k->nnodes; i++) {
    struct gs_fused_node *n = &k->nodes[i];
    if (n->extent == GS_FULL)
      continue;
    n->buffer = at;
    at += rounded(k->tile_rows * n->size);
    if (n->reduce != NULL) {
      n->sums = at;
      at += rounded((k->sums_rows ? k->tile_columns : k->tile_rows) * (int64_t)sizeof(double));
    }
  }
  k->halves = at;
  at += rounded(elements * (int64_t)sizeof(uint16_t));
  k->spread = at;
  at += rounded(elements * (int64_t)sizeof(double));
  return at;
}

static bool has_rows(const struct gs_fused_kernel *k)
{
  for (int i = k->nleaves; i < k->nnodes; i++)
    if (k->nodes[i].reduce != NULL)
      return true;
  return false;
}

/* Columns of a tile whose rows may be cut: enough tiles for all threads where that is possible. */
static int64_t cut_columns(const struct gs_fused_kernel *k)
{
  int64_t columns = k->columns < TILE ? k->columns : TILE;
  while (k->sums_rows && columns > 128 && k->outer * (k->columns / columns) < 2 * k->scratch->nthreads)
    columns = (columns + 1) / 2;
  return columns;
}

static int64_t choose_tile(struct gs_fused_kernel *k)
{
  int64_t size = largest_size(k);
  k->tile_rows = k->tile_columns = 1;
  k->npasses = 1;
  int64_t values = share_buffers(k, size);
  k->by_rows = has_rows(k) && !k->sums_rows;
  if (k->by_rows && k->columns * values <= TILE_BYTES)
    k->tile_columns = k->columns;
  else if (k->by_rows)
    k->npasses = 0;                    /* to be counted */
  if (k->tile_columns == 1)
    k->tile_columns = cut_columns(k);
  if (k->tile_columns == k->columns && k->npasses == 1)
    k->tile_rows = (TILE + k->columns - 1) / k->columns;
  else if (k->sums_rows)
    k->tile_rows = (TILE + k->tile_columns - 1) / k->tile_columns;
  int64_t rows = k->sums_rows ? k->middle : k->outer;
  k->tile_rows = k->tile_rows < rows ? k->tile_rows : rows;
  int64_t slot = rounded(k->tile_rows * k->tile_columns * size);
  return place_rest(k, share_buffers(k, slot));
}

/* In which passes each node is computed. */
static void find_passes(struct gs_fused_kernel *k)
{
  int deepest = 0;
  for (int i = 0; i < k->nnodes; i++) {
    struct gs_fused_node *n = &k->nodes[i];
    for (int a = 0; a < n->nargs; a++)
      n->depth = k->nodes[n->args[a]].depth > n->depth ? k->nodes[n->args[a]].depth : n->depth;
    n->passes = k->npasses == 1 || n->is_leaf ? 1 : (uint64_t)1 << n->depth;
    deepest = n->depth > deepest ? n->depth : deepest;
    n->depth += n->reduce != NULL;
  }
  if (k->npasses == 1)
    return;
  struct gs_fused_node *root = &k->nodes[k->nnodes - 1];
  k->npasses = deepest + 1;
  for (int i = 0; i < k->nnodes - 1; i++)
    if (k->nodes[i].extent == GS_FULL)
      k->nodes[i].passes = 0;
  root->passes = (uint64_t)1 << deepest;
  for (int i = k->nnodes - 1; i >= 0; i--)
    for (int a = 0; a < k->nodes[i].nargs; a++)
      if (k->nodes[k->nodes[i].args[a]].extent == GS_FULL)
        k->nodes[k->nodes[i].args[a]].passes |= k->nodes[i].passes;
}

/* ---- The kernel ---- */

static void run_units(const struct gs_cpu_kernel *kernel, const void *const *args, void *result,
                      int64_t begin, int64_t end, int thread)
{
  gs_fused_run((const struct gs_fused_kernel *)kernel, args, result, begin, end, thread);
}

static void run(const struct gs_cpu_kernel *kernel, const void *const *args, void *result,
                int64_t position, int thread)
{
  (void)position;
  run_units(kernel, args, result, 0, kernel->units, thread);
}

static void release(struct gs_cpu_kernel *kernel)
{
  free(kernel);
}

struct gs_cpu_kernel *gs_fused_kernel_new(const struct gs_program *program, const struct gs_group *group,
                                          struct gs_scratch *scratch)
{
  struct gs_fused_kernel *k = calloc(1, sizeof *k + (size_t)group->nvalues * sizeof *k->nodes);
  if (k == NULL)
    return NULL;
  k->sums_rows = group->domain.middle >= 0;
  k->scratch = scratch;
  make_nodes(k, program, group);
  make_domain(k, &group->domain);
  find_extents(k, program, group);
  int64_t size = choose_tile(k);
  scratch->size = size > scratch->size ? size : scratch->size;
  find_passes(k);
  k->kernel = (struct gs_cpu_kernel){ .run = run, .release = release, .run_units = run_units,
                                      .units = gs_fused_units(k), .nargs = k->nleaves,
                                      .args = k->leaf_steps };
  return &k->kernel;
}
