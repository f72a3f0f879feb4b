#include "mesh_of_another_project.h"

void f(int n, double *x)
{
  for (int i = 0; i < n; i++)
    x[i] *= 3;
}
