/* Molecular dynamics of a metal: embedded atoms with tabulated functions, or Lennard-Jones, with lists of neighbours. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef SINGLE
typedef float real_t;
#else
typedef double real_t;
#endif
typedef real_t vector[3];

#ifndef CELLS
#define CELLS 4
#endif
#define STEPS 3
#define ENTRIES 500
#define ROOM 96
#define ZERO3(v) (v)[0] = (v)[1] = (v)[2] = 0.0

struct System;

typedef struct {
  int entries;
  real_t first, inverse;
  real_t* values;
} Table;

typedef struct Potential {
  real_t cutoff;
  int (*force)(struct System* s);
  void (*describe)(FILE* out, struct Potential* self);
  void (*destroy)(struct Potential** self);
  real_t sigma, epsilon;
  Table *phi, *rho, *embedding;
  real_t *density, *slope;
} Potential;

typedef struct {
  int count;
  int* numneigh;
  int** lists;
} Neighbours;

typedef struct System {
  int atoms;
  real_t edge, energy, kinetic;
  vector *r, *p, *f;
  real_t* each;
  Neighbours* near;
  Potential* potential;
} System;

static void fail(const char* text) {
  fprintf(stderr, "%s\n", text);
  exit(1);
}

static void* wanted(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (!memory) fail("no memory");
  return memory;
}

static Table* newTable(real_t first, real_t last, int entries, real_t rate) {
  Table* t = wanted(sizeof(Table));
  t->entries = entries;
  t->first = first;
  t->inverse = entries / (last - first);
  t->values = wanted((entries + 3) * sizeof(real_t));
  for (int i = 0; i < entries + 3; i++) t->values[i] = 1.0 / (1.0 + rate * i);
  return t;
}

static inline void interpolate(const Table* table, real_t x, real_t* value, real_t* slope) {
  const real_t* at = table->values;
  if (x < table->first) x = table->first;
  x = (x - table->first) * table->inverse;
  int i = (int)x;
  if (i > table->entries) { i = table->entries; x = table->entries; }
  if (i < 1) i = 1;
  x -= i;
  real_t before = at[i + 1] - at[i - 1];
  real_t after = at[i + 2] - at[i];
  *value = at[i] + 0.5 * x * (before + x * (at[i + 1] + at[i - 1] - 2.0 * at[i]));
  *slope = 0.5 * (before + x * (after - before)) * table->inverse;
}

static inline real_t apart(const System* s, int i, int j, vector d) {
  real_t square = 0.0;
  for (int m = 0; m < 3; m++) {
    d[m] = s->r[i][m] - s->r[j][m];
    square += d[m] * d[m];
  }
  return square;
}

static int metalForce(System* s) {
  Potential* pot = s->potential;
  const real_t limit = pot->cutoff * pot->cutoff;
  real_t energy = 0.0;
  for (int i = 0; i < s->atoms; i++) {
    ZERO3(s->f[i]);
    s->each[i] = 0.0;
    pot->density[i] = 0.0;
  }
  for (int i = 0; i < s->atoms; i++) {
    int n = s->near->numneigh[i];
    const int* list = s->near->lists[i];
    for (int k = 0; k < n; k++) {
      int j = list[k];
      vector d;
      real_t square = apart(s, i, j, d);
      if (square <= limit) {
        real_t r = sqrt(square), phi, dphi, rho, drho;
        interpolate(pot->phi, r, &phi, &dphi);
        interpolate(pot->rho, r, &rho, &drho);
        for (int m = 0; m < 3; m++) s->f[i][m] -= dphi * d[m] / r;
        s->each[i] += 0.5 * phi;
        energy += 0.5 * phi;
        pot->density[i] += rho;
      }
    }
  }
  for (int i = 0; i < s->atoms; i++) {
    real_t value, slope;
    interpolate(pot->embedding, pot->density[i], &value, &slope);
    pot->slope[i] = slope;
    energy += value;
    s->each[i] += value;
  }
  for (int i = 0; i < s->atoms; i++) {
    for (int k = 0; k < s->near->numneigh[i]; k++) {
      int j = s->near->lists[i][k];
      vector d;
      real_t square = apart(s, i, j, d);
      if (square <= limit) {
        real_t r = sqrt(square), rho, drho;
        interpolate(pot->rho, r, &rho, &drho);
        for (int m = 0; m < 3; m++) s->f[i][m] -= (pot->slope[i] + pot->slope[j]) * drho * d[m] / r;
      }
    }
  }
  s->energy = energy;
  return 0;
}

static int pairForce(System* s) {
  const Potential* pot = s->potential;
  const real_t limit = pot->cutoff * pot->cutoff;
  const real_t sigma2 = pot->sigma * pot->sigma;
  const real_t sigma6 = sigma2 * sigma2 * sigma2;
  real_t energy = 0.0;
  for (int i = 0; i < s->atoms; i++) ZERO3(s->f[i]);
  for (int i = 0; i < s->atoms; i++) {
    for (int k = 0; k < s->near->numneigh[i]; k++) {
      int j = s->near->lists[i][k];
      vector d;
      real_t square = apart(s, i, j, d);
      if (square <= limit) {
        square = 1.0 / square;
        real_t r6 = sigma6 * (square * square * square);
        energy += 0.5 * r6 * (r6 - 1.0);
        real_t fr = 4.0 * pot->epsilon * r6 * square * (12.0 * r6 - 6.0);
        for (int m = 0; m < 3; m++) s->f[i][m] += d[m] * fr;
      }
    }
  }
  s->energy = energy * 4.0 * pot->epsilon;
  return 0;
}

static void describePair(FILE* out, Potential* p) { fprintf(out, "pairs within %g\n", (double)p->cutoff); }
static void describeMetal(FILE* out, Potential* p) { fprintf(out, "tables of %d\n", p->phi->entries); }
static void destroyAny(Potential** p) { free(*p); *p = NULL; }

static Potential* newPair(void) {
  Potential* p = wanted(sizeof(Potential));
  p->force = pairForce;
  p->describe = describePair;
  p->destroy = destroyAny;
  p->cutoff = 1.3;
  p->sigma = 0.9;
  p->epsilon = 1.0;
  return p;
}

static Potential* newMetal(int atoms) {
  Potential* p = wanted(sizeof(Potential));
  p->force = &metalForce;
  p->describe = describeMetal;
  p->destroy = destroyAny;
  p->cutoff = 1.3;
  p->phi = newTable(0.0, 2.0, ENTRIES, 0.01);
  p->rho = newTable(0.0, 2.0, ENTRIES, 0.02);
  p->embedding = newTable(0.0, 40.0, ENTRIES, 0.005);
  p->density = wanted(atoms * sizeof(real_t));
  p->slope = wanted(atoms * sizeof(real_t));
  return p;
}

static void findNeighbours(System* s, real_t within) {
  Neighbours* near = s->near;
  for (int i = 0; i < s->atoms; i++) {
    int n = 0;
    for (int j = 0; j < s->atoms; j++) {
      vector d;
      if (j != i && apart(s, i, j, d) < within * within && n < ROOM) near->lists[i][n++] = j;
    }
    near->numneigh[i] = n;
  }
}

static System* newSystem(int side, int metal) {
  System* s = wanted(sizeof(System));
  s->atoms = side * side * side;
  s->r = wanted(s->atoms * sizeof(vector));
  s->p = wanted(s->atoms * sizeof(vector));
  s->f = wanted(s->atoms * sizeof(vector));
  s->each = wanted(s->atoms * sizeof(real_t));
  s->near = wanted(sizeof(Neighbours));
  s->near->numneigh = wanted(s->atoms * sizeof(int));
  s->near->lists = wanted(s->atoms * sizeof(int*));
  for (int i = 0; i < s->atoms; i++) {
    s->near->lists[i] = wanted(ROOM * sizeof(int));
    s->r[i][0] = i % side;
    s->r[i][1] = i / side % side;
    s->r[i][2] = i / (side * side);
  }
  if (metal) {
    s->potential = newMetal(s->atoms);
  } else {
    s->potential = newPair();
  }
  return s;
}

static void kick(System* s, real_t dt) {
  for (int i = 0; i < s->atoms; i++)
    for (int m = 0; m < 3; m++) s->p[i][m] += dt * s->f[i][m];
}

static void drift(System* s, real_t dt, real_t inverse) {
  for (int i = 0; i < s->atoms; i++)
    for (int m = 0; m < 3; m++) s->r[i][m] += dt * inverse * s->p[i][m];
}

static void kineticEnergy(System* s) {
  real_t sum = 0.0;
  for (int i = 0; i < s->atoms; i++)
    sum += s->p[i][0] * s->p[i][0] + s->p[i][1] * s->p[i][1] + s->p[i][2] * s->p[i][2];
  s->kinetic = 0.5 * sum;
}

int main(int argc, char** argv) {
  int side = CELLS, metal = 1;
  if (argc > 1) side = atoi(argv[1]);
  if (argc > 2) metal = atoi(argv[2]);
  System* s = newSystem(side, metal);
  s->potential->describe(stdout, s->potential);
  findNeighbours(s, 1.6);
  s->potential->force(s);
  for (int step = 0; step < STEPS; step++) {
    kick(s, 0.0005);
    drift(s, 0.001, 1.0);
    s->potential->force(s);
    kick(s, 0.0005);
  }
  kineticEnergy(s);
  printf("%g %g\n", (double)s->energy, (double)s->kinetic);
  s->potential->destroy(&s->potential);
  return 0;
}
