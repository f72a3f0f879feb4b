#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int t[1024], idx[4096];
long result;
__attribute__((noinline)) void kernel(int n)
{
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum += t[idx[i]];
  result = sum;
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 2000;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 4096; i++) idx[i] = (i * 53) % 1024; for (int i = 0; i < 1024; i++) t[i] = i;
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
