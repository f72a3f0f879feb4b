/* A = L L', L in the lower triangle of A; rows of pointers. */
#include <math.h>
#include <stdlib.h>
#ifndef N
#define N 20
#endif

void kernel(int n, double **A)
{
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double x = A[i][j];
      for (int k = 0; k < j; k++)
        x -= A[i][k] * A[j][k];
      A[i][j] = x / A[j][j];
    }
    double d = A[i][i];
    for (int k = 0; k < i; k++)
      d -= A[i][k] * A[i][k];
    A[i][i] = sqrt(d);
  }
}

int main(void)
{
  double **A = malloc(N * sizeof *A);
  for (int i = 0; i < N; i++) {
    A[i] = calloc(N, sizeof **A);
    A[i][i] = N;
  }
  kernel(N, A);
  return A[1][1] > 0;
}
