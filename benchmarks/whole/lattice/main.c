#include "lattice.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 200;
  int steps = argc > 2 ? atoi(argv[2]) : 40;
  Lattice grid;
  init_lattice(&grid, n, n, 1.2);
  for (int step = 0; step < steps; step++) {
    collide(&grid);
    stream(&grid);
  }
  printf("mass %.10g\n", total_mass(&grid));
  return 0;
}
