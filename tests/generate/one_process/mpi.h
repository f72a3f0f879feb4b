/* MPI for one process, as far as skeletons use it; it counts by itself what is sent, and says so at the end. With
   STUB_RANK and STUB_SIZE in the environment it is one of several that are not there, and tells whom it sends to. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Errhandler;

enum { MPI_SUCCESS, MPI_MAX_ERROR_STRING = 64, MPI_UNDEFINED = -1, MPI_COMM_NULL = 0, MPI_COMM_WORLD = 1 };
enum { MPI_BYTE = 1, MPI_DOUBLE = 8, MPI_UNSIGNED_LONG_LONG = 9, MPI_BOR = 0, MPI_SUM, MPI_MAX, MPI_ERRORS_RETURN = 0 };
#define MPI_STATUSES_IGNORE NULL

static unsigned long long stub_messages, stub_bytes, stub_barriers, stub_awaited;

static inline int stub_given(const char *name, int otherwise)
{
    const char *const text = getenv(name);
    return text == NULL ? otherwise : atoi(text);
}

static inline int stub_elsewhere(int rank) { return rank < 0 || rank >= stub_given("STUB_SIZE", 1); }

static inline int stub_sent(long long bytes)
{
    stub_messages++;
    stub_bytes += (unsigned long long)bytes;
    return MPI_SUCCESS;
}

static inline int MPI_Init(int *count, char ***words) { return count == NULL || words == NULL; }
static inline int MPI_Finalize(void)
{
    fprintf(stderr, "counted: %llu messages, %llu bytes, %llu barriers\n", stub_messages, stub_bytes, stub_barriers);
    return stub_awaited != 0;
}
static inline int MPI_Abort(MPI_Comm comm, int code) { exit(comm == MPI_COMM_WORLD ? code : 1); }
static inline double MPI_Wtime(void) { return (double)clock() / CLOCKS_PER_SEC; }
static inline int MPI_Error_string(int code, char *text, int *length)
{
    *length = snprintf(text, MPI_MAX_ERROR_STRING, "error %d", code);
    return MPI_SUCCESS;
}
static inline int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) { return comm + handler == 0; }
static inline int MPI_Comm_rank(MPI_Comm comm, int *rank) { return *rank = stub_given("STUB_RANK", 0), comm != MPI_COMM_WORLD; }
static inline int MPI_Comm_size(MPI_Comm comm, int *size) { return *size = stub_given("STUB_SIZE", 1), comm != MPI_COMM_WORLD; }
static inline int MPI_Comm_free(MPI_Comm *comm) { return *comm = MPI_COMM_NULL, MPI_SUCCESS; }
static inline int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *split)
{
    *split = comm;
    return color != 0 || key != 0;
}
static inline int MPI_Dims_create(int nodes, int axes, int *extents)
{
    int rest = nodes; /* for the first axis that is free, which MPI would share out better */
    for (int axis = 0; axis < axes; axis++)
        rest /= extents[axis] == 0 ? 1 : extents[axis];
    for (int axis = 0; axis < axes; axis++) {
        if (extents[axis] == 0)
            extents[axis] = rest, rest = 1;
        nodes /= extents[axis];
    }
    return nodes != 1;
}
static inline int MPI_Irecv(void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    stub_awaited += (unsigned long long)count;
    *request = tag;
    return into == NULL || type != MPI_BYTE || stub_elsewhere(from) || comm != MPI_COMM_WORLD;
}
static inline int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    stub_awaited -= (unsigned long long)count;
    *request = tag;
    if (stub_given("STUB_SIZE", 1) > 1)
        fprintf(stderr, "to %d, %d bytes\n", to, count);
    return stub_sent(count) + (data == NULL || type != MPI_BYTE || stub_elsewhere(to) || comm != MPI_COMM_WORLD);
}
static inline int MPI_Waitall(int count, MPI_Request *requests, void *statuses)
{
    return count == 0 || requests == NULL || statuses != NULL;
}
static inline int MPI_Barrier(MPI_Comm comm) { return stub_barriers++, comm != MPI_COMM_WORLD; }
static inline int MPI_Allreduce(const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return stub_sent(count) + (data == into || type != MPI_BYTE || op != MPI_BOR || comm != MPI_COMM_WORLD);
}
static inline int MPI_Reduce(const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    for (int i = 0; i < count && type != MPI_BYTE; i++) {
        if (type == MPI_DOUBLE)
            ((double *)into)[i] = ((const double *)data)[i];
        else
            ((unsigned long long *)into)[i] = ((const unsigned long long *)data)[i];
    }
    return (type == MPI_BYTE ? stub_sent(count) : 0) + (op < 0 || root != 0 || comm != MPI_COMM_WORLD);
}
static inline int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    return stub_sent(count) + (data == NULL || type != MPI_BYTE || root != 0 || comm != MPI_COMM_WORLD);
}
static inline int
MPI_Allgather(const void *data, int count, MPI_Datatype type, void *into, int taken, MPI_Datatype other, MPI_Comm comm)
{
    return stub_sent(count) + (data == into || type != other || count != taken || comm != MPI_COMM_WORLD);
}
static inline int
MPI_Alltoall(const void *data, int count, MPI_Datatype type, void *into, int taken, MPI_Datatype other, MPI_Comm comm)
{
    return stub_sent(count) + (data == into || type != other || count != taken || comm != MPI_COMM_WORLD);
}
static inline int
MPI_Reduce_scatter(const void *data, void *into, const int *parts, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return stub_sent(*parts) + (data == into || type != MPI_BYTE || op != MPI_BOR || comm != MPI_COMM_WORLD);
}
