/* y = A' (A x), flat array. */
#include <stdlib.h>
#ifndef N
#define N 40
#endif
#define M (N + 6)

void kernel(int m, int n, const double *a, const double *x, double *y, double *tmp)
{
  int i, j;
  for (i = 0; i < n; i++)
    y[i] = 0;
  for (i = 0; i < m; i++) {
    tmp[i] = 0.0;
    for (j = 0; j < n; j++)
      tmp[i] = tmp[i] + a[i * n + j] * x[j];
    for (j = 0; j < n; j++)
      y[j] = y[j] + a[i * n + j] * tmp[i];
  }
}

int main(void)
{
  int m = M, n = N;
  double *a = calloc(m * n, sizeof *a), *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y), *t = calloc(m, sizeof *t);
  kernel(m, n, a, x, y, t);
  return y[1] > 0;
}
