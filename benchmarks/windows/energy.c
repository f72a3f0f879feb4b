#include <stdio.h>
#include <stdlib.h>
#include <time.h>
typedef struct { double x, y, z, m; } body;
body p[512];
double result;
__attribute__((noinline)) void kernel(int n)
{
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += 0.5 * p[i].m * (p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z);
  result = sum;
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 500;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 512; i++) { p[i].x = i; p[i].y = 0.5 * i; p[i].z = i % 7; p[i].m = 1 + i % 3; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
