#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "real.h"
#include "timing.h"

double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int processors(void)
{
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

/* The last `order` + 1 of the processors that may be used. */
static void pin(int order)
{
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed))
    return;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
    if (CPU_ISSET(cpu, &allowed) && order-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      pthread_setaffinity_np(pthread_self(), sizeof one, &one);
      return;
    }
}

struct job {
  void (*work)(void *, int);
  void *argument;
  int thread;
};

static void *started(void *given)
{
  struct job *job = given;
  pin(job->thread);
  job->work(job->argument, job->thread);
  return NULL;
}

void on_threads(int threads, void (*work)(void *, int), void *argument)
{
  pthread_t ids[threads];
  struct job jobs[threads];
  for (int thread = 0; thread < threads; thread++) {
    jobs[thread] = (struct job){work, argument, thread};
    if (pthread_create(&ids[thread], NULL, started, &jobs[thread])) {
      fprintf(stderr, "no thread %d\n", thread);
      exit(1);
    }
  }
  for (int thread = 0; thread < threads; thread++)
    pthread_join(ids[thread], NULL);
}

void wait_for_all(struct barrier *barrier)
{
  int turn = __atomic_load_n(&barrier->turn, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) == barrier->threads) {
    __atomic_store_n(&barrier->arrived, 0, __ATOMIC_RELAXED);
    __atomic_add_fetch(&barrier->turn, 1, __ATOMIC_RELEASE);
    return;
  }
  while (__atomic_load_n(&barrier->turn, __ATOMIC_ACQUIRE) == turn)
    ;
}

struct timing {
  void (*run)(void *, int);
  void *argument;
  double *begin, *end;
  double least, until, best;
  long count;
  int done;
  struct barrier barrier;
};

static void timed(void *given, int thread)
{
  struct timing *t = given;
  t->run(t->argument, thread); /* the first touch, and the first sweep */
  for (;;) {
    wait_for_all(&t->barrier);
    if (t->done)
      return;
    t->begin[thread] = now();
    for (long i = 0; i < t->count; i++)
      t->run(t->argument, thread);
    t->end[thread] = now();
    wait_for_all(&t->barrier);
    if (thread)
      continue;
    double begin = t->begin[0], end = t->end[0];
    for (int other = 1; other < t->barrier.threads; other++) {
      begin = t->begin[other] < begin ? t->begin[other] : begin;
      end = t->end[other] > end ? t->end[other] : end;
    }
    double each = (end - begin) / (double)t->count;
    t->best = each < t->best ? each : t->best;
    if (end - begin < t->least)
      t->count *= 2;
    t->done = end > t->until;
  }
}

double least_time(int threads, void (*run)(void *, int), void *argument, double least, double seconds)
{
  double begin[threads], end[threads];
  struct timing t = {.run = run, .argument = argument, .begin = begin, .end = end, .least = least,
                     .until = now() + seconds, .best = 1e300, .count = 1, .barrier = {.threads = threads}};
  on_threads(threads, timed, &t);
  return t.best;
}

static const size_t huge = (size_t)2 << 20;

void *array(size_t bytes)
{
  static int count;
  size_t shift = (size_t)(__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % 32) * 17 * 64;
  size_t size = ((bytes + shift) / huge + 1) * huge;
  char *found = aligned_alloc(huge, size);
  if (!found) {
    fprintf(stderr, "no memory for %zu bytes\n", size);
    exit(1);
  }
#ifdef MADV_HUGEPAGE
  madvise(found, size, MADV_HUGEPAGE);
#endif
  memset(found, 0, size);
  return found + shift;
}

void release(void *given)
{
  free((char *)given - (uintptr_t)given % huge);
}

uint64_t draw(uint64_t *state)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

double *numbers(long count, uint64_t seed)
{
  double *found = array((size_t)count * sizeof(double));
  for (long i = 0; i < count; i++)
    found[i] = 0.5 + (double)(draw(&seed) >> 11) * 0x1p-53;
  return found;
}
