/* A = Q R, column by column. */
#include <math.h>
#ifndef N
#define N 18
#endif
#define M (N + 5)
double A[M][N], R[N][N], Q[M][N];

static double norm(int m, int k)
{
  double sum = 0.0;
  for (int i = 0; i < m; i++)
    sum += A[i][k] * A[i][k];
  return sqrt(sum);
}

void kernel(int m, int n)
{
  for (int k = 0; k < n; k++) {
    R[k][k] = norm(m, k);
    for (int i = 0; i < m; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < n; j++) {
      R[k][j] = 0.0;
      for (int i = 0; i < m; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < m; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
}

int main(void)
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = (i == j) + 1;
  kernel(M, N);
  return Q[1][1] > 0;
}
