/* backends/cpu/cpu.c - all devices in this process: segments between collectives, devices in turn.
 *
 * A segment is a run of steps without communication; the pool's threads take (segment, device)
 * pairs, so any number of devices runs on any number of cores and nothing waits inside a segment.
 * Each collective is a segment of its own, in which every device reads the others' operands.
 */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/control.h"
#include "backends/cpu/fuse.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/pool.h"
#include "backends/device.h"
#include "backends/reference/reference.h"

struct gs_executable {
  struct gs_host host;
  const struct gs_program *program;
  struct gs_buffers buffers;
  struct gs_pool *pool;
  char *memory;                        /* one arena a device, in order of position */
  size_t bytes;
  struct gs_tensor **whole;            /* by step: the whole tensor of an input or constant */
  int *segments, nsegments;            /* first step of each, and the end */
  struct gs_cpu_kernel **kernels;      /* by step: NULL where the reference function serves */
  bool *needed;                        /* by step: whether its result is kept in memory */
  struct gs_scratch scratch;           /* the kernels' */
  const void **args;                   /* addresses of operands: MOST_ARGS for each thread */
  const struct gs_type **arg_types;    /* and their types */
  int most_args;
  struct gs_control control;
  char *staging;                       /* control.staging bytes for each thread */
};

/* What one call of run shares with the tasks. */
struct running {
  struct gs_executable *e;
  int begin, end;                      /* of the segment */
  int64_t pieces;                      /* of its only step, for each device */
  enum gs_device_phase phase;
  struct gs_tensor **outputs;
  int output;
};

static void *address(const struct gs_executable *e, int step, int64_t position)
{
  int root = e->buffers.alias[step];
  if (e->buffers.offset[step] < 0)
    return (char *)e->whole[root]->data + gs_buffers_begin(&e->program->steps[root], position);
  return e->memory + position * e->buffers.size + e->buffers.offset[step];
}

struct reading { const struct gs_executable *e; const struct gs_step *step; };

static const void *read_operand(void *user, int arg, int64_t position)
{
  const struct reading *r = user;
  int step = arg == GS_DEVICE_RESULT ? (int)(r->step - r->e->program->steps) : r->step->args[arg];
  return address(r->e, step, position);
}

static void run_operator(const struct gs_executable *e, int index, int64_t position, int thread)
{
  const struct gs_step *step = &e->program->steps[index];
  const void **args = e->args + (size_t)thread * (size_t)e->most_args;
  const struct gs_type **types = e->arg_types + (size_t)thread * (size_t)e->most_args;
  for (int a = 0; a < step->nargs; a++) {
    types[a] = &e->program->steps[step->args[a]].type;
    args[a] = address(e, step->args[a], position);
  }
  struct gs_place place;
  bool indexing = gs_op_info(step->op)->group == GS_GROUP_INDEXING;
  gs_device_place(indexing ? &e->program->steps[step->args[0]] : step, position, place.begin, place.size);
  struct gs_kernel_call call = { step->op, step->attrs, step->nargs, types, args, &step->type,
                                 address(e, index, position), &place };
  gs_reference_find(step->op)(&call);
}

static void run_kernel(const struct gs_executable *e, int index, int64_t position, int thread)
{
  const struct gs_cpu_kernel *kernel = e->kernels[index];
  const void **args = e->args + (size_t)thread * (size_t)e->most_args;
  for (int a = 0; a < kernel->nargs; a++)
    args[a] = address(e, kernel->args[a], position);
  kernel->run(kernel, args, address(e, index, position), position, thread);
}

static void run_step(const struct gs_executable *e, int index, int64_t position, int thread,
                     enum gs_device_phase phase)
{
  const struct gs_step *step = &e->program->steps[index];
  bool in_place = e->buffers.in_place[index];
  if ((e->buffers.alias[index] != index && !in_place) || !e->needed[index]
      || (e->buffers.offset[index] < 0 && gs_buffers_is_data(step)))
    return;
  if (e->host.poison_padding && phase != GS_DEVICE_COLLECT && !in_place)
    memset(address(e, index, position), 0xff, (size_t)gs_type_bytes(&step->type));
  if (gs_buffers_is_data(step)) {
    gs_device_cut(step, position, e->whole[index]->data, address(e, index, position));
  } else if (gs_device_handles(step->op)) {
    struct reading reading = { e, step };
    gs_device_run(&(struct gs_device_call){ e->program, step, position, address(e, index, position),
                                            read_operand, &reading, phase });
  } else if (e->kernels[index] != NULL) {
    run_kernel(e, index, position, thread);
  } else {
    run_operator(e, index, position, thread);
  }
}

static void run_segment(void *user, int64_t position, int thread)
{
  struct running *r = user;
  for (int i = r->begin; i < r->end; i++) {
    if (r->e->host.interrupt != NULL && *r->e->host.interrupt)
      return;
    run_step(r->e, i, position, thread, r->phase);
  }
}

/* One of several pieces of a large step, for a device. */
static void run_piece(void *user, int64_t item, int thread)
{
  struct running *r = user;
  const struct gs_executable *e = r->e;
  const struct gs_cpu_kernel *kernel = e->kernels[r->begin];
  int64_t position = item / r->pieces, piece = item % r->pieces;
  const void **args = e->args + (size_t)thread * (size_t)e->most_args;
  for (int a = 0; a < kernel->nargs; a++)
    args[a] = address(e, kernel->args[a], position);
  kernel->run_units(kernel, args, address(e, r->begin, position), kernel->units * piece / r->pieces,
                    kernel->units * (piece + 1) / r->pieces, thread);
}

/* A segment on fewer devices than threads: steps that are large enough are cut into pieces. */
static void run_in_pieces(const struct running *segment)
{
  enum { LEAST_UNITS = 16, PIECES_EACH = 4 };
  const struct gs_executable *e = segment->e;
  int64_t ndevices = e->program->mesh->ndevices;
  struct running r = *segment;
  for (int i = segment->begin; i < segment->end; i = r.begin = r.end) {
    const struct gs_cpu_kernel *kernel = e->kernels[i];
    bool large = kernel != NULL && kernel->units >= LEAST_UNITS && e->needed[i];
    r.end = i + 1;
    r.pieces = large ? PIECES_EACH * gs_pool_threads(e->pool) : 1;
    r.pieces = large && r.pieces > kernel->units ? kernel->units : r.pieces;
    if (e->host.interrupt == NULL || !*e->host.interrupt)
      gs_pool_run(e->pool, ndevices * r.pieces, large ? run_piece : run_segment, &r);
  }
}

static void paste_output(void *user, int64_t position, int thread)
{
  struct running *r = user;
  const struct gs_program *program = r->e->program;
  int index = program->outputs[r->output].step;
  (void)thread;
  if (gs_device_is_first_holder(program, program->steps[index].sharding, position))
    gs_device_paste(&program->steps[index], position, address(r->e, index, position),
                    r->outputs[r->output]->data);
}

/* Operands of a step that opens or closes a scope to their targets, all at once. */
static void fill_targets(void *user, int64_t position, int thread)
{
  const struct running *r = user;
  const struct gs_executable *e = r->e;
  const struct gs_step *step = &e->program->steps[r->begin];
  const int *cells = e->control.cells + e->control.first[r->begin];
  char *staged = e->staging != NULL ? e->staging + (size_t)thread * (size_t)e->control.staging : NULL;
  int64_t total = 0;
  for (int k = 0; k < step->nargs; k++)
    total += gs_type_bytes(&e->program->steps[step->args[k]].type);
  /* There is room for every step where one operand is another's target. */
  bool through = step->op == GS_OP_LOOP_END && staged != NULL && total <= e->control.staging;
  for (int k = 0; k < step->nargs && through; k++) {
    size_t bytes = (size_t)gs_type_bytes(&e->program->steps[step->args[k]].type);
    memcpy(staged, address(e, step->args[k], position), bytes);
    staged += bytes;
  }
  staged = through ? e->staging + (size_t)thread * (size_t)e->control.staging : NULL;
  for (int k = 0; k < step->nargs; k++) {
    size_t bytes = (size_t)gs_type_bytes(&e->program->steps[step->args[k]].type);
    const char *from = through ? staged : address(e, step->args[k], position);
    char *to = cells[k] < 0 ? NULL : address(e, cells[k], position);
    if (to != NULL && to != from && bytes > 0)
      memcpy(to, from, bytes);
    staged = through ? staged + bytes : NULL;
  }
}

/* The step after INDEX, which opens or closes a scope.  A condition is the same on all devices. */
static int run_control(struct gs_executable *e, int index)
{
  struct running r = { .e = e, .begin = index };
  const struct gs_step *step = &e->program->steps[index];
  bool condition = false;
  if (gs_control_copies(e->program, index))
    gs_pool_run(e->pool, e->program->mesh->ndevices, fill_targets, &r);
  if (step->op == GS_OP_LOOP_TEST || step->op == GS_OP_COND)
    condition = gs_element_get_int(GS_DTYPE_PRED, address(e, step->args[0], 0), 0) != 0;
  return gs_control_next(e->program, &e->control, index, condition);
}

/* The segment that begins with step INDEX. */
static int segment_at(const struct gs_executable *e, int index)
{
  int low = 0, high = e->nsegments;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (e->segments[middle] < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool find_segments(struct gs_executable *e)
{
  const struct gs_program *program = e->program;
  e->segments = calloc((size_t)program->nsteps + 2, sizeof *e->segments);
  if (e->segments == NULL)
    return false;
  bool collective = true;              /* so that a segment begins at step 0 */
  for (int i = 0; i < program->nsteps; i++) {
    bool now = gs_buffers_stands_alone(&program->steps[i]);
    if (now || collective)
      e->segments[e->nsegments++] = i;
    collective = now;
  }
  e->segments[e->nsegments] = program->nsteps;
  return true;
}

static void print_size(char *text, size_t room, double bytes)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  int unit = 0;
  while (bytes >= 1024 && unit < 6) {
    bytes /= 1024;
    unit++;
  }
  bool whole = bytes >= 100 || bytes == (double)(int)bytes;
  snprintf(text, room, whole ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

/* Say how much memory would be needed, and what there is. */
static void report_size(const struct gs_executable *e, int64_t devices)
{
  char one[32], all[32], limit[32], room[64] = "which is more than there is";
  const struct gs_budget *budget = e->host.budget;
  struct gs_span at = e->program->outputs[0].node->span;
  print_size(one, sizeof one, (double)e->buffers.size);
  print_size(all, sizeof all, (double)e->buffers.size * (double)devices);
  if (budget != NULL && budget->limit != 0) {
    print_size(limit, sizeof limit, (double)budget->limit);
    snprintf(room, sizeof room, "more than the limit of %s leaves", limit);
  }
  if (devices == 1)
    gs_error(e->host.diagnostics, at, "running needs %s, %s", one, room);
  else
    gs_error(e->host.diagnostics, at,
             "running needs %s for each of %" PRId64 " devices, %s in all, %s", one, devices, all,
             room);
  gs_hint(e->host.diagnostics, "plan and explain need no memory for values");
}

static bool allocate(struct gs_executable *e)
{
  int64_t devices = e->program->mesh->ndevices, bytes;
  bool fits = gs_mul_size(e->buffers.size, devices, &bytes) && bytes < (int64_t)1 << 46;
  if (fits && gs_budget_take(e->host.budget, (size_t)bytes)) {
    e->memory = aligned_alloc(64, (size_t)bytes + 64);
    if (e->memory != NULL) {
      e->bytes = (size_t)bytes;
      return true;
    }
    gs_budget_give(e->host.budget, (size_t)bytes);
  }
  report_size(e, devices);
  return false;
}

static void release(struct gs_executable *e)
{
  if (e == NULL)
    return;
  gs_pool_free(e->pool);
  for (int i = 0; e->kernels != NULL && i < e->program->nsteps; i++)
    if (e->kernels[i] != NULL)
      e->kernels[i]->release(e->kernels[i]);
  free(e->kernels);
  free(e->needed);
  free(e->scratch.memory);
  free(e->args);
  free(e->arg_types);
  gs_buffers_free(&e->buffers);
  gs_control_free(&e->control);
  free(e->staging);
  if (e->memory != NULL)
    gs_budget_give(e->host.budget, e->bytes);
  free(e->memory);
  free(e->whole);
  free(e->segments);
  free(e);
}

static struct gs_cpu_kernel *make_kernel(const struct gs_executable *e, int step)
{
  int nthreads = gs_pool_threads(e->pool);
  bool alone = e->program->mesh->ndevices == 1;
  switch ((int)e->program->steps[step].op) {
  case GS_OP_EINSUM: return gs_cpu_einsum_new(e->program, step, nthreads, alone);
  case GS_OP_CONV: return gs_cpu_conv_new(e->program, step, nthreads, alone);
  case GS_OP_REDUCE_WINDOW: return gs_cpu_window_new(e->program, step);
  case GS_OP_GATHER: case GS_OP_SCATTER: return gs_cpu_rows_new(e->program, step);
  case GS_OP_ARGMAX: case GS_OP_ARGMIN: return gs_cpu_extreme_new(e->program, step);
  case GS_OP_CHOLESKY: case GS_OP_TRIANGULAR_SOLVE: return gs_cpu_matrix_new(e->program, step);
  default: return NULL;
  }
}

static bool make_kernels(struct gs_executable *e)
{
  for (int i = 0; i < e->program->nsteps; i++)
    e->kernels[i] = make_kernel(e, i);
  e->scratch.nthreads = gs_pool_threads(e->pool);
  return gs_cpu_fuse(e->program, &e->scratch, e->kernels, e->needed);
}

/* Room for the operands of the step that has most of them, for each thread. */
static bool make_arguments(struct gs_executable *e)
{
  size_t nthreads = (size_t)gs_pool_threads(e->pool);
  for (int i = 0; i < e->program->nsteps; i++) {
    int nargs = e->kernels[i] != NULL ? e->kernels[i]->nargs : e->program->steps[i].nargs;
    e->most_args = nargs > e->most_args ? nargs : e->most_args;
  }
  e->args = calloc(nthreads * (size_t)e->most_args + 1, sizeof *e->args);
  e->arg_types = calloc(nthreads * (size_t)e->most_args + 1, sizeof *e->arg_types);
  return e->args != NULL && e->arg_types != NULL;
}

static bool make_control(struct gs_executable *e)
{
  if (!gs_control_init(e->program, e->buffers.alias, &e->control))
    return false;
  if (e->control.staging > 0)
    e->staging = calloc((size_t)gs_pool_threads(e->pool), (size_t)e->control.staging);
  return e->control.staging == 0 || e->staging != NULL;
}

static struct gs_executable *compile(const struct gs_host *host, const struct gs_plan *plan)
{
  struct gs_executable *e = calloc(1, sizeof *e);
  if (e == NULL) {
    gs_error(host->diagnostics, (struct gs_span){ 0 }, "out of memory");
    return NULL;
  }
  int errors = host->diagnostics->errors;
  e->host = *host;
  e->program = plan->program;
  e->whole = calloc((size_t)plan->program->nsteps + 1, sizeof(struct gs_tensor *));
  e->kernels = calloc((size_t)plan->program->nsteps + 1, sizeof(struct gs_cpu_kernel *));
  e->needed = calloc((size_t)plan->program->nsteps + 1, sizeof *e->needed);
  e->pool = gs_pool_new(host->nthreads);
  if (e->whole != NULL && e->kernels != NULL && e->needed != NULL && e->pool != NULL && find_segments(e)
      && make_kernels(e) && gs_buffers_plan(plan->program, e->kernels, e->needed, &e->buffers)
      && make_control(e) && make_arguments(e) && allocate(e))
    return e;
  if (host->diagnostics->errors == errors)
    gs_error(host->diagnostics, (struct gs_span){ 0 }, "out of memory");
  release(e);
  return NULL;
}

static struct gs_tensor *whole_value(const struct gs_host *host, const struct gs_step *step,
                                     struct gs_tensor *const *inputs, int ninputs)
{
  if (step->op == GS_OP_CONSTANT)
    return gs_tensor_ref(step->attrs->constant.tensor);
  int index = step->attrs->input.index;
  if (index < ninputs && inputs[index] != NULL)
    return gs_tensor_ref(inputs[index]);
  struct gs_tensor *t = gs_tensor_new(host->budget, &step->global);
  if (t != NULL)
    gs_tensor_fill(t, &step->attrs->input.fill);
  return t;
}

static bool load_inputs(struct gs_executable *e, struct gs_tensor *const *inputs, int ninputs)
{
  for (int i = 0; i < e->program->nsteps; i++) {
    const struct gs_step *step = &e->program->steps[i];
    if (!gs_buffers_is_data(step) || !e->needed[i])
      continue;
    e->whole[i] = whole_value(&e->host, step, inputs, ninputs);
    if (e->whole[i] == NULL) {
      gs_error(e->host.diagnostics, step->node->span, "out of memory for the value of %s",
               step->node->name != NULL ? step->node->name : gs_op_info(step->op)->name);
      return false;
    }
  }
  return true;
}

/* Tensors for the outputs; those that devices can fill in place serve as buffers. */
static bool make_outputs(struct gs_executable *e, struct gs_tensor **outputs)
{
  memset(outputs, 0, (size_t)e->program->noutputs * sizeof *outputs);
  for (int i = 0; i < e->program->noutputs; i++) {
    const struct gs_program_output *output = &e->program->outputs[i];
    const struct gs_step *step = &e->program->steps[output->step];
    outputs[i] = gs_tensor_new(e->host.budget, &step->global);
    if (outputs[i] == NULL) {
      gs_error(e->host.diagnostics, step->node->span, "out of memory for the output %s", output->name);
      return false;
    }
    if (e->buffers.output[output->step] == i)
      e->whole[output->step] = gs_tensor_ref(outputs[i]);
  }
  return true;
}

static void collect_outputs(struct gs_executable *e, struct gs_tensor **outputs)
{
  struct running r = { .e = e, .outputs = outputs };
  for (r.output = 0; r.output < e->program->noutputs; r.output++)
    if (e->buffers.output[e->program->outputs[r.output].step] != r.output)
      gs_pool_run(e->pool, e->program->mesh->ndevices, paste_output, &r);
}

/* Segment S on all devices. */
static void run_segment_everywhere(struct gs_executable *e, int s)
{
  struct running r = { .e = e, .begin = e->segments[s], .end = e->segments[s + 1] };
  bool few = e->program->mesh->ndevices < gs_pool_threads(e->pool);
  bool shared = gs_device_is_shared(&e->program->steps[r.begin]);
  r.phase = shared ? GS_DEVICE_SHARE : GS_DEVICE_WHOLE;
  if (few && !shared)
    run_in_pieces(&r);
  else
    gs_pool_run(e->pool, e->program->mesh->ndevices, run_segment, &r);
  r.phase = GS_DEVICE_COLLECT;
  if (shared)
    gs_pool_run(e->pool, e->program->mesh->ndevices, run_segment, &r);
}

static enum gs_status run(struct gs_executable *e, struct gs_tensor *const *inputs, int ninputs,
                          struct gs_tensor **outputs)
{
  bool ready = make_outputs(e, outputs) && load_inputs(e, inputs, ninputs);
  enum gs_status status = ready ? GS_OK : GS_FAILED;
  for (int s = 0; s < e->nsegments && status == GS_OK;) {
    if (gs_op_info(e->program->steps[e->segments[s]].op)->group == GS_GROUP_CONTROL) {
      s = segment_at(e, run_control(e, e->segments[s]));
    } else {
      run_segment_everywhere(e, s);
      s++;
    }
    if (e->host.interrupt != NULL && *e->host.interrupt)
      status = GS_INTERRUPTED;
  }
  if (status == GS_OK)
    collect_outputs(e, outputs);
  for (int i = 0; i < e->program->noutputs && status != GS_OK; i++) {
    gs_tensor_unref(outputs[i]);
    outputs[i] = NULL;
  }
  for (int i = 0; i < e->program->nsteps; i++) {
    gs_tensor_unref(e->whole[i]);
    e->whole[i] = NULL;
  }
  return status;
}

const struct gs_backend gs_backend_cpu = {
  .abi = GS_BACKEND_ABI, .name = "cpu",
  .description = "every device in this process, on the machine's cores",
  .compile = compile, .run = run, .release = release
};
