/* What a kernel is to the harness, and the few things that all kernels share. */
#ifndef REAL_H
#define REAL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define LANES (VECTOR_BYTES / 8)

/* A vector of doubles that may begin at any double. */
typedef double vector __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

/* A problem: `n` is its size, `m` a second one (rows of a panel, targets); what the arrays hold is the kernel's own. */
struct problem {
  long n, m;
  double *a, *b, *c, *d;
  int32_t *index;
  double result;
};

/* `make` allocates and fills; `run` is what is timed; `wrong` is the largest relative error of what a run left, against
   a plain computation of the same. A run may be repeated on what the one before it left. */
struct kernel {
  const char *name;
  void (*make)(struct problem *);
  void (*run)(struct problem *);
  double (*wrong)(struct problem *);
};

extern const struct kernel triad, dot, dgemm_naive, dgemm_blocked, dgemm_tuned, stencil5, stencil7, gauss_seidel,
    spmv_band, spmv_random, gather, transpose, nbody, montecarlo, ordered_sum, horner;

/* Zeroed memory that may lie on huge pages. Each array begins 17 lines further behind a multiple
   of 2 MiB than the one before it: where all begin at equal places, some first caches take them for one another. */
void *array(size_t bytes);
void release(void *array);

/* An array of doubles between 0.5 and 1.5, the same each time. */
double *numbers(long count, uint64_t seed);

/* The next number of a generator (xorshift64*). */
uint64_t draw(uint64_t *state);

static inline double apart(double found, double expected)
{
  return fabs(found - expected) / fmax(fabs(expected), 1e-300);
}

#endif
