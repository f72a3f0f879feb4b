#ifndef LEVEL_H
#define LEVEL_H
typedef struct {
  int n;
  double h, *u, *f, *r;
} Level;
int make_levels(Level *levels, int n);
void relax(Level *level, int sweeps);
void find_residual(Level *level);
void restrict_to(const Level *fine, Level *coarse);
void prolong_to(const Level *coarse, Level *fine);
void cycle(Level *levels, int number, int depth);
double norm(const Level *level);
#endif
