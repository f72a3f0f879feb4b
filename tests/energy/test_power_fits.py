"""Power that responds against measured watts of Ice Lake: what was left out of a fit, and the library's constants."""

import os
from pathlib import Path

import pytest

import aspenpy
from aspenpy.expr.evaluate import evaluate_many

numpy = pytest.importorskip("numpy")

from benchmarks.power_fits import Sample, errors_of, fitted, ice_lake, left_out, nodes, slopes  # noqa: E402

SHARED = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared"))
DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(
    not (DATA / "lulesh_icelake_kernels.csv").exists(),
    reason="the measured data is not beside the checkout (see ASPENPY_SHARED)",
)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return ice_lake(DATA)


@pytest.fixture(scope="module")
def predicted(samples: list[Sample]) -> dict[Sample, float]:
    return left_out(samples)


def test_applications_left_out(samples: list[Sample], predicted: dict[Sample, float]) -> None:
    """1 to 72 cores, 1 to 2.8 GHz, 12 regions of LULESH and 8 codes of SPEChpc: each by a fit to all others."""
    errors = errors_of(numpy.array([predicted[one] for one in samples]), numpy.array([one.watts for one in samples]))
    assert errors.number > 2500
    assert errors.mean < 7
    assert errors.worst < 42
    assert slopes(samples, predicted, lambda one: (one.application, one.cores)) == (216, 216)


def test_the_sweep_on_13_cores_rises_as_measured(samples: list[Sample], predicted: dict[Sample, float]) -> None:
    """The kernels of LULESH on average, from 1 to 2.8 GHz: AEEM says that power falls."""
    sweep = [one for one in samples if one.cores == 13 and one.application not in ("LULESH ALL",)]
    for clock, watts in ((1.0, 126.9), (2.8, 161.7)):
        at = [one for one in sweep if round(one.clock, 1) == clock]
        assert numpy.mean([one.watts for one in at]) == pytest.approx(watts, rel=1e-3)
        assert numpy.mean([predicted[one] for one in at]) == pytest.approx(watts, rel=0.04)


def test_one_core_is_not_a_socket(samples: list[Sample], predicted: dict[Sample, float]) -> None:
    single = [one for one in samples if one.cores == 1 and one.clock > 2.3 and not one.application.startswith("LULESH")]
    assert all(95 < one.watts < 111 for one in single)
    assert all(100 < predicted[one] < 118 for one in single)


def test_the_least_energy_of_lulesh_is_inside_the_range(samples: list[Sample], predicted: dict[Sample, float]) -> None:
    """With the measured seconds on 18 cores, at ten clocks."""
    sweep = [one for one in samples if one.application == "LULESH ALL" and one.cores == 18]
    measured = min(sweep, key=lambda one: one.watts * one.seconds)
    found = min(sweep, key=lambda one: predicted[one] * one.seconds)
    assert round(measured.clock, 1) == round(found.clock, 1) == 1.6


def test_the_library_has_the_fit(samples: list[Sample]) -> None:
    saturation, constants = fitted(samples)
    machine = aspenpy.load_machine("xeon_platinum_8360y")
    declared = machine.components["intel_xeon_platinum_8360y"].properties
    names = ("idle_power", "uncore_power", "active_core_power", "energy_per_byte", "uncore_saturation")
    laws = [declared[name].symbol for name in names]
    found = [float(value) for value in evaluate_many(laws, None, 0, machine.definitions)]
    idle, uncore, static, switched, byte = constants
    assert found == pytest.approx([idle, uncore, static + switched, byte * 1e-9, saturation / 175.7], rel=0.02)


def test_whole_nodes_at_full_load() -> None:
    """Twelve kinds of nodes of SPECpower, none of them fitted, of which board and fans are assumed."""
    errors = errors_of(*(numpy.array([row[place] for row in nodes(DATA)]) for place in (1, 2)))
    assert errors.number == 12
    assert errors.mean < 10
    assert errors.worst < 19


def test_a_board_follows_its_clock_as_measured() -> None:
    """BabelStream on an A100 with 80 GB (PCIe, 300 W), relative to 228 W at 1.41 GHz, at the same bandwidth."""
    app, machine = aspenpy.load_application("stream"), aspenpy.load_machine("a100_80gb")
    measured = {1.005e9: 145.1, 1.11e9: 155.3, 1.2e9: 169.9, 1.305e9: 190.0, 1.41e9: 228.0}
    watts = {
        clock: aspenpy.energy(app, machine, kernel="triad", set={"a100_80gb_clock": clock}).power or 0
        for clock in measured
    }
    for clock, known in measured.items():
        assert watts[clock] / watts[1.41e9] == pytest.approx(known / 228.0, rel=0.06)
