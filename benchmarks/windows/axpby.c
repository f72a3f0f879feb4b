#include <stdio.h>
#include <stdlib.h>
#include <time.h>
double a[4096], b[4096], c[4096];
double result;
__attribute__((noinline)) void kernel(int n)
{
  for (int i = 0; i < n; i++)
    c[i] = 0.3 * a[i] + 0.7 * b[i];
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1000;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 4096; i++) { a[i] = 0.5 + i % 7; b[i] = 1.0 + i % 5; c[i] = 0.25 + i % 3; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
