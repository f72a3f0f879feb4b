/* L x = b. */
#ifndef N
#define N 40
#endif
double L[N][N], x[N], b[N];

void kernel(int n)
{
  int i, j;
  for (i = 0; i < n; i++) {
    x[i] = b[i];
    for (j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}

int main(void)
{
  for (int i = 0; i < N; i++)
    L[i][i] = 1;
  kernel(N);
  return x[1] > 0;
}
