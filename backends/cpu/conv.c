/* backends/cpu/conv.c - convolutions by oneDNN.
 *
 * Layouts are strides of memory descriptors.  The weights are brought into the order that the primitive
 * likes, and so are input and result where it has nothing fast for theirs.  What oneDNN does not know
 * (gaps between elements, turned kernels, batch groups, other element types) is left to the reference
 * function.
 */
#include <config.h>

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/kernel.h"

enum { SOURCE, WEIGHTS, RESULT, ROLES, MOST_SPATIAL = 3 };

/* Memory of one thread: as the caller has it, as the primitive wants it, and what it works in. */
struct memory {
  dnnl_memory_t plain[ROLES], own[ROLES], scratch;     /* own is plain where nothing is reordered */
  void *buffers[ROLES], *scratch_buffer;
};

struct conv {
  struct gs_cpu_kernel kernel;
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_t primitive, reorders[ROLES];
  dnnl_memory_desc_t plain[ROLES], own[ROLES], scratch;
  bool reordered[ROLES];
  int64_t offset;                      /* floats of the input that negative padding cuts in front */
  struct memory *memory;               /* by thread */
  int nthreads, omp_threads;
};

/* The problem in oneDNN's terms: dims [N, C, space], [groups,] [O, I, space]. */
struct problem {
  int nspatial;
  dnnl_dims_t dims[ROLES], strides[ROLES], stride, dilate, low, high;
  int ndims[ROLES];
  int64_t offset;
};

static bool describe_space(const struct gs_conv *c, const int64_t *in_strides, struct problem *p)
{
  for (int k = 0; k < c->nspatial; k++) {
    const struct gs_window *w = &c->windows[k];
    int64_t low = w->low, high = w->high, *size = &p->dims[SOURCE][2 + k];
    if (w->base_dilate != 1)
      return false;
    if (low < 0) {
      p->offset += -low * in_strides[(int)c->spatial[k]];
      *size += low;
      low = 0;
    }
    if (high < 0) {
      *size += high;
      high = 0;
    }
    if (*size <= 0)
      return false;
    p->stride[k] = w->stride;
    p->dilate[k] = w->dilate - 1;
    p->low[k] = low;
    p->high[k] = high;
  }
  return true;
}

static bool describe(const struct gs_step *step, const struct gs_type *x, const struct gs_type *k,
                     struct problem *p)
{
  const struct gs_conv *c = step->attrs->conv.conv;
  int64_t in[GS_MAX_RANK], kernel[GS_MAX_RANK], out[GS_MAX_RANK];
  if (c->nspatial < 1 || c->nspatial > MOST_SPATIAL || c->reversed != 0 || c->batch_groups > 1)
    return false;
  memset(p, 0, sizeof *p);
  gs_type_strides(x, in);
  gs_type_strides(k, kernel);
  gs_type_strides(&step->type, out);
  bool grouped = c->groups > 1;
  int64_t outs = k->dims[(int)c->kernel_out] / c->groups;
  p->nspatial = c->nspatial;
  p->ndims[SOURCE] = p->ndims[RESULT] = 2 + c->nspatial;
  p->ndims[WEIGHTS] = 2 + c->nspatial + grouped;
  p->dims[SOURCE][0] = x->dims[(int)c->batch];
  p->dims[SOURCE][1] = x->dims[(int)c->feature];
  p->strides[SOURCE][0] = in[(int)c->batch];
  p->strides[SOURCE][1] = in[(int)c->feature];
  p->dims[RESULT][0] = step->type.dims[(int)c->out_batch];
  p->dims[RESULT][1] = step->type.dims[(int)c->out_feature];
  p->strides[RESULT][0] = out[(int)c->out_batch];
  p->strides[RESULT][1] = out[(int)c->out_feature];
  if (grouped) {
    p->dims[WEIGHTS][0] = c->groups;
    p->strides[WEIGHTS][0] = outs * kernel[(int)c->kernel_out];
  }
  p->dims[WEIGHTS][grouped] = outs;
  p->strides[WEIGHTS][grouped] = kernel[(int)c->kernel_out];
  p->dims[WEIGHTS][grouped + 1] = k->dims[(int)c->kernel_in];
  p->strides[WEIGHTS][grouped + 1] = kernel[(int)c->kernel_in];
  for (int i = 0; i < c->nspatial; i++) {
    p->dims[SOURCE][2 + i] = x->dims[(int)c->spatial[i]];
    p->strides[SOURCE][2 + i] = in[(int)c->spatial[i]];
    p->dims[RESULT][2 + i] = step->type.dims[(int)c->out_spatial[i]];
    p->strides[RESULT][2 + i] = out[(int)c->out_spatial[i]];
    p->dims[WEIGHTS][grouped + 2 + i] = k->dims[(int)c->kernel_spatial[i]];
    p->strides[WEIGHTS][grouped + 2 + i] = kernel[(int)c->kernel_spatial[i]];
  }
  return describe_space(c, in, p);
}

/* A descriptor of the problem's own order, or of any that the primitive may choose. */
static bool describe_memory(const struct problem *p, int role, bool any, dnnl_memory_desc_t *desc)
{
#if DNNL_VERSION_MAJOR >= 3
  return any ? dnnl_memory_desc_create_with_tag(desc, p->ndims[role], p->dims[role], dnnl_f32, dnnl_format_tag_any)
                   == dnnl_success
             : dnnl_memory_desc_create_with_strides(desc, p->ndims[role], p->dims[role], dnnl_f32, p->strides[role])
                   == dnnl_success;
#else
  return any ? dnnl_memory_desc_init_by_tag(desc, p->ndims[role], p->dims[role], dnnl_f32, dnnl_format_tag_any)
                   == dnnl_success
             : dnnl_memory_desc_init_by_strides(desc, p->ndims[role], p->dims[role], dnnl_f32, p->strides[role])
                   == dnnl_success;
#endif
}

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t memory_desc_in;
#define DESC(d) (d)
#else
typedef const dnnl_memory_desc_t *memory_desc_in;
#define DESC(d) (&(d))
#endif

static dnnl_primitive_desc_t make_description(const struct conv *v, const struct problem *p,
                                              const dnnl_memory_desc_t *wanted, dnnl_primitive_attr_t attr)
{
  dnnl_primitive_desc_t pd = NULL;
#if DNNL_VERSION_MAJOR >= 3
  dnnl_status_t status = dnnl_convolution_forward_primitive_desc_create(
      &pd, v->engine, dnnl_forward_inference, dnnl_convolution_direct, wanted[SOURCE], wanted[WEIGHTS], NULL,
      wanted[RESULT], p->stride, p->dilate, p->low, p->high, attr);
#else
  dnnl_convolution_desc_t desc;
  dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(
      &desc, dnnl_forward_inference, dnnl_convolution_direct, &wanted[SOURCE], &wanted[WEIGHTS], NULL,
      &wanted[RESULT], p->stride, p->dilate, p->low, p->high);
  if (status == dnnl_success)
    status = dnnl_primitive_desc_create(&pd, &desc, attr, v->engine, NULL);
#endif
  return status == dnnl_success ? pd : NULL;
}

static bool is_slow(const_dnnl_primitive_desc_t pd)
{
  const char *name = "";
  return dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) != dnnl_success
         || strncmp(name, "ref", 3) == 0;
}

static bool take_descriptors(struct conv *v, const_dnnl_primitive_desc_t pd)
{
  static const dnnl_query_t queries[ROLES] = { dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md };
  for (int r = 0; r < ROLES + 1; r++) {
    memory_desc_in found = dnnl_primitive_desc_query_md(pd, r < ROLES ? queries[r] : dnnl_query_scratchpad_md, 0);
    dnnl_memory_desc_t *to = r < ROLES ? &v->own[r] : &v->scratch;
    if (found == NULL)
      return false;
#if DNNL_VERSION_MAJOR >= 3
    if (dnnl_memory_desc_clone(to, found) != dnnl_success)
      return false;
#else
    *to = *found;
#endif
    if (r < ROLES)
      v->reordered[r] = !dnnl_memory_desc_equal(DESC(v->plain[r]), found);
  }
  return true;
}

static bool make_reorder(struct conv *v, int role)
{
  dnnl_primitive_desc_t pd = NULL;
  memory_desc_in plain = DESC(v->plain[role]), own = DESC(v->own[role]);
  bool out = role == RESULT;
  if (!v->reordered[role])
    return true;
  bool ok = dnnl_reorder_primitive_desc_create(&pd, out ? own : plain, v->engine, out ? plain : own, v->engine, NULL)
                == dnnl_success
            && dnnl_primitive_create(&v->reorders[role], pd) == dnnl_success;
  dnnl_primitive_desc_destroy(pd);
  return ok;
}

/* Input and result in their own order if there is something fast for that, else in any. */
static bool make_primitives(struct conv *v, const struct problem *p)
{
  dnnl_primitive_attr_t attr = NULL;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_memory_desc_t any[ROLES];
  bool ok = dnnl_primitive_attr_create(&attr) == dnnl_success
            && dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) == dnnl_success;
  for (int r = 0; r < ROLES && ok; r++)
    ok = describe_memory(p, r, false, &v->plain[r]) && describe_memory(p, r, true, &any[r]);
  if (ok) {
    dnnl_memory_desc_t wanted[ROLES] = { v->plain[SOURCE], any[WEIGHTS], v->plain[RESULT] };
    pd = make_description(v, p, wanted, attr);
    if (pd == NULL || is_slow(pd)) {
      dnnl_primitive_desc_t other = make_description(v, p, any, attr);
      if (other != NULL) {
        dnnl_primitive_desc_destroy(pd);
        pd = other;
      }
    }
  }
  ok = ok && pd != NULL && take_descriptors(v, pd) && dnnl_primitive_create(&v->primitive, pd) == dnnl_success;
  for (int r = 0; r < ROLES && ok; r++)
    ok = make_reorder(v, r);
  dnnl_primitive_desc_destroy(pd);
  dnnl_primitive_attr_destroy(attr);
  return ok;
}

static void *room_for(memory_desc_in desc)
{
  return aligned_alloc(64, (dnnl_memory_desc_get_size(desc) + 127) / 64 * 64);
}

static bool make_memory(struct conv *v, struct memory *m)
{
  for (int r = 0; r < ROLES; r++) {
    if (dnnl_memory_create(&m->plain[r], DESC(v->plain[r]), v->engine, DNNL_MEMORY_NONE) != dnnl_success)
      return false;
    m->own[r] = m->plain[r];
    if (!v->reordered[r])
      continue;
    m->buffers[r] = room_for(DESC(v->own[r]));
    if (m->buffers[r] == NULL
        || dnnl_memory_create(&m->own[r], DESC(v->own[r]), v->engine, m->buffers[r]) != dnnl_success)
      return false;
  }
  m->scratch_buffer = room_for(DESC(v->scratch));
  return m->scratch_buffer != NULL
         && dnnl_memory_create(&m->scratch, DESC(v->scratch), v->engine, m->scratch_buffer) == dnnl_success;
}

static void reorder(const struct conv *v, const struct memory *m, int role)
{
  bool out = role == RESULT;
  dnnl_exec_arg_t args[2] = { { DNNL_ARG_FROM, out ? m->own[role] : m->plain[role] },
                              { DNNL_ARG_TO, out ? m->plain[role] : m->own[role] } };
  if (v->reordered[role])
    dnnl_primitive_execute(v->reorders[role], v->stream, 2, args);
}

static void run(const struct gs_cpu_kernel *kernel, const void *const *args, void *result, int64_t position,
                int thread)
{
  const struct conv *v = (const struct conv *)kernel;
  const struct memory *m = &v->memory[thread];
  dnnl_exec_arg_t all[4] = { { DNNL_ARG_SRC, m->own[SOURCE] }, { DNNL_ARG_WEIGHTS, m->own[WEIGHTS] },
                             { DNNL_ARG_DST, m->own[RESULT] }, { DNNL_ARG_SCRATCHPAD, m->scratch } };
  (void)position;
  omp_set_num_threads(v->omp_threads);
  dnnl_memory_set_data_handle(m->plain[SOURCE], (float *)(uintptr_t)args[0] + v->offset);
  dnnl_memory_set_data_handle(m->plain[WEIGHTS], (void *)(uintptr_t)args[1]);
  dnnl_memory_set_data_handle(m->plain[RESULT], result);
  reorder(v, m, SOURCE);
  reorder(v, m, WEIGHTS);
  dnnl_primitive_execute(v->primitive, v->stream, 4, all);
  reorder(v, m, RESULT);
  dnnl_stream_wait(v->stream);
}

static void release(struct gs_cpu_kernel *kernel)
{
  struct conv *v = (struct conv *)kernel;
  for (int t = 0; v->memory != NULL && t < v->nthreads; t++) {
    struct memory *m = &v->memory[t];
    for (int r = 0; r < ROLES; r++) {
      if (m->own[r] != m->plain[r])
        dnnl_memory_destroy(m->own[r]);
      dnnl_memory_destroy(m->plain[r]);
      free(m->buffers[r]);
    }
    dnnl_memory_destroy(m->scratch);
    free(m->scratch_buffer);
  }
  for (int r = 0; r < ROLES; r++)
    dnnl_primitive_destroy(v->reorders[r]);
  dnnl_primitive_destroy(v->primitive);
  dnnl_stream_destroy(v->stream);
  dnnl_engine_destroy(v->engine);
  free(v->memory);
  free(v);
}

struct gs_cpu_kernel *gs_cpu_conv_new(const struct gs_program *program, int index, int nthreads, bool alone)
{
  const struct gs_step *step = &program->steps[index];
  const struct gs_type *x = &program->steps[step->args[0]].type, *k = &program->steps[step->args[1]].type;
  struct problem p;
  if (step->type.dtype != GS_DTYPE_F32 || gs_type_elements(&step->type) == 0 || gs_type_elements(x) == 0
      || gs_type_elements(k) == 0 || !describe(step, x, k, &p))
    return NULL;
  struct conv *v = calloc(1, sizeof *v);
  if (v == NULL)
    return NULL;
  v->kernel = (struct gs_cpu_kernel){ .run = run, .release = release, .nargs = step->nargs, .args = step->args };
  v->offset = p.offset;
  v->nthreads = nthreads;
  v->omp_threads = alone ? nthreads : 1;
  v->memory = calloc((size_t)nthreads, sizeof *v->memory);
  omp_set_num_threads(v->omp_threads);         /* a primitive is made for a number of threads */
  bool ok = v->memory != NULL && dnnl_engine_create(&v->engine, dnnl_cpu, 0) == dnnl_success
            && dnnl_stream_create(&v->stream, v->engine, dnnl_stream_default_flags) == dnnl_success
            && make_primitives(v, &p);
  for (int t = 0; t < nthreads && ok; t++)
    ok = make_memory(v, &v->memory[t]);
  if (ok)
    return &v->kernel;
  release(&v->kernel);
  return NULL;
}
