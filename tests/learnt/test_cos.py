"""COS: traces, training plans, and coefficients that are known beforehand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from aspenpy.language.source import Source
from aspenpy.learn.estimators.cos import Cos, CosThrottling, predict_stages, stall_times
from aspenpy.learn.estimators.cos_trace import THROTTLING_PLANS, cos_trace, sum_stages, training_plan
from aspenpy.learn.measurements.columns import recognise_columns
from aspenpy.learn.measurements.read import read_measurements
from aspenpy.report.learnt import describe_stages, draw

CASES = {
    "figure 1": (
        [(0, 3), (5, 6), (8, 9), (12, 14)],
        [(2, 5), (5, 8), (8, 12)],
        "Tc(1) + To(1) + Ts(1) + To(2) + Ts(2) + To(3) + Ts(3) + Tc(2)",
    ),
    "figure 3, f1": (
        [(0, 9)],
        [(1, 2), (3, 4), (5, 6), (7, 8)],
        "Tc(1) + To(1) + Tc(2) + To(2) + Tc(3) + To(3) + Tc(4) + To(4) + Tc(5)",
    ),
    "figure 3, f2": ([(0, 6)], [(1, 5)], "Tc(1) + To(1) + Tc(2)"),
    "figure 3, f3": ([(0, 3), (4, 7)], [(1, 6)], "Tc(1) + To(1) + Ts(1) + To(2) + Tc(2)"),
}
"""When the core and the memory are busy, and the trace of equations 2 and 4 to 6."""


@pytest.mark.parametrize("name", CASES)
def test_traces(name: str) -> None:
    core, memory, words = CASES[name]
    stages = cos_trace(core, memory)
    assert describe_stages(stages) == f"T = {words}"
    assert sum(sum_stages(stages, kind) for kind in ("compute", "overlap", "stall")) == stages[-1].end
    assert len(draw({name: stages}).axes) == 1


def test_parts_of_predictions() -> None:
    """T = 6/f + 2 s on two threads: what goes with the clock is 6/f, in each form."""
    rows = [
        {"threads": 2, "core_frequency": f * 1e9, "memory_frequency": 1e9, "runtime": 6 / f + 2,
         "stall_time": 2, "llc_misses": 4e8, "instructions": 1e10}
        for f in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    ]  # fmt: skip
    for form in ("stall", "clocks", "literal"):
        model = Cos(form=form).fit(rows)
        parts = predict_stages(model, model.sheet(rows))
        assert list(parts)[1] == "2 threads, 2 GHz, 1 GHz"
        assert [stages[0].end for stages in parts.values()] == pytest.approx([6, 3, 2, 1.5, 1.2, 1])
        assert [stages[1].end for stages in parts.values()] == pytest.approx([8, 5, 4, 3.5, 3.2, 3])
    blind = [{name: value for name, value in row.items() if name != "stall_time"} for row in rows]
    model = Cos().fit(blind)
    assert predict_stages(model, model.sheet(blind)) == {}


def test_training_plans() -> None:
    """Tables 2 and 3: sums of what the rows list."""
    clocks = [1.2e9 + place * 0.12e9 for place in range(16)]
    plan = training_plan(clocks, (1.333e9, 1.6e9, 1.866e9), range(4, 17, 2))
    assert (len(plan.training), len(plan.space), plan.tests) == (111, 336, 225)
    counted = [row.configurations for row in THROTTLING_PLANS]
    assert counted == [2032, 378, 160, 132, 144, 121]


def rows(stall: float, a: tuple[float, float, float, float]) -> list[dict[str, float]]:
    """Runtimes that equation 9 gives with coefficients `a`, from base samples of 10, 7 and 5 s."""
    made = []
    for (threads, runtime, misses, instructions), memory in itertools.product(
        [(2, 10.0, 4e8, 5e10), (4, 7.0, 5e8, 6e10), (8, 5.0, 7e8, 9e10)], [1.3e9, 1.9e9]
    ):
        base = runtime * 1.3e9 / memory
        for clock in (1e9, 1.5e9, 2e9, 2.5e9):
            terms = (misses, base / instructions, clock, memory)
            time = base if clock == 1e9 else base * (1 - stall) * 1e9 / clock + float(np.dot(a, terms))
            made.append(
                {"threads": threads, "core_frequency": clock, "memory_frequency": memory, "runtime": time,
                 "stall_time": stall * time, "llc_misses": misses, "instructions": instructions}
            )  # fmt: skip
    return made


def test_coefficients_of_equation_nine_come_back() -> None:
    a = (2e-9, 3e9, 1e-10, -2e-10)
    model = Cos().fit(rows(0.25, a))
    assert model.state["fitted"][0][1] == pytest.approx(a, rel=1e-6)
    data = rows(0.25, a)
    predicted = zip(data, model.predict(data), strict=True)
    assert all(guess == pytest.approx(row["runtime"]) for row, guess in predicted if row["core_frequency"] > 1e9)


@pytest.mark.parametrize("threads", [2, 16])
def test_the_stall_form_is_exact_where_stalls_go_with_misses(threads: int) -> None:
    def time(threads: int, clock: float) -> float:
        return 20 / threads / (clock / 1e9) + 3e-9 * 5e8

    data = [
        {"threads": t, "core_frequency": f, "runtime": time(t, f), "llc_misses": 5e8}
        for t in (1, 2, 4, 16)
        for f in (1e9, 2e9, 3e9)
    ]
    learnt = Cos(form="stall").fit([row for row in data if row["threads"] in (1, 4)])
    asked = [row for row in data if row["threads"] == threads]
    assert learnt.predict(asked) == pytest.approx([row["runtime"] for row in asked])


def test_clocks_form_is_a_regression_on_both_clocks() -> None:
    data = [
        {"application": "k", "core_frequency": c, "memory_frequency": m, "runtime": 0.5 + 3e9 / c + 8e9 / m}
        for c in (1e9, 2e9) for m in (4e9, 5e9)
    ]  # fmt: skip
    model = Cos(form="clocks").fit(data)
    assert model.predict([{"application": "k", "core_frequency": 1.5e9, "memory_frequency": 4.5e9}]) == pytest.approx(
        [0.5 + 2 + 8 / 4.5]
    )


@pytest.mark.parametrize("form", ["continuous", "literal"])
def test_throttling(form: str) -> None:
    """A hockey stick with an inflection at 200 L2M/INST + 20 and a slope of 1e-9 L2M (D22: the literal one jumps)."""
    data = []
    for threads, misses in ((4, 2e7), (8, 4e7), (16, 6e7)):
        at, slope = 200 * misses / 1e9 + 20, 1e-9 * misses
        for idle in range(0, 127, 2):
            beyond = idle if form == "literal" else idle - at
            time = 5 / threads + (slope * beyond if idle > at else 0)
            data.append(
                {"threads": threads, "idle_cycles": idle, "llc_misses": misses, "instructions": 1e9, "runtime": time}
            )
    model = CosThrottling(form=form).fit(data)
    alpha, constant, beta, start = model.state["codes"][0][1]
    assert (beta, start) == pytest.approx((1e-9, 0), rel=1e-6, abs=1e-9)
    assert alpha * 0.04 + constant == pytest.approx(28, abs=0.01)
    assert model.predict(data) == pytest.approx([row["runtime"] for row in data], rel=1e-6)


@pytest.mark.parametrize(
    ("columns", "rows", "expected"),
    [
        ("stall_time [s],stall_cycles,cycles", ["0.5,9e9,9.5e9", "0.25,1,8"], [0.5, 0.25]),
        ("stall_cycles,cycles", ["1e9,8e9", "3e9,4e9"], [2 / 8, 3 * 3 / 4]),  # their part of the runtime
        ("stall_cycles", ["1e9", "3e9"], [0.5, 3]),  # at 2 and at 1 GHz
        ("energy [J]", ["1", "2"], [0, 0]),
    ],
)
def test_stalls_are_seconds_however_they_were_measured(columns: str, rows: list[str], expected: list[float]) -> None:
    runs = zip(("2,2", "3,1"), rows, strict=True)
    text = "\n".join([f"runtime [s],core_frequency [GHz],{columns}", *(f"{run},{row}" for run, row in runs), ""])
    sheet = recognise_columns(read_measurements(Source(text, "runs.csv")))
    assert stall_times(sheet) == pytest.approx(np.array(expected))
