#include <math.h>
#include <stdlib.h>

#include "matrix.h"

/* The product of two vectors. */
static double work(int n, const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static void add(int n, double *y, double factor, const double *x) {
  for (int i = 0; i < n; i++) y[i] += factor * x[i];
}

/* Conjugate gradients. */
int solve(const Matrix *a, const double *b, double *x, int steps) {
  int n = a->rows, step = 0;
  double *r = malloc(n * sizeof(double)), *p = malloc(n * sizeof(double)), *q = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    r[i] = p[i] = b[i];
  }
  double rho = work(n, r, r), limit = square(1e-6) * rho;
  while (step < steps && rho > limit) {
    multiply(a, p, q);
    double alpha = rho / work(n, p, q);
    add(n, x, alpha, p);
    add(n, r, -alpha, q);
    double next = work(n, r, r), beta = next / rho;
    rho = next;
    for (int i = 0; i < n; i++) p[i] = r[i] + beta * p[i];
    step++;
  }
  free(r);
  free(p);
  free(q);
  return step;
}
