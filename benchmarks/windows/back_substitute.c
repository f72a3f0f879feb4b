#include <stdio.h>
#include <stdlib.h>
#include <time.h>
double U[48][48], x[48], b[48];
__attribute__((noinline)) void kernel(int n)
{
  for (int i = n - 1; i >= 0; i--) {
    double sum = b[i];
    for (int j = i + 1; j < n; j++)
      sum -= U[i][j] * x[j];
    x[i] = sum / U[i][i];
  }
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 44;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 48; i++) { b[i] = i; for (int j = 0; j < 48; j++) U[i][j] = i == j ? 3 : 0.02; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
