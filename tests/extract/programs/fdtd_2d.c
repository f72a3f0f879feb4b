/* Maxwell's equations in two dimensions, by finite differences in time. */
#ifndef N
#define N 16
#endif
#ifndef STEPS
#define STEPS 3
#endif
#define NX N
#define NY (N + 3)
double ex[NX][NY], ey[NX][NY], hz[NX][NY], fict[STEPS];

void kernel(int tmax, int nx, int ny)
{
  int t, i, j;
  for (t = 0; t < tmax; t++) {
    for (j = 0; j < ny; j++)
      ey[0][j] = fict[t];
    for (i = 1; i < nx; i++)
      for (j = 0; j < ny; j++)
        ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (i = 0; i < nx; i++)
      for (j = 1; j < ny; j++)
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (i = 0; i < nx - 1; i++)
      for (j = 0; j < ny - 1; j++)
        hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

int main(void)
{
  kernel(STEPS, NX, NY);
  return hz[1][1] > 0;
}
