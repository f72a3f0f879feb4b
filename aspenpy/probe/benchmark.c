/* Measures a machine: PART (`core` or `memory`, what one core has for itself or the rest), L1 L2 L3 (bytes of the caches
   of a core as the system tells them, 0 for one that there is not), WAY (bytes of a way of the first), MOST (bytes to use
   at most), SECONDS (of each measurement), and the processors to run on, one a core. The word `start` alone ends at once:
   what is measured then is a process.

   Prints a line `name value` for each property, in seconds and bytes a second, as soon as it is measured. To be compiled
   without vectorization but where a loop asks for it (-O1 -fopenmp-simd): what is scalar here has to stay so. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "integers.h"
#include "timing.h"

enum { STEPS = 1000, CHAINS = 12 };
typedef float floats __attribute__((vector_size(VECTOR_BYTES)));
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));

static double seconds; /* for each measurement */
static volatile double seed = 1.0;
static volatile double sink;

static const double SHORTEST = 3e-5; /* seconds of a window: far less than a time slice of the scheduler */

static double alone(void (*run)(void *, int), void *argument)
{
  return least_time(1, run, argument, SHORTEST, seconds);
}

/* Seconds for what several threads do at once: all of them have to be undisturbed in one window. */
static double longer(int threads)
{
  return threads > 1 ? 5 * seconds : seconds;
}

/* -- arithmetic: chains of one operation, one alone and twelve side by side ---------------------------------------- */

#define ADD(x) (x) + small
#define MULTIPLY(x) (x) * near
#define FMA(x) (x) * near + small
#define DIVIDE(x) near / (x)
#define COMPARE(x) ((x) < small ? small : (x))
#define CONVERT(x) (double)(int64_t)(x)

#define NUMBERS(type)                                                                                                  \
  const type near = (type){0} + (1.0f + (float)seed * 0x1p-20f);                                                       \
  const type small = near * 0x1p-20f;                                                                                  \
  (void)unused, (void)thread, (void)small

#define CHAIN(name, type, operation, take)                                                                             \
  static void name##_chain(void *unused, int thread)                                                                   \
  {                                                                                                                    \
    NUMBERS(type);                                                                                                     \
    type x = near;                                                                                                     \
    for (int i = 0; i < STEPS; i++)                                                                                    \
      x = operation(x);                                                                                                \
    sink = take;                                                                                                       \
  }                                                                                                                    \
  static void name##_many(void *unused, int thread)                                                                    \
  {                                                                                                                    \
    NUMBERS(type);                                                                                                     \
    type x0 = near, x1 = near, x2 = near, x3 = near, x4 = near, x5 = near, x6 = near, x7 = near, x8 = near, x9 = near, \
         x10 = near, x11 = near, x;                                                                                    \
    for (int i = 0; i < STEPS / 10; i++) {                                                                             \
      x0 = operation(x0), x1 = operation(x1), x2 = operation(x2), x3 = operation(x3), x4 = operation(x4);              \
      x5 = operation(x5), x6 = operation(x6), x7 = operation(x7), x8 = operation(x8), x9 = operation(x9);              \
      x10 = operation(x10), x11 = operation(x11);                                                                      \
    }                                                                                                                  \
    x = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11;                                                   \
    sink = take;                                                                                                       \
  }

/* Six chains of sums beside six of products: whether they begin in the same pipes. */
static void add_and_multiply_dp_many(void *unused, int thread)
{
  NUMBERS(double);
  double x0 = near, x1 = near, x2 = near, x3 = near, x4 = near, x5 = near, y0 = near, y1 = near, y2 = near, y3 = near,
         y4 = near, y5 = near;
  for (int i = 0; i < STEPS / 10; i++) {
    x0 = ADD(x0), y0 = MULTIPLY(y0), x1 = ADD(x1), y1 = MULTIPLY(y1), x2 = ADD(x2), y2 = MULTIPLY(y2);
    x3 = ADD(x3), y3 = MULTIPLY(y3), x4 = ADD(x4), y4 = MULTIPLY(y4), x5 = ADD(x5), y5 = MULTIPLY(y5);
  }
  sink = x0 + x1 + x2 + x3 + x4 + x5 + y0 + y1 + y2 + y3 + y4 + y5;
}

#define TYPES(name, operation)                                                                                         \
  CHAIN(name##_dp, double, operation, x)                                                                               \
  CHAIN(name##_sp, float, operation, x)                                                                                \
  CHAIN(name##_dp_simd, doubles, operation, x[0])                                                                      \
  CHAIN(name##_sp_simd, floats, operation, x[0])

TYPES(add, ADD)
TYPES(multiply, MULTIPLY)
TYPES(fma, FMA)
TYPES(divide, DIVIDE)
CHAIN(compare_dp, double, COMPARE, x)
CHAIN(convert_dp, double, CONVERT, x)

/* A square root of a sum: what is under the root changes, and it waits for an addition too. */
static void root_dp_chain(void *unused, int thread)
{
  double x = seed, more = seed;
  (void)unused, (void)thread;
  for (int i = 0; i < STEPS; i++)
    x = sqrt(x + more);
  sink = x;
}

static void root_sp_chain(void *unused, int thread)
{
  float x = (float)seed, more = (float)seed;
  (void)unused, (void)thread;
  for (int i = 0; i < STEPS; i++)
    x = sqrtf(x + more);
  sink = x;
}

enum { ROOTS = 512 };
static double dp_roots[ROOTS] __attribute__((aligned(64)));
static float sp_roots[ROOTS] __attribute__((aligned(64)));

#define ROOT(name, type, values, root, pragma)                                                                         \
  static void name##_many(void *unused, int thread)                                                                    \
  {                                                                                                                    \
    type more = (type)seed;                                                                                            \
    (void)unused, (void)thread;                                                                                        \
    pragma for (int i = 0; i < ROOTS; i++) values[i] = root(values[i] + more);                                         \
  }

ROOT(root_dp, double, dp_roots, sqrt, )
ROOT(root_sp, float, sp_roots, sqrtf, )
ROOT(root_dp_simd, double, dp_roots, sqrt, _Pragma("omp simd"))
ROOT(root_sp_simd, float, sp_roots, sqrtf, _Pragma("omp simd"))

/* The empty statement makes the compiler take each sum as one that it cannot foresee. */
#define STEP(x) x += y; __asm__ volatile("" : "+r"(x));

static void integer_chain(void *unused, int thread)
{
  uint64_t x = 1, y = (uint64_t)seed;
  (void)unused, (void)thread;
  for (int i = 0; i < STEPS / 10; i++) {
    STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x)
  }
  sink = (double)x;
}

static void integer_many(void *unused, int thread)
{
  uint64_t x = 1, a = 1, b = 1, c = 1, d = 1, e = 1, y = (uint64_t)seed;
  (void)unused, (void)thread;
  for (int i = 0; i < STEPS / 10; i++) {
    STEP(x) STEP(a) STEP(b) STEP(c) STEP(d) STEP(e) STEP(x) STEP(a) STEP(b) STEP(c) STEP(d) STEP(e)
    STEP(x) STEP(a) STEP(b) STEP(c) STEP(d) STEP(e) STEP(x) STEP(a) STEP(b) STEP(c) STEP(d) STEP(e)
  }
  sink = (double)(x + a + b + c + d + e);
}

static void integer_multiply_chain(void *unused, int thread)
{
  uint64_t x = 3, y = (uint64_t)seed | 5;
  (void)unused, (void)thread;
  for (int i = 0; i < STEPS; i++) {
    x *= y;
    __asm__ volatile("" : "+r"(x));
  }
  sink = (double)x;
}

enum { LINE = 64, PAGE = 4096, MOST_CHAINS = 64 };

static void print(const char *name, const char *what, double value)
{
  printf("%s_%s %.6g\n", name, what, value);
  fflush(stdout);
}

/* Seconds of one operation of a chain, and operations a second side by side. */
#define SHOW(name, lanes)                                                                                              \
  print(#name, "latency", alone(name##_chain, NULL) / STEPS);                                                          \
  print(#name, "throughput", (lanes) * CHAINS * (STEPS / 10) / alone(name##_many, NULL));

#define SHOW_TYPES(name)                                                                                               \
  SHOW(name##_dp, 1) SHOW(name##_sp, 1) SHOW(name##_dp_simd, LANES) SHOW(name##_sp_simd, 2 * LANES)

static void arithmetic(void)
{
  print("integer", "latency", alone(integer_chain, NULL) / STEPS);
  print("integer", "throughput", 24 * (STEPS / 10) / alone(integer_many, NULL));
  print("integer_multiply", "latency", alone(integer_multiply_chain, NULL) / STEPS);
  SHOW_TYPES(add)
  print("add_and_multiply_dp", "throughput", CHAINS * (STEPS / 10) / alone(add_and_multiply_dp_many, NULL));
  SHOW_TYPES(multiply)
  SHOW_TYPES(fma)
  SHOW_TYPES(divide)
  SHOW(compare_dp, 1)
  SHOW(convert_dp, 1)
  print("sum_and_root_dp", "latency", alone(root_dp_chain, NULL) / STEPS);
  print("sum_and_root_sp", "latency", alone(root_sp_chain, NULL) / STEPS);
  print("root_dp", "throughput", ROOTS / alone(root_dp_many, NULL));
  print("root_sp", "throughput", ROOTS / alone(root_sp_many, NULL));
  print("root_dp_simd", "throughput", ROOTS / alone(root_dp_simd_many, NULL));
  print("root_sp_simd", "throughput", ROOTS / alone(root_sp_simd_many, NULL));
}

/* -- bandwidth: loads, stores and copies of so many bytes by each thread --------------------------------------------- */

enum { MOST_THREADS = 256 };
static const long APART = 17 * LINE; /* between source and target: they do not meet in a set */

struct memory {
  long bytes, whole; /* of a call, and of the block through which the calls go */
  char *block[MOST_THREADS];
  long place[MOST_THREADS];
  enum pages pages;
  int apart_of_all; /* each thread's block is touched by itself */
  long places, apart, turn; /* of a ring or of columns */
  long chains, most_chains, most;
  double share; /* of the windows that are faster than the one that counts */
  int is_slow;  /* lines come back to as late as in a chain that goes around all the time */
  long near; /* loads from the first cache beside those of a line */
};

static char *own[PAGES_HUGE + 1]; /* of the first thread, so that what it uses again is touched once */

static int in_own(const struct memory *m, int thread)
{
  return !thread && !m->apart_of_all && m->pages <= PAGES_HUGE;
}

static void *space(const struct memory *m, int thread, long bytes)
{
  return in_own(m, thread) ? own[m->pages] : untouched((size_t)bytes, m->pages);
}

static void done(const struct memory *m, int threads)
{
  for (int thread = 0; thread < threads; thread++)
    if (!in_own(m, thread))
      release(m->block[thread]);
}

static void make(void *given, int thread)
{
  struct memory *m = given;
  m->block[thread] = space(m, thread, m->whole + PAGE);
  m->place[thread] = 0;
  memset(m->block[thread], 0, (size_t)(m->whole + PAGE));
}

/* The part of a thread's block that the call is about; the next call goes on behind it. */
static char *part(struct memory *m, int thread)
{
  char *found = m->block[thread] + m->place[thread];
  m->place[thread] = (m->place[thread] + m->bytes) % m->whole;
  return found;
}

static void load(void *given, int thread)
{
  struct memory *m = given;
  const vector *x = (const vector *)part(m, thread);
  vector a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  for (long i = 0; i < m->bytes / VECTOR_BYTES; i += 8) {
    a += x[i], b += x[i + 1], c += x[i + 2], d += x[i + 3];
    e += x[i + 4], f += x[i + 5], g += x[i + 6], h += x[i + 7];
  }
  a += b + c + d + e + f + g + h;
  sink = a[0];
}

static void store(void *given, int thread)
{
  struct memory *m = given;
  vector *x = (vector *)part(m, thread), value = (vector){0} + seed;
  for (long i = 0; i < m->bytes / VECTOR_BYTES; i += 4)
    x[i] = value, x[i + 1] = value, x[i + 2] = value, x[i + 3] = value;
}

/* The first half of the block into the second. */
static void copy(void *given, int thread)
{
  struct memory *m = given;
  const vector *from = (const vector *)(m->block[thread] + m->place[thread] / 2);
  vector *to = (vector *)(m->block[thread] + m->whole / 2 + m->place[thread] / 2 + APART);
  for (long i = 0; i < m->bytes / 2 / VECTOR_BYTES; i += 4)
    to[i] = from[i], to[i + 1] = from[i + 1], to[i + 2] = from[i + 2], to[i + 3] = from[i + 3];
  part(m, thread);
}

/* As `load`, from each of the eight words of a line on in turn: most long vectors lie across two lines. */
static void load_across(void *given, int thread)
{
  static int word;
  struct memory *m = given;
  char *begin = m->block[thread];
  m->block[thread] += 8 * (word++ % 8);
  load(m, thread);
  m->block[thread] = begin;
}

static void load_words(void *given, int thread)
{
  struct memory *m = given;
  const double *x = (const double *)m->block[thread];
  double a = 0, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  for (long i = 0; i < m->bytes / 8; i += 8) {
    a += x[i], b += x[i + 1], c += x[i + 2], d += x[i + 3];
    e += x[i + 4], f += x[i + 5], g += x[i + 6], h += x[i + 7];
  }
  sink = a + b + c + d + e + f + g + h;
}

static void store_words(void *given, int thread)
{
  struct memory *m = given;
  double *x = (double *)m->block[thread], value = seed;
  for (long i = 0; i < m->bytes / 8; i += 4)
    x[i] = value, x[i + 1] = value, x[i + 2] = value, x[i + 3] = value;
}

static const struct {
  const char *name;
  void (*run)(void *, int);
} WAYS[] = {{"load", load}, {"store", store}, {"copy", copy}};

/* `share` of the windows are faster than the one that counts: in a cache none, in memory, where some of the data may
   still lie in a cache, half. */
static void bandwidth(const char *level, const char *cores, int threads, long bytes, long whole, double share)
{
  struct memory memory = {.bytes = bytes / 4096 * 4096, .whole = whole / bytes * (bytes / 4096 * 4096),
                          .apart_of_all = threads > 1};
  on_threads(threads, make, &memory);
  for (int i = 0; i < 3; i++) {
    char name[99];
    snprintf(name, sizeof name, "%s_%s", level, WAYS[i].name);
    double time = window_time(threads, WAYS[i].run, &memory, SHORTEST, longer(threads), share);
    print(name, cores, threads * (double)memory.bytes / time);
  }
  done(&memory, threads);
}

enum { SEGMENT = 128 };

/* Sums of so many words each in order: while the core is at the end of one, it has begun the next. With sixteen words a
 * pass the end of each sum is guessed rightly: a core that guesses it wrongly begins the next one late. */
static void segments(void *given, int thread)
{
  struct memory *m = given;
  const double *x = (const double *)m->block[thread];
  for (long k = 0; k < m->bytes / 8 / SEGMENT; k++) {
    double sum = 0;
    for (long i = k * SEGMENT; i < (k + 1) * SEGMENT; i += 16) {
      const double *y = x + i;
      sum = sum + y[0] + y[1] + y[2] + y[3] + y[4] + y[5] + y[6] + y[7];
      sum = sum + y[8] + y[9] + y[10] + y[11] + y[12] + y[13] + y[14] + y[15];
    }
    sink = sum;
  }
}

static void words(long bytes)
{
  struct memory memory = {.bytes = bytes / 4096 * 4096, .whole = bytes / 4096 * 4096};
  make(&memory, 0);
  double count = (double)memory.bytes / 8;
  print("load", "throughput", count / alone(load_words, &memory));
  print("store", "throughput", count / alone(store_words, &memory));
  print("load", "across", count / alone(load_across, &memory));
  print("load", "simd", count / alone(load, &memory));
  print("store", "simd", count / alone(store, &memory));
  print("segments", "latency", alone(segments, &memory) / (count / SEGMENT));
}

/* -- conflicting strides --------------------------------------------------------------------------------------------- */

/* Lines of one set after the other: of the columns of a matrix whose rows are `apart` bytes apart, `turn` the bytes in
   which its columns lie. */
static void load_columns(void *given, int thread)
{
  struct memory *m = given;
  for (long column = 0; column < m->turn; column += LINE)
    for (long row = 0; row < m->places; row++)
      (void)*(volatile double *)(m->block[thread] + row * m->apart + column);
}

static void store_columns(void *given, int thread)
{
  struct memory *m = given;
  for (long column = 0; column < m->turn; column += LINE)
    for (long row = 0; row < m->places; row++)
      *(volatile double *)(m->block[thread] + row * m->apart + column) = seed;
}

/* Seconds of a line whose column lies in one, two and four sets of the first cache, and in all. */
static void columns(long way, long bytes)
{
  for (int sets = 0; sets <= 4; sets += sets ? sets : 1) {
    long apart = sets ? way / sets : way + LINE;
    struct memory memory = {.whole = bytes * 2, .places = bytes / apart, .apart = apart, .turn = sets ? apart : way};
    double lines = (double)(memory.places * (memory.turn / LINE));
    char name[99];
    make(&memory, 0);
    snprintf(name, sizeof name, "sets_%d_load", sets);
    print(name, "latency", alone(load_columns, &memory) / lines);
    snprintf(name, sizeof name, "sets_%d_store", sets);
    print(name, "latency", alone(store_columns, &memory) / lines);
  }
}

/* -- latency: loads that wait for each other, in one chain or several ------------------------------------------------- */

/* A ring goes through one line of each of `places` places, a power of two or three times one, by x -> (a*x + c) modulo
   `places`, which comes to all of them in an order that no prefetcher follows (Hull and Dobell, SIAM Review 4, 1962:
   a - 1 is a multiple of 4 and of 3, c is prime to both). */
static uint64_t factor_of(long places)
{
  return ((uint64_t)places / 5 * 3) / 12 * 12 + 13;
}

static const uint64_t STEP_BY = 7919;

/* Where a place's line is: `turn` moves each by so many lines against the one before it, so that they do not meet in one
   set. */
static char *line_of(const struct memory *m, int thread, long place)
{
  return m->block[thread] + place * m->apart + (m->turn ? place * m->turn % (m->apart / LINE) * LINE : 0);
}

static void make_ring(void *given, int thread)
{
  struct memory *m = given;
  uint64_t factor = factor_of(m->places);
  m->block[thread] = space(m, thread, m->places * m->apart);
  for (long i = 0; i < m->places; i++)
    *(char **)line_of(m, thread, i) = line_of(m, thread, (long)((factor * (uint64_t)i + STEP_BY) % (uint64_t)m->places));
}

/* The place that a ring comes to so many steps behind place 0, by doubling. */
static long place_behind(const struct memory *m, long steps)
{
  uint64_t of = (uint64_t)m->places, factor = factor_of(m->places) % of, more = STEP_BY % of, place = 0;
  for (; steps; steps >>= 1) {
    if (steps & 1)
      place = (factor * place + more) % of;
    more = (factor * more + more) % of;
    factor = factor * factor % of;
  }
  return (long)place;
}

static char *at[MOST_THREADS][MOST_CHAINS]; /* where each chain of a thread is */

/* Once around the ring, as far as that is no longer than `most`. */
static long hops(const struct memory *m)
{
  return m->places < m->most ? m->places : m->most;
}

/* Hops of `chains` chains, each behind the one before it. */
static void hop(void *given, int thread)
{
  const struct memory *m = given;
  if (m->chains == 1) {
    char *p = at[thread][0];
    for (long i = 0; i < hops(m); i++)
      p = *(char **)p;
    at[thread][0] = p;
    return;
  }
  char *p[MOST_CHAINS];
  for (int k = 0; k < m->chains; k++)
    p[k] = at[thread][k];
  for (long i = 0; i < hops(m); i += m->chains)
    for (int k = 0; k < m->chains; k++)
      p[k] = *(char **)p[k];
  for (int k = 0; k < m->chains; k++)
    at[thread][k] = p[k];
}

/* Chains that begin at equal distances in the ring. */
static void begin_chains(const struct memory *m, int threads)
{
  for (int thread = 0; thread < threads; thread++)
    for (long chain = 0; chain < m->chains; chain++)
      at[thread][chain] = line_of(m, thread, place_behind(m, chain * (m->places / m->chains)));
}

enum { TOUR_CHAINS = 16 };

/* Once around the whole ring, so that the caches have what they hold of it: windows are far shorter than a turn of a long
   ring, and what its stores leave in a third cache is not what loads find there. In one chain the lines are as old when
   loads come back to them as in any other turn: neighbours have replaced as many. */
static void tour(struct memory m, long chains, int threads)
{
  m.chains = chains;
  m.most = m.places;
  begin_chains(&m, threads);
  on_threads(threads, hop, &m);
}

/* Prints the seconds of a load in a ring, on so many threads, each in a ring of its own, with one chain at work and with
   several at once. */
static void ring(const char *name, int threads, struct memory m)
{
  m.most = m.most ? m.most : 1 << 12;
  on_threads(threads, make_ring, &m);
  if (m.places > m.most)
    tour(m, m.is_slow ? 1 : TOUR_CHAINS, threads);
  for (long chains = 1; chains <= (m.most_chains ? m.most_chains : 1); chains *= 4) {
    char title[99];
    m.chains = chains;
    begin_chains(&m, threads);
    snprintf(title, sizeof title, chains == 1 ? "%s" : "%s_chains_%ld", name, chains);
    double time = window_time(threads, hop, &m, SHORTEST, longer(threads), m.share);
    print(title, "latency", time / (double)(hops(&m) / chains * chains));
  }
  done(&m, threads);
}

/* A ring for each size from 8 KiB on, two to a doubling, on huge pages, so that its lines lie side by side: where they
   become slower, a cache ends. Up to `slow` bytes loads come around as late as in a program, and the median window counts:
   of what neighbours leave of a cache the luckiest window says too much. */
static void sizes(long from, long to, long slow)
{
  char name[99];
  for (long bytes = 8192; bytes <= to; bytes = bytes & (bytes - 1) ? bytes / 3 * 4 : bytes / 2 * 3)
    if (bytes > from) {
      snprintf(name, sizeof name, "ring_%ld", bytes);
      ring(name, 1, (struct memory){.places = bytes / LINE, .apart = LINE, .pages = PAGES_HUGE,
                                    .is_slow = bytes <= slow, .share = bytes <= slow ? 0.5 : 0});
    }
}

/* The same of all threads at once, each in a ring of its own. */
static void sizes_of_all(long from, long to, int threads)
{
  char name[99];
  for (long bytes = 8192; bytes <= to && threads > 1; bytes *= 2)
    if (bytes > from) {
      snprintf(name, sizeof name, "ring_all_%ld", bytes);
      ring(name, threads, (struct memory){.places = bytes / LINE, .apart = LINE, .apart_of_all = 1});
    }
}

/* The largest power of two that is no larger. */
static long power_below(long bytes)
{
  long found = 1;
  while (found * 2 <= bytes)
    found *= 2;
  return found;
}

/* A level's latency, with pages as the system gives them, huge and small; with several chains at once, as many as the
   level has outstanding misses. */
static void latency(const char *level, long bytes, double share)
{
  static const char *const kinds[] = {"", "_huge", "_small"};
  for (enum pages pages = PAGES_OF_SYSTEM; pages <= PAGES_SMALL && bytes; pages++) {
    char name[99];
    snprintf(name, sizeof name, "%s%s", level, kinds[pages]);
    struct memory m = {.places = power_below(bytes) / LINE, .apart = LINE, .pages = pages, .share = share};
    m.most_chains = pages == PAGES_OF_SYSTEM ? MOST_CHAINS : 1;
    ring(name, 1, m);
  }
}

/* Rings through a line of each of so many pages, side by side and so far apart that they meet in few sets of the
   translation buffer. */
static void translation(long most)
{
  char name[99];
  for (long count = 128; count * PAGE <= most; count = count & (count - 1) ? count / 3 * 4 : count / 2 * 3) {
    snprintf(name, sizeof name, "pages_%ld", count);
    ring(name, 1, (struct memory){.places = count, .apart = PAGE, .turn = 1, .most_chains = 16});
  }
  for (long count = 8; count * 256 * PAGE <= most; count *= 2) {
    snprintf(name, sizeof name, "far_%ld", count);
    ring(name, 1, (struct memory){.places = count, .apart = 256 * PAGE, .turn = 1});
  }
}

/* -- whether levels work at once --------------------------------------------------------------------------------------- */

static char hot[4096] __attribute__((aligned(64)));

/* A vector of each line of a block, and `near` vectors from the first cache beside it. */
static void load_both(void *given, int thread)
{
  struct memory *m = given;
  const char *x = part(m, thread);
  vector a = {0}, b = a;
  for (long i = 0; i < m->bytes; i += LINE) {
    a += *(const vector *)(x + i);
    for (long k = 0; k < m->near; k++)
      b += *(volatile vector *)(hot + k % 32 * LINE);
  }
  a += b;
  sink = a[0];
}

/* Seconds of a line from a level alone, of as many loads from the first cache as take about as long, and of both. */
static void overlap(const char *level, long bytes, long whole)
{
  struct memory far = {.bytes = bytes, .whole = whole}, near = {.bytes = 4096, .whole = 4096, .pages = PAGES_SMALL};
  char name[99];
  make(&far, 0), make(&near, 0);
  double lines = (double)(bytes / LINE), alone_far = window_time(1, load_both, &far, SHORTEST, seconds, 0.1) / lines;
  near.near = 16;
  double each = alone(load_both, &near) / (4096 / LINE) / 16;
  long count = (long)(alone_far / each);
  near.near = far.near = count < 2 ? 2 : count > 64 ? 64 : count;
  snprintf(name, sizeof name, "overlap_%s", level);
  print(name, "far_latency", alone_far);
  print(name, "near_latency", alone(load_both, &near) / (4096 / LINE));
  print(name, "both_latency", window_time(1, load_both, &far, SHORTEST, seconds, 0.1) / lines);
  release(near.block[0]);
}

/* -- a barrier of all threads, first touches, the start of a process ---------------------------------------------------- */

static struct barrier common;

static void meet(void *unused, int thread)
{
  (void)unused, (void)thread;
  for (int i = 0; i < 100; i++)
    wait_for_all(&common);
}

static void do_nothing(void *unused, int thread)
{
  (void)unused, (void)thread;
}

static void start_threads(void *threads, int thread)
{
  (void)thread;
  on_threads(*(int *)threads, do_nothing, NULL);
}

enum { TOUCHED = 64, FRESH = 8192 }; /* pages of a window, and of a mapping */

static char *fresh;
static long touched = FRESH;

static void map_fresh(void *unused, int thread)
{
  (void)unused, (void)thread;
  fresh = mmap(NULL, (size_t)FRESH * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  touched = 0;
}

/* The next pages of a mapping that is larger than caches hold, so that each is one that the system has to find and to
   zero in memory. */
static void touch(void *unused, int thread)
{
  (void)unused, (void)thread;
  if (touched == FRESH) {
    if (fresh)
      munmap(fresh, (size_t)FRESH * PAGE);
    map_fresh(NULL, 0);
  }
  for (long i = 0; i < TOUCHED && fresh != MAP_FAILED; i++)
    *(volatile char *)(fresh + touched++ * PAGE) = 1;
}

/* Seconds of the first touch of a page, and of its return when the mapping goes. */
static void first_touches(void)
{
  double least = 1e300;
  print("page_fault", "latency", window_time(1, touch, NULL, SHORTEST, 10 * seconds, 0.5) / TOUCHED);
  for (int turn = 0; turn < 3; turn++) {
    while (touched < FRESH)
      touch(NULL, 0);
    double begin = now();
    munmap(fresh, (size_t)FRESH * PAGE);
    least = now() - begin < least ? now() - begin : least;
    map_fresh(NULL, 0);
  }
  print("page_return", "latency", least / FRESH);
}

static const long SLICE = 1 << 19; /* bytes of memory in one window */

/* The third cache is in the most passes, since others use it. */
static void core(long first, long second, long third, long way)
{
  arithmetic();
  integers(seconds);
  words(first / 2);
  bandwidth("first", "core", 1, first / 2, first / 2, 0);
  bandwidth("second", "core", 1, second / 2, second / 2, 0);
  columns(way, second / 2);
  sizes(0, second * 2, 0);
  latency("first", first / 2, 0);
  latency("second", second / 2, 0);
  latency("third", third ? second * 2 : 0, 0);
  overlap("second", second / 2, second / 2);
}

static void memory(long first, long second, long third, long most, int threads)
{
  long far = third && third < most / 16 ? 4 * third : most / 4;
  bandwidth("first", "all", threads, first / 2, first / 2, 0);
  bandwidth("second", "all", threads, second / 2, second / 2, 0);
  if (third) {
    bandwidth("third", "core", 1, second / 2 * 5, second / 2 * 5, 0);
    bandwidth("third", "all", threads, second / 2 * 5, second / 2 * 5, 0);
    bandwidth("third_half", "core", 1, SLICE, third / 2, 0.25);
  }
  bandwidth("memory", "core", 1, SLICE, far, 0.25);
  for (int some = 2; some < threads; some *= 2) {
    char cores[99];
    snprintf(cores, sizeof cores, "on_%d", some);
    bandwidth("memory", cores, some, SLICE, far / some > SLICE ? far / some : SLICE, 0.25);
  }
  bandwidth("memory", "all", threads, SLICE, far / threads > SLICE ? far / threads : SLICE, 0.25);
  sizes(second * 2, far, third);
  sizes_of_all(second, third < far / threads ? third : far / threads, threads);
  latency("memory", far, 0.25);
  overlap("memory", SLICE, far);
  translation(far);
  common.threads = threads;
  print("barrier", "latency", least_time(threads, meet, NULL, SHORTEST, longer(threads)) / 100);
  print("thread_start", "latency", least_time(1, start_threads, &threads, SHORTEST, 5 * seconds));
  atomics(threads, seconds);
  first_touches();
}

int main(int count, char **arguments)
{
  if (count == 2 && !strcmp(arguments[1], "start"))
    return 0;
  int threads = count - 8;
  if (threads < 1 || threads > MOST_THREADS) {
    fprintf(stderr, "usage: %s core|memory L1 L2 L3 WAY MOST SECONDS PROCESSOR...\n", arguments[0]);
    return 2;
  }
  long first = atol(arguments[2]), second = atol(arguments[3]), third = atol(arguments[4]);
  long way = atol(arguments[5]), most = atol(arguments[6]); /* bytes of a way of the first cache, and to use */
  for (int thread = 0; thread < threads; thread++)
    choose_processor(thread, atoi(arguments[8 + thread]));
  seconds = atof(arguments[7]);
  for (enum pages pages = PAGES_OF_SYSTEM; pages <= PAGES_HUGE; pages++)
    own[pages] = untouched((size_t)most, pages);
  print("vector", "bytes", VECTOR_BYTES);
  if (!strcmp(arguments[1], "core"))
    core(first, second, third, way);
  else
    memory(first, second, third, most, threads);
  return 0;
}
