/* Matrix products, naive, blocked and tuned, and a transpose. C (m x n) is A (m x n) times B (n x n), by rows. */
#include <string.h>

#include "real.h"

static void three_matrices(struct problem *p)
{
  p->a = numbers(p->m * p->n, 1);
  p->b = numbers(p->n * p->n, 2);
  p->c = array(p->m * p->n * sizeof(double), PAGES_OF_SYSTEM);
  p->d = array(p->n * p->n * sizeof(double), PAGES_OF_SYSTEM);
}

/* Some elements of the product, each by itself. */
static double product_wrong(struct problem *p)
{
  double worst = 0;
  long step = p->m * p->n / 500 + 1;
  for (long at = 0; at < p->m * p->n; at += step) {
    long double sum = 0;
    for (long k = 0; k < p->n; k++)
      sum += (long double)p->a[at / p->n * p->n + k] * p->b[k * p->n + at % p->n];
    worst = fmax(worst, apart(p->c[at], (double)sum));
  }
  return worst;
}

static void naive_run(struct problem *p)
{
  long m = p->m, n = p->n;
  const double *restrict a = p->a, *restrict b = p->b;
  double *restrict c = p->c;
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) {
      double sum = 0;
      for (long k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

const struct kernel dgemm_naive = {"dgemm_naive", three_matrices, naive_run, product_wrong};

/* Tiles of 32 x 32; three of them lie in the first cache. A tile of B is used for all rows. For each k, a tile of C is loaded, added to and stored. n
   and m are multiples of 32. */
enum { TILE = 32 };

static void blocked_run(struct problem *p)
{
  long m = p->m, n = p->n;
  const double *restrict a = p->a, *restrict b = p->b;
  double *restrict c = p->c;
  memset(c, 0, m * n * sizeof(double));
  for (long jj = 0; jj < n; jj += TILE)
    for (long kk = 0; kk < n; kk += TILE)
      for (long ii = 0; ii < m; ii += TILE)
        for (long k = kk; k < kk + TILE; k++)
          for (long i = ii; i < ii + TILE; i++) {
            double factor = a[i * n + k];
#pragma omp simd
            for (long j = jj; j < jj + TILE; j++)
              c[i * n + j] += factor * b[k * n + j];
          }
}

const struct kernel dgemm_blocked = {"dgemm_blocked", three_matrices, blocked_run, product_wrong};

/* Four rows and four vectors of C stay in registers. B is packed into panels of that width once a run, which lie in
   p->d one after the other. n is a multiple of four vectors, m of four. */
enum { ROWS = 4, WIDE = 4 * LANES };

/* Keeps a vector in a register: the compiler would load it for each use. */
#if defined(__x86_64__)
#define KEEP(value) __asm__("" : "+v"(value))
#elif defined(__aarch64__)
#define KEEP(value) __asm__("" : "+w"(value))
#else
#define KEEP(value)
#endif

static void pack(const double *restrict b, double *restrict panel, long n)
{
  for (long k = 0; k < n; k++)
    memcpy(panel + k * WIDE, b + k * n, WIDE * sizeof(double));
}

static void four_rows(const double *restrict a, const double *restrict panel, double *restrict c, long n)
{
  vector sum[ROWS][4] = {{{0}}};
  for (long k = 0; k < n; k++) {
    const vector *b = (const vector *)(panel + k * WIDE);
    vector b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
    KEEP(b0);
    KEEP(b1);
    KEEP(b2);
    KEEP(b3);
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++) {
      double factor = a[i * n + k];
      sum[i][0] += factor * b0;
      sum[i][1] += factor * b1;
      sum[i][2] += factor * b2;
      sum[i][3] += factor * b3;
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++)
      *(vector *)(c + i * n + j * LANES) = sum[i][j];
}

static void tuned_run(struct problem *p)
{
  for (long j = 0; j < p->n; j += WIDE) {
    double *panel = p->d + j * p->n;
    pack(p->b + j, panel, p->n);
    for (long i = 0; i < p->m; i += ROWS)
      four_rows(p->a + i * p->n, panel, p->c + i * p->n + j, p->n);
  }
}

const struct kernel dgemm_tuned = {"dgemm_tuned", three_matrices, tuned_run, product_wrong};

static void two_matrices(struct problem *p)
{
  p->a = numbers(p->n * p->n, 1);
  p->b = array(p->n * p->n * sizeof(double), PAGES_OF_SYSTEM);
}

/* Reads rows, writes columns. */
static void transpose_run(struct problem *p)
{
  long n = p->n;
  const double *restrict a = p->a;
  double *restrict b = p->b;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      b[j * n + i] = a[i * n + j];
}

static double transpose_wrong(struct problem *p)
{
  double worst = 0;
  for (long i = 0; i < p->n; i++)
    for (long j = 0; j < p->n; j++)
      worst = fmax(worst, apart(p->b[j * p->n + i], p->a[i * p->n + j]));
  return worst;
}

const struct kernel transpose = {"transpose", two_matrices, transpose_run, transpose_wrong};
