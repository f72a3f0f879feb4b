#include <stdio.h>
#include <stdlib.h>
#include <time.h>
unsigned char key[8192], text[8192];
__attribute__((noinline)) void kernel(int n)
{
  for (int i = 0; i < n; i++)
    text[i] ^= key[i];
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 4000;
  int reps = argc > 2 ? atoi(argv[2]) : 1000;
  struct timespec s, e;
  for (int i = 0; i < 8192; i++) { key[i] = i; text[i] = 3 * i; }
  kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (int rep = 0; rep < reps; rep++)
    kernel(n);
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%.9e\n", ((e.tv_sec - s.tv_sec) + 1e-9 * (e.tv_nsec - s.tv_nsec)) / reps);
  return 0;
}
