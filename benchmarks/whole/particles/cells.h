#ifndef CELLS_H
#define CELLS_H
#define MOST 24
struct box {
  int side, atoms;
  double edge, cutoff;
};
struct atoms {
  double *x, *y, *z, *vx, *vy, *vz, *fx, *fy, *fz;
};
struct cells {
  int *filled, *members;
};
struct atoms place_atoms(struct box *box);
struct cells make_cells(const struct box *box);
void sort_into_cells(const struct box *box, const struct atoms *a, struct cells *c);
double find_forces(const struct box *box, struct atoms *a, const struct cells *c);
void advance(const struct box *box, struct atoms *a, double dt);
#endif
