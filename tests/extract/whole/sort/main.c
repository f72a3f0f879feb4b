#include <stdio.h>
#include <stdlib.h>

#include "sort.h"

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1500;
  double *x = malloc(n * sizeof(double)), *y = malloc(n * sizeof(double)), *spare = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) x[i] = y[i] = next_value();
  int moves = merge_sort(n, x, spare);
  heap_sort(n, y);
  int wrong = 0;
  for (int i = 0; i + 1 < n; i++) wrong += x[i] > x[i + 1] || y[i] > y[i + 1];
  printf("%d moves, %d wrong\n", moves, wrong);
  return wrong != 0;
}
