/* Wrong guesses at the conditions of each of BRANCHES: each process adds a line for each to the file OUTCOMES. The first
   64 million outcomes are guessed; then a million of every two, four, ... million, each half of them in as many bursts. */
#include <stdio.h>
#define TABLES 8
#define BURSTS 64
#define ENTRIES 3072
static const int lengths[TABLES] = {0, 5, 11, 21, 38, 67, 118, 200};
typedef struct { unsigned short tag; signed char weight; unsigned char useful; } entry;
static __thread entry tagged[TABLES][ENTRIES];
static __thread signed char untagged[1 << 14];
static __thread unsigned long past[4], guesses, draws;
static unsigned long branches[BRANCHES][4];
static unsigned long past_outcomes, every = 1;
#define BURST (1ul << 20)
static unsigned long fold(int length) {
  unsigned long mixed = 0;
  for (int word = 0; word < 4 && length > 0; word++, length -= 64) {
    unsigned long part = length < 64 ? past[word] & ((1ul << length) - 1) : past[word];
    mixed = (mixed ^ part) * 0x9e3779b97f4a7c15ul;
    mixed ^= mixed >> 29;
  }
  return mixed;
}
static void allocate(entry **at, const unsigned short *tags, int first, int holds) {
  draws = draws * 6364136223846793005ul + 1442695040888963407ul;
  if (draws >> 33 & 1 && first < TABLES - 1) first++;
  for (int table = first; table < TABLES; table++)
    if (!at[table]->useful) {
      *at[table] = (entry){tags[table], holds - 1, 0};
      return;
    }
  for (int table = first; table < TABLES; table++) at[table]->useful--;
}
static int is_wrong(int place, int holds) {
  entry *at[TABLES];
  unsigned short tags[TABLES];
  int longest = 0, next = 0;
  for (int table = 1; table < TABLES; table++) {
    unsigned long mixed = (fold(lengths[table]) + place + 1) * 0xd6e8feb86659fd93ul;
    at[table] = &tagged[table][(mixed >> 40) % ENTRIES];
    tags[table] = (mixed >> 16 & 0x7fff) + 1;
    if (at[table]->tag == tags[table]) next = longest, longest = table;
  }
  signed char *weight = &untagged[(unsigned)place * 0x9e3779b1u >> 18];
  int other = (next ? at[next]->weight : *weight) >= 0, said = other, guess = other;
  if (longest) {
    entry *one = at[longest];
    weight = &one->weight;
    said = *weight >= 0;
    guess = one->useful || *weight < -1 || *weight > 0 ? said : other;
    if (said != other) one->useful += said == holds ? one->useful < 3 : -(one->useful > 0);
  }
  int most = longest ? 3 : 1;
  if (holds ? *weight < most : *weight > -1 - most) *weight += holds ? 1 : -1;
  if (guess != holds && longest < TABLES - 1) allocate(at, tags, longest + 1, holds);
  if (++guesses % (1 << 18) == 0)
    for (int table = 1; table < TABLES; table++)
      for (int each = 0; each < ENTRIES; each++) tagged[table][each].useful >>= 1;
  for (int word = 3; word > 0; word--) past[word] = past[word] << 1 | past[word - 1] >> 63;
  past[0] = past[0] << 1 | holds;
  return guess != holds;
}
/* The outcome of one of the jumps of a place, of which only the first is counted; all wrong guesses are. */
static void note(int place, int jump, int holds) {
  if (!jump) __atomic_fetch_add(&branches[place][0], 1, __ATOMIC_RELAXED);
  unsigned long now = past_outcomes++;
  if (now == BURST * BURSTS * every) every *= 2;
  if (now / BURST % every) return;
  int wrong = is_wrong(place + (jump << 24), holds != 0);
  if (!jump) __atomic_fetch_add(&branches[place][1], every, __ATOMIC_RELAXED);
  if (wrong) __atomic_fetch_add(&branches[place][2], every, __ATOMIC_RELAXED);
}
int aspenpy_outcome(int place, int holds) {
  note(place, 0, holds);
  return holds;
}
/* Comparisons of a library, by the call of it: a comparator may call the library again. */
typedef int (*comparator)(const void *, const void *);
static __thread struct { int place; comparator compare; } comparing;
static int compare(const void *a, const void *b) {
  __typeof__(comparing) now = comparing;
  int found = now.compare(a, b);
  comparing = now;
  aspenpy_outcome(now.place, found > 0);
  return found;
}
void aspenpy_sorts(int place) { __atomic_fetch_add(&branches[place][3], 1, __ATOMIC_RELAXED); }
comparator aspenpy_comparator(int place, comparator given) {
  aspenpy_sorts(place);
  comparing.place = place, comparing.compare = given;
  return compare;
}
/* Steps of a search of a library: each begins with a jump that ends the search where nothing is left. */
extern void aspenpy_touch(int, const volatile void *) __attribute__((weak));
enum { END = 1, GREATER = 2 };
static __thread struct { int place, touched, is_open; const volatile void *key; comparator compare; } searching;
void aspenpy_search_end(void) {
  if (searching.is_open) note(searching.place, END, 1);
  searching.is_open = 0;
}
void aspenpy_search_begin(int place) {
  aspenpy_search_end();  // of one in C
  aspenpy_sorts(place);
  searching.place = place;
}
void aspenpy_search_step(int place, int touched, int element, const volatile void *a, const volatile void *b) {
  if (!searching.is_open) searching.key = element == 1 ? b : a;
  searching.is_open = 1;
  note(place, END, 0);
  if (touched >= 0) aspenpy_touch(touched, a == searching.key ? b : a);
}
static int compare_in_search(const void *key, const void *element) {
  __typeof__(searching) now = searching;
  aspenpy_search_step(now.place, now.touched, 2, key, element);
  now.is_open = 1;
  int found = now.compare(key, element);
  searching = now;
  if (aspenpy_outcome(now.place, found < 0)) return found;
  note(now.place, GREATER, found > 0);
  if (!found) searching.is_open = 0;  // it ends there
  return found;
}
comparator aspenpy_search(int place, int touched, comparator given) {
  aspenpy_search_begin(place);
  searching.touched = touched, searching.compare = given;
  return compare_in_search;
}
__attribute__((destructor)) static void write_outcomes(void) {
  FILE *file = fopen(OUTCOMES, "a");
  for (int place = 0; file && place < BRANCHES; place++)
    if (branches[place][1])
      fprintf(file, "%d %lu %lu %lu %lu\n", place, branches[place][0], branches[place][1], branches[place][2],
              branches[place][3]);
  if (file) fclose(file);
}
