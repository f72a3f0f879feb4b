#include "cells.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  struct box box;
  box.side = argc > 1 ? atoi(argv[1]) : 10;
  int steps = argc > 2 ? atoi(argv[2]) : 10;
  box.cutoff = 2.5;
  box.edge = box.side * box.cutoff;
  struct atoms a = place_atoms(&box);
  struct cells c = make_cells(&box);
  double energy = 0;
  for (int step = 0; step < steps; step++) {
    sort_into_cells(&box, &a, &c);
    energy = find_forces(&box, &a, &c);
    advance(&box, &a, 0.001);
  }
  printf("%d atoms, energy %.8g\n", box.atoms, energy);
  return 0;
}
