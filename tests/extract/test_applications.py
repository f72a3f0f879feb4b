"""Programs of LULESH's, HPCG's and CoMD's kind: operations of the model against instructions that ran.

`COUNTED` and `SMALL` are what callgrind and a disassembly count at EDGE = 4 (GCC 12, `-O0`, three steps).
With ASPENPY_THOROUGH=1 they are counted anew, at two sizes.
"""

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.model_runs import ProgramRun
from tests.extract import callgrind
from tests.thorough import thorough

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

HYDRO = Path(__file__).parent / "applications" / "hydro.cc"
COUNTED = {
    "add dp": 337930,
    "compare dp": 15925,
    "divide dp": 6609,
    "multiply dp": 221608,
    "square_root dp": 966,
}
STEPS, REGIONS = 3, 4

SHARES = {
    "Energy_branch": 0.005,
    "Energy_branch_2": 0.005,
    "SoundSpeed_branch": 0.01,
    "RegionViscosity_branch": 0.005,
    "CourantConstraint_branch": 0.05,
    "HydroConstraint_branch": 0.95,
}
"""How often conditions on data hold, as gcov counts it at EDGE = 4 and 6 in three steps: the shock is in a corner."""


@pytest.fixture(scope="module")
def hydro() -> Extraction:
    return extract(HYDRO)


def operations(found: Extraction, edge: int, folder: Path) -> Counter[str]:
    """Those of the whole run, where what the source does not say is set: means of regions and of corners by node."""
    elements, nodes = edge**3, (edge + 1) ** 3
    settings: dict[str, object] = {"m_nodeElemStart_difference": f"{8 * elements}/{nodes}"}
    settings["mesh_regElemSize_r"] = elements // REGIONS
    settings |= SHARES | {"edge": edge, "regions": REGIONS, "steps": STEPS, "cbrt_flops": 0}
    return traced(found, settings, folder)


def traced(found: Extraction, settings: dict[str, object], folder: Path) -> Counter[str]:
    """Operations by class and precision of a whole run."""
    model = folder / "model.aspen"
    model.write_text(re.sub(r" of size \[\d+\]", "", found.text), encoding="utf-8")
    total: Counter[str] = Counter()
    steps = aspenpy.trace(aspenpy.load_application(model), set=settings, most=10**6, passes=10**6).steps
    for demand in (demand for step in steps for demand in step.demands if demand.resource == "flops"):
        total[" ".join(demand.traits)] += round(float(demand.amount))
    return total


def test_operations_are_those_of_the_instructions(hydro: Extraction, tmp_path: Path) -> None:
    total = operations(hydro, 4, tmp_path)
    assert {kind: total[kind] for kind in COUNTED} == pytest.approx(COUNTED, rel=0.05)


def test_few_parameters_are_left_to_a_person(hydro: Extraction) -> None:
    left = [hole.name for hole in hydro.holes if hole.is_left()]
    known = {"threads", *SHARES}
    assert known <= set(left)
    assert len(left) <= 10


ROW = "178/60"  # mean entries of a row of a tridiagonal matrix with 60 rows
SMALL: dict[str, tuple[dict[str, object], dict[str, int]]] = {
    "sparse.cc": (
        {"Fill_j_passes": ROW, "start_difference": ROW} | {"w_size": 60, "a_size": 60},
        {"multiply dp": 11578, "add dp": 9778, "divide dp": 1219},
    ),
    "atoms.c": (
        {
            "atoms_mean": 4,
            "force_branch": "1/36",
        },
        {"multiply dp": 192016, "add dp": 345600, "divide dp": 1536},
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_operations_of_kernels_are_equal(name: str, tmp_path: Path) -> None:
    settings, ran = SMALL[name]
    total = traced(extract(HYDRO.with_name(name)), settings, tmp_path)
    assert {kind: total[kind] for kind in ran} == ran


def test_nine_of_ten_loops_are_counted(hydro: Extraction) -> None:
    loops = len(re.findall(r"\bfor \(|\bwhile \(", HYDRO.read_text(encoding="utf-8")))
    unknown = [hole.name for hole in hydro.holes if hole.name.endswith("_passes")]
    assert loops > 60
    assert len(unknown) <= loops / 10


@thorough
@pytest.mark.skipif(not (shutil.which("valgrind") and shutil.which("g++")), reason="counts instructions with Valgrind")
@pytest.mark.parametrize("edge", [4, 6])
def test_counts_are_those_of_callgrind(edge: int, hydro: Extraction, tmp_path: Path) -> None:
    ran = callgrind.counted(HYDRO, tmp_path, "-O0", f"-DEDGE={edge}", "-w", function="main")
    total = operations(hydro, edge, tmp_path)
    assert {kind: total[kind] for kind in COUNTED} == pytest.approx({kind: ran[kind] for kind in COUNTED}, rel=0.05)


def test_recursion_over_levels_is_named() -> None:
    found = extract(HYDRO.with_name("multigrid.cc"))
    named = [item.message.split("`")[1] for item in found.diagnostics if item.code == "recursion"]
    assert named == ["Cycle", "NewMatrix"]
    assert {"Cycle_flops", "NewMatrix_flops"} <= {hole.name for hole in found.holes}


METAL = {
    (4, 1): {"add dp": 117352, "multiply dp": 76074, "divide dp": 8424, "compare dp": 13504, "square_root dp": 2304},
    (6, 1): {"add dp": 630504, "multiply dp": 409106, "divide dp": 27432, "compare dp": 83304, "square_root dp": 8640},
    (4, 0): {"add dp": 50304, "multiply dp": 42265, "divide dp": 1152, "compare dp": 6912},
    (6, 0): {"add dp": 380160, "multiply dp": 284929, "divide dp": 4320, "compare dp": 57960},
}
"""Instructions of metal.c by side and potential, counted by callgrind (GCC 12, `-O0`)."""


@pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")
@pytest.mark.parametrize(("side", "metal"), METAL)
def test_operations_with_counts_of_a_run(side: int, metal: int, tmp_path: Path) -> None:
    found = extract(HYDRO.with_name("metal.c"), run=ProgramRun(f"./a.out {{side}} {metal}", {"side": [side]}))
    total = traced(found, {}, tmp_path)
    ran = METAL[side, metal]
    assert {kind: total[kind] for kind in ran} == pytest.approx(ran, rel=0.05)


def test_calls_through_pointers_mean_what_is_assigned() -> None:
    found = extract(HYDRO.with_name("metal.c"))
    left = [hole.name for hole in found.holes if hole.is_left()]
    assert {"numneigh_mean", "pairForce_part", "pairForce_branch", "metalForce_branch"} <= set(left)
    assert len(left) <= 6
    assert {"pairForce", "metalForce"} <= set(found.kernels)
