"""Instructions of matrix units: flops, words and sectors of fragments by hand, by the shapes of the guides."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.matrix_units import MFMA, read_assembly, read_builtin

pytest.importorskip("clang.cindex", reason="CUDA is read by libclang: pip install 'aspenpy[extract]'")

GEMM = """#include <mma.h>
using namespace nvcuda;
__global__ void gemm(const TYPE *a, const TYPE *b, SUM *c, int N, int K) {
  int warp = blockIdx.x*4 + threadIdx.x/32, row = warp*WM, col = blockIdx.y*WN;
  wmma::fragment<wmma::matrix_a, WM, WN, WK, ELEMENT, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, WM, WN, WK, ELEMENT, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, WM, WN, WK, SUM> sum;
  wmma::fill_fragment(sum, 0);
  for (int k = 0; k < K; k += WK) {
    wmma::load_matrix_sync(fa, a + row*K + k, K);
    wmma::load_matrix_sync(fb, b + col*K + k, K);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + row*N + col, sum, N, wmma::mem_row_major);
}
int main() {
  TYPE *a, *b; SUM *c;
  cudaMalloc(&a, 1024*1024*sizeof(TYPE)); cudaMalloc(&b, 1024*1024*sizeof(TYPE)); cudaMalloc(&c, 1024*1024*sizeof(SUM));
  gemm<<<dim3(1024/WM/4, 1024/WN), 128>>>(a, b, c, 1024, 1024);
}
"""
N = 1024


def extracted(text: str, folder: Path, name: str = "a.cu") -> Extraction:
    (folder / name).write_text(text, encoding="utf-8")
    return extract(folder / name, level="source")


@pytest.mark.parametrize(
    ("shape", "element", "type", "sum", "precision"),
    [
        ((16, 16, 16), "half", "half", "float", "fp16"),
        ((32, 8, 16), "half", "half", "float", "fp16"),
        ((8, 32, 16), "half", "half", "float", "fp16"),
        ((16, 16, 16), "__nv_bfloat16", "__nv_bfloat16", "float", "bf16"),
        ((16, 16, 8), "wmma::precision::tf32", "float", "float", "tf32"),
        ((16, 16, 16), "signed char", "signed char", "int", "int8"),
        ((8, 8, 4), "double", "double", "double", "dp"),
    ],
)
def test_products_of_fragments(
    shape: tuple[int, int, int], element: str, type: str, sum: str, precision: str, tmp_path: Path
) -> None:
    m, n, k = shape
    text = GEMM.replace("ELEMENT", element).replace("TYPE", type).replace("SUM", sum)
    for name, extent in (("WM", m), ("WN", n), ("WK", k)):
        text = text.replace(name, str(extent))
    found = extracted(text, tmp_path)
    assert f"as tensor, {precision}" in found.text
    size = {"fp16": 2, "bf16": 2, "tf32": 4, "int8": 1, "dp": 8}[precision]
    warps, of_sum = (N // m) * (N // n), 8 if sum == "double" else 4
    counted = {name: float(aspenpy.count(aspenpy.parse(found.text), name)) for name in ("flops", "stores")}
    assert counted == {"flops": 2 * N**3, "stores": of_sum * N * N}
    # each step of a warp has m lines of A and n of B, of k elements each, in sectors of their own
    moved = [
        (access.kind, access.size, access.threads // access.warps, access.sectors / access.warps)
        for access in found.launches[0].accesses.values()
        if access.sectors is not None
    ]
    sectors = max(1, k * size // 32)
    assert moved == [
        ("load", k * size, m, m * sectors),
        ("load", k * size, n, n * sectors),
        ("store", n * of_sum, m, m * max(1, n * of_sum // 32)),
    ]
    words = sum_of_loads(found)
    assert words == warps * (N // k) * (m + n) * k * size
    assert not [each for each in found.diagnostics if each.code == "not-counted"]


def sum_of_loads(found: Extraction) -> float:
    """Bytes of loads, without those that a lookup of a line stands for."""
    lines = [line for line in found.text.splitlines() if "size [128]" not in line]
    return float(aspenpy.count(aspenpy.parse("\n".join(lines)), "loads"))


@pytest.mark.parametrize(
    ("name", "flops", "precision"),
    [  # AMD's instruction calculator: 32x32x8 of f16 are 16384 flops in 32 cycles of a unit
        ("f32_32x32x8f16", 2 * 32 * 32 * 8, "fp16"),
        ("f32_32x32x4f16", 2 * 2 * 32 * 32 * 4, "fp16"),
        ("f32_4x4x4f16", 16 * 2 * 4 * 4 * 4, "fp16"),
        ("f32_16x16x4f32", 2 * 16 * 16 * 4, "sp"),
        ("f32_32x32x1f32", 2 * 2 * 32 * 32, "sp"),
        ("f32_32x32x2bf16", 2 * 2 * 32 * 32 * 2, "bf16"),
        ("f32_32x32x8bf16_1k", 2 * 32 * 32 * 8, "bf16"),
        ("f64_16x16x4f64", 2 * 16 * 16 * 4, "dp"),
        ("f64_4x4x4f64", 4 * 2 * 4 * 4 * 4, "dp"),
        ("i32_32x32x8i8", 2 * 32 * 32 * 8, "int8"),
        ("i32_16x16x32_i8", 2 * 16 * 16 * 32, "int8"),
        ("f32_16x16x32_fp8_fp8", 2 * 16 * 16 * 32, "fp8"),
    ],
)
def test_builtins_of_amd(name: str, flops: int, precision: str, tmp_path: Path) -> None:
    product = read_builtin(f"__builtin_amdgcn_mfma_{name}")
    assert product is not None
    assert (product.flops, product.precision) == (flops, precision)


def test_a_kernel_with_builtins(tmp_path: Path) -> None:
    assert all(read_builtin(name) is not None for name in MFMA)
    text = """#include <hip/hip_runtime.h>
    typedef float float4_ __attribute__((ext_vector_type(4)));
    __global__ void f(float *c, const float *a, const float *b) {
      float4_ sum = {0, 0, 0, 0};
      for (int k = 0; k < 64; k++)
        sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[k*64 + threadIdx.x], b[k*64 + threadIdx.x], sum, 0, 0, 0);
      c[threadIdx.x] = 1;
    }
    int main() { float *x; hipMalloc(&x, 1 << 20); f<<<10, 64>>>(x, x, x); }"""
    found = extracted(text, tmp_path, "a.hip")
    model = aspenpy.parse(found.text)
    assert "as tensor, sp" in found.text
    assert float(aspenpy.count(model, "flops")) == 10 * 64 * 2 * 16 * 16 * 4


@pytest.mark.parametrize(
    ("text", "flops", "precision"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0}, {%1};", 2 * 16 * 8 * 16, "fp16"),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0}", 2 * 16 * 8 * 8, "tf32"),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0}", 2 * 8 * 8 * 4, "dp"),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0}", 2 * 16 * 8 * 32, "int8"),
    ],
)
def test_assembly_is_read(text: str, flops: int, precision: str, tmp_path: Path) -> None:
    product = read_assembly(text)
    assert product is not None
    assert (product.flops, product.precision) == (flops, precision)
    kernel = f"""__global__ void f(float *x) {{
      float d;
      for (int k = 0; k < 8; k++) asm volatile("{text}" : "+f"(d) : "r"(1));
      x[threadIdx.x] = d;
    }}
    int main() {{ float *x; cudaMalloc(&x, 4096); f<<<6, 64>>>(x); }}"""
    found = extracted(kernel, tmp_path)
    assert float(aspenpy.count(aspenpy.parse(found.text), "flops")) == 6 * 2 * 8 * flops


ROCWMMA = """#include <hip/hip_runtime.h>
#include <rocwmma/rocwmma.hpp>
__global__ void gemm(const rocwmma::float16_t *a, const rocwmma::float16_t *b, float *c, int N, int K) {
  int row = (blockIdx.x*blockDim.x + threadIdx.x)/warpSize*16, col = blockIdx.y*16;
  rocwmma::fragment<rocwmma::matrix_a, 16, 16, 16, rocwmma::float16_t, rocwmma::row_major> fa;
  rocwmma::fragment<rocwmma::matrix_b, 16, 16, 16, rocwmma::float16_t, rocwmma::col_major> fb;
  rocwmma::fragment<rocwmma::accumulator, 16, 16, 16, rocwmma::float32_t> sum;
  rocwmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < K; k += 16) {
    rocwmma::load_matrix_sync(fa, a + row*K + k, K);
    rocwmma::load_matrix_sync(fb, b + col*K + k, K);
    rocwmma::mma_sync(sum, fa, fb, sum);
  }
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 2.0f;
  rocwmma::store_matrix_sync(c + row*N + col, sum, N, rocwmma::mem_row_major);
}
int main() {
  rocwmma::float16_t *a; float *c;
  hipMalloc(&a, 1024*1024*2); hipMalloc(&c, 1024*1024*4);
  hipLaunchKernelGGL(gemm, dim3(1024/16/4, 1024/16), dim3(256), 0, 0, a, a, c, 1024, 1024);
}
"""


def test_rocwmma_is_read_alike(tmp_path: Path) -> None:
    found = extracted(ROCWMMA, tmp_path, "a.hip")
    of_sum = 1024 * 1024  # each element is doubled once, in registers
    assert float(aspenpy.count(aspenpy.parse(found.text), "flops")) == 2 * 1024**3 + of_sum
    assert "as tensor, fp16" in found.text
    assert "from x as rd(0), warm" in found.text
    assert not [each for each in found.diagnostics if each.code in ("unknown", "not-counted")]


def test_halves_outside_of_fragments_are_computed_in_single_precision(tmp_path: Path) -> None:
    text = """#include <cuda_fp16.h>
    __global__ void f(half *y, const half *x, half a) {
      int i = blockIdx.x*blockDim.x + threadIdx.x;
      y[i] = a*x[i] + y[i];
      y[i + 4096] = __hfma(a, x[i + 4096], __float2half(1.0f + __half2float(y[i + 4096])));
    }
    int main() { half *x, *y; cudaMalloc(&x, 16384); cudaMalloc(&y, 16384); f<<<16, 256>>>(y, x, 2.0f); }"""
    found = extracted(text, tmp_path)
    model = aspenpy.parse(found.text)
    assert float(aspenpy.count(model, "flops")) == 4096 * 5
    assert float(aspenpy.count(model, "stores")) == 2 * 2 * 4096


def test_what_is_not_known_is_named(tmp_path: Path) -> None:
    text = """__global__ void f(float *x) {
      float d;
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      x[threadIdx.x] = d;
    }"""
    found = extracted(text, tmp_path)
    (told,) = [each for each in found.diagnostics if each.code == "not-counted"]
    assert told.span is not None
    assert told.span.position().line == 3


def test_products_of_warpgroups(tmp_path: Path) -> None:
    """Each warpgroup of 128 threads multiplies 64 x 16 by 16 x 256 in one instruction."""
    text = """__global__ void f(float *x) {
      float d;
      asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%0}, %1, %2;" : "+f"(d) : "l"(0), "l"(0));
      x[blockIdx.x*256 + threadIdx.x] = d;
    }
    int main() { float *x; cudaMalloc(&x, 65536); f<<<64, 256>>>(x); }"""
    found = extracted(text, tmp_path)
    assert "as tensor, bf16" in found.text
    assert float(aspenpy.count(aspenpy.parse(found.text), "flops")) == 64 * 2 * (2 * 64 * 256 * 16)
