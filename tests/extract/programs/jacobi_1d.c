/* A star of three points, to and fro. */
#ifndef N
#define N 60
#endif
#ifndef STEPS
#define STEPS 4
#endif
double A[N], B[N];

void kernel(int steps, int n)
{
  int t, i;
  for (t = 0; t < steps; t++) {
    for (i = 1; i < n - 1; i++)
      B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    for (i = 1; i < n - 1; i++)
      A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
  }
}

int main(void)
{
  kernel(STEPS, N);
  return A[1] > 0;
}
