/* A[r][q][:] := A[r][q][:] C4, planes as pointers to arrays. */
#include <stdlib.h>
#ifndef N
#define N 12
#endif
#define NR (N)
#define NQ (N - 2)
#define NP (N + 1)

void kernel(int nr, int nq, int np, double A[nr][nq][np], double C4[np][np], double *restrict sum)
{
  for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++) {
      for (int p = 0; p < np; p++) {
        sum[p] = 0.0;
        for (int s = 0; s < np; s++)
          sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < np; p++)
        A[r][q][p] = sum[p];
    }
}

int main(void)
{
  double *A = calloc(NR * NQ * NP, 8), *C4 = calloc(NP * NP, 8), *sum = calloc(NP, 8);
  kernel(NR, NQ, NP, (double(*)[NQ][NP])A, (double(*)[NP])C4, sum);
  return A[1] > 0;
}
