/* x1 += A ya, x2 += A' yb. */
#ifndef N
#define N 40
#endif
double a[N * N], x1[N], x2[N], ya[N], yb[N];

void kernel(int n)
{
  int i, j;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      x1[i] = x1[i] + a[i * n + j] * ya[j];
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      x2[i] += a[j * n + i] * yb[j];
}

int main(void)
{
  kernel(N);
  return x1[0] > 1;
}
