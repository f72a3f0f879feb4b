#ifndef SORT_H
#define SORT_H
#define DIGIT_BITS 8
#define DIGITS (1 << DIGIT_BITS)
void fill_keys(unsigned *keys, int n, unsigned seed);
void sort_keys(unsigned *keys, unsigned *spare, int n);
int count_inversions(const unsigned *keys, int n);
#endif
