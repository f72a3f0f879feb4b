"""Instructions of matrix units: their shapes and precisions, from the types of fragments and the names of builtins.

NVIDIA, CUDA C++ Programming Guide, section 10.24 ("Warp Matrix Functions"), and PTX ISA, "Warp-level matrix
instructions"; AMD, rocWMMA's API reference, and "AMD Instinct MI200" Instruction Set Architecture, chapter 7: an
instruction of 64 lanes multiplies as many small matrices as fill the lanes with their elements of A.
"""

from __future__ import annotations

import re

from aspenpy.record import Record

PRECISIONS = {
    "__half": "fp16", "__nv_bfloat16": "bf16", "tf32": "tf32", "signed char": "int8", "unsigned char": "int8",
    "char": "int8", "double": "dp", "float": "sp", "f16": "fp16", "bf16": "bf16", "s8": "int8", "u8": "int8",
    "f64": "dp", "f32": "sp", "i8": "int8", "xf32": "tf32", "bf16_1k": "bf16", "e4m3": "fp8", "e5m2": "fp8",
    "fp8_fp8": "fp8", "bf8_bf8": "fp8",
}  # fmt: skip
"""The language's words for the types of elements in C++, in PTX and in AMD's builtins."""

SIZES = {"fp16": 2, "bf16": 2, "tf32": 4, "int8": 1, "dp": 8, "sp": 4}

_FRAGMENT = re.compile(
    r"fragment<(?:\w++::)*+(matrix_[ab]|accumulator), (\d++), (\d++), (\d++), ([\w: ]++)(?:, ([\w:]++))?>"
)
_MFMA = re.compile(r"__builtin_amdgcn_mfma_(?:f32|i32|f64)_(\d++)x(\d++)x(\d++)_?+([a-z]\w++)")
_PTX = re.compile(
    r"\bmma\.sync\.aligned\.m(\d++)n(\d++)k(\d++)(?:\.(?:row|col)){2}\.(?:\w++\.)*?(?:f16|f32|s32|f64)\.(\w++)\."
)

_GROUP = re.compile(r"\bwgmma\.mma_async\.sync\.aligned\.m64n(\d++)k(\d++)\.(?:f16|f32|s32)\.(\w++)\.")
WARPS_OF_GROUP = 4
"""Warps whose product an instruction of a warpgroup is (PTX ISA, "wgmma.mma_async")."""

_OF_LANE = {"fp16": 4, "bf16": 2, "int8": 4, "tf32": 2, "fp8": 8}
"""Elements of A that a lane has, by precision; of others one."""

MFMA = tuple(
    f"__builtin_amdgcn_mfma_{name}"
    for name in (
        "f32_32x32x1f32 f32_16x16x1f32 f32_4x4x1f32 f32_32x32x2f32 f32_16x16x4f32 f32_32x32x4f16 f32_16x16x4f16 "
        "f32_4x4x4f16 f32_32x32x8f16 f32_16x16x16f16 i32_32x32x4i8 i32_16x16x4i8 i32_4x4x4i8 i32_32x32x8i8 "
        "i32_16x16x16i8 f32_32x32x2bf16 f32_16x16x2bf16 f32_4x4x2bf16 f32_32x32x4bf16 f32_16x16x8bf16 "
        "f32_32x32x4bf16_1k f32_16x16x4bf16_1k f32_4x4x4bf16_1k f32_32x32x8bf16_1k f32_16x16x16bf16_1k f64_16x16x4f64 "
        "f64_4x4x4f64 i32_16x16x32_i8 i32_32x32x16_i8 f32_16x16x8_xf32 f32_32x32x4_xf32 f32_16x16x32_fp8_fp8 "
        "f32_32x32x16_fp8_fp8 f32_16x16x32_bf8_bf8 f32_32x32x16_bf8_bf8"
    ).split()
)
"""Builtins of AMD's compilers for gfx908 to gfx942."""


class Fragment(Record):
    """The part of a matrix that the threads of a warp hold together: its lines in memory and the elements of each."""

    use: str
    m: int
    n: int
    k: int
    precision: str
    layout: str = ""

    def lines(self, is_by_rows: bool) -> tuple[int, int]:
        rows, columns = {"matrix_a": (self.m, self.k), "matrix_b": (self.k, self.n)}.get(self.use, (self.m, self.n))
        return (rows, columns) if is_by_rows else (columns, rows)

    @property
    def size(self) -> int:
        return 4 if self.precision == "int" else SIZES[self.precision]

    @property
    def is_by_rows(self) -> bool:
        return not self.layout.endswith("col_major")


def read_fragment(spelling: str) -> Fragment | None:
    """The fragment that the canonical name of a type says; None for other types."""
    match = _FRAGMENT.search(spelling)
    precision = None if match is None else PRECISIONS.get(match[5].rsplit("::", 1)[-1], match[5])
    if match is None or precision not in {*SIZES, "int"}:
        return None
    return Fragment(
        match[1], int(match[2]), int(match[3]), int(match[4]), precision=str(precision), layout=match[6] or ""
    )


class MatrixProduct(Record):
    """The flops of a warp's instruction, and the precision of what it multiplies."""

    flops: int
    precision: str


def read_builtin(name: str) -> MatrixProduct | None:
    """The product of a builtin of AMD's compilers; None for other functions."""
    match = _MFMA.fullmatch(name)
    if match is None or match[4] not in PRECISIONS:
        return None
    m, n, k = (int(match[at]) for at in (1, 2, 3))
    precision = PRECISIONS[match[4]]
    of_lane = 4 if match[4] == "bf16_1k" else _OF_LANE.get(precision, 1)
    return MatrixProduct(2 * m * n * k * max(1, 64 * of_lane // (m * k)), precision)


def read_assembly(text: str) -> MatrixProduct | None:
    """A warp's product of an `mma.sync` of PTX, or its part of a `wgmma`; None for other instructions."""
    group = _GROUP.search(text)
    if group is not None and group[3] in {*PRECISIONS, "tf32"}:
        flops = 2 * 64 * int(group[1]) * int(group[2])
        return MatrixProduct(flops // WARPS_OF_GROUP, PRECISIONS[group[3]])
    match = _PTX.search(text)
    if match is None or match[4] not in {*PRECISIONS, "tf32"}:
        return None
    m, n, k = (int(match[at]) for at in (1, 2, 3))
    return MatrixProduct(2 * m * n * k, PRECISIONS[match[4]])


def write_header() -> str:
    """Declarations of `mma.h`, rocWMMA and AMD's builtins."""
    words = "struct matrix_a; struct matrix_b; struct accumulator; struct row_major; struct col_major;"
    moved = "template <class F, class T> __device__ void"
    return "\n".join([
        "struct __half { unsigned short bits; __half() = default; __host__ __device__ __half(float);",
        "  __host__ __device__ operator float() const; }; typedef __half half;",
        "struct __nv_bfloat16 { unsigned short bits; __nv_bfloat16() = default;",
        "  __host__ __device__ __nv_bfloat16(float); __host__ __device__ operator float() const; };",
        "typedef __nv_bfloat16 nv_bfloat16; typedef __nv_bfloat16 hip_bfloat16; typedef __nv_bfloat16 __hip_bfloat16;",
        "__host__ __device__ float __half2float(__half); __host__ __device__ __half __float2half(float);",
        "__host__ __device__ float __bfloat162float(__nv_bfloat16);",
        "__host__ __device__ __nv_bfloat16 __float2bfloat16(float);",
        *(f"__device__ __half {name}(__half, __half);" for name in ("__hadd", "__hsub", "__hmul", "__hdiv")),
        "__device__ __half __hfma(__half, __half, __half);",
        "namespace nvcuda { namespace wmma {",
        words,
        "enum layout_t { mem_row_major, mem_col_major };",
        "namespace precision { struct tf32; }",
        "template <class T> struct element_of { typedef T type; };",
        "template <> struct element_of<precision::tf32> { typedef float type; };",
        "template <class U, int m, int n, int k, class T, class L = void> struct fragment {",
        "  enum { num_elements = m*n < warpSize ? 1 : m*n/warpSize }; typename element_of<T>::type x[num_elements]; };",
        f"{moved} fill_fragment(F&, T); {moved} load_matrix_sync(F&, const T*, unsigned);",
        f"{moved} load_matrix_sync(F&, const T*, unsigned, layout_t);",
        f"{moved} store_matrix_sync(T*, const F&, unsigned, layout_t);",
        "template <class D, class A, class B, class C> __device__ void mma_sync(D&, const A&, const B&, const C&,",
        "  bool = false); __device__ float __float_to_tf32(float);",
        "} }",
        "namespace rocwmma { using namespace nvcuda::wmma; typedef __half float16_t; typedef __nv_bfloat16 bfloat16_t;",
        "typedef float float32_t; typedef double float64_t; typedef int int32_t; typedef signed char int8_t; }",
        *(
            f"template <class A, class B, class C, class... R> __device__ C {name}(A, B, C, R...);" for name in MFMA
        ),
    ])  # fmt: skip
