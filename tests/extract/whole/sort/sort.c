#include "sort.h"

static int merge(const double *x, double *y, int low, int middle, int high) {
  int i = low, j = middle, moves = 0;
  for (int k = low; k < high; k++) {
    if (i < middle && (j >= high || x[i] <= x[j]))
      y[k] = x[i++];
    else {
      y[k] = x[j++];
      moves++;
    }
  }
  return moves;
}

/* Sorts from short runs to long ones. */
int merge_sort(int n, double *x, double *spare) {
  int moves = 0;
  for (int width = 1; width < n; width *= 2) {
    for (int low = 0; low < n; low += 2 * width) {
      int middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
      moves += merge(x, spare, low, middle, high);
    }
    for (int i = 0; i < n; i++) x[i] = spare[i];
  }
  return moves;
}

static void sift(double *x, int at, int n) {
  double held = x[at];
  while (2 * at + 1 < n) {
    int child = 2 * at + 1;
    if (child + 1 < n && x[child] < x[child + 1]) child++;
    if (x[child] <= held) break;
    x[at] = x[child];
    at = child;
  }
  x[at] = held;
}

int heap_sort(int n, double *x) {
  static int calls;
  for (int i = n / 2 - 1; i >= 0; i--) sift(x, i, n);
  for (int last = n - 1; last > 0; last--) {
    double value = x[0];
    x[0] = x[last];
    x[last] = value;
    sift(x, 0, last);
  }
  return ++calls;
}
