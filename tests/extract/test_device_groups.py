"""Cooperative groups, graphs and atomic directives: what stands for them is what their twins without them have."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract import records as r
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.tree_state import UnitState

GROUPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void sum(float *out, const float *in, int n) {
  __shared__ float own[8];
  cg::thread_block block = cg::this_thread_block();
  cg::grid_group grid = cg::this_grid();
  auto tile = cg::tiled_partition<32>(block);
  float value = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) value += in[i];
  value = cg::reduce(tile, value, cg::plus<float>());
  if (tile.thread_rank() == 0) own[tile.meta_group_rank()] = value;
  cg::sync(block);
  if (block.thread_rank() == 0) {
    float whole = 0;
    for (int k = 0; k < 8; k++) whole += own[k];
    out[blockIdx.x] = whole;
  }
  SYNC
}
int main() {
  float *x, *y;
  cudaMalloc(&x, 1 << 26);
  cudaMalloc(&y, 1 << 26);
  sum<<<256, 256>>>(y, x, 1 << 24);
}
"""

GRAPH = """
__global__ void twice(float *out, const float *in) { int i = blockIdx.x*256 + threadIdx.x; out[i] = 2*in[i]; }
#define CHECK(call) do { cudaError_t error = call; if (error != cudaSuccess) return 1; } while (0)
int main() {
  float *x, *y;
  cudaMalloc(&x, 1 << 20);
  cudaMalloc(&y, 1 << 20);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamCreate(&stream);
  CAPTURE
  for (int step = 0; step < 50; step++) LAUNCH;
  cudaStreamSynchronize(stream);
}
"""

LAUNCHES = """for (int k = 0; k < 20; k++) twice<<<1024, 256, 0, stream>>>(y, x);
  twice<<<1024, 256, 0, stream>>>(x, y);"""


def extracted(text: str, folder: Path, name: str = "program.cu") -> Extraction:
    (folder / name).write_text(text, encoding="utf-8")
    return extract(folder / name, level="source")


def total(found: Extraction, resource: str) -> float:
    return float(aspenpy.count(aspenpy.parse(found.text), resource))


def told(found: Extraction) -> str:
    return " ".join(each.message for each in found.diagnostics)


def test_groups(tmp_path: Path) -> None:
    """Each thread adds 256 elements and five times in its tile, and one of each block the eight tiles' sums."""
    found = extracted(GROUPS.replace("SYNC", ""), tmp_path)
    assert total(found, "flops") == (1 << 24) + 256 * (256 * 5 + 8)
    assert total(found, "loads") == 4 * ((1 << 24) + 256 * 8)
    assert total(found, "stores") == 4 * 256 * (8 + 1)
    assert "not counted" not in told(found)


def test_a_barrier_of_the_grid_is_told(tmp_path: Path) -> None:
    assert "a barrier of the whole grid" in told(extracted(GROUPS.replace("SYNC", "grid.sync();"), tmp_path))


@pytest.mark.parametrize("check", ["%s", "CHECK(%s)"])
def test_launches_of_a_graph(check: str, tmp_path: Path) -> None:
    begin, end, launch = (
        check % call
        for call in (
            "cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)",
            "cudaStreamEndCapture(stream, &graph)",
            "cudaGraphLaunch(exec, stream)",
        )
    )
    capture = f"{begin}; {LAUNCHES} {end}; cudaGraphInstantiate(&exec, graph, 0);"
    found = extracted(GRAPH.replace("CAPTURE", capture).replace("LAUNCH", launch), tmp_path)
    twin = extracted(GRAPH.replace("CAPTURE", "").replace("LAUNCH", f"{{ {LAUNCHES} }}"), tmp_path)
    for resource in ("flops", "loads", "stores"):
        assert total(found, resource) == total(twin, resource)
    assert total(found, "flops") == 50 * 21 * 1024 * 256
    assert "machines state no shorter latency" in told(found)
    assert "occupancy(256, 0, twice_registers)" in found.text


def test_a_graph_that_nothing_is_captured_for(tmp_path: Path) -> None:
    found = extracted(GRAPH.replace("CAPTURE", "").replace("LAUNCH", "cudaGraphLaunch(exec, stream)"), tmp_path)
    assert "no launches were captured" in told(found)


ATOMIC = """
#define N (1 << 20)
int bins[256], data[N], total;
void all(void) {
#pragma omp target teams distribute parallel for thread_limit(256) map(to: data) map(tofrom: bins, total)
  for (int i = 0; i < N; i++) {
#pragma omp atomic
    UPDATE;
  }
}
"""


@pytest.mark.parametrize(
    ("update", "cycles"),
    [
        ("bins[data[i]]++", 256 / 2),  # two pieces of 512 bytes
        ("total = total + data[i]", 8),  # a warp's in one
    ],
)
def test_atomic_directives(update: str, cycles: float, tmp_path: Path) -> None:
    found = extracted(ATOMIC.replace("UPDATE", update), tmp_path, "program.c")
    assert f"atomics [{cycles:g}] as contended({(1 << 20) // 256})" in found.text


def test_atomic_directives_of_fortran(tmp_path: Path) -> None:
    text = """
    program counts
      integer, parameter :: n = 1048576
      integer :: bins(256), where(n), i
      !$omp target teams distribute parallel do map(to: where) map(tofrom: bins) thread_limit(256)
      do i = 1, n
        !$omp atomic
        bins(where(i)) = bins(where(i)) + 1
      end do
      print *, bins
    end program
    """
    assert "atomics [n/ceil(n/256)/2] as contended(ceil(n/256))" in extracted(text, tmp_path, "program.f90").text


def test_a_graph_is_what_was_captured_last() -> None:
    """From the last begin up to the end; what stands before it runs where it stands."""

    def call(name: str) -> r.Statement:
        type = r.Type("integer", 4)
        return r.ExpressionStatement(r.Call(name, name, (), type))

    begin, end = call("device graph begin"), call("device graph end")
    unit = UnitState.__new__(UnitState)
    assert unit.capture([call("a"), begin, call("b"), begin, call("c"), end]) == [call("a"), begin, call("b")]
    assert unit.graph == r.CompoundStatement((call("c"),))
    assert unit.capture([begin, call("d"), call("e"), end]) == []
    assert unit.graph == r.CompoundStatement((call("d"), call("e")))
    for statements in ([], [begin, call("a")], [call("a"), end], [call("a")]):
        assert unit.capture(statements) == statements
    assert unit.graph == r.CompoundStatement((call("d"), call("e")))
