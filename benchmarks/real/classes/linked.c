/* Sparse triangular solves, lists, search trees. */
#include "fill.h"

/* -- triangular solves: eight entries a row at earlier places, and a band of two ---------------------------------------------- */

enum { ENTRIES = 8 };

static void make_solve_random(struct problem *p)
{
  p->a = numbers(ENTRIES * p->n, 1), p->b = numbers(p->n, 2), p->c = numbers(p->n, 3);
  p->index = draws(ENTRIES * p->n, 1u << 31, 4);
  for (long i = 0; i < ENTRIES * p->n; i++) {
    long row = i / ENTRIES;
    p->a[i] *= 0.01;
    p->index[i] = row ? (int32_t)(p->index[i] % row) : 0;
  }
  p->c[0] = p->b[0];
}

static void solve_random_run(struct problem *p)
{
  const double *a = p->a, *b = p->b;
  const int32_t *column = p->index;
  double *x = p->c;
  for (long row = 1; row < p->n; row++) {
    double sum = b[row];
    for (long k = 0; k < ENTRIES; k++)
      sum -= a[row * ENTRIES + k] * x[column[row * ENTRIES + k]];
    x[row] = sum;
  }
}

static double solve_random_wrong(struct problem *p)
{
  long row = p->n - 1;
  double sum = p->c[row];
  for (long k = 0; k < ENTRIES; k++)
    sum += p->a[row * ENTRIES + k] * p->c[p->index[row * ENTRIES + k]];
  return apart(sum, p->b[row]);
}

const struct kernel solve_random = {"solve_random", make_solve_random, solve_random_run, solve_random_wrong};

static void make_solve_band(struct problem *p)
{
  p->a = numbers(p->n, 5), p->b = numbers(p->n, 6), p->c = numbers(p->n, 7), p->d = numbers(p->n, 8);
  for (long i = 0; i < p->n; i++)
    p->a[i] *= 0.5;
}

/* x[i] = (b[i] - a[i] x[i-1]) / d[i] */
static void solve_band_run(struct problem *p)
{
  const double *restrict a = p->a, *restrict b = p->b, *restrict d = p->d;
  double *restrict x = p->c, last = 0;
  for (long i = 0; i < p->n; i++) {
    last = (b[i] - a[i] * last) / d[i];
    x[i] = last;
  }
}

static double solve_band_wrong(struct problem *p)
{
  long i = p->n - 1;
  return apart(p->c[i] * p->d[i] + p->a[i] * p->c[i - 1], p->b[i]);
}

const struct kernel solve_band = {"solve_band", make_solve_band, solve_band_run, solve_band_wrong};

/* -- lists: the sum of n nodes of 32 B in any order; n nodes hung into 64-node lists by a hash, one list after the other -------- */

struct link { struct link *next; double value; char rest[16]; };

static void make_list_sum(struct problem *p)
{
  int32_t *order = shuffled(p->n, 9);
  struct link *links = array((size_t)p->n * sizeof *links, PAGES_OF_SYSTEM);
  for (long i = 0; i < p->n; i++)
    links[order[i]] = (struct link){i + 1 < p->n ? &links[order[i + 1]] : NULL, 1, ""};
  p->a = (double *)&links[order[0]];
  release(order);
}

static void list_sum_run(struct problem *p)
{
  double sum = 0;
  for (const struct link *at = (const struct link *)p->a; at; at = at->next)
    sum += at->value;
  p->result = sum;
}

static double list_sum_wrong(struct problem *p)
{
  return p->result != (double)p->n;
}

const struct kernel list_sum = {"list_sum", make_list_sum, list_sum_run, list_sum_wrong};

/* -- trees: m searches in n sorted numbers in the order of a heap, without a branch; in nodes of 16 keys --------------------------- */

static void fill_heap(double *heap, long n, long at, long *next)
{
  if (at > n)
    return;
  fill_heap(heap, n, 2 * at, next);
  heap[at] = (double)(*next)++;
  fill_heap(heap, n, 2 * at + 1, next);
}

static void make_heap_search(struct problem *p)
{
  long next = 0;
  p->m = 512;
  p->a = numbers(p->n + 1, 10), p->result = 1;
  fill_heap(p->a, p->n, 1, &next);
}

static void heap_search_run(struct problem *p)
{
  static uint64_t state = 88172645463325252u;
  const double *heap = p->a;
  long all = 0;
  for (long i = 0; i < p->m; i++) {
    double wanted = (double)((draw(&state) >> 16) % (uint64_t)p->n);
    long at = 1;
    while (at <= p->n)
      at = 2 * at + (heap[at] < wanted);
    all += at;
  }
  p->result = (double)all;
}

static double heap_search_wrong(struct problem *p)
{
  return p->result < (double)p->m * (double)p->n;
}

const struct kernel heap_search = {"heap_search", make_heap_search, heap_search_run, heap_search_wrong};

enum { KEYS = 16 };

static void make_wide_tree(struct problem *p)
{
  /* p->n keys in order, a level above with each 16th of them, and so on; the levels one behind the other, widest last */
  p->m = 512;
  long sizes[9], count = 0;
  for (long size = p->n; size > KEYS; size /= KEYS)
    sizes[count++] = size;
  sizes[count++] = KEYS;
  long all = 0;
  for (long i = 0; i < count; i++)
    all += sizes[i];
  p->index = draws(all, 1, 1), p->b = (double *)draws(16, 1, 1);
  int32_t *places = (int32_t *)p->b;
  places[0] = (int32_t)count;
  long begin = 0;
  for (long level = count - 1; level >= 0; level--) {
    places[count - level] = (int32_t)begin;
    for (long i = 0; i < sizes[level]; i++)
      p->index[begin + i] = (int32_t)(i * (p->n / sizes[level]));
    begin += sizes[level];
  }
}

static void wide_tree_run(struct problem *p)
{
  static uint64_t state = 88172645463325252u;
  const int32_t *places = (const int32_t *)p->b;
  long wrong = 0;
  for (long i = 0; i < p->m; i++) {
    int32_t wanted = (int32_t)((draw(&state) >> 16) % (uint64_t)p->n);
    long node = 0;
    for (int level = 1; level <= places[0]; level++) {
      const int32_t *keys = p->index + places[level] + node * KEYS;
      int below = 0;
      for (int k = 0; k < KEYS; k++)
        below += keys[k] <= wanted;
      node = node * KEYS + below - 1;
    }
    wrong += node != wanted;
  }
  p->result = (double)wrong;
}

static double wide_tree_wrong(struct problem *p)
{
  return p->result;
}

const struct kernel wide_tree = {"wide_tree", make_wide_tree, wide_tree_run, wide_tree_wrong};
