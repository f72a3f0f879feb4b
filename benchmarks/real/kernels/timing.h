/* Time, pinned threads, arrays. */
#ifndef TIMING_H
#define TIMING_H

double now(void);  /* seconds, of a clock that only goes forward */
int processors(void); /* that this process may use */

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

#endif
