/* Particles, stencils, matrices of floats, copies, iterative solvers. */
#include <string.h>

#include "fill.h"

/* -- particles: places by velocities, as structures and as arrays ---------------------------------------------------------- */

struct particle { double x, y, z, u, v, w, mass, charge; };

static void make_particles_aos(struct problem *p)
{
  p->a = numbers(8 * p->n, 1);
}

static void particles_aos_run(struct problem *p)
{
  struct particle *all = (struct particle *)p->a;
  for (long i = 0; i < p->n; i++) {
    struct particle *one = &all[i];
    one->x += 1e-9 * one->u;
    one->y += 1e-9 * one->v;
    one->z += 1e-9 * one->w;
  }
}

static double all_finite(struct problem *p)
{
  return !isfinite(p->a[0]) || !isfinite(p->a[p->n / 2]) || !isfinite(p->a[p->n - 1]);
}

const struct kernel particles_aos = {"particles_aos", make_particles_aos, particles_aos_run, all_finite};

static void particles_soa_run(struct problem *p)
{
  const long n = p->n;
  double *restrict x = p->a, *restrict y = x + n, *restrict z = y + n;
  const double *restrict u = z + n, *restrict v = u + n, *restrict w = v + n;
  for (long i = 0; i < n; i++) {
    x[i] += 1e-9 * u[i];
    y[i] += 1e-9 * v[i];
    z[i] += 1e-9 * w[i];
  }
}

const struct kernel particles_soa = {"particles_soa", make_particles_aos, particles_soa_run, all_finite};

/* -- boxes: the mean of 3 x 3 floats, and the sum of 27 doubles, on grids with a rim ------------------------------------------ */

static void make_box9(struct problem *p)
{
  long side = p->n + 2;
  p->a = (double *)floats(side * side, 2), p->b = (double *)floats(side * side, 3);
}

static void box9_run(struct problem *p)
{
  const long side = p->n + 2;
  const float *restrict a = (const float *)p->a;
  float *restrict b = (float *)p->b;
  for (long i = 1; i <= p->n; i++)
    for (long j = 1; j <= p->n; j++) {
      const float *at = a + i * side + j;
      b[i * side + j] = (at[-side - 1] + at[-side] + at[-side + 1] + at[-1] + at[0] + at[1] + at[side - 1] + at[side] +
                         at[side + 1]) * (1.0f / 9);
    }
}

static double box9_wrong(struct problem *p)
{
  const long side = p->n + 2;
  const float *at = (const float *)p->a + side + 1;
  double sum = 0;
  for (long i = -1; i <= 1; i++)
    for (long j = -1; j <= 1; j++)
      sum += at[i * side + j];
  return apart(((float *)p->b)[side + 1], sum / 9) < 1e-5 ? 0 : 1;
}

const struct kernel box9 = {"box9", make_box9, box9_run, box9_wrong};

static void make_box27(struct problem *p)
{
  long side = p->n + 2;
  p->a = numbers(side * side * side, 4), p->b = numbers(side * side * side, 5);
}

static void box27_run(struct problem *p)
{
  const long side = p->n + 2, plane = side * side;
  const double *restrict a = p->a;
  double *restrict b = p->b;
  for (long i = 1; i <= p->n; i++)
    for (long j = 1; j <= p->n; j++)
      for (long k = 1; k <= p->n; k++) {
        double sum = 0;
        for (long di = -1; di <= 1; di++)
          for (long dj = -1; dj <= 1; dj++)
            for (long dk = -1; dk <= 1; dk++)
              sum += a[(i + di) * plane + (j + dj) * side + k + dk];
        b[i * plane + j * side + k] = sum;
      }
}

static double box27_wrong(struct problem *p)
{
  const long side = p->n + 2, plane = side * side, at = plane + side + 1;
  double sum = 0;
  for (long i = -1; i <= 1; i++)
    for (long j = -1; j <= 1; j++)
      for (long k = -1; k <= 1; k++)
        sum += p->a[at + i * plane + j * side + k];
  return apart(p->b[at], sum);
}

const struct kernel box27 = {"box27", make_box27, box27_run, box27_wrong};

/* -- a matrix of floats by a vector: row by row, in order; and column by column ------------------------------------------------- */

static void make_sgemv(struct problem *p)
{
  p->m = 256; /* columns, or rows */
  p->a = (double *)floats(p->n * p->m, 6), p->b = (double *)floats(p->n + p->m, 7), p->c = (double *)floats(p->n + p->m, 8);
}

static void sgemv_rows_run(struct problem *p)
{
  const float *restrict a = (const float *)p->a, *restrict x = (const float *)p->b;
  float *restrict y = (float *)p->c;
  for (long row = 0; row < p->n; row++) {
    float sum = 0;
    for (long k = 0; k < p->m; k++)
      sum += a[row * p->m + k] * x[k];
    y[row] = sum;
  }
}

static double sgemv_rows_wrong(struct problem *p)
{
  double sum = 0;
  for (long k = 0; k < p->m; k++)
    sum += (double)((float *)p->a)[k] * ((float *)p->b)[k];
  return apart(((float *)p->c)[0], sum) < 1e-4 ? 0 : 1;
}

const struct kernel sgemv_rows = {"sgemv_rows", make_sgemv, sgemv_rows_run, sgemv_rows_wrong};

static void sgemv_columns_run(struct problem *p)
{
  const float *restrict a = (const float *)p->a, *restrict x = (const float *)p->b;
  float *restrict y = (float *)p->c;
  const long rows = p->m;
  for (long i = 0; i < rows; i++)
    y[i] = 0;
  for (long column = 0; column < p->n; column++)
    for (long i = 0; i < rows; i++)
      y[i] += a[column * rows + i] * x[column];
}

static double sgemv_columns_wrong(struct problem *p)
{
  double sum = 0;
  for (long k = 0; k < p->n; k++)
    sum += (double)((float *)p->a)[k * p->m] * ((float *)p->b)[k];
  return apart(((float *)p->c)[0], sum) < 1e-3 ? 0 : 1;
}

const struct kernel sgemv_columns = {"sgemv_columns", make_sgemv, sgemv_columns_run, sgemv_columns_wrong};

/* -- copies: of n bytes, and of three fields out of structures of three floats ---------------------------------------------------- */

static void make_copy(struct problem *p)
{
  p->a = numbers(p->n, 9), p->b = numbers(p->n, 10);
}

static void copy_run(struct problem *p)
{
  memcpy(p->b, p->a, (size_t)p->n * sizeof(double));
}

static double copy_wrong(struct problem *p)
{
  return memcmp(p->a, p->b, (size_t)p->n * sizeof(double)) != 0;
}

const struct kernel copy = {"copy", make_copy, copy_run, copy_wrong};

static void make_unzip(struct problem *p)
{
  p->a = (double *)floats(3 * p->n, 11), p->b = (double *)floats(3 * p->n, 12);
}

static void unzip_run(struct problem *p)
{
  const float *restrict a = (const float *)p->a;
  float *restrict x = (float *)p->b, *restrict y = x + p->n, *restrict z = y + p->n;
  for (long i = 0; i < p->n; i++) {
    x[i] = a[3 * i];
    y[i] = a[3 * i + 1];
    z[i] = a[3 * i + 2];
  }
}

static double unzip_wrong(struct problem *p)
{
  const float *a = (const float *)p->a, *b = (const float *)p->b;
  double wrong = 0;
  for (long i = 0; i < p->n; i++)
    wrong += a[3 * i + 1] != b[p->n + i];
  return wrong;
}

const struct kernel unzip = {"unzip", make_unzip, unzip_run, unzip_wrong};

/* -- solvers: m sweeps of Jacobi over a grid, m steps of conjugate gradients with three diagonals ---------------------------------- */

enum { SWEEPS = 10 };

static void make_jacobi(struct problem *p)
{
  long side = p->n + 2;
  p->a = numbers(side * side, 13), p->b = numbers(side * side, 13);
}

static void jacobi_run(struct problem *p)
{
  const long side = p->n + 2;
  double *from = p->a, *to = p->b;
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    const double *restrict u = from;
    double *restrict next = to;
    for (long i = 1; i <= p->n; i++)
      for (long j = 1; j <= p->n; j++)
        next[i * side + j] =
            0.25 * (u[i * side + j - 1] + u[i * side + j + 1] + u[(i - 1) * side + j] + u[(i + 1) * side + j]);
    double *kept = from;
    from = to, to = kept;
  }
}

const struct kernel jacobi = {"jacobi", make_jacobi, jacobi_run, all_finite};

static void make_cg(struct problem *p)
{
  p->a = numbers(4 * p->n + 16, 14);
}

/* x, r, d and q are of n numbers each; the matrix has 3 on its diagonal and -1 beside it. */
static void cg_run(struct problem *p)
{
  const long n = p->n;
  double *restrict x = p->a, *restrict r = x + n, *restrict d = r + n, *restrict q = d + n;
  double rr = 0;
  for (long i = 0; i < n; i++) {
    x[i] = 0;
    r[i] = d[i] = 1;
  }
  rr = (double)n;
  for (int step = 0; step < SWEEPS; step++) {
    q[0] = 3 * d[0] - d[1];
    for (long i = 1; i < n - 1; i++)
      q[i] = 3 * d[i] - d[i - 1] - d[i + 1];
    q[n - 1] = 3 * d[n - 1] - d[n - 2];
    double dq = 0;
    for (long i = 0; i < n; i++)
      dq += d[i] * q[i];
    const double alpha = rr / dq;
    for (long i = 0; i < n; i++) {
      x[i] += alpha * d[i];
      r[i] -= alpha * q[i];
    }
    double next = 0;
    for (long i = 0; i < n; i++)
      next += r[i] * r[i];
    const double beta = next / rr;
    rr = next;
    for (long i = 0; i < n; i++)
      d[i] = r[i] + beta * d[i];
  }
  p->result = rr;
}

static double cg_wrong(struct problem *p)
{
  const double *x = p->a;
  double middle = 3 * x[p->n / 2] - x[p->n / 2 - 1] - x[p->n / 2 + 1];
  return fabs(middle - 1) < 1e-2 ? 0 : 1;
}

const struct kernel cg = {"cg", make_cg, cg_run, cg_wrong};
