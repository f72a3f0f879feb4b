#include <stdio.h>
#include <stdlib.h>
#include <time.h>
double a[4096], b[4096];
__attribute__((noinline)) void kernel(int n)
{
  for (int i = 0; i < n; i++) {
    double p0 = 1.0, p1 = a[i];
    for (int l = 2; l < 8; l++) {
      double p2 = ((2 * l - 1) * a[i] * p1 - (l - 1) * p0) / l;
      p0 = p1;
      p1 = p2;
    }
    b[i] = p1;
  }
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 300;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 4096; i++) { a[i] = 0.001 * (i % 1000); b[i] = 0; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
