# docs/local.mk - the manual.

EXTRA_DIST += \
  %D%/dependencies.md
