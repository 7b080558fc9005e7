# lang/local.mk - what programs mean: types, tensors, operators, the graph, diagnostics.

libgspmd_la_SOURCES += \
  %D%/arena.c \
  %D%/arena.h \
  %D%/build.c \
  %D%/build_matmul.c \
  %D%/diag.c \
  %D%/diag.h \
  %D%/dtype.c \
  %D%/dtype.h \
  %D%/einsum.c \
  %D%/einsum.h \
  %D%/einsum_build.c \
  %D%/graph.c \
  %D%/graph.h \
  %D%/infer.c \
  %D%/infer.h \
  %D%/infer_contraction.c \
  %D%/infer_control.c \
  %D%/infer_gather.c \
  %D%/gather.h \
  %D%/gather_batch.c \
  %D%/build_gather.c \
  %D%/infer_elementwise.c \
  %D%/infer_manual.c \
  %D%/infer_order.c \
  %D%/infer_reduce.c \
  %D%/infer_shape.c \
  %D%/infer_transform.c \
  %D%/infer_window.c \
  %D%/npy.c \
  %D%/npy.h \
  %D%/npy_format.c \
  %D%/npy_format.h \
  %D%/npz_format.c \
  %D%/op.c \
  %D%/op.h \
  %D%/ops.def \
  %D%/tensor.c \
  %D%/tensor.h \
  %D%/tensor_fill.c \
  %D%/tensor_print.c \
  %D%/type.c \
  %D%/type.h \
  %D%/varying.c
