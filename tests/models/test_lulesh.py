"""lulesh: flops and bytes of its kernels from a compiled program and by hand, its messages, and measured traffic."""

import csv
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import aspenpy

EDGE = 30
ELEMENTS, NODES = EDGE**3, (EDGE + 1) ** 3
SHAPE = 9 * 8 + 9 * 3 + 3 * 8 + 6
"""Derivatives of the shape functions: sums of coordinates, cofactors, the eight sums of these on 3 axes, volume: 129.

These are the operations of the source, which the model counts; a compiler executes about 105 (below).
"""

KERNELS = {
    "InitStressTermsForElems": ((1, 0), (5, 0, 0)),
    "IntegrateStressForElems": ((SHAPE + 6 * (6 * 4 + 3 * 4 - 12 + 24) + 24 + 24, 0), (3 + 1, 3 + 3 + 3, 8)),
    "CalcFBHourglassForceForElems": ((4 * 101 + 3 * 124 + 6 + 24, 0), (24 + 24 + 3, 3 + 3 + 3, 8)),
    "CalcAccelerationForNodes": ((0, 3), (0, 7, 0)),
    "CalcVelocityForNodes": ((0, 6), (0, 9, 0)),
    "CalcPositionForNodes": ((0, 6), (0, 9, 0)),
    "CalcKinematicsForElems": ((90 + 2 + 219 + 49 + SHAPE + 115, 0), (8, 6, 8)),
    "deviatoric_strains": ((6, 0), (8, 0, 0)),
    "CalcMonotonicQGradientsForElems": ((3 + 72 + 147, 0), (8, 6, 8)),
    "CalcMonotonicQForElems": ((24 + 31, 0), (12, 0, 8)),
    "UpdateVolumesForElems": ((1, 0), (2, 0, 0)),
    "CalcCourantConstraintForElems": ((8, 0), (3, 0, 1)),
    "CalcHydroConstraintForElems": ((2, 0), (1, 0, 1)),
}
"""By kernel: flops an element and a node; reals an element and a node, and 4-byte indices an element, in or out."""


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_by_hand(kernel: str) -> None:
    lulesh = aspenpy.load_application("lulesh")
    (element_flops, node_flops), (element_reals, node_reals, indices) = KERNELS[kernel]
    flops = element_flops * ELEMENTS + node_flops * NODES
    volume = 8 * (element_reals * ELEMENTS + node_reals * NODES) + 4 * indices * ELEMENTS
    assert float(aspenpy.count(lulesh, "flops", kernel=kernel)) == pytest.approx(flops, rel=1e-12)
    assert float(aspenpy.count(lulesh, "bytes", kernel=kernel)) == pytest.approx(volume, rel=1e-12)


def test_the_control_of_the_hourglass_stores_what_its_force_loads() -> None:
    lulesh = aspenpy.load_application("lulesh")
    stores = aspenpy.count(lulesh, "stores", kernel="CalcHourglassControlForElems")
    assert stores == 8 * (24 + 24 + 1) * ELEMENTS + 8 * 3 * NODES  # corners and volumes, then the forces


def equations_of_state(**values: float) -> float:
    """Elements whose energy is evaluated in a step, over all elements: from the loads of the first loop."""
    lulesh = aspenpy.load_application("lulesh")
    tree = aspenpy.predict(lulesh, aspenpy.load_machine("simple"), kernel="ApplyMaterialPropertiesForElems", set=values)
    return {use.name: use.calls for use in tree.kernels}["CalcEnergyForElems"]


@pytest.mark.parametrize(
    ("regions", "cost", "energies"), [(11, 1, 5 + 5 * 2 + 20), (11, 0, 10 + 10), (1, 0, 1), (2, 1, 3)]
)
def test_costly_regions_repeat_their_equation_of_state(regions: int, cost: int, energies: int) -> None:
    # lulesh.cc: the first half once; up to the last (regions + 15)/20 1 + cost times; those 10 (1 + cost) times.
    assert equations_of_state(regions=regions, cost=cost) == energies


PASS = {
    "copies": (0, 6 + 6, 1),
    "compressions": (6, 2 + 2, 1),
    "clamps and work": (0, 2 + 1, 2),
    "energy": (6 + 19 + 2 + 20 + 9, (5 + 1) + (10 + 2) + (2 + 1) + (12 + 1) + (8 + 1), 2),
    "pressure, three times": (3 * 3, 3 * (1 + 2 + 3 + 1), 3),
}
"""One evaluation of the equation of state: flops, reals and indices of an element, loop by loop."""


@pytest.mark.parametrize(("balance", "repeats"), [(0, 35 / 11), (1, (15 + 2 * 40 + 20 * 11) / 66)])
def test_work_of_all_regions_by_hand(balance: int, repeats: float) -> None:
    # Regions of equal size, or of 1, 2, ... 11 parts of 66: five evaluate once, five twice, the last twenty times. Each
    # ends with results, 3 in and 3 out, and the sound speed, 7 flops, 5 in and 1 out.
    lulesh = aspenpy.load_application("lulesh")
    flops, reals, indices = (sum(row[place] for row in PASS.values()) for place in range(3))
    values, kernel = {"balance": balance}, "ApplyMaterialPropertiesForElems"
    found = float(aspenpy.count(lulesh, "flops", kernel=kernel, set=values)) / ELEMENTS
    assert found == pytest.approx(repeats * flops + 7, rel=1e-12)
    volume = float(aspenpy.count(lulesh, "bytes", kernel=kernel, set=values)) / ELEMENTS
    by_hand = repeats * (8 * reals + 4 * indices) + 8 * (3 + 3 + 5 + 1) + 4 * 2 + 8 * 5
    assert volume == pytest.approx(by_hand, rel=1e-12)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, float]]:
    """By part of a kernel: flops that a compiled program executed on one hexahedron, and a value that it found."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    program = tmp_path_factory.mktemp("hexahedron") / "hexahedron"
    subprocess.run([compiler, "-O1", "-o", program, Path(__file__).with_name("hexahedron.cpp")], check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: (int(flops), float(found)) for name, flops, found in map(str.split, lines)}


def test_the_counting_program_computes_a_box(counted: dict[str, tuple[int, float]]) -> None:
    # Of 2 x 3 x 5: its volume twice; a quarter of its 3 x 5 side at each corner; the volume over its largest side;
    # everywhere 7 times as fast as it is far.
    found = {name: value for name, (_, value) in counted.items()}
    assert (found["shape_derivatives"], found["volume"]) == pytest.approx((30, 30), rel=1e-12)
    assert (found["node_normals"], found["stress"]) == pytest.approx((15 / 4, 15 / 4), rel=1e-12)
    assert found["characteristic_length"] == pytest.approx(30 / 15, rel=1e-12)
    assert found["velocity_gradient"] == pytest.approx(7, rel=1e-12)
    assert [found[name] for name in ("acceleration", "velocity", "position")] == [8 / 2, 1 + 4 / 2, 1 + 3 / 2]


@pytest.mark.parametrize(
    ("kernel", "parts", "places"),
    [
        ("IntegrateStressForElems", ("shape_derivatives", "node_normals", "stress", "scatter"), ELEMENTS),
        (
            "CalcKinematicsForElems",
            (
                "volume",
                "relative_volume",
                "characteristic_length",
                "half_step",
                "shape_derivatives",
                "velocity_gradient",
            ),
            ELEMENTS,
        ),
        ("CalcAccelerationForNodes", ("acceleration",), NODES),
        ("CalcVelocityForNodes", ("velocity",), NODES),
        ("CalcPositionForNodes", ("position",), NODES),
    ],
)
def test_flops_that_a_compiled_kernel_executes(
    counted: dict[str, tuple[int, float]], kernel: str, parts: tuple[str, ...], places: int
) -> None:
    flops = places * sum(counted[part][0] for part in parts)
    lulesh = aspenpy.load_application("lulesh")
    assert float(aspenpy.count(lulesh, "flops", kernel=kernel)) == pytest.approx(flops, rel=1e-12)


def test_a_compiler_shares_some_of_the_shape_functions(tmp_path: Path) -> None:
    # The four differences of an axis are the same in its three sums: 3*2*4 of 129 are saved, 105 are left. Of the sums
    # of cofactors, a + b and -a - b may be shared as well, one an axis: 102. Rounding forbids all else. Compiled,
    # IntegrateStressForElems takes 438 or 441 of 465 operations, and CalcKinematicsForElems as many less.
    compiler = shutil.which("g++")
    if compiler is None or "Free Software" not in subprocess.check_output([compiler, "--version"], text=True):
        pytest.skip("only GCC prints the operations that it has left")
    listing = tmp_path / "optimised"
    plain = ("-DUNCOUNTED", "-O3", "-fno-tree-vectorize", "-ffp-contract=off", f"-fdump-tree-optimized={listing}")
    source = Path(__file__).with_name("hexahedron.cpp")
    subprocess.run([compiler, *plain, "-c", "-o", tmp_path / "object", source], check=True)
    function = (
        listing.read_text(encoding="utf-8").partition(";; Function shape_derivatives")[2].partition(";; Function")[0]
    )
    if "goto" in function:
        pytest.skip("this compiler left loops, in which operations are executed more than once")
    executed = len(re.findall(r"= \S+ [-+*/] \S+;", function))
    assert executed in (SHAPE - 3 * 2 * 4, SHAPE - 3 * 2 * 4 - 3)


Messages = Callable[[str, str, Mapping[str, float]], float]


@pytest.mark.parametrize(("ranks", "exchanges"), [(1, 0), (8, 4), (27, 4)])
def test_exchanges_of_a_step(messages_in_turn: Messages, ranks: int, exchanges: int) -> None:
    # Forces, positions and velocities, gradients; the smallest time step.
    sent = sum(messages_in_turn("lulesh", kernel, {"ranks": ranks}) for kernel in ("LagrangeLeapFrog", "TimeIncrement"))
    assert sent == exchanges


@pytest.mark.parametrize(("ranks", "faces"), [(8, 3), (27, 6)])
def test_gradients_over_faces(ranks: int, faces: int) -> None:
    volume = aspenpy.count(aspenpy.load_application("lulesh"), "messages", kernel="CommMonoQ", set={"ranks": ranks})
    assert volume / ranks == pytest.approx(faces * 3 * 30**2 * 8, rel=1e-9)


def test_forces_of_the_shared_nodes() -> None:
    # A rank in the middle: 6 faces of 31^2 nodes, 12 edges of 31, 8 corners, three numbers each.
    volume = aspenpy.count(aspenpy.load_application("lulesh"), "messages", kernel="CommSBN", set={"ranks": 27})
    assert volume / 27 == pytest.approx(3 * 8 * (6 * 31**2 + 12 * 31 + 8), rel=1e-9)


def test_a_run_repeats_its_steps() -> None:
    lulesh = aspenpy.load_application("lulesh")
    step = aspenpy.count(lulesh, "flops", kernel="LagrangeLeapFrog")
    assert float(aspenpy.count(lulesh, "flops")) == pytest.approx(932 * float(step), rel=1e-12)


SHARED = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared"))
MEASURED = SHARED / "data" / "lulesh_icelake_kernels.csv"
RUN = {"edge_elements": 350, "regions": 11, "balance": 0, "cost": 0}
"""Options of the measured runs, not recorded: from the calls, 20 energies a step, and the traffic of the volumes."""


def measured_bytes(region: str) -> float:
    """Bytes of the memory bus in one of the 300 steps, one thread, 1 GHz."""
    with MEASURED.open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["region"].strip() == region]
    return next(float(row["mem_GB"]) * 1e9 / 300 for row in rows if (row["freq_label"], row["threads"]) == ("1.0", "1"))


@pytest.mark.skipif(not MEASURED.exists(), reason="the measured data is not beside the checkout (see ASPENPY_SHARED)")
@pytest.mark.parametrize(
    ("region", "kernel", "filled", "tolerance"),
    [
        ("UpdateVolumesForElems", "UpdateVolumesForElems", 1, 0.02),
        ("CalcVelocityForNodes", "CalcVelocityForNodes", 0, 0.02),
        ("CalcLagrangeElements", "deviatoric_strains", 1, 0.02),
        ("InitStressTermsForElems", "InitStressTermsForElems", 3, 0.2),
        ("CalcFBHourglassForceForElems", "CalcFBHourglassForceForElems", 0, 0.2),
    ],
)
def test_measured_traffic_of_a_kernel(region: str, kernel: str, filled: int, tolerance: float) -> None:
    # LULESH 2.0 on Ice Lake. `filled` arrays are written without having been read: their lines are fetched as well,
    # which the model leaves out.
    lulesh = aspenpy.load_application("lulesh")
    counted = float(aspenpy.count(lulesh, "bytes", kernel=kernel, set=RUN)) + filled * 8 * 350**3
    assert counted == pytest.approx(measured_bytes(region), rel=tolerance)


@pytest.mark.skipif(not MEASURED.exists(), reason="the measured data is not beside the checkout (see ASPENPY_SHARED)")
@pytest.mark.parametrize(
    ("region", "kernel", "filled"), [("KERNEL_2", "energy_loop_2", 1), ("KERNEL_4", "energy_loop_4", 0)]
)
def test_measured_traffic_of_the_energy(region: str, kernel: str, filled: int) -> None:
    # With 11 equal regions a step evaluates 20/11 times as many elements as there are.
    members = 20 / 11 * 350**3
    lulesh = aspenpy.load_application("lulesh")
    counted = float(aspenpy.count(lulesh, "bytes", kernel=kernel, set={"members": members})) + filled * 8 * members
    assert counted == pytest.approx(measured_bytes(f"CalcEnergyForElems:{region}"), rel=0.1)
