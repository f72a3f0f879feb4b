/* C := alpha A B + beta C, A symmetric, its lower triangle stored. */
#ifndef N
#define N 18
#endif
#define M (N + 2)
double A[M][M], B[M][N], C[M][N];

void kernel(int m, int n, double alpha, double beta)
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        sum += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * sum;
    }
}

int main(void)
{
  kernel(M, N, 1.5, 1.2);
  return C[1][1] > 0;
}
