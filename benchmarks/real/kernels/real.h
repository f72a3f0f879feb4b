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

#define KERNEL(name) extern const struct kernel name;
#include TABLE
#undef KERNEL

/* An array of doubles between 0.5 and 1.5, the same each time. */
double *numbers(long count, uint64_t seed);

/* The next number of a generator (xorshift64*). */
uint64_t draw(uint64_t *state);

static inline double apart(double found, double expected)
{
  return fabs(found - expected) / fmax(fabs(expected), 1e-300);
}

#endif
