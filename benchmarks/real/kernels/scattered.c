/* Indexed accesses: sparse matrix times vector with a band and with random columns, and a gather. */
#include "real.h"

enum { NONZEROS = 16 }; /* of a row */

/* a: the nonzeros, row by row; index: their columns; b: the vector; c: the product. */
static void sparse(struct problem *p)
{
  p->a = numbers(p->n * NONZEROS, 1);
  p->b = numbers(p->n, 2);
  p->c = array(p->n * sizeof(double), PAGES_OF_SYSTEM);
  p->index = array(p->n * NONZEROS * sizeof(int32_t), PAGES_OF_SYSTEM);
}

static void band(struct problem *p)
{
  sparse(p);
  for (long row = 0; row < p->n; row++)
    for (long k = 0; k < NONZEROS; k++)
      p->index[row * NONZEROS + k] = (int32_t)((row + k + p->n - NONZEROS / 2) % p->n);
}

static void anywhere(struct problem *p)
{
  uint64_t state = 7;
  sparse(p);
  for (long k = 0; k < p->n * NONZEROS; k++)
    p->index[k] = (int32_t)(draw(&state) % (uint64_t)p->n);
}

static void spmv_run(struct problem *p)
{
  const double *restrict a = p->a, *restrict x = p->b;
  const int32_t *restrict column = p->index;
  double *restrict y = p->c;
  for (long row = 0; row < p->n; row++) {
    double sum = 0;
    for (long k = row * NONZEROS; k < (row + 1) * NONZEROS; k++)
      sum += a[k] * x[column[k]];
    y[row] = sum;
  }
}

static double spmv_wrong(struct problem *p)
{
  double worst = 0;
  for (long row = 0; row < p->n; row++) {
    long double sum = 0;
    for (long k = NONZEROS - 1; k >= 0; k--)
      sum += (long double)p->a[row * NONZEROS + k] * p->b[p->index[row * NONZEROS + k]];
    worst = fmax(worst, apart(p->c[row], (double)sum));
  }
  return worst;
}

const struct kernel spmv_band = {"spmv_band", band, spmv_run, spmv_wrong};
const struct kernel spmv_random = {"spmv_random", anywhere, spmv_run, spmv_wrong};

/* a: the table; b: what was gathered. */
static void table(struct problem *p)
{
  uint64_t state = 11;
  p->a = numbers(p->n, 1);
  p->b = array(p->m * sizeof(double), PAGES_OF_SYSTEM);
  p->index = array(p->m * sizeof(int32_t), PAGES_OF_SYSTEM);
  for (long i = 0; i < p->m; i++)
    p->index[i] = (int32_t)(draw(&state) % (uint64_t)p->n);
}

static void gather_run(struct problem *p)
{
  const double *restrict a = p->a;
  const int32_t *restrict index = p->index;
  double *restrict b = p->b;
  for (long i = 0; i < p->m; i++)
    b[i] = a[index[i]];
}

static double gather_wrong(struct problem *p)
{
  double worst = 0;
  for (long i = 0; i < p->m; i++)
    worst = fmax(worst, apart(p->b[i], p->a[p->index[i]]));
  return worst;
}

const struct kernel gather = {"gather", table, gather_run, gather_wrong};
