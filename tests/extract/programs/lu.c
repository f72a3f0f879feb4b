/* A = L U in place. */
#ifndef N
#define N 20
#endif
#define LOOP(i, from, to) for (i = (from); i < (to); i++)
double A[N][N];

void kernel(void)
{
  int i, j, k;
  LOOP(i, 0, N) {
    LOOP(j, 0, i) {
      LOOP(k, 0, j)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    LOOP(j, i, N)
      LOOP(k, 0, i)
        A[i][j] -= A[i][k] * A[k][j];
  }
}

int main(void)
{
  for (int i = 0; i < N; i++)
    A[i][i] = 2;
  kernel();
  return A[1][1] > 0;
}
