#include "lattice.h"
#include <stdlib.h>

const int CX[WAYS] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
const int CY[WAYS] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
const double WEIGHT[WAYS] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};

void init_lattice(Lattice *grid, int nx, int ny, double omega) {
  grid->nx = nx;
  grid->ny = ny;
  grid->omega = omega;
  grid->now = malloc(sizeof(double) * WAYS * nx * ny);
  grid->next = malloc(sizeof(double) * WAYS * nx * ny);
  for (int y = 0; y < ny; y++)
    for (int x = 0; x < nx; x++)
      for (int way = 0; way < WAYS; way++)
        grid->now[(y * nx + x) * WAYS + way] = WEIGHT[way] * (1 + 0.01 * ((x + 2 * y) % 7));
}

double total_mass(const Lattice *grid) {
  double sum = 0;
  for (int cell = 0; cell < grid->nx * grid->ny * WAYS; cell++) sum += grid->now[cell];
  return sum;
}
