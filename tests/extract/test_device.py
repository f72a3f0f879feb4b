"""Kernels of CUDA and HIP: counts, sectors and bank conflicts against arithmetic by hand, forms of launches, what is
refused and where.

Sectors are those of NVIDIA's Best Practices Guide: 32 threads that read neighbouring words of 4 bytes ask for 4 sectors
of 32 bytes, those that read every s-th word for min(4 s, 32).
"""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.warps import WarpAccess, count_sectors, count_wavefronts
from aspenpy.language.diagnostics import AspenError

TRANSPOSE = """
#define TILE 32
#define ROWS 8
__global__ void copy(float *out, const float *in) {
  int x = blockIdx.x*TILE + threadIdx.x, y = blockIdx.y*TILE + threadIdx.y, width = gridDim.x*TILE;
  for (int j = 0; j < TILE; j += ROWS) out[(y+j)*width + x] = in[(y+j)*width + x];
}
__global__ void naive(float *out, const float *in) {
  int x = blockIdx.x*TILE + threadIdx.x, y = blockIdx.y*TILE + threadIdx.y, width = gridDim.x*TILE;
  for (int j = 0; j < TILE; j += ROWS) out[x*width + (y+j)] = in[(y+j)*width + x];
}
template <int PAD> __global__ void shared(float *out, const float *in) {
  __shared__ float tile[TILE][TILE + PAD];
  int x = blockIdx.x*TILE + threadIdx.x, y = blockIdx.y*TILE + threadIdx.y, width = gridDim.x*TILE;
  for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y+j][threadIdx.x] = in[(y+j)*width + x];
  __syncthreads();
  x = blockIdx.y*TILE + threadIdx.x;
  y = blockIdx.x*TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) out[(y+j)*width + x] = tile[threadIdx.x][threadIdx.y+j];
}
int main() {
  float *x, *y;
  cudaMalloc(&x, 1024*1024*sizeof(float));
  cudaMalloc((void**)&y, 1024*1024*sizeof(float));
  dim3 grid(32, 32), block(TILE, ROWS);
  NAME<<<grid, block>>>(y, x);
}
"""

VECTORS = "int main() { float *x, *y; cudaMalloc(&x, 1 << 22); cudaMalloc(&y, 1 << 22); LAUNCH; }"


def extracted(text: str, folder: Path, name: str = "program.cu", **options: object) -> Extraction:
    (folder / name).write_text(text, encoding="utf-8")
    return extract(folder / name, level="source", **options)  # type: ignore[arg-type]


def of_vectors(kernel: str, launch: str, folder: Path) -> Extraction:
    return extracted(kernel + VECTORS.replace("LAUNCH", launch), folder)


def amounts(found: Extraction, kernel: str, folder: Path) -> dict[str, float]:
    """Operations and bytes of a kernel of a model."""
    (folder / "found.aspen").write_text(found.text, encoding="utf-8")
    model = aspenpy.load_application(folder / "found.aspen")
    kinds = [name for name in ("flops", "loads", "stores") if name in found.text]
    return {name: float(aspenpy.count(model, name, kernel=kernel)) for name in kinds}


def accesses(found: Extraction) -> list[WarpAccess]:
    return [access for launch in found.launches for access in launch.accesses.values()]


def sectors_of_warps(found: Extraction) -> list[tuple[str, Fraction | int]]:
    """Sectors of a warp on average, by access to the device's memory."""
    return [(each.kind, each.sectors / each.warps) for each in accesses(found) if each.sectors is not None]


def wavefronts_of_warps(found: Extraction) -> list[tuple[str, Fraction | int]]:
    return [(each.kind, each.wavefronts / each.warps) for each in accesses(found) if each.wavefronts is not None]


@pytest.mark.parametrize(
    ("name", "load", "store", "on_chip"),
    [
        ("copy", 4, 4, []),
        ("naive", 4, 32, []),  # neighbours store a row apart: each into a sector of its own
        ("shared<0>", 4, 4, [("store", 1), ("load", 32)]),  # 32 rows of 32 words: all in one bank
        ("shared<1>", 4, 4, [("store", 1), ("load", 1)]),  # rows of 33 words: each in the next bank
    ],
)
def test_sectors_and_banks_of_transposes(
    name: str, load: int, store: int, on_chip: list[tuple[str, int]], tmp_path: Path
) -> None:
    found = extracted(TRANSPOSE.replace("NAME", name), tmp_path)
    assert sectors_of_warps(found) == [("load", load), ("store", store)]
    assert wavefronts_of_warps(found) == on_chip
    (folder := tmp_path / "counted").mkdir()
    counted = amounts(found, name.partition("<")[0], folder)
    words = 1024 * 1024
    conflicts = sum(each - 1 for _, each in on_chip)
    # of 32 words of 4 bytes: bytes of the sectors beyond the block's own
    meeting = (32 - 4) * 32 / (4 * 32) if name == "naive" else 0
    assert counted["loads"] == pytest.approx(4 * words * (1 + bool(on_chip) + conflicts + meeting))
    assert counted["stores"] == pytest.approx(4 * words * (1 + bool(on_chip)))


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 5, 8, 16, 32])
def test_sectors_of_strided_copies(stride: int, tmp_path: Path) -> None:
    kernel = "__global__ void f(float *a) { int i = (blockIdx.x*blockDim.x + threadIdx.x)*STRIDE; a[i] = a[i] + 1; }"
    kernel = kernel.replace("STRIDE", str(stride))
    found = of_vectors(kernel, "f<<<64, 256>>>(x)", tmp_path)
    # 32 words over 4*(31*stride + 1) bytes; a sector of 32 bytes has a word of each stride up to 8
    fewest = min(32, 4 * stride)
    assert sectors_of_warps(found) == [("load", fewest), ("store", fewest)]


@pytest.mark.parametrize(("offset", "sectors"), [(0, 4), (1, 5), (7, 5), (8, 4), (9, 5), (32, 4)])
def test_sectors_of_shifted_copies(offset: int, sectors: int, tmp_path: Path) -> None:
    kernel = "__global__ void f(float *a) { int i = blockIdx.x*blockDim.x + threadIdx.x + OFFSET; a[i] += 1; }"
    kernel = kernel.replace("OFFSET", str(offset))
    found = of_vectors(kernel, "f<<<64, 256>>>(x)", tmp_path)
    assert sectors_of_warps(found) == [("load", sectors), ("store", sectors)]


AMD = ("-D__AMDGCN_WAVEFRONT_SIZE=64",)


@pytest.mark.parametrize(
    ("name", "load", "store", "on_chip"),
    [
        # a wavefront has two rows of 32 words: each two pieces of 64 bytes
        ("copy", 4, 4, []),
        ("naive", 4, 32, []),  # 32 rows, of each two words side by side
        ("shared<0>", 4, 4, [("store", 2), ("load", 64)]),  # two cycles at best; all of 32 lanes in one bank
        ("shared<1>", 4, 4, [("store", 2), ("load", 2)]),
    ],
)
def test_wavefronts_of_64(name: str, load: int, store: int, on_chip: list[tuple[str, int]], tmp_path: Path) -> None:
    found = extracted(TRANSPOSE.replace("NAME", name), tmp_path, flags=AMD)
    assert sectors_of_warps(found) == [("load", load), ("store", store)]
    assert wavefronts_of_warps(found) == on_chip
    assert sectors_of_warps(extracted(TRANSPOSE.replace("NAME", name), tmp_path, "program.hip")) == [
        ("load", load),
        ("store", store),
    ]


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 8, 16, 32])
def test_wavefronts_of_64_with_strides(stride: int, tmp_path: Path) -> None:
    kernel = "__global__ void f(float *a) { int i = (blockIdx.x*blockDim.x + threadIdx.x)*STRIDE; a[i] = a[i] + 1; }"
    text = kernel.replace("STRIDE", str(stride)) + VECTORS.replace("LAUNCH", "f<<<64, 256>>>(x)")
    fewest = min(64, 4 * stride)  # pieces of 64 bytes
    assert sectors_of_warps(extracted(text, tmp_path, flags=AMD)) == [("load", fewest), ("store", fewest)]


def test_half_a_wavefront_is_idle_where_a_warp_is_whole(tmp_path: Path) -> None:
    kernel = "__global__ void f(float *x) { if (threadIdx.x % warpSize < 32) x[threadIdx.x] *= 2; }"
    text = kernel + VECTORS.replace("LAUNCH", "f<<<64, 256>>>(x)")
    assert [each.idle for each in extracted(text, tmp_path, flags=AMD).launches[0].divergences] == [Fraction(1, 2)]
    assert [each.idle for each in extracted(text, tmp_path).launches[0].divergences] == [0]


def test_compile_commands_say_which_warps(tmp_path: Path) -> None:
    text = "__global__ void f(float *x) { x[threadIdx.x] = warpSize; }" + VECTORS.replace("LAUNCH", "f<<<1, 64>>>(x)")
    (tmp_path / "a.cu").write_text(text, encoding="utf-8")
    for device, warp in (("gfx90a", 64), ("gfx1100", 32)):
        command = f"hipcc -x hip --offload-arch={device} -c a.cu"
        listed = [{"directory": str(tmp_path), "file": "a.cu", "command": command}]
        (tmp_path / "compile_commands.json").write_text(json.dumps(listed), encoding="utf-8")
        found = extract(tmp_path / "compile_commands.json", level="source")
        assert found.launches[0].shape.threads == warp


def test_a_loop_that_shifts_has_the_mean_of_its_passes(tmp_path: Path) -> None:
    kernel = """__global__ void f(float *y, const float *x) {
      int i = blockIdx.x*blockDim.x + threadIdx.x;
      float sum = 0;
      for (int k = 0; k < 8; k++) sum += x[i + k];
      y[i] = sum;
    }"""
    found = of_vectors(kernel, "f<<<64, 256>>>(y, x)", tmp_path)
    assert sectors_of_warps(found) == [("load", Fraction(4 + 7 * 5, 8)), ("store", 4)]


def test_the_local_share_gives_twice_as_much_in_a_cycle_as_the_first_cache(tmp_path: Path) -> None:
    """16 wavefronts that read columns take 64 cycles each, in which the first cache serves 16 words of 4 bytes."""
    kernel = """__global__ void f(float *y, const float *x) {
      __shared__ float s[32][32];
      s[threadIdx.y][threadIdx.x] = x[threadIdx.y*32 + threadIdx.x];
      __syncthreads();
      y[threadIdx.y*32 + threadIdx.x] = s[threadIdx.x][threadIdx.y];
    }"""
    text = f"{kernel}\nint main() {{ float *x, *y; hipMalloc(&x, 4096); hipMalloc(&y, 4096);\n"
    found = extracted(f"{text}f<<<1, dim3(32, 32)>>>(y, x); }}", tmp_path, "program.hip", flags=AMD)
    assert wavefronts_of_warps(found) == [("store", 2), ("load", 64)]
    assert f"loads [{16 * 64 * 16}] of size [4] from s as rd(0), warm" in found.text


@pytest.mark.parametrize(("width", "wavefronts"), [(16, 16), (17, 1), (32, 32), (33, 1), (34, 2), (36, 4), (40, 8)])
def test_bank_conflicts_of_columns(width: int, wavefronts: int, tmp_path: Path) -> None:
    """32 rows of w words: word r w lies in the bank r w mod 32, so gcd(w, 32) rows meet in one."""
    kernel = "__global__ void f(float *y) { __shared__ float s[32*W]; y[threadIdx.x] = s[threadIdx.x*W]; }"
    kernel = kernel.replace("W", str(width))
    found = of_vectors(kernel, "f<<<1, 32>>>(y)", tmp_path)
    assert wavefronts_of_warps(found) == [("load", wavefronts)]


def test_words_that_threads_share_and_wide_words() -> None:
    assert count_wavefronts([((), 0)] * 32, 4) == 1
    assert count_wavefronts([((), 8 * lane) for lane in range(32)], 8) == 2
    assert count_wavefronts([((), 16 * lane) for lane in range(32)], 16) == 4
    assert count_sectors([((), 8 * lane) for lane in range(32)], 8) == 8
    assert count_sectors([(("row", lane), 0) for lane in range(32)], 4) == 32


SAXPY = """__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) y[i] = a*x[i] + y[i];
}
"""


@pytest.mark.parametrize("launch", ["saxpy<<<(n + 255)/256, 256>>>", "saxpy<<<(n - 1)/256 + 1, 256>>>"])
@pytest.mark.parametrize("n", [1, 255, 256, 1000, 100000])
def test_the_guard_of_the_last_block_is_the_bound(n: int, launch: str, tmp_path: Path) -> None:
    found = of_vectors(SAXPY, f"int n = {n}; {launch}(n, 2.0f, x, y)", tmp_path)
    # of one block the last warp looks up a line for each of two loads, however few of its threads do
    loads = 2 * 128 * -(-n // 32) if n < 256 else 8 * n
    assert amounts(found, "saxpy", tmp_path) == pytest.approx({"flops": 2 * n, "loads": loads, "stores": 4 * n})


def test_a_grid_of_a_size_that_is_open_covers_it(tmp_path: Path) -> None:
    text = SAXPY + """void run(int n, float *x, float *y) { saxpy<<<(n + 127)/128, 128>>>(n, 2.0f, x, y); }"""
    found = extracted(text, tmp_path)
    (tmp_path / "found.aspen").write_text(found.text, encoding="utf-8")
    model = aspenpy.load_application(tmp_path / "found.aspen")
    assert float(aspenpy.count(model, "flops", set={"n": 1000})) == pytest.approx(2000)


@pytest.mark.parametrize(
    "condition", ["i == 0 || i >= n - 1", "!(i != 0 && i < n - 1)", "i < 1 || i > n - 2", "0 == i || n - 1 <= i"]
)
def test_threads_at_the_edges_return(condition: str, tmp_path: Path) -> None:
    """An index is never negative, so that one which is not 0 is 1 at least; `CONDITION` was a guess of 0.55 before."""
    kernel = """__global__ void f(double *x, int n) {
      int i = blockIdx.x*blockDim.x + threadIdx.x;
      if (CONDITION) return;
      x[i] = 2*x[i];
    }""".replace("CONDITION", condition)
    found = of_vectors(kernel, "f<<<(1000 + 127)/128, 128>>>((double*)x, 1000)", tmp_path)
    assert amounts(found, "f", tmp_path)["flops"] == pytest.approx(998)


def test_a_grid_that_is_too_small_works_on_what_it_covers(tmp_path: Path) -> None:
    found = of_vectors(SAXPY, "saxpy<<<2, 128>>>(1000, 2.0f, x, y)", tmp_path)
    assert amounts(found, "saxpy", tmp_path)["flops"] == 2 * 256


STRIDED = """__global__ void saxpy(int n, float a, const float *x, float *y) {
  for (int i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += blockDim.x*gridDim.x) y[i] = a*x[i] + y[i];
}
"""


@pytest.mark.parametrize("n", [1 << 20, 100000, 80 * 256])
def test_loops_over_the_whole_grid(n: int, tmp_path: Path) -> None:
    found = of_vectors(STRIDED, f"saxpy<<<80, 256>>>({n}, 2.0f, x, y)", tmp_path)
    assert amounts(found, "saxpy", tmp_path) == pytest.approx({"flops": 2 * n, "loads": 8 * n, "stores": 4 * n})
    assert sectors_of_warps(found) == [("load", 4), ("load", 4), ("store", 4)]


REDUCTION = """__global__ void reduce(const float *in, float *out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x*blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned k = blockDim.x/2; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
"""


def test_a_reduction_in_halves(tmp_path: Path) -> None:
    found = of_vectors(REDUCTION, "reduce<<<4096, 256>>>(x, y, 1 << 20)", tmp_path)
    counted = amounts(found, "reduce", tmp_path)
    # 128 + 64 + ... + 1 = 255 sums of two words each, and the last word
    assert counted["flops"] == 4096 * 255
    assert counted["loads"] == 4096 * (4 * 256 + 4 * (2 * 255 + 1))
    assert counted["stores"] == 4096 * (4 * 256 + 4 * 255 + 4)
    idle = [divergence.idle for divergence in found.launches[0].divergences]
    assert idle == [0, 0, 0, *[1 - Fraction(k, 32) for k in (16, 8, 4, 2, 1)], Fraction(31, 32)]


def test_a_stencil_in_two_dimensions(tmp_path: Path) -> None:
    kernel = """__global__ void jacobi(float *y, const float *x, int n) {
      int i = blockIdx.x*32 + threadIdx.x, j = blockIdx.y*8 + threadIdx.y;
      if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
        y[j*n + i] = 0.25f*(x[j*n + i - 1] + x[j*n + i + 1] + x[(j - 1)*n + i] + x[(j + 1)*n + i]);
    }"""
    found = of_vectors(kernel, "jacobi<<<dim3(32, 128), dim3(32, 8)>>>(y, x, 1024)", tmp_path)
    inner = 1022 * 1022
    counted = amounts(found, "jacobi", tmp_path)
    extra = 2 * 128 * (2 - 1) / 32 * inner  # one line more for each warp of the two shifted loads
    assert counted == pytest.approx({"flops": 4 * inner, "loads": 16 * inner + extra, "stores": 4 * inner})
    # the shifted ones ask for a sector more
    assert sorted(sectors_of_warps(found)) == [("load", 4), ("load", 4), ("load", 5), ("load", 5), ("store", 4)]


MATMUL = """__global__ void naive(const float *A, const float *B, float *C, int n) {
  int row = blockIdx.y*16 + threadIdx.y, col = blockIdx.x*16 + threadIdx.x;
  if (row < n && col < n) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += A[row*n + k]*B[k*n + col];
    C[row*n + col] = sum;
  }
}
__global__ void tiled(const float *A, const float *B, float *C, int n) {
  __shared__ float a[16][16], b[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y*16 + ty, col = blockIdx.x*16 + tx;
  float sum = 0;
  for (int m = 0; m < n/16; m++) {
    a[ty][tx] = A[row*n + m*16 + tx];
    b[ty][tx] = B[(m*16 + ty)*n + col];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += a[ty][k]*b[k][tx];
    __syncthreads();
  }
  C[row*n + col] = sum;
}
"""


def test_products_of_matrices(tmp_path: Path) -> None:
    n = 512
    launch = f"NAME<<<dim3({n}/16, {n}/16), dim3(16, 16)>>>(x, x, y, {n})"
    plain = of_vectors(MATMUL, launch.replace("NAME", "naive"), tmp_path)
    # a warp has two rows of 16 columns: of A two words in two sectors, of B 16 words in two sectors
    assert sectors_of_warps(plain) == [("load", 2), ("load", 2), ("store", 4)]
    assert amounts(plain, "naive", tmp_path) == pytest.approx(
        {"flops": 2 * n**3, "loads": (8 + 2 * 128 / 32) * n**3, "stores": 4 * n**2}  # two cycles for a line of B
    )
    tiled = of_vectors(MATMUL, launch.replace("NAME", "tiled"), tmp_path)
    assert sectors_of_warps(tiled) == [("load", 4), ("load", 4), ("store", 4)]
    assert wavefronts_of_warps(tiled) == [("store", 1), ("store", 1), ("load", 1), ("load", 1)]
    of_tiles = 2 * n**3 // 16  # words of both matrices that are brought into tiles
    assert amounts(tiled, "tiled", tmp_path) == pytest.approx({
        "flops": 2 * n**3, "loads": (4 + 128 / 32) * of_tiles + 8 * n**3, "stores": 4 * of_tiles + 4 * n**2
    })  # fmt: skip


HISTOGRAM = """__global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += blockDim.x*gridDim.x) atomicAdd(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
int main() {
  unsigned char *in; unsigned *bins;
  cudaMalloc(&in, 1 << 24); cudaMalloc(&bins, 1024);
  cudaMemset(bins, 0, 1024);
  histogram<<<256, 256>>>(in, bins, 1 << 24);
}
"""


def test_a_histogram(tmp_path: Path) -> None:
    found = extracted(HISTOGRAM, tmp_path)
    n, blocks = 1 << 24, 256
    # a byte of each element, 32 of which take a line's cycle, and a word of the block's own bins, 3.53 of 32 in the
    # fullest bank; then these into those of all
    assert amounts(found, "histogram", tmp_path) == pytest.approx(
        {"loads": 128 * n / 32 + 3.533 * 4 * n + 4 * 256 * blocks * 2, "stores": 4 * 256 * blocks * 2}, rel=1e-3
    )
    assert sectors_of_warps(found)[0] == ("load", 1)  # 32 bytes are one sector
    assert "atomics [16] as contended(256)  // on bins" in found.text  # 32 sectors of a block, in two pieces
    assert not [each for each in found.diagnostics if each.code == "not-priced"]


def test_hip_is_read_alike(tmp_path: Path) -> None:
    text = """#include <hip/hip_runtime.h>
    #define BLOCK 256
    __global__ void __launch_bounds__(BLOCK) triad(double *a, const double *b, const double *c) {
      const int i = hipBlockDim_x*0 + blockDim.x*blockIdx.x + threadIdx.x;
      a[i] = b[i] + 0.4*c[i];
    }
    int main() {
      const int n = 1 << 20;
      double *a, *b, *c;
      hipMalloc(&a, n*sizeof(double)); hipMalloc(&b, n*sizeof(double)); hipMalloc(&c, n*sizeof(double));
      hipLaunchKernelGGL(triad, dim3(n/BLOCK), dim3(BLOCK), 0, 0, a, b, c);
      hipDeviceSynchronize();
    }""".replace("hipBlockDim_x*0 + ", "")
    found = extracted(text, tmp_path, "triad.hip")
    n = 1 << 20
    assert amounts(found, "triad", tmp_path) == pytest.approx({"flops": 2 * n, "loads": 16 * n, "stores": 8 * n})
    assert sectors_of_warps(found) == [("load", 8), ("load", 8), ("store", 8)]


def test_copies_go_over_the_link_of_the_host(tmp_path: Path) -> None:
    text = """int main() {
      float *d, *e, *h = (float*)malloc(4096);
      cudaMalloc(&d, 4096); cudaMalloc(&e, 4096);
      cudaMemcpy(d, h, 4096, cudaMemcpyHostToDevice);
      cudaMemcpy(e, d, 4096, cudaMemcpyDeviceToDevice);
      cudaMemcpyAsync(h, e, 1024, cudaMemcpyDeviceToHost, 0);
    }"""
    found = extracted(text, tmp_path)
    (tmp_path / "found.aspen").write_text(found.text, encoding="utf-8")
    model = aspenpy.load_application(tmp_path / "found.aspen")
    counted = {name: float(aspenpy.count(model, name)) for name in ("intracomm", "loads", "stores")}
    assert counted == {"intracomm": 4096 + 1024, "loads": 4096, "stores": 4096}


def test_a_kernel_that_nothing_launches_has_parameters(tmp_path: Path) -> None:
    found = extracted(SAXPY, tmp_path)
    assert "grid_x" in found.text
    assert found.launches[0].threads == 256


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("__global__ void f(float *x) { x[threadIdx.x] = y; }", 1, "undeclared identifier"),
        ("__global__ void f(float *x) {\n  x[threadIdx.w] = 0; }", 2, "no member"),
        ("__global__ int f() { return 1; }", 1, "void"),
        ("__global__ void f() {}\nint main() { f<<<1>>>(); }", 2, "execution configuration"),
        ("__global__ void f() {}\nint main() { f(); }", 2, "not configured"),
        ("int main() {\n  cudaFrobnicate(3); }", 2, "undeclared identifier"),
        ("__global__ void f() {\n  for (", 2, "expected"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, line: int, words: str, tmp_path: Path) -> None:
    with pytest.raises(AspenError) as caught:
        extracted(text, tmp_path)
    first = caught.value.diagnostics[0]
    assert first.span is not None
    assert first.span.position().line == line
    assert words in str(caught.value)


def test_threads_that_divide_their_index(tmp_path: Path) -> None:
    """256 threads in rows of 32: `t/32` is the row, `t%32` and `t & 31` the column."""
    kernel = """__global__ void f(float *y, const float *x, int n) {
      int row = blockIdx.x*8 + threadIdx.x/32, column = threadIdx.x & 31;
      y[row*n + column] = x[row*n + threadIdx.x%32];
      if (threadIdx.x % 32 == 0) y[row] = 2*x[row];
    }"""
    found = of_vectors(kernel, "f<<<64, 256>>>(y, x, 1024)", tmp_path)
    assert amounts(found, "f", tmp_path)["flops"] == 64 * 8
    assert sectors_of_warps(found) == [("load", 4), ("store", 4), ("load", 1), ("store", 1)]
    assert found.launches[0].divergences[0].idle == Fraction(31, 32)


def test_what_the_data_say_has_no_sectors(tmp_path: Path) -> None:
    kernel = "__global__ void f(float *y, const int *p) { int i = blockIdx.x*256 + threadIdx.x; y[p[i]] = 1; }"
    found = of_vectors(kernel, "f<<<64, 256>>>(y, (int*)x)", tmp_path)
    assert sectors_of_warps(found) == [("load", 4)]
    assert " as random" in found.text


@pytest.mark.parametrize("threads", ["0", "-3", "1025", "1000000000"])
def test_blocks_that_no_device_launches(threads: str, tmp_path: Path) -> None:
    found = of_vectors(SAXPY, f"saxpy<<<4, {threads}>>>(1000, 2.0f, x, y)", tmp_path)
    (told,) = [each for each in found.diagnostics if each.code == "bad-launch"]
    assert told.span is not None
    assert told.span.text().startswith("saxpy<<<")


def test_small_launches_are_launches(tmp_path: Path) -> None:
    found = of_vectors(SAXPY, "saxpy<<<1, 1>>>(1, 2.0f, x, y)", tmp_path)
    assert "execute [1] {" in found.text
    # each of two loads looks up a line
    assert amounts(found, "saxpy", tmp_path) == {"flops": 2, "loads": 2 * 128, "stores": 4}


HOSTILE = {
    "recursion": "__device__ int f(int n) { return n < 2 ? n : f(n - 1); }\n__global__ void k(int *x) { x[0] = f(9); }",
    "divergent": "__global__ void k(float *x, int *p) {\n"
    "  for (int j = p[threadIdx.x]; j < p[threadIdx.x + 1]; j++) x[threadIdx.x] += x[j]; }",
    "triangle": "__global__ void k(float *x) { for (int j = 0; j <= threadIdx.x; j++) x[j] += 1; }",
    "powers": "__global__ void k(float *x, int n) { int i = threadIdx.x*threadIdx.x % n; if (i*i < n) x[i] = 1; }",
    "jumps": "__global__ void k(float *x) { switch (threadIdx.x % 4) { case 0: x[0] = 1; break; default: x[1] = 3; }\n"
    "  while (x[0] > 0) x[0] -= 1; goto end; end: x[2] = 3; }",
    "shared": "extern __shared__ double s[];\n__global__ void k(double *x) { s[threadIdx.x] = x[threadIdx.x]; }",
    "deep": "__global__ void k(int *x) { x[0] = " + "(" * 200 + "1" + ")" * 200 + "; }",
    "halvings": "__global__ void k(int *x) { for (int i = 1 << 30; i > 0; i /= 2)\n"
    "  for (int j = i; j > 0; j >>= 1) x[j] = 1; }",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_odd_kernels_have_models(name: str, tmp_path: Path) -> None:
    found = extracted(HOSTILE[name], tmp_path)
    (tmp_path / "found.aspen").write_text(found.text, encoding="utf-8")
    assert aspenpy.load_application(tmp_path / "found.aspen").name == "program"


# -- published times -------------------------------------------------------------------------------

PUBLISHED = Path(__file__).parent / "device" / "published.cu"

VECTORS_OF = (("copy", 16), ("mul", 16), ("add", 24), ("triad", 24), ("dot", 16))
"""Kernels of BabelStream, and the bytes that it counts of an element."""

BABELSTREAM = {
    ("v100", 1 << 27): (811.7, 810.0, 845.8, 846.5, 887.4),
    ("h100_nvl", 1 << 25): (3055.6, 2989.9, 3279.6, 3303.8, 3270.6),
    ("mi300a", 1 << 25): (3833.1, 3690.6, 3455.0, 3538.2, 2946.7),
}
"""GB/s by machine and elements: outputs of BabelStream 4.0 on a V100-PCIE-16GB, and 5.0 on the others."""

TIMES = {
    ("jacobi", "a100_40gb"): 459.6e-6,
    ("copy_inside", "a100_40gb"): 440.8e-6,
    ("jacobi", "h100_pcie"): 365.4e-6,
    ("copy_inside", "h100_pcie"): 344.6e-6,
    ("laplacian", "mi210"): 2 * 8 * 512**3 / (0.5 * 1638.4e9),
    ("product_apart", "v100"): 2 * 4096**3 / 220.0e9,
    ("product_beside", "v100"): 2 * 4096**3 / 1919.3e9,
    ("product_tiled", "v100"): 2 * 4096**3 / 3986.6e9,
    ("product_apart", "a100_40gb"): 2 * 4096**3 / 290.7e9,
    ("product_beside", "a100_40gb"): 2 * 4096**3 / 3006.9e9,
    ("product_tiled", "a100_40gb"): 2 * 4096**3 / 4859.7e9,
    ("transpose_rows", "a100_40gb"): 161.1e-6,
    ("transpose_columns", "a100_40gb"): 143.6e-6,
}
"""Seconds of a launch, with the sources of docs/extract.md."""


def ratios(tmp_path: Path) -> dict[tuple[str, str], float]:
    """Predicted by published times, by kernel and machine."""
    found: dict[tuple[str, str], float] = {}
    models = {}
    for elements, of_warps in ((1 << 25, ()), (1 << 25, AMD), (1 << 27, ())):
        text = extract(PUBLISHED, level="source", flags=(f"-DM={elements}", *of_warps)).text
        (tmp_path / f"published_{elements}.aspen").write_text(text, encoding="utf-8")
        models[elements, of_warps] = aspenpy.load_application(tmp_path / f"published_{elements}.aspen")
    wanted = [
        (kernel, machine, elements, size * elements / (rate * 1e9))
        for (machine, elements), rates in BABELSTREAM.items()
        for (kernel, size), rate in zip(VECTORS_OF, rates, strict=True)
    ]
    wanted += [(kernel, machine, 1 << 25, seconds) for (kernel, machine), seconds in TIMES.items()]
    for kernel, machine, elements, seconds in wanted:
        model = models[elements, AMD if machine.startswith("mi") else ()]
        predicted = aspenpy.predict(model, aspenpy.load_machine(machine), kernel=kernel).runtime
        found[kernel, machine] = predicted / seconds
    return found


def test_predictions_are_near_published_times(tmp_path: Path) -> None:
    found = ratios(tmp_path)
    assert len(found) == 28
    errors = sorted(abs(ratio - 1) for ratio in found.values())
    assert errors[14] < 0.2
    assert all(0.4 < ratio < 1.5 for ratio in found.values()), found
    # the Laplacian moved twice the bytes that it needs (AMD lab notes), which the caches here do not show
    assert 0.6 < found["laplacian", "mi210"] < 1


def test_each_launch_has_its_own_arguments(tmp_path: Path) -> None:
    kernel = "__global__ void f(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x] + 1; }\n"
    found = of_vectors(kernel, "f<<<1, 256>>>(y, x); f<<<1, 256>>>(x, y)", tmp_path)
    moved = [
        line.split(" to ")[-1].split(" from ")[-1].split()[0] for line in found.text.splitlines() if " as nest" in line
    ]
    assert moved == ["x", "y", "y", "x"]


def test_bounds_that_a_rounded_grid_covers(tmp_path: Path) -> None:
    """A grid for n + 31 elements holds the n - 2 inside, whatever n is."""
    text = """#define N 1000
    __global__ void f(float *x) {
      int i = blockIdx.x*32 + threadIdx.x;
      if (i < 1 || i >= N - 1) return;
      x[i] = 2*x[i];
    }
    int main() { float *x; cudaMalloc(&x, 4*N); f<<<(N + 31)/32, 32>>>(x); }"""
    found = extracted(text, tmp_path)
    (tmp_path / "found.aspen").write_text(found.text, encoding="utf-8")
    model = aspenpy.load_application(tmp_path / "found.aspen")
    assert "min(" not in found.text
    assert float(aspenpy.count(model, "flops", set={"N": 777})) == pytest.approx(775)


def test_functions_use_the_shared_memory_of_their_launch(tmp_path: Path) -> None:
    """The bytes of an array without an extent are said by each launch, in functions that a kernel calls, too."""
    text = (
        "__device__ float get(int i) { extern __shared__ float s[]; return s[i]; }\n"
        "__device__ float twice(int i) { return 2*get(i); }\n"
        "__global__ void k(float *x) { extern __shared__ float s[]; s[threadIdx.x] = x[threadIdx.x];\n"
        "  __syncthreads(); x[threadIdx.x] = twice(threadIdx.x); }\n"
        "int main() { float *x; cudaMalloc(&x, 1024); k<<<1, 256, 1024>>>(x); k<<<1, 128, 512>>>(x); }\n"
    )
    found = extracted(text, tmp_path)
    assert found.text.count("as Array(256, 4)") == found.text.count("as Array(128, 4)") == 1
    assert "loads [256] of size [4] from s as rd(0), warm" in found.text
    assert "occupancy(128, 512, k_registers_2)" in found.text
    assert "unknown" not in found.text
    assert "kernel twice" not in found.text


@pytest.mark.parametrize(
    ("load", "store"),
    [
        ("*(const float4*)&x[4*i]", "*(float4*)&y[4*i]"),
        ("reinterpret_cast<const float4*>(x)[i]", "reinterpret_cast<float4*>(y)[i]"),
        ("((const float4*)x)[i]", "*((float4*)y + i)"),
    ],
)
def test_words_that_are_cast_to_vectors(load: str, store: str, tmp_path: Path) -> None:
    """A pointer to floats that is made one to vectors of four: 16 bytes a thread, 16 sectors a warp."""
    kernel = (
        f"__global__ void f(float *y, const float *x) {{ int i = blockIdx.x*256 + threadIdx.x; {store} = {load}; }}"
    )
    found = of_vectors(kernel, "f<<<64, 256>>>(y, x)", tmp_path)
    assert amounts(found, "f", tmp_path) == {"loads": 64 * 256 * 16, "stores": 64 * 256 * 16}
    assert sectors_of_warps(found) == [("load", 16), ("store", 16)]


def test_threads_that_are_divided_twice(tmp_path: Path) -> None:
    """256 threads as two rows of two columns of 64 lanes: `t/64/2`, `t/64%2` and `t%64`."""
    kernel = """__global__ void f(float *y, const float *x, int n) {
      int part = threadIdx.x/64, row = part/2, column = part%2;
      y[(row*2 + column)*n + threadIdx.x%64] = 2*x[row*n + threadIdx.x%64];
    }"""
    found = of_vectors(kernel, "f<<<64, 256>>>(y, x, 1024)", tmp_path)
    words = 64 * 256  # both columns load the same: 8 requests of a block take two cycles each, one beyond its words
    assert amounts(found, "f", tmp_path) == {"flops": words, "loads": 4 * words + 64 * 8 * 128, "stores": 4 * words}
    assert sectors_of_warps(found) == [("load", 4), ("store", 4)]
    assert "random" not in found.text


@pytest.mark.parametrize(("padding", "wavefronts"), [(0, 16), (8, 4)])
def test_banks_of_fragments(padding: int, wavefronts: int, tmp_path: Path) -> None:
    """16 lines of 32 bytes, 16 bytes a thread: rows of 64 bytes begin in one of two banks, those of 80 bytes, five
    times 16, in each of eight places."""
    text = f"""#include <mma.h>
    #define LD (32 + {padding})
    __global__ void f(half *y) {{
      __shared__ half s[16*LD];
      nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a;
      nvcuda::wmma::load_matrix_sync(a, s, LD);
      y[threadIdx.x] = 0.0f;
    }}
    int main() {{ half *y; cudaMalloc(&y, 4096); f<<<1, 32>>>(y); }}"""
    assert wavefronts_of_warps(extracted(text, tmp_path)) == [("load", wavefronts)]


PORTABLE = """#if defined(__HIPCC__) || defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_runtime.h>
#define gpuMalloc hipMalloc
#define gpuMemcpy hipMemcpy
#define gpuMemcpyHostToDevice hipMemcpyHostToDevice
#define gpuDeviceSynchronize hipDeviceSynchronize
#define LANES 64
#else
#include <cuda_runtime.h>
#define gpuMalloc cudaMalloc
#define gpuMemcpy cudaMemcpy
#define gpuMemcpyHostToDevice cudaMemcpyHostToDevice
#define gpuDeviceSynchronize cudaDeviceSynchronize
#define LANES 32
#endif
"""
PROGRAM = """#include "both.h"
__global__ void f(float *x) {
  __shared__ float s[256];
  s[threadIdx.x] = x[blockIdx.x*256 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x % LANES == 0) x[threadIdx.x] = s[255 - threadIdx.x]*warpSize;
}
int main() {
  float *d, h[1024];
  gpuMalloc(&d, 4096); gpuMemcpy(d, h, 4096, gpuMemcpyHostToDevice);
  f<<<4, 256>>>(d); gpuDeviceSynchronize();
}
"""


@pytest.mark.parametrize(("name", "lanes", "copy"), [("a.cu", 32, "cudaMemcpy"), ("a.hip", 64, "hipMemcpy")])
def test_one_source_for_both_compilers(name: str, lanes: int, copy: str, tmp_path: Path) -> None:
    (tmp_path / "both.h").write_text(PORTABLE, encoding="utf-8")
    found = extracted(PROGRAM, tmp_path, name)
    assert f"intracomm [4096]  // {copy}" in found.text
    assert f"// 1 of {lanes} threads of a warp work" in found.text
    assert amounts(found, "f", tmp_path)["flops"] == 4 * 256 / lanes


@pytest.mark.parametrize(
    ("loop", "passes"),
    [
        ("i = blockIdx.x*512 + t; i < 1 << 24; i += 512*64", 512),  # of threads that are divided into 16 rows of 32
        ("i = t; i < 1 << 24; i += 512", 1 << 15),
        ("i = t; i < (1 << 24) + 100; i += 2048", 8192 + 100 / 512),  # each pass does four elements
    ],
)
def test_passes_of_a_loop_over_the_grid(loop: str, passes: float, tmp_path: Path) -> None:
    kernel = f"""
    __global__ void sum(float *out, const float *in) {{
      __shared__ float own[16];
      float value = 0;
      int t = threadIdx.x;
      for (int {loop}) value += in[i];
      if (t % 32 == 0) own[t/32] = value;
      __syncthreads();
      out[blockIdx.x*512 + t] = own[0];
    }}
    """
    found = of_vectors(kernel, "sum<<<64, 512>>>(y, x)", tmp_path)
    assert "which is too involved" not in found.text
    assert amounts(found, "sum", tmp_path)["flops"] == pytest.approx(64 * 512 * passes)


def test_pieces_that_lie_apart_are_words_of_their_own(tmp_path: Path) -> None:
    """Each block reads four pieces of 1 KiB one behind the other, and rows above and below that others read, too."""
    kernel = "__global__ void sum(float *out, const float *in) { int i = blockIdx.x*%d + threadIdx.x; out[i] = %s; }"
    four = kernel % (1024, "in[i] + in[i + 256] + in[i + 512] + in[i + 768]")
    assert "nest(4, 256, 1024, 4)" in of_vectors(four, "sum<<<256, 256>>>(y, x)", tmp_path).text
    rows = kernel % (256, "in[i] + in[i + 4096] + in[i + 8192]")
    assert "from x as nest(4, 256)" in of_vectors(rows, "sum<<<256, 256>>>(y, x)", tmp_path).text


def test_a_template_of_the_device_is_read_where_it_is_used(tmp_path: Path) -> None:
    text = """
    template <class T> struct Pair { T x, y; };
    template <class T> __device__ void scale(Pair<T> *pairs) { pairs[blockIdx.x*256 + threadIdx.x].x *= 2; }
    __global__ void pairs(Pair<float> *pairs) { scale(pairs); }
    """
    found = extracted(text + VECTORS.replace("LAUNCH", "pairs<<<64, 256>>>((Pair<float>*)x)"), tmp_path)
    assert "kernel scale" not in found.text
    assert not [each.code for each in found.diagnostics if each.code == "not-understood"]
    assert amounts(found, "pairs", tmp_path)["flops"] == 64 * 256


def test_a_chain_of_conditions_on_threads_is_settled(tmp_path: Path) -> None:
    """Of 256 threads each of the first 39 stores twice its word, the others stand aside."""
    arms = " else ".join(f"if (threadIdx.x == {k}) out[blockIdx.x*256 + {k}] = 2*in[{k}];" for k in range(39))
    kernel = f"__global__ void some(float *out, const float *in) {{ {arms} }}"
    assert amounts(of_vectors(kernel, "some<<<64, 256>>>(y, x)", tmp_path), "some", tmp_path)["flops"] == 64 * 39


@pytest.mark.parametrize(
    ("condition", "grid"),
    [("threadIdx.x < 32", 64), ("blockIdx.x*1024 + threadIdx.x < 8", 1), ("threadIdx.x/32 + 32*blockIdx.y < 1", 64)],
)
def test_a_block_waits_as_long_as_its_longest_warp(condition: str, grid: int, tmp_path: Path) -> None:
    """400 passes, four of which are under way at once, are 100 trips of a block, however few of its warps make them."""
    kernel = f"""__global__ void sum(float *__restrict__ out, const float *__restrict__ in) {{
      float value = 0;
      if ({condition}) {{
        for (int k = 0; k < 400; k++) value += in[1024*k + threadIdx.x];
        out[threadIdx.x] = value;
      }}
    }}"""
    text = of_vectors(kernel, f"sum<<<{grid}, 1024>>>(y, x)", tmp_path).text
    assert "chain [100] as load" in text


def chains(text: str, kernel: str) -> dict[str, str]:
    """Links of a kernel's chains by what they are of, and the instructions that its blocks issue."""
    (body,) = re.findall(rf"kernel {kernel} {{.*?\n  }}", text, re.DOTALL)
    found = {way: links for links, way in re.findall(r"chain \[(.*)\] as (\w+)", body)}
    return {**found, **dict(re.findall(r"(issues) \[(.*)\]", body))}


def test_waits_and_instructions_of_a_sum_by_a_tree(tmp_path: Path) -> None:
    """256 threads are 8 warps. Each begins with an address of two operations, a load, a store and a barrier, and has a
    comparison and a barrier in each of eight passes and a comparison behind them. In a pass 4, 2, 1, 1, ... warps add
    two words of shared memory: an address, two loads, an addition and a store; the first then loads and stores."""
    kernel = """__global__ void tree(float *out, const float *in) {
      __shared__ float s[256];
      int t = threadIdx.x;
      s[t] = in[blockIdx.x*256 + t];
      __syncthreads();
      for (int k = 128; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
      }
      if (t == 0) out[blockIdx.x] = s[0];
    }"""
    found = chains(of_vectors(kernel, "tree<<<64, 256>>>(y, x)", tmp_path).text, "tree")
    working = 4 + 2 + 6
    assert found.pop("issues") == str(8 * (5 + 8 * 2 + 1) + working * 5 + 2)
    # the longest warp is the first: it works in all passes
    assert found == {"load": "1", "scratchpad": "9", "barrier": "9", "integer": str(5 + 8 * 2 + 1 + 8 * 5 + 2)}


@pytest.mark.parametrize("text", ["sum(in[i])", "grouped(in[i])"])
def test_threads_of_a_warp_exchange_words(text: str, tmp_path: Path) -> None:
    """Five exchanges, each with an addition, in a function of the device whose loop halves its counter."""
    kernel = f"""#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __device__ float sum(float v) {{
      for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffffu, v, k);
      return v;
    }}
    __device__ float grouped(float v) {{
      auto tile = cg::tiled_partition<32>(cg::this_thread_block());
      for (int k = warpSize/2; k > 0; k >>= 1) v += tile.shfl_down(v, k);
      return v;
    }}
    __global__ void warps(float *out, const float *in) {{
      int i = blockIdx.x*128 + threadIdx.x;
      out[i] = {text};
    }}"""
    found = of_vectors(kernel, "warps<<<64, 128>>>(y, x)", tmp_path)
    assert amounts(found, "warps", tmp_path)["flops"] == 64 * 128 * 5
    assert chains(found.text, "warps")["scratchpad"] == "5"
    assert chains(found.text, "warps")["issues"] == str(4 * (2 + 1 + 2 * 5 + 1))


@pytest.mark.parametrize(
    ("condition", "threads", "warps"),
    [("i % 2", 64, 4), ("(threadIdx.x/32) % 2", 64, 2), ("threadIdx.x != 5", 127, 4), ("!(threadIdx.x % 4)", 32, 4)],
)
def test_numbers_as_conditions_are_decided(condition: str, threads: int, warps: int, tmp_path: Path) -> None:
    kernel = f"""__global__ void some(float *out) {{
      int i = blockIdx.x*128 + threadIdx.x;
      if ({condition}) out[i] = 1;
    }}"""
    found = of_vectors(kernel, "some<<<64, 128>>>(y)", tmp_path)
    assert not [hole for hole in found.holes if "branch" in hole.name]
    assert amounts(found, "some", tmp_path)["stores"] == 64 * 4 * threads
    (store,) = accesses(found)
    assert (store.threads, store.warps) == (threads, warps)


def test_a_grid_of_one_block_is_settled_by_its_threads(tmp_path: Path) -> None:
    """The threads of 32 x 32 that lie in the first column are one of each warp: 32 requests, of 4 sectors in all."""
    kernel = """__global__ void column(float *__restrict__ out, const float *__restrict__ in) {
      int x = blockIdx.x*32 + threadIdx.x, y = blockIdx.y*32 + threadIdx.y;
      if (x < 1) out[y] = in[y];
    }"""
    found = of_vectors(kernel, "column<<<dim3(1, 64), dim3(32, 32)>>>(y, x)", tmp_path)
    load = next(each for each in accesses(found) if each.kind == "load")
    assert (load.warps, load.sectors, load.block_sectors) == (32, 32, 4)
    assert "chain [1] as load, together(8)" in found.text


@pytest.mark.parametrize(
    ("word", "statement", "load", "store"),
    [
        ("struct { float x, y, z; }", "float z = in[i].z; sum += z", 12, 0),  # words 12 B apart, the last 4 of each
        ("double2", "double2 v = in[i]; sum += v.x + v.y", 16, 0),
        ("unsigned char", "sum += in[i]", 1, 0),
        ("float", "out[4095 - i] = in[i]", 4, 4),  # backwards, from the end of a sector
        ("float", "out[i] = in[i + (i & 1)]", 5, 4),  # odd threads read the next word, the last one of the next sector
    ],
)
def test_sectors_of_other_words(word: str, statement: str, load: int, store: int, tmp_path: Path) -> None:
    kernel = f"""typedef {word} Word;
    __global__ void some(float *out, const Word *in) {{
      int i = blockIdx.x*128 + threadIdx.x;
      float sum = 0;
      {statement};
      if (sum > 1e9f) out[0] = sum;
    }}
    int main() {{ float *x; Word *y; cudaMalloc(&x, 1 << 22); cudaMalloc(&y, 1 << 22); some<<<32, 128>>>(x, y); }}"""
    found = sectors_of_warps(extracted(kernel, tmp_path))
    assert ("load", load) in found
    assert not store or ("store", store) in found


@pytest.mark.parametrize("threads", [32, 64, 256])
def test_loops_of_a_warp_over_its_row(threads: int, tmp_path: Path) -> None:
    """Each warp sums a row of 768 words, 32 at a time: 24 passes of each thread, however many warps a block has."""
    kernel = f"""__global__ void rows(float *__restrict__ out, const float *__restrict__ in) {{
      int row = blockIdx.x*{threads // 32} + threadIdx.x/32, lane = threadIdx.x % 32;
      float sum = 0;
      for (int i = lane; i < 768; i += 32) sum += in[row*768 + i];
      if (lane == 0) out[row] = sum;
    }}"""
    found = of_vectors(kernel, f"rows<<<{1024 * 32 // threads}, {threads}>>>(y, x)", tmp_path)
    counted = amounts(found, "rows", tmp_path)
    assert counted == {"flops": 1024 * 768, "loads": pytest.approx(1024 * 768 * 4, rel=0.01), "stores": 1024 * 4}
