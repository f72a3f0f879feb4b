/* Twelve kernels of the same classes that were written when the others had been looked at. */
#include <stdlib.h>

#include "fill.h"

/* -- sums of floats up to each --------------------------------------------------------------------------------------- */

static void make_prefix_floats(struct problem *p)
{
  p->a = (double *)floats(p->n, 1), p->b = (double *)floats(p->n, 2);
}

static void prefix_floats_run(struct problem *p)
{
  const float *restrict x = (const float *)p->a;
  float *restrict sums = (float *)p->b, sum = 0;
  for (long i = 0; i < p->n; i++) {
    sum += x[i];
    sums[i] = sum;
  }
}

static double prefix_floats_wrong(struct problem *p)
{
  float sum = 0;
  for (long i = 0; i < p->n; i++)
    sum += ((float *)p->a)[i];
  return apart(((float *)p->b)[p->n - 1], sum);
}

const struct kernel prefix_floats = {"prefix_floats", make_prefix_floats, prefix_floats_run, prefix_floats_wrong};

/* -- how often each byte occurs ---------------------------------------------------------------------------------------- */

static void make_byte_counts(struct problem *p)
{
  p->a = (double *)bytes(p->n, 256, 3), p->index = draws(256, 1, 4);
}

static void byte_counts_run(struct problem *p)
{
  const uint8_t *restrict x = (const uint8_t *)p->a;
  int32_t *restrict counts = p->index;
  for (long i = 0; i < p->n; i++)
    counts[x[i]]++;
  p->result += (double)p->n;
}

static double byte_counts_wrong(struct problem *p)
{
  uint32_t sum = 0;
  for (long i = 0; i < 256; i++)
    sum += (uint32_t)p->index[i];
  return sum != (uint32_t)(uint64_t)p->result;
}

const struct kernel byte_counts = {"byte_counts", make_byte_counts, byte_counts_run, byte_counts_wrong};

/* -- the numbers above a threshold, one behind the other, without a branch ---------------------------------------------------- */

static void make_compact(struct problem *p)
{
  p->index = draws(p->n, 1000, 5), p->b = (double *)draws(p->n + 1, 1, 6);
}

static void compact_run(struct problem *p)
{
  const int32_t *restrict x = p->index;
  int32_t *restrict kept = (int32_t *)p->b;
  long count = 0;
  for (long i = 0; i < p->n; i++) {
    kept[count] = x[i];
    count += x[i] > 500;
  }
  p->result = (double)count;
}

static double compact_wrong(struct problem *p)
{
  long count = 0;
  for (long i = 0; i < p->n; i++)
    count += p->index[i] > 500;
  return (double)count != p->result;
}

const struct kernel compact = {"compact", make_compact, compact_run, compact_wrong};

/* -- a stage of a Fourier transform by fours, of complex numbers in two arrays, in place -------------------------------------- */

static void make_radix4(struct problem *p)
{
  p->a = numbers(p->n, 7), p->b = numbers(p->n, 8);
}

static void radix4_run(struct problem *p)
{
  long q = p->n / 4;
  double *restrict re = p->a, *restrict im = p->b;
  for (long i = 0; i < q; i++) {
    double r0 = re[i], r1 = re[i + q], r2 = re[i + 2 * q], r3 = re[i + 3 * q];
    double i0 = im[i], i1 = im[i + q], i2 = im[i + 2 * q], i3 = im[i + 3 * q];
    double sr = r0 + r2, dr = r0 - r2, tr = r1 + r3, er = r1 - r3;
    double si = i0 + i2, di = i0 - i2, ti = i1 + i3, ei = i1 - i3;
    re[i] = 0.5 * (sr + tr), im[i] = 0.5 * (si + ti);
    re[i + q] = 0.5 * (dr + ei), im[i + q] = 0.5 * (di - er);
    re[i + 2 * q] = 0.5 * (sr - tr), im[i + 2 * q] = 0.5 * (si - ti);
    re[i + 3 * q] = 0.5 * (dr - ei), im[i + 3 * q] = 0.5 * (di + er);
  }
}

static double radix4_wrong(struct problem *p)
{
  double *re = numbers(p->n, 7), before = 0, now = 0; /* a unitary transform keeps the sum of squares */
  double *im = numbers(p->n, 8);
  for (long i = 0; i < p->n; i++) {
    before += re[i] * re[i] + im[i] * im[i];
    now += p->a[i] * p->a[i] + p->b[i] * p->b[i];
  }
  return apart(now, before);
}

const struct kernel radix4 = {"radix4", make_radix4, radix4_run, radix4_wrong};

/* -- how often a letter stands in a text; the sum of differences of bytes ----------------------------------------------------- */

static void make_count_letter(struct problem *p)
{
  p->a = (double *)bytes(p->n, 64, 9);
}

static void count_letter_run(struct problem *p)
{
  const uint8_t *text = (const uint8_t *)p->a;
  long count = 0;
  for (long i = 0; i < p->n; i++)
    count += text[i] == 17;
  p->result = (double)count;
}

static double count_letter_wrong(struct problem *p)
{
  long count = 0;
  for (const uint8_t *at = (const uint8_t *)p->a, *end = at + p->n; at < end; at++)
    count += *at == 17;
  return (double)count != p->result;
}

const struct kernel count_letter = {"count_letter", make_count_letter, count_letter_run, count_letter_wrong};

static void make_differences(struct problem *p)
{
  p->a = (double *)bytes(p->n, 256, 10), p->b = (double *)bytes(p->n, 256, 11);
}

static void differences_run(struct problem *p)
{
  const uint8_t *x = (const uint8_t *)p->a, *y = (const uint8_t *)p->b;
  uint32_t sum = 0;
  for (long i = 0; i < p->n; i++)
    sum += (uint32_t)abs(x[i] - y[i]);
  p->result = (double)sum;
}

static double differences_wrong(struct problem *p)
{
  const uint8_t *x = (const uint8_t *)p->a, *y = (const uint8_t *)p->b;
  uint32_t sum = 0;
  for (long i = p->n; i-- > 0;)
    sum += x[i] > y[i] ? (uint32_t)(x[i] - y[i]) : (uint32_t)(y[i] - x[i]);
  return (double)sum != p->result;
}

const struct kernel differences = {"differences", make_differences, differences_run, differences_wrong};

/* -- polynomials of degree 7 at floats ----------------------------------------------------------------------------------- */

static void make_horner_floats(struct problem *p)
{
  p->a = (double *)floats(p->n, 12), p->b = (double *)floats(p->n, 13);
}

static float at_float(float x)
{
  return (((((((0.1f * x + 0.2f) * x - 0.3f) * x + 0.4f) * x - 0.5f) * x + 0.6f) * x - 0.7f) * x + 0.8f);
}

static void horner_floats_run(struct problem *p)
{
  const float *restrict x = (const float *)p->a;
  float *restrict y = (float *)p->b;
  for (long i = 0; i < p->n; i++)
    y[i] = at_float(x[i]);
}

static double horner_floats_wrong(struct problem *p)
{
  long i = p->n / 2;
  return apart(((float *)p->b)[i], at_float(((float *)p->a)[i])) > 1e-5;
}

const struct kernel horner_floats = {"horner_floats", make_horner_floats, horner_floats_run, horner_floats_wrong};

/* -- particles in structures of eight floats: energies, and a step of the place ----------------------------------------------- */

struct particle { float x, y, z, vx, vy, vz, mass, energy; };

static void make_energies(struct problem *p)
{
  p->a = (double *)floats(8 * p->n, 14);
}

static void energies_run(struct problem *p)
{
  struct particle *all = (struct particle *)p->a;
  for (long i = 0; i < p->n; i++) {
    struct particle *one = &all[i];
    one->energy = 0.5f * one->mass * (one->vx * one->vx + one->vy * one->vy + one->vz * one->vz);
  }
}

static double energies_wrong(struct problem *p)
{
  struct particle one = ((struct particle *)p->a)[p->n / 3];
  return apart(one.energy, 0.5f * one.mass * (one.vx * one.vx + one.vy * one.vy + one.vz * one.vz)) > 1e-5;
}

const struct kernel energies = {"energies", make_energies, energies_run, energies_wrong};

/* -- a box of 5 x 5 floats ------------------------------------------------------------------------------------------------ */

static void make_box25(struct problem *p)
{
  long row = p->n + 4;
  p->a = (double *)floats(row * row, 15), p->b = (double *)floats(p->n * p->n, 16);
}

static void box25_run(struct problem *p)
{
  long n = p->n, row = n + 4;
  const float *restrict u = (const float *)p->a;
  float *restrict v = (float *)p->b;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      float sum = 0;
      for (long k = 0; k < 5; k++)
        for (long l = 0; l < 5; l++)
          sum += u[(i + k) * row + j + l];
      v[i * n + j] = 0.04f * sum;
    }
}

static double box25_wrong(struct problem *p)
{
  long n = p->n, row = n + 4, i = n / 2, j = n / 3;
  double sum = 0;
  for (long k = 0; k < 25; k++)
    sum += ((float *)p->a)[(i + k / 5) * row + j + k % 5];
  return apart(((float *)p->b)[i * n + j], 0.04 * sum) > 1e-5;
}

const struct kernel box25 = {"box25", make_box25, box25_run, box25_wrong};

/* -- a triangular solve on rows of 64 points: each waits for the one before and the one above ----------------------------------- */

static void make_solve_rows(struct problem *p)
{
  p->a = numbers(p->n, 17), p->b = numbers(p->n, 18), p->c = numbers(p->n, 19), p->d = numbers(p->n, 20);
}

static void solve_rows_run(struct problem *p)
{
  const double *restrict west = p->a, *restrict south = p->b, *restrict b = p->c;
  double *restrict x = p->d;
  for (long i = 64; i < p->n; i++)
    x[i] = b[i] - 0.3 * west[i] * x[i - 1] - 0.3 * south[i] * x[i - 64];
}

static double solve_rows_wrong(struct problem *p)
{
  long i = p->n - 1;
  return apart(p->d[i] + 0.3 * p->a[i] * p->d[i - 1] + 0.3 * p->b[i] * p->d[i - 64], p->c[i]);
}

const struct kernel solve_rows = {"solve_rows", make_solve_rows, solve_rows_run, solve_rows_wrong};

/* -- eight lists side by side, n nodes of 64 B in all ------------------------------------------------------------------------- */

enum { LISTS = 8 };

struct node { struct node *next; long key; char rest[48]; };

static void make_eight_lists(struct problem *p)
{
  int32_t *order = shuffled(p->n, 21);
  struct node *nodes = array((size_t)p->n * sizeof *nodes, PAGES_OF_SYSTEM);
  for (long i = 0; i < p->n; i++)
    nodes[order[i]] = (struct node){i + LISTS < p->n ? &nodes[order[i + LISTS]] : NULL, 1, ""};
  struct node **heads = array(LISTS * sizeof *heads, PAGES_OF_SYSTEM);
  for (long i = 0; i < LISTS; i++)
    heads[i] = &nodes[order[i]];
  p->a = (double *)heads;
  release(order);
}

static void eight_lists_run(struct problem *p)
{
  struct node **heads = (struct node **)p->a, *at[LISTS];
  long sum = 0;
  for (long k = 0; k < LISTS; k++)
    at[k] = heads[k];
  for (; at[0]; )
    for (long k = 0; k < LISTS; k++) {
      sum += at[k]->key;
      at[k] = at[k]->next;
    }
  p->result = (double)sum;
}

static double eight_lists_wrong(struct problem *p)
{
  return p->result != (double)p->n;
}

const struct kernel eight_lists = {"eight_lists", make_eight_lists, eight_lists_run, eight_lists_wrong};

/* -- m searches in a tree of n nodes of 32 B, linked, found by branches --------------------------------------------------------- */

struct leaf { struct leaf *less, *more; long key, value; };

static struct leaf *grow(struct leaf *leaves, const int32_t *order, long from, long to)
{
  if (from >= to)
    return NULL;
  long middle = (from + to) / 2;
  struct leaf *here = &leaves[order[middle]];
  *here = (struct leaf){grow(leaves, order, from, middle), grow(leaves, order, middle + 1, to), middle, middle};
  return here;
}

static void make_key_tree(struct problem *p)
{
  int32_t *order = shuffled(p->n, 22);
  p->m = 4096;
  p->a = (double *)grow(array((size_t)p->n * sizeof(struct leaf), PAGES_OF_SYSTEM), order, 0, p->n);
  p->b = array(sizeof(uint64_t), PAGES_OF_SYSTEM);
  *(uint64_t *)p->b = 23;
  release(order);
}

static void key_tree_run(struct problem *p)
{
  uint64_t *state = (uint64_t *)p->b;
  long wrong = 0;
  for (long k = 0; k < p->m; k++) {
    long key = (long)((draw(state) >> 16) % (uint64_t)p->n);
    const struct leaf *at = (const struct leaf *)p->a;
    while (at->key != key) {
      if (key < at->key)
        at = at->less;
      else
        at = at->more;
    }
    wrong += at->value != key;
  }
  p->result = (double)wrong;
}

static double key_tree_wrong(struct problem *p)
{
  return p->result;
}

const struct kernel key_tree = {"key_tree", make_key_tree, key_tree_run, key_tree_wrong};
