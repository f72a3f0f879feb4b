/* C := alpha (A B' + B A') + beta C on the lower triangle, C packed row by row in one array. */
#ifndef N
#define N 18
#endif
double A[N][N], B[N][N], C[N * (N + 1) / 2];

void kernel(int n, double alpha, double beta)
{
  int at = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      C[at] *= beta;
      for (int k = 0; k < n; k++)
        C[at] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
      at++;
    }
}

int main(void)
{
  kernel(N, 1.5, 1.2);
  return C[1] > 0;
}
