/* Forces of a Lennard-Jones fluid in linked cells, and the steps around them. */
#include <stdlib.h>
#include <stdio.h>

typedef double real_t;
typedef real_t real3[3];
#define MAXATOMS 8
#ifndef BOXES
#define BOXES 4
#endif
#define NEIGHBOURS 27

typedef struct { int side, total; int* atoms; } Cells;
typedef struct { real3 *r, *p, *f; real_t* U; } Atoms;
typedef struct { Cells* cells; Atoms* atoms; real_t energy, cutoff, sigma, epsilon; } Simulation;

static Cells* makeCells(int side)
{
  Cells* cells = (Cells*)malloc(sizeof(Cells));
  cells->side = side;
  cells->total = side * side * side;
  cells->atoms = (int*)calloc(cells->total, sizeof(int));
  for (int i = 0; i < cells->total; ++i)
    cells->atoms[i] = MAXATOMS / 2;
  return cells;
}

static Atoms* makeAtoms(const Cells* cells)
{
  Atoms* atoms = malloc(sizeof *atoms);
  const int count = cells->total * MAXATOMS;
  atoms->r = malloc(count * sizeof(real3));
  atoms->p = malloc(count * sizeof(real3));
  atoms->f = malloc(count * sizeof(real3));
  atoms->U = malloc(count * sizeof(real_t));
  for (int i = 0; i < count; ++i)
    for (int d = 0; d < 3; ++d) {
      atoms->r[i][d] = 0.37 * i + 0.11 * d;
      atoms->p[i][d] = 0.0;
    }
  return atoms;
}

static int neighbour(const Cells* cells, int box, int which)
{
  int dx = which % 3 - 1, dy = which / 3 % 3 - 1, dz = which / 9 - 1;
  int n = cells->side;
  int x = (box % n + dx + n) % n, y = (box / n % n + dy + n) % n, z = (box / (n * n) + dz + n) % n;
  return x + n * (y + n * z);
}

static int force(Simulation* s)
{
  const Cells* cells = s->cells;
  Atoms* atoms = s->atoms;
  const real_t cutoff2 = s->cutoff * s->cutoff;
  const real_t sigma6 = s->sigma * s->sigma * s->sigma * s->sigma * s->sigma * s->sigma;
  real_t total = 0.0;
  for (int i = 0; i < cells->total * MAXATOMS; ++i) {
    atoms->f[i][0] = atoms->f[i][1] = atoms->f[i][2] = 0.0;
    atoms->U[i] = 0.0;
  }
  for (int box = 0; box < cells->total; box++) {
    int own = cells->atoms[box];
    for (int k = 0; k < NEIGHBOURS; k++) {
      int other = neighbour(cells, box, k);
      int theirs = cells->atoms[other];
      for (int i = MAXATOMS * box, ii = 0; ii < own; ii++, i++) {
        for (int j = MAXATOMS * other, jj = 0; jj < theirs; jj++, j++) {
          real3 dr;
          real_t r2 = 0.0;
          for (int m = 0; m < 3; m++) {
            dr[m] = atoms->r[i][m] - atoms->r[j][m];
            r2 += dr[m] * dr[m];
          }
          if (r2 <= cutoff2 && r2 > 0.0) {
            r2 = 1.0 / r2;
            real_t r6 = sigma6 * (r2 * r2 * r2);
            real_t e = r6 * (r6 - 1.0);
            atoms->U[i] += 0.5 * e;
            total += 0.5 * e;
            real_t fr = -4.0 * s->epsilon * r6 * r2 * (12.0 * r6 - 6.0);
            for (int m = 0; m < 3; m++)
              atoms->f[i][m] -= dr[m] * fr;
          }
        }
      }
    }
  }
  s->energy = total * 4.0 * s->epsilon;
  return 0;
}

static void advance(Simulation* s, real_t dt)
{
  for (int box = 0; box < s->cells->total; box++)
    for (int off = MAXATOMS * box, i = 0; i < s->cells->atoms[box]; i++, off++) {
      s->atoms->p[off][0] += dt * s->atoms->f[off][0];
      s->atoms->p[off][1] += dt * s->atoms->f[off][1];
      s->atoms->p[off][2] += dt * s->atoms->f[off][2];
    }
}

int main(void)
{
  Simulation sim = {NULL, NULL, 0.0, 2.5, 1.0, 1.0};
  sim.cells = makeCells(BOXES);
  sim.atoms = makeAtoms(sim.cells);
  for (int step = 0; step < 2; step++) {
    advance(&sim, 0.001);
    force(&sim);
  }
  return sim.energy > 1e30;
}
