/* B := alpha A' B, A lower triangular with units on its diagonal; loops count down. */
#ifndef N
#define N 20
#endif
#define M (N + 1)
double A[M][M], B[M][N];

void kernel(int m, int n, double alpha)
{
  for (int i = m - 1; i >= 0; i--)
    for (int j = n - 1; j >= 0; --j) {
      for (int k = m - 1; k > i; k--)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
}

int main(void)
{
  kernel(M, N, 1.5);
  return B[1][1] > 0;
}
