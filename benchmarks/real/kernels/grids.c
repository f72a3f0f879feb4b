/* Stencils on n x n and n x n x n points with a rim of one: five points, seven points, and Gauss-Seidel in place. */
#include "real.h"

static long points(struct problem *p, int axes)
{
  long side = p->n + 2;
  return axes == 2 ? side * side : side * side * side;
}

static void two_grids(struct problem *p)
{
  p->a = numbers(points(p, 2), 1);
  p->b = array(points(p, 2) * sizeof(double), PAGES_OF_SYSTEM);
}

static void stencil5_run(struct problem *p)
{
  long n = p->n, row = n + 2;
  for (long i = 1; i <= n; i++) {
    const double *restrict a = p->a + i * row;
    double *restrict b = p->b + i * row;
#pragma omp simd
    for (long j = 1; j <= n; j++)
      b[j] = 0.25 * (a[j - 1] + a[j + 1] + a[j - row] + a[j + row]) - a[j];
  }
}

static double stencil5_wrong(struct problem *p)
{
  long row = p->n + 2;
  double worst = 0;
  for (long at = row + 1; at < row * (row - 1) - 1; at++) {
    if (at % row == 0 || at % row == row - 1)
      continue;
    double around = p->a[at - row] + p->a[at - 1] + p->a[at + 1] + p->a[at + row];
    worst = fmax(worst, fabs(p->b[at] - (around / 4 - p->a[at])));
  }
  return worst;
}

const struct kernel stencil5 = {"stencil5", two_grids, stencil5_run, stencil5_wrong};

static void two_cubes(struct problem *p)
{
  p->a = numbers(points(p, 3), 1);
  p->b = array(points(p, 3) * sizeof(double), PAGES_OF_SYSTEM);
}

static void stencil7_run(struct problem *p)
{
  long n = p->n, row = n + 2, plane = row * row;
  for (long i = 1; i <= n; i++)
    for (long j = 1; j <= n; j++) {
      const double *restrict a = p->a + i * plane + j * row;
      double *restrict b = p->b + i * plane + j * row;
#pragma omp simd
      for (long k = 1; k <= n; k++)
        b[k] = 0.125 * (a[k - 1] + a[k + 1] + a[k - row] + a[k + row] + a[k - plane] + a[k + plane]) - a[k];
    }
}

static double stencil7_wrong(struct problem *p)
{
  long row = p->n + 2, plane = row * row;
  double worst = 0;
  for (long i = 1; i <= p->n; i++)
    for (long j = 1; j <= p->n; j++)
      for (long k = 1; k <= p->n; k++) {
        const double *at = p->a + i * plane + j * row + k;
        double around = at[-plane] + at[-row] + at[-1] + at[1] + at[row] + at[plane];
        worst = fmax(worst, fabs(p->b[at - p->a] - (around / 8 - *at)));
      }
  return worst;
}

const struct kernel stencil7 = {"stencil7", two_cubes, stencil7_run, stencil7_wrong};

static void one_grid(struct problem *p)
{
  p->a = numbers(points(p, 2), 1);
}

/* In place: each point waits for the one before it in its row, by an addition and a multiplication. */
static void gauss_seidel_run(struct problem *p)
{
  long n = p->n, row = n + 2;
  for (long i = 1; i <= n; i++) {
    double *u = p->a + i * row;
    double west = u[0];
    for (long j = 1; j <= n; j++) {
      west = 0.25 * (u[j - row] + u[j + row] + u[j + 1] + west);
      u[j] = west;
    }
  }
}

/* One more sweep, written the other way, on a copy and on the grid itself. */
static double gauss_seidel_wrong(struct problem *p)
{
  long row = p->n + 2;
  double *copy = array(points(p, 2) * sizeof(double), PAGES_OF_SYSTEM);
  for (long at = 0; at < points(p, 2); at++)
    copy[at] = p->a[at];
  for (long i = 1; i <= p->n; i++)
    for (long j = 1; j <= p->n; j++) {
      double *here = copy + i * row + j;
      *here = (here[-1] + here[1] + here[-row] + here[row]) / 4;
    }
  gauss_seidel_run(p);
  double worst = 0;
  for (long at = 0; at < points(p, 2); at++)
    worst = fmax(worst, apart(p->a[at], copy[at]));
  return worst;
}

const struct kernel gauss_seidel = {"gauss_seidel", one_grid, gauss_seidel_run, gauss_seidel_wrong};
