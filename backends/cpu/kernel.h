/* backends/cpu/kernel.h - an operator made ready at compile time.
 *
 * A kernel is made once for a step (local shapes are the same on every device) and run by any thread
 * for any device: it keeps no state between runs but what is reserved per thread.
 */
#ifndef GS_BACKENDS_CPU_KERNEL_H
#define GS_BACKENDS_CPU_KERNEL_H

#include "partition/program.h"

struct gs_cpu_kernel {
  /* ARGS[k] is operand k's local part, in the order of the kernel's operands; POSITION the device;
   * THREAD below the number of threads the kernel was made for. */
  void (*run)(const struct gs_cpu_kernel *kernel, const void *const *args, void *result,
              int64_t position, int thread);
  void (*release)(struct gs_cpu_kernel *kernel);
  /* A kernel with UNITS above 0 can also be run in parts: units BEGIN to END, in any order. */
  void (*run_units)(const struct gs_cpu_kernel *kernel, const void *const *args, void *result,
                    int64_t begin, int64_t end, int thread);
  int64_t units;
  int nargs;
  const int *args;                     /* steps whose results the kernel reads */
};

/* A fast kernel for the contraction at STEP; NULL where there is none (other element types, very
 * small shapes): the reference function serves then.  ALONE: one device, so that oneDNN may use all
 * threads itself. */
struct gs_cpu_kernel *gs_cpu_einsum_new(const struct gs_program *program, int step, int nthreads,
                                        bool alone);

/* Likewise for a convolution. */
struct gs_cpu_kernel *gs_cpu_conv_new(const struct gs_program *program, int step, int nthreads, bool alone);

/* Likewise for a gather or scatter of whole rows. */
struct gs_cpu_kernel *gs_cpu_rows_new(const struct gs_program *program, int step);

/* Likewise for argmax and argmin. */
struct gs_cpu_kernel *gs_cpu_extreme_new(const struct gs_program *program, int step);

/* Likewise for cholesky and triangular_solve. */
struct gs_cpu_kernel *gs_cpu_matrix_new(const struct gs_program *program, int step);

/* Likewise for a reduction over windows. */
struct gs_cpu_kernel *gs_cpu_window_new(const struct gs_program *program, int step);

#endif
