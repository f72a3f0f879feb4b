#include "matrix.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int side = argc > 1 ? atoi(argv[1]) : 200;
  struct matrix a = make_plate(side);
  double *b = malloc(a.rows * sizeof(double)), *x = malloc(a.rows * sizeof(double));
  for (int i = 0; i < a.rows; i++) b[i] = 1 + i % 3;
  int steps = solve(&a, b, x, 100, 1e-12);
  printf("%d steps, x %g\n", steps, x[a.rows / 2]);
  return 0;
}
