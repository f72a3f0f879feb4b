#include "level.h"

void relax(Level *level, int sweeps) {
  int n = level->n, width = n + 1;
  double square = level->h * level->h, *u = level->u;
  const double *f = level->f;
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (int colour = 0; colour < 2; colour++)
      for (int y = 1; y < n; y++)
        for (int x = 1 + (y + colour) % 2; x < n; x += 2) {
          int at = y * width + x;
          u[at] = 0.25 * (u[at - 1] + u[at + 1] + u[at - width] + u[at + width] + square * f[at]);
        }
}

void find_residual(Level *level) {
  int n = level->n, width = n + 1;
  double inverse = 1 / (level->h * level->h);
  const double *u = level->u;
  for (int y = 1; y < n; y++)
    for (int x = 1; x < n; x++) {
      int at = y * width + x;
      level->r[at] = level->f[at] - inverse * (4 * u[at] - u[at - 1] - u[at + 1] - u[at - width] - u[at + width]);
    }
}
