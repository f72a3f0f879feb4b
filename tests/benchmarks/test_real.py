"""The kernels that predictions are compared with compute what they should; their models cost what machines state."""

from __future__ import annotations

from math import hypot
from pathlib import Path

import pytest

import aspenpy
from aspenpy.engine.shared_object import find_compiler
from aspenpy.probe.benchmark import find_caches
from benchmarks.real import classes
from benchmarks.real.kernels import KERNELS, Kernel, Size, bytes_of
from benchmarks.real.programs import CLASSES, compiled
from benchmarks.real.validate import TOLERANCE, Case, report, row, timed
from tests.probe import hosts
from tests.probe.hosts import CLOCK, HOST, LANES
from tests.thorough import slow
from tests.tiny import application

CACHES = find_caches(HOST)


@pytest.fixture(scope="module")
def machine() -> aspenpy.Machine:
    return hosts.machine(hosts.text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_compiler() is None:
        pytest.skip("a C compiler is needed for the kernels")
    return tmp_path_factory.mktemp("kernels")


def seconds(name: str, machine: aspenpy.Machine, **values: float) -> float:
    kernel = next(kernel for kernel in KERNELS if kernel.label == name)
    return float(aspenpy.predict(aspenpy.parse(kernel.model), machine, set=values).runtime)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.label)
def test_results_are_right(kernel: Kernel, folder: Path) -> None:
    """Each kernel against a plain computation of the same, at two sizes, on one thread and on two."""
    for data, threads in ((8 << 10, 1), (200 << 10, 2)):
        size = kernel.size(data)
        assert timed(Case(kernel, "", size, threads), 1e-3, folder) > 0


@slow
def test_the_program_compiles_without_warnings(folder: Path) -> None:
    assert compiled(folder / "strict", "-Wall", "-Wextra", "-Werror").exists()
    assert compiled(folder / "strict", "-Wall", "-Wextra", "-Werror", program=CLASSES).exists()


@pytest.mark.parametrize("kernel", classes.KERNELS, ids=lambda kernel: kernel.label)
def test_results_of_classes_are_right(kernel: Kernel, folder: Path) -> None:
    assert classes.timed(Case(kernel, "", kernel.size(64 << 10), 1), 1e-3, folder) > 0


@pytest.mark.parametrize("kernel", classes.KERNELS, ids=lambda kernel: kernel.label)
def test_each_class_has_a_prediction_at_each_size(kernel: Kernel, machine: aspenpy.Machine) -> None:
    for level in kernel.levels:
        found = row(Case(kernel, level, kernel.size(bytes_of(level, CACHES)), 1), [1.0], machine)
        assert found.predicted > 0


def test_the_half_that_is_held_back_stays_the_same() -> None:
    """By a hash of the name, drawn before anything was timed."""
    held = {kernel.name for kernel in classes.KERNELS if classes.is_held_back(kernel.name)}
    assert len(held) == 16
    assert {"running_max", "insertion", "words", "int8_matvec", "heap_search"} < held


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.label)
def test_each_model_has_a_prediction_at_each_size(kernel: Kernel, machine: aspenpy.Machine) -> None:
    for level in kernel.levels:
        case = Case(kernel, level, kernel.size(bytes_of(level, CACHES)), 2)
        found = row(case, [1.0], machine)
        assert found.predicted > 0
        assert found.bound_by != "nothing"


@pytest.mark.parametrize(
    ("kernel", "values", "expected"),
    [
        ("ordered_sum", {"n": 1000}, 1000 * 3 / CLOCK),
        ("horner", {"n": 1000}, 1000 * 4 / CLOCK),
        ("montecarlo", {"n": 1000}, 1000 * 2 * (3 + 1) / CLOCK),
        ("dot", {"n": 30_000}, 30_000 * 16 / 50e9),  # from the second cache
        ("triad", {"n": 30_000}, 30_000 * (16 + 8) / 50e9),  # what is written back goes beside it
        ("triad", {"n": 1000}, 1000 / LANES / CLOCK),  # two vectors of loads a cycle, and one of stores beside them
        ("nbody", {"n": 512, "m": 8}, 512 * 8 / LANES * (10 + 5) / CLOCK),  # a root and a division a vector
        # chains of 128, and lines of columns in four sets
        ("dgemm_naive", {"n": 128, "m": 2}, 128 * 128 * 2 * hypot(4 / CLOCK * (1 - 28 / 128), 3e-9 / 4)),
        ("gather", {"n": 800, "m": 4000}, 4000 * 2 / 2 / CLOCK),  # two loads an element, two a cycle
    ],
)
def test_predictions_by_hand(kernel: str, values: dict[str, float], expected: float, machine: aspenpy.Machine) -> None:
    assert seconds(kernel, machine, **values) == pytest.approx(expected, rel=0.02)


def test_memory_rows_by_hand(machine: aspenpy.Machine) -> None:
    """Loads take what they take beyond the first cache, 1/10 - 1/100 ns a byte, a walk of 4 ns a page, and the core's
    own: two vectors a cycle. Stores come back at what a copy takes beyond its loads: 2/8 - 2/100 - 2 (1/10 - 1/100) ns
    a byte."""
    n, loads, own = 10_000_000, 1 / 10e9 - 1 / 100e9, 1 / LANES / CLOCK
    walks = 8 / 4096 * 4e-9  # of a vector
    assert seconds("dot", machine, n=n) == pytest.approx(n * (16 * loads + 2 * walks + own), rel=1e-3)
    stores = 2 / 8e9 - 2 / 100e9 - 2 * loads
    assert seconds("triad", machine, n=n) == pytest.approx(n * (24 * loads + 8 * stores + 3 * walks + own), rel=1e-3)


def test_columns_beyond_the_translation_buffer_look_pages_up(machine: aspenpy.Machine) -> None:
    """8001 rows lie in as many pages or more, and the buffer knows 512: each element of B takes a walk of 4 ns
    and two loads. An eighth of them misses all caches, for the latency of memory over ten outstanding lines, as A and C
    do at its rate."""
    walks, waiting, loads = 4e-9, 100e-9 / 10 / 8, 1 / CLOCK
    assert seconds("dgemm_naive", machine, n=8001, m=1) == pytest.approx(8001**2 * (walks + waiting + loads), rel=0.02)


def chained(steps: int, window: int) -> float:
    """Latencies a step of chains of so many steps, where a core holds `window` of them and lets go of them in order."""
    chains = 20 + 4000 // steps
    done, gone = list[float](), list[float]()
    for step in range(steps * chains):
        begins = gone[step - window] if step >= window else 0.0
        done.append(1 + (max(begins, done[-1]) if step % steps else begins))
        gone.append(max(done[-1], gone[-1] if gone else 0.0))
    half = steps * (chains // 2)
    return (gone[-1] - gone[-1 - half]) / half


@pytest.mark.parametrize("steps", [4, 8, 12, 15, 20, 25, 28, 40, 50, 56, 70, 128, 300])
def test_short_chains_against_a_window_of_steps(steps: int, machine: aspenpy.Machine) -> None:
    app = application(f"execute [1] {{ chain [1e6] as add, restarts({steps}) }}")
    found = float(aspenpy.predict(app, machine).runtime) * CLOCK / 3e6
    assert found == pytest.approx(chained(steps, 28), rel=0.05)


def test_summary(machine: aspenpy.Machine) -> None:
    """Predicted exactly, twice, and half of it: two of three are within 30 %, the median is exact."""
    dot = next(kernel for kernel in KERNELS if kernel.label == "dot")
    case = Case(dot, "L2", Size(30_000), 1)
    right = row(case, [1.0], machine).predicted
    rows = [row(case, [right * factor], machine) for factor in (1, 1.1, 2)]
    assert report(rows).headline == "median error 10%; 2 of 3 within 30%"
    assert TOLERANCE < 1e-9
