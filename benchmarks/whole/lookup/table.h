#ifndef TABLE_H
#define TABLE_H
#define KINDS 5
typedef struct {
  double energy, sections[KINDS];
} Point;
typedef struct {
  int nuclides, points;
  Point *table;
} Library;
typedef struct {
  int number;
  int *nuclide;
  double *density;
} Material;
Library make_library(int nuclides, int points);
void make_materials(Material *materials, int number, int nuclides);
void look_up(const Library *library, const Material *material, double energy, double *total);
double draw(unsigned long *seed);
#endif
