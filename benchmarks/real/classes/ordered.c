/* Scans, histograms, steps of sorting, scans of text. */
#include <string.h>

#include "fill.h"

/* -- the largest number up to each, and sums of whole numbers up to each ------------------------------------------------ */

static void make_running_max(struct problem *p)
{
  p->a = numbers(p->n, 1), p->b = numbers(p->n, 2);
}

static void running_max_run(struct problem *p)
{
  const double *restrict a = p->a;
  double *restrict b = p->b, most = 0;
  for (long i = 0; i < p->n; i++) {
    most = a[i] > most ? a[i] : most;
    b[i] = most;
  }
}

static double running_max_wrong(struct problem *p)
{
  double most = 0;
  for (long i = 0; i < p->n; i++)
    most = fmax(most, p->a[i]);
  return apart(p->b[p->n - 1], most);
}

const struct kernel running_max = {"running_max", make_running_max, running_max_run, running_max_wrong};

static void make_int_scan(struct problem *p)
{
  p->index = draws(p->n, 100, 3), p->b = (double *)draws(p->n, 100, 4);
}

static void int_scan_run(struct problem *p)
{
  const int32_t *restrict x = p->index;
  int32_t *restrict sums = (int32_t *)p->b, sum = 0;
  for (long i = 0; i < p->n; i++) {
    sum += x[i];
    sums[i] = sum;
  }
}

static double int_scan_wrong(struct problem *p)
{
  uint32_t sum = 0;
  for (long i = 0; i < p->n; i++)
    sum += (uint32_t)p->index[i];
  return ((int32_t *)p->b)[p->n - 1] != (int32_t)sum;
}

const struct kernel int_scan = {"int_scan", make_int_scan, int_scan_run, int_scan_wrong};

/* -- histograms: of pairs of bytes in 16 x 16 fields, and of weights in 1,024 ------------------------------------------- */

static void make_histogram2d(struct problem *p)
{
  p->a = (double *)bytes(p->n, 256, 5), p->b = (double *)bytes(p->n, 256, 6);
  p->index = draws(256, 1, 1);
}

static void histogram2d_run(struct problem *p)
{
  const uint8_t *x = (const uint8_t *)p->a, *y = (const uint8_t *)p->b;
  int32_t *fields = p->index;
  for (int i = 0; i < 256; i++)
    fields[i] = 0;
  for (long i = 0; i < p->n; i++)
    fields[(x[i] >> 4) * 16 + (y[i] >> 4)]++;
}

static double histogram2d_wrong(struct problem *p)
{
  double sum = 0;
  for (int i = 0; i < 256; i++)
    sum += p->index[i];
  return apart(sum, (double)p->n);
}

const struct kernel histogram2d = {"histogram2d", make_histogram2d, histogram2d_run, histogram2d_wrong};

enum { FIELDS = 1024 };

static void make_weights(struct problem *p)
{
  p->index = draws(p->n, FIELDS, 7), p->a = numbers(p->n, 8), p->b = numbers(FIELDS, 9);
}

static void weights_run(struct problem *p)
{
  const int32_t *restrict field = p->index;
  const double *restrict weight = p->a;
  double *restrict sums = p->b;
  for (int i = 0; i < FIELDS; i++)
    sums[i] = 0;
  for (long i = 0; i < p->n; i++)
    sums[field[i]] += weight[i];
}

static double weights_wrong(struct problem *p)
{
  double sum = 0, expected = 0;
  for (int i = 0; i < FIELDS; i++)
    sum += p->b[i];
  for (long i = 0; i < p->n; i++)
    expected += p->a[i];
  return fabs(apart(sum, expected)) < 1e-9 ? 0 : 1;
}

const struct kernel weights = {"weights", make_weights, weights_run, weights_wrong};

/* -- sorting: insertion into groups of 16, a step of a bitonic network, a pass by eight bits ------------------------------ */

enum { GROUP = 16 };

static void make_insertion(struct problem *p)
{
  p->index = draws(p->n, 1u << 30, 10), p->b = (double *)draws(p->n, 10, 11);
}

static void insertion_run(struct problem *p)
{
  int32_t *x = (int32_t *)p->b;
  memcpy(x, p->index, (size_t)p->n * sizeof *x);
  for (long first = 0; first < p->n; first += GROUP)
    for (long i = first + 1; i < first + GROUP; i++) {
      int32_t own = x[i];
      long j = i;
      while (j > first && x[j - 1] > own) {
        x[j] = x[j - 1];
        j--;
      }
      x[j] = own;
    }
}

static double insertion_wrong(struct problem *p)
{
  const int32_t *x = (const int32_t *)p->b;
  double wrong = 0;
  for (long i = 0; i < p->n; i++)
    wrong += i % GROUP && x[i - 1] > x[i];
  return wrong;
}

const struct kernel insertion = {"insertion", make_insertion, insertion_run, insertion_wrong};

static void make_bitonic(struct problem *p)
{
  p->a = (double *)floats(p->n, 12), p->b = (double *)floats(p->n, 13);
}

static void bitonic_run(struct problem *p)
{
  const long half = p->n / 2;
  float *restrict low = (float *)p->a, *restrict high = (float *)p->b;
  for (long i = 0; i < half; i++) {
    float one = low[i], other = high[i];
    low[i] = one < other ? one : other;
    high[i] = one < other ? other : one;
  }
}

static double bitonic_wrong(struct problem *p)
{
  double wrong = 0;
  for (long i = 0; i < p->n / 2; i++)
    wrong += ((float *)p->a)[i] > ((float *)p->b)[i];
  return wrong;
}

const struct kernel bitonic = {"bitonic", make_bitonic, bitonic_run, bitonic_wrong};

static void make_radix_pass(struct problem *p)
{
  p->index = draws(p->n, 1u << 31, 14), p->b = (double *)draws(p->n, 1, 15);
}

static void radix_pass_run(struct problem *p)
{
  const uint32_t *restrict from = (const uint32_t *)p->index;
  uint32_t *restrict to = (uint32_t *)p->b, begin[257] = {0};
  for (long i = 0; i < p->n; i++)
    begin[1 + (from[i] & 255)]++;
  for (int i = 0; i < 255; i++)
    begin[i + 1] += begin[i];
  for (long i = 0; i < p->n; i++)
    to[begin[from[i] & 255]++] = from[i];
}

static double radix_pass_wrong(struct problem *p)
{
  const uint32_t *to = (const uint32_t *)p->b;
  double wrong = 0;
  for (long i = 1; i < p->n; i++)
    wrong += (to[i - 1] & 255) > (to[i] & 255);
  return wrong;
}

const struct kernel radix_pass = {"radix_pass", make_radix_pass, radix_pass_run, radix_pass_wrong};

/* -- text: how many lines, how many words by a table of classes, and how long two texts agree ----------------------------- */

static void make_lines(struct problem *p)
{
  p->a = (double *)bytes(p->n, 64, 16);
}

static void lines_run(struct problem *p)
{
  const uint8_t *text = (const uint8_t *)p->a;
  long count = 0;
  for (long i = 0; i < p->n; i++)
    count += text[i] == 10;
  p->result = (double)count;
}

static double lines_wrong(struct problem *p)
{
  const uint8_t *text = (const uint8_t *)p->a;
  double count = 0;
  for (long i = 0; i < p->n; i++)
    if (text[i] == 10)
      count++;
  return count != p->result;
}

const struct kernel lines = {"lines", make_lines, lines_run, lines_wrong};

static void make_words(struct problem *p)
{
  uint8_t *classes = bytes(256, 1, 1), *text = bytes(p->n, 128, 17);
  for (int i = 0; i < 256; i++)
    classes[i] = i < 20; /* one of six is a space */
  p->a = (double *)text, p->b = (double *)classes;
}

static void words_run(struct problem *p)
{
  const uint8_t *text = (const uint8_t *)p->a, *is_space = (const uint8_t *)p->b;
  long count = 0;
  int inside = 0;
  for (long i = 0; i < p->n; i++) {
    if (is_space[text[i]])
      inside = 0;
    else if (!inside) {
      inside = 1;
      count++;
      __asm__ volatile("" : "+r"(count)); /* a branch stays one */
    }
  }
  p->result = (double)count;
}

static double words_wrong(struct problem *p)
{
  const uint8_t *text = (const uint8_t *)p->a;
  double count = text[0] >= 20;
  for (long i = 1; i < p->n; i++)
    count += text[i] >= 20 && text[i - 1] < 20;
  return count != p->result;
}

const struct kernel words = {"words", make_words, words_run, words_wrong};

static void make_agree(struct problem *p)
{
  p->a = (double *)bytes(p->n, 256, 18), p->b = (double *)bytes(p->n, 256, 18);
}

static void agree_run(struct problem *p)
{
  const uint8_t *one = (const uint8_t *)p->a, *other = (const uint8_t *)p->b;
  long i = 0;
  while (i < p->n && one[i] == other[i])
    i++;
  p->result = (double)i;
}

static double agree_wrong(struct problem *p)
{
  return p->result != (double)p->n;
}

const struct kernel agree = {"agree", make_agree, agree_run, agree_wrong};
