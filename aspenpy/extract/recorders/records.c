/* Numbers of the counted program: each process adds a line for each of PLACES to the file RECORDS when it ends. */
#include <stdio.h>
static double sums[PLACES];
static long counts[PLACES], lock;
__attribute__((destructor)) static void write_records(void) {
  FILE *file = fopen(RECORDS, "a");
  for (int i = 0; file && i < PLACES; i++)
    if (counts[i]) fprintf(file, "%d %ld %.17g\n", i, counts[i], sums[i]);
  if (file) fclose(file);
}
void aspenpy_record(int place, double value) {
  while (__sync_lock_test_and_set(&lock, 1)) {}
  sums[place] += value;
  counts[place]++;
  __sync_lock_release(&lock);
}
