#ifndef GRAPH_H
#define GRAPH_H
typedef struct {
  int nodes, edges;
  int *first, *next;
} Graph;
Graph make_graph(int nodes, int degree);
int search_breadth(const Graph *graph, int start, int *depth, int *queue);
void rank_nodes(const Graph *graph, double *rank, double *fresh, int rounds);
long count_triangles(const Graph *graph, int most);
#endif
