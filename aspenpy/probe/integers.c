/* Whole numbers by class and width, branches that are guessed wrongly, atomic operations. */
#include "integers.h"

#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

enum { STEPS = 100, GUESSES = 1 << 18, WINDOW = 1 << 12, LEAST_LEARNT = 1 << 10 };

static const double SHORTEST = 3e-5; /* seconds of a window */
static double seconds;

static void print(const char *name, const char *what, double value)
{
  printf("%s_%s %.6g\n", name, what, value);
  fflush(stdout);
}

static double alone(void (*run)(void *, int), void *argument)
{
  return least_time(1, run, argument, SHORTEST, seconds);
}

/* -- independent operations in turn: eight of scalars, twelve of vectors ----------------------------------------------- */

#if defined(__x86_64__) || defined(__powerpc64__)
#define VECTOR_REGISTER "v"
#else
#define VECTOR_REGISTER "w"
#endif

/* Empty statements make the compiler take each result as one that it cannot foresee. */
#define HIDE(x) __asm__ volatile("" : "+r"(x));
#define HIDE_VECTOR(x) __asm__ volatile("" : "+" VECTOR_REGISTER(x));

#define ADD(x) (x) + y
#define LOGIC(x) (x) ^ y
#define SHIFT(x) (x) >> 1
#define MULTIPLY(x) (x) * y

#define TURN(x, operation, hide) x = (typeof(y))(operation(x)); hide(x)
#define NO_TURN(x, operation, hide)
#define IN_SCALARS 8
#define IN_VECTORS 12

#define MANY(name, type, operation, hide, more)                                                                              \
  static void name(void *unused, int thread)                                                                           \
  {                                                                                                                    \
    type y = one_of(type), a = y, b = y, c = y, d = y, e = y, f = y, g = y, h = y, i = y, j = y, k = y, l = y;    \
    (void)unused, (void)thread, (void)i, (void)j, (void)k, (void)l;                                                    \
    hide(y)                                                                                                            \
    for (int step = 0; step < STEPS; step++) {                                                                         \
      TURN(a, operation, hide) TURN(b, operation, hide) TURN(c, operation, hide) TURN(d, operation, hide)              \
      TURN(e, operation, hide) TURN(f, operation, hide) TURN(g, operation, hide) TURN(h, operation, hide)              \
      more(i, operation, hide) more(j, operation, hide) more(k, operation, hide) more(l, operation, hide)              \
    }                                                                                                                  \
  }

#define one_of(type) (type){0} + 1

#define CLASSES(name, type, hide, more)                                                                                \
  MANY(add_##name, type, ADD, hide, more)                                                                              \
  MANY(logic_##name, type, LOGIC, hide, more)                                                                          \
  MANY(shift_##name, type, SHIFT, hide, more)                                                                          \
  MANY(multiply_##name, type, MULTIPLY, hide, more)

typedef uint8_t int8s __attribute__((vector_size(VECTOR_BYTES)));
typedef uint16_t int16s __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t int32s __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t int64s __attribute__((vector_size(VECTOR_BYTES)));

CLASSES(scalar, uint64_t, HIDE, NO_TURN)
CLASSES(int8, int8s, HIDE_VECTOR, TURN)
CLASSES(int16, int16s, HIDE_VECTOR, TURN)
CLASSES(int32, int32s, HIDE_VECTOR, TURN)
CLASSES(int64, int64s, HIDE_VECTOR, TURN)

#define SHOW(called, run, count) print(called, "throughput", (double)(count) * STEPS / alone(run, NULL));

/* Words of a vector in the other order: they cross from half to half. */
#if VECTOR_BYTES == 64
#define PERMUTE(x) __builtin_shufflevector(x, x, 7, 6, 5, 4, 3, 2, 1, 0)
#elif VECTOR_BYTES == 32
#define PERMUTE(x) __builtin_shufflevector(x, x, 3, 2, 1, 0)
#else
#define PERMUTE(x) __builtin_shufflevector(x, x, 1, 0)
#endif
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAS_PERMUTE
MANY(permute_int64, int64s, PERMUTE, HIDE_VECTOR, TURN)
#endif
#endif

#define SHOW_WIDTH(name, bits)                                                                                         \
  SHOW("integer_" #name "_simd", add_##name, IN_VECTORS * VECTOR_BYTES * 8 / bits)                                                  \
  SHOW("logic_" #name "_simd", logic_##name, IN_VECTORS * VECTOR_BYTES * 8 / bits)                                                  \
  SHOW("shift_" #name "_simd", shift_##name, IN_VECTORS * VECTOR_BYTES * 8 / bits)                                                  \
  SHOW("integer_multiply_" #name "_simd", multiply_##name, IN_VECTORS * VECTOR_BYTES * 8 / bits)

/* -- products of bytes that are summed ---------------------------------------------------------------------------------- */

#if defined(__AVX512VNNI__)
#include <immintrin.h>
typedef __m512i products;
#define SUM_OF_PRODUCTS(sum, x, y) _mm512_dpbusd_epi32(sum, x, y)
#elif defined(__AVX2__)
#include <immintrin.h>
typedef __m256i products;
#define SUM_OF_PRODUCTS(sum, x, y)                                                                                     \
  _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), _mm256_set1_epi16(1)))
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
typedef int32x4_t products;
#define SUM_OF_PRODUCTS(sum, x, y) vdotq_s32(sum, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(y))
#endif

#ifdef SUM_OF_PRODUCTS
#define DOT(x) x = SUM_OF_PRODUCTS(x, y, y); HIDE_VECTOR(x)
static void dot_products(void *unused, int thread)
{
  products y = {1, 1}, a = y, b = y, c = y, d = y, e = y, f = y, g = y, h = y, i = y, j = y;
  (void)unused, (void)thread;
  HIDE_VECTOR(y)
  for (int step = 0; step < STEPS; step++) {
    DOT(a) DOT(b) DOT(c) DOT(d) DOT(e) DOT(f) DOT(g) DOT(h) DOT(i) DOT(j)
  }
}
#endif

/* -- branches: by bits of no pattern, and by bits that are all alike --------------------------------------------------- */

struct guesses {
  uint8_t *bits; /* GUESSES of them, a window at a time */
  double *numbers;
  long at;
};

static volatile uint64_t taken;

static void guess(void *given, int thread)
{
  struct guesses *g = given;
  const uint8_t *bits = g->bits + g->at;
  uint64_t count = 0;
  (void)thread;
  g->at = (g->at + WINDOW) % GUESSES;
  for (int i = 0; i < WINDOW; i++)
    if (bits[i] > 127) {
      count += 3;
      __asm__ volatile("" : "+r"(count));
    }
  taken = count;
}

static void guess_numbers(void *given, int thread)
{
  struct guesses *g = given;
  const double *numbers = g->numbers + g->at;
  uint64_t count = 0;
  (void)thread;
  g->at = (g->at + WINDOW) % GUESSES;
  for (int i = 0; i < WINDOW; i++)
    if (numbers[i] > 127.5) {
      count += 3;
      __asm__ volatile("" : "+r"(count));
    }
  taken = count;
}

struct sequence {
  const uint8_t *bits;
  int length;
};

static void repeat_sequence(void *given, int thread)
{
  const struct sequence *s = given;
  uint64_t count = 0;
  (void)thread;
  for (int i = 0; i < s->length; i++)
    if (s->bits[i] > 127) {
      count += 3;
      __asm__ volatile("" : "+r"(count));
    }
  taken = count;
}

/* Seconds of a branch in sequences of no pattern that come again and again, the longest the length of all bits. */
static void learn(const uint8_t *bits)
{
  for (int length = LEAST_LEARNT; length <= GUESSES; length *= 2) {
    struct sequence s = {bits, length};
    for (int turn = 0; turn < (length < 1 << 16 ? 4 : 1); turn++)
      repeat_sequence(&s, 0);
    char name[99];
    snprintf(name, sizeof name, "sequence_%d", length);
    print(name, "latency", alone(repeat_sequence, &s) / length);
  }
}

/* Seconds of a branch of which half are taken without a pattern, of which none are, and all; of sequences that come
   again. */
static void branches(void)
{
  static const char *const kinds[] = {"random", "none", "all"};
  struct guesses g = {malloc(GUESSES), malloc(GUESSES * sizeof(double)), 0};
  for (int kind = 0; kind < 3; kind++) {
    uint64_t state = 88172645463325252u;
    for (long i = 0; i < GUESSES; i++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* xorshift64 (Marsaglia) */
      g.bits[i] = kind ? kind == 2 ? 255 : 0 : (uint8_t)(state >> 40);
      g.numbers[i] = g.bits[i];
    }
    char name[99];
    snprintf(name, sizeof name, "branch_%s", kinds[kind]);
    print(name, "latency", alone(guess, &g) / WINDOW);
    snprintf(name, sizeof name, "branch_dp_%s", kinds[kind]);
    print(name, "latency", alone(guess_numbers, &g) / WINDOW);
    if (!kind)
      learn(g.bits);
  }
  free(g.bits), free(g.numbers);
}

/* -- a store that the next load takes back ------------------------------------------------------------------------------ */

enum { CELLS = 64 };
static volatile uint64_t cells[CELLS];

/* Place and registers of the address differ, so that the processor cannot take the value from a register. */
static void forward(void *unused, int thread)
{
  uint64_t value = 1;
  volatile uint64_t *stored = cells, *loaded = cells;
  (void)unused, (void)thread;
  HIDE(stored)
  HIDE(loaded)
  for (int step = 0; step < STEPS; step++) {
    unsigned from = (unsigned)step % CELLS;
    HIDE(from)
    stored[step % CELLS] = value;
    value = loaded[from] + 1;
  }
  taken = value;
}

void integers(double seconds_of_each)
{
  seconds = seconds_of_each;
  print("forward", "latency", alone(forward, NULL) / STEPS);
  SHOW("integer_add", add_scalar, IN_SCALARS)
  SHOW("logic", logic_scalar, IN_SCALARS)
  SHOW("shift", shift_scalar, IN_SCALARS)
  SHOW("integer_multiply", multiply_scalar, IN_SCALARS)
  SHOW_WIDTH(int8, 8)
  SHOW_WIDTH(int16, 16)
  SHOW_WIDTH(int32, 32)
  SHOW_WIDTH(int64, 64)
#ifdef HAS_PERMUTE
  SHOW("permute_vectors", permute_int64, IN_VECTORS)
#endif
#ifdef SUM_OF_PRODUCTS
  SHOW("dot_int8_simd", dot_products, 10 * 2 * sizeof(products))
#endif
  branches();
}

/* -- atomic operations -------------------------------------------------------------------------------------------------- */

enum { APART = 128, ADDITIONS = 100 };
static struct { uint64_t count; char rest[APART - 8]; } counters[257];

static void add_own(void *given, int thread)
{
  (void)given;
  for (int i = 0; i < ADDITIONS; i++)
    __atomic_fetch_add(&counters[thread].count, 1, __ATOMIC_SEQ_CST);
}

/* The first two threads add to one word by turns: the line goes there and back. */
static void take_turns(void *given, int thread)
{
  (void)given;
  for (uint64_t i = 0; i < ADDITIONS && thread < 2; i++) {
    while (__atomic_load_n(&counters[256].count, __ATOMIC_ACQUIRE) % 2 != (uint64_t)thread)
      ;
    __atomic_fetch_add(&counters[256].count, 1, __ATOMIC_SEQ_CST);
  }
}

void atomics(int threads, double seconds_of_each)
{
  print("atomic", "latency", least_time(1, add_own, NULL, SHORTEST, seconds_of_each) / ADDITIONS);
  if (threads > 1)
    print("transfer", "latency", least_time(2, take_turns, NULL, SHORTEST, 5 * seconds_of_each) / (2 * ADDITIONS));
}
