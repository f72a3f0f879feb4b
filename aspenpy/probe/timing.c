#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

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

static int chosen[CPU_SETSIZE]; /* the processor of a thread, and one; 0 where none was chosen */

void choose_processor(int thread, int processor)
{
  chosen[thread] = processor + 1;
}

/* A thread's processor: the one chosen, else the last but `order` of those that may be used. */
static void pin(int order)
{
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed))
    return;
  if (chosen[order] && CPU_ISSET(chosen[order] - 1, &allowed)) {
    CPU_ZERO(&one);
    CPU_SET(chosen[order] - 1, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
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

enum { MOST_WINDOWS = 4096 };

struct timing {
  void (*run)(void *, int);
  void *argument;
  double *begin, *end;
  double least, until;
  double windows[MOST_WINDOWS]; /* seconds of a call in each of those that were long enough; else of the last */
  long count;
  int filled, done;
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
    t->windows[t->filled] = (end - begin) / (double)t->count;
    t->done = end > t->until || t->filled == MOST_WINDOWS - 1;
    if (end - begin >= t->least || t->done)
      t->filled++;
    else
      t->count *= 2;
  }
}

static int ascending(const void *one, const void *other)
{
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

double window_time(int threads, void (*run)(void *, int), void *argument, double least, double seconds, double share)
{
  double begin[threads], end[threads];
  struct timing t = {.run = run, .argument = argument, .begin = begin, .end = end, .least = least,
                     .until = now() + seconds, .count = 1, .barrier = {.threads = threads}};
  on_threads(threads, timed, &t);
  qsort(t.windows, (size_t)t.filled, sizeof *t.windows, ascending);
  return t.windows[(int)(share * (t.filled - 1))];
}

double least_time(int threads, void (*run)(void *, int), void *argument, double least, double seconds)
{
  return window_time(threads, run, argument, least, seconds, 0);
}

static const size_t huge = (size_t)2 << 20;

void *untouched(size_t bytes, enum pages pages)
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
  if (pages != PAGES_OF_SYSTEM)
    madvise(found, size, pages == PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
  (void)pages;
#endif
  return found + shift;
}

void *array(size_t bytes, enum pages pages)
{
  return memset(untouched(bytes, pages), 0, bytes);
}

void release(void *given)
{
  free((char *)given - (uintptr_t)given % huge);
}
