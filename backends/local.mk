# backends/local.mk - what runs a program: the reference and the CPU backend.

libgspmd_la_SOURCES += \
  %D%/backend.h \
  %D%/reference/reference.h

# The CPU backend's loops are compiled with stronger optimization than the rest; its sources go to
# libgspmd_cpu_la_SOURCES.
noinst_LTLIBRARIES += libgspmd-cpu.la
libgspmd_la_LIBADD += libgspmd-cpu.la
libgspmd_cpu_la_CFLAGS = $(AM_CFLAGS) $(GS_OPTIMIZE_LOOPS) $(LOOP_CFLAGS)
libgspmd_cpu_la_LDFLAGS = $(SANITIZE_CFLAGS)
libgspmd_cpu_la_SOURCES =
