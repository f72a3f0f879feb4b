/* Near-equal factors in C: NAN where there are none. */

static double aspen_grid_factor(double number, double many, double largest, double axis, const double *divisors, int count)
{
    if (many == 1.0)
        return number <= largest ? number : NAN;
    for (int i = 0; i < count && divisors[i] <= largest; i++) {
        const double factor = divisors[i];
        double power = 1.0, last;
        for (double times = 0.0; times < many; times += 1.0)
            power *= factor;
        if (fmod(number, factor) != 0.0 || power < number)
            continue;
        last = aspen_grid_factor(number / factor, many - 1.0, factor, fmax(0.0, axis - 1.0), divisors, count);
        if (last == last)
            return axis == 0.0 ? factor : last;
    }
    return NAN;
}

static inline double aspen_grid(double number, double many, double axis)
{
    double divisors[6720];
    int small = 0, count;
    if (!(number >= 1.0) || !(number <= 1e12) || number != floor(number) || !(many >= 1.0) || !(many <= 6.0)
        || many != floor(many) || !(axis >= 0.0) || !(axis < many) || axis != floor(axis))
        return NAN;
    for (double divisor = 1.0; divisor * divisor <= number; divisor += 1.0)
        if (fmod(number, divisor) == 0.0)
            divisors[small++] = divisor;
    count = small;
    for (int i = small - 1; i >= 0; i--)
        if (divisors[i] * divisors[i] != number)
            divisors[count++] = number / divisors[i];
    return aspen_grid_factor(number, many, number, axis, divisors, count);
}
