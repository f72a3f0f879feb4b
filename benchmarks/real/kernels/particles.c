/* Arithmetic more than data: accelerations of m bodies by n others, and pi by random points. */
#include "real.h"

/* a: x, y, z and mass of the n bodies, one array after the other; c: accelerations of the first m. */
static void bodies(struct problem *p)
{
  p->a = numbers(4 * p->n, 1);
  p->c = array(3 * p->m * sizeof(double), PAGES_OF_SYSTEM);
}

static const double SOFT = 1e-3;

static void nbody_run(struct problem *p)
{
  long n = p->n;
  const double *restrict x = p->a, *restrict y = x + n, *restrict z = y + n, *restrict mass = z + n;
  for (long i = 0; i < p->m; i++) {
    double ax = 0, ay = 0, az = 0, xi = x[i], yi = y[i], zi = z[i];
#pragma omp simd reduction(+ : ax, ay, az)
    for (long j = 0; j < n; j++) {
      double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
      double square = dx * dx + dy * dy + dz * dz + SOFT;
      double pull = mass[j] / (square * sqrt(square));
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    p->c[3 * i] = ax;
    p->c[3 * i + 1] = ay;
    p->c[3 * i + 2] = az;
  }
}

static double nbody_wrong(struct problem *p)
{
  long n = p->n;
  double worst = 0;
  for (long i = 0; i < p->m; i += p->m / 20 + 1)
    for (int axis = 0; axis < 3; axis++) {
      long double sum = 0, size = 0;
      for (long j = 0; j < n; j++) {
        long double square = SOFT;
        for (int other = 0; other < 3; other++)
          square += powl(p->a[other * n + j] - p->a[other * n + i], 2);
        long double part = p->a[3 * n + j] * (p->a[axis * n + j] - p->a[axis * n + i]) / powl(square, 1.5L);
        sum += part;
        size += fabsl(part);
      }
      worst = fmax(worst, (double)(fabsl(p->c[3 * i + axis] - sum) / fmaxl(size, 1e-300L)));
    }
  return worst;
}

const struct kernel nbody = {"nbody", bodies, nbody_run, nbody_wrong};

static void nothing(struct problem *p)
{
  (void)p;
}

/* Knuth's MMIX generator: each number waits for the one before it, by a multiplication and an addition. */
#define NEXT(state) (6364136223846793005u * (state) + 1442695040888963407u)

static void montecarlo_run(struct problem *p)
{
  uint64_t state = 1;
  long inside = 0;
  for (long i = 0; i < p->n; i++) {
    state = NEXT(state);
    double x = (double)(int64_t)(state >> 11) * 0x1p-53;
    state = NEXT(state);
    double y = (double)(int64_t)(state >> 11) * 0x1p-53;
    inside += x * x + y * y < 1.0;
  }
  p->result = 4.0 * (double)inside / (double)p->n;
}

/* Within four standard deviations of pi: 4 sqrt(p (1 - p)/n), p = pi/4. An error of one in these units is just wrong. */
static double montecarlo_wrong(struct problem *p)
{
  double pi = acos(-1.0), deviation = 4 * sqrt(pi / 4 * (1 - pi / 4) / (double)p->n);
  return fabs(p->result - pi) < 4 * deviation ? 0 : 1;
}

const struct kernel montecarlo = {"montecarlo", nothing, montecarlo_run, montecarlo_wrong};
