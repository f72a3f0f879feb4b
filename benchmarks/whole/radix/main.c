#include "sort.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000000;
  int rounds = argc > 2 ? atoi(argv[2]) : 5;
  unsigned *keys = malloc(n * sizeof(unsigned)), *spare = malloc(n * sizeof(unsigned));
  int wrong = 0;
  for (int round = 0; round < rounds; round++) {
    fill_keys(keys, n, 1 + round);
    sort_keys(keys, spare, n);
    wrong += count_inversions(keys, n);
  }
  printf("%d out of order, middle %u\n", wrong, keys[n / 2]);
  return 0;
}
