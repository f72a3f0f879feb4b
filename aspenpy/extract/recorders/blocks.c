/* Blocks of the heap into which each of PLACES pointed: each process adds its own to the file BLOCKS. `heap_blocks.py`
   says how they are found. */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <errno.h>
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
static unsigned bucket(char *start) { return ((size_t)start >> 4) % BUCKETS; }
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
__attribute__((constructor)) static void add_words(int number, char **words) {
  for (int word = 0; word < number; word++) add(words[word], strlen(words[word]) + 1, 0);
}
void aspenpy_pointer(int place, const volatile void *pointer) {
  char *at = (char *)pointer;
  enter();
  block *one = last[place];
  if (!one || at < one->start || at >= one->start + one->bytes) one = last[place] = find(at);
  if (one) {
    bytes_of[place] += one->bytes;
    one->places[place / 64] |= 1ul << place % 64;
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
  fprintf(file, "block %.17g", bytes);
  for (int place = 0; place < PLACES; place++)
    if (places[place / 64] >> place % 64 & 1) fprintf(file, " %d", place);
  fputs("\n", file);
}
static void write_block(FILE *file, const block *one) {
  unsigned long mixed = 0;
  if (!has_places(one)) return;
  for (int word = 0; word < WORDS; word++) mixed = (mixed ^ one->places[word]) * 0x9e3779b97f4a7c15ul;
  for (int tried = 0; tried < 64; tried++) {
    set *found = sets + ((mixed >> 40) + tried) % SETS;
    if (!found->is_used) { memcpy(found->places, one->places, sizeof found->places); found->is_used = 1; }
    if (!memcmp(found->places, one->places, sizeof found->places)) { found->bytes += one->bytes; return; }
  }
  write_set(file, one->places, one->bytes);
}
static void write_tree(FILE *file, const block *tree) {
  for (; tree; tree = tree->right) { write_tree(file, tree->left); write_block(file, tree); }
}
__attribute__((destructor)) static void write_pointers(void) {
  FILE *file = fopen(BLOCKS, "a");
  if (!file) return;
  fputs("process\n", file);
  for (int place = 0; place < PLACES; place++)
    if (pointed[place]) fprintf(file, "mean %d %.17g\n", place, bytes_of[place] / pointed[place]);
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
