/* Arrays that the kernels begin with. */
#include "fill.h"

int32_t *draws(long count, uint64_t bound, uint64_t seed)
{
  int32_t *found = array((size_t)count * sizeof(int32_t), PAGES_OF_SYSTEM);
  uint64_t state = seed;
  for (long i = 0; i < count; i++)
    found[i] = (int32_t)((draw(&state) >> 16) % bound);
  return found;
}

int32_t *shuffled(long count, uint64_t seed)
{
  int32_t *found = array((size_t)count * sizeof(int32_t), PAGES_OF_SYSTEM);
  uint64_t state = seed;
  for (long i = 0; i < count; i++)
    found[i] = (int32_t)i;
  for (long i = count - 1; i > 0; i--) {
    long j = (long)((draw(&state) >> 16) % (uint64_t)(i + 1));
    int32_t kept = found[i];
    found[i] = found[j], found[j] = kept;
  }
  return found;
}

uint8_t *bytes(long count, uint64_t bound, uint64_t seed)
{
  uint8_t *found = array((size_t)count, PAGES_OF_SYSTEM);
  uint64_t state = seed;
  for (long i = 0; i < count; i++)
    found[i] = (uint8_t)((draw(&state) >> 16) % bound);
  return found;
}

float *floats(long count, uint64_t seed)
{
  float *found = array((size_t)count * sizeof(float), PAGES_OF_SYSTEM);
  uint64_t state = seed;
  for (long i = 0; i < count; i++)
    found[i] = 0.5f + (float)(draw(&state) >> 40) * 0x1p-24f;
  return found;
}
