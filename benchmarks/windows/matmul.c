#include <stdio.h>
#include <stdlib.h>
#include <time.h>
double A[32][32], B[32][32], C[32][32];
__attribute__((noinline)) void kernel(int n)
{
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        C[i][j] += A[i][k] * B[k][j];
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 32;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) { A[i][j] = i - j; B[i][j] = i + j; C[i][j] = 0; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
