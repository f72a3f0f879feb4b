#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <math.h>
double x[512], y[512], z[512], f[512];
__attribute__((noinline)) void kernel(int n)
{
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
      double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
      double r2 = dx * dx + dy * dy + dz * dz + 0.01;
      sum += 1.0 / (r2 * sqrt(r2));
    }
    f[i] = sum;
  }
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 100;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 512; i++) { x[i] = i; y[i] = 0.5 * i; z[i] = i % 7; f[i] = 0; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
