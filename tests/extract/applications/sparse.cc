// Kernels of a conjugate gradient solver with a symmetric Gauss-Seidel smoother over compressed rows.
#include <cmath>
#include <vector>

struct Matrix {
  int rows;
  std::vector<int> start, columns;
  std::vector<double> values, diagonal;
};

typedef std::vector<double> Vector;

static void Multiply(const Matrix& A, const Vector& x, Vector& y)
{
  const double* const xv = x.data();
  for (int i = 0; i < A.rows; ++i) {
    double sum = 0.0;
    for (int j = A.start[i]; j < A.start[i + 1]; ++j)
      sum += A.values[j] * xv[A.columns[j]];
    y[i] = sum;
  }
}

static void Smooth(const Matrix& A, const Vector& r, Vector& x)
{
  for (int i = 0; i < A.rows; i++) {
    double sum = r[i];
    for (int j = A.start[i]; j < A.start[i + 1]; j++)
      sum -= A.values[j] * x[A.columns[j]];
    sum += x[i] * A.diagonal[i];
    x[i] = sum / A.diagonal[i];
  }
  for (int i = A.rows - 1; i >= 0; i--) {
    double sum = r[i];
    for (int j = A.start[i]; j < A.start[i + 1]; j++)
      sum -= A.values[j] * x[A.columns[j]];
    sum += x[i] * A.diagonal[i];
    x[i] = sum / A.diagonal[i];
  }
}

static double Dot(const Vector& a, const Vector& b)
{
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

static void Update(double alpha, const Vector& x, double beta, const Vector& y, Vector& w)
{
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = alpha * x[i] + beta * y[i];
}

static void Fill(Matrix& A, int n)
{
  A.rows = n;
  A.start.resize(n + 1);
  A.diagonal.resize(n);
  for (int i = 0; i < n; ++i) {
    A.start[i] = static_cast<int>(A.columns.size());
    for (int j = (i > 0 ? i - 1 : 0); j <= i + 1 && j < n; ++j) {
      A.columns.push_back(j);
      A.values.push_back(i == j ? 4.0 : -1.0);
    }
    A.diagonal[i] = 4.0;
  }
  A.start[n] = static_cast<int>(A.columns.size());
}

int main()
{
#ifndef ROWS
#define ROWS 60
#endif
  Matrix A;
  Fill(A, ROWS);
  Vector b(A.rows, 1.0), x(A.rows, 0.0), r(A.rows), z(A.rows), p(A.rows), Ap(A.rows);
  Multiply(A, x, Ap);
  Update(1.0, b, -1.0, Ap, r);
  double rtz = 0.0;
  for (int k = 0; k < 10; ++k) {
    z.assign(z.size(), 0.0);
    Smooth(A, r, z);
    double old = rtz;
    rtz = Dot(r, z);
    if (k == 0)
      p = z;
    else
      Update(1.0, z, rtz / old, p, p);
    Multiply(A, p, Ap);
    double alpha = rtz / Dot(p, Ap);
    Update(1.0, x, alpha, p, x);
    Update(1.0, r, -alpha, Ap, r);
  }
  return std::sqrt(Dot(r, r)) > 1.0;
}
