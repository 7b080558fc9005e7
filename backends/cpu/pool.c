/* backends/cpu/pool.c - a pool of threads that share the items of a loop. */
#include <config.h>

#include "backends/cpu/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct worker { struct gs_pool *pool; int number; pthread_t thread; };

struct gs_pool {
  int nthreads, started;
  struct worker *workers;              /* from 1: thread 0 is the caller */
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  uint64_t round;                      /* counts loops */
  int busy;
  bool stop;
  gs_pool_task *task;
  void *user;
  int64_t count;
  _Atomic int64_t next;
};

static void share(struct gs_pool *p, int thread)
{
  for (;;) {
    int64_t item = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
    if (item >= p->count)
      return;
    p->task(p->user, item, thread);
  }
}

static void *work(void *argument)
{
  struct worker *w = argument;
  struct gs_pool *p = w->pool;
  uint64_t seen = 0;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    while (p->round == seen && !p->stop)
      pthread_cond_wait(&p->begin, &p->lock);
    if (p->stop)
      break;
    seen = p->round;
    pthread_mutex_unlock(&p->lock);
    share(p, w->number);
    pthread_mutex_lock(&p->lock);
    if (--p->busy == 0)
      pthread_cond_signal(&p->end);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

struct gs_pool *gs_pool_new(int nthreads)
{
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  struct gs_pool *p = calloc(1, sizeof *p);
  if (p == NULL)
    return NULL;
  p->nthreads = nthreads > 0 ? nthreads : cores > 0 ? (int)cores : 1;
  p->workers = calloc((size_t)p->nthreads, sizeof *p->workers);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->begin, NULL);
  pthread_cond_init(&p->end, NULL);
  for (int i = 1; p->workers != NULL && i < p->nthreads; i++) {
    p->workers[i] = (struct worker){ .pool = p, .number = i };
    if (pthread_create(&p->workers[i].thread, NULL, work, &p->workers[i]) != 0)
      break;
    p->started++;
  }
  p->nthreads = p->started + 1;        /* fewer threads than wished for do the same work */
  return p;
}

void gs_pool_free(struct gs_pool *p)
{
  if (p == NULL)
    return;
  pthread_mutex_lock(&p->lock);
  p->stop = true;
  pthread_cond_broadcast(&p->begin);
  pthread_mutex_unlock(&p->lock);
  for (int i = 1; i <= p->started; i++)
    pthread_join(p->workers[i].thread, NULL);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->begin);
  pthread_cond_destroy(&p->end);
  free(p->workers);
  free(p);
}

int gs_pool_threads(const struct gs_pool *p)
{
  return p->nthreads;
}

void gs_pool_run(struct gs_pool *p, int64_t count, gs_pool_task *task, void *user)
{
  if (p->nthreads == 1 || count == 1) {
    for (int64_t i = 0; i < count; i++)
      task(user, i, 0);
    return;
  }
  pthread_mutex_lock(&p->lock);
  p->task = task;
  p->user = user;
  p->count = count;
  atomic_store(&p->next, 0);
  p->busy = p->nthreads - 1;
  p->round++;
  pthread_cond_broadcast(&p->begin);
  pthread_mutex_unlock(&p->lock);
  share(p, 0);
  pthread_mutex_lock(&p->lock);
  while (p->busy > 0)
    pthread_cond_wait(&p->end, &p->lock);
  pthread_mutex_unlock(&p->lock);
}
