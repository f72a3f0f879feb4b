#include <math.h>

#include "grid.h"

static Grid *make_grid(int size) {
  Grid *grid = malloc(sizeof(Grid));
  CHECK(grid != NULL);
  grid->rows = size;
  grid->columns = 2 * size;
  size_t cells = (size_t)(size + 2) * (2 * size + 2);
  grid->heat = calloc(cells, sizeof(double));
  grid->next = calloc(cells, sizeof(double));
  grid->flow = calloc(cells, sizeof(double));
  FOR_CELLS(i, j) AT(grid->heat, i, j) = (i * 7 + j * 3) % 11;
  return grid;
}

static double spread(Grid *grid) {
  double change = 0;
  FOR_CELLS(i, j) {
    double mean = neighbours(grid, i, j), difference = mean - AT(grid->heat, i, j);
    LIMIT(difference, 1.5);
    AT(grid->next, i, j) = AT(grid->heat, i, j) + 0.8 * difference;
    if (fabs(difference) > change) change = fabs(difference);
  }
  SWAP(grid->heat, grid->next);
  return change;
}

static void move(Grid *grid) {
  FOR_CELLS(i, j) {
    double slope = AT(grid->heat, i, j + 1) - AT(grid->heat, i, j - 1);
    if (slope > 0)
      AT(grid->flow, i, j) = slope * slope / (1 + slope);
    else
      AT(grid->flow, i, j) = 0;
  }
  FOR_CELLS(i, j) AT(grid->heat, i, j) -= 0.01 * AT(grid->flow, i, j);
}

int main(int argc, char **argv) {
  Settings settings = parse(argc, argv);
  Grid *grid = make_grid(settings.size);
  double change = 0;
  for (int step = 0; step < settings.iterations; step++) {
    start_timer();
    change = spread(grid);
    move(grid);
  }
  printf("%g\n", change);
  return 0;
}
