/* What a kernel is to the harness, and the few things that all kernels share. */
#ifndef REAL_H
#define REAL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "timing.h"

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

extern const struct kernel list, search, branchy_sum, byte_dot, scan, look_up, partition, escape, find_sign, histogram,
    tree, merge, checksum, largest_byte, four_walks;

/* An array of doubles between 0.5 and 1.5, the same each time. */
double *numbers(long count, uint64_t seed);

/* The next number of a generator (xorshift64*). */
uint64_t draw(uint64_t *state);

static inline double apart(double found, double expected)
{
  return fabs(found - expected) / fmax(fabs(expected), 1e-300);
}

#endif
