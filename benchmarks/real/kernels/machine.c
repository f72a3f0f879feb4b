/* Measures a machine: L1 L2 L3 (bytes of the caches of a core; L3 its part of the shared one), THREADS, SECONDS each.

   Prints a line `name value` for each property, in seconds and bytes a second. To be compiled without vectorization but
   where a loop asks for it (-O1 -fopenmp-simd): what is scalar here has to stay so. */
#include <stdio.h>
#include <stdlib.h>

#include "real.h"
#include "timing.h"

enum { STEPS = 1000, CHAINS = 12 };
typedef float floats __attribute__((vector_size(VECTOR_BYTES)));
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));

static double seconds; /* for each measurement */
static volatile double seed = 1.0;
static volatile double sink;

static double alone(void (*run)(void *, int), void *argument)
{
  return least_time(1, run, argument, 3e-5, seconds);
}

/* -- arithmetic: chains of one operation, one alone and twelve side by side ---------------------------------------- */

#define ADD(x) (x) + small
#define MULTIPLY(x) (x) * near
#define FMA(x) (x) * near + small
#define DIVIDE(x) near / (x)

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

#define TYPES(name, operation)                                                                                         \
  CHAIN(name##_dp, double, operation, x)                                                                               \
  CHAIN(name##_sp, float, operation, x)                                                                                \
  CHAIN(name##_dp_simd, doubles, operation, x[0])                                                                      \
  CHAIN(name##_sp_simd, floats, operation, x[0])

TYPES(add, ADD)
TYPES(multiply, MULTIPLY)
TYPES(fma, FMA)
TYPES(divide, DIVIDE)

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
  SHOW_TYPES(multiply)
  SHOW_TYPES(fma)
  SHOW_TYPES(divide)
  print("sum_and_root_dp", "latency", alone(root_dp_chain, NULL) / STEPS);
  print("sum_and_root_sp", "latency", alone(root_sp_chain, NULL) / STEPS);
  print("root_dp", "throughput", ROOTS / alone(root_dp_many, NULL));
  print("root_sp", "throughput", ROOTS / alone(root_sp_many, NULL));
  print("root_dp_simd", "throughput", ROOTS / alone(root_dp_simd_many, NULL));
  print("root_sp_simd", "throughput", ROOTS / alone(root_sp_simd_many, NULL));
}

/* -- bandwidth: loads, stores and copies of so many bytes by each thread --------------------------------------------- */

struct memory {
  long bytes;
  char *from[256], *to[256]; /* of each thread */
  long places, block, turn; /* of a ring */
  long chains, most_chains, most;
};

static void make(void *given, int thread)
{
  struct memory *m = given;
  m->from[thread] = array((size_t)m->bytes);
  m->to[thread] = array((size_t)m->bytes);
}

static void load(void *given, int thread)
{
  struct memory *m = given;
  const vector *x = (const vector *)m->from[thread];
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
  vector *x = (vector *)m->to[thread], value = (vector){0} + seed;
  for (long i = 0; i < m->bytes / VECTOR_BYTES; i += 4)
    x[i] = value, x[i + 1] = value, x[i + 2] = value, x[i + 3] = value;
}

static void copy(void *given, int thread)
{
  struct memory *m = given;
  vector *to = (vector *)m->to[thread];
  const vector *from = (const vector *)m->from[thread];
  for (long i = 0; i < m->bytes / 2 / VECTOR_BYTES; i += 4)
    to[i] = from[i], to[i + 1] = from[i + 1], to[i + 2] = from[i + 2], to[i + 3] = from[i + 3];
}

/* As `load` and `store`, from any of the eight words of a line on: most long vectors lie across two lines. */
static void load_across(void *given, int thread)
{
  static int word;
  struct memory m = *(struct memory *)given;
  m.from[thread] += 8 * (word++ % 8);
  load(&m, thread);
}

static void store_across(void *given, int thread)
{
  static int word;
  struct memory m = *(struct memory *)given;
  m.to[thread] += 8 * (word++ % 8);
  store(&m, thread);
}

static void load_words(void *given, int thread)
{
  struct memory *m = given;
  const double *x = (const double *)m->from[thread];
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
  double *x = (double *)m->to[thread], value = seed;
  for (long i = 0; i < m->bytes / 8; i += 4)
    x[i] = value, x[i + 1] = value, x[i + 2] = value, x[i + 3] = value;
}

/* The first `kinds` of load, store and copy. */
static void bandwidth(const char *level, long bytes, int threads, int kinds)
{
  struct {
    const char *name;
    void (*run)(void *, int);
  } ways[] = {{"load", load}, {"store", store}, {"copy", copy}};
  struct memory memory = {.bytes = bytes / 1024 * 1024};
  on_threads(threads, make, &memory);
  char name[99];
  for (int i = 0; i < kinds; i++) {
    snprintf(name, sizeof name, "%s_%s", level, ways[i].name);
    print(name, "core", (double)memory.bytes / alone(ways[i].run, &memory));
    print(name, "all", threads * (double)memory.bytes / least_time(threads, ways[i].run, &memory, 3e-5, seconds));
  }
  for (int thread = 0; thread < threads; thread++)
    release(memory.from[thread]), release(memory.to[thread]);
}

enum { SEGMENT = 128 };

/* Sums of so many words each in order: while the core is at the end of one, it has begun the next. */
static void segments(void *given, int thread)
{
  struct memory *m = given;
  const double *x = (const double *)m->from[thread];
  double *y = (double *)m->to[thread];
  for (long k = 0; k < m->bytes / 8 / SEGMENT; k++) {
    double sum = 0;
    for (long i = k * SEGMENT; i < (k + 1) * SEGMENT; i++)
      sum += x[i];
    y[k] = sum;
  }
}

/* Lines of one set after the other: of the columns of a matrix whose rows are `block` bytes apart, `turn` the bytes in
   which its columns lie. */
static void load_columns(void *given, int thread)
{
  struct memory *m = given;
  double a = 0;
  for (long column = 0; column < m->turn; column += LINE)
    for (long row = 0; row < m->places; row++) {
      a = *(const double *)(m->from[thread] + row * m->block + column);
      __asm__ volatile("" : : "x"(a));
    }
}

static void store_columns(void *given, int thread)
{
  struct memory *m = given;
  for (long column = 0; column < m->turn; column += LINE)
    for (long row = 0; row < m->places; row++)
      *(volatile double *)(m->to[thread] + row * m->block + column) = seed;
}

/* Seconds of a line whose column lies in one, two and four sets of the first cache, and in all. */
static void columns(long way, long bytes)
{
  static const struct {
    const char *name;
    void (*run)(void *, int);
  } ways[] = {{"load", load_columns}, {"store", store_columns}};
  for (int sets = 0; sets <= 4; sets += sets ? sets : 1) {
    long apart = sets ? way / sets : way + LINE;
    struct memory memory = {.bytes = bytes * 2, .places = bytes / apart, .block = apart, .turn = sets ? apart : way};
    char name[99];
    make(&memory, 0);
    for (int i = 0; i < 2; i++) {
      snprintf(name, sizeof name, "sets_%d_%s", sets, ways[i].name);
      print(name, "latency", alone(ways[i].run, &memory) / (double)(memory.places * (memory.turn / LINE)));
    }
    release(memory.from[0]), release(memory.to[0]);
  }
}

static void words(long bytes)

{
  struct memory memory = {.bytes = bytes / 1024 * 1024};
  make(&memory, 0);
  print("load", "throughput", (double)memory.bytes / 8 / alone(load_words, &memory));
  print("store", "throughput", (double)memory.bytes / 8 / alone(store_words, &memory));
  print("load", "across", (double)memory.bytes / 8 / alone(load_across, &memory));
  print("store", "across", (double)memory.bytes / 8 / alone(store_across, &memory));
  print("load", "simd", (double)memory.bytes / 8 / alone(load, &memory));
  print("store", "simd", (double)memory.bytes / 8 / alone(store, &memory));
  print("segments", "latency", alone(segments, &memory) / (double)(memory.bytes / 8 / SEGMENT));
  release(memory.from[0]), release(memory.to[0]);
}

/* -- latency: loads that wait for each other, in a random order, in one chain or several --------------------------- */

/* A ring of a thread through one line of each of `places` blocks of so many bytes, in a random order; `turn` moves each
   block's line by so many lines against the one before it, so that they do not meet in one set. */
static void make_ring(void *given, int thread)
{
  struct memory *m = given;
  long block = m->block, turn = m->turn;
  uint64_t state = 5;
  char *base = m->from[thread] = array((size_t)(m->places * block));
  uint32_t *order = malloc((size_t)m->places * sizeof *order);
  for (long i = 0; i < m->places; i++)
    order[i] = (uint32_t)i;
  for (long i = m->places - 1; i > 0; i--) {
    long other = (long)(draw(&state) % (uint64_t)i);
    uint32_t kept = order[i];
    order[i] = order[other], order[other] = kept;
  }
  for (long i = 0; i < m->places; i++) {
    long here = order[i], next = order[(i + 1) % m->places];
    char *to = base + next * block + next * turn % (block / LINE) * LINE;
    *(char **)(base + here * block + here * turn % (block / LINE) * LINE) = to;
  }
  free(order);
}

static char *at[256][MOST_CHAINS]; /* where each chain of a thread is */

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

/* Prints the seconds of a load in a ring through `places` blocks, on so many threads, each in a ring of its own, with so
   many chains at work at once. */
static void ring(const char *name, int threads, struct memory m)
{
  on_threads(threads, make_ring, &m);
  for (long chains = 1; chains <= m.most_chains; chains *= 2) {
    char title[99];
    m.chains = chains;
    for (int thread = 0; thread < threads; thread++) {
      char *p = m.from[thread];
      for (long hop = 0; hop < m.places; hop++, p = *(char **)p)
        if (hop % (m.places / chains) == 0 && hop / (m.places / chains) < chains)
          at[thread][hop / (m.places / chains)] = p; /* each chain begins elsewhere in the ring */
    }
    snprintf(title, sizeof title, chains == 1 ? "%s" : "%s_chains_%ld", name, chains);
    print(title, "latency", least_time(threads, hop, &m, 3e-5, seconds) / (double)(hops(&m) / chains * chains));
  }
  for (int thread = 0; thread < threads; thread++)
    release(m.from[thread]);
}

static void latencies(long first, long second, long third, long memory, int threads)
{
  char name[99];
  ring("first", 1, (struct memory){.places = first / 2 / LINE, .block = LINE, .most = 1 << 16, .most_chains = 1});
  ring("second", 1, (struct memory){.places = second / 2 / LINE, .block = LINE, .most = 1 << 16, .most_chains = 1});
  for (int part = 1; part <= 16; part += part < 4 ? 1 : part < 8 ? 2 : part < 16 ? 4 : 8) { /* sixteenths */
    struct memory m = {.places = third / 16 * part / LINE, .block = LINE, .most = 1 << 18, .most_chains = 1};
    snprintf(name, sizeof name, "third_%d", part);
    ring(name, 1, m);
    snprintf(name, sizeof name, "third_all_%d", part);
    ring(name, threads, m);
  }
  ring("memory", 1, (struct memory){.places = memory / LINE, .block = LINE, .most = 1 << 16, .most_chains = MOST_CHAINS});
  for (long pages = 256; pages <= 8192; pages += pages < 4096 ? 256 : 4096) {
    snprintf(name, sizeof name, "pages_%ld", pages);
    ring(name, 1, (struct memory){.places = pages, .block = PAGE, .turn = 1, .most = 1 << 16, .most_chains = 16});
  }
  for (long pages = 8; pages <= 512; pages *= 2) { /* apart by so many pages that they meet in few sets of the buffer */
    snprintf(name, sizeof name, "far_%ld", pages);
    ring(name, 1, (struct memory){.places = pages, .block = 256 * PAGE, .turn = 1, .most = 1 << 16, .most_chains = 1});
  }
}

/* -- a barrier of all threads -------------------------------------------------------------------------------------- */

static struct barrier common;

static void meet(void *unused, int thread)
{
  (void)unused, (void)thread;
  for (int i = 0; i < 100; i++)
    wait_for_all(&common);
}

int main(int count, char **arguments)
{
  if (count != 7) {
    fprintf(stderr, "usage: %s L1 L2 L3 WAY THREADS SECONDS\n", arguments[0]);
    return 2;
  }
  long first = atol(arguments[1]), second = atol(arguments[2]), third = atol(arguments[3]);
  long way = atol(arguments[4]); /* bytes of a way of the first cache */
  int threads = atoi(arguments[5]);
  long memory = 4 * third; /* of each thread */
  seconds = atof(arguments[6]);
  printf("vector_bytes %d\n", VECTOR_BYTES);
  arithmetic();
  words(first / 2);
  bandwidth("first", first / 2, threads, 3);
  bandwidth("second", second / 2, threads, 3);
  bandwidth("third", second / 2 * 5, threads, 3);
  bandwidth("memory", memory, threads, 3);
  columns(way, second / 2);
  latencies(first, second, third, memory, threads);
  common.threads = threads;
  print("barrier", "latency", least_time(threads, meet, NULL, 3e-5, seconds) / 100);
  return 0;
}
