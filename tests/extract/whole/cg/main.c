#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

/* The number behind an option. */
static int number(int argc, char **argv, const char *name, int otherwise) {
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], name) == 0) return atoi(argv[i + 1]);
  return otherwise;
}

int main(int argc, char **argv) {
  Options options;
  options.edge = number(argc, argv, "-s", 10);
  options.steps = number(argc, argv, "-i", 50);
  Matrix *a = make_matrix(options.edge);
  double *b = malloc(a->rows * sizeof(double)), *x = malloc(a->rows * sizeof(double));
  for (int i = 0; i < a->rows; i++) b[i] = 1.0;
  int steps = solve(a, b, x, options.steps);
  double sum = 0;
  for (int i = 0; i < a->rows; i++) sum += square(x[i]);
  printf("%d steps, %g\n", steps, sum);
  return 0;
}
