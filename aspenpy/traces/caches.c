/* Set-associative caches, and the blocks of loops that touch them, played one reference after the other.

A miss fills every level on its way back, but for those that hold only what the level before gave up (`adds`); what is
evicted stays elsewhere. A store makes the first level that takes it dirty; a dirty line that leaves goes to the next
level whole. Numbers of lines are stored plus one, so that an empty place is 0. */

#include <stdint.h>
#include <stdlib.h>

enum { LRU, PLRU, RANDOM };
enum { ALLOCATE, NO_ALLOCATE, STREAMING };

typedef struct {
    int64_t sets, ways, line, policy, adds, writes, together, reach;
    uint64_t *held;   /* of each set, with LRU the latest first */
    int16_t *storer;  /* whose store made it dirty, plus one; 0 for a clean line */
    uint64_t *tree;   /* of each set, the pointers of PLRU as bits */
} Level;

typedef struct {
    int64_t accesses, misses, fetched, written_back, victims;
} Counts;

typedef struct {
    Level *levels;
    int64_t depth;
    Counts *counts;  /* of each owner at each level */
    uint64_t draws;
} Caches;

static uint64_t draw(uint64_t *state)  /* xorshift64*: Vigna, ACM TOMS 42 (2016) */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1DULL;
}

static Counts *count(Caches *c, int64_t owner, int64_t number) { return c->counts + owner * c->depth + number; }

/* ---- sets ---- */

static int64_t begin(const Level *l, uint64_t line) { return (int64_t)(line % (uint64_t)l->sets) * l->ways; }

static void point_away(Level *l, int64_t set, int64_t place)
{
    for (int64_t node = l->ways + place; node > 1; node /= 2) {
        uint64_t bit = 1ULL << (node / 2);
        l->tree[set] = node % 2 ? l->tree[set] & ~bit : l->tree[set] | bit;
    }
}

static int64_t find(const Level *l, uint64_t line)
{
    int64_t first = begin(l, line);
    for (int64_t place = first; place < first + l->ways; place++)
        if (l->held[place] == line + 1) return place;
    return -1;
}

static int64_t use(Level *l, uint64_t line, int64_t place)  /* notes a reference, and tells where the line is then */
{
    int64_t first = begin(l, line);
    if (l->policy == PLRU) point_away(l, first / l->ways, place - first);
    if (l->policy != LRU) return place;
    uint64_t held = l->held[place];
    int16_t storer = l->storer[place];
    for (; place > first; place--) {
        l->held[place] = l->held[place - 1];
        l->storer[place] = l->storer[place - 1];
    }
    l->held[first] = held;
    l->storer[first] = storer;
    return first;
}

static int64_t choose(Caches *c, Level *l, uint64_t line)  /* the place of who has to go */
{
    int64_t first = begin(l, line), last = first + l->ways - 1;
    if (l->policy == LRU) return last;
    for (int64_t place = first; place <= last; place++)
        if (!l->held[place]) return place;
    if (l->policy == RANDOM) return first + (int64_t)(draw(&c->draws) % (uint64_t)l->ways);
    int64_t node = 1;
    while (node < l->ways) node = 2 * node + (int64_t)(l->tree[first / l->ways] >> node & 1);
    return first + node - l->ways;
}

/* ---- levels ---- */

static void give_back(Caches *c, int64_t number, uint64_t line, int64_t bytes, int16_t storer, int64_t owner);

static int64_t insert(Caches *c, int64_t number, uint64_t line, int16_t storer, int64_t owner)
{
    Level *l = c->levels + number;
    int64_t place = choose(c, l, line);
    uint64_t victim = l->held[place];
    int16_t dirty = l->storer[place];
    l->held[place] = line + 1;
    l->storer[place] = storer;
    place = use(l, line, place);
    if (victim) give_back(c, number, victim - 1, l->line, dirty, owner);
    return place;
}

/* A line leaves a level. The next one takes it if it is dirty, or if it holds what others give up. */
static void give_back(Caches *c, int64_t number, uint64_t line, int64_t bytes, int16_t storer, int64_t owner)
{
    int64_t next = number + 1, takes = next < c->depth && c->levels[next].adds;
    if (storer) count(c, storer - 1, number)->written_back++;
    else if (takes) count(c, owner, number)->victims++;
    if (next == c->depth || (!storer && !takes)) return;
    Level *below = c->levels + next;
    uint64_t first = line * (uint64_t)bytes / (uint64_t)below->line;
    uint64_t last = (line * (uint64_t)bytes + (uint64_t)bytes - 1) / (uint64_t)below->line;
    for (uint64_t each = first; each <= last; each++) {
        int64_t place = find(below, each);
        if (place < 0) insert(c, next, each, storer, owner);
        else {
            place = use(below, each, place);
            if (storer) below->storer[place] = storer;
        }
    }
}

/* Beyond the lines that are used anyway the prefetcher has learnt the stride for 1 - stride/reach of the misses: the
   same in each level, and scattered by Fibonacci hashing (Knuth, volume 3, section 6.4). */
static int brings_neighbours(const Level *l, uint64_t line, int64_t stride)
{
    uint64_t together = (uint64_t)l->together;
    if (stride >= l->reach || together == 1) return 0;
    uint64_t scattered = line / together * 0x9E3779B97F4A7C15ULL >> 32;
    return stride <= l->line * l->together || scattered * (uint64_t)l->reach >> 32 >= (uint64_t)stride;
}

/* Makes bytes present in a level; `counted` where the program asked, not a prefetcher. Whether they were dirty in a
   level that gives them away. */
static int16_t fetch(Caches *c, int64_t number, uint64_t address, int64_t bytes, int64_t stride, int64_t owner, int counted)
{
    if (number == c->depth) return 0;
    Level *l = c->levels + number;
    int16_t storer = 0;
    uint64_t last = (address + (uint64_t)bytes - 1) / (uint64_t)l->line;
    for (uint64_t line = address / (uint64_t)l->line; line <= last; line++) {
        count(c, owner, number)->accesses += counted;
        int64_t place = find(l, line);
        if (place >= 0 && l->adds && number) {  /* it moves up, and leaves */
            storer = l->storer[place];
            l->held[place] = 0, l->storer[place] = 0;
            continue;
        }
        if (place >= 0) {
            use(l, line, place);
            continue;
        }
        count(c, owner, number)->misses += counted;
        /* What takes only victims keeps no neighbour: the level before asks for it. */
        int brings = !(l->adds && number) && brings_neighbours(l, line, stride);
        uint64_t together = brings ? (uint64_t)l->together : 1, first = line / together * together;
        for (uint64_t each = first; each < first + together; each++) {
            if (each != line && find(l, each) >= 0) continue;
            count(c, owner, number)->fetched++;
            int64_t next = together > 1 ? INT64_MAX : stride;  /* what lies together is asked for here */
            int16_t dirty = fetch(c, number + 1, each * (uint64_t)l->line, l->line, next, owner, counted && each == line);
            if (l->adds && number) storer = dirty ? dirty : storer;
            else insert(c, number, each, dirty, owner);
        }
    }
    return storer;
}

static void store(Caches *c, uint64_t address, int64_t bytes, int64_t stride, int64_t owner)
{
    for (int64_t number = 0; number < c->depth; number++) {
        Level *l = c->levels + number;
        if (l->writes == NO_ALLOCATE) {
            uint64_t line = address / (uint64_t)l->line;
            int64_t place = find(l, line);
            count(c, owner, number)->accesses++;
            if (place >= 0) {
                l->storer[use(l, line, place)] = (int16_t)(owner + 1);
                return;
            }
            count(c, owner, number)->misses++;
            continue;
        }
        uint64_t last = (address + (uint64_t)bytes - 1) / (uint64_t)l->line;
        for (uint64_t line = address / (uint64_t)l->line; line <= last; line++) {
            int64_t place = find(l, line);
            if (place < 0 && l->writes == STREAMING) {
                count(c, owner, number)->accesses++;
                count(c, owner, number)->misses++;
                insert(c, number, line, (int16_t)(owner + 1), owner);
                continue;
            }
            fetch(c, number, line * (uint64_t)l->line, 1, stride, owner, 1);
            l->storer[use(l, line, find(l, line))] = (int16_t)(owner + 1);
        }
        return;
    }
    count(c, owner, c->depth - 1)->written_back++;
}

/* Dirty lines go to memory, each once at every level. */
void flush_caches(Caches *c)
{
    for (int64_t number = 0; number < c->depth; number++) {
        Level *l = c->levels + number;
        for (int64_t place = 0; place < l->sets * l->ways; place++) {
            int16_t storer = l->storer[place];
            if (!storer) continue;
            l->storer[place] = 0;
            give_back(c, number, l->held[place] - 1, l->line, storer, storer - 1);
        }
    }
}

/* ---- blocks ---- */

enum { MOST_LOOPS = 40 };
enum { IN_STEP, PACED, DRAWN };

typedef struct {
    int64_t kind, stores, bypasses, owner, base, word, stride;
    int64_t level;              /* innermost loops that it stands outside of */
    int64_t steps[MOST_LOOPS];  /* bytes that each loop goes on by */
    int64_t trips[MOST_LOOPS];  /* of its own loops; in step, 1 where it stands outside of one */
    int64_t loops;
    const int64_t *offsets;     /* bytes from where it is to each point it touches */
    int64_t points;
    int64_t count;              /* references in all, of one that is paced or drawn */
    int64_t places;             /* words of the table that it draws from */
    uint64_t draws;
    int64_t done;
    int64_t counters[MOST_LOOPS];
    uint64_t last;              /* line of a store past the caches, plus one */
} Access;

typedef struct {
    int64_t loops;
    const int64_t *low, *high;  /* of each loop a constant, then a factor for the counter of each loop */
    Access *accesses;
    int64_t number;
    int64_t passes;             /* of all loops together, counted before they are made */
} Block;

static void touch(Caches *c, Access *a, int64_t at)
{
    for (int64_t point = 0; point < a->points; point++) {
        uint64_t address = (uint64_t)(a->base + at + a->offsets[point]);
        if (a->bypasses) {
            uint64_t line = address / (uint64_t)c->levels[c->depth - 1].line + 1;
            count(c, a->owner, 0)->accesses++;
            if (line != a->last) {
                count(c, a->owner, 0)->misses++;
                count(c, a->owner, c->depth - 1)->written_back++;
            }
            a->last = line;
        } else if (a->stores) store(c, address, a->word, a->stride, a->owner);
        else fetch(c, 0, address, a->word, a->stride, a->owner, 1);
    }
}

static void go_on(Caches *c, Access *a)  /* one reference of an access with a pace of its own */
{
    if (a->kind == DRAWN) {
        touch(c, a, (int64_t)(draw(&a->draws) % (uint64_t)a->places) * a->word);
        return;
    }
    int64_t at = 0;
    for (int64_t loop = 0; loop < a->loops; loop++) at += a->counters[loop] * a->steps[loop];
    touch(c, a, at);
    for (int64_t loop = 0; loop < a->loops && ++a->counters[loop] >= a->trips[loop]; loop++) a->counters[loop] = 0;
}

static int64_t bound(const Block *b, const int64_t *factors, const int64_t *counters, int64_t loop)
{
    const int64_t *row = factors + loop * (b->loops + 1);
    int64_t value = row[0];
    for (int64_t outer = loop + 1; outer < b->loops; outer++) value += row[outer + 1] * counters[outer];
    return value;
}

/* One access in a pass of the loops from its `level` on; of those further out that it stands outside of, a load is in
   the first pass and a store in the last. */
static void step(Caches *c, const Block *b, Access *a, const int64_t *counters, const int64_t *lows, const int64_t *highs)
{
    int64_t at = 0, here = 1;
    for (int64_t loop = a->level; loop < b->loops; loop++) {
        if (a->trips[loop] != 1) at += a->steps[loop] * counters[loop];
        else here &= counters[loop] == (a->stores ? highs[loop] : lows[loop]);
    }
    if (here) touch(c, a, at);
}

static void keep_pace(Caches *c, const Block *b, Access *a, int64_t number)
{
    /* Loads come at the begin of their share of the passes, stores at its end. */
    double share = (double)(number + 1) / (double)b->passes * (double)a->count;
    int64_t until = a->stores ? (int64_t)share : (int64_t)share + ((double)(int64_t)share < share);
    if (number + 1 == b->passes) until = a->count;
    for (; a->done < until; a->done++) go_on(c, a);
}

static void outside(Caches *c, Block *b, int64_t level, int stores, const int64_t *counters, const int64_t *lows, const int64_t *highs)
{
    for (int64_t which = 0; which < b->number; which++) {
        Access *a = b->accesses + which;
        if (a->kind == IN_STEP && a->level == level && a->stores == stores) step(c, b, a, counters, lows, highs);
    }
}

static int64_t count_passes(const Block *b, int64_t loop, int64_t *counters)
{
    int64_t low = bound(b, b->low, counters, loop), high = bound(b, b->high, counters, loop), passes = 0;
    if (!loop) return high < low ? 0 : high - low + 1;
    for (counters[loop] = low; counters[loop] <= high; counters[loop]++) passes += count_passes(b, loop - 1, counters);
    return passes;
}

static void run(Caches *c, Block *b, int64_t loop, int64_t *counters, int64_t *lows, int64_t *highs, int64_t *number)
{
    lows[loop] = bound(b, b->low, counters, loop);
    highs[loop] = bound(b, b->high, counters, loop);
    for (int64_t counter = lows[loop]; counter <= highs[loop]; counter++) {
        counters[loop] = counter;
        if (loop) {
            outside(c, b, loop, 0, counters, lows, highs);
            run(c, b, loop - 1, counters, lows, highs, number);
            outside(c, b, loop, 1, counters, lows, highs);
            continue;
        }
        for (int64_t which = 0; which < b->number; which++) {
            Access *a = b->accesses + which;
            if (a->kind != IN_STEP) keep_pace(c, b, a, *number);
            else if (!a->level) step(c, b, a, counters, lows, highs);
        }
        ++*number;
    }
}

void play_block(Caches *c, Block *b)
{
    int64_t counters[MOST_LOOPS] = {0}, lows[MOST_LOOPS] = {0}, highs[MOST_LOOPS] = {0}, number = 0;
    b->passes = count_passes(b, b->loops - 1, counters);
    outside(c, b, b->loops, 0, counters, lows, highs);
    run(c, b, b->loops - 1, counters, lows, highs, &number);
    outside(c, b, b->loops, 1, counters, lows, highs);
}
