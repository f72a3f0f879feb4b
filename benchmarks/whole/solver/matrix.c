#include "matrix.h"
#include <stdlib.h>

struct matrix make_plate(int side) {
  struct matrix a;
  a.rows = side * side;
  a.start = malloc((a.rows + 1) * sizeof(int));
  a.column = malloc(9L * a.rows * sizeof(int));
  a.value = malloc(9L * a.rows * sizeof(double));
  int filled = 0;
  for (int row = 0; row < a.rows; row++) {
    a.start[row] = filled;
    int y = row / side, x = row % side;
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        if (y + dy < 0 || y + dy >= side || x + dx < 0 || x + dx >= side) continue;
        a.column[filled] = row + dy * side + dx;
        a.value[filled] = dx == 0 && dy == 0 ? 8.1 : -1;
        filled++;
      }
  }
  a.start[a.rows] = filled;
  a.words = filled;
  return a;
}

void multiply(const struct matrix *a, const double *x, double *y) {
  for (int row = 0; row < a->rows; row++) {
    double sum = 0;
    for (int k = a->start[row]; k < a->start[row + 1]; k++) sum += a->value[k] * x[a->column[k]];
    y[row] = sum;
  }
}
