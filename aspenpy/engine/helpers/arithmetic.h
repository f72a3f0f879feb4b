/* What a formula needs besides <math.h>. A value that is not finite is none, and no function makes a finite one of it:
   so whatever fails shows in the result. A condition is 1, 0, or -1 where it could not be decided. */

static inline double aspen_exp(double x)
{
    return isfinite(x) ? exp(x) : NAN;
}

static inline double aspen_max(double a, double b)
{
    return isfinite(a) && isfinite(b) ? (a > b ? a : b) : NAN;
}

static inline double aspen_min(double a, double b)
{
    return isfinite(a) && isfinite(b) ? (a < b ? a : b) : NAN;
}

static inline double aspen_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double aspen_smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double aspen_divide(double a, double b)
{
    return isfinite(b) ? a / b : NAN;
}

static inline double aspen_power(double base, double exponent)
{
    return isfinite(base) && isfinite(exponent) ? pow(base, exponent) : NAN;
}

static inline double aspen_root(double x, double degree)
{
    const double root = degree == 3.0 ? cbrt(x) : pow(x, 1.0 / degree), near = rint(root);
    return x < 0.0 ? NAN : pow(near, degree) == x ? near : root;
}

static inline double aspen_mod(double a, double b)
{
    const double rest = isfinite(b) ? fmod(a, b) : NAN;
    return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

static inline double aspen_passes(double count, double most)
{
    return count <= most ? ceil(count) : NAN;
}

static inline double aspen_element(const double *array, int length, double index)
{
    const double place = trunc(index);
    const int inside = (place >= 0.0) & (place < length);
    return inside ? array[inside ? (int)place : 0] : NAN;
}

static inline double aspen_cell(const double *table, int rows, int columns, double row, double column)
{
    const double down = trunc(row), across = trunc(column);
    const int inside = (down >= 0.0) & (down < rows) & (across >= 0.0) & (across < columns);
    return inside ? table[inside ? (int)down * columns + (int)across : 0] : NAN;
}

static inline double aspen_complete(const double *array, int length, double value)
{
    double sum = 0.0;
    for (int i = 0; i < length; i++)
        sum += array[i] - array[i];
    return value + sum;
}

static inline double aspen_lookup(const double *values, const double *sizes, int count, double x)
{
    double found = values[0] + 0.0 * x;
    for (int i = 1; i < count; i++) {
        const double run = sizes[i] - sizes[i - 1], rise = values[i] - values[i - 1];
        const double line = values[i - 1] + rise * (x - sizes[i - 1]) / run;
        if (!(run > 0.0))
            return NAN;
        found = i == 1 || x >= sizes[i - 1] ? line : found;
    }
    return found;
}

static inline int aspen_equal(double a, double b)
{
    return isfinite(a) && isfinite(b) ? a == b : -1;
}

static inline int aspen_unequal(double a, double b)
{
    return isfinite(a) && isfinite(b) ? a != b : -1;
}

static inline int aspen_less(double a, double b)
{
    return isfinite(a) && isfinite(b) ? a < b : -1;
}

static inline int aspen_greater(double a, double b)
{
    return isfinite(a) && isfinite(b) ? a > b : -1;
}

static inline int aspen_at_most(double a, double b)
{
    return isfinite(a) && isfinite(b) ? a <= b : -1;
}

static inline int aspen_at_least(double a, double b)
{
    return isfinite(a) && isfinite(b) ? a >= b : -1;
}

static inline int aspen_and(int a, int b)
{
    return a < 0 ? -1 : a ? b : 0;
}

static inline int aspen_or(int a, int b)
{
    return a < 0 ? -1 : a ? 1 : b;
}

static inline double aspen_if(int condition, double then, double otherwise)
{
    return condition < 0 ? NAN : condition ? then : otherwise;
}

static inline int aspen_either(int condition, int then, int otherwise)
{
    return condition < 0 ? -1 : condition ? then : otherwise;
}

static inline double aspen_held(double value, int holds)
{
    return holds ? value : NAN;
}

static inline double aspen_amount(double value)
{
    return value >= 0.0 && isfinite(value) ? value : NAN;
}
