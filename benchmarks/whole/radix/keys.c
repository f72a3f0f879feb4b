#include "sort.h"

void fill_keys(unsigned *keys, int n, unsigned seed) {
  unsigned state = seed;
  for (int i = 0; i < n; i++) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    keys[i] = state;
  }
}

int count_inversions(const unsigned *keys, int n) {
  int wrong = 0;
  for (int i = 1; i < n; i++)
    if (keys[i - 1] > keys[i]) wrong++;
  return wrong;
}
