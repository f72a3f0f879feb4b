// Arithmetic of LULESH's kernels on one hexahedron, with numbers that count: + - * / and roots, as they are executed.
// With UNCOUNTED they are plain ones, for what a compiler makes of them.
//
// Written from the geometry, axis by axis; each line of output is a kernel, its flops, and a value to check it by.

#include <cmath>
#include <cstdio>

static long flops = 0;
#ifdef UNCOUNTED
#define COUNT
#else
#define COUNT ++flops;
#endif

struct Real {
  double v;
  Real(double value = 0) : v(value) {}
  Real operator-() const { return Real(-v); }
};
static Real operator+(Real a, Real b) { COUNT return Real(a.v + b.v); }
static Real operator-(Real a, Real b) { COUNT return Real(a.v - b.v); }
static Real operator*(Real a, Real b) { COUNT return Real(a.v * b.v); }
static Real operator/(Real a, Real b) { COUNT return Real(a.v / b.v); }
static Real root(Real a) { COUNT return Real(std::sqrt(a.v)); }

typedef Real Corners[3][8];  // axis, corner

static const int FACES[6][4] = {{0, 1, 2, 3}, {0, 4, 5, 1}, {1, 5, 6, 2}, {2, 6, 7, 3}, {3, 7, 4, 0}, {4, 7, 6, 5}};

// Derivatives of the trilinear shape functions at the centre, from the inverse of the Jacobian; its volume.
Real shape_derivatives(const Corners &x, Corners &b) {
  Real j[3][3], c[3][3];
  for (int a = 0; a < 3; ++a) {
    const Real *p = x[a];
    j[a][0] = Real(.125) * ((p[6] - p[0]) + (p[5] - p[3]) - (p[7] - p[1]) - (p[4] - p[2]));
    j[a][1] = Real(.125) * ((p[6] - p[0]) - (p[5] - p[3]) + (p[7] - p[1]) - (p[4] - p[2]));
    j[a][2] = Real(.125) * ((p[6] - p[0]) + (p[5] - p[3]) + (p[7] - p[1]) + (p[4] - p[2]));
  }
  for (int a = 0; a < 3; ++a)
    for (int k = 0; k < 3; ++k) {
      int r = (a + 1) % 3, s = (a + 2) % 3, m = (k + 1) % 3, n = (k + 2) % 3;
      c[a][k] = j[r][m] * j[s][n] - j[s][m] * j[r][n];
    }
  for (int a = 0; a < 3; ++a) {
    b[a][0] = -c[a][0] - c[a][1] - c[a][2];
    b[a][1] = c[a][0] - c[a][1] - c[a][2];
    b[a][2] = c[a][0] + c[a][1] - c[a][2];
    b[a][3] = -c[a][0] + c[a][1] - c[a][2];
    const int opposite[4] = {6, 7, 4, 5};
    for (int i = 0; i < 4; ++i) b[a][opposite[i]] = -b[a][i];
  }
  return Real(8) * (j[0][1] * c[0][1] + j[1][1] * c[1][1] + j[2][1] * c[2][1]);
}

// A quarter of the area vector of each face, added to its four corners.
static void node_normals(const Corners &x, Corners &normals) {
  for (int f = 0; f < 6; ++f) {
    const int *n = FACES[f];
    Real u[3], w[3], area[3];
    for (int a = 0; a < 3; ++a) {
      const Real *p = x[a];
      u[a] = Real(.5) * (p[n[3]] + p[n[2]] - p[n[1]] - p[n[0]]);
      w[a] = Real(.5) * (p[n[2]] + p[n[1]] - p[n[3]] - p[n[0]]);
    }
    for (int a = 0; a < 3; ++a) {
      int r = (a + 1) % 3, s = (a + 2) % 3;
      area[a] = Real(.25) * (u[r] * w[s] - u[s] * w[r]);
    }
    for (int a = 0; a < 3; ++a)
      for (int i = 0; i < 4; ++i) normals[a][n[i]] = normals[a][n[i]] + area[a];
  }
}

// Twelfth of the sum of three triple products of edges and diagonals.
static Real triple(const Real u[3], const Real v[3], const Real w[3]) {
  return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
}
static Real volume(const Corners &x) {
  static const int EDGES[12][2] = {{3, 1}, {7, 2}, {6, 3}, {2, 0}, {4, 3}, {5, 7}, {6, 4}, {7, 0}, {1, 4}, {2, 5},
                                   {6, 1}, {5, 0}};
  Real d[12][3], sums[3][3];
  for (int e = 0; e < 12; ++e)
    for (int a = 0; a < 3; ++a) d[e][a] = x[a][EDGES[e][0]] - x[a][EDGES[e][1]];
  for (int t = 0; t < 3; ++t)
    for (int a = 0; a < 3; ++a) sums[t][a] = d[4 * t][a] + d[4 * t + 1][a];
  return Real(1. / 12) * (triple(sums[0], d[2], d[3]) + triple(sums[1], d[6], d[7]) + triple(sums[2], d[10], d[11]));
}

// The volume over the root of the largest area of a face; `areas` are sixteen times their squares.
static Real characteristic_length(const Corners &x, Real content) {
  Real largest(0);
  for (int f = 0; f < 6; ++f) {
    const int *n = FACES[f];
    Real u[3], w[3];
    for (int a = 0; a < 3; ++a) {
      const Real *p = x[a];
      u[a] = (p[n[2]] - p[n[0]]) - (p[n[3]] - p[n[1]]);
      w[a] = (p[n[2]] - p[n[0]]) + (p[n[3]] - p[n[1]]);
    }
    Real mixed = u[0] * w[0] + u[1] * w[1] + u[2] * w[2];
    Real uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2], ww = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    Real area = uu * ww - mixed * mixed;
    if (area.v > largest.v) largest = area;
  }
  return Real(4) * content / root(largest);
}

// The three stretches and the three shears; velocities are even about the centre but for the sign.
static Real velocity_gradient(const Corners &b, const Corners &v, Real content) {
  Real inverse = Real(1) / content, g[3][3];
  for (int a = 0; a < 3; ++a)
    for (int k = 0; k < 3; ++k)
      g[a][k] = inverse * (b[k][0] * (v[a][0] - v[a][6]) + b[k][1] * (v[a][1] - v[a][7]) +
                           b[k][2] * (v[a][2] - v[a][4]) + b[k][3] * (v[a][3] - v[a][5]));
  for (int a = 0; a < 3; ++a) g[a][(a + 1) % 3] = Real(.5) * (g[a][(a + 1) % 3] + g[(a + 1) % 3][a]);
  return g[0][0];
}

static void report(const char *name, Real checked) {
  std::printf("%s %ld %.12g\n", name, flops, checked.v);
  flops = 0;
}

int main() {
  static const int UNIT[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  const double size[3] = {2, 3, 5};
  Corners x, v, b, normals;
  for (int a = 0; a < 3; ++a)
    for (int i = 0; i < 8; ++i) x[a][i] = Real(size[a] * UNIT[i][a]), v[a][i] = Real(7 * x[a][i].v);

  report("shape_derivatives", shape_derivatives(x, b));
  node_normals(x, normals);
  report("node_normals", normals[0][6]);
  Real force[3][8], stress(-1);
  for (int i = 0; i < 8; ++i)
    for (int a = 0; a < 3; ++a) force[a][i] = -(stress * normals[a][i]);
  report("stress", force[0][6]);
  for (int i = 0; i < 8; ++i)
    for (int a = 0; a < 3; ++a) force[a][i] = force[a][i] + Real(1);
  report("scatter", force[0][6]);
  Real content = volume(x);
  report("volume", content);
  report("characteristic_length", characteristic_length(x, content));
  Real half = Real(.5) * Real(0);
  for (int i = 0; i < 8; ++i)
    for (int a = 0; a < 3; ++a) x[a][i] = x[a][i] - half * v[a][i];
  report("half_step", x[0][6]);
  Real relative = content / Real(60), change = relative - Real(1);
  report("relative_volume", change);
  report("velocity_gradient", velocity_gradient(b, v, content));
  Real acceleration[3], velocity[3], position[3], dt(.5), mass(2);
  for (int a = 0; a < 3; ++a) acceleration[a] = Real(8) / mass;
  report("acceleration", acceleration[0]);
  for (int a = 0; a < 3; ++a) velocity[a] = Real(1) + acceleration[a] * dt;
  report("velocity", velocity[0]);
  for (int a = 0; a < 3; ++a) position[a] = Real(1) + velocity[a] * dt;
  report("position", position[0]);
}
