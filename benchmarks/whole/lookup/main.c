#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#define MATERIALS 12

int main(int argc, char **argv) {
  int lookups = argc > 1 ? atoi(argv[1]) : 40000;
  int points = argc > 2 ? atoi(argv[2]) : 4000;
  Library library = make_library(60, points);
  Material materials[MATERIALS];
  make_materials(materials, MATERIALS, library.nuclides);
  unsigned long seed = 1;
  double check = 0, total[KINDS];
  for (int i = 0; i < lookups; i++) {
    double energy = draw(&seed);
    int which = (int)(draw(&seed) * MATERIALS);
    look_up(&library, &materials[which], energy, total);
    check += total[i % KINDS];
  }
  printf("check %.10g\n", check);
  return 0;
}
