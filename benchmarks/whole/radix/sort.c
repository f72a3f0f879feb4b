#include "sort.h"
#include <string.h>

static void sort_digit(const unsigned *from, unsigned *to, int n, int shift) {
  int count[DIGITS];
  memset(count, 0, sizeof count);
  for (int i = 0; i < n; i++) count[from[i] >> shift & (DIGITS - 1)]++;
  int sum = 0;
  for (int digit = 0; digit < DIGITS; digit++) {
    int here = count[digit];
    count[digit] = sum;
    sum += here;
  }
  for (int i = 0; i < n; i++) to[count[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

void sort_keys(unsigned *keys, unsigned *spare, int n) {
  for (int shift = 0; shift < 32; shift += 2 * DIGIT_BITS) {
    sort_digit(keys, spare, n, shift);
    sort_digit(spare, keys, n, shift + DIGIT_BITS);
  }
}
