/* What every MPI program that aspenpy writes is made of: C99 on top of MPI 3.

   A statement of the model that sends is a site. `instances` of its block take part in it, dealt out to the processes
   in rounds of one each, with `bytes` apiece. Numbers of the model need not be whole: what rounding leaves is kept at
   the site and added the next time, so that the sums stay within half a pass, instance or byte. Each definition
   stands behind those it uses; those that a program does not use are left out of it. */

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This process, and what it has sent. */
static struct {
    int rank, size;
    unsigned long long messages, bytes;
    unsigned char *outgoing, *incoming; /* as long as the longest message */
    size_t room;
    MPI_Comm group; /* of the first `members` processes */
    int members;
} aspen_process = {.group = MPI_COMM_NULL};

/* A statement of the model: where it stands, and what rounding has left there. */
typedef struct {
    const char *place;
    double rest_of_count, rest_of_bytes;
} aspen_site;

static void aspen_stop(const char *place, const char *reason)
{
    fprintf(stderr, "%s: %s\n", place, reason);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/* Where all processes find the same mistake, one of them says it. */
static void aspen_refuse(const char *place, const char *reason)
{
    if (aspen_process.rank > 0)
        MPI_Barrier(MPI_COMM_WORLD);
    aspen_stop(place, reason);
}

static void aspen_check(int code, const char *place)
{
    char reason[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, reason, &length);
    aspen_stop(place, reason);
}

static double aspen_value(double value, const char *place)
{
    if (isnan(value))
        aspen_refuse(place, "an expression has no value here");
    return value;
}

static int aspen_holds(int condition, const char *place)
{
    if (condition < 0)
        aspen_refuse(place, "the condition cannot be decided: an expression in it has no value");
    return condition;
}

/* The nearest whole number; what is left over is added the next time. */
static long long aspen_whole(double amount, double *rest, const char *place)
{
    if (!(amount >= 0.0 && amount < 9e15))
        aspen_refuse(place, "a count or a number of bytes is negative, too large, or has no value");
    const double whole = floor(*rest + amount + 0.5);
    *rest += amount - whole;
    return (long long)whole;
}

/* How often it is this time: the passes of a loop, the instances of a block. */
static long long aspen_times(aspen_site *site, double count)
{
    return aspen_whole(count, &site->rest_of_count, site->place);
}

/* The case that is the furthest behind its probability. */
static int aspen_choose(double *behind, const double *chances, int count, const char *place)
{
    int chosen = 0;
    for (int i = 0; i < count; i++) {
        behind[i] += aspen_value(chances[i], place);
        if (behind[i] > behind[chosen])
            chosen = i;
    }
    behind[chosen] -= 1.0;
    return chosen;
}

static int aspen_bytes(aspen_site *site, double volume)
{
    const long long bytes = aspen_whole(volume, &site->rest_of_bytes, site->place);
    if (bytes > INT_MAX)
        aspen_refuse(site->place, "a message is longer than the 2147483647 bytes that MPI can count");
    return (int)bytes;
}

/* A small whole number: of neighbours' distance, of axes. */
static int aspen_dimensions(double number, int least, int most, const char *place)
{
    if (!(number >= least && number <= most && number == floor(number)))
        aspen_refuse(place, "the argument of the trait is not whole, or out of range");
    return (int)number;
}

/* How many processes take part in a round. */
static int aspen_members(long long left)
{
    return left < aspen_process.size ? (int)left : aspen_process.size;
}

static MPI_Comm aspen_group(int members, const char *place)
{
    if (members == aspen_process.size)
        return MPI_COMM_WORLD;
    if (members != aspen_process.members) {
        const int color = aspen_process.rank < members ? 0 : MPI_UNDEFINED;
        if (aspen_process.group != MPI_COMM_NULL)
            aspen_check(MPI_Comm_free(&aspen_process.group), place);
        aspen_check(MPI_Comm_split(MPI_COMM_WORLD, color, aspen_process.rank, &aspen_process.group), place);
        aspen_process.members = members;
    }
    return aspen_process.group;
}

static unsigned char *aspen_room(unsigned char *old, size_t bytes, const char *place)
{
    unsigned char *const buffer = realloc(old, bytes);
    if (buffer == NULL)
        aspen_stop(place, "there is no memory for a message");
    memset(buffer, 0, bytes);
    return buffer;
}

static void aspen_reserve(size_t bytes, const char *place)
{
    if (bytes <= aspen_process.room && aspen_process.room > 0)
        return;
    aspen_process.room = bytes > 0 ? bytes : 1;
    aspen_process.outgoing = aspen_room(aspen_process.outgoing, aspen_process.room, place);
    aspen_process.incoming = aspen_room(aspen_process.incoming, aspen_process.room, place);
}

static void aspen_tally(int messages, int bytes)
{
    aspen_process.messages += (unsigned long long)messages;
    aspen_process.bytes += (unsigned long long)bytes;
}

/* Where the part of a volume begins that is the n-th of so many. */
static int aspen_part(int bytes, int n, int count)
{
    return (int)((long long)bytes * n / count);
}

/* Starts to send and to receive the n-th of so many parts. */
static void aspen_exchange(int to, int from, int bytes, int n, int count, MPI_Request *both, const char *place)
{
    const int begin = aspen_part(bytes, n, count), length = aspen_part(bytes, n + 1, count) - begin;
    unsigned char *const in = aspen_process.incoming + begin, *const out = aspen_process.outgoing + begin;
    aspen_check(MPI_Irecv(in, length, MPI_BYTE, from, n, MPI_COMM_WORLD, &both[0]), place);
    aspen_check(MPI_Isend(out, length, MPI_BYTE, to, n, MPI_COMM_WORLD, &both[1]), place);
}

/* Each instance sends one message to the one that is so far behind it in a ring. */
static void aspen_shift(aspen_site *site, double instances, double volume, double distance)
{
    const int bytes = aspen_bytes(site, volume);
    const int steps = aspen_dimensions(distance, -1000000000, 1000000000, site->place);
    for (long long left = aspen_times(site, instances); left > 0; left -= aspen_process.size) {
        const int members = aspen_members(left), forward = (steps % members + members) % members;
        MPI_Request both[2];
        if (aspen_process.rank >= members)
            continue;
        const int to = (int)(((long long)aspen_process.rank + forward) % members);
        const int from = (int)(((long long)aspen_process.rank + members - forward) % members);
        aspen_reserve((size_t)bytes, site->place);
        aspen_exchange(to, from, bytes, 0, 1, both, site->place);
        aspen_check(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), site->place);
        aspen_tally(1, bytes);
    }
}

/* How many ranks there are along each axis of a grid: as asked, else of the shape that MPI finds. */
static void aspen_shape(int members, int axes, const double *asked, int *extents, const char *place)
{
    double product = 1.0;
    for (int axis = 0; axis < axes; axis++)
        product *= asked[axis];
    for (int axis = 0; axis < axes; axis++)
        extents[axis] = product == (double)members || asked[axis] == 1.0 ? (int)asked[axis] : 0;
    aspen_check(MPI_Dims_create(members, axes, extents), place);
}

/* Starts to send a part to both neighbours on an axis, and to receive theirs. */
static void aspen_neighbours(int extent, int stride, int bytes, int n, int count, MPI_Request *four, const char *place)
{
    const int here = aspen_process.rank / stride % extent, origin = aspen_process.rank - here * stride;
    const int after = origin + (here + 1) % extent * stride, before = origin + (here + extent - 1) % extent * stride;
    aspen_exchange(after, before, bytes, n, count, four, place);
    aspen_exchange(before, after, bytes, n + 1, count, four + 2, place);
    aspen_tally(2, aspen_part(bytes, n + 2, count) - aspen_part(bytes, n, count));
}

/* Each instance sends a part of its volume to both neighbours on each axis of a periodic grid of x * y * z, or of the
   shape that MPI finds. One instance has no neighbours, nor has an axis of one. Where the instances take turns, a
   process has those of the others to send to, if only to itself. */
static void aspen_halo(aspen_site *site, double instances, double volume, double dimensions, double x, double y,
                       double z)
{
    const double asked[8] = {x, y, z};
    const int axes = aspen_dimensions(dimensions, 1, 8, site->place);
    const long long all = aspen_times(site, instances);
    int beside = 0;
    for (int axis = 0; axis < axes; axis++)
        beside += instances > 1.0 && asked[axis] != 1.0;
    if (x * y * (axes > 2 ? z : 1.0) > 0.0 && fabs(x * y * (axes > 2 ? z : 1.0) - instances) > 1e-9 * instances)
        aspen_refuse(site->place, "the product of a halo's grid must be the number of ranks of its block");
    const int bytes = aspen_bytes(site, volume * beside / axes);
    for (long long left = all; left > 0; left -= aspen_process.size) {
        const int members = aspen_members(left);
        int extents[8], stride = members, sent = 0;
        MPI_Request requests[32];
        if (aspen_process.rank >= members || beside == 0)
            continue;
        aspen_reserve((size_t)bytes, site->place);
        aspen_shape(members, axes, asked, extents, site->place);
        for (int axis = 0, n = 0; axis < axes; axis++) {
            stride /= extents[axis];
            if (asked[axis] == 1.0)
                continue;
            if (extents[axis] > 1 || members < all)
                aspen_neighbours(extents[axis], stride, bytes, n, 2 * beside, &requests[4 * sent++], site->place);
            n += 2;
        }
        aspen_check(MPI_Waitall(4 * sent, requests, MPI_STATUSES_IGNORE), site->place);
    }
}

/* An instance of a grid: its number, and the ranks along an axis, so many numbers apart. */
typedef struct {
    long long number, stride;
    int extent, open;
} aspen_place;

/* Whether there is one beside it, a step further along the axis. */
static int aspen_beside(aspen_place here, int step)
{
    const long long next = here.number / here.stride % here.extent + step;
    return here.extent > 1 && (!here.open || (next >= 0 && next < here.extent));
}

/* Message n, from its beginning in the volume to its end: to a process or nobody, and from one or nobody. Returns how
   many requests there are. */
static int aspen_face(int to, int from, int begin, int end, int n, MPI_Request *both, const char *place)
{
    unsigned char *const in = aspen_process.incoming + begin, *const out = aspen_process.outgoing + begin;
    int begun = 0;
    if (from >= 0)
        aspen_check(MPI_Irecv(in, end - begin, MPI_BYTE, from, n, MPI_COMM_WORLD, &both[begun++]), place);
    if (to >= 0) {
        aspen_check(MPI_Isend(out, end - begin, MPI_BYTE, to, n, MPI_COMM_WORLD, &both[begun++]), place);
        aspen_tally(1, end - begin);
    }
    return begun;
}

/* As a halo, with faces in the proportions of a : b : c, and perhaps in a grid with ends. */
static void aspen_faces(aspen_site *site, double instances, double volume, double dimensions, double x, double y,
                        double z, double ends, double a, double b, double c)
{
    const double asked[3] = {x, y, z}, faces[3] = {a, b, c};
    const int axes = aspen_dimensions(dimensions, 1, 3, site->place), bytes = aspen_bytes(site, volume);
    const long long all = aspen_times(site, instances);
    const double product = x * (axes > 1 ? y : 1.0) * (axes > 2 ? z : 1.0);
    double whole = 0.0;
    int lengths[3];
    for (int axis = 0; axis < axes; axis++)
        whole += 2.0 * faces[axis];
    if (product > 0.0 && fabs(product - instances) > 1e-9 * instances)
        aspen_refuse(site->place, "the product of a halo's grid must be the number of ranks of its block");
    if (all <= 1 || !(whole > 0.0))
        return;
    aspen_shape((int)all, axes, asked, lengths, site->place);
    for (long long left = all; left > 0; left -= aspen_process.size) {
        const int members = aspen_members(left), rank = aspen_process.rank;
        int extents[3], begun = 0, stride = members;
        aspen_place here = {all - left + rank, all, 0, ends > 0.0};
        double sent = 0.0;
        MPI_Request requests[12];
        if (rank >= members)
            continue;
        aspen_reserve((size_t)bytes, site->place);
        aspen_shape(members, axes, asked, extents, site->place);
        for (int axis = 0; axis < axes; axis++) {
            here.extent = lengths[axis];
            here.stride /= here.extent;
            stride /= extents[axis];
            for (int n = 2 * axis; n < 2 * axis + 2; n++) {
                const int step = n % 2 ? -1 : 1, at = rank / stride % extents[axis], origin = rank - at * stride;
                const int to = origin + (at + step + extents[axis]) % extents[axis] * stride;
                const int from = origin + (at - step + extents[axis]) % extents[axis] * stride;
                const int begin = (int)(bytes * (sent / whole) + 0.5);
                aspen_place theirs = here;
                theirs.number = all - left + from;
                sent += faces[axis];
                begun += aspen_face(aspen_beside(here, step) ? to : -1, aspen_beside(theirs, step) ? from : -1, begin,
                                    (int)(bytes * (sent / whole) + 0.5), n, &requests[begun], site->place);
            }
        }
        aspen_check(MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE), site->place);
    }
}

/* Of a group those that a process exchanges with: `among` of them, `step` ranks apart; 0 of them: all. */
static MPI_Comm aspen_among(MPI_Comm group, double among, double step, const char *place)
{
    MPI_Comm part = group;
    if (among != 0.0) {
        const int length = aspen_dimensions(among, 1, INT_MAX, place), apart = aspen_dimensions(step, 1, INT_MAX, place);
        const long long span = (long long)length * apart, rank = aspen_process.rank;
        aspen_check(MPI_Comm_split(group, (int)(rank / span * apart + rank % apart), (int)rank, &part), place);
    }
    return part;
}

enum aspen_kind { ASPEN_ALLREDUCE, ASPEN_REDUCE, ASPEN_REDUCE_SCATTER, ASPEN_BROADCAST, ASPEN_ALLGATHER, ASPEN_ALLTOALL };

/* Of a volume that each has, every process gets the sum of its part. */
static int aspen_scatter(int bytes, int members, MPI_Comm part, const char *place)
{
    int *const parts = malloc((size_t)members * sizeof *parts);
    if (parts == NULL)
        aspen_stop(place, "there is no memory for a message");
    for (int i = 0; i < members; i++)
        parts[i] = aspen_part(bytes, i + 1, members) - aspen_part(bytes, i, members);
    const int code = MPI_Reduce_scatter(aspen_process.outgoing, aspen_process.incoming, parts, MPI_BYTE, MPI_BOR, part);
    free(parts);
    return code;
}

/* One call; of an alltoall so many bytes go from each to each. */
static int aspen_call(enum aspen_kind kind, int bytes, int members, MPI_Comm part, const char *place)
{
    aspen_reserve((size_t)bytes * (size_t)(kind >= ASPEN_ALLGATHER ? members : 1), place);
    void *const from = aspen_process.outgoing, *const into = aspen_process.incoming;
    switch (kind) {
    case ASPEN_ALLREDUCE:
        return MPI_Allreduce(from, into, bytes, MPI_BYTE, MPI_BOR, part);
    case ASPEN_REDUCE:
        return MPI_Reduce(from, into, bytes, MPI_BYTE, MPI_BOR, 0, part);
    case ASPEN_REDUCE_SCATTER:
        return aspen_scatter(bytes, members, part, place);
    case ASPEN_BROADCAST:
        return MPI_Bcast(from, bytes, MPI_BYTE, 0, part);
    case ASPEN_ALLGATHER:
        return MPI_Allgather(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, part);
    default:
        return MPI_Alltoall(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, part);
    }
}

static void aspen_collective(aspen_site *site, double instances, double volume, double among, double step,
                             enum aspen_kind kind)
{
    const int bytes = aspen_bytes(site, volume);
    for (long long left = aspen_times(site, instances); left > 0; left -= aspen_process.size) {
        const int members = aspen_members(left);
        const MPI_Comm group = aspen_group(members, site->place);
        if (aspen_process.rank < members) {
            MPI_Comm part = aspen_among(group, among, step, site->place);
            int size = 1;
            aspen_check(MPI_Comm_size(part, &size), site->place);
            aspen_check(aspen_call(kind, bytes, size, part, site->place), site->place);
            if (part != group)
                aspen_check(MPI_Comm_free(&part), site->place);
            aspen_tally(1, bytes);
        }
    }
}

static void aspen_allreduce(aspen_site *site, double instances, double volume, double among, double step)
{
    aspen_collective(site, instances, volume, among, step, ASPEN_ALLREDUCE);
}

static void aspen_reduce(aspen_site *site, double instances, double volume, double among, double step)
{
    aspen_collective(site, instances, volume, among, step, ASPEN_REDUCE);
}

static void aspen_reduce_scatter(aspen_site *site, double instances, double volume, double among, double step)
{
    aspen_collective(site, instances, volume, among, step, ASPEN_REDUCE_SCATTER);
}

static void aspen_broadcast(aspen_site *site, double instances, double volume, double among, double step)
{
    aspen_collective(site, instances, volume, among, step, ASPEN_BROADCAST);
}

static void aspen_allgather(aspen_site *site, double instances, double volume, double among, double step)
{
    aspen_collective(site, instances, volume, among, step, ASPEN_ALLGATHER);
}

static void aspen_alltoall(aspen_site *site, double instances, double volume, double among, double step)
{
    aspen_collective(site, instances, volume, among, step, ASPEN_ALLTOALL);
}

static void aspen_barrier(aspen_site *site, double instances, double volume)
{
    const int bytes = aspen_bytes(site, volume);
    for (long long left = aspen_times(site, instances); left > 0; left -= aspen_process.size) {
        const int members = aspen_members(left);
        const MPI_Comm group = aspen_group(members, site->place);
        if (aspen_process.rank < members) {
            aspen_reserve((size_t)bytes, site->place);
            aspen_check(MPI_Barrier(group), site->place);
            aspen_tally(1, bytes);
        }
    }
}

/* Works for so many seconds, as far as anybody can tell. */
static void aspen_spin(double seconds, const char *place)
{
    const double end = MPI_Wtime() + aspen_value(seconds, place);
    while (MPI_Wtime() < end)
        continue;
}

/* A parameter that the command line can set. */
typedef struct {
    const char *name;
    double *value;
    const char *said;
} aspen_setting;

static void aspen_help(const char *program, const aspen_setting *settings)
{
    if (aspen_process.rank == 0) {
        printf("usage: %s [--NAME NUMBER ...]\n\n", program);
        for (; settings->name != NULL; settings++)
            printf("  --%s  %s\n", settings->name, settings->said);
    }
    MPI_Finalize();
    exit(EXIT_SUCCESS);
}

static void aspen_read(int count, char **words, const aspen_setting *settings)
{
    for (int i = 1; i < count; i += 2) {
        const aspen_setting *setting = settings;
        char *end = NULL;
        if (strcmp(words[i], "--help") == 0)
            aspen_help(words[0], settings);
        while (setting->name != NULL && (strncmp(words[i], "--", 2) != 0 || strcmp(words[i] + 2, setting->name) != 0))
            setting++;
        if (setting->name == NULL)
            aspen_refuse(words[i], "there is no such parameter; --help lists those that matter here");
        if (i + 1 < count)
            *setting->value = strtod(words[i + 1], &end);
        if (end == NULL || end == words[i + 1] || *end != '\0' || !isfinite(*setting->value))
            aspen_refuse(words[i], "expected a number behind it");
    }
}

static void aspen_start(int *count, char ***words)
{
    if (MPI_Init(count, words) != MPI_SUCCESS)
        exit(2);
    aspen_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Init");
    aspen_check(MPI_Comm_rank(MPI_COMM_WORLD, &aspen_process.rank), "MPI_Init");
    aspen_check(MPI_Comm_size(MPI_COMM_WORLD, &aspen_process.size), "MPI_Init");
}

/* What all processes have sent, beside what the model says, and the seconds of the slowest. */
static void aspen_finish(double seconds, double messages, double bytes)
{
    const unsigned long long mine[2] = {aspen_process.messages, aspen_process.bytes};
    unsigned long long all[2] = {0, 0};
    double slowest = 0.0;
    aspen_check(MPI_Reduce(mine, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD), "MPI_Finalize");
    aspen_check(MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD), "MPI_Finalize");
    if (aspen_process.rank == 0) {
        printf("processes  %d\n", aspen_process.size);
        printf("messages   %llu sent, %.15g in the model\n", all[0], messages);
        printf("bytes      %llu sent, %.15g in the model\n", all[1], bytes);
        printf("seconds    %g\n", slowest);
    }
    if (aspen_process.group != MPI_COMM_NULL)
        aspen_check(MPI_Comm_free(&aspen_process.group), "MPI_Finalize");
    free(aspen_process.outgoing);
    free(aspen_process.incoming);
    aspen_check(MPI_Finalize(), "MPI_Finalize");
}
