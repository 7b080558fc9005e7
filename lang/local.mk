# lang/local.mk - what programs mean: types, tensors, operators, the graph, diagnostics.

libgspmd_la_SOURCES += \
  %D%/arena.c \
  %D%/arena.h \
  %D%/diag.c \
  %D%/diag.h \
  %D%/dtype.c \
  %D%/dtype.h \
  %D%/graph.h \
  %D%/npy.h \
  %D%/op.c \
  %D%/op.h \
  %D%/ops.def \
  %D%/tensor.c \
  %D%/tensor.h \
  %D%/type.c \
  %D%/type.h
