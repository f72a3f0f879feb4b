/* C := alpha A A' + beta C on the lower triangle, an upper limit by <=. */
#ifndef N
#define N 20
#endif
double A[N][N], C[N][N];

void kernel(double alpha, double beta)
{
  int i, j, k;
  for (i = 0; i < N; i++) {
    for (j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (k = 0; k < N; k++)
      for (j = 0; j <= i; j++)
        C[i][j] += alpha * A[i][k] * A[j][k];
  }
}

int main(void)
{
  kernel(1.5, 1.2);
  return C[1][1] > 0;
}
