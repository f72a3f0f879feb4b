"""Blocks of the heap that pointers of a counted program point into: how large they are, and which pointers share them.

The counted program has `malloc` and its relatives of its own, which call those of the GNU C library and keep the blocks
in a tree by address (a treap: Seidel and Aragon, Algorithmica 16, 1996). Each pointer that is recorded is looked up
there. A block that is freed and allocated again at its old place is the same data. Elsewhere nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.record import Record

POINTER = "aspenpy_pointer"
"""The function that a counted program calls with a number and the pointer that it records under that."""

RECORDER = """#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <errno.h>
#define PLACES %d
#define FILE_NAME "%s"
#ifdef __GLIBC__
#define WORDS ((PLACES + 63) / 64)
#define BUCKETS 65536
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
typedef struct block {
  char *start;
  size_t bytes;
  unsigned rank;
  struct block *left, *right, *next;
  unsigned long places[WORDS];
} block;
static block *root, *freed[BUCKETS], *last[PLACES];
static double bytes_of[PLACES];
static long pointed[PLACES], held;
static unsigned state = 1;
static void enter(void) { while (__sync_lock_test_and_set(&held, 1)) {} }
static void leave(void) { __sync_lock_release(&held); }
static void split(block *tree, char *at, block **low, block **high) {
  if (!tree) *low = *high = 0;
  else if (tree->start < at) { split(tree->right, at, &tree->right, high); *low = tree; }
  else { split(tree->left, at, low, &tree->left); *high = tree; }
}
static block *join(block *low, block *high) {
  if (!low || !high) return low ? low : high;
  if (low->rank > high->rank) { low->right = join(low->right, high); return low; }
  high->left = join(low, high->left);
  return high;
}
static block *find(char *at) {
  block *found = 0;
  for (block *tree = root; tree; tree = at < tree->start ? tree->left : tree->right)
    if (tree->start <= at) found = tree;
  return found && at < found->start + found->bytes ? found : 0;
}
static unsigned bucket(char *start) { return ((size_t)start >> 4) %% BUCKETS; }
static void *add(char *start, size_t bytes, const block *old) {
  block **place = &freed[bucket(start)], *new = 0, *low, *high;
  if (!start) return start;
  for (; *place && !new; place = &(*place)->next)
    if ((*place)->start == start && (*place)->bytes == bytes) { new = *place; *place = new->next; break; }
  if (!new && !(new = __libc_calloc(1, sizeof *new))) return start;
  new->start = start;
  new->bytes = bytes;
  new->rank = state = state * 1664525u + 1013904223u;
  new->left = new->right = new->next = 0;
  for (int word = 0; old && word < WORDS; word++) new->places[word] |= old->places[word];
  split(root, start, &low, &high);
  root = join(join(low, new), high);
  return start;
}
static block *cut(char *start) {
  block *low, *one, *high;
  split(root, start, &low, &one);
  split(one, start + 1, &one, &high);
  root = join(low, high);
  memset(last, 0, sizeof last);
  return one;
}
static void put_away(block *one) {
  int is_used = 0;
  for (int word = 0; word < WORDS; word++) is_used |= one->places[word] != 0;
  if (!is_used) { __libc_free(one); return; }
  one->next = freed[bucket(one->start)];
  freed[bucket(one->start)] = one;
}
void *malloc(size_t bytes) {
  enter();
  void *found = add(__libc_malloc(bytes), bytes, 0);
  leave();
  return found;
}
void *calloc(size_t number, size_t size) {
  enter();
  void *found = add(__libc_calloc(number, size), number * size, 0);
  leave();
  return found;
}
void *memalign(size_t alignment, size_t bytes) {
  enter();
  void *found = add(__libc_memalign(alignment, bytes), bytes, 0);
  leave();
  return found;
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **place, size_t alignment, size_t bytes) {
  return (*place = memalign(alignment, bytes)) || !bytes ? 0 : ENOMEM;
}
void free(void *start) {
  enter();
  block *one = start ? cut(start) : 0;
  if (one) put_away(one);
  __libc_free(start);
  leave();
}
void *realloc(void *start, size_t bytes) {
  enter();
  block *one = start ? cut(start) : 0;
  void *found = __libc_realloc(start, bytes);
  if (found) add(found, bytes, one);
  else if (one && bytes) add(start, one->bytes, one);
  if (one) __libc_free(one);
  leave();
  return found;
}
void aspenpy_pointer(int place, const volatile void *pointer) {
  char *at = (char *)pointer;
  enter();
  block *one = last[place];
  if (!one || at < one->start || at >= one->start + one->bytes) one = last[place] = find(at);
  if (one) {
    bytes_of[place] += one->bytes;
    one->places[place / 64] |= 1ul << place %% 64;
  }
  pointed[place] += one != 0;
  leave();
}
#define SETS 4096
typedef struct { unsigned long places[WORDS]; double bytes; int is_used; } set;
static set sets[SETS];
static int has_places(const block *one) {
  int is_used = 0;
  for (int word = 0; word < WORDS; word++) is_used |= one->places[word] != 0;
  return is_used;
}
static void write_set(FILE *file, const unsigned long *places, double bytes) {
  fprintf(file, "block %%.17g", bytes);
  for (int place = 0; place < PLACES; place++)
    if (places[place / 64] >> place %% 64 & 1) fprintf(file, " %%d", place);
  fputs("\\n", file);
}
static void write_block(FILE *file, const block *one) {
  unsigned long mixed = 0;
  if (!has_places(one)) return;
  for (int word = 0; word < WORDS; word++) mixed = (mixed ^ one->places[word]) * 0x9e3779b97f4a7c15ul;
  for (int tried = 0; tried < 64; tried++) {
    set *found = sets + ((mixed >> 40) + tried) %% SETS;
    if (!found->is_used) { memcpy(found->places, one->places, sizeof found->places); found->is_used = 1; }
    if (!memcmp(found->places, one->places, sizeof found->places)) { found->bytes += one->bytes; return; }
  }
  write_set(file, one->places, one->bytes);
}
static void write_tree(FILE *file, const block *tree) {
  for (; tree; tree = tree->right) { write_tree(file, tree->left); write_block(file, tree); }
}
__attribute__((destructor)) static void write_pointers(void) {
  FILE *file = fopen(FILE_NAME, "a");
  if (!file) return;
  fputs("process\\n", file);
  for (int place = 0; place < PLACES; place++)
    if (pointed[place]) fprintf(file, "mean %%d %%.17g\\n", place, bytes_of[place] / pointed[place]);
  write_tree(file, root);
  for (int place = 0; place < BUCKETS; place++)
    for (block *one = freed[place]; one; one = one->next) write_block(file, one);
  for (int at = 0; at < SETS; at++)
    if (sets[at].is_used) write_set(file, sets[at].places, sets[at].bytes);
  fclose(file);
}
#else
void aspenpy_pointer(int place, const volatile void *pointer) { (void)place, (void)pointer; }
#endif
"""
"""Text of the recorder, for a number of places and the name of the file to which each process adds its blocks."""


class Pointed(Record):
    """Memory that the pointers of one expression pointed into during a run: the `mean` bytes of the block, weighted by
    how often it was pointed into, and bytes by set of blocks. All blocks of a set were pointed into from the same
    places."""

    mean: float
    sets: Mapping[tuple[int, ...], float]

    @property
    def total(self) -> float:
        """Bytes of all blocks."""
        return sum(self.sets.values())

    def has_blocks_of(self, other: Pointed) -> bool:
        """Whether the blocks are those of another expression, but for one part in twenty of their bytes."""
        common = sum(size for key, size in self.sets.items() if key in other.sets)
        return common > 0 and common >= 0.95 * max(self.total, other.total)


def read_pointed(text: str) -> dict[int, Pointed]:
    """The memory behind each number, in the mean of all processes that wrote."""
    processes = 0
    means: dict[int, list[float]] = {}
    sets: dict[tuple[int, ...], float] = {}
    for line in text.splitlines():
        word, *fields = line.split()
        processes += word == "process"
        if word == "mean":
            means.setdefault(int(fields[0]), []).append(float(fields[1]))
        elif word == "block":
            key = tuple(map(int, fields[1:]))
            sets[key] = sets.get(key, 0.0) + float(fields[0])
    of_place: dict[int, dict[tuple[int, ...], float]] = {}
    for key, size in sets.items():
        for place in key:
            of_place.setdefault(place, {})[key] = size / processes
    return {place: Pointed(sum(sizes) / len(sizes), of_place[place]) for place, sizes in means.items()}
