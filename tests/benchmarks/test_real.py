"""The kernels that predictions are compared with compute what they should; their models cost what machines state."""

from __future__ import annotations

from math import hypot
from pathlib import Path

import pytest

import aspenpy
from benchmarks.real.kernels import KERNELS, Kernel, Size, bytes_of
from benchmarks.real.machine import PARTS, best, model
from benchmarks.real.programs import Caches, compiled, compiler
from benchmarks.real.validate import TOLERANCE, Case, report, row, timed
from tests.thorough import slow

CACHES = Caches((32 << 10, 1 << 20, 32 << 20), (8, 8, 16), 64)
CLOCK, LANES = 2e9, 4
CYCLES = {"add": 3, "multiply": 3, "fma": 4, "divide": 13}
"""Latencies of a made-up core."""


def readings() -> dict[str, float]:
    """What the program `machine` would print of a made-up machine: one operation a cycle, two cores."""
    found = {"vector_bytes": 8.0 * LANES, "integer_latency": 1 / CLOCK, "integer_throughput": 4 * CLOCK}
    for name, cycles in CYCLES.items():
        for width, lanes in (("dp", 1), ("sp", 1), ("dp_simd", LANES), ("sp_simd", 2 * LANES)):
            found[f"{name}_{width}_latency"] = cycles / CLOCK
            found[f"{name}_{width}_throughput"] = lanes * CLOCK / (5 if name == "divide" else 1)
            found[f"root_{width}_throughput"] = lanes * CLOCK / 10
    found["sum_and_root_dp_latency"] = (20 + 3) / CLOCK
    for name, ports in (("load", 2), ("store", 1)):
        found |= {f"{name}_throughput": ports * CLOCK, f"{name}_simd": ports * LANES * CLOCK}
        found[f"{name}_across"] = ports * LANES * CLOCK / 2
    found["segments_latency"] = (128 - 28) * 3 / CLOCK
    for level, rate in (("first", 100e9), ("second", 50e9), ("third", 25e9), ("memory", 10e9)):
        for way in ("load", "store", "copy"):
            found |= {f"{level}_{way}_core": rate, f"{level}_{way}_all": 2 * rate}
    found |= {"memory_copy_core": 8e9, "memory_copy_all": 16e9}
    for way, wait in (("load", 3e-9), ("store", 4e-9)):
        found |= {f"sets_{sets}_{way}_latency": hypot(1e-9, wait / sets) for sets in (1, 2, 4)}
        found[f"sets_0_{way}_latency"] = 1e-9
    found |= {"first_latency": 2e-9, "second_latency": 7e-9, "memory_latency": 100e-9, "barrier_latency": 1e-7}
    for part in PARTS:
        found[f"third_{part}_latency"] = found[f"third_all_{part}_latency"] = 20e-9 if part <= 8 else 90e-9
    found |= {f"memory_chains_{chains}_latency": 100e-9 / min(chains, 10) for chains in (2, 4, 8, 16)}
    for pages in (256, 512, 1024, 2048):
        known = pages <= 512
        found[f"pages_{pages}_latency"] = 7e-9 if known else 27e-9
        found[f"pages_{pages}_chains_16_latency"] = 1e-9 if known else 5e-9
    return found | {f"far_{pages}_latency": 2e-9 if pages <= 16 else 22e-9 for pages in (8, 16, 32)}


@pytest.fixture(scope="module")
def machine() -> aspenpy.Machine:
    found = aspenpy.parse(model(readings(), 2, CACHES))
    assert isinstance(found, aspenpy.Machine)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if compiler() is None:
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
def test_both_programs_compile_without_warnings(folder: Path) -> None:
    for name in ("kernels", "machine"):
        assert compiled(name, folder / "strict", "-Wall", "-Wextra", "-Werror").exists()


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


def test_a_third_cache_is_shared_where_cores_find_less_at_once() -> None:
    less = readings() | {f"third_all_{part}_latency": 20e-9 if part <= 4 else 90e-9 for part in PARTS}
    own, shared = model(readings(), 2, CACHES), model(less, 2, CACHES)
    core = "core here_core"
    assert own.index("cache here_l3") > own.index(f"{core} {{")
    assert shared.index("cache here_l3") < shared.index(f"{core} {{")


def test_columns_in_few_sets_wait_in_the_norm_with_what_sends_them() -> None:
    """Of a line in one, two and four sets, each wait is the same number over the sets."""
    text = model(readings(), 2, CACHES)
    assert "property set_latency [3e-09]" in text
    assert "property set_store_latency [4e-09]" in text


def test_best_readings() -> None:
    one, two = {"a_latency": 2.0, "b_throughput": 5.0}, {"a_latency": 1.0, "b_throughput": 7.0}
    assert best([one, two]) == {"a_latency": 1.0, "b_throughput": 7.0}


def test_summary(machine: aspenpy.Machine) -> None:
    """Predicted exactly, twice, and half of it: two of three are within 30 %, the median is exact."""
    dot = next(kernel for kernel in KERNELS if kernel.label == "dot")
    case = Case(dot, "L2", Size(30_000), 1)
    right = row(case, [1.0], machine).predicted
    rows = [row(case, [right * factor], machine) for factor in (1, 1.1, 2)]
    assert report(rows).headline == "median error 10%; 2 of 3 within 30%"
    assert TOLERANCE < 1e-9
