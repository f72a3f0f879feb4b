#include <stdio.h>
#include <stdlib.h>
#include <time.h>
double re[1024], im[1024], cr[1024], ci[1024];
__attribute__((noinline)) void kernel(int n)
{
  for (int i = 0; i < n; i++) {
    double r = re[i] * re[i] - im[i] * im[i] + cr[i];
    im[i] = 2.0 * re[i] * im[i] + ci[i];
    re[i] = r;
  }
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 800;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 1024; i++) { cr[i] = 0.001 * i - 0.5; ci[i] = 0.0005 * i; re[i] = im[i] = 0; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
