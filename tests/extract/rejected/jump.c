void f(int n, double *x)
{
  int i = 0;
again:
  x[i] *= 3;
  if (++i < n) goto again;
}
