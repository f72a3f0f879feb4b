#include "matrix.h"
#include <stdlib.h>

double dot(int n, const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

void add_scaled(int n, double scale, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] += scale * x[i];
}

int solve(const struct matrix *a, const double *b, double *x, int most, double tolerance) {
  int n = a->rows, step;
  double *r = malloc(n * sizeof(double)), *p = malloc(n * sizeof(double)), *q = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    r[i] = p[i] = b[i];
  }
  double rho = dot(n, r, r);
  for (step = 0; step < most && rho > tolerance; step++) {
    multiply(a, p, q);
    double alpha = rho / dot(n, p, q);
    add_scaled(n, alpha, p, x);
    add_scaled(n, -alpha, q, r);
    double next = dot(n, r, r);
    for (int i = 0; i < n; i++) p[i] = r[i] + next / rho * p[i];
    rho = next;
  }
  free(r);
  free(p);
  free(q);
  return step;
}
