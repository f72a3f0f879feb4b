/* s = A' r, q = A p, by a pointer to each row. */
#ifndef N
#define N 40
#endif
enum { ROWS = N, COLUMNS = N + 3 };
double A[ROWS][COLUMNS], s[COLUMNS], q[ROWS], p[COLUMNS], r[ROWS];

void kernel(void)
{
  for (int i = 0; i < COLUMNS; i++)
    s[i] = 0;
  for (int i = 0; i < ROWS; i++) {
    double *row = A[i];
    q[i] = 0.0;
    for (int j = 0; j < COLUMNS; j++) {
      s[j] = s[j] + r[i] * row[j];
      q[i] = q[i] + row[j] * p[j];
    }
  }
}

int main(void)
{
  kernel();
  return q[1] > 0;
}
