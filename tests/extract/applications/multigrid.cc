// A conjugate gradient with a multigrid preconditioner over 27-point rows, in the manner of HPCG.
#include <cstdlib>
#include <cmath>
#include <vector>

struct Matrix;
struct Vector { int length; double* values; };
struct Coarse { int* fine; Matrix* matrix; Vector* r; Vector* x; Vector* a; };
struct Matrix { int rows; char* entries; double** values; int** columns; double** diagonal; Coarse* coarse; };

static void Fill(Vector& v, double to) { for (int i = 0; i < v.length; ++i) v.values[i] = to; }

static void Multiply(const Matrix& A, const Vector& x, Vector& y)
{
  const double* const xv = x.values;
  double* const yv = y.values;
  for (int i = 0; i < A.rows; i++) {
    double sum = 0.0;
    const double* const row = A.values[i];
    const int* const columns = A.columns[i];
    const int entries = A.entries[i];
    for (int j = 0; j < entries; j++) sum += row[j] * xv[columns[j]];
    yv[i] = sum;
  }
}

static void Smooth(const Matrix& A, const Vector& r, Vector& x)
{
  double** diagonal = A.diagonal;
  double* const xv = x.values;
  for (int i = 0; i < A.rows; i++) {
    double sum = r.values[i];
    for (int j = 0; j < A.entries[i]; j++) sum -= A.values[i][j] * xv[A.columns[i][j]];
    sum += xv[i] * diagonal[i][0];
    xv[i] = sum / diagonal[i][0];
  }
  for (int i = A.rows - 1; i >= 0; i--) {
    double sum = r.values[i];
    for (int j = 0; j < A.entries[i]; j++) sum -= A.values[i][j] * xv[A.columns[i][j]];
    sum += xv[i] * diagonal[i][0];
    xv[i] = sum / diagonal[i][0];
  }
}

static void Restrict(const Matrix& A, const Vector& r)
{
  Coarse& c = *A.coarse;
  for (int i = 0; i < c.r->length; ++i) c.r->values[i] = r.values[c.fine[i]] - c.a->values[c.fine[i]];
}

static void Prolong(const Matrix& A, Vector& x)
{
  Coarse& c = *A.coarse;
  for (int i = 0; i < c.r->length; ++i) x.values[c.fine[i]] += c.x->values[i];
}

static void Cycle(const Matrix& A, const Vector& r, Vector& x)
{
  Fill(x, 0.0);
  if (A.coarse != 0) {
    Smooth(A, r, x);
    Multiply(A, x, *A.coarse->a);
    Restrict(A, r);
    Cycle(*A.coarse->matrix, *A.coarse->r, *A.coarse->x);
    Prolong(A, x);
    Smooth(A, r, x);
  } else {
    Smooth(A, r, x);
  }
}

static double Dot(int n, const Vector& x, const Vector& y)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += x.values[i] * y.values[i];
  return sum;
}

static void Waxpby(int n, double alpha, const Vector& x, double beta, const Vector& y, Vector& w)
{
  if (alpha == 1.0) { for (int i = 0; i < n; i++) w.values[i] = x.values[i] + beta * y.values[i]; }
  else if (beta == 1.0) { for (int i = 0; i < n; i++) w.values[i] = alpha * x.values[i] + y.values[i]; }
  else { for (int i = 0; i < n; i++) w.values[i] = alpha * x.values[i] + beta * y.values[i]; }
}

static Vector* NewVector(int n) { Vector* v = new Vector; v->length = n; v->values = new double[n]; Fill(*v, 0.0); return v; }

static Matrix* NewMatrix(int n, int levels)
{
  Matrix* A = new Matrix;
  int rows = n * n * n;
  A->rows = rows;
  A->entries = new char[rows];
  A->values = new double*[rows];
  A->columns = new int*[rows];
  A->diagonal = new double*[rows];
  for (int z = 0; z < n; z++) for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) {
    int row = (z * n + y) * n + x, count = 0;
    A->values[row] = new double[27];
    A->columns[row] = new int[27];
    for (int dz = -1; dz <= 1; dz++) if (z + dz >= 0 && z + dz < n)
      for (int dy = -1; dy <= 1; dy++) if (y + dy >= 0 && y + dy < n)
        for (int dx = -1; dx <= 1; dx++) if (x + dx >= 0 && x + dx < n) {
          int column = row + (dz * n + dy) * n + dx;
          if (column == row) { A->values[row][count] = 26.0; A->diagonal[row] = &A->values[row][count]; }
          else A->values[row][count] = -1.0;
          A->columns[row][count++] = column;
        }
    A->entries[row] = count;
  }
  A->coarse = 0;
  if (levels > 1) {
    int m = n / 2;
    Coarse* c = A->coarse = new Coarse;
    c->matrix = NewMatrix(m, levels - 1);
    c->fine = new int[m * m * m];
    for (int z = 0; z < m; z++) for (int y = 0; y < m; y++) for (int x = 0; x < m; x++)
      c->fine[(z * m + y) * m + x] = (2 * z * n + 2 * y) * n + 2 * x;
    c->r = NewVector(m * m * m); c->x = NewVector(m * m * m); c->a = NewVector(rows);
  }
  return A;
}

int main(int argc, char** argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 8, iterations = 5;
  Matrix* A = NewMatrix(n, 3);
  Vector *b = NewVector(A->rows), *x = NewVector(A->rows), *r = NewVector(A->rows), *z = NewVector(A->rows), *p = NewVector(A->rows), *q = NewVector(A->rows);
  Fill(*b, 1.0);
  int rows = A->rows;
  Waxpby(rows, 1.0, *b, 0.0, *x, *r);
  double rtz = 0.0;
  for (int k = 0; k < iterations; k++) {
    Cycle(*A, *r, *z);
    double old = rtz;
    rtz = Dot(rows, *r, *z);
    double beta = k ? rtz / old : 0.0;
    Waxpby(rows, 1.0, *z, beta, *p, *p);
    Multiply(*A, *p, *q);
    double alpha = rtz / Dot(rows, *p, *q);
    Waxpby(rows, 1.0, *x, alpha, *p, *x);
    Waxpby(rows, 1.0, *r, -alpha, *q, *r);
  }
  return Dot(rows, *r, *r) > 1.0;
}
