#include "matrix.h"

#include <stdlib.h>

/* Counts the neighbours of a point that lie in the grid. */
static int work(int edge, int i, int j, int k) {
  int count = 1;
  count += i > 0;
  count += i < edge - 1;
  count += j > 0;
  count += j < edge - 1;
  count += k > 0;
  count += k < edge - 1;
  return count;
}

static int add(Matrix *a, int place, int column, double value) {
  a->column[place] = column;
  a->value[place] = value;
  return place + 1;
}

/* Seven points on a cube. */
Matrix *make_matrix(int edge) {
  Matrix *a = malloc(sizeof(Matrix));
  int total = 0;
  a->rows = edge * edge * edge;
  a->start = malloc((a->rows + 1) * sizeof(int));
  for (int i = 0; i < edge; i++)
    for (int j = 0; j < edge; j++)
      for (int k = 0; k < edge; k++) total += work(edge, i, j, k);
  a->column = malloc(total * sizeof(int));
  a->value = malloc(total * sizeof(double));
  int place = 0;
  for (int i = 0; i < edge; i++)
    for (int j = 0; j < edge; j++)
      for (int k = 0; k < edge; k++) {
        int row = (i * edge + j) * edge + k;
        a->start[row] = place;
        if (i > 0) place = add(a, place, row - edge * edge, -1.0);
        if (j > 0) place = add(a, place, row - edge, -1.0);
        if (k > 0) place = add(a, place, row - 1, -1.0);
        place = add(a, place, row, 6.5);
        if (k < edge - 1) place = add(a, place, row + 1, -1.0);
        if (j < edge - 1) place = add(a, place, row + edge, -1.0);
        if (i < edge - 1) place = add(a, place, row + edge * edge, -1.0);
      }
  a->start[a->rows] = place;
  return a;
}

void multiply(const Matrix *a, const double *x, double *y) {
  for (int row = 0; row < a->rows; row++) {
    double sum = 0;
    for (int k = a->start[row]; k < a->start[row + 1]; k++) sum += a->value[k] * x[a->column[k]];
    y[row] = sum;
  }
}
