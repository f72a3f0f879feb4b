/* Lists, searches, branches, bytes: kernels that latency, wrong guesses and whole numbers decide. */
#include <string.h>

#include "real.h"

enum { LINE = 64 };

#define KEEP(x) __asm__ volatile("" : "+r"(x)) /* a branch stays one, and is no conditional move */

/* So many whole numbers below `bound`. */
static int32_t *draws(long count, uint64_t bound, uint64_t seed)
{
  int32_t *found = array((size_t)count * sizeof(int32_t), PAGES_OF_SYSTEM);
  uint64_t state = seed;
  for (long i = 0; i < count; i++)
    found[i] = (int32_t)(draw(&state) % bound);
  return found;
}

/* The numbers from 0 on in any order (Fisher and Yates). */
static int32_t *shuffled(long count, uint64_t seed)
{
  int32_t *found = array((size_t)count * sizeof(int32_t), PAGES_OF_SYSTEM);
  uint64_t state = seed;
  for (long i = 0; i < count; i++)
    found[i] = (int32_t)i;
  for (long i = count - 1; i > 0; i--) {
    long j = (long)(draw(&state) % (uint64_t)(i + 1));
    int32_t kept = found[i];
    found[i] = found[j], found[j] = kept;
  }
  return found;
}

/* -- a list of n lines in any order, m of which a run goes through --------------------------------------------------- */

static void make_list(struct problem *p)
{
  int32_t *order = shuffled(p->n, 3);
  char *lines = array((size_t)p->n * LINE, PAGES_OF_SYSTEM);
  for (long i = 0; i < p->n; i++)
    *(char **)(lines + order[i] * (long)LINE) = lines + order[(i + 1) % p->n] * (long)LINE;
  p->a = (double *)(lines + order[0] * (long)LINE);
  p->b = p->a; /* where the walk is */
  release(order);
}

static void list_run(struct problem *p)
{
  char *at = (char *)p->b;
  for (long i = 0; i < p->m; i++)
    at = *(char **)at;
  p->b = (double *)at;
}

static double list_wrong(struct problem *p)
{
  char *at = (char *)p->a;
  for (long i = 0; i < p->n; i++)
    at = *(char **)at;
  return at != (char *)p->a; /* once around */
}

const struct kernel list = {"list", make_list, list_run, list_wrong};

/* -- m searches for numbers among n in order ---------------------------------------------------------------------------- */

/* Each run has other numbers: a processor learns the way of a few thousand that come again. */
static _Thread_local uint64_t state = 5;

static uint64_t draw_below(uint64_t bound)
{
  return (draw(&state) >> 32) * bound >> 32;
}

static void make_search(struct problem *p)
{
  p->a = array((size_t)p->n * sizeof(double), PAGES_OF_SYSTEM);
  for (long i = 0; i < p->n; i++)
    p->a[i] = (double)i;
}

/* As many steps for each number, until one place is left. */
static long place_of(const double *a, long n, double number)
{
  long low = 0;
  for (long size = n; size > 1;) {
    long half = size / 2;
    if (a[low + half] <= number) {
      low += half;
      KEEP(low);
    }
    size -= half;
  }
  return low;
}

static void search_run(struct problem *p)
{
  long off = 0;
  for (long i = 0; i < p->m; i++) {
    long wanted = (long)draw_below((uint64_t)p->n);
    off += place_of(p->a, p->n, (double)wanted) != wanted;
  }
  p->result = (double)off;
}

static double search_wrong(struct problem *p)
{
  return p->result;
}

const struct kernel search = {"search", make_search, search_run, search_wrong};

/* -- the sum of those of n whole numbers that are above a threshold: half of them, by chance (m = 1) or in a row (0) -- */

static void make_branchy_sum(struct problem *p)
{
  p->index = draws(p->n, 1000, 9);
  for (long i = 0; i < p->n && !p->m; i++)
    p->index[i] = i < p->n / 2 ? 0 : 999;
}

static void branchy_sum_run(struct problem *p)
{
  int64_t sum = 0;
  for (long i = 0; i < p->n; i++)
    if (p->index[i] >= 500) {
      sum += p->index[i];
      KEEP(sum);
    }
  p->result = (double)sum;
}

static double branchy_sum_wrong(struct problem *p)
{
  double sum = 0;
  for (long i = 0; i < p->n; i++)
    sum += p->index[i] >= 500 ? p->index[i] : 0;
  return apart(p->result, sum);
}

const struct kernel branchy_sum = {"branchy_sum", make_branchy_sum, branchy_sum_run, branchy_sum_wrong};

/* -- products of bytes, summed -------------------------------------------------------------------------------------------- */

static void make_bytes(struct problem *p)
{
  uint64_t state = 2;
  p->a = array((size_t)p->n, PAGES_OF_SYSTEM), p->b = array((size_t)p->n, PAGES_OF_SYSTEM);
  for (long i = 0; i < p->n; i++) {
    ((uint8_t *)p->a)[i] = (uint8_t)draw(&state);
    ((int8_t *)p->b)[i] = (int8_t)draw(&state);
  }
}

__attribute__((optimize("O3"))) static void byte_dot_run(struct problem *p)
{
  const uint8_t *restrict a = (const uint8_t *)p->a;
  const int8_t *restrict b = (const int8_t *)p->b;
  int32_t sum = 0;
  for (long i = 0; i < p->n; i++)
    sum += a[i] * b[i];
  p->result = sum;
}

static double byte_dot_wrong(struct problem *p)
{
  int64_t sum = 0;
  for (long i = 0; i < p->n; i++)
    sum += ((uint8_t *)p->a)[i] * ((int8_t *)p->b)[i];
  return apart(p->result, (double)(int32_t)sum);
}

const struct kernel byte_dot = {"byte_dot", make_bytes, byte_dot_run, byte_dot_wrong};

/* -- sums of all numbers up to each --------------------------------------------------------------------------------------- */

static void make_scan(struct problem *p)
{
  p->a = numbers(p->n, 4), p->b = numbers(p->n, 4);
}

static void scan_run(struct problem *p)
{
  const double *restrict a = p->a;
  double *restrict b = p->b, sum = 0;
  for (long i = 0; i < p->n; i++)
    b[i] = sum += a[i];
}

static double scan_wrong(struct problem *p)
{
  long double sum = 0;
  for (long i = 0; i < p->n; i++)
    sum += p->a[i];
  return apart(p->b[p->n - 1], (double)sum);
}

const struct kernel scan = {"scan", make_scan, scan_run, scan_wrong};

/* -- m look-ups in a table of n places, half of them taken: the next place where one is taken by another -------------- */

struct entry {
  uint64_t key; /* 0 for none */
  double value;
};

static uint64_t hash(uint64_t key)
{
  key *= 0x9e3779b97f4a7c15u; /* Knuth's multiplicative hashing alone puts keys in a row evenly: mixed further */
  return (key ^ key >> 29) * 0xbf58476d1ce4e5b9u >> 24;
}

static void make_look_up(struct problem *p)
{
  uint64_t mask = (uint64_t)p->n - 1;
  struct entry *table = array((size_t)p->n * sizeof *table, PAGES_OF_SYSTEM);
  for (long i = 0; i < p->n / 2; i++) {
    uint64_t place = hash((uint64_t)i + 1) & mask;
    while (table[place].key)
      place = (place + 1) & mask;
    table[place] = (struct entry){(uint64_t)i + 1, 1.0};
  }
  p->a = (double *)table;
}

static void look_up_run(struct problem *p)
{
  const struct entry *table = (const struct entry *)p->a;
  uint64_t mask = (uint64_t)p->n - 1;
  double sum = 0;
  for (long i = 0; i < p->m; i++) {
    uint64_t wanted = 1 + draw_below((uint64_t)p->n / 2), place = hash(wanted) & mask;
    while (table[place].key != wanted)
      place = (place + 1) & mask;
    sum += table[place].value;
  }
  p->result = sum;
}

static double look_up_wrong(struct problem *p)
{
  return apart(p->result, (double)p->m);
}

const struct kernel look_up = {"look_up", make_look_up, look_up_run, look_up_wrong};

/* -- the step of a quicksort: n numbers below and above their middle -------------------------------------------------------- */

static void make_partition(struct problem *p)
{
  p->a = numbers(2 * p->n, 8), p->b = array((size_t)p->n * sizeof(double), PAGES_OF_SYSTEM);
}

/* Each run takes others of twice as many numbers. */
static void partition_run(struct problem *p)
{
  double *b = p->b;
  p->c = p->a + draw_below((uint64_t)p->n);
  memcpy(b, p->c, (size_t)p->n * sizeof(double));
  long low = -1, high = p->n;
  for (;;) {
    do
      low++;
    while (low < p->n && b[low] < 1.0);
    do
      high--;
    while (high >= 0 && b[high] > 1.0);
    if (low >= high)
      break;
    double kept = b[low];
    b[low] = b[high], b[high] = kept;
  }
  p->result = (double)low;
}

static double partition_wrong(struct problem *p)
{
  long below = 0, wrong = 0;
  for (long i = 0; i < p->n; i++)
    below += p->c[i] < 1.0, wrong += (p->b[i] < 1.0) != (i < (long)p->result);
  return wrong ? 1.0 : apart(p->result, (double)below);
}

const struct kernel partition = {"partition", make_partition, partition_run, partition_wrong};

/* -- z -> z^2 + c for n points, m steps each: none escapes ------------------------------------------------------------------- */

static void make_escape(struct problem *p)
{
  p->a = numbers(p->n, 1), p->b = array((size_t)p->n * sizeof(double), PAGES_OF_SYSTEM);
}

static void escape_run(struct problem *p)
{
  for (long i = 0; i < p->n; i++) {
    double cx = -0.1 * p->a[i], cy = 0.1 * p->a[i], x = 0, y = 0;
    long step = 0;
    for (; step < p->m && x * x + y * y < 4; step++) {
      double next = x * x - y * y + cx;
      y = 2 * x * y + cy, x = next;
    }
    p->b[i] = (double)step;
  }
}

static double escape_wrong(struct problem *p)
{
  double worst = 0;
  for (long i = 0; i < p->n; i++)
    worst = fmax(worst, apart(p->b[i], (double)p->m));
  return worst;
}

const struct kernel escape = {"escape", make_escape, escape_run, escape_wrong};

/* -- the first of n signs that is one ------------------------------------------------------------------------------------------ */

static void make_text(struct problem *p)
{
  make_bytes(p);
  memset(p->a, 'a', (size_t)p->n);
  ((char *)p->a)[p->n - 1] = 'z';
}

static void find_sign_run(struct problem *p)
{
  const char *text = (const char *)p->a;
  long at = 0;
  while (text[at] != 'z')
    at++;
  p->result = (double)at;
}

static double find_sign_wrong(struct problem *p)
{
  return apart(p->result, (double)(p->n - 1));
}

const struct kernel find_sign = {"find_sign", make_text, find_sign_run, find_sign_wrong};

/* -- how often each of 256 bytes is among n ------------------------------------------------------------------------------------ */

static void make_histogram(struct problem *p)
{
  make_bytes(p);
  p->index = array(256 * sizeof(int32_t), PAGES_OF_SYSTEM);
}

static void histogram_run(struct problem *p)
{
  const uint8_t *bytes = (const uint8_t *)p->a;
  int32_t *counts = p->index;
  memset(counts, 0, 256 * sizeof(int32_t));
  for (long i = 0; i < p->n; i++)
    counts[bytes[i]]++;
}

static double histogram_wrong(struct problem *p)
{
  double sum = 0;
  for (int i = 0; i < 256; i++)
    sum += p->index[i];
  return apart(sum, (double)p->n);
}

const struct kernel histogram = {"histogram", make_histogram, histogram_run, histogram_wrong};

/* -- m searches in a tree of n nodes, a line each, in any order of memory ---------------------------------------------------- */

struct node {
  struct node *below[2];
  uint64_t key;
  char rest[LINE - 3 * 8];
};

/* The subtree of so many keys from `first` on; its nodes are the next ones of an order. */
static struct node *plant(struct node *nodes, const int32_t *order, uint64_t first, long count, long *used)
{
  if (!count)
    return NULL;
  struct node *root = &nodes[order[(*used)++]];
  root->key = first + (uint64_t)(count / 2);
  root->below[0] = plant(nodes, order, first, count / 2, used);
  root->below[1] = plant(nodes, order, root->key + 1, count - count / 2 - 1, used);
  return root;
}

static void make_tree(struct problem *p)
{
  long used = 0;
  int32_t *order = shuffled(p->n, 7);
  p->a = (double *)plant(array((size_t)p->n * sizeof(struct node), PAGES_OF_SYSTEM), order, 0, p->n, &used);
  release(order);
}

static void tree_run(struct problem *p)
{
  double off = 0;
  for (long i = 0; i < p->m; i++) {
    const struct node *at = (const struct node *)p->a;
    uint64_t key = draw_below((uint64_t)p->n);
    while (at->key != key)
      at = key < at->key ? at->below[0] : at->below[1];
    off += at->key != key;
  }
  p->result = off;
}

static double tree_wrong(struct problem *p)
{
  return p->result;
}

const struct kernel tree = {"tree", make_tree, tree_run, tree_wrong};

/* -- two rows of n/2 numbers in order become one ------------------------------------------------------------------------------ */

static void make_merge(struct problem *p)
{
  long half = p->n / 2, placed[2] = {0, 0};
  p->a = array((size_t)p->n * sizeof(double), PAGES_OF_SYSTEM), p->b = p->a + half;
  p->c = array((size_t)p->n * sizeof(double), PAGES_OF_SYSTEM);
  for (long i = 0; i < 2 * half; i++) {
    int side = placed[0] == half || (placed[1] < half && draw_below(2));
    (side ? p->b : p->a)[placed[side]++] = (double)i;
  }
}

static void merge_run(struct problem *p)
{
  const double *a = p->a, *b = p->b, *end_a = a + p->n / 2, *end_b = b + p->n / 2;
  double *c = p->c;
  while (a < end_a && b < end_b) {
    if (*a < *b) {
      *c++ = *a++;
      KEEP(a);
    } else
      *c++ = *b++;
  }
  while (a < end_a)
    *c++ = *a++;
  while (b < end_b)
    *c++ = *b++;
}

static double merge_wrong(struct problem *p)
{
  long wrong = 0;
  for (long i = 0; i < p->n / 2 * 2; i++)
    wrong += p->c[i] != (double)i;
  return (double)wrong;
}

const struct kernel merge = {"merge", make_merge, merge_run, merge_wrong};

/* -- the exclusive or of n whole numbers ---------------------------------------------------------------------------------------- */

static void make_checksum(struct problem *p)
{
  p->index = draws(p->n, 1 << 30, 17);
}

static void checksum_run(struct problem *p)
{
  const int32_t *restrict x = p->index;
  int32_t sum = 0;
#pragma omp simd reduction(^ : sum)
  for (long i = 0; i < p->n; i++)
    sum ^= x[i] ^ x[i] >> 3;
  p->result = sum;
}

static double checksum_wrong(struct problem *p)
{
  int32_t sum = 0;
  for (long i = p->n - 1; i >= 0; i--)
    sum ^= p->index[i] ^ p->index[i] >> 3;
  return p->result != sum;
}

const struct kernel checksum = {"checksum", make_checksum, checksum_run, checksum_wrong};

/* -- the largest of n bytes ------------------------------------------------------------------------------------------------------- */

static void largest_byte_run(struct problem *p)
{
  const uint8_t *restrict x = (const uint8_t *)p->a;
  uint8_t most = 0;
#pragma omp simd reduction(max : most)
  for (long i = 0; i < p->n; i++)
    most = x[i] > most ? x[i] : most;
  p->result = most;
}

static double largest_byte_wrong(struct problem *p)
{
  uint8_t most = 0;
  for (long i = 0; i < p->n; i++)
    most = ((uint8_t *)p->a)[i] > most ? ((uint8_t *)p->a)[i] : most;
  return p->result != most;
}

const struct kernel largest_byte = {"largest_byte", make_bytes, largest_byte_run, largest_byte_wrong};

/* -- four walks through one list, side by side --------------------------------------------------------------------------------------- */

static void four_walks_run(struct problem *p)
{
  char *at[4] = {(char *)p->b, *(char **)p->b, *(char **)p->a, (char *)p->a};
  for (long i = 0; i < p->m; i += 4)
    for (int k = 0; k < 4; k++)
      at[k] = *(char **)at[k];
  p->b = (double *)at[0], p->a = (double *)at[2];
}

static void make_four_walks(struct problem *p)
{
  make_list(p);
  for (long i = 0; i < p->n / 2; i++)
    p->a = *(double **)p->a; /* the others are half of the list ahead */
}

const struct kernel four_walks = {"four_walks", make_four_walks, four_walks_run, list_wrong};
