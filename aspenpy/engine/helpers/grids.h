/* Near-equal factors in C: NAN where there are none. */

typedef struct {
    double number, many, factors[6];
} aspen_grid_row;

/* Fills in as many factors from a place on, the largest first; 0 where none are as large as the rest needs. */
static int aspen_grid_factor(double number, int place, int many, double largest, const double *divisors, int count,
                             double *factors)
{
    if (many == 1) {
        factors[place] = number;
        return number <= largest;
    }
    for (int i = 0; i < count && divisors[i] <= largest; i++) {
        double power = 1.0;
        for (int times = 0; times < many; times++)
            power *= divisors[i];
        if (fmod(number, divisors[i]) != 0.0 || power < number)
            continue;
        factors[place] = divisors[i];
        if (aspen_grid_factor(number / divisors[i], place + 1, many - 1, divisors[i], divisors, count, factors))
            return 1;
    }
    return 0;
}

/* Counts of ranks come again at the next point, and for the next axis: each is factored once, as long as no other one
   takes its row of the thread's table. */
static inline double aspen_grid(double number, double many, double axis)
{
    static _Thread_local aspen_grid_row grid_rows[1024];
    double divisors[6720];
    int small = 0, count;
    aspen_grid_row *row;
    if (!(number >= 1.0) || !(number <= 1e12) || number != floor(number) || !(many >= 1.0) || !(many <= 6.0)
        || many != floor(many) || !(axis >= 0.0) || !(axis < many) || axis != floor(axis))
        return NAN;
    row = &grid_rows[((long long)number * 7 + (int)many) % 1024];
    if (row->number == number && row->many == many)
        return row->factors[(int)axis];
    for (double divisor = 1.0; divisor * divisor <= number; divisor += 1.0)
        if (fmod(number, divisor) == 0.0)
            divisors[small++] = divisor;
    count = small;
    for (int i = small - 1; i >= 0; i--)
        if (divisors[i] * divisors[i] != number)
            divisors[count++] = number / divisors[i];
    if (!aspen_grid_factor(number, 0, (int)many, number, divisors, count, row->factors)) {
        row->number = 0.0;
        return NAN;
    }
    row->number = number;
    row->many = many;
    return row->factors[(int)axis];
}
