#include "table.h"

static int find_interval(const Point *points, int number, double energy) {
  int low = 0, high = number - 1;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (points[middle].energy > energy) high = middle;
    else low = middle;
  }
  return low;
}

void look_up(const Library *library, const Material *material, double energy, double *total) {
  for (int kind = 0; kind < KINDS; kind++) total[kind] = 0;
  for (int i = 0; i < material->number; i++) {
    const Point *points = library->table + (long)material->nuclide[i] * library->points;
    const Point *low = points + find_interval(points, library->points, energy), *high = low + 1;
    double part = (high->energy - energy) / (high->energy - low->energy);
    for (int kind = 0; kind < KINDS; kind++)
      total[kind] += material->density[i] * (high->sections[kind] - part * (high->sections[kind] - low->sections[kind]));
  }
}
