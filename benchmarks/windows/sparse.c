#include <stdio.h>
#include <stdlib.h>
#include <time.h>
double val[8192], x[2048], y[2048];
int col[8192], row[2049];
__attribute__((noinline)) void kernel(int n)
{
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      sum += val[k] * x[col[k]];
    y[i] = sum;
  }
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 300;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 2048; i++) { row[i] = 4 * i; x[i] = i; } row[2048] = 8192; for (int i = 0; i < 8192; i++) { val[i] = 0.5; col[i] = (i * 7) % 300; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
