"""The kernels of PolyBench, written from their definitions in the manners of real code: what is extracted from their
text against instructions that ran.

`counts.json` has what callgrind and a disassembly count (GCC 12, `-O0` for operations, `-O1` for loads and stores) at N
= 18; `words.json` words of 8 bytes, loaded and stored at `-O2` and `-O3`, vectors with
all they hold, at N = 90. With ASPENPY_THOROUGH=1 they are counted anew, at three sizes.
"""

import json
import shutil
from pathlib import Path

import pytest

from aspenpy.extract.registers import Level
from tests.extract import callgrind
from tests.extract.modelled import PROGRAMS, counted
from tests.thorough import thorough

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

STORED = json.loads((Path(__file__).parent / "counts.json").read_text(encoding="utf-8"))
QUICK = ("adi", "gemm", "gemver", "jacobi_2d", "seidel_2d", "trisolv")
KERNELS = ("kernel_", "product")

NEAR_ONLY_WHEN_LARGE = {"cholesky": 0.08, "gramschmidt": 0.02, "nussinov": 0.011}
"""Programs in which GCC keeps some more values over the begin and end of an inner loop (of n^2 of n^3 loads), or in the
third, at N = 90, one less."""


def operations(counts: dict[str, int]) -> dict[str, int]:
    return {kind: count for kind, count in counts.items() if count and (" " in kind or kind == "convert")}


@pytest.mark.parametrize("name", sorted(STORED))
def test_operations_and_accesses_are_those_of_the_instructions(name: str, tmp_path: Path) -> None:
    model, ran = counted(PROGRAMS / f"{name}.c", tmp_path, "source", "-DN=18", kernels=KERNELS), STORED[name]
    assert operations(model) == operations(ran)
    tolerance = NEAR_ONLY_WHEN_LARGE.get(name, 0.005)
    for kind in ("load", "store"):
        assert model[kind] == pytest.approx(ran[kind], rel=tolerance)


WORDS = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))
FURTHER = {
    "o2": {"covariance", "heat_3d", "ludcmp"},
    "o3": {"3mm", "bicg", "correlation", "covariance", "mvt", "symm"},
}
"""Programs whose loads or stores are not within 5 %: loops that GCC splits, vectorises over an outer loop or jams for
what they load alone."""


def words(name: str, level: Level, folder: Path) -> list[float]:
    found = counted(PROGRAMS / f"{name}.c", folder, level, "-DN=90", kernels=KERNELS, in_bytes=True)
    return [found["load"] / 8, found["store"] / 8]


@pytest.mark.parametrize("level", ["o2", "o3"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else thorough) for name in sorted(STORED)]
)
def test_words_are_those_of_optimised_programs(name: str, level: Level, tmp_path: Path) -> None:
    if name not in FURTHER[level]:
        assert words(name, level, tmp_path) == pytest.approx(WORDS[level][name], rel=0.05)


@thorough
@pytest.mark.skipif(not (shutil.which("valgrind") and shutil.which("gcc")), reason="counts instructions with Valgrind")
@pytest.mark.parametrize("level", ["o2", "o3"])
@pytest.mark.parametrize("name", sorted(STORED))
def test_stored_words_are_those_of_callgrind(name: str, level: Level, tmp_path: Path) -> None:
    ran = callgrind.counted(PROGRAMS / f"{name}.c", tmp_path, f"-{level.upper()}", "-DN=90")
    assert [ran["load bytes"] // 8, ran["store bytes"] // 8] == pytest.approx(WORDS[level][name], rel=0.01)


def measured(source: Path, folder: Path, size: int) -> dict[str, int]:
    """Operations without optimisation, accesses with it."""
    plain = callgrind.counted(source, folder, "-O0", f"-DN={size}")
    kept = callgrind.counted(source, folder, "-O1", f"-DN={size}")
    return {**plain, "load": kept["load"], "store": kept["store"]}


@thorough
@pytest.mark.skipif(not (shutil.which("valgrind") and shutil.which("gcc")), reason="counts instructions with Valgrind")
@pytest.mark.parametrize("size", [18, 40, 90])
@pytest.mark.parametrize("name", sorted(STORED))
def test_counts_are_those_of_callgrind(name: str, size: int, tmp_path: Path) -> None:
    model = counted(PROGRAMS / f"{name}.c", tmp_path, "source", f"-DN={size}", kernels=KERNELS)
    ran = measured(PROGRAMS / f"{name}.c", tmp_path, size)
    assert operations(model) == operations(ran)
    tolerance = NEAR_ONLY_WHEN_LARGE.get(name, 0.005)
    for kind in ("load", "store"):
        assert model[kind] == pytest.approx(ran[kind], rel=tolerance)
