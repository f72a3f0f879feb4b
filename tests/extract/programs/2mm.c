// D := alpha A B C + beta D by way of tmp = alpha A B; arrays of varying length behind pointers.
#include <stdlib.h>
#ifndef N
#define N 20
#endif

static void kernel(int n, double alpha, double beta, double tmp[n][n], double A[n][n], double B[n][n],
                   double C[n][n], double D[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      tmp[i][j] = 0.0;
      for (int k = 0; k < n; ++k)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < n; ++k)
        D[i][j] += tmp[i][k] * C[k][j];
    }
}

int main(void)
{
  int n = N;
  size_t bytes = sizeof(double) * n * n;
  double *A = calloc(n * n, 8), *B = calloc(n * n, 8), *C = calloc(n * n, 8), *D = malloc(bytes), *tmp = malloc(bytes);
  for (int i = 0; i < n * n; i++)
    D[i] = i;
  kernel(n, 1.5, 1.2, (void *)tmp, (void *)A, (void *)B, (void *)C, (void *)D);
  return D[0] > 1;
}
