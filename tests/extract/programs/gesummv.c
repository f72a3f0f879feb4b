/* y := alpha A x + beta B x, with a while loop over rows and pointers that walk along them. */
#include <stdlib.h>
#ifndef N
#define N 32
#endif

void kernel(int n, double alpha, double beta, const double *A, const double *B, const double *x, double *y)
{
  int i = 0;
  while (i < n) {
    double left = 0.0, right = 0.0;
    const double *a = A + (long)i * n, *b = B + (long)i * n;
    for (int j = 0; j < n; j++) {
      left += *a++ * x[j];
      right += *b++ * x[j];
    }
    y[i] = alpha * left + beta * right;
    i++;
  }
}

int main(void)
{
  double *m = calloc(2 * N * N, 8), *v = calloc(2 * N, 8);
  kernel(N, 1.5, 1.2, m, m + N * N, v, v + N);
  return v[N] > 0;
}
