/* backends/cpu/pool.h - a pool of threads that share the items of a loop. */
#ifndef GS_BACKENDS_CPU_POOL_H
#define GS_BACKENDS_CPU_POOL_H

#include <stdint.h>

struct gs_pool;
/* One item of a loop, on one of the threads 0 .. nthreads-1. */
typedef void gs_pool_task(void *user, int64_t item, int thread);

/* A pool of NTHREADS threads, the caller's among them; 0: one per core.  NULL: refused. */
struct gs_pool *gs_pool_new(int nthreads);
void gs_pool_free(struct gs_pool *pool);
int gs_pool_threads(const struct gs_pool *pool);
/* Run TASK for items 0 .. COUNT-1 and wait for all of them. */
void gs_pool_run(struct gs_pool *pool, int64_t count, gs_pool_task *task, void *user);

#endif
