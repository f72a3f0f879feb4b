/* Twelve kernels of the same classes that were written when all others had been looked at, and held back. */
#include <stdlib.h>

#include "fill.h"

/* -- a mean that forgets --------------------------------------------------------------------------------------------------- */

static void make_forgetting(struct problem *p)
{
  p->a = numbers(p->n, 91), p->b = numbers(p->n, 92);
}

static void forgetting_run(struct problem *p)
{
  const double *restrict x = p->a;
  double *restrict mean = p->b, now = 1;
  long n = p->n;
  for (long i = 0; i < n; i++)
    mean[i] = now = 0.9 * now + 0.1 * x[i];
}

static double forgetting_wrong(struct problem *p)
{
  long i = p->n - 1;
  return fabs(p->b[i] - 0.9 * p->b[i - 1] - 0.1 * p->a[i]) > 1e-12;
}

const struct kernel forgetting = {"forgetting", make_forgetting, forgetting_run, forgetting_wrong};

/* -- how often each second byte occurs in whole numbers ----------------------------------------------------------------------- */

static void make_digits(struct problem *p)
{
  p->a = (double *)draws(p->n, 1 << 24, 93), p->index = draws(256, 1, 94);
}

static void digits_run(struct problem *p)
{
  const uint32_t *restrict x = (const uint32_t *)p->a;
  int32_t *restrict counts = p->index;
  long n = p->n;
  for (long i = 0; i < n; i++)
    counts[x[i] >> 8 & 255]++;
  p->result += (double)n;
}

static double digits_wrong(struct problem *p)
{
  uint32_t sum = 0;
  for (long i = 0; i < 256; i++)
    sum += (uint32_t)p->index[i];
  return sum != (uint32_t)(uint64_t)p->result;
}

const struct kernel digits = {"digits", make_digits, digits_run, digits_wrong};

/* -- a step of a sorting network: numbers of one half and of the other ---------------------------------------------------------- */

static void make_exchange(struct problem *p)
{
  p->index = draws(p->n, 1 << 30, 95);
}

static void exchange_run(struct problem *p)
{
  long half = p->n / 2;
  int32_t *restrict low = p->index, *restrict high = p->index + half;
  for (long i = 0; i < half; i++) {
    int32_t one = low[i], other = high[i];
    low[i] = one < other ? one : other;
    high[i] = one < other ? other : one;
  }
}

static double exchange_wrong(struct problem *p)
{
  long wrong = 0;
  for (long i = 0; i < p->n / 2; i++)
    wrong += p->index[i] > p->index[i + p->n / 2];
  return (double)wrong;
}

const struct kernel exchange = {"exchange", make_exchange, exchange_run, exchange_wrong};

/* -- a hash of a text -------------------------------------------------------------------------------------------------------------- */

static void make_text_hash(struct problem *p)
{
  p->a = (double *)bytes(p->n, 128, 96);
}

static uint64_t hash_of(const uint8_t *text, long n)
{
  uint64_t hash = 5381;
  for (long i = 0; i < n; i++)
    hash = hash * 1099511628211u + text[i];
  return hash;
}

static void text_hash_run(struct problem *p)
{
  p->result = (double)(hash_of((const uint8_t *)p->a, p->n) >> 12);
}

static double text_hash_wrong(struct problem *p)
{
  return p->result <= 0;
}

const struct kernel text_hash = {"text_hash", make_text_hash, text_hash_run, text_hash_wrong};

/* -- sums of bytes that stop at 255 --------------------------------------------------------------------------------------------------- */

static void make_brighter(struct problem *p)
{
  p->a = (double *)bytes(p->n, 256, 97), p->b = (double *)bytes(p->n, 256, 98), p->c = (double *)bytes(p->n, 1, 99);
}

static void brighter_run(struct problem *p)
{
  const uint8_t *restrict x = (const uint8_t *)p->a, *restrict y = (const uint8_t *)p->b;
  uint8_t *restrict sum = (uint8_t *)p->c;
  long n = p->n;
  for (long i = 0; i < n; i++) {
    int both = x[i] + y[i];
    sum[i] = (uint8_t)(both > 255 ? 255 : both);
  }
}

static double brighter_wrong(struct problem *p)
{
  const uint8_t *x = (const uint8_t *)p->a, *y = (const uint8_t *)p->b, *sum = (const uint8_t *)p->c;
  long wrong = 0;
  for (long i = 0; i < p->n; i++)
    wrong += sum[i] < 255 ? sum[i] != x[i] + y[i] : x[i] + y[i] < 255;
  return (double)wrong;
}

const struct kernel brighter = {"brighter", make_brighter, brighter_run, brighter_wrong};

/* -- kinetic energy of particles in arrays of their own, a sum in order ------------------------------------------------------------------ */

static void make_kinetic(struct problem *p)
{
  p->a = (double *)floats(p->n, 100), p->b = (double *)floats(p->n, 101), p->c = (double *)floats(p->n, 102);
}

static void kinetic_run(struct problem *p)
{
  const float *restrict vx = (const float *)p->a, *restrict vy = (const float *)p->b, *restrict vz = (const float *)p->c;
  float sum = 0;
  long n = p->n;
  for (long i = 0; i < n; i++)
    sum += vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i];
  p->result = (double)sum;
}

static double kinetic_wrong(struct problem *p)
{
  double sum = 0;
  for (long i = 0; i < p->n; i++)
    for (int k = 0; k < 3; k++) {
      double v = (double)((float *)(k == 0 ? p->a : k == 1 ? p->b : p->c))[i];
      sum += v * v;
    }
  return apart(p->result, sum) > 0.01;
}

const struct kernel kinetic = {"kinetic", make_kinetic, kinetic_run, kinetic_wrong};

/* -- five points of a row with a weight each -------------------------------------------------------------------------------------------------- */

static void make_blur5(struct problem *p)
{
  p->a = (double *)floats(p->n + 4, 103), p->b = (double *)floats(p->n, 104);
}

static void blur5_run(struct problem *p)
{
  const float *restrict x = (const float *)p->a;
  float *restrict y = (float *)p->b;
  long n = p->n;
  for (long i = 0; i < n; i++)
    y[i] = 0.1f * (x[i] + x[i + 4]) + 0.2f * (x[i + 1] + x[i + 3]) + 0.4f * x[i + 2];
}

static double blur5_wrong(struct problem *p)
{
  const float *x = (const float *)p->a + p->n / 2;
  double sum = 0.1 * (double)(x[0] + x[4]) + 0.2 * (double)(x[1] + x[3]) + 0.4 * (double)x[2];
  return apart(((float *)p->b)[p->n / 2], sum) > 1e-5;
}

const struct kernel blur5 = {"blur5", make_blur5, blur5_run, blur5_wrong};

/* -- a dense triangular solve of n rows, column by column --------------------------------------------------------------------------------------- */

static void make_columns(struct problem *p)
{
  p->a = numbers(p->n * p->n, 105), p->b = numbers(p->n, 106), p->c = numbers(p->n, 107);
}

static void columns_run(struct problem *p)
{
  long n = p->n;
  const double *restrict matrix = p->a, *restrict b = p->b;
  double *restrict x = p->c;
  for (long i = 0; i < n; i++)
    x[i] = b[i];
  for (long j = 0; j < n; j++) {
    const double *restrict column = matrix + j * n;
    double here = x[j];
    for (long i = j + 1; i < n; i++)
      x[i] -= 0.001 * column[i] * here;
  }
}

static double columns_wrong(struct problem *p)
{
  return apart(p->c[1], p->b[1] - 0.001 * p->a[1] * p->b[0]) > 1e-12;
}

const struct kernel columns = {"columns", make_columns, columns_run, columns_wrong};

/* -- two lists of n/2 nodes of 64 B each, side by side --------------------------------------------------------------------------------------------- */

struct pair { struct pair *next; long key; char rest[48]; };

static void make_two_lists(struct problem *p)
{
  int32_t *order = shuffled(p->n, 108);
  struct pair *all = array((size_t)p->n * sizeof *all, PAGES_OF_SYSTEM);
  for (long i = 0; i < p->n; i++)
    all[order[i]] = (struct pair){i + 2 < p->n ? &all[order[i + 2]] : NULL, i % 7, ""};
  p->a = (double *)&all[order[0]], p->b = (double *)&all[order[1]];
  release(order);
}

static void two_lists_run(struct problem *p)
{
  const struct pair *one = (const struct pair *)p->a, *other = (const struct pair *)p->b;
  long product = 0;
  for (; one && other; one = one->next, other = other->next)
    product += one->key * other->key;
  p->result = (double)product;
}

static double two_lists_wrong(struct problem *p)
{
  long sum = 0;
  for (long i = 0; i + 1 < p->n; i += 2)
    sum += i % 7 * ((i + 1) % 7);
  return p->result != (double)sum;
}

const struct kernel two_lists = {"two_lists", make_two_lists, two_lists_run, two_lists_wrong};

/* -- n columns of 512 floats, times a number each, added up -------------------------------------------------------------------------------------------- */

static void make_add_columns(struct problem *p)
{
  p->a = (double *)floats(512 * p->n, 109), p->b = (double *)floats(p->n, 110), p->c = (double *)floats(512, 111);
}

static void add_columns_run(struct problem *p)
{
  const float *restrict matrix = (const float *)p->a, *restrict x = (const float *)p->b;
  float *restrict y = (float *)p->c;
  long n = p->n;
  for (long i = 0; i < 512; i++)
    y[i] = 0;
  for (long j = 0; j < n; j++)
    for (long i = 0; i < 512; i++)
      y[i] += matrix[512 * j + i] * x[j];
}

static double add_columns_wrong(struct problem *p)
{
  double sum = 0;
  for (long j = 0; j < p->n; j++)
    sum += (double)(((float *)p->a)[512 * j + 7] * ((float *)p->b)[j]);
  return apart(((float *)p->c)[7], sum) > 1e-3;
}

const struct kernel add_columns = {"add_columns", make_add_columns, add_columns_run, add_columns_wrong};

/* -- a copy from the end to the begin ----------------------------------------------------------------------------------------------------------------------- */

static void make_backwards(struct problem *p)
{
  p->a = numbers(p->n, 112), p->b = numbers(p->n, 113);
}

static void backwards_run(struct problem *p)
{
  const double *restrict x = p->a;
  double *restrict y = p->b;
  long n = p->n;
  for (long i = 0; i < n; i++)
    y[i] = x[n - 1 - i];
}

static double backwards_wrong(struct problem *p)
{
  long i = p->n / 3;
  return apart(p->b[i], p->a[p->n - 1 - i]);
}

const struct kernel backwards = {"backwards", make_backwards, backwards_run, backwards_wrong};

/* -- ten of Richardson's steps with three diagonals ----------------------------------------------------------------------------------------------------------- */

static void make_richardson(struct problem *p)
{
  p->a = numbers(p->n + 2, 114), p->b = numbers(p->n + 2, 115), p->c = numbers(p->n + 2, 116);
}

static void richardson_run(struct problem *p)
{
  long n = p->n;
  double *restrict x = p->a, *restrict rest = p->b;
  const double *restrict b = p->c;
  for (int step = 0; step < 10; step++) {
    for (long i = 1; i <= n; i++)
      rest[i] = b[i] - 2 * x[i] + 0.9 * (x[i - 1] + x[i + 1]);
    for (long i = 1; i <= n; i++)
      x[i] += 0.25 * rest[i];
  }
}

static double richardson_wrong(struct problem *p)
{
  for (long i = 1; i <= p->n; i++)
    if (!(fabs(p->a[i]) < 1000))
      return 1;
  return 0;
}

const struct kernel richardson = {"richardson", make_richardson, richardson_run, richardson_wrong};
