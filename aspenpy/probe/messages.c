/* Times messages between processes of one host: PASSES times, for each size, between the first two processes, then between
   all pairs at once. The first process prints lines `name value` in seconds: half a round trip, the least of all windows; `pass` begins a
   pass. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 8, LARGEST = 2 << 20, STEP = 4, FEWEST_WINDOWS = 8, MOST_WINDOWS = 200, FEWEST_PASSES = 3 };
static const double SHORTEST = 3e-5; /* seconds of a window */
static const double SECONDS = 3e-3;  /* of each size in a pass */

static const double PATIENCE = 2.0;  /* seconds after which no further pass begins */

static char *outgoing, *incoming;

static double window(int other, int first, int size, int times)
{
  double begin = MPI_Wtime();
  for (int i = 0; i < times; i++) {
    if (first)
      MPI_Send(outgoing, size, MPI_CHAR, other, 0, MPI_COMM_WORLD);
    MPI_Recv(incoming, size, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!first)
      MPI_Send(outgoing, size, MPI_CHAR, other, 0, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - begin) / (2.0 * times);
}

/* The least time of a message; the first process of a pair says how many windows there are. */
static double least(int rank, int size)
{
  int first = rank % 2 == 0, other = rank ^ 1;
  double found = window(other, first, size, 1);
  for (int i = 0; i < FEWEST_WINDOWS; i++) {
    double once = window(other, first, size, 1);
    found = once < found ? once : found;
  }
  int counts[2] = {(int)(SHORTEST / (2 * found)) + 1, 0};
  counts[1] = (int)(SECONDS / (2 * found * counts[0])) + FEWEST_WINDOWS;
  counts[1] = counts[1] > MOST_WINDOWS ? MOST_WINDOWS : counts[1];
  if (first)
    MPI_Send(counts, 2, MPI_INT, other, 1, MPI_COMM_WORLD);
  else
    MPI_Recv(counts, 2, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < counts[1]; i++) {
    double seconds = window(other, first, size, counts[0]);
    found = seconds < found ? seconds : found;
  }
  return found;
}

int main(int count, char **arguments)
{
  int rank, ranks, passes = count > 1 ? atoi(arguments[1]) : 1;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  outgoing = calloc(LARGEST, 1);
  incoming = calloc(LARGEST, 1);
  if (ranks % 2 || !outgoing || !incoming)
    MPI_Abort(MPI_COMM_WORLD, 2);
  double begin = MPI_Wtime();
  for (int pass = 0; pass < passes; pass++) {
    int late = pass >= FEWEST_PASSES && MPI_Wtime() - begin > PATIENCE;
    MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (late)
      break;
    if (!rank)
      puts("pass");
    for (int size = SMALLEST; size <= LARGEST; size *= STEP) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank < 2) {
        double seconds = least(rank, size);
        if (!rank)
          printf("message_%d_latency %.9g\n", size, seconds);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double mine = least(rank, LARGEST), slowest;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (!rank)
      printf("message_of_all_%d_latency %.9g\n", LARGEST, slowest);
  }
  MPI_Finalize();
  return 0;
}
