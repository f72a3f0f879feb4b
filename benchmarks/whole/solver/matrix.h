#ifndef MATRIX_H
#define MATRIX_H
struct matrix {
  int rows, words;
  int *start, *column;
  double *value;
};
struct matrix make_plate(int side);
void multiply(const struct matrix *a, const double *x, double *y);
double dot(int n, const double *x, const double *y);
void add_scaled(int n, double scale, const double *x, double *y);
int solve(const struct matrix *a, const double *b, double *x, int most, double tolerance);
#endif
