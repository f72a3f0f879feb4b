/* The covariance matrix of M variables in N samples. */
#ifndef N
#define N 24
#endif
#define M (N - 3)
double data[N][M], cov[M][M], mean[M];

void kernel(int m, int n, double float_n)
{
  int i, j, k;
  for (j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (i = 0; i < n; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      data[i][j] -= mean[j];
  for (i = 0; i < m; i++)
    for (j = i; j < m; j++) {
      cov[i][j] = 0.0;
      for (k = 0; k < n; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= (float_n - 1.0);
      cov[j][i] = cov[i][j];
    }
}

int main(void)
{
  kernel(M, N, (double)N);
  return cov[1][1] > 0;
}
