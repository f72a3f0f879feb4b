"""Sectors, banks, divergence and occupancy of kernels, each counted by hand; the kernels were written before the front
end had read any of them."""

import re
from fractions import Fraction as F
from pathlib import Path

import pytest

from tests.extract.test_device import AMD, extracted, sectors_of_warps, wavefronts_of_warps

STRUCTURES = "struct Four { float x, y, z, w; };\nstruct Three { float x, y, z; };\n"
INDEX = "int i = blockIdx.x*blockDim.x + threadIdx.x;"


def program(formals: str, body: str, launch: str) -> str:
    names = [part.rpartition("*")[2].strip() for part in formals.split(",")]
    types = [part.rpartition("*")[0].replace("const", "").strip() for part in formals.split(",")]
    made = "".join(
        f"  {type} *{name};\n  cudaMalloc(&{name}, 1 << 26);\n" for type, name in zip(types, names, strict=True)
    )
    kernel = f"__global__ void f({formals}) {{\n{body}\n}}\n"
    return f"{STRUCTURES}{kernel}int main() {{\n{made}  f<<<{launch}>>>({', '.join(names)});\n}}\n"


SECTORS = {
    # 32 structures of 16 bytes: 512 bytes, two in a sector
    "four": ("float *y, const Four *p", f"{INDEX} y[i] = p[i].y;", "64, 256", [("load", 16), ("store", 4)]),
    # 32 of 12 bytes: 384 bytes, of which each sector has a word
    "three": ("float *y, const Three *p", f"{INDEX} y[i] = p[i].z;", "64, 256", [("load", 12), ("store", 4)]),
    # the last 32 words first: a part of 128 bytes that begins at a sector
    "reverse": ("float *y, const float *x", f"{INDEX} y[i] = x[16383 - i];", "64, 256", [("load", 4), ("store", 4)]),
    # two rows of 16 words of 8 bytes, 8000 bytes = 250 sectors apart
    "rows": (
        "double *y, const double *x",
        "int i = blockIdx.x*16 + threadIdx.x, j = blockIdx.y*16 + threadIdx.y; y[j*1000 + i] = x[j*1000 + i];",
        "dim3(60, 60), dim3(16, 16)",
        [("load", 8), ("store", 8)],
    ),
    # four rows of 8 words of 4 bytes, 1001 words apart: the row j begins 4 (j mod 8) bytes into a sector, so that rows
    # 0 to 3 take 1 + 2 + 2 + 2, rows 4 to 7 take 8
    "odd_rows": (
        "float *y, const float *x",
        "int i = blockIdx.x*8 + threadIdx.x, j = blockIdx.y*8 + threadIdx.y; y[j*1024 + i] = x[j*1001 + i];",
        "dim3(125, 125), dim3(8, 8)",
        [("load", F(15, 2)), ("store", 4)],
    ),
    # every fourth thread: 8 words of 4 bytes, 16 bytes apart
    "fourth": (
        "float *x, const float *y",
        f"{INDEX} if (threadIdx.x % 4 == 0) x[i] = y[i];",
        "64, 256",
        [("load", 4), ("store", 4)],
    ),
    # a permutation inside of 32 words
    "permuted": (
        "float *y, const float *x",
        f"{INDEX} y[i] = x[(threadIdx.x*17) % 32 + 32*(i/32)];",
        "64, 256",
        [("load", 4), ("store", 4)],
    ),
    "pairs": ("double2 *y, const double2 *x", f"{INDEX} y[i] = x[i];", "64, 256", [("load", 16), ("store", 16)]),
    "bytes": (
        "unsigned char *y, const unsigned char *x", f"{INDEX} y[i] = x[i];", "64, 256", [("load", 1), ("store", 1)]
    ),
    # words of 2 bytes, 6 apart: 31*6 + 2 = 188 bytes
    "thirds": ("short *y, const short *x", f"{INDEX} y[i] = x[3*i];", "64, 256", [("load", 6), ("store", 2)]),
    # all threads one word, and those of a quarter one
    "shared_words": (
        "float *y, const float *x",
        f"{INDEX} y[i] = x[blockIdx.x] + x[i/8];",
        "64, 256",
        [("load", 1), ("load", 1), ("store", 4)],
    ),
    # a column: each thread a row of 256 bytes
    "column": (
        "float *y, const float *x", f"{INDEX} y[i] = x[64*i + blockIdx.x % 8];", "8, 256", [("load", 32), ("store", 4)]
    ),
}  # fmt: skip

PIECES = {"four": (16, 4), "three": (12, 4), "reverse": (4, 4), "bytes": (1, 1), "pairs": (16, 16)}
"""Pieces of 64 bytes that a wavefront of 64 threads asks for: a load and a store."""


@pytest.mark.parametrize("name", SECTORS)
def test_sectors_by_hand(name: str, tmp_path: Path) -> None:
    formals, body, launch, expected = SECTORS[name]
    assert sectors_of_warps(extracted(program(formals, body, launch), tmp_path)) == expected


@pytest.mark.parametrize("name", PIECES)
def test_pieces_of_wavefronts_by_hand(name: str, tmp_path: Path) -> None:
    formals, body, launch, _ = SECTORS[name]
    found = sectors_of_warps(extracted(program(formals, body, launch), tmp_path, "program.hip", flags=AMD))
    assert found == [("load", PIECES[name][0]), ("store", PIECES[name][1])]


@pytest.mark.parametrize(
    ("place", "shape", "wavefronts"),
    [
        ("threadIdx.x*2", "32", 2),
        ("threadIdx.x*3", "32", 1),
        ("threadIdx.x*6", "32", 2),
        ("threadIdx.x/8", "32", 1),  # four words in four banks
        ("threadIdx.x % 2 * 32", "32", 2),  # two words in one bank
        ("threadIdx.x*33", "32", 1),
        # 8 threads along x, 4 along y: words 33 x + y, of which (x + y) mod 32 is the bank: four with x + y = 3
        ("threadIdx.x*33 + threadIdx.y", "dim3(8, 4)", 4),
        ("threadIdx.y*40 + threadIdx.x", "dim3(8, 4)", 1),  # banks 8 y + x
        ("threadIdx.y*32 + threadIdx.x", "dim3(8, 4)", 4),  # rows begin in one bank
        ("31 - threadIdx.x", "32", 1),
    ],
)
def test_banks_by_hand(place: str, shape: str, wavefronts: int, tmp_path: Path) -> None:
    body = f"__shared__ float s[2048];\n  y[threadIdx.y*8 + threadIdx.x] = s[{place}];"
    assert wavefronts_of_warps(extracted(program("float *y", body, f"1, {shape}"), tmp_path)) == [("load", wavefronts)]


@pytest.mark.parametrize(
    ("condition", "idle"),
    [
        ("threadIdx.x % 4 == 0", F(3, 4)),
        ("threadIdx.x < 40", F(64 - 40, 64)),  # of two warps that work
        ("threadIdx.x >= 48", F(1, 2)),  # the other half of the second warp
        ("threadIdx.x / 32 == 1", 0),  # whole warps
    ],
)
def test_divergence_by_hand(condition: str, idle: F, tmp_path: Path) -> None:
    found = extracted(program("float *x", f"if ({condition}) x[threadIdx.x] *= 2;", "64, 64"), tmp_path)
    assert [each.idle for each in found.launches[0].divergences] == [idle]


def test_occupancy_by_hand(tmp_path: Path) -> None:
    body = "__shared__ double s[1536];\n  s[threadIdx.x] = x[threadIdx.x];\n  __syncthreads();\n"
    text = program("double *x", body + "  x[threadIdx.x] = s[255 - threadIdx.x];", "64, 256")
    found = extracted(text.replace("void f", "void __launch_bounds__(256, 4) f"), tmp_path)
    assert "param f_registers = 32" in found.text  # four blocks of 256 threads leave 64 of 65,536
    assert re.search(r"occupancy\(256, 12288, f_registers\)", found.text)
