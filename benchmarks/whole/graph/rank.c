#include "graph.h"

void rank_nodes(const Graph *graph, double *rank, double *fresh, int rounds) {
  int n = graph->nodes;
  for (int node = 0; node < n; node++) rank[node] = 1.0 / n;
  for (int round = 0; round < rounds; round++) {
    for (int node = 0; node < n; node++) fresh[node] = 0.15 / n;
    for (int node = 0; node < n; node++) {
      int degree = graph->first[node + 1] - graph->first[node];
      double part = degree > 0 ? 0.85 * rank[node] / degree : 0;
      for (int k = graph->first[node]; k < graph->first[node + 1]; k++) fresh[graph->next[k]] += part;
    }
    for (int node = 0; node < n; node++) rank[node] = fresh[node];
  }
}
