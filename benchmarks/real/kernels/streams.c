/* Kernels that sweep vectors: triad, dot product, a sum in order, a polynomial by Horner's rule. */
#include "real.h"

static void two_sources(struct problem *p)
{
  p->a = numbers(p->n, 1);
  p->b = numbers(p->n, 2);
  p->c = numbers(p->n, 3);
}

static void triad_run(struct problem *p)
{
  double *restrict a = p->a;
  const double *restrict b = p->b, *restrict c = p->c;
#pragma omp simd
  for (long i = 0; i < p->n; i++)
    a[i] = b[i] + 3.0 * c[i];
}

static double triad_wrong(struct problem *p)
{
  double worst = 0;
  for (long i = 0; i < p->n; i++)
    worst = fmax(worst, apart(p->a[i], p->b[i] + 3.0 * p->c[i]));
  return worst;
}

const struct kernel triad = {"triad", two_sources, triad_run, triad_wrong};

static void two_vectors(struct problem *p)
{
  p->a = numbers(p->n, 1);
  p->b = numbers(p->n, 2);
}

/* Eight partial sums of vectors, so that no sum waits for another; n is a multiple of eight vectors. */
static void dot_run(struct problem *p)
{
  const double *restrict a = p->a, *restrict b = p->b;
  vector sum[8] = {{0}};
  for (long i = 0; i < p->n; i += 8 * LANES) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
      sum[k] += *(const vector *)(a + i + k * LANES) * *(const vector *)(b + i + k * LANES);
  }
  for (int k = 0; k < 4; k++)
    sum[k] += sum[k + 4];
  sum[0] += sum[1] + (sum[2] + sum[3]);
  p->result = 0;
  for (int lane = 0; lane < LANES; lane++)
    p->result += sum[0][lane];
}

static double dot_wrong(struct problem *p)
{
  long double total = 0;
  for (long i = 0; i < p->n; i++)
    total += (long double)p->a[i] * p->b[i];
  return apart(p->result, (double)total);
}

const struct kernel dot = {"dot", two_vectors, dot_run, dot_wrong};

static void one_vector(struct problem *p)
{
  p->a = numbers(p->n, 1);
}

static void ordered_sum_run(struct problem *p)
{
  double sum = 0;
  for (long i = 0; i < p->n; i++)
    sum += p->a[i];
  p->result = sum;
}

static double ordered_sum_wrong(struct problem *p)
{
  long double total = 0;
  for (long i = 0; i < p->n; i++)
    total += p->a[i];
  return apart(p->result, (double)total);
}

const struct kernel ordered_sum = {"ordered_sum", one_vector, ordered_sum_run, ordered_sum_wrong};

static const double POINT = 0.96875;

static void horner_run(struct problem *p)
{
  double value = 0;
  for (long i = 0; i < p->n; i++)
    value = value * POINT + p->a[i];
  p->result = value;
}

static double horner_wrong(struct problem *p)
{
  long double value = 0, power = 1;
  for (long i = p->n - 1; i >= 0; i--, power *= POINT)
    value += power * p->a[i];
  return apart(p->result, (double)value);
}

const struct kernel horner = {"horner", one_vector, horner_run, horner_wrong};
