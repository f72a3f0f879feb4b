/* G := (A B) (C D), one product as a function of its own that adds up in a scalar. */
#ifndef N
#define N 16
#endif
#define FOR(i) for (int i = 0; i < N; ++i)

double A[N][N], B[N][N], C[N][N], D[N][N], E[N][N], F[N][N], G[N][N];

static void product(double x[N][N], double y[N][N], double z[N][N])
{
  FOR(i) FOR(j) {
    double sum = 0;
    FOR(k) sum += x[i][k] * y[k][j];
    z[i][j] = sum;
  }
}

void kernel(void)
{
  product(A, B, E);
  product(C, D, F);
  product(E, F, G);
}

int main(void)
{
  kernel();
  return G[1][2] > 0;
}
