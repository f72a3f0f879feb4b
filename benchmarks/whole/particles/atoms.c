#include "cells.h"
#include <math.h>
#include <stdlib.h>

static double *zeros(int n) { return calloc(n, sizeof(double)); }

struct atoms place_atoms(struct box *box) {
  int per = 2 * box->side;
  box->atoms = per * per * per;
  int n = box->atoms;
  struct atoms a = {zeros(n), zeros(n), zeros(n), zeros(n), zeros(n), zeros(n), zeros(n), zeros(n), zeros(n)};
  double step = box->edge / per;
  int i = 0;
  for (int z = 0; z < per; z++)
    for (int y = 0; y < per; y++)
      for (int x = 0; x < per; x++, i++) {
        a.x[i] = (x + 0.5 + 0.2 * sin(i)) * step;
        a.y[i] = (y + 0.5 + 0.2 * sin(2.0 * i)) * step;
        a.z[i] = (z + 0.5 + 0.2 * sin(3.0 * i)) * step;
      }
  return a;
}

void advance(const struct box *box, struct atoms *a, double dt) {
  double *place[3] = {a->x, a->y, a->z}, *speed[3] = {a->vx, a->vy, a->vz}, *force[3] = {a->fx, a->fy, a->fz};
  for (int axis = 0; axis < 3; axis++)
    for (int i = 0; i < box->atoms; i++) {
      speed[axis][i] += dt * force[axis][i];
      double moved = place[axis][i] + dt * speed[axis][i];
      if (moved < 0) moved += box->edge;
      if (moved >= box->edge) moved -= box->edge;
      place[axis][i] = moved;
    }
}
