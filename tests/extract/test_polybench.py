"""The kernels of PolyBench, written from their definitions in the manners of real code: what is extracted from their
text against instructions that ran.

`counts.json` has what callgrind and a disassembly count (GCC 12, `-O0` for operations, `-O1` for loads and stores) at N
= 18. With ASPENPY_THOROUGH=1 they are counted anew, at three sizes.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.extract import callgrind
from tests.extract.modelled import PROGRAMS, counted
from tests.thorough import thorough

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

STORED = json.loads((Path(__file__).parent / "counts.json").read_text())
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
