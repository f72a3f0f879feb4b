#include <stdio.h>
#include <stdlib.h>
#include <time.h>
double A[16][256], x[256], y[16];
__attribute__((noinline)) void kernel(int n)
{
  for (int j = 0; j < 16; j++)
    for (int i = 0; i < n; i++)
      y[j] += A[j][i] * x[i];
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 200;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 256; i++) { x[i] = i; for (int j = 0; j < 16; j++) A[j][i] = i + j; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
