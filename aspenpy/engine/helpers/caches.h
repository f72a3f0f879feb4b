/* The laws of caches in C: NAN where they have no value. */

static inline double aspen_gcd(double a, double b)
{
    a = fabs(a);
    b = fabs(b);
    if (!isfinite(a) || !isfinite(b) || a != floor(a) || b != floor(b))
        return NAN;
    while (b != 0.0) {
        const double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return a;
}

static inline double aspen_lru_hits(double distance, double ways, double lines)
{
    const double beyond = distance - ways + 1.0, chance = ways / lines;
    double logarithm, term = 1.0, total = 1.0;
    if (!(distance >= 0.0) || !(ways >= 1.0) || ways != floor(ways) || !(lines >= ways) || ways > 1e6
        || !isfinite(distance) || !isfinite(lines))
        return NAN;
    if (beyond <= 0.0)
        return 1.0;
    if (ways == lines)
        return 0.0;
    logarithm = beyond * log1p(-chance);
    for (double way = 0.0; way < ways - 1.0; way += 1.0) {
        term *= (beyond + way) / (way + 1.0) * chance;
        total += term;
        if (total > 1e250) {
            term /= 1e250;
            total /= 1e250;
            logarithm += 250.0 * 2.302585092994045684;
        }
    }
    return fmin(1.0, exp(logarithm + log(total)));
}

static inline double aspen_with_room(double ways, const double *loads, int count)
{
    double most = 0.0, whole, rest, chance, found;
    if (ways < 0.0)
        return 0.0;
    for (int i = 0; i < count; i += 2)
        most += loads[i + 1] > 0.0 ? floor(loads[i]) + 1.0 : 0.0;
    if (most <= ways)
        return 1.0;
    whole = floor(loads[0]);
    rest = loads[0] - whole;
    chance = fmin(1.0, loads[1]);
    found = chance > 0.0 ? chance * (1.0 - rest) * aspen_with_room(ways - whole, loads + 2, count - 2) : 0.0;
    if (chance > 0.0 && rest > 0.0)
        found += chance * rest * aspen_with_room(ways - whole - 1.0, loads + 2, count - 2);
    return chance < 1.0 ? found + (1.0 - chance) * aspen_with_room(ways, loads + 2, count - 2) : found;
}

static inline double aspen_lines_with_room(const double *given, int count)
{
    double whole, rest;
    if (!isfinite(given[0]))
        return NAN;
    for (int i = 1; i < count; i++)
        if (!(given[i] >= 0.0) || !isfinite(given[i]))
            return NAN;
    whole = floor(given[1]);
    rest = given[1] - whole;
    if (rest == 0.0)
        return aspen_with_room(given[0] - whole, given + 2, count - 2);
    return ((1.0 - rest) * whole * aspen_with_room(given[0] - whole, given + 2, count - 2)
        + rest * (whole + 1.0) * aspen_with_room(given[0] - whole - 1.0, given + 2, count - 2)) / given[1];
}

static inline double aspen_random_misses(const double *given, int count)
{
    const double lines = given[0];
    double misses = 1.0, shares = 0.0;
    for (int i = 1; i < count; i += 2) {
        if (!(given[i] >= 0.0) || !(given[i + 1] >= 0.0) || !isfinite(given[i]))
            return NAN;
        shares += given[i + 1];
    }
    if (!(lines >= 1.0) || !isfinite(lines) || shares > 1.0 + 1e-9 || count % 2 == 0)
        return NAN;
    for (int step = 0; step < 200; step++) {
        const double kept = 1.0 - misses / lines;
        double value = 1.0 - misses, slope = -1.0;
        for (int i = 1; i < count; i += 2) {
            value -= given[i + 1] * pow(kept, given[i]);
            if (given[i] != 0.0 && kept != 0.0)
                slope += given[i + 1] * given[i] / lines * pow(kept, given[i] - 1.0);
        }
        if (slope >= 0.0 || value >= -1e-15)
            break;
        misses = fmax(0.0, misses - value / slope);
    }
    return misses;
}

static void aspen_touch(unsigned char *set, const double *given, int count, double place)
{
    const double line = given[1], sets = given[2];
    if (count > 3) {
        const double stride = fmod(fabs(given[count - 2]), line * sets);
        for (double trip = 0.0; trip < fmax(1.0, ceil(given[count - 1])) && trip < line * sets; trip += 1.0) {
            aspen_touch(set, given, count - 2, place);
            place = fmod(place + stride, line * sets);
        }
        return;
    }
    for (double byte = 0.0; byte < fmin(fmax(1.0, ceil(given[0])), line * sets); byte += 1.0)
        set[(long)(fmod(place + byte, line * sets) / line)] = 1;
}

static inline double aspen_sets_touched(const double *given, int count)
{
    unsigned char *set;
    double touched = 0.0;
    for (int i = 0; i < count; i++)
        if (!isfinite(given[i]) || (i > 0 && (i < 3 || i % 2 == 1) && given[i] != floor(given[i])))
            return NAN;
    if (!(given[1] >= 1.0) || !(given[2] >= 1.0) || given[2] > 1e8 || !(set = calloc((size_t)given[2], 1)))
        return NAN;
    aspen_touch(set, given, count, 0.0);
    for (long i = 0; i < (long)given[2]; i++)
        touched += set[i];
    free(set);
    return touched;
}
