/* Heat in three dimensions, to and fro between two flat arrays. */
#include <stdlib.h>
#ifndef N
#define N 10
#endif
#ifndef STEPS
#define STEPS 3
#endif
#define AT(a, i, j, k) a[((i) * n + (j)) * n + (k)]

static void step(int n, double *to, const double *from)
{
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++)
        AT(to, i, j, k) = 0.125 * (AT(from, i + 1, j, k) - 2.0 * AT(from, i, j, k) + AT(from, i - 1, j, k))
                        + 0.125 * (AT(from, i, j + 1, k) - 2.0 * AT(from, i, j, k) + AT(from, i, j - 1, k))
                        + 0.125 * (AT(from, i, j, k + 1) - 2.0 * AT(from, i, j, k) + AT(from, i, j, k - 1))
                        + AT(from, i, j, k);
}

void kernel(int steps, int n, double *A, double *B)
{
  for (int t = 1; t <= steps; t++) {
    step(n, B, A);
    step(n, A, B);
  }
}

int main(void)
{
  double *A = calloc(N * N * N, 8), *B = calloc(N * N * N, 8);
  kernel(STEPS, N, A, B);
  return A[1] > 0;
}
