/* C := alpha A B + beta C, global arrays of fixed size, sizes as arguments. */
#ifndef N
#define N 24
#endif
#define NI N          /* rows of A and C */
#define NJ (N + 2)    /* columns of B and C */
#define NK (N + 4)

typedef double real;
real A[NI][NK], B[NK][NJ], C[NI][NJ];

void kernel(int ni, int nj, int nk, real alpha, real beta)
{
  int i, j, k;
  for (i = 0; i < ni; i++) {
    for (j = 0; j < nj; j++)
      C[i][j] *= beta;
    for (k = 0; k < nk; k++)
      for (j = 0; j < nj; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
}

int main(void)
{
  for (int i = 0; i < NI; i++)
    for (int k = 0; k < NK; k++)
      A[i][k] = i + k;
  kernel(NI, NJ, NK, 1.5, 1.2);
  return C[1][1] > 0;
}
