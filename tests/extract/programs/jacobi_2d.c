/* A star of five points in the middle of pointers to rows that are exchanged. */
#ifndef N
#define N 20
#endif
#ifndef STEPS
#define STEPS 3
#endif
double A[N][N], B[N][N];

static inline double star(double x[N][N], int i, int j)
{
  return 0.2 * (x[i][j] + x[i][j - 1] + x[i][1 + j] + x[1 + i][j] + x[i - 1][j]);
}

void kernel(int steps, int n)
{
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = star(A, i, j);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = star(B, i, j);
  }
}

int main(void)
{
  kernel(STEPS, N);
  return A[1][1] > 0;
}
