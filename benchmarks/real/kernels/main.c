/* Times one kernel: NAME N M THREADS SECONDS. Prints the least seconds of a run and the error of its result.

   Each thread has a problem of its own. The data were touched before (warm): a run finds in the caches what the run
   before it left there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "real.h"
#include "timing.h"

#define KERNEL(name) &name,
static const struct kernel *const KERNELS[] = {
#include TABLE
};

struct subject {
  const struct kernel *kernel;
  struct problem *problems;
};

static void run_one(void *given, int thread)
{
  struct subject *subject = given;
  subject->kernel->run(&subject->problems[thread]);
}

static void make_one(void *given, int thread)
{
  struct subject *subject = given;
  subject->kernel->make(&subject->problems[thread]);
}

int main(int count, char **words)
{
  if (count != 6) {
    fprintf(stderr, "usage: %s KERNEL N M THREADS SECONDS\n", words[0]);
    return 2;
  }
  int threads = atoi(words[4]);
  struct problem problems[threads];
  struct subject subject = {NULL, problems};
  for (size_t i = 0; i < sizeof KERNELS / sizeof *KERNELS; i++)
    if (!strcmp(KERNELS[i]->name, words[1]))
      subject.kernel = KERNELS[i];
  if (!subject.kernel) {
    fprintf(stderr, "no kernel `%s`\n", words[1]);
    return 2;
  }
  for (int thread = 0; thread < threads; thread++)
    problems[thread] = (struct problem){.n = atol(words[2]), .m = atol(words[3])};
  on_threads(threads, make_one, &subject);
  double seconds = least_time(threads, run_one, &subject, 3e-5, atof(words[5]));
  double worst = 0;
  for (int thread = 0; thread < threads; thread++)
    worst = fmax(worst, subject.kernel->wrong(&problems[thread]));
  printf("%.9g %.3g\n", seconds, worst);
  return 0;
}
