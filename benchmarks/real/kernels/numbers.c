/* What all kernels begin with: numbers that are the same each time. */
#include "real.h"

uint64_t draw(uint64_t *state)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

double *numbers(long count, uint64_t seed)
{
  double *found = array((size_t)count * sizeof(double), PAGES_OF_SYSTEM);
  for (long i = 0; i < count; i++)
    found[i] = 0.5 + (double)(draw(&seed) >> 11) * 0x1p-53;
  return found;
}
