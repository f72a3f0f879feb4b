#include "lattice.h"

void collide(Lattice *grid) {
  const int cells = grid->nx * grid->ny;
  for (int cell = 0; cell < cells; cell++) {
    double *f = grid->now + (long)cell * WAYS;
    double rho = 0, ux = 0, uy = 0;
    for (int way = 0; way < WAYS; way++) {
      rho += f[way];
      ux += CX[way] * f[way];
      uy += CY[way] * f[way];
    }
    ux /= rho;
    uy /= rho;
    double square = 1.5 * (ux * ux + uy * uy);
    for (int way = 0; way < WAYS; way++) {
      double along = 3 * (CX[way] * ux + CY[way] * uy);
      double rest = WEIGHT[way] * rho * (1 + along + 0.5 * along * along - square);
      f[way] += grid->omega * (rest - f[way]);
    }
  }
}

void stream(Lattice *grid) {
  const int nx = grid->nx, ny = grid->ny;
  for (int y = 0; y < ny; y++)
    for (int x = 0; x < nx; x++)
      for (int way = 0; way < WAYS; way++) {
        int fromx = (x - CX[way] + nx) % nx, fromy = (y - CY[way] + ny) % ny;
        grid->next[(y * nx + x) * WAYS + way] = grid->now[(fromy * nx + fromx) * WAYS + way];
      }
  double *kept = grid->now;
  grid->now = grid->next;
  grid->next = kept;
}
