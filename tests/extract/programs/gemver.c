/* A := A + u1 v1' + u2 v2'; x := beta A' y + z; w := alpha A x. */
#ifndef N
#define N 30
#endif
struct vectors { double u1[N], v1[N], u2[N], v2[N], x[N], y[N], z[N], w[N]; };
struct vectors all;
double A[N][N];

void kernel(int n, double alpha, double beta, struct vectors *v)
{
  int i, j;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      A[i][j] = A[i][j] + v->u1[i] * v->v1[j] + v->u2[i] * v->v2[j];
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      v->x[i] = v->x[i] + beta * A[j][i] * v->y[j];
  for (i = 0; i < n; i++)
    v->x[i] = v->x[i] + v->z[i];
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      v->w[i] = v->w[i] + alpha * A[i][j] * v->x[j];
}

int main(void)
{
  kernel(N, 1.5, 1.2, &all);
  return all.w[1] > 0;
}
