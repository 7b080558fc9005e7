# bench/local.mk - benchmarks: planning times, and execution against JAX.  Run by `make bench`.

EXTRA_PROGRAMS += bench/plan bench/worker
CLEANFILES += bench/plan$(EXEEXT) bench/worker$(EXEEXT)

bench_plan_SOURCES = %D%/clock.h %D%/plan.c
bench_plan_LDADD = libgspmd.la
bench_plan_LDFLAGS = $(AM_LDFLAGS) -static
bench_worker_SOURCES = %D%/clock.h %D%/worker.c
bench_worker_LDADD = libgspmd.la -lm
bench_worker_LDFLAGS = $(AM_LDFLAGS) -static

EXTRA_DIST += \
  %D%/compare.py \
  %D%/jax_worker.py \
  %D%/mlp.gsl \
  %D%/norm.gsl \
  %D%/run \
  %D%/transformer.gsl

.PHONY: bench
bench: bench/plan$(EXEEXT) bench/worker$(EXEEXT)
	$(srcdir)/bench/run $(abs_builddir) $(abs_srcdir)
