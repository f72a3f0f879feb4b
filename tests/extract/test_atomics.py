"""Atomic operations that meet: cycles by hand, the fullest bank against all ways to throw, a published time."""

import itertools
from fractions import Fraction
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.atomics import count_passes, count_updates, expect_fullest
from aspenpy.extract.extraction import Extraction, extract

pytest.importorskip("clang.cindex", reason="CUDA is read by libclang: pip install 'aspenpy[extract]'")

BLOCKS, THREADS = 4096, 256


def extracted(statement: str, folder: Path, name: str = "program.cu", *, declared: str = "") -> Extraction:
    text = f"""__global__ void f(int *bins, float *sums, const int *in) {{ {declared}
      int t = threadIdx.x, i = blockIdx.x*{THREADS} + t;
      {statement}
    }}
    int main() {{
      int *bins, *in; float *sums;
      cudaMalloc(&bins, 4*1024); cudaMalloc(&sums, 4*1024); cudaMalloc(&in, 4 << 20);
      f<<<{BLOCKS}, {THREADS}>>>(bins, sums, in);
    }}"""
    (folder / name).write_text(text, encoding="utf-8")
    return extract(folder / name, level="source")


def cycles_of_block(found: Extraction) -> float:
    """Cycles of the second cache for the atomic operations of a block."""
    if "atomics" not in found.text:
        return 0
    return float(aspenpy.count(aspenpy.parse(found.text), "atomics", kernel="f")) / BLOCKS


@pytest.mark.parametrize(
    ("statement", "name", "cycles"),
    [
        ("atomicAdd(sums, 1.0f);", "a.cu", THREADS),  # all on one word
        ("atomicAdd(bins, t);", "a.cu", THREADS / 32),  # the compiler adds up a warp's whole numbers
        ("atomicAdd(bins, t);", "a.hip", THREADS / 64),
        ("atomicCAS(bins, 0, t);", "a.cu", THREADS),
        ("if (t % 32 == 0) atomicAdd(sums, 1.0f);", "a.cu", THREADS / 32),  # aggregated by the source
        ("if (t == 0) atomicAdd(sums, 1.0f);", "a.cu", 1),
        # 1024 words are 8 pieces of 512 bytes, beside each other
        ("atomicAdd(&bins[in[i]], 1);", "a.cu", THREADS / 8),
        ("atomicAdd(&bins[in[i] & 255], 1);", "a.cu", THREADS / 8),
        ("atomicAdd(&sums[t], 1.0f);", "a.cu", THREADS / 8 / 8),  # a sector's 8 words at once
        ("atomicAdd(&sums[8*(t % 32)], 1.0f);", "a.cu", THREADS / 8),
        ("atomicAdd(&sums[t/4], 1.0f);", "a.cu", THREADS / 32 * 4 / 8),  # a warp has a sector, four at each word
        ("bins[t] += 1;", "a.cu", 0),
    ],
)
def test_cycles_of_the_second_cache(statement: str, name: str, cycles: float, tmp_path: Path) -> None:
    assert cycles_of_block(extracted(statement, tmp_path, name)) == pytest.approx(cycles)


@pytest.mark.parametrize(
    ("index", "passes"),
    [
        ("t", 1),
        ("0", 32),  # one after the other, where loads of one word are one
        ("t/2", 2),
        ("32*t % 1024", 32),
        ("33*t % 1024", 1),
        ("in[i]", float(expect_fullest(32, 32))),
    ],
)
def test_passes_of_shared_memory(index: str, passes: float, tmp_path: Path) -> None:
    declared = "__shared__ float own[1024];"
    found = extracted(f"atomicAdd(&own[{index}], 1.0f);", tmp_path, declared=declared)
    (launch,) = found.launches
    waves = [each.wavefronts for each in launch.accesses.values() if each.wavefronts is not None]
    assert float(waves[0]) == pytest.approx(passes * THREADS / 32)
    if index != "in[i]":
        counted = aspenpy.count(aspenpy.parse(found.text), "loads", kernel="f")
        assert counted == 4 * BLOCKS * THREADS * passes
    assert "stores" not in found.text  # one pass reads and writes


@pytest.mark.parametrize(("balls", "bins"), [(1, 4), (2, 2), (4, 3), (5, 4), (3, 7)])
def test_the_fullest_of_random_bins(balls: int, bins: int) -> None:
    ways = [max(map(way.count, range(bins))) for way in itertools.product(range(bins), repeat=balls)]
    assert float(expect_fullest(balls, bins)) == pytest.approx(sum(ways) / len(ways), abs=1e-3)


def test_threads_of_a_warp_that_meet() -> None:
    here = [((), 4 * lane) for lane in range(32)]
    assert (count_updates(here, 32), count_passes(here, 4)) == (4, 1)
    assert (count_updates([((), 0)] * 32, 32), count_passes([((), 0)] * 32, 4)) == (32, 32)
    assert count_updates([(("row", lane), 0) for lane in range(32)], 32) == 32


def test_all_instances_are_one_after_the_other() -> None:
    model = "model m { kernel main { execute [BLOCKS] { atomics [32] as contended(BLOCKS) } } }"
    machine = aspenpy.load_machine("h100")
    for blocks in (7, 132, 5 * 132, 66000):
        found = aspenpy.predict(aspenpy.parse(model.replace("BLOCKS", str(blocks))), machine)
        (time,) = found.scope.values([cost.time for cost in found.tree.requirements], 0)
        assert float(time) == pytest.approx(32 * blocks / 1.98e9)  # a cycle each


def test_bytes_that_are_not_known_are_told(tmp_path: Path) -> None:
    text = "__global__ void f(int *bins, const int *in) {\n  atomicAdd(&bins[in[threadIdx.x]], 1); }"
    (tmp_path / "a.cu").write_text(text, encoding="utf-8")
    found = extract(tmp_path / "a.cu", level="source")
    (told,) = [each for each in found.diagnostics if each.code == "not-priced"]
    assert told.span is not None
    assert told.span.position().line == 2


PUBLISHED = """
__global__ void histogram(const unsigned char *__restrict__ data, int *__restrict__ bins, int n) {
  for (int i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += gridDim.x*blockDim.x) atomicAdd(&bins[data[i]], 1);
}
struct Bytes { unsigned a, b, c, d; };
__device__ void add(int *own, unsigned word) {
  atomicAdd(&own[word & 255], 1);
  atomicAdd(&own[word >> 8 & 255], 1);
  atomicAdd(&own[word >> 16 & 255], 1);
  atomicAdd(&own[word >> 24], 1);
}
__global__ void private_bins(const uint4 *__restrict__ data, int *__restrict__ bins, int n) {
  __shared__ int own[256];
  if (threadIdx.x < 256) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += gridDim.x*blockDim.x) {
    uint4 words = data[i];
    add(own, words.x);
    add(own, words.y);
    add(own, words.z);
    add(own, words.w);
  }
  __syncthreads();
  if (threadIdx.x < 256) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
int main() {
  unsigned char *data; int *bins;
  cudaMalloc(&data, 1 << 30); cudaMalloc(&bins, 1024);
  histogram<<<2112, 512>>>(data, bins, 1 << 30);
  private_bins<<<528, 512>>>((uint4*)data, bins, 1 << 26);
}
"""


@pytest.mark.parametrize(("kernel", "seconds"), [("histogram", 276.13e-3), ("private_bins", 0.47e-3)])
def test_a_published_histogram(kernel: str, seconds: float, tmp_path: Path) -> None:
    """2**30 random bytes in 256 bins, H100: yencal/gpu-histogram-optimization."""
    (tmp_path / "a.cu").write_text(PUBLISHED, encoding="utf-8")
    model = aspenpy.parse(extract(tmp_path / "a.cu", level="source").text)
    time = aspenpy.predict(model, aspenpy.load_machine("h100"), kernel=kernel).runtime
    assert Fraction(1, 2) < time / seconds < 2
