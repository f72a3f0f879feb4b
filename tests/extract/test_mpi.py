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
    (tmp_path / name).write_text(PROGRAM.replace("CALL", call).replace(" malloc", " (double*)malloc"), encoding="utf-8")
    text = extract(tmp_path / name).text
    lines = [line.strip() for line in text.splitlines()]
    assert {messages, "messages [4] as broadcast", "messages [8*floor(n/ranks)]", "flops [n] as multiply, dp"} <= {
        *lines
    }
    (tmp_path / "a.aspen").write_text(text, encoding="utf-8")
    assert [
        item for item in check_file(tmp_path / "a.aspen", None, Reader(), socket=None) if item.severity == "error"
    ] == []


STANDARD = {
    "Send": "x, COUNT, MPI_INT, 1, 0, C",
    "Sendrecv": "x, COUNT, MPI_INT, 1, 0, y, 1, MPI_DOUBLE, 1, 0, C, 0",
    "Put": "x, COUNT, MPI_INT, 1, 0, 1, MPI_DOUBLE, 0",
    "Bcast": "x, COUNT, MPI_INT, 0, C",
    "Reduce": "x, y, COUNT, MPI_INT, MPI_SUM, 0, C",
    "Allreduce": "x, y, COUNT, MPI_INT, MPI_SUM, C",
    "Reduce_scatter_block": "x, y, COUNT, MPI_INT, MPI_SUM, C",
    "Allgather": "x, COUNT, MPI_INT, y, 1, MPI_DOUBLE, C",
    "Allgatherv": "x, COUNT, MPI_INT, y, 0, 0, MPI_DOUBLE, C",
    "Alltoall": "x, COUNT, MPI_INT, y, 1, MPI_DOUBLE, C",
    "Gather": "x, COUNT, MPI_INT, y, 1, MPI_DOUBLE, 0, C",
    "Gatherv": "x, COUNT, MPI_INT, y, 0, 0, MPI_DOUBLE, 0, C",
    "Scatter": "x, COUNT, MPI_INT, y, 1, MPI_DOUBLE, 0, C",
    "Scan": "x, y, COUNT, MPI_INT, MPI_SUM, C",
    "Exscan": "x, y, COUNT, MPI_INT, MPI_SUM, C",
}
"""Arguments as the standard of MPI orders them; what is sent is COUNT numbers of four bytes."""

WORDS = {
    "Bcast": "broadcast",
    "Reduce": "reduce",
    "Allreduce": "allreduce",
    "Reduce_scatter_block": "reduce_scatter",
    "Allgather": "allgather",
    "Allgatherv": "allgather",
    "Alltoall": "alltoall",
}


def test_each_function_of_mpi_sends_what_its_arguments_say(tmp_path: Path) -> None:
    counts = {name: 101 + 2 * place for place, name in enumerate(STANDARD)}
    calls = ""
    for name, arguments in STANDARD.items():
        given = [{"COUNT": str(counts[name]), "C": "MPI_COMM_WORLD"}.get(item, item) for item in arguments.split(", ")]
        calls += f"MPI_{name}({', '.join(given)}); "
    (tmp_path / "a.c").write_text(PROGRAM.replace("CALL", calls), encoding="utf-8")
    lines = [line.partition("  //")[0].strip() for line in extract(tmp_path / "a.c").text.splitlines()]
    for name, count in counts.items():
        word = f" as {WORDS[name]}" if name in WORDS else ""
        assert f"messages [{4 * count}]{word}" in lines


UNKNOWN = """
#include <mpi.h>
#include <string.h>
void f(int n, int k[n], double x[n], double y[n], MPI_Datatype own, MPI_Comm comm) {{
  for (int i = 0; i < n; i++) {{ {call} }}
}}"""


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        (
            "MPI_Send(x, 3, own, 1, 0, comm);",
            ["param f_own_bytes = 8  // unknown: bytes of `own` (a.c:5)", "messages [3*f_own_bytes]"],
        ),
        (
            "MPI_Send(x, k[i], MPI_DOUBLE, 1, 0, comm);",
            [
                "param f_bytes = 8  // unknown: bytes that `MPI_Send(x, k[i], MPI_DOUBLE, 1, 0, comm)` sends (a.c:5)",
                *("loads [1] of size [4] from k", "messages [f_bytes]"),
            ],
        ),
        (
            "memcpy(x, y, k[i]);",
            [
                "param f_memcpy_bytes = 8  // unknown: bytes that `memcpy(x, y, k[i])` moves (a.c:5)",
                "loads [n] of size [4] from k as nest(0, 1, 4, n)",
                "loads [f_memcpy_bytes*n/8] of size [8] from y as nest(8, f_memcpy_bytes/8, 0, n)",
                "stores [f_memcpy_bytes*n/8] of size [8] to x as nest(8, f_memcpy_bytes/8, 0, n)",
            ],
        ),
        (
            "memcpy(x, y, 20);",  # three words hold 20 bytes
            [
                "loads [3*n] of size [8] from y as nest(8, 3, 0, n)",
                "stores [3*n] of size [8] to x as nest(8, 3, 0, n)",
            ],
        ),
        ("memset(x, 0, 8*n);", ["stores [n^2] of size [8] to x as nest(8, n, 0, n)"]),
    ],
)
def test_bytes_that_nobody_knows_are_open(call: str, lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(UNKNOWN.format(call=call), encoding="utf-8")
    text = [line.strip() for line in extract(tmp_path / "a.c").text.splitlines()]
    found = [line for line in text if line.startswith(("param f", "loads", "stores", "messages"))]
    assert found == lines
