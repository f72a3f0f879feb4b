#ifndef MATRIX_H
#define MATRIX_H

/* Compressed rows. */
typedef struct {
  int rows;
  int *start, *column;
  double *value;
} Matrix;

typedef struct {
  int edge, steps;
} Options;

Matrix *make_matrix(int edge);
void multiply(const Matrix *a, const double *x, double *y);
int solve(const Matrix *a, const double *b, double *x, int steps);

static inline double square(double value) { return value * value; }

#endif
