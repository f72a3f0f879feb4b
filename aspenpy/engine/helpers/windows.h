/* The lines between two touches of a line, counted in its set: NAN where the arguments make no sense. */

enum { aspen_most_loops = 40 };

static long long aspen_floor_div(long long a, long long b)
{
    const long long quotient = a / b; /* b is positive; in JavaScript a remainder takes as long as all else here */
    return quotient - (quotient * b > a);
}

typedef struct aspen_runs {
    long long length, stride[aspen_most_loops], trips[aspen_most_loops];
    int loops;
} aspen_runs;

static void aspen_add_loop(aspen_runs *runs, double stride, double trips)
{
    const long long by = (long long)fabs(stride), times = (long long)fmax(1.0, ceil(trips));
    int place = runs->loops++;
    for (; place > 0 && (runs->stride[place - 1] > by || (runs->stride[place - 1] == by && runs->trips[place - 1] > times));
         place--) {
        runs->stride[place] = runs->stride[place - 1];
        runs->trips[place] = runs->trips[place - 1];
    }
    runs->stride[place] = by;
    runs->trips[place] = times;
}

static void aspen_join(aspen_runs *runs, long long line)
{
    int apart = 0;
    for (int i = 0; i < runs->loops; i++) {
        const long long stride = runs->stride[i], trips = runs->trips[i];
        if (stride < runs->length + line)
            runs->length += stride * (trips - 1);
        else if (apart && stride % runs->stride[apart - 1] == 0
            && stride / runs->stride[apart - 1] <= runs->trips[apart - 1])
            runs->trips[apart - 1] += stride / runs->stride[apart - 1] * (trips - 1);
        else if (trips > 1) {
            runs->stride[apart] = stride;
            runs->trips[apart++] = trips;
        }
    }
    runs->loops = apart;
}

static void aspen_read_runs(aspen_runs *runs, const double *walk, int outside, const double *trips, int all, long long line)
{
    const int inner = (int)walk[1];
    runs->length = (long long)fmax(1.0, ceil(walk[0]));
    runs->loops = 0;
    for (int i = 0; i < inner + (all > 0); i++)
        aspen_add_loop(runs, walk[2 + 2 * i], walk[3 + 2 * i]);
    for (int i = 0; i < outside && all > 1; i++)
        aspen_add_loop(runs, walk[5 + 2 * inner + i], trips[i]);
    aspen_join(runs, line);
}

/* floor((step*i + begin)/by), summed over 0 <= i < count, by Euclid's algorithm on the slope. */
static long long aspen_sum_floors(long long count, long long by, long long step, long long begin)
{
    long long total = 0;
    while (count > 0) {
        const long long whole = aspen_floor_div(step, by), first = aspen_floor_div(begin, by);
        total += count * (count - 1) / 2 * whole + count * first;
        step -= whole * by;
        begin -= first * by;
        const long long top = step * count + begin, slope = step;
        count = aspen_floor_div(top, by);
        begin = top - count * by;
        step = by;
        by = slope > 0 ? slope : 1;
    }
    return total;
}

/* Lines in a set of runs that lie a stride apart, the first at `place`. */
static long long aspen_lines_of_runs(long long trips, long long stride, long long length, long long place, const long long *cache)
{
    const long long step = stride / cache[2], last = aspen_floor_div(place, cache[2]) - (trips - 1) * step;
    return aspen_sum_floors(trips, cache[4], step, last - 1 + cache[3])
        - aspen_sum_floors(trips, cache[4], step, last + aspen_floor_div(-length, cache[2]));
}

enum { aspen_few_trips = 16 };

static long long aspen_lines_there(const aspen_runs *runs, int loops, long long length, long long place, const long long *cache)
{
    long long lines = 0;
    if (loops == 0) {
        const long long at = aspen_floor_div(place, cache[2]);
        return aspen_floor_div(at - 1 + cache[3], cache[4]) - aspen_floor_div(at + aspen_floor_div(-length, cache[2]), cache[4]);
    }
    if (loops == 1 && runs->trips[0] > aspen_few_trips)
        return aspen_lines_of_runs(runs->trips[0], runs->stride[0], length, place, cache);
    for (long long trip = 0; trip < runs->trips[loops - 1]; trip++)
        lines += aspen_lines_there(runs, loops - 1, length, place - trip * runs->stride[loops - 1], cache);
    return lines;
}

static long long aspen_lines_of_trips(const double *walk, long long first, long long last, long long place, const long long *cache)
{
    aspen_runs runs;
    const long long stride = (long long)fabs(walk[2 + 2 * (int)walk[1]]);
    long long lines = 0;
    aspen_read_runs(&runs, walk, 0, walk, 0, cache[0]);
    if (last <= first)
        return 0;
    if (stride < runs.length + cache[0])
        return aspen_lines_there(&runs, runs.loops, runs.length + stride * (last - first - 1), place - stride * first, cache);
    if (runs.loops == 0 && last - first > aspen_few_trips)
        return aspen_lines_of_runs(last - first, stride, runs.length, place - stride * first, cache);
    for (long long trip = first; trip < last; trip++)
        lines += aspen_lines_there(&runs, runs.loops, runs.length, place - stride * trip, cache);
    return lines;
}

static long long aspen_lines_of_both(const double *walk, long long place, const long long *cache)
{
    const long long shift = (long long)floor(walk[4 + 2 * (int)walk[1]]);
    aspen_runs runs;
    aspen_read_runs(&runs, walk, 0, walk, 1, cache[0]);
    if (shift >= 0 && shift < runs.length + cache[0])
        return aspen_lines_there(&runs, runs.loops, runs.length + shift, place, cache);
    for (int i = 0; i < runs.loops; i++)
        if (shift > 0 && shift < runs.stride[i] * runs.trips[i] && shift % runs.stride[i] == 0) {
            runs.trips[i] += shift / runs.stride[i];
            return aspen_lines_there(&runs, runs.loops, runs.length, place, cache);
        }
    return aspen_lines_there(&runs, runs.loops, runs.length, place, cache)
        + aspen_lines_there(&runs, runs.loops, runs.length, place - shift, cache);
}

static long long aspen_lines_between(const double *walk, long long place, long long left, long long found, const long long *cache)
{
    const double *around = walk + 2 + 2 * (int)walk[1];
    const long long trips = (long long)fmax(1.0, ceil(around[1])), shift = (long long)floor(around[2]);
    long long lines, most;
    if (around[0] == 0.0 || trips == 1)
        return shift && found > 0 ? aspen_lines_of_both(walk, place, cache) : aspen_lines_of_trips(walk, 0, 1, place, cache);
    lines = aspen_lines_of_trips(walk, left, trips, place, cache)
        + aspen_lines_of_trips(walk, 0, found < trips ? found : trips, place - shift, cache);
    most = aspen_lines_of_both(walk, place, cache);
    return lines < most ? lines : most;
}

static int aspen_walk_end(const double *given, int at, int count, int outside)
{
    if (at + 1 >= count || !(given[at + 1] >= 0.0) || given[at + 1] > aspen_most_loops - outside - 2.0)
        return -1;
    for (int i = 0; i <= (int)given[at + 1]; i++)
        if (at + 2 + 2 * i >= count || given[at + 2 + 2 * i] != floor(given[at + 2 + 2 * i]))
            return -1;
    at += 5 + 2 * (int)given[at + 1];
    for (int i = 0; i <= outside; i++)
        if (at + i >= count || given[at + i] != floor(given[at + i]))
            return -1;
    return given[at + outside] >= 0.0 ? at + outside + 1 : -1;
}

static long long aspen_begin(const double *given, const double *walk)
{
    const int outside = (int)given[3];
    const double *own = given + 5 + outside;
    const double behind = walk[5 + 2 * (int)walk[1] + outside] - own[5 + 2 * (int)own[1] + outside];
    const double way = given[1] * given[2];
    return (long long)(behind - way * floor(behind / way));
}

static long long aspen_in_use(const double *given, int count, const double *at, long long place, long long left, long long found, const long long *cache)
{
    const int outside = (int)given[3];
    long long in_use = 0;
    for (int next = 4 + outside; next < count;) {
        const int walks = (int)given[next++];
        long long lines = 0, most = 0;
        for (int walk = 0; walk < walks; walk++) {
            const double *outer = given + next + 5 + 2 * (int)given[next + 1];
            long long from = place - aspen_begin(given, given + next), bound;
            aspen_runs all;
            aspen_read_runs(&all, given + next, outside, given + 4, 2, cache[0]);
            bound = walks > 1 ? aspen_lines_there(&all, all.loops, all.length, from, cache) : 0;
            for (int i = 0; i < outside; i++)
                from -= (long long)(fabs(outer[i]) * at[i]);
            lines += aspen_lines_between(given + next, from, left, found, cache);
            most = bound > most ? bound : most;
            next = aspen_walk_end(given, next, count, outside);
        }
        in_use += walks > 1 && most < lines ? most : lines;
    }
    return in_use;
}

static double aspen_visit(const double *given, int count, const double *at, const long long *cache, int tells_again)
{
    const int outside = (int)given[3];
    const double *own = given + 5 + outside, *around = own + 2 + 2 * (int)own[1], *outer = around + 3;
    aspen_runs runs;
    const long long stride = (long long)fabs(around[0]), trips = (long long)fmax(1.0, ceil(around[1]));
    const long long shift = (long long)floor(around[2]), step = stride > 1 ? stride : 1, line = cache[0];
    long long begin = 0, length, offset, back, left, found, again;
    int dense, last;
    aspen_read_runs(&runs, own, 0, own, 0, cache[0]);
    dense = stride < runs.length + line;
    last = outside + runs.loops + !dense;
    length = runs.length + (dense ? stride * (trips - 1) : 0);
    for (int i = 0; i < outside; i++)
        begin += (long long)(fabs(outer[i]) * at[i]);
    for (int i = 0; i < runs.loops; i++)
        begin += runs.stride[i] * (long long)at[outside + i];
    begin += dense ? 0 : stride * (long long)at[last - 1];
    offset = (long long)at[last] * line - begin % line;
    back = offset - shift;
    if (offset >= length)
        return -1.0;
    if (dense) {
        left = aspen_floor_div(offset + line - 1, step);
        found = -aspen_floor_div(runs.length - 1 - back, step);
        left = left < 0 ? 0 : left > trips - 1 ? trips - 1 : left;
        found = found < 0 ? 0 : found > trips - 1 ? trips - 1 : found;
        again = back > -line && back < length;
    } else {
        left = (long long)at[last - 1];
        found = left - (shift % stride == 0 ? shift / stride : 0);
        again = found >= 0 && found < trips && (shift % stride == 0 || (back > -line && back < length));
        found = found < 0 ? 0 : found;
    }
    if (tells_again)
        return again ? 1.0 : -1.0;
    return (double)aspen_in_use(given, count, at, begin + offset, left, found, cache);
}

static int aspen_iteration(long long number, const double *counts, int loops, double most, double *at)
{
    static const double primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
    double all = 1.0;
    for (int i = 0; i < loops; i++)
        all *= counts[i];
    if ((double)number >= fmin(all, most))
        return 0;
    for (int i = loops - 1; i >= 0; i--) {
        at[i] = all <= most ? (double)(number % (long long)counts[i])
                             : floor(fmod(sqrt(primes[i % 16]) * (double)(number + 1), 1.0) * counts[i]);
        number /= all <= most ? (long long)counts[i] : 1;
    }
    return 1;
}

static int aspen_window_fits(const double *given, int count, double *parts)
{
    int walks = 0, structures = 0, next = 4;
    for (int i = 0; i < count; i++)
        if (!isfinite(given[i]))
            return 0;
    if (!(given[1] >= 1.0) || !(given[2] >= 1.0) || given[1] != floor(given[1]) || given[2] != floor(given[2])
        || !(given[3] >= 0.0) || given[3] > aspen_most_loops / 2 || given[3] != floor(given[3]) || count < 5 + given[3])
        return 0;
    parts[0] = parts[1] = parts[2] = 0.0;
    parts[3] = given[1];
    for (next += (int)given[3]; next < count; structures++) {
        const int found = (int)given[next++];
        if (found < 1)
            return 0;
        for (int i = 0; i < found; i++, walks++) {
            const int end = aspen_walk_end(given, next, count, (int)given[3]);
            aspen_runs runs, all;
            double lines = 1.0, reach;
            if (end < 0)
                return 0;
            aspen_read_runs(&runs, given + next, 0, given, 1, (long long)given[1]);
            for (int loop = 0; loop < runs.loops; loop++)
                lines *= (double)runs.trips[loop];
            lines *= floor((double)runs.length / given[1]) + 2.0;
            parts[0] += lines * (given[end - 2 - (int)given[3]] != 0.0 ? 2.0 : 1.0);
            parts[1] += runs.loops ? 0.0 : floor(floor((double)runs.length / given[1]) / given[2]);
            aspen_read_runs(&all, given + next, (int)given[3], given + 4, 2, (long long)1e18);
            reach = (double)aspen_begin(given, given + next) + (double)all.length
                + fabs(floor(given[end - 2 - (int)given[3]]));
            parts[2] = fmax(parts[2], reach);
            for (int at = next + 2; at < end; at++)
                if (at >= end - 2 - (int)given[3] || (at - next) % 2 == 0)
                    parts[3] = aspen_gcd(parts[3], floor(given[at]));
            next = end;
        }
    }
    parts[1] = walks == structures ? parts[1] : 0.0;
    parts[4] = floor(2048.0 * 12.0 / fmax(structures, 12.0)); /* lines that stand for all */
    return structures > 0;
}

/* Whether a window has plain runs alone, some of them of no bytes behind the first: those have no line. */
static int aspen_has_empty_runs(const double *given, int count)
{
    int empty = 0;
    if (count < 5 || given[3] != 0.0 || (count - 4) % 7 != 0)
        return 0;
    for (int i = 4; i < count; i += 7) {
        if (given[i] != 1.0 || given[i + 2] != 0.0 || given[i + 3] != 0.0 || given[i + 4] != 1.0 || given[i + 5] != 0.0
            || given[i + 6] != 0.0)
            return 0;
        empty += i > 4 && given[i + 1] <= 0.0;
    }
    return empty;
}

static double aspen_share_of_window(const double *given, int count)
{
    double parts[5], at[2 * aspen_most_loops], counts[2 * aspen_most_loops], kept = 0.0, total = 0.0;
    long long cache[5]; /* bytes of a line, and between lines of a set; what divides both; and both in parts of that */
    aspen_runs runs;
    int loops = 0, dense, any = 0;
    if (count < 5 || !aspen_window_fits(given, count, parts))
        return NAN;
    if (parts[0] <= floor(given[0]))
        return 1.0;
    if (parts[1] > floor(given[0]))
        return 0.0;
    cache[0] = (long long)given[1];
    cache[1] = cache[0] * (long long)fmin(given[2], floor(parts[2] / given[1]) + 2.0);
    cache[2] = (long long)parts[3];
    cache[3] = cache[0] / cache[2];
    cache[4] = cache[1] / cache[2];
    const double *own = given + 5 + (int)given[3], *around = own + 2 + 2 * (int)own[1];
    aspen_read_runs(&runs, own, 0, own, 0, cache[0]);
    dense = fabs(around[0]) < (double)(runs.length + cache[0]);
    for (int i = 0; i < (int)given[3]; i++)
        counts[loops++] = fmax(1.0, ceil(given[4 + i]));
    for (int i = 0; i < runs.loops; i++)
        counts[loops++] = (double)runs.trips[i];
    if (!dense)
        counts[loops++] = fmax(1.0, ceil(around[1]));
    counts[loops++] = floor(((double)runs.length + (dense ? fabs(around[0]) * (fmax(1.0, ceil(around[1])) - 1.0) : 0.0))
                          / given[1]) + 2.0;
    for (long long number = 0; aspen_iteration(number, counts, loops, parts[4], at); number++)
        any |= aspen_visit(given, count, at, cache, 1) > 0.0;
    for (long long number = 0; aspen_iteration(number, counts, loops, parts[4], at); number++) {
        const double in_use = aspen_visit(given, count, at, cache, 0);
        if (in_use < 0.0 || (any && aspen_visit(given, count, at, cache, 1) < 0.0))
            continue;
        total += 1.0;
        kept += in_use <= floor(given[0]);
    }
    return kept / total;
}

static inline double aspen_share_kept(const double *given, int count)
{
    double *kept, share;
    int left = 0;
    if (!aspen_has_empty_runs(given, count))
        return aspen_share_of_window(given, count);
    if (!(kept = calloc((size_t)count, 8)))
        return NAN;
    for (int i = 0; i < count; i++)
        if (i < 11 || given[i - (i - 4) % 7 + 1] > 0.0)
            kept[left++] = given[i];
    share = aspen_share_of_window(kept, left);
    free(kept);
    return share;
}
