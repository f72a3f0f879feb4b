#ifndef LATTICE_H
#define LATTICE_H
#define WAYS 9
typedef struct {
  int nx, ny;
  double omega;
  double *now, *next;
} Lattice;
extern const int CX[WAYS], CY[WAYS];
extern const double WEIGHT[WAYS];
void init_lattice(Lattice *grid, int nx, int ny, double omega);
void collide(Lattice *grid);
void stream(Lattice *grid);
double total_mass(const Lattice *grid);
#endif
