/* Lines that the accesses of each of SITES touch: each process adds a line for each to the file TOUCHES. Of a place that
   is touched more often than 60 million times, bursts stand for 16 and then 256 times as many. */
#include <stdio.h>
#include <sys/mman.h>
#define BINS 128
#define NEAR 64
#define MOST_TOUCHES 60000000L
#define BURST 65536
#define SLOTS (1l << 21)
#define RING 16
typedef struct { unsigned long line; unsigned time; } seen;
typedef struct {
  unsigned long number, close, first[2], far[2][BINS], near[NEAR], last, step, noted, weight, phase;
  unsigned time, rate, held, moved;
  seen *table;
  unsigned long ring[RING], stores, groups, handed[RING];
  int loads, nearest;
} site;
static site sites[SITES];
static long touching;
static unsigned long mix(unsigned long line) { return line * 0x9e3779b97f4a7c15ul; }
static int bin_of(unsigned time) {
  int top = 31 - __builtin_clz(time | 1);
  int part = top >= 2 ? time >> (top - 2) & 3 : (time << (2 - top)) & 3;
  return 4 * top + part;
}
static int is_near(const site *one, unsigned long line) { return one->near[mix(line) >> 58] == line; }
static seen *new_table(void) {
  void *found = mmap(0, SLOTS * sizeof(seen), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return found == MAP_FAILED ? 0 : found;
}
static seen *find_seen(seen *table, unsigned long line) {
  unsigned long at = (mix(line) >> 20) & (SLOTS - 1);
  while (table[at].line && table[at].line != line) at = (at + 1) & (SLOTS - 1);
  return table + at;
}
static void thin_out(site *one) {
  seen *old = one->table, *new = new_table();
  if (!new) return;
  one->rate *= 2;
  one->held = 0;
  for (long at = 0; at < SLOTS; at++)
    if (old[at].line && (mix(old[at].line) & (one->rate - 1)) == 0) {
      *find_seen(new, old[at].line) = old[at];
      one->held++;
    }
  one->table = new;
  munmap(old, SLOTS * sizeof(seen));
}
static int is_left_out(site *one) {
  if (one->noted < MOST_TOUCHES) { one->weight = 1; return 0; }
  one->weight = one->noted < MOST_TOUCHES / 2 * 3 ? 16 : 256;
  unsigned long burst = one->phase / BURST;
  if (one->phase++ % BURST == 0 && burst % one->weight == 0) {
    one->time += one->weight * one->moved;
    one->moved = 0;
  }
  return burst % one->weight != 0;
}
static void close_group(site *one) {  // loads between two stores
  if (one->loads && one->stores) {
    one->groups++;
    if (one->nearest) one->handed[one->nearest - 1]++;
  }
  one->loads = one->nearest = 0;
}
static void hand_on(site *one, int is_store, unsigned long word) {
  if (is_store) {
    close_group(one);
    one->ring[one->stores++ % RING] = word;
    return;
  }
  one->loads = 1;
  for (unsigned long back = 1; back <= RING && back <= one->stores; back++)
    if (one->ring[(one->stores - back) % RING] == word) {
      if (!one->nearest || back < (unsigned)one->nearest) one->nearest = back;
      return;
    }
}
void aspenpy_touch(int place, const volatile void *word) {
  site *one = sites + (place & 0xfffff);
  if (place >> 20) {
    if (one->number++ < MOST_TOUCHES) hand_on(one, place >> 20 == 2, (unsigned long)word);
    return;
  }
  unsigned long line = ((unsigned long)word >> 6) + 1;
  if (one->noted >= 2 * MOST_TOUCHES || is_left_out(one)) return;
  while (__sync_lock_test_and_set(&touching, 1)) {}
  one->noted++;
  one->number += one->weight;
  if (line == one->last) one->close += one->weight;
  else if (is_near(one, line)) { one->close += one->weight; one->last = line; }
  else {
    if (!one->table) { one->table = new_table(); one->rate = 1; }
    unsigned long step = line - one->last;
    int jumps = !(is_near(one, line - 1) || is_near(one, line + 1) || is_near(one, line - 2) || is_near(one, line + 2)
                  || step - one->step + 1 <= 2);  // words a constant apart
    one->step = step;
    one->last = line;
    one->near[mix(line) >> 58] = line;
    one->time++;
    one->moved++;
    if (one->table && (mix(line) & (one->rate - 1)) == 0) {
      seen *found = find_seen(one->table, line);
      if (found->line) one->far[jumps][bin_of(one->time - found->time)] += one->rate * one->weight;
      else { one->first[jumps] += one->rate * one->weight; found->line = line; one->held++; }
      found->time = one->time;
      if (one->held > SLOTS / 2) thin_out(one);
    }
  }
  __sync_lock_release(&touching);
}
__attribute__((destructor)) static void write_touches(void) {
  FILE *file = fopen(TOUCHES, "a");
  for (int place = 0; file && place < SITES; place++) {
    const site *one = sites + place;
    if (!one->number) continue;
    fprintf(file, "%d %lu %lu %lu %lu", place, one->number, one->close, one->first[0], one->first[1]);
    for (int kind = 0; kind < 2; kind++)
      for (int bin = 0; bin < BINS; bin++) fprintf(file, " %lu", one->far[kind][bin]);
    fprintf(file, " %lu", one->groups);
    for (int back = 0; back < RING; back++) fprintf(file, " %lu", one->handed[back]);
    fputs("\n", file);
  }
  if (file) fclose(file);
}
