#include "level.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 512;
  int cycles = argc > 2 ? atoi(argv[2]) : 8;
  Level levels[16];
  int depth = make_levels(levels, n);
  for (int y = 1; y < n; y++)
    for (int x = 1; x < n; x++) levels[0].f[y * (n + 1) + x] = sin(3.0 * x / n) * (y % 5);
  for (int one = 0; one < cycles; one++) cycle(levels, 0, depth);
  find_residual(&levels[0]);
  printf("%d levels, residual %g\n", depth, norm(&levels[0]));
  return 0;
}
