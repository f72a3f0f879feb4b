/* Stages of an FFT, products of bytes, polynomials, escape times. */
#include "fill.h"

/* -- a stage of a radix-2 FFT over separate real and imaginary parts, halves m apart; and the order of reversed bits -------- */

static void make_butterflies(struct problem *p)
{
  p->m = p->n / 4;
  p->a = numbers(p->n, 1), p->b = numbers(p->n, 2), p->c = numbers(p->m, 3), p->d = numbers(p->m, 4);
  for (long k = 0; k < p->m; k++)
    p->d[k] = sin(p->c[k]), p->c[k] = cos(p->c[k]);
}

static void butterflies_run(struct problem *p)
{
  double *restrict re = p->a, *restrict im = p->b;
  const double *restrict cosine = p->c, *restrict sine = p->d;
  const long half = p->m;
  for (long first = 0; first < p->n; first += 2 * half) {
    double *restrict re0 = re + first, *restrict re1 = re + first + half;
    double *restrict im0 = im + first, *restrict im1 = im + first + half;
    for (long k = 0; k < half; k++) {
      double x = re1[k] * cosine[k] - im1[k] * sine[k], y = re1[k] * sine[k] + im1[k] * cosine[k];
      re1[k] = M_SQRT1_2 * (re0[k] - x), im1[k] = M_SQRT1_2 * (im0[k] - y); /* numbers stay as large as they are */
      re0[k] = M_SQRT1_2 * (re0[k] + x), im0[k] = M_SQRT1_2 * (im0[k] + y);
    }
  }
}

static double butterflies_wrong(struct problem *p)
{
  double bad = 0;
  for (long i = 0; i < p->n; i++)
    bad += !isfinite(p->a[i]) || !isfinite(p->b[i]);
  return bad;
}

const struct kernel butterflies = {"butterflies", make_butterflies, butterflies_run, butterflies_wrong};

static void make_reversal(struct problem *p)
{
  p->a = numbers(p->n, 5), p->b = numbers(p->n, 6), p->index = draws(p->n, 1, 1);
  int bits = 0;
  while (1L << bits < p->n)
    bits++;
  for (long i = 0; i < p->n; i++)
    for (int bit = 0; bit < bits; bit++)
      p->index[i] |= (i >> bit & 1) << (bits - 1 - bit);
}

static void reversal_run(struct problem *p)
{
  const double *restrict a = p->a;
  const int32_t *restrict place = p->index;
  double *restrict b = p->b;
  for (long i = 0; i < p->n; i++)
    b[i] = a[place[i]];
}

static double reversal_wrong(struct problem *p)
{
  double bad = 0;
  for (long i = 0; i < p->n; i++)
    bad += p->b[p->index[i]] != p->a[i];
  return bad;
}

const struct kernel reversal = {"reversal", make_reversal, reversal_run, reversal_wrong};

/* -- products of bytes: a matrix of m rows by a vector, and a filter of nine taps --------------------------------------------- */

static void make_int8_matvec(struct problem *p)
{
  p->m = 512; /* columns */
  p->a = (double *)bytes(p->n * p->m, 128, 7), p->b = (double *)bytes(p->m, 128, 8), p->index = draws(p->n, 1, 1);
}

static void int8_matvec_run(struct problem *p)
{
  const int8_t *restrict matrix = (const int8_t *)p->a, *restrict x = (const int8_t *)p->b;
  int32_t *restrict y = p->index;
  for (long row = 0; row < p->n; row++) {
    int32_t sum = 0;
    for (long k = 0; k < p->m; k++)
      sum += matrix[row * p->m + k] * x[k];
    y[row] = sum;
  }
}

static double int8_matvec_wrong(struct problem *p)
{
  const int8_t *matrix = (const int8_t *)p->a + (p->n - 1) * p->m, *x = (const int8_t *)p->b;
  double sum = 0;
  for (long k = 0; k < p->m; k++)
    sum += (double)matrix[k] * x[k];
  return apart(p->index[p->n - 1], sum);
}

const struct kernel int8_matvec = {"int8_matvec", make_int8_matvec, int8_matvec_run, int8_matvec_wrong};

enum { TAPS = 9 };

static void make_int8_filter(struct problem *p)
{
  p->a = (double *)bytes(p->n + TAPS, 128, 9), p->b = (double *)bytes(TAPS, 128, 10), p->index = draws(p->n, 1, 1);
}

static void int8_filter_run(struct problem *p)
{
  const int8_t *restrict x = (const int8_t *)p->a, *restrict tap = (const int8_t *)p->b;
  int32_t *restrict y = p->index;
  for (long i = 0; i < p->n; i++) {
    int32_t sum = 0;
    for (int k = 0; k < TAPS; k++)
      sum += x[i + k] * tap[k];
    y[i] = sum;
  }
}

static double int8_filter_wrong(struct problem *p)
{
  double bad = 0;
  for (long i = 0; i < p->n; i += 7) {
    int32_t sum = 0;
    for (int k = 0; k < TAPS; k++)
      sum += ((int8_t *)p->a)[i + k] * ((int8_t *)p->b)[k];
    bad += sum != p->index[i];
  }
  return bad;
}

const struct kernel int8_filter = {"int8_filter", make_int8_filter, int8_filter_run, int8_filter_wrong};

/* -- polynomials of degree 12 at n points, and quotients of two of degree 5 ----------------------------------------------------- */

enum { DEGREE = 12 };

static void make_polynomial(struct problem *p)
{
  p->a = numbers(p->n, 11), p->b = numbers(p->n, 12), p->c = numbers(DEGREE + 1, 13);
}

static void polynomial_run(struct problem *p)
{
  const double *restrict x = p->a, *restrict c = p->c;
  double *restrict y = p->b;
  for (long i = 0; i < p->n; i++) {
    double value = c[DEGREE];
    for (int k = DEGREE - 1; k >= 0; k--)
      value = value * x[i] + c[k];
    y[i] = value;
  }
}

static double polynomial_wrong(struct problem *p)
{
  double worst = 0;
  for (long i = 0; i < p->n; i += 5) {
    double value = 0;
    for (int k = 0; k <= DEGREE; k++)
      value += p->c[k] * pow(p->a[i], k);
    worst = fmax(worst, apart(p->b[i], value));
  }
  return worst;
}

const struct kernel polynomial = {"polynomial", make_polynomial, polynomial_run, polynomial_wrong};

static void quotient_run(struct problem *p)
{
  const double *restrict x = p->a, *restrict c = p->c;
  double *restrict y = p->b;
  for (long i = 0; i < p->n; i++) {
    double above = c[5], below = c[11];
    for (int k = 4; k >= 0; k--)
      above = above * x[i] + c[k], below = below * x[i] + c[6 + k];
    y[i] = above / below;
  }
}

static double quotient_wrong(struct problem *p)
{
  double above = 0, below = 0, x = p->a[p->n - 1];
  for (int k = 0; k < 6; k++)
    above += p->c[k] * pow(x, k), below += p->c[6 + k] * pow(x, k);
  return apart(p->b[p->n - 1], above / below);
}

const struct kernel quotient = {"quotient", make_polynomial, quotient_run, quotient_wrong};

/* -- escape times: of z -> z^2 + c for n points of a square, 64 steps at most; of the 3n + 1 sequence ----------------------------- */

enum { MOST = 64 };

static void make_mandelbrot(struct problem *p)
{
  p->a = numbers(p->n, 14), p->b = numbers(p->n, 15), p->index = draws(p->n, 1, 1);
}

static void mandelbrot_run(struct problem *p)
{
  long all = 0;
  for (long i = 0; i < p->n; i++) {
    const double cr = 3 * p->a[i] - 3.5, ci = 2.5 * p->b[i] - 2.5; /* -2 .. 1, -1.25 .. 1.25 */
    double zr = 0, zi = 0;
    int steps = 0;
    while (steps < MOST && zr * zr + zi * zi <= 4) {
      double next = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + ci;
      zr = next;
      steps++;
    }
    p->index[i] = steps;
    all += steps;
  }
  p->result = (double)all;
}

static double mandelbrot_wrong(struct problem *p)
{
  double all = 0;
  for (long i = 0; i < p->n; i++)
    all += p->index[i];
  return apart(p->result, all);
}

const struct kernel mandelbrot = {"mandelbrot", make_mandelbrot, mandelbrot_run, mandelbrot_wrong};

static void make_collatz(struct problem *p)
{
  p->index = draws(p->n, 1u << 20, 16);
}

static void collatz_run(struct problem *p)
{
  long all = 0;
  for (long i = 0; i < p->n; i++) {
    uint64_t x = (uint64_t)p->index[i] + 1;
    while (x != 1) {
      x = x & 1 ? 3 * x + 1 : x / 2;
      all++;
    }
  }
  p->result = (double)all;
}

static double collatz_wrong(struct problem *p)
{
  double all = 0;
  for (long i = 0; i < p->n; i++)
    for (uint64_t x = (uint64_t)p->index[i] + 1; x != 1; x = x % 2 ? 3 * x + 1 : x >> 1)
      all++;
  return all != p->result;
}

const struct kernel collatz = {"collatz", make_collatz, collatz_run, collatz_wrong};
