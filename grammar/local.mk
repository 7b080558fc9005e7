# grammar/local.mk - from text to syntax trees.

libgspmd_la_SOURCES += \
  %D%/ast.h \
  %D%/parse.h
