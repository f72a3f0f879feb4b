/* Gauss and Seidel's relaxation with nine points, in place. */
#ifndef N
#define N 20
#endif
#ifndef STEPS
#define STEPS 3
#endif
double A[N][N];

void kernel(int steps, int n)
{
  for (int t = 0; t <= steps - 1; t++)
    for (int i = 1; i <= n - 2; i++)
      for (int j = 1; j <= n - 2; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1]
                 + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;
}

int main(void)
{
  kernel(STEPS, N);
  return A[1][1] > 0;
}
