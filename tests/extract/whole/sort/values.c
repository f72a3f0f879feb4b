#include "sort.h"

/* A number between 0 and 1; the first call fills a table. */
double next_value(void) {
  static unsigned state = 12345;
  static double table[64];
  static int is_filled = 0;
  if (!is_filled) {
    for (int i = 0; i < 64; i++) table[i] = i / 64.0;
    is_filled = 1;
  }
  state = state * 1103515245u + 12345u;
  return table[state >> 26] + ((state >> 8) & 65535) * 1e-6;
}
