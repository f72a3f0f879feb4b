/* Time, pinned threads, arrays. */
#ifndef TIMING_H
#define TIMING_H

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define LANES (VECTOR_BYTES / 8)

/* A vector of doubles that may begin at any double. */
typedef double vector __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

double now(void);  /* seconds, of a clock that only goes forward */
int processors(void); /* that this process may use */

/* Pins a thread to a processor from now on, if this process may use it. */
void choose_processor(int thread, int processor);

/* Runs `work(argument, thread)` on so many threads, each pinned to a processor of its own, and returns when all ended. */
void on_threads(int threads, void (*work)(void *argument, int thread), void *argument);

/* A barrier of threads that wait in a loop. */
struct barrier {
  int threads;
  int arrived, turn;
};

void wait_for_all(struct barrier *barrier);

/* The least seconds that `count` calls of `run(argument, thread)` take on all of so many threads at once, over
   repetitions of `least` seconds and more each, for `seconds` in all; divided by their number. */
double least_time(int threads, void (*run)(void *argument, int thread), void *argument, double least, double seconds);

/* The same of the window of which so large a share took less time: 0 the least, 0.5 the median. */
double window_time(int threads, void (*run)(void *argument, int thread), void *argument, double least, double seconds,
                   double share);

/* Pages as a program gets them that asks for none, huge ones where the system has them, or small ones. */
enum pages { PAGES_OF_SYSTEM, PAGES_HUGE, PAGES_SMALL };

/* Zeroed memory, and memory that nothing has touched. Each array begins 17 lines further behind a multiple of 2 MiB than
   the one before it: where all begin at equal places, some first caches take them for one another. */
void *array(size_t bytes, enum pages pages);
void *untouched(size_t bytes, enum pages pages);
void release(void *array);

#endif
