#include "table.h"
#include <stdlib.h>

double draw(unsigned long *seed) {
  *seed = *seed * 2862933555777941757ul + 3037000493ul;
  return (*seed >> 11) * (1.0 / 9007199254740992.0);
}

Library make_library(int nuclides, int points) {
  Library library = {nuclides, points, malloc(sizeof(Point) * nuclides * points)};
  unsigned long seed = 42;
  for (int one = 0; one < nuclides; one++) {
    double energy = 0;
    for (int i = 0; i < points; i++) {
      Point *point = &library.table[one * points + i];
      energy += draw(&seed) * 2 / points;
      point->energy = energy;
      for (int kind = 0; kind < KINDS; kind++) point->sections[kind] = draw(&seed);
    }
  }
  return library;
}

void make_materials(Material *materials, int number, int nuclides) {
  unsigned long seed = 7;
  for (int which = 0; which < number; which++) {
    Material *one = &materials[which];
    one->number = 4 + 3 * which;
    one->nuclide = malloc(one->number * sizeof(int));
    one->density = malloc(one->number * sizeof(double));
    for (int i = 0; i < one->number; i++) {
      one->nuclide[i] = (int)(draw(&seed) * nuclides);
      one->density[i] = draw(&seed);
    }
  }
}
