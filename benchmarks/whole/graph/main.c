#include "graph.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int nodes = argc > 1 ? atoi(argv[1]) : 60000;
  int rounds = argc > 2 ? atoi(argv[2]) : 10;
  Graph graph = make_graph(nodes, 8);
  int *depth = malloc(nodes * sizeof(int)), *queue = malloc(nodes * sizeof(int));
  double *rank = malloc(nodes * sizeof(double)), *fresh = malloc(nodes * sizeof(double));
  int reached = 0;
  for (int start = 0; start < 4; start++) reached += search_breadth(&graph, start * 100, depth, queue);
  rank_nodes(&graph, rank, fresh, rounds);
  long triangles = count_triangles(&graph, nodes / 4);
  printf("%d reached, rank %g, %ld triangles\n", reached, rank[7], triangles);
  return 0;
}
