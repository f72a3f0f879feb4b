#include <stdio.h>
#include <stdlib.h>
#include <time.h>
double A[40][40], x[40], y[40];
__attribute__((noinline)) void kernel(int n)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] += x[i] * y[j];
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 40;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 40; i++) { x[i] = i; y[i] = 2 * i; for (int j = 0; j < 40; j++) A[i][j] = 0; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
