# partition/local.mk - meshes, shardings, completion, the SPMD program, its passes and its cost.

libgspmd_la_SOURCES += \
  %D%/axes.c \
  %D%/axes.h \
  %D%/builder.c \
  %D%/builder.h \
  %D%/choose.c \
  %D%/choose.h \
  %D%/complete.c \
  %D%/complete.h \
  %D%/emit.c \
  %D%/emit.h \
  %D%/exchange.c \
  %D%/join.c \
  %D%/join.h \
  %D%/mesh.c \
  %D%/mesh.h \
  %D%/partition.c \
  %D%/partition.h \
  %D%/print.h \
  %D%/profile.c \
  %D%/profile.h \
  %D%/program.c \
  %D%/program.h \
  %D%/program_verify.c \
  %D%/reshard.c \
  %D%/reshard.h \
  %D%/reshard_moves.c \
  %D%/reshard_moves.h \
  %D%/rule.c \
  %D%/rule.h \
  %D%/sharding.c \
  %D%/sharding.h \
  %D%/sharding_print.c \
  %D%/signature.c \
  %D%/signature.h \
  %D%/slice.c \
  %D%/strategy.c \
  %D%/strategy.h
