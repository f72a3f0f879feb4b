#include "graph.h"
#include <stdlib.h>

static unsigned draw(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static int compare(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }

Graph make_graph(int nodes, int degree) {
  Graph graph = {nodes, 0, malloc((nodes + 1) * sizeof(int)), malloc((long)nodes * 2 * degree * sizeof(int))};
  unsigned state = 5;
  for (int node = 0; node < nodes; node++) {
    graph.first[node] = graph.edges;
    int number = draw(&state) % (2 * degree);
    for (int k = 0; k < number; k++) {
      int far = draw(&state) % 4 == 0;
      int to = far ? (int)(draw(&state) % nodes) : (node + (int)(draw(&state) % 64)) % nodes;
      graph.next[graph.edges++] = to;
    }
    qsort(graph.next + graph.first[node], number, sizeof(int), compare);
  }
  graph.first[nodes] = graph.edges;
  return graph;
}
