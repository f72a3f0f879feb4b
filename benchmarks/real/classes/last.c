/* Twelve kernels of the same classes that were held back: timed once, when models and pricing were finished. */
#include <stdlib.h>

#include "fill.h"

/* -- where the parts of a text begin, from the lengths of all: sums of bytes up to each ---------------------------------------- */

static void make_begins(struct problem *p)
{
  p->a = (double *)bytes(p->n, 256, 61), p->index = draws(p->n, 1, 62);
}

static void begins_run(struct problem *p)
{
  const uint8_t *restrict length = (const uint8_t *)p->a;
  int32_t *restrict begin = p->index, sum = 0;
  long n = p->n;
  for (long i = 0; i < n; i++) {
    begin[i] = sum;
    sum += length[i];
  }
}

static double begins_wrong(struct problem *p)
{
  long sum = 0;
  for (long i = 0; i < p->n - 1; i++)
    sum += ((const uint8_t *)p->a)[i];
  return sum != p->index[p->n - 1];
}

const struct kernel begins = {"begins", make_begins, begins_run, begins_wrong};

/* -- three histograms of a picture's colours, n points of three bytes ------------------------------------------------------------ */

static void make_colours(struct problem *p)
{
  p->a = (double *)bytes(3 * p->n, 256, 63), p->index = draws(768, 1, 64);
}

static void colours_run(struct problem *p)
{
  const uint8_t *restrict picture = (const uint8_t *)p->a;
  int32_t *restrict counts = p->index;
  long n = p->n;
  for (long i = 0; i < n; i++) {
    counts[picture[3 * i]]++;
    counts[256 + picture[3 * i + 1]]++;
    counts[512 + picture[3 * i + 2]]++;
  }
  p->result += 3 * (double)n;
}

static double colours_wrong(struct problem *p)
{
  uint64_t sum = 0;
  for (long i = 0; i < 768; i++)
    sum += (uint32_t)p->index[i];
  return (uint32_t)sum != (uint32_t)(uint64_t)p->result;
}

const struct kernel colours = {"colours", make_colours, colours_run, colours_wrong};

/* -- a step of quicksort: numbers below a pivot to the front, the others to the end, without branches ------------------------------ */

static void make_halves(struct problem *p)
{
  p->index = draws(p->n, 1 << 20, 65), p->b = (double *)draws(p->n + 1, 1, 66);
}

static void halves_run(struct problem *p)
{
  const int32_t *restrict x = p->index;
  int32_t *restrict parts = (int32_t *)p->b;
  long n = p->n, front = 0, end = n;
  for (long i = 0; i < n; i++) {
    int32_t one = x[i];
    long less = one < 1 << 19;
    parts[front] = one, parts[end] = one;
    front += less, end -= 1 - less;
  }
  p->result = (double)front;
}

static double halves_wrong(struct problem *p)
{
  long less = 0;
  for (long i = 0; i < p->n; i++)
    less += p->index[i] < 1 << 19;
  return p->result != (double)less;
}

const struct kernel halves = {"halves", make_halves, halves_run, halves_wrong};

/* -- a stage of a Fourier transform of n numbers in pairs: sums to one half, differences to the other ------------------------------- */

static void make_pairs(struct problem *p)
{
  p->a = numbers(p->n, 67), p->b = numbers(p->n, 68);
}

static void pairs_run(struct problem *p)
{
  const double *restrict x = p->a;
  double *restrict sums = p->b, *restrict rest = p->b + p->n / 2;
  long half = p->n / 2;
  for (long i = 0; i < half; i++) {
    sums[i] = x[2 * i] + x[2 * i + 1];
    rest[i] = x[2 * i] - x[2 * i + 1];
  }
}

static double pairs_wrong(struct problem *p)
{
  long i = p->n / 4;
  return apart(p->b[i] + p->b[i + p->n / 2], 2 * p->a[2 * i]);
}

const struct kernel pairs = {"pairs", make_pairs, pairs_run, pairs_wrong};

/* -- the first place of a text where three signs are alike ---------------------------------------------------------------------------- */

static void make_alike(struct problem *p)
{
  uint8_t *text = bytes(p->n, 200, 69);
  for (long i = 2; i < p->n; i++)
    if (text[i] == text[i - 1] && text[i] == text[i - 2])
      text[i] ^= 1;
  text[p->n - 1] = text[p->n - 2] = text[p->n - 3];
  p->a = (double *)text;
}

static void alike_run(struct problem *p)
{
  const uint8_t *text = (const uint8_t *)p->a;
  long n = p->n, i = 2;
  while (i < n && (text[i] != text[i - 1] || text[i] != text[i - 2]))
    i++;
  p->result = (double)i;
}

static double alike_wrong(struct problem *p)
{
  return p->result < (double)(p->n - 3);
}

const struct kernel alike = {"alike", make_alike, alike_run, alike_wrong};

/* -- a matrix of n rows of 256 bytes without sign by a vector of bytes with one ---------------------------------------------------------- */

static void make_int8_rows(struct problem *p)
{
  p->a = (double *)bytes(256 * p->n, 256, 70), p->b = (double *)bytes(256, 256, 71), p->index = draws(p->n, 1, 72);
}

static void int8_rows_run(struct problem *p)
{
  const uint8_t *restrict matrix = (const uint8_t *)p->a;
  const int8_t *restrict x = (const int8_t *)p->b;
  int32_t *restrict y = p->index;
  long n = p->n;
  for (long i = 0; i < n; i++) {
    int32_t sum = 0;
    for (long j = 0; j < 256; j++)
      sum += matrix[256 * i + j] * x[j];
    y[i] = sum;
  }
}

static double int8_rows_wrong(struct problem *p)
{
  long i = p->n / 2, sum = 0;
  for (long j = 0; j < 256; j++)
    sum += ((uint8_t *)p->a)[256 * i + j] * ((int8_t *)p->b)[j];
  return sum != p->index[i];
}

const struct kernel int8_rows = {"int8_rows", make_int8_rows, int8_rows_run, int8_rows_wrong};

/* -- quotients of two polynomials of degree 5 of floats -------------------------------------------------------------------------------------- */

static void make_rational(struct problem *p)
{
  p->a = (double *)floats(p->n, 73), p->b = (double *)floats(p->n, 74);
}

static inline float quotient_at(float x)
{
  float over = ((((0.1f * x + 0.2f) * x + 0.3f) * x + 0.4f) * x + 0.5f) * x + 0.6f;
  float under = ((((0.6f * x + 0.5f) * x + 0.4f) * x + 0.3f) * x + 0.2f) * x + 0.1f;
  return over / under;
}

static void rational_run(struct problem *p)
{
  const float *restrict x = (const float *)p->a;
  float *restrict y = (float *)p->b;
  long n = p->n;
  for (long i = 0; i < n; i++)
    y[i] = quotient_at(x[i]);
}

static double rational_wrong(struct problem *p)
{
  long i = p->n / 3;
  return apart(((float *)p->b)[i], quotient_at(((float *)p->a)[i])) > 1e-5;
}

const struct kernel rational = {"rational", make_rational, rational_run, rational_wrong};

/* -- particles in arrays of their own take up forces --------------------------------------------------------------------------------------------- */

static void make_kick(struct problem *p)
{
  p->a = (double *)floats(3 * p->n, 75), p->b = (double *)floats(3 * p->n, 76), p->c = (double *)floats(p->n, 77);
}

static void kick_run(struct problem *p)
{
  long n = p->n;
  float *restrict vx = (float *)p->a, *restrict vy = vx + n, *restrict vz = vy + n;
  const float *restrict fx = (const float *)p->b, *restrict fy = fx + n, *restrict fz = fy + n;
  const float *restrict mass = (const float *)p->c;
  for (long i = 0; i < n; i++) {
    float step = 1e-6f / mass[i];
    vx[i] += step * fx[i];
    vy[i] += step * fy[i];
    vz[i] += step * fz[i];
  }
}

static double kick_wrong(struct problem *p)
{
  for (long i = 0; i < 3 * p->n; i++)
    if (!(fabsf(((float *)p->a)[i]) < 1000))
      return 1;
  return 0;
}

const struct kernel kick = {"kick", make_kick, kick_run, kick_wrong};

/* -- a list of n nodes of 64 B in any order, each of which is changed ------------------------------------------------------------------------------- */

struct account { struct account *next; double amount; char rest[48]; };

static void make_interest(struct problem *p)
{
  int32_t *order = shuffled(p->n, 78);
  struct account *all = array((size_t)p->n * sizeof *all, PAGES_OF_SYSTEM);
  for (long i = 0; i < p->n; i++)
    all[order[i]] = (struct account){i + 1 < p->n ? &all[order[i + 1]] : NULL, 1, ""};
  p->a = (double *)&all[order[0]];
  release(order);
}

static void interest_run(struct problem *p)
{
  for (struct account *at = (struct account *)p->a; at; at = at->next)
    at->amount = at->amount * 0.999 + 0.001;
}

static double interest_wrong(struct problem *p)
{
  long count = 0;
  for (struct account *at = (struct account *)p->a; at; at = at->next)
    count += fabs(at->amount - 1) < 1e-9;
  return count != p->n;
}

const struct kernel interest = {"interest", make_interest, interest_run, interest_wrong};

/* -- m numbers looked up in a trie of n pairs of children, bit by bit -------------------------------------------------------------------------------- */

static void make_trie(struct problem *p)
{
  int32_t *order = shuffled(p->n, 79);
  int32_t *children = draws(2 * p->n, 1, 80);
  order[0] = 0;
  for (long i = 0; i < p->n; i++)
    for (long bit = 0; bit < 2; bit++)
      children[2 * order[i] + bit] = 2 * i + bit < p->n ? order[2 * i + bit] : 0;
  p->m = 4096, p->index = children;
  p->b = array(sizeof(uint64_t), PAGES_OF_SYSTEM);
  *(uint64_t *)p->b = 81;
  release(order);
}

static void trie_run(struct problem *p)
{
  const int32_t *children = p->index;
  uint64_t *state = (uint64_t *)p->b;
  long depth = 63 - __builtin_clzl((uint64_t)p->n), sum = 0, m = p->m;
  for (long k = 0; k < m; k++) {
    uint64_t key = draw(state) >> 16;
    int32_t at = 0;
    for (long level = 0; level < depth; level++, key >>= 1)
      at = children[2 * at + (key & 1)];
    sum += at;
  }
  p->result = (double)sum;
}

static double trie_wrong(struct problem *p)
{
  return p->result < 0;
}

const struct kernel trie = {"trie", make_trie, trie_run, trie_wrong};

/* -- square roots by Newton's steps until they do not move ------------------------------------------------------------------------------------------------ */

static void make_newton(struct problem *p)
{
  p->a = numbers(p->n, 82), p->b = numbers(p->n, 83);
  for (long i = 0; i < p->n; i++)
    p->a[i] *= 50;
}

static void newton_run(struct problem *p)
{
  const double *restrict a = p->a;
  double *restrict root = p->b;
  long n = p->n;
  for (long i = 0; i < n; i++) {
    double x = 8, last = 0;
    while (fabs(x - last) > 1e-6) {
      last = x;
      x = 0.5 * (x + a[i] / x);
    }
    root[i] = x;
  }
}

static double newton_wrong(struct problem *p)
{
  long i = p->n / 2;
  return apart(p->b[i] * p->b[i], p->a[i]) > 1e-9;
}

const struct kernel newton = {"newton", make_newton, newton_run, newton_wrong};

/* -- ten steps of the power method with three diagonals ----------------------------------------------------------------------------------------------------- */

static void make_power_method(struct problem *p)
{
  p->a = numbers(p->n + 2, 84), p->b = numbers(p->n + 2, 85), p->c = numbers(p->n + 2, 86);
}

static void power_method_run(struct problem *p)
{
  long n = p->n;
  double *restrict x = p->a, *restrict y = p->b;
  const double *restrict middle = p->c;
  for (int step = 0; step < 10; step++) {
    double largest = 0;
    for (long i = 1; i <= n; i++)
      y[i] = middle[i] * x[i] - 0.25 * (x[i - 1] + x[i + 1]);
    for (long i = 1; i <= n; i++)
      largest += y[i] * y[i];
    double scale = 1 / sqrt(largest / (double)n);
    for (long i = 1; i <= n; i++)
      x[i] = scale * y[i];
  }
  p->result = x[1];
}

static double power_method_wrong(struct problem *p)
{
  double sum = 0;
  for (long i = 1; i <= p->n; i++)
    sum += p->a[i] * p->a[i];
  return apart(sum, (double)p->n) > 1e-9;
}

const struct kernel power_method = {"power_method", make_power_method, power_method_run, power_method_wrong};
