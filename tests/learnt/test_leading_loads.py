"""Leading Loads on the interval simulator: what it predicts from one run, against runs at the other clocks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.learn.estimators.leading_loads import REGRESSIONS, LeadingLoads
from benchmarks.example_measurements import program
from benchmarks.interval_core import Instruction, IntervalCore, leading_cycles
from tests.thorough import examples

CLOCKS = (2.8e9, 2.4e9, 2.0e9, 1.4e9)
CORE = IntervalCore()
LATENCY = round(CORE.miss_seconds * CLOCKS[0])

SERIAL = [Instruction(True, 21 if place else 0) if place % 21 == 0 else Instruction() for place in range(21 * 60)]
GROUP = [Instruction(True)] * 8 + [Instruction(False, 1)] * 60


def runs(work: list[Instruction], clocks: tuple[float, ...] = CLOCKS) -> list[dict[str, float]]:
    return [CORE.run(work, clock) for clock in clocks]


def errors(rows: list[dict[str, float]], rival: str) -> list[float]:
    predicted = LeadingLoads(rival=rival).fit(rows).predict(rows)
    return [abs(guess / row["runtime"] - 1) for guess, row in zip(predicted, rows, strict=True)][1:]


@pytest.mark.parametrize(
    "work",
    [
        SERIAL,
        GROUP * 30,
        *(program(misses, chained, 5) for misses, chained in ((0.005, 0.5), (0.02, 0.2), (0.03, 0.8))),
    ],
    ids=["serial", "overlapped", "rare", "mixed", "many"],
)
def test_under_one_percent_and_the_stalls_are_worse(work: list[Instruction]) -> None:
    rows = runs(work)
    leading, stalls = errors(rows, "leading-loads"), errors(rows, "stall")
    assert max(leading) < 0.01
    assert np.mean(leading) < np.mean(stalls)


def test_serial_misses_count_each_and_overlapped_ones_once() -> None:
    """There leading loads are no fewer cycles than stalls; where misses overlap in part they may be."""
    for work in (SERIAL, GROUP * 30):
        assert runs(work)[0]["stall_cycles"] <= runs(work)[0]["leading_load_cycles"]
    assert runs(SERIAL)[0]["leading_load_cycles"] == 60 * LATENCY
    assert CORE.run([Instruction(True)] * 8, CLOCKS[0])["leading_load_cycles"] == LATENCY
    assert leading_cycles([(0, 100), (40, 140), (99, 199), (140, 240)]) == 200, "those of 40 and 99 do not lead"


def test_without_misses_time_goes_with_the_clock() -> None:
    rows = runs([Instruction()] * 1000)
    assert max(errors(rows, "leading-loads")) < 1e-12
    assert rows[0]["cycles"] == rows[-1]["cycles"]
    serial = runs([Instruction(True, 1 if place else 0) for place in range(50)])
    assert serial[0]["cycles"] / serial[-1]["cycles"] == pytest.approx(2.8 / 1.4, rel=0.01)


instructions = st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.integers(1, 4)), min_size=1, max_size=120).map(
    lambda drawn: [
        Instruction(one and wait % 2 == 0, min(wait, place), cost) for place, (one, wait, cost) in enumerate(drawn)
    ]
)


@settings(max_examples=examples(300))
@given(instructions)
def test_what_the_counters_must_obey(work: list[Instruction]) -> None:
    row = CORE.run(work, CLOCKS[0])
    assert max(row["stall_cycles"], row["leading_load_cycles"]) <= row["read_cycles"] <= row["cycles"]
    assert row["leading_load_cycles"] <= row["llc_misses"] * LATENCY
    assert row["cycles"] >= len(work) / CORE.width - 1
    slower = CORE.run(work, CLOCKS[-1])
    assert row["runtime"] * (1 - 1e-9) <= slower["runtime"] <= 2 * row["runtime"] * (1 + 2 / LATENCY) + 8 / CLOCKS[-1]


@settings(max_examples=examples(200))
@given(instructions)
def test_at_its_own_clock_a_run_is_predicted_exactly(work: list[Instruction]) -> None:
    row = CORE.run(work, CLOCKS[0])
    assert LeadingLoads().fit([row]).predict([row]) == pytest.approx([row["runtime"]])


@cache
def six_programs() -> list[dict[str, Any]]:
    cases = [(0.002, 0.5), (0.01, 1.0), (0.04, 0.0), (0.02, 0.5), (0.005, 0.7), (0.03, 1.0)]
    return [
        row | {"application": str(number)}
        for number, (misses, chained) in enumerate(cases)
        for row in runs(program(misses, chained, number), (2.8e9, 2.0e9))
    ]


@pytest.mark.parametrize("rival", REGRESSIONS)
def test_regressions_of_table_one(rival: str) -> None:
    """Each learns: it comes as close as the mean share of time on the bus does, at least."""
    rows = six_programs()
    model = LeadingLoads(rival=rival).fit(rows)
    actual = np.array([row["runtime"] for row in rows])
    ratio = np.tile([1, 1.4], 6)
    share = (actual / np.repeat(actual[::2], 2) - ratio)[1::2] / (1 - 1.4)
    mean = np.abs(1 - np.repeat(actual[::2], 2) * (ratio + (1 - ratio) * share.mean()) / actual)
    assert np.square(model.predict(rows) / actual - 1).sum() < 1.1 * np.square(mean).sum() + 1e-3
