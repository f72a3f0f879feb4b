#include "cells.h"
#include <stdlib.h>
#include <string.h>

struct cells make_cells(const struct box *box) {
  int n = box->side * box->side * box->side;
  struct cells c = {malloc(n * sizeof(int)), malloc(n * MOST * sizeof(int))};
  return c;
}

static int cell_of(const struct box *box, double place) {
  int found = (int)(place / box->cutoff);
  return found < box->side ? found : box->side - 1;
}

void sort_into_cells(const struct box *box, const struct atoms *a, struct cells *c) {
  int side = box->side;
  memset(c->filled, 0, side * side * side * sizeof(int));
  for (int i = 0; i < box->atoms; i++) {
    int cell = (cell_of(box, a->z[i]) * side + cell_of(box, a->y[i])) * side + cell_of(box, a->x[i]);
    if (c->filled[cell] < MOST) c->members[cell * MOST + c->filled[cell]++] = i;
  }
}
