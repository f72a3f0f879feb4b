#include "level.h"
#include <math.h>
#include <stdlib.h>

int make_levels(Level *levels, int n) {
  int depth = 0;
  for (int side = n; side >= 4; side /= 2) {
    Level *one = &levels[depth++];
    one->n = side;
    one->h = 1.0 / side;
    int words = (side + 1) * (side + 1);
    one->u = calloc(words, sizeof(double));
    one->f = calloc(words, sizeof(double));
    one->r = calloc(words, sizeof(double));
  }
  return depth;
}

double norm(const Level *level) {
  double sum = 0;
  int words = (level->n + 1) * (level->n + 1);
  for (int i = 0; i < words; i++) sum += level->r[i] * level->r[i];
  return sqrt(sum / words);
}
