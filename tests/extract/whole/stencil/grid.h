#ifndef GRID_H
#define GRID_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                  \
  do {                                    \
    if (!(condition)) {                   \
      fprintf(stderr, "%s\n", #condition); \
      exit(1);                            \
    }                                     \
  } while (0)
#define AT(field, i, j) ((field)[(size_t)(i) * (grid->columns + 2) + (j)])
#define FOR_CELLS(i, j) for (int i = 1; i <= grid->rows; i++) for (int j = 1; j <= grid->columns; j++)
#define SWAP(a, b)   \
  do {               \
    double *tmp = a; \
    a = b;           \
    b = tmp;         \
  } while (0)
#define LIMIT(x, most)          \
  do {                          \
    if ((x) > (most)) x = most; \
  } while (0)

typedef struct {
  int rows, columns;
  double *heat, *next, *flow;
} Grid;

typedef struct {
  int size, iterations;
} Settings;

Settings parse(int argc, char **argv);
void start_timer(void);

/* The mean of the neighbours of a cell. */
static inline double neighbours(const Grid *grid, int i, int j) {
  return 0.25 * (AT(grid->heat, i - 1, j) + AT(grid->heat, i + 1, j) + AT(grid->heat, i, j - 1) + AT(grid->heat, i, j + 1));
}

#endif
