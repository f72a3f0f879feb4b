#include "graph.h"

int search_breadth(const Graph *graph, int start, int *depth, int *queue) {
  for (int node = 0; node < graph->nodes; node++) depth[node] = -1;
  int head = 0, tail = 0;
  queue[tail++] = start;
  depth[start] = 0;
  while (head < tail) {
    int node = queue[head++];
    for (int k = graph->first[node]; k < graph->first[node + 1]; k++) {
      int other = graph->next[k];
      if (depth[other] < 0) {
        depth[other] = depth[node] + 1;
        queue[tail++] = other;
      }
    }
  }
  return tail;
}

long count_triangles(const Graph *graph, int most) {
  long found = 0;
  for (int node = 0; node < most; node++)
    for (int k = graph->first[node]; k < graph->first[node + 1]; k++) {
      int other = graph->next[k], a = graph->first[node], b = graph->first[other];
      while (a < graph->first[node + 1] && b < graph->first[other + 1]) {
        if (graph->next[a] < graph->next[b]) a++;
        else if (graph->next[a] > graph->next[b]) b++;
        else {
          found++;
          a++;
          b++;
        }
      }
    }
  return found;
}
