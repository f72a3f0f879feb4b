"""Messages of programs with MPI, whose header no machine of the tests needs to have."""

from pathlib import Path

import pytest

from aspenpy.answers.checks.files import check_file
from aspenpy.extract.extraction import extract
from aspenpy.language.files import Reader

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
static void exchange(int n, double *up, double *down, MPI_Comm comm) {
  MPI_Request request[2];
  MPI_Isend(up, n, MPI_DOUBLE, 1, 0, comm, &request[0]);
  MPI_Irecv(down, n, MPI_DOUBLE, 1, 0, comm, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}
int main(int argc, char **argv) {
  int rank, size, n = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double *x = malloc(n / size * sizeof(double)), *y = malloc(n * sizeof(double)), sum[3] = {0};
  for (int t = 0; t < 10; t++) {
    exchange(n / size, x, y, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) y[i] *= 0.5;
    CALL
  }
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.parametrize("name", ["a.c", "a.cpp"])
@pytest.mark.parametrize(
    ("call", "messages"),
    [
        ("MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);", "messages [24] as allreduce"),
        ("MPI_Reduce(x, y, n, MPI_FLOAT, MPI_MAX, 0, MPI_COMM_WORLD);", "messages [4*n] as reduce"),
        ("MPI_Alltoall(x, 2, MPI_INT, y, 2, MPI_INT, MPI_COMM_WORLD);", "messages [8] as alltoall"),
        ("MPI_Iallgather(x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, MPI_COMM_WORLD, 0);", "messages [8] as allgather"),
        ("MPI_Barrier(MPI_COMM_WORLD);", "messages [0] as barrier"),
        ("if (rank > 0) MPI_Send(x, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD);", "messages [n]"),
    ],
)  # fmt: skip
def test_calls_of_mpi_are_messages(call: str, messages: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(PROGRAM.replace("CALL", call).replace(" malloc", " (double*)malloc"))
    text = extract(tmp_path / name).text
    lines = [line.strip() for line in text.splitlines()]
    assert {messages, "messages [4] as broadcast", "messages [8*floor(n/ranks)]", "flops [n] as multiply, dp"} <= {
        *lines
    }
    (tmp_path / "a.aspen").write_text(text)
    assert [
        item for item in check_file(tmp_path / "a.aspen", None, Reader(), socket=None) if item.severity == "error"
    ] == []
