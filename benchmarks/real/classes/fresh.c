/* Twelve kernels of the same classes, written when all before had been looked at, and looked at themselves. */
#include <stdlib.h>

#include "fill.h"

/* -- sums up to each, begun again where a flag stands --------------------------------------------------------------------- */

static void make_segment_sums(struct problem *p)
{
  p->a = numbers(p->n, 31), p->b = numbers(p->n, 32), p->c = numbers(p->n, 33);
  for (long i = 0; i < p->n; i++)
    p->b[i] = p->b[i] > 0.6 ? 1 : 0;
}

static void segment_sums_run(struct problem *p)
{
  const double *restrict x = p->a, *restrict keep = p->b;
  double *restrict sums = p->c, sum = 0;
  for (long i = 0; i < p->n; i++) {
    sum = sum * keep[i] + x[i];
    sums[i] = sum;
  }
}

static double segment_sums_wrong(struct problem *p)
{
  double sum = 0;
  for (long i = 0; i < p->n; i++)
    sum = p->b[i] == 0 ? p->a[i] : sum + p->a[i];
  return apart(p->c[p->n - 1], sum);
}

const struct kernel segment_sums = {"segment_sums", make_segment_sums, segment_sums_run, segment_sums_wrong};

/* -- a histogram of floats in 512 bins ---------------------------------------------------------------------------------------- */

static void make_float_bins(struct problem *p)
{
  p->a = (double *)floats(p->n, 34), p->index = draws(512, 1, 35);
}

static void float_bins_run(struct problem *p)
{
  const float *restrict x = (const float *)p->a;
  int32_t *restrict counts = p->index;
  for (long i = 0; i < p->n; i++)
    counts[(int)((x[i] - 0.5f) * 511.0f)]++;
  p->result += (double)p->n;
}

static double float_bins_wrong(struct problem *p)
{
  uint32_t sum = 0;
  for (long i = 0; i < 512; i++)
    sum += (uint32_t)p->index[i];
  return sum != (uint32_t)(uint64_t)p->result;
}

const struct kernel float_bins = {"float_bins", make_float_bins, float_bins_run, float_bins_wrong};

/* -- a step of merge sort, without branches on the numbers -------------------------------------------------------------------- */

static int upwards(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void make_merge_ints(struct problem *p)
{
  p->index = draws(p->n, 1 << 30, 36), p->b = (double *)draws(p->n, 1, 37);
  qsort(p->index, (size_t)p->n / 2, 4, upwards);
  qsort(p->index + p->n / 2, (size_t)p->n / 2, 4, upwards);
  p->index[p->n / 2 - 1] = p->index[p->n - 1] = 1 << 30; /* both end together */
}

static void merge_ints_run(struct problem *p)
{
  const int32_t *restrict x = p->index, *restrict y = p->index + p->n / 2;
  int32_t *restrict sorted = (int32_t *)p->b;
  long i = 0, j = 0;
  for (long k = 0; k < p->n - 1; k++) {
    int32_t one = x[i], other = y[j];
    int less = one <= other;
    sorted[k] = less ? one : other;
    i += less, j += 1 - less;
  }
}

static double merge_ints_wrong(struct problem *p)
{
  const int32_t *sorted = (const int32_t *)p->b;
  long wrong = 0;
  for (long k = 1; k < p->n - 1; k++)
    wrong += sorted[k] < sorted[k - 1];
  return (double)wrong;
}

const struct kernel merge_ints = {"merge_ints", make_merge_ints, merge_ints_run, merge_ints_wrong};

/* -- a stage of a Fourier transform of complex numbers, side by side, with a factor for each pair ------------------------------ */

static void make_complex_stage(struct problem *p)
{
  p->a = numbers(2 * p->n, 38), p->b = numbers(p->n, 39);
  for (long k = 0; k < p->n / 2; k++)
    p->b[2 * k] = cos((double)k), p->b[2 * k + 1] = sin((double)k);
}

static void complex_stage_run(struct problem *p)
{
  long half = p->n;
  double *restrict x = p->a;
  const double *restrict factor = p->b;
  for (long i = 0; i < half; i += 2) {
    double re = x[half + i], im = x[half + i + 1], c = factor[i], s = factor[i + 1];
    double tr = re * c - im * s, ti = re * s + im * c;
    double ar = x[i], ai = x[i + 1];
    x[i] = 0.707 * (ar + tr), x[i + 1] = 0.707 * (ai + ti);
    x[half + i] = 0.707 * (ar - tr), x[half + i + 1] = 0.707 * (ai - ti);
  }
}

static double complex_stage_wrong(struct problem *p)
{
  for (long i = 0; i < 2 * p->n; i++)
    if (!(fabs(p->a[i]) < 100))
      return 1;
  return 0;
}

const struct kernel complex_stage = {"complex_stage", make_complex_stage, complex_stage_run, complex_stage_wrong};

/* -- a text in upper case ------------------------------------------------------------------------------------------------- */

static void make_upper_case(struct problem *p)
{
  p->a = (double *)bytes(p->n, 128, 40), p->b = (double *)bytes(p->n, 1, 41);
}

static void upper_case_run(struct problem *p)
{
  const uint8_t *restrict text = (const uint8_t *)p->a;
  uint8_t *restrict upper = (uint8_t *)p->b;
  for (long i = 0; i < p->n; i++)
    upper[i] = text[i] >= 'a' && text[i] <= 'z' ? (uint8_t)(text[i] - 32) : text[i];
}

static double upper_case_wrong(struct problem *p)
{
  const uint8_t *text = (const uint8_t *)p->a, *upper = (const uint8_t *)p->b;
  long wrong = 0;
  for (long i = 0; i < p->n; i++)
    wrong += (upper[i] != text[i]) != (text[i] > 96 && text[i] < 123);
  return (double)wrong;
}

const struct kernel upper_case = {"upper_case", make_upper_case, upper_case_run, upper_case_wrong};

/* -- bytes times a number, added to whole numbers ---------------------------------------------------------------------------- */

static void make_int8_axpy(struct problem *p)
{
  p->a = (double *)bytes(p->n, 100, 42), p->index = draws(p->n, 100, 43);
}

static void int8_axpy_run(struct problem *p)
{
  const int8_t *restrict x = (const int8_t *)p->a;
  int32_t *restrict y = p->index;
  for (long i = 0; i < p->n; i++)
    y[i] += 3 * x[i];
  p->result += 1;
}

static double int8_axpy_wrong(struct problem *p)
{
  int32_t *first = draws(p->n, 100, 43);
  long i = p->n / 3;
  return (uint32_t)p->index[i] != (uint32_t)first[i] + (uint32_t)p->result * 3 * (uint32_t)((int8_t *)p->a)[i];
}

const struct kernel int8_axpy = {"int8_axpy", make_int8_axpy, int8_axpy_run, int8_axpy_wrong};

/* -- a sum of Chebyshev's polynomials up to degree 8, by Clenshaw's rule -------------------------------------------------------- */

static void make_clenshaw(struct problem *p)
{
  p->a = numbers(p->n, 44), p->b = numbers(p->n, 45);
}

static inline double chebyshev(double x)
{
  static const double c[9] = {0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8, 0.9};
  double b1 = 0, b2 = 0;
  for (int k = 8; k > 0; k--) {
    double b0 = 2 * x * b1 - b2 + c[k];
    b2 = b1, b1 = b0;
  }
  return x * b1 - b2 + c[0];
}

static void clenshaw_run(struct problem *p)
{
  const double *restrict x = p->a;
  double *restrict y = p->b;
  for (long i = 0; i < p->n; i++)
    y[i] = chebyshev(x[i]);
}

static double clenshaw_wrong(struct problem *p)
{
  long i = p->n / 2;
  return fabs(p->b[i] - chebyshev(p->a[i])) > 1e-9;
}

const struct kernel clenshaw = {"clenshaw", make_clenshaw, clenshaw_run, clenshaw_wrong};

/* -- particles in structures of eight doubles go on ------------------------------------------------------------------------------ */

struct body { double x, y, z, vx, vy, vz, mass, charge; };

static void make_drift(struct problem *p)
{
  p->a = numbers(8 * p->n, 46);
}

static void drift_run(struct problem *p)
{
  struct body *all = (struct body *)p->a;
  for (long i = 0; i < p->n; i++) {
    all[i].x += 0.001 * all[i].vx;
    all[i].y += 0.001 * all[i].vy;
    all[i].z += 0.001 * all[i].vz;
  }
  p->result += 0.001;
}

static double drift_wrong(struct problem *p)
{
  double *first = numbers(8 * p->n, 46);
  long i = 8 * (p->n / 2);
  return apart(p->a[i], first[i] + p->result * p->a[i + 3]) > 1e-9;
}

const struct kernel drift = {"drift", make_drift, drift_run, drift_wrong};

/* -- Laplace's operator by nine points ------------------------------------------------------------------------------------------- */

static void make_laplace9(struct problem *p)
{
  long row = p->n + 2;
  p->a = numbers(row * row, 47), p->b = numbers(row * row, 48);
}

static void laplace9_run(struct problem *p)
{
  long n = p->n, row = n + 2;
  const double *restrict u = p->a;
  double *restrict v = p->b;
  for (long i = 1; i <= n; i++)
    for (long j = 1; j <= n; j++) {
      const double *at = u + i * row + j;
      double sides = at[-1] + at[1] + at[-row] + at[row];
      double corners = at[-row - 1] + at[-row + 1] + at[row - 1] + at[row + 1];
      v[i * row + j] = (4 * sides + corners - 20 * at[0]) / 6;
    }
}

static double laplace9_wrong(struct problem *p)
{
  long row = p->n + 2, i = p->n / 2 * row + p->n / 3 + 1;
  double sum = 0;
  for (int k = -1; k <= 1; k++)
    for (int l = -1; l <= 1; l++)
      sum += p->a[i + k * row + l] * (k && l ? 1 : k || l ? 4 : -20);
  return fabs(6 * p->b[i] - sum) > 1e-9;
}

const struct kernel laplace9 = {"laplace9", make_laplace9, laplace9_run, laplace9_wrong};

/* -- a triangular solve with four numbers left of the diagonal in each row, up to 256 rows away ---------------------------------- */

static void make_solve_near(struct problem *p)
{
  p->a = numbers(4 * p->n, 49), p->b = numbers(p->n, 50), p->c = numbers(p->n, 51);
  p->index = draws(4 * p->n, 256, 52);
  for (long i = 0; i < p->n; i++)
    for (long k = 0; k < 4; k++)
      p->index[4 * i + k] = (int32_t)(i - 1 - p->index[4 * i + k] < 0 ? 0 : i - 1 - p->index[4 * i + k]);
}

static void solve_near_run(struct problem *p)
{
  const double *restrict value = p->a, *restrict b = p->b;
  const int32_t *restrict column = p->index;
  double *restrict x = p->c;
  x[0] = b[0];
  for (long i = 1; i < p->n; i++) {
    double sum = b[i];
    for (long k = 4 * i; k < 4 * i + 4; k++)
      sum -= 0.2 * value[k] * x[column[k]];
    x[i] = sum;
  }
}

static double solve_near_wrong(struct problem *p)
{
  long i = p->n - 1;
  double sum = p->b[i];
  for (long k = 4 * i; k < 4 * i + 4; k++)
    sum -= 0.2 * p->a[k] * p->c[p->index[k]];
  return fabs(p->c[i] - sum) > 1e-9;
}

const struct kernel solve_near = {"solve_near", make_solve_near, solve_near_run, solve_near_wrong};

/* -- a list of chunks of 30 numbers: n chunks of 256 B in any order --------------------------------------------------------------- */

struct chunk { struct chunk *next; long count; double numbers[30]; };

static void make_chunks(struct problem *p)
{
  int32_t *order = shuffled(p->n, 53);
  struct chunk *all = array((size_t)p->n * sizeof *all, PAGES_OF_SYSTEM);
  for (long i = 0; i < p->n; i++) {
    struct chunk *here = &all[order[i]];
    here->next = i + 1 < p->n ? &all[order[i + 1]] : NULL, here->count = 30;
    for (long k = 0; k < 30; k++)
      here->numbers[k] = 1;
  }
  p->a = (double *)&all[order[0]];
  release(order);
}

static void chunks_run(struct problem *p)
{
  double sums[2] = {0, 0};
  for (const struct chunk *at = (const struct chunk *)p->a; at; at = at->next)
    for (long k = 0; k < at->count; k += 2)
      sums[0] += at->numbers[k], sums[1] += at->numbers[k + 1];
  p->result = sums[0] + sums[1];
}

static double chunks_wrong(struct problem *p)
{
  return p->result != 30.0 * (double)p->n;
}

const struct kernel chunks = {"chunks", make_chunks, chunks_run, chunks_wrong};

/* -- a matrix of n rows of 256 floats plus the product of a column and a row ------------------------------------------------------- */

static void make_rank_one(struct problem *p)
{
  p->a = (double *)floats(256 * p->n, 54), p->b = (double *)floats(p->n, 55), p->c = (double *)floats(256, 56);
}

static void rank_one_run(struct problem *p)
{
  float *restrict matrix = (float *)p->a;
  const float *restrict x = (const float *)p->b, *restrict y = (const float *)p->c;
  for (long i = 0; i < p->n; i++)
    for (long j = 0; j < 256; j++)
      matrix[256 * i + j] += 1e-9f * x[i] * y[j];
}

static double rank_one_wrong(struct problem *p)
{
  for (long i = 0; i < 256 * p->n; i++)
    if (!(fabsf(((float *)p->a)[i]) < 100))
      return 1;
  return 0;
}

const struct kernel rank_one = {"rank_one", make_rank_one, rank_one_run, rank_one_wrong};
