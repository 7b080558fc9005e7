# backends/local.mk - what runs a program: the reference and the CPU backend.

libgspmd_la_SOURCES += \
  %D%/backend.h \
  %D%/device.c \
  %D%/device.h \
  %D%/reference/backend.c \
  %D%/reference/block.c \
  %D%/reference/block.h \
  %D%/reference/einsum.c \
  %D%/reference/elementwise.c \
  %D%/reference/evaluate.c \
  %D%/reference/gather.c \
  %D%/reference/kernels.h \
  %D%/reference/manual.c \
  %D%/reference/movement.c \
  %D%/reference/order.c \
  %D%/reference/reduce.c \
  %D%/reference/reference.h \
  %D%/reference/scalar.c \
  %D%/reference/transform.c \
  %D%/reference/window.c \
  %D%/reference/scalar.h \
  %D%/registry.c

# The CPU backend's loops, and others that serve any backend as they are, are compiled with stronger
# optimization than the rest.
noinst_LTLIBRARIES += libgspmd-cpu.la
libgspmd_la_LIBADD += libgspmd-cpu.la
libgspmd_cpu_la_CFLAGS = $(AM_CFLAGS) $(GS_OPTIMIZE_LOOPS) $(LOOP_CFLAGS)
libgspmd_cpu_la_LDFLAGS = $(SANITIZE_CFLAGS)
libgspmd_cpu_la_SOURCES = \
  %D%/combine.c \
  %D%/combine.h \
  %D%/cpu/control.c \
  %D%/cpu/control.h \
  %D%/cpu/conv.c \
  %D%/cpu/copy.c \
  %D%/cpu/copy.h \
  %D%/cpu/cpu.c \
  %D%/cpu/einsum.c \
  %D%/cpu/extreme.c \
  %D%/cpu/fuse.c \
  %D%/cpu/fuse.h \
  %D%/cpu/fuse_kernel.c \
  %D%/cpu/fuse_kernel.h \
  %D%/cpu/fuse_run.c \
  %D%/cpu/index.c \
  %D%/cpu/kernel.h \
  %D%/cpu/matrix.c \
  %D%/cpu/memory.c \
  %D%/cpu/memory.h \
  %D%/cpu/pool.c \
  %D%/cpu/pool.h \
  %D%/cpu/vector.c \
  %D%/cpu/vector.h \
  %D%/cpu/vector_any.c \
  %D%/cpu/vector_avx2.c \
  %D%/cpu/vector_body.inc \
  %D%/cpu/vector_float.inc \
  %D%/cpu/vector_integer.inc \
  %D%/cpu/vector_lanes.inc \
  %D%/cpu/vector_math.h \
  %D%/cpu/vector_pred.inc \
  %D%/cpu/window.c \
  %D%/reference/fourier.c \
  %D%/reference/random.c
