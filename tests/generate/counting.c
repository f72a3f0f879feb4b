/* Stands between a program and MPI, and counts what processes send in bytes: each call once a process. */
#include <mpi.h>
#include <stdio.h>

static unsigned long long counted[3]; /* messages, bytes, barriers */

static int sent(MPI_Datatype type, int bytes, int code)
{
    if (type == MPI_BYTE) {
        counted[0]++;
        counted[1] += (unsigned long long)bytes;
    }
    return code;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    return sent(type, count, PMPI_Isend(data, count, type, to, tag, comm, request));
}

int MPI_Allreduce(const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return sent(type, count, PMPI_Allreduce(data, into, count, type, op, comm));
}

int MPI_Reduce(const void *data, void *into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    return sent(type, count, PMPI_Reduce(data, into, count, type, op, root, comm));
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    return sent(type, count, PMPI_Bcast(data, count, type, root, comm));
}

int MPI_Allgather(const void *data, int count, MPI_Datatype type, void *into, int taken, MPI_Datatype other,
                  MPI_Comm comm)
{
    return sent(type, count, PMPI_Allgather(data, count, type, into, taken, other, comm));
}

int MPI_Alltoall(const void *data, int count, MPI_Datatype type, void *into, int taken, MPI_Datatype other, MPI_Comm comm)
{
    return sent(type, count, PMPI_Alltoall(data, count, type, into, taken, other, comm));
}

int MPI_Reduce_scatter(const void *data, void *into, const int *parts, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int members, bytes = 0;
    PMPI_Comm_size(comm, &members);
    for (int i = 0; i < members; i++)
        bytes += parts[i];
    return sent(type, bytes, PMPI_Reduce_scatter(data, into, parts, type, op, comm));
}

int MPI_Barrier(MPI_Comm comm)
{
    counted[2]++;
    return PMPI_Barrier(comm);
}

int MPI_Finalize(void)
{
    unsigned long long all[3];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(counted, all, 3, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        fprintf(stderr, "counted: %llu messages, %llu bytes, %llu barriers\n", all[0], all[1], all[2]);
    return PMPI_Finalize();
}
