#include "cells.h"

static double nearest(double d, double edge) {
  if (d > 0.5 * edge) return d - edge;
  if (d < -0.5 * edge) return d + edge;
  return d;
}

double find_forces(const struct box *box, struct atoms *a, const struct cells *c) {
  int side = box->side;
  double energy = 0, limit = box->cutoff * box->cutoff;
  for (int i = 0; i < box->atoms; i++) a->fx[i] = a->fy[i] = a->fz[i] = 0;
  for (int z = 0; z < side; z++)
    for (int y = 0; y < side; y++)
      for (int x = 0; x < side; x++) {
        int cell = (z * side + y) * side + x;
        for (int way = 0; way < 27; way++) {
          int ox = (x + way % 3 + side - 1) % side, oy = (y + way / 3 % 3 + side - 1) % side;
          int oz = (z + way / 9 + side - 1) % side, other = (oz * side + oy) * side + ox;
          for (int m = 0; m < c->filled[cell]; m++) {
            int i = c->members[cell * MOST + m];
            for (int k = 0; k < c->filled[other]; k++) {
              int j = c->members[other * MOST + k];
              if (j <= i) continue;
              double dx = nearest(a->x[i] - a->x[j], box->edge), dy = nearest(a->y[i] - a->y[j], box->edge);
              double dz = nearest(a->z[i] - a->z[j], box->edge), r2 = dx * dx + dy * dy + dz * dz;
              if (r2 >= limit) continue;
              double s = 1 / r2, s6 = s * s * s, pull = 24 * s6 * (2 * s6 - 1) * s;
              energy += 4 * s6 * (s6 - 1);
              a->fx[i] += pull * dx;
              a->fy[i] += pull * dy;
              a->fz[i] += pull * dz;
              a->fx[j] -= pull * dx;
              a->fy[j] -= pull * dy;
              a->fz[j] -= pull * dz;
            }
          }
        }
      }
  return energy;
}
