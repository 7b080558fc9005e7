# bench/local.mk - benchmarks against other systems.
