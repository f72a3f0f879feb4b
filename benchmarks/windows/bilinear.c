#include <stdio.h>
#include <stdlib.h>
#include <time.h>
float g[48][48], o[48][48];
__attribute__((noinline)) void kernel(int n)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      o[i][j] = 0.25f * (g[i][j] + g[i + 1][j] + g[i][j + 1] + g[i + 1][j + 1]);
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 44;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 48; i++) for (int j = 0; j < 48; j++) { g[i][j] = i * j; o[i][j] = 0; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
