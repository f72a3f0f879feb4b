"""Counters: what is known of them, which are significant, and the components they belong to."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy
import pytest

import aspenpy
from aspenpy.advice.configuration import COMPONENTS
from aspenpy.advice.counter_evidence import CounterOptions, shapley_values
from aspenpy.advice.counters import KNOWN_COUNTERS, find_counter
from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.significance import CounterEvidence, samples_of
from aspenpy.advice.significant import Significant
from aspenpy.answers.case import Case
from aspenpy.learn.measurements.measure import StoppingRule
from aspenpy.learn.measurements.sheet import tabulate_rows

DATA = Path(os.environ.get("ASPENPY_SHARED", Path(__file__).parents[3] / "shared")) / "data"


@pytest.mark.parametrize("item", KNOWN_COUNTERS, ids=lambda item: f"{item.tool}: {item.name}")
def test_a_known_counter_names_components_and_its_source(item: Any) -> None:
    assert set(item.components) <= set(COMPONENTS)
    assert item.source
    outside = item.tool != "aspenpy" and "BRANCH.txt" not in item.source and "dissertation" not in item.source
    assert item.address.startswith("https://") or not outside


@pytest.mark.parametrize(
    ("name", "components"),
    [
        ("L3_to_MEM_Data_Volume", ("l3_capacity", "memory_bandwidth")),  # the dissertation's own example
        ("L3 bandwidth [MBytes/s]", ("l3_capacity",)),
        ("Memory data volume [GBytes]", ("memory_bandwidth", "memory_clock")),
        ("INSTR_RETIRED_ANY", ("clock", "cores")),
        ("LLC-load-misses", ("l3_capacity", "memory_bandwidth")),
        ("cache_misses/runtime", ("l3_capacity", "memory_bandwidth")),
        ("dram_read_transactions", ("memory_bandwidth", "memory_clock")),
        ("lts__t_sectors_op_read.sum", ("l2_capacity",)),
        ("UNCORECLOCK", ("uncore_clock",)),
        ("CBOX3 Frequency [GHz]", ("uncore_clock",)),
        ("MBOX0 Frequency [GHz]", ("memory_clock",)),
        ("bus-cycles", None),
        ("horoscope", None),
    ],
)
def test_what_a_counter_is_known_for(name: str, components: tuple[str, ...] | None) -> None:
    found = find_counter(name)
    assert (None if found is None else found.components) == components


# -- shares ----------------------------------------------------------------------------------------


def test_shapley_values_by_all_orders() -> None:
    """The mean over all orders of what a regressor adds to the sum of squares, each fit by least squares."""
    draws = numpy.random.default_rng(3)
    mixing = numpy.array([[1, 0.6, 0], [0, 1, 0.3], [0, 0, 1.0]])
    matrix = draws.normal(size=(50, 3)) @ mixing
    target = matrix @ [1.0, 0.5, -0.2] + 0.3 * draws.normal(size=50)
    matrix, target = matrix - matrix.mean(axis=0), target - target.mean()

    def taken(places: list[int]) -> float:
        solution = numpy.linalg.lstsq(matrix[:, places], target, rcond=None)[0] if places else []
        left = target - (matrix[:, places] @ solution if places else 0)
        return float(target @ target - left @ left)

    expected = numpy.zeros(3)
    for order in permutations(range(3)):
        for place, regressor in enumerate(order):
            expected[regressor] += (taken([*order[: place + 1]]) - taken([*order[:place]])) / 6
    found = shapley_values((matrix.T @ matrix)[None], (matrix.T @ target)[None])[0]
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_counter_that_is_alike_in_all_runs_of_a_draw_has_no_share_there(place: int) -> None:
    """Of two others that have nothing in common each has its own product squared: 3^2/4 and 2^2/8."""
    products, cross = numpy.diag([4.0, 8.0]), numpy.array([3.0, 2.0])
    kept = [index for index in range(3) if index != place]
    wider, further = numpy.zeros((3, 3)), numpy.zeros(3)
    wider[numpy.ix_(kept, kept)], further[kept] = products, cross
    found = shapley_values(wider[None], further[None])[0]
    assert found[place] == 0
    assert found[kept] == pytest.approx([9 / 4, 4 / 8], rel=1e-9)


@pytest.mark.parametrize(
    ("runtimes", "widest", "more"),
    [
        # t(0.975, 2) = 4.30265: of 9, 10 and 11 the deviation is 1, half the interval 4.30265/sqrt(3)/10.
        ([9, 10, 11], 4.30265 / 3**0.5 / 10, None),
        ([10.0, 10.0, 10.0], 0.0, 0),
        ([10.0], None, 1),
    ],
)
def test_how_many_more_runs_are_needed(runtimes: list[float], widest: float | None, more: int | None) -> None:
    sheet = tabulate_rows([{"runtime": value, "threads": 4} for value in runtimes])
    found = samples_of(sheet, "runtime", StoppingRule())
    assert found.widest == (None if widest is None else pytest.approx(widest, abs=1e-6))
    if more is not None:
        assert (found.more, found.enough) == (more, more == 0)
    else:  # 18 runs: t(0.975, 17) = 2.10982, 2.10982/sqrt(18) * 0.1 = 0.0497; of 17 it is 0.0514
        assert found.more == 18 - 3


# -- components ------------------------------------------------------------------------------------


def space() -> DesignSpace:
    case = Case(aspenpy.load_application("lulesh"), aspenpy.load_machine("haswell"), set={"haswell_nodes": 1})
    return DesignSpace(case, ("clock", "cores", "memory_bandwidth", "l3_capacity"))


def synthetic(seed: int, noise: float) -> list[dict[str, float]]:
    """Runs whose activities of three components are drawn apart; ten counters measure one each, and lines between L3
    and memory two of them. The runtime is 5 and 2 and 1 times the activities."""
    draws = numpy.random.default_rng(seed)
    ones = numpy.ones((120, 1))
    core, cache, memory = numpy.linalg.qr(numpy.hstack([ones, draws.normal(size=(120, 3))]))[0].T[1:]  # uncorrelated
    parts = {
        "instructions": core, "cycles": core, "UOPS": core,
        "L3": cache, "L3CACHE": cache, "LLC-loads": cache,
        "CAS_COUNT_WR": memory, "CAS_COUNT_RD": memory, "uncore_imc_reads": memory,
        "L3_to_MEM_Data_Volume": (cache + memory) / 2**0.5,
    }  # fmt: skip
    counters = {name: 50 + 10 * part + noise * draws.normal(size=120) for name, part in parts.items()}
    runtime = 100 + 5 * 10 * core + 2 * 10 * cache + 1 * 10 * memory
    return [{"runtime": runtime[row], **{name: values[row] for name, values in counters.items()}} for row in range(120)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("name", "parts"), [("L3_to_MEM_Data_Volume", (0.5, 0.5, 0)), ("horoscope", (0.436, 0.436, 0.128))]
)
def test_memberships_of_known_components_are_recovered(seed: int, name: str, parts: tuple[float, ...]) -> None:
    """Pure counters belong to their component; what is half and half to two alike. From centres at the pure profiles,
    squared distances are 2 (1 - 1/sqrt(2)) to both and 2 to the third: memberships 0.436, 0.436 and 0.128 of a counter
    of which nobody knows what it is for; one that is known for the two belongs half to each, and not to the third."""
    rows = [
        {name if key == "L3_to_MEM_Data_Volume" else key: value for key, value in row.items()}
        for row in synthetic(seed, 0.05)
    ]
    found = Significant(space(), rows).evidences[0]
    assert sorted(name or "" for name in found.clusters) == ["clock", "l3_capacity", "memory_bandwidth"]
    for item in found.counters:
        if item.name == name:
            shares = [item.memberships[component] for component in ("l3_capacity", "memory_bandwidth", "clock")]
            assert shares == pytest.approx(parts, abs=0.08)
        else:
            assert item.memberships[item.known[0]] > 0.9, item.name


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_those_of_the_activities(seed: int) -> None:
    """Of independent activities with factors 5, 2 and 1 the variance has 25/30, 4/30 and 1/30."""
    found = Significant(space(), synthetic(seed, 0.05)).evidences[0]
    shares = {item.component: item.share for item in found.significances}
    assert found.r_squared > 0.98
    assert shares["clock"] == pytest.approx(25 / 30, abs=0.1)
    assert shares["l3_capacity"] == pytest.approx(4 / 30, abs=0.1)
    assert all(item.low is not None and item.low <= item.share <= (item.high or 1) for item in found.significances)


def test_the_model_alone_ranks_by_sensitivities() -> None:
    alone = Significant(space())
    effects = alone.space.runtime_effects.singles
    total = sum(item.sensitivity for item in effects)
    runtime = {item.component: item.share for item in alone.by_model if item.metric == "runtime"}
    assert runtime == pytest.approx({item.parameters[0]: item.sensitivity / total for item in effects})
    assert alone.evidences == ()
    assert alone.disagreements == ()


def test_counters_that_contradict_the_model_are_a_finding() -> None:
    """By the counters all goes with memory; the model gives it half of what the three components have."""
    rows = [row | {"runtime": 100 + 5 * row["CAS_COUNT_WR"]} for row in synthetic(1, 0.05)]
    found = Significant(space(), rows)
    memory = next(item for item in found.disagreements if item.component == "memory_bandwidth")
    assert memory.counters == pytest.approx(1, abs=0.05)
    assert memory.counters >= 2 * memory.model


def test_memory_and_threads_are_not_told_as_the_core_clock() -> None:
    """Cycles, instructions, bytes of memory and threads that all rise together: one cluster, with the name of most."""
    draws = numpy.random.default_rng(4)
    rows = []
    for _ in range(40):
        rise, other = draws.uniform(1, 10), draws.uniform(1, 10)
        near = {
            name: rise * (1 + 0.02 * draws.normal()) for name in ("cycles", "instructions", "memory_volume", "threads")
        }
        rows.append(
            {"runtime": 3 * rise + other, **near, "llc_misses": other, "LLC-loads": other * (1 + 0.05 * draws.normal())}
        )
    for item in Significant(space(), rows).evidences[0].counters:
        if item.name == "memory_volume":
            assert item.memberships["memory_bandwidth"] == 1
        if item.name == "threads":
            assert item.memberships["cores"] == 1
        assert item.memberships.get("clock", 0) == 0 or "clock" in item.known


def measured_on_lulesh() -> CounterEvidence:
    path = DATA / "lulesh_icelake_app.csv"
    if not path.exists():
        pytest.skip(f"there are no measurements in {DATA}")
    case = Case(aspenpy.load_application("lulesh"), aspenpy.load_machine("xeon_platinum_8360y"))
    where = CounterOptions(where="threads <= 18")
    return Significant(DesignSpace(case, ("clock", "cores", "memory_bandwidth")), path, where).evidences[0]


def test_lulesh_on_ice_lake() -> None:
    """What the page about Prometheus shows: each counter belongs most to a component that it is known for."""
    found = measured_on_lulesh()
    assert sorted(name or "" for name in found.clusters) == ["clock", "cores", "memory_bandwidth"]
    assert found.r_squared == pytest.approx(0.961, abs=0.005)
    nearest = {item.name: next(iter(item.memberships)) for item in found.counters}
    assert all(nearest[item.name] in item.known for item in found.counters)
    shares = {item.component: round(item.share, 2) for item in found.significances}
    assert shares == pytest.approx({"memory_bandwidth": 0.49, "clock": 0.31, "cores": 0.20}, abs=0.02)
