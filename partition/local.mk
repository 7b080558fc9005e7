# partition/local.mk - meshes, shardings, completion, the SPMD program, its passes and its cost.

libgspmd_la_SOURCES += \
  %D%/axes.c \
  %D%/axes.h \
  %D%/complete.c \
  %D%/complete.h \
  %D%/exchange.c \
  %D%/mesh.c \
  %D%/mesh.h \
  %D%/partition.h \
  %D%/print.h \
  %D%/program.h \
  %D%/reshard.c \
  %D%/reshard.h \
  %D%/reshard_moves.c \
  %D%/reshard_moves.h \
  %D%/rule.c \
  %D%/rule.h \
  %D%/sharding.c \
  %D%/sharding.h \
  %D%/sharding_print.c \
  %D%/slice.c \
  %D%/strategy.c \
  %D%/strategy.h
