#include "level.h"
#include <string.h>

void restrict_to(const Level *fine, Level *coarse) {
  int n = coarse->n, wide = fine->n + 1;
  for (int y = 1; y < n; y++)
    for (int x = 1; x < n; x++) {
      const double *r = fine->r + 2 * y * wide + 2 * x;
      coarse->f[y * (n + 1) + x] = 0.25 * r[0] + 0.125 * (r[-1] + r[1] + r[-wide] + r[wide]) +
                                   0.0625 * (r[-wide - 1] + r[-wide + 1] + r[wide - 1] + r[wide + 1]);
    }
  memset(coarse->u, 0, (n + 1) * (n + 1) * sizeof(double));
}

void prolong_to(const Level *coarse, Level *fine) {
  int n = coarse->n, narrow = n + 1, wide = fine->n + 1;
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      const double *c = coarse->u + y * narrow + x;
      double *u = fine->u + 2 * y * wide + 2 * x;
      u[0] += c[0];
      u[1] += 0.5 * (c[0] + c[1]);
      u[wide] += 0.5 * (c[0] + c[narrow]);
      u[wide + 1] += 0.25 * (c[0] + c[1] + c[narrow] + c[narrow + 1]);
    }
}

void cycle(Level *levels, int number, int depth) {
  if (number == depth - 1) {
    relax(&levels[number], 30);
    return;
  }
  relax(&levels[number], 2);
  find_residual(&levels[number]);
  restrict_to(&levels[number], &levels[number + 1]);
  cycle(levels, number + 1, depth);
  prolong_to(&levels[number + 1], &levels[number]);
  relax(&levels[number], 2);
}
