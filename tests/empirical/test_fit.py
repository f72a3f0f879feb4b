"""Fits, held to closed forms, to a search by brute force, and to what the measurements were made with."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import AspenError, Fit
from aspenpy.language.source import Source
from aspenpy.learn.fitting import certainty
from aspenpy.learn.fitting.fit import FittedParameter
from aspenpy.learn.fitting.measurements import read_measurements
from aspenpy.learn.fitting.responses import Errors, Responses, make_axis
from aspenpy.learn.measurements.sheet import make_sheet, tabulate_rows
from tests.thorough import THOROUGH, examples
from tests.tiny import application, codes, machine

pytest.importorskip("scipy", reason="the extra `fit` is not installed")

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
DECLARED = """
param n = 10 in 1 .. 1e9
param a = 1 in -100 .. 100
param b = 1 in -100 .. 100
"""
LINE = application("execute { flops [a + b*n] }", DECLARED)
POWER = application(
    "execute { flops [a*n^p + c] }",
    "param n = 10 param a = 1 in 1e-9 .. 1e3 param p = 1 in 0 .. 4 param c = 0 in 0 .. 100",
)


def fitted(app: aspenpy.Application, rows: Sequence[dict[str, object]], **asked: object) -> Fit:
    return aspenpy.fit(app, rows, machine=machine(), **asked)  # type: ignore[arg-type]


def noisy(seed: int, deviation: float) -> list[dict[str, object]]:
    """Runtimes 3 + n/2 with relative noise."""
    luck = random.Random(seed)
    return [{"n": n, "runtime": (3 + n / 2) / (1 + luck.gauss(0, deviation))} for n in SIZES]


# -- values ----------------------------------------------------------------------------------------


def test_one_parameter_by_hand() -> None:
    """min sum (b n/t - 1)^2 is at b = sum x / sum x^2 with x = n/t."""
    app = application("execute { flops [b*n] }", DECLARED)
    found = fitted(app, [{"n": 1, "runtime": 2}, {"n": 2, "runtime": 5}], vary=["b"])
    assert found.values["b"] == pytest.approx((1 / 2 + 2 / 5) / (1 / 4 + 4 / 25), rel=1e-14)


def test_line_against_the_normal_equations() -> None:
    """Rows (1/t, n/t), all equal to 1; Student's t(0.975; 8) is 2.306004135 (tables)."""
    rows = noisy(1, 0.05)
    found = fitted(LINE, rows)
    design = numpy.array([[1 / row["runtime"], row["n"] / row["runtime"]] for row in rows])  # type: ignore[operator]
    inverse = numpy.linalg.inv(design.T @ design)
    values = inverse @ design.sum(axis=0)
    left = design @ values - 1
    deviations = numpy.sqrt(numpy.diag(inverse) * (left @ left) / 8)
    # A least sum of squares is flat: its place is certain to about the root of the rounding error.
    assert [item.value for item in found.parameters] == pytest.approx(values.tolist(), rel=1e-8)
    assert [item.deviation for item in found.parameters] == pytest.approx(deviations.tolist(), rel=1e-9)
    for item, value, deviation in zip(found.parameters, values, deviations, strict=True):
        half = 2.306004135204166 * deviation
        assert item.interval == pytest.approx((value - half, value + half), rel=1e-9)
    assert found.degrees_of_freedom == 8
    assert [item.error for item in found.residuals] == pytest.approx(left.tolist(), abs=1e-12)
    assert found.rms == pytest.approx(math.sqrt(left @ left / 10), rel=1e-12)
    assert found.mean_error == pytest.approx(abs(left).mean(), rel=1e-12)
    assert abs(found.worst.error) == pytest.approx(abs(left).max(), rel=1e-12)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("kind", ["file", "text", "rows", "generator"])
def test_rows_up_to_the_limit_are_read(count: int, kind: str, tmp_path: Path) -> None:
    rows = [{"n": size, "runtime": 2 * size} for size in SIZES[:count]]
    text = "n,runtime\n" + "".join(f"{row['n']},{row['runtime']}\n" for row in rows)
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    given = {"file": tmp_path / "rows.csv", "text": Source(text), "rows": rows, "generator": iter(rows)}
    if count <= 3:
        found = make_sheet(given[kind], most_rows=3)  # type: ignore[arg-type]
        assert [row["runtime"].value for row in found.rows] in (
            [row["runtime"] for row in rows],
            [str(row["runtime"]) for row in rows],
        )
        return
    with pytest.raises(AspenError, match="more than 3 rows of measurements") as refused:
        make_sheet(given[kind], most_rows=3)  # type: ignore[arg-type]
    span = refused.value.diagnostics[0].span
    assert (span.position() if span else None) == ((5, 1) if kind in ("file", "text") else None)


@given(a=st.floats(-50, 50), b=st.floats(0.01, 50))
@settings(max_examples=examples(25))
def test_line_is_recovered(a: float, b: float) -> None:
    rows = [{"n": n, "runtime": 60 + a + b * n} for n in SIZES]
    app = application("execute { flops [60 + a + b*n] }", DECLARED)
    found = fitted(app, rows)  # type: ignore[arg-type]
    assert found.values == pytest.approx({"a": a, "b": b}, rel=1e-8, abs=1e-8)


@given(a=st.floats(1e-6, 10), p=st.floats(0.3, 3), c=st.floats(0.1, 90))
@settings(max_examples=examples(25))
def test_power_law_is_recovered(a: float, p: float, c: float) -> None:
    """The ranges span twelve decades; the sizes are such that a*n^p matters beside c."""
    scale = (c / a) ** (1 / p)
    rows = [{"n": size * scale / 20, "runtime": a * (size * scale / 20) ** p + c} for size in SIZES]
    found = fitted(POWER, rows, vary=["a", "p", "c"])  # type: ignore[arg-type]
    assert found.values == pytest.approx({"a": a, "p": p, "c": c}, rel=1e-8)


def test_several_machines_at_once() -> None:
    """One has twice the speed; the amount is the application's."""
    app = application("execute { flops [a*n] loads [b] }", DECLARED.replace("-100", "0"))
    twice = machine("machine twice { resource flops(n) [n/2] resource loads(n) [n/2] conflict flops, loads }")
    once = machine("machine once { resource flops(n) [n] resource loads(n) [n] conflict flops, loads }")
    rows = [
        {"machine": where, "n": n, "runtime": (7 * n + 11) / speed}
        for where, speed in ((once, 1), (twice, 2))
        for n in SIZES
    ]
    found = aspenpy.fit(app, rows)
    assert found.values == pytest.approx({"a": 7, "b": 11}, rel=1e-10)
    assert {item.measurement.machine for item in found.residuals} == {once, twice}


def test_counts_and_runtimes_together() -> None:
    """Counts need no machine: a from the flops alone, b from the runtimes."""
    app = application("execute { flops [a*n] } execute { loads [b*n] }", DECLARED)
    rows = [{"n": n, "flops": 3 * n, "runtime": 3 * n + 4 * n} for n in SIZES]
    assert fitted(app, rows).values == pytest.approx({"a": 3, "b": 4}, rel=1e-10)
    only = aspenpy.fit(app, [{"n": n, "flops": 3 * n} for n in SIZES])
    assert only.values == pytest.approx({"a": 3}, rel=1e-10)


def test_the_right_valley_is_found() -> None:
    """p^3 - 6 p^2 + 9 p + 1 has a top at 1 and a bottom at 3: from 0.5, downhill ends at the top for a target above."""
    app = application("execute { flops [n*(p^3 - 6*p^2 + 9*p + 1)] }", "param n = 1 in 1 .. 9 param p = 0.5 in 0 .. 5")
    target = 4.5**3 - 6 * 4.5**2 + 9 * 4.5 + 1
    found = fitted(app, [{"n": n, "runtime": n * target} for n in (1, 2, 3)])
    assert found.values["p"] == pytest.approx(4.5, rel=1e-10)


@given(point=st.tuples(st.floats(-100, 100), st.floats(-100, 100)))
@settings(max_examples=examples(50))
def test_no_point_is_better(point: tuple[float, float]) -> None:
    there = [(point[0] + point[1] * n - t) / t for n, t in NOISY_ROWS]
    assert math.sqrt(sum(error * error for error in there) / len(there)) >= fit_of_noise().rms


NOISY_ROWS = [(row["n"], row["runtime"]) for row in noisy(2, 0.1)]


@cache
def fit_of_noise() -> Fit:
    return fitted(LINE, noisy(2, 0.1))


def test_model_without_value_on_the_way() -> None:
    """sqrt(p - 2) has no value in the lower part of the range, where the model's own value is not."""
    app = application("execute { flops [n*sqrt(p - 2)] }", "param n = 1 param p = 3 in 0 .. 20")
    found = fitted(app, [{"n": n, "runtime": 3 * n} for n in SIZES], vary=["p"])
    assert found.values["p"] == pytest.approx(11, rel=1e-10)


# -- bounds and whole numbers ----------------------------------------------------------------------


def test_value_at_its_bound() -> None:
    """Measured with 5 + n/2; b stops at 0.25, and a is what is then best: sum (1 - b n/t)/t / sum 1/t^2."""
    app = application("execute { flops [a + b*n] }", DECLARED.replace("b = 1 in -100 .. 100", "b = 0.1 in 0 .. 0.25"))
    times = {n: 5 + n / 2 for n in SIZES}
    found = fitted(app, [{"n": n, "runtime": t} for n, t in times.items()])
    a, b = found.parameters
    assert (b.value, b.interval, b.remark) == (0.25, None, "at the upper end of its range, taken as given")
    best = sum((1 - n / 4 / t) / t for n, t in times.items()) / sum(1 / t**2 for t in times.values())
    assert a.value == pytest.approx(best, rel=1e-12)
    assert a.interval is not None
    assert found.degrees_of_freedom == 9


@pytest.mark.parametrize("most", [40, 100000], ids=["all tried", "branch and bound"])
def test_whole_numbers_against_brute_force(most: int) -> None:
    app = application("execute { flops [a + b*n] }", f"param n = 1 param a = 1 in 0 .. {most} param b = 1 in 0 .. 10")
    rows = [(n, (7.4 + 2.6 * n) * (1.1 if n % 2 else 0.95)) for n in SIZES]
    found = fitted(app, [{"n": n, "runtime": t} for n, t in rows], vary=["a", "b"], integer=["a", "b"])

    def cost(a: int, b: int) -> float:
        return sum(((a + b * n) / t - 1) ** 2 for n, t in rows)

    best = min(((a, b) for a in range(41) for b in range(11)), key=lambda pair: cost(*pair))
    assert (found.values["a"], found.values["b"]) == best
    assert all(item.remark == certainty.WHOLE for item in found.parameters)


def test_whole_number_under_a_step() -> None:
    """ceil(n/a) is flat almost everywhere by a; all values are tried."""
    app = application("execute { flops [ceil(n/a)*b] }", "param n = 1 param a = 2 in 1 .. 64 param b = 1 in 0 .. 10")
    rows = [{"n": n, "runtime": math.ceil(n / 12) * 1.5} for n in range(1, 100, 7)]
    found = fitted(app, rows, vary=["a", "b"], integer=["a"])
    assert found.values == pytest.approx({"a": 12, "b": 1.5}, rel=1e-10)
    assert found.has_steps
    with pytest.raises(AspenError, match="`c:whole`: `c` is not one of the fitted parameters"):
        fitted(app, rows, vary=["a", "b"], integer=["c"])


def test_real_number_under_a_step() -> None:
    """The ramp leads near: parallelism p on four cores takes ceil(p/4) seconds; 10.5 is met by 4 * 10 < p <= 4 * 11,
    where the error is 0.5/10.5."""
    app = application("execute [p] { flops [n] }", "param n = 1 param p = 1 in 1 .. 1000")
    four = machine("machine m { core [4] c } core c { resource flops(n) [n] }")
    found = aspenpy.fit(app, [{"n": n, "runtime": 10.5 * n} for n in SIZES], machine=four, vary=["p"])
    assert found.rms == pytest.approx(0.5 / 10.5, rel=1e-12)
    assert found.has_steps


# -- certainty -------------------------------------------------------------------------------------


def test_what_is_not_determined() -> None:
    app = application("execute { flops [(a + b)*n + c] }", DECLARED + "param c = 0 in -1 .. 5")
    found = fitted(app, [{"n": n, "runtime": 3 * n + 1} for n in SIZES], vary=["a", "b", "c"])
    assert {item.name: item.remark for item in found.parameters} == {
        "a": "not determined: moves together with b without effect",
        "b": "not determined: moves together with a without effect",
        "c": None,
    }
    assert found.values["a"] + found.values["b"] == pytest.approx(3, rel=1e-10)
    assert found.values["c"] == pytest.approx(1, rel=1e-10)
    assert found.degrees_of_freedom == len(SIZES) - 2


def test_nothing_changes_with_it() -> None:
    app = application("execute { flops [max(c, a*n)] }", DECLARED + "param c = 0.3 in 0 .. 0.5")
    rows = [{"n": n, "runtime": 3 * n} for n in SIZES]
    found = fitted(app, rows, vary=["a", "c"])
    assert {item.name: item.remark for item in found.parameters} == {"a": None, "c": certainty.NO_EFFECT}
    alone = fitted(app, rows)
    assert alone.values == pytest.approx({"a": 3}, rel=1e-10)
    assert [(item.name, item.value, item.reason) for item in alone.refused] == [("c", 0.3, certainty.NO_EFFECT)]


def test_only_what_is_determined_is_fitted() -> None:
    """Runtimes 3 n + 1 of (a + b) n + c, where b stays at the model's 1: a = 2."""
    app = application("execute { flops [(a + b)*n + c] }", DECLARED + "param c = 0 in -1 .. 5")
    found = fitted(app, [{"n": n, "runtime": 3 * n + 1} for n in SIZES])
    assert found.values == pytest.approx({"a": 2, "c": 1}, rel=1e-8)
    assert [(item.name, item.reason) for item in found.refused] == [("b", certainty.TOGETHER.format("a"))]
    assert found.degrees_of_freedom == len(SIZES) - 2


def test_an_interval_wider_than_the_range_is_none() -> None:
    """Runtimes of 2e4 to 2e5 s that are known to 1 % say nothing of an offset between -20 and 20 s; of such draws the
    first whose least squares (the normal equations) have the offset inside its range, where no bound holds it."""
    app = application("execute { flops [b*n + c] }", "param n = 1 param b = 1 in 0 .. 10 param c = 5 in -20 .. 20")
    for seed in range(100):
        luck = random.Random(seed)
        rows = [{"n": n, "runtime": 2 * n * (1 + luck.gauss(0, 0.01))} for n in range(10_000, 100_000, 10_000)]
        sizes, times = (numpy.array([row[name] for row in rows]) for name in ("n", "runtime"))
        design = numpy.array([sizes / times, 1 / times]).T
        best, cost = numpy.linalg.lstsq(design, numpy.ones(len(rows)), rcond=None)[:2]
        if abs(best[1]) < 19:
            break
    half = 2.364624 * math.sqrt(numpy.linalg.inv(design.T @ design)[1, 1] * cost[0] / 7)  # Student's t(0.975; 7)
    assert half > 40
    named = {item.name: item for item in fitted(app, rows, vary=["b", "c"]).parameters}
    assert named["c"].value == pytest.approx(best[1], rel=1e-6)
    assert (named["c"].interval, named["c"].remark) == (None, certainty.TOO_WIDE.format("95 %", half))
    alone = fitted(app, rows)
    assert [(item.name, item.value) for item in alone.refused] == [("c", 5)]
    by_hand = (sizes / times) @ (1 - 5 / times) / ((sizes / times) @ (sizes / times))
    assert alone.values == pytest.approx({"b": by_hand}, rel=1e-9)


def test_nothing_is_determined() -> None:
    app = application("execute { flops [max(c, n)] }", "param n = 1 param c = 0.3 in 0 .. 0.5")
    with pytest.raises(AspenError) as refusal:
        fitted(app, [{"n": n, "runtime": n} for n in SIZES])
    assert codes(refusal.value) == ["nothing-to-fit"]
    assert "`c`: not determined: nothing that was measured changes with it" in str(refusal.value)


# -- parameters of machines ------------------------------------------------------------------------

MEMORY = """
param rate = 2 in 0.1 .. 100
param delay = 0 in 0 .. 10
param idle = 1 in 0 .. 2
machine m { node box } node box { socket cpu }
socket cpu { resource loads(n) [delay + n/rate] static power [idle] }
"""


def test_machine_parameters_against_scipy() -> None:
    """Runtimes 0.7 + n/12.5 with 3 % of noise; scipy minimises the same relative errors and linearises them."""
    from scipy.optimize import least_squares
    from scipy.stats import t as student

    luck = random.Random(7)
    rows = [{"n": n, "runtime": (0.7 + n / 12.5) * (1 + luck.gauss(0, 0.03))} for n in SIZES]
    times = numpy.array([row["runtime"] for row in rows])
    sizes = numpy.array(SIZES, dtype=float)
    best = least_squares(lambda p: (p[1] + sizes / p[0]) / times - 1, [2.0, 1.0], xtol=1e-15, ftol=1e-15, gtol=1e-15)
    app = application("execute { loads [n] }", "param n = 1")
    for vary in (["rate", "delay"], []):
        found = aspenpy.fit(app, rows, machine=machine(MEMORY), vary=vary)
        assert found.values == pytest.approx({"rate": best.x[0], "delay": best.x[1]}, rel=1e-6)
        deviations = numpy.sqrt(numpy.diag(numpy.linalg.inv(best.jac.T @ best.jac)) * 2 * best.cost / 8)
        for item, value, deviation in zip(found.parameters, best.x, deviations, strict=True):
            half = student.ppf(0.975, 8) * deviation
            assert item.interval == pytest.approx((value - half, value + half), rel=1e-4)
        assert {item.name for item in found.refused} <= {"idle"}


def test_an_application_and_a_machine_together() -> None:
    """Counts determine the application's a, and runtimes then the machine's rate."""
    app = application("execute { loads [a*n] }", "param n = 1 param a = 1 in 0 .. 10")
    rows = [{"n": n, "loads": 3 * n, "runtime": 3 * n / 7} for n in SIZES]
    found = aspenpy.fit(app, rows, machine=machine(MEMORY), vary=["a", "rate"])
    assert found.values == pytest.approx({"a": 3, "rate": 7}, rel=1e-9)
    with pytest.raises(AspenError, match="parameter of a machine") as refusal:
        found.to_aspen()
    assert "--set a=" in str(refusal.value)


def test_parameters_of_several_machines() -> None:
    """Each machine has a rate of its own."""
    app = application("execute { loads [n] }", "param n = 1")
    fast, slow = (
        machine(MEMORY.replace("rate", name).replace("machine m", f"machine {name}")) for name in ("quick", "late")
    )
    rows = [{"machine": where, "n": n, "runtime": n / rate} for where, rate in ((fast, 50), (slow, 5)) for n in SIZES]
    found = aspenpy.fit(app, rows, vary=["quick", "late"])
    assert found.values == pytest.approx({"quick": 50, "late": 5}, rel=1e-9)
    with pytest.raises(AspenError) as refusal:
        aspenpy.fit(
            app,
            [rows[0], {**rows[-1], "machine": machine(MEMORY.replace("= 0 in 0 .. 10", "= 1 in 0 .. 10"))}],
            vary=["delay"],
        )
    assert codes(refusal.value) == ["ambiguous-parameter"]


def test_a_name_that_both_models_have() -> None:
    app = application("execute { loads [rate*n] }", "param n = 1 param rate = 1 in 0.5 .. 10")
    rows = [{"n": n, "runtime": 3 * n / 2} for n in SIZES]
    found = aspenpy.fit(app, rows, machine=machine(MEMORY), vary=["app:rate"])
    assert found.values == pytest.approx({"rate": 3})
    found = aspenpy.fit(app, rows, machine=machine(MEMORY), vary=["machine:rate"])
    assert found.values == pytest.approx({"machine:rate": 2 / 3})
    with pytest.raises(AspenError) as refusal:
        aspenpy.fit(app, rows, machine=machine(MEMORY), vary=["rate"])
    assert codes(refusal.value) == ["ambiguous-parameter"]


# -- numbers at the ends of what a float holds -----------------------------------------------------


@pytest.mark.parametrize("measured", [1e308, 1.7e308, 1e-300, 1e-320, 5e-324])
@pytest.mark.parametrize("column", ["runtime", "n", "flops"])
@pytest.mark.parametrize("vary", [(), ("a", "b")], ids=["proposed", "named"])
def test_extreme_measurements_end_in_a_message(column: str, measured: float, vary: tuple[str, ...]) -> None:
    """With every number in place of one of the columns, in one row and in all."""
    other = {"n": 2.0} if column == "flops" else {"n": 2.0, "runtime": 4.0}
    told: set[str] = set()
    for several in (False, True):
        rows = [{**other, column: measured}, *({**other, column: measured if several else 3.0} for _ in range(3))]
        try:
            found = fitted(LINE, rows, vary=vary)
        except AspenError as error:
            told.update(codes(error))
        else:
            assert all(math.isfinite(item.error) for item in found.residuals)
            assert all(math.isfinite(item.value) for item in found.parameters)
    assert told <= {"too-large", "nothing-to-fit", "implausible"}


def test_too_far_apart_is_told_at_the_measurement() -> None:
    """n of 1e200 against a second: an error of 1e200."""
    with pytest.raises(AspenError) as refusal:
        fitted(LINE, [{"n": 1e200, "runtime": 1} for _ in SIZES], vary=["a", "b"])
    assert codes(refusal.value) == ["too-large"]
    assert "in row 1" in str(refusal.value) or "row 1 of the measurements" in str(refusal.value)


def test_nothing_to_spare() -> None:
    found = fitted(LINE, [{"n": 1, "runtime": 2}, {"n": 2, "runtime": 3}])
    assert (found.degrees_of_freedom, [item.interval for item in found.parameters]) == (0, [None, None])
    assert found.parameters[0].remark == certainty.NOTHING_TO_SPARE


def test_intervals_cover_at_their_rate() -> None:
    """Of many fits with noise of 2 %, 80 % of the intervals hold the true slope, give or take three standard deviations
    of the binomial distribution: 12 % of 100, 3.8 % of 1000."""
    rounds = 1000 if THOROUGH else 100
    held = 0
    for seed in range(rounds):
        interval = fitted(LINE, noisy(seed, 0.02), vary=["a", "b"], confidence=0.8).parameters[1].interval
        assert interval is not None
        held += interval[0] <= 0.5 <= interval[1]
    assert held / rounds == pytest.approx(0.8, abs=3 * math.sqrt(0.8 * 0.2 / rounds))


def test_power_law_intervals_are_those_of_its_slopes() -> None:
    """Slopes n^p, a n^p ln n and 1 over t, by hand, at the solution."""
    luck = random.Random(3)
    rows = [{"n": n, "runtime": (2 * n**1.5 + 30) * (1 + luck.gauss(0, 0.03))} for n in SIZES]
    found = fitted(POWER, rows, vary=["a", "p", "c"])
    a, p, _ = (item.value for item in found.parameters)
    jacobian = numpy.array([[n**p, a * n**p * math.log(n), 1] for n in SIZES])
    jacobian /= numpy.array([[row["runtime"]] for row in rows])
    variance = sum(item.error**2 for item in found.residuals) / 7
    deviations = numpy.sqrt(numpy.diag(numpy.linalg.inv(jacobian.T @ jacobian)) * variance)
    assert [item.deviation for item in found.parameters] == pytest.approx(deviations.tolist(), rel=1e-7)


# -- slopes ----------------------------------------------------------------------------------------


def errors_of(app: aspenpy.Application, rows: list[dict[str, object]], names: Sequence[str]) -> Errors:
    case = aspenpy.Case(app, machine(), seed=0)
    responses = Responses(case, read_measurements(tabulate_rows(rows), case, aspenpy.load_machine))
    return responses.errors([make_axis(app.parameters[name], responses.scopes[0], names) for name in names])


def test_slopes_agree_with_differences() -> None:
    errors = errors_of(POWER, [{"n": n, "runtime": n} for n in SIZES], ["a", "p", "c"])
    at = [0.7, 1.3, 5.0]
    for place, slopes in enumerate(zip(*errors.slopes(at), strict=True)):
        step = 1e-6 * at[place]
        ahead, behind = (
            errors([value + sign * step * (number == place) for number, value in enumerate(at)]) for sign in (1, -1)
        )
        differences = [(above - below) / (2 * step) for above, below in zip(ahead, behind, strict=True)]
        assert list(slopes) == pytest.approx(differences, rel=1e-6, abs=1e-9)
    assert not errors.linear
    assert errors_of(LINE, [{"n": 1, "runtime": 1}], ["a", "b"]).linear


def test_slope_where_the_formula_has_none() -> None:
    """At p = 2 the slope of sqrt(p - 2) is infinite; what a step to 2 + 2e-6 changes is finite."""
    app = application("execute { flops [1 + sqrt(p - 2)] }", "param p = 2 in 2 .. 20")
    errors = errors_of(app, [{"runtime": 1}], ["p"])
    assert errors.slopes([2.0])[0][0] == pytest.approx(math.sqrt(2e-6) / 2e-6, rel=1e-6)


def test_slope_at_nothing_in_the_middle_of_a_range() -> None:
    """A step from 0 is a part of the whole range, of which there is as much ahead as behind: |p| has no slope at 0."""
    app = application("execute { flops [2 + sqrt(p^2)] }", "param p = 0 in -4 .. 4")
    errors = errors_of(app, [{"runtime": 1}], ["p"])
    assert errors.slopes([0.0])[0][0] == 0.0


# -- what is asked ---------------------------------------------------------------------------------


def test_rows_of_a_data_frame() -> None:
    class Frame:
        def to_dict(self, kind: str) -> list[dict[str, object]]:
            assert kind == "records"
            return [{"n": numpy.int64(n), "runtime [ms]": numpy.float64(1000 * (2 + 3 * n))} for n in SIZES]

    found = aspenpy.fit(LINE, Frame(), machine=machine())  # type: ignore[arg-type]
    assert found.values == pytest.approx({"a": 2, "b": 3}, rel=1e-10)


def test_members_arguments_and_machine_parameters_are_columns() -> None:
    app = application(
        "execute { flops [1] }",
        "enum kinds {plain, twice} param kind = plain in kinds param a = 1 in 0 .. 10",
        "kernel work(param n) { execute { flops [a*n*(1 + kind)] } }",
    )
    slow = machine("param speed = 1 machine m { resource flops(n) [n/speed] }")
    rows = [
        {"kind": kind, "n": 3, "speed": speed, "runtime": 4 * 3 * factor / speed}
        for kind, factor in (("plain", 1), ("twice", 2))
        for speed in (Fraction(1, 2), 4)
    ]
    found = aspenpy.fit(app, rows, machine=slow, kernel="work")
    assert found.values == pytest.approx({"a": 4}, rel=1e-12)
    with pytest.raises(AspenError) as refusal:
        aspenpy.fit(app, [{"kind": 2, "n": 3, "runtime": 1}], machine=slow, kernel="work")
    assert codes(refusal.value) == ["not-a-member"]
    assert "in row 1 of the measurements" in str(refusal.value)


def test_measured_outside_its_range_is_told() -> None:
    found = fitted(LINE, [{"n": n, "runtime": n} for n in (0.25, 0.5, 3)])
    assert [(item.code, item.severity) for item in found.diagnostics] == [("outside-range", "warning")]


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([], "no-measurements"),
        ([{"n": 1, "runtime": 1}, {"n": 1}], "wrong-columns"),
        ([{"n": True, "runtime": 1}], "bad-value"),
        ([{"n": 1, "runtime": math.nan}], "bad-value"),
        ([{"n": None, "runtime": 1}], "bad-value"),
        ([{"n": 1, "runtime": -1}], "not-positive"),
        ([{"n": 1, "runtime": 1, "machine": "nowhere"}], "unknown-machine"),
        ([{"n": 1, "runtime": 1}], "too-few-measurements"),
    ],
)
def test_refused_rows(rows: list[dict[str, object]], code: str) -> None:
    with pytest.raises(AspenError) as refusal:
        fitted(LINE, rows)
    assert codes(refusal.value) == [code]


@pytest.mark.parametrize(
    ("value", "deviation", "certain"),
    [
        (342147.0117629857, 55944.0, 342100),  # a hundredth of the deviation is 559
        (1.3432600048056749, 0.01268, 1.3433),
        (7.976367937358055, None, 7.97636794),
        (7.976367937358055, 1e-13, 7.97636794),
        (3.0, 0.5, 3),
        (-0.012345, 0.5, -0.012),  # to 0.001, since a hundredth is 0.005
        (99.96, 20.0, 99.95),  # the end of the range
    ],
)
def test_certain_digits(value: float, deviation: float | None, certain: float) -> None:
    fitted = FittedParameter("p", 1.0, value, -1e9, 99.95 if value == 99.96 else 1e9, deviation, None, None)
    assert fitted.certain_value == certain


def test_power_of_a_machine() -> None:
    """Watts that known constants make, at three clocks and two sizes: the fit finds the constants."""
    app, on = aspenpy.load_application("stream"), aspenpy.load_machine("xeon_platinum_8360y")
    known = {"platinum_8360y_idle": 61.25, "platinum_8360y_core_switched": 1.75, "platinum_8360y_uncore": 38.5}
    rows = []
    for clock in (1.2e9, 1.8e9, 2.4e9):
        for kernel in (1e6, 3e6):
            at = {"platinum_8360y_clock": clock, "n": kernel}
            rows.append({**at, "power": aspenpy.energy(app, on, set={**known, **at}).power})
    found = aspenpy.fit(app, rows, on, metric="power", vary=[*known][:2], set={"platinum_8360y_uncore": 38.5})
    assert found.values == pytest.approx({name: known[name] for name in [*known][:2]}, rel=1e-6)
    assert found.rms < 1e-8


def test_a_value_below_its_standard_error_is_not_determined() -> None:
    """Runtimes n + c of 1,000 to 8,000 s with errors of 1 % say nothing of a c of some seconds: standard error by the
    normal equations, some 20 s; nothing of it is written as a result."""
    app = application("execute { flops [n + c] }", "param n = 1 param c = 5 in 0 .. 1e6")
    rows = [
        {"n": n, "runtime": n * (1 + part)} for n, part in zip(range(1000, 9000, 1000), (0.01, -0.01) * 4, strict=True)
    ]
    times = numpy.array([row["runtime"] for row in rows])
    slope, gap = 1 / times, 1 - numpy.array([row["n"] for row in rows]) / times
    best = float(slope @ gap / (slope @ slope))
    error = math.sqrt(float(((gap - best * slope) ** 2).sum()) / 7 / float(slope @ slope))
    assert 0 < best < error
    found = fitted(app, rows, vary=["c"])
    assert found.parameters[0].remark == certainty.UNCERTAIN.format(best, error)
    assert (found.parameters[0].determined, found.values) == (False, {})
    with pytest.raises(AspenError, match="nothing to write"):
        found.to_aspen()
    with pytest.raises(AspenError, match="with a standard error of"):
        fitted(app, rows)


def test_a_range_that_moves_with_another_parameter_is_left_alone() -> None:
    """Runtimes 3 n of b n, with t from 1 to b: b is fitted, t stays, and is named."""
    app = application("execute { flops [b*n + 0*t] }", "param n = 1 param b = 1 in 0.5 .. 10 param t = b/2 in 0.1 .. b")
    assert fitted(app, [{"n": n, "runtime": 3 * n} for n in SIZES]).values == pytest.approx({"b": 3})
    app = application("execute { flops [b*n + t] }", "param n = 1 param b = 1 in 0.5 .. 10 param t = b/2 in 0.1 .. b")
    found = fitted(app, [{"n": n, "runtime": 3 * n + 1.5} for n in SIZES])
    assert found.values == pytest.approx({"b": 3})
    assert [(item.name, item.reason) for item in found.refused] == [("t", "its range moves with `b`")]


def test_library_applications_are_fitted_without_names() -> None:
    """Runs of the models themselves, half as fast: what has a range that moves with another parameter is left alone."""
    where = aspenpy.load_machine("haswell")

    def runs(name: str, size: str) -> tuple[aspenpy.Application, list[dict[str, object]]]:
        app = aspenpy.load_application(name)
        sizes = [10_000 * scale for scale in range(1, 9)]
        return app, [{size: n, "runtime": 2 * aspenpy.predict(app, where, set={size: n}).runtime} for n in sizes]

    found = aspenpy.fit(*runs("spmv", "rows"), where)
    reasons = {item.name: item.reason for item in found.refused}
    assert reasons["alpha"] == "its range moves with `nonzeros_per_row`"
    assert found.rms < 0.01
    with pytest.raises(AspenError, match=r"`ranks`: a number of instances or ranks.*moves with `ranks`"):
        aspenpy.fit(*runs("matmul", "n"), where)


def test_numbers_of_parts_are_not_fitted_unless_named() -> None:
    """3 W a socket, two sockets: 6.0003 W are no 2.0001 sockets, but 3.00015 W each."""
    text = """param sockets = 2 in 1 .. 8 param watts = 2 in 1 .. 10
    machine flat { node [1] box } node box { socket [sockets] chip }
    socket chip { core [1] unit static power [watts*sockets] dynamic power [0] }
    core unit { property rank resource flops(x) [x/1e9] }"""
    app = aspenpy.parse("model m { param n = 1 kernel main { execute { flops [n*1e9] } } }")
    rows = [{"n": n, "power": 6.0003 + part} for n, part in ((1, 1e-5), (2, -1e-5), (4, 1e-5), (8, -1e-5))]
    found = aspenpy.fit(app, rows, aspenpy.parse(text), metric="power")
    assert list(found.values) == ["watts"]
    assert [item.name for item in found.refused] == ["sockets"]


# -- profiles --------------------------------------------------------------------------------------

STREAM = "kernel,time [ms]\nloop,250\nloop.2,50\nscale,160\nnone,3\n"


def test_a_bandwidth_by_hand_from_two_kernels_of_a_profile() -> None:
    """Triad moves 3 arrays of 80 MB 10 times, 2.4 GB, in 0.25 + 0.05 s; scale 2 of them, 1.6 GB, in 0.16 s: 8 and 10
    GB/s. With x = 1/bandwidth, min (8x - 1)^2 + (10x - 1)^2 is at x = (8 + 10)/(64 + 100)."""
    regions = {"loop": "triad", "loop.2": "triad"}
    found = aspenpy.fit(
        aspenpy.load_application("stream"),
        Source(STREAM, "p.csv"),
        machine=aspenpy.load_machine("simple"),
        vary=["simple_bandwidth"],
        regions=regions,
    )
    assert found.values["simple_bandwidth"] == pytest.approx(164e9 / 18, rel=1e-9)
    assert [(item.measurement.kernel, item.measurement.value) for item in found.residuals] == [
        ("triad", pytest.approx(0.3)),
        ("scale", pytest.approx(0.16)),
    ]
    assert [item.error for item in found.residuals] == pytest.approx([8 * 18 / 164 - 1, 10 * 18 / 164 - 1])
    (note,) = [item for item in found.diagnostics if item.code == "no-such-kernel"]
    assert "`none`" in note.message


def refusals_of_bandwidth(text: str, **asked: Any) -> list[str]:
    """The codes with which a fit of a bandwidth to a file of this text is refused."""
    with pytest.raises(AspenError) as refused:
        aspenpy.fit(
            aspenpy.load_application("stream"),
            Source(text, "p.csv"),
            machine=aspenpy.load_machine("simple"),
            vary=["simple_bandwidth"],
            **asked,
        )
    return codes(refused.value)


NVPROF = """\
==1== NVPROF is profiling process 1, command: ./stream
==1== Profiling result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,ms,ms,ms,
"GPU activities",75.0,120.0,10,12.0,11.0,13.0,"triad(double*, int)"
"GPU activities",25.0,1.0,2,0.5,0.5,0.5,"[CUDA memcpy HtoD]"
"API calls",90,121.0,20,6,6,6,"cudaDeviceSynchronize"
"""


def test_a_file_of_nvprof_is_a_profile_without_being_called_one(tmp_path: Path) -> None:
    """2.4 GB in 120 ms are 20 GB/s."""
    (tmp_path / "nvprof.csv").write_text(NVPROF, encoding="utf-8")
    stream, simple = aspenpy.load_application("stream"), aspenpy.load_machine("simple")
    for data in (tmp_path / "nvprof.csv", str(tmp_path / "nvprof.csv"), Source(NVPROF, "p.csv")):
        found = aspenpy.fit(stream, data, machine=simple, vary=["simple_bandwidth"])
        assert found.values["simple_bandwidth"] == pytest.approx(20e9, rel=1e-6)
        assert [item.measurement.kernel for item in found.residuals] == ["triad"]


@pytest.mark.parametrize(
    ("text", "asked", "code"),
    [
        (NVPROF, {"metric": "power"}, "no-columns"),
        (NVPROF, {"columns": {"n": "Calls"}}, "no-columns"),
        ("JobID|Elapsed|State\n1|00:00:10|COMPLETED\n", {}, "no-table"),
    ],
)
def test_files_of_tools_that_are_no_tables(text: str, asked: dict[str, object], code: str) -> None:
    assert refusals_of_bandwidth(text, **asked) == [code]


@pytest.mark.parametrize(("metric", "hint"), [("powr", "`power`"), ("xyz", "runtime, energy, power")])
def test_a_metric_that_is_not_fitted_names_those_that_are(metric: str, hint: str) -> None:
    with pytest.raises(AspenError) as refused:
        fitted(LINE, [{"n": 1, "runtime": 1.0}], metric=metric)
    assert hint in (refused.value.diagnostics[0].hint or "")


def test_own_time_of_a_kernel_leaves_out_what_it_calls() -> None:
    """`main` has 6 flops of its own and calls `inner` twice, with 10 each: 1 flop takes 1 s on the machine."""
    app = aspenpy.parse(
        "model m { param a = 1 in 0 .. 100 kernel inner { execute { flops [10*a] } }"
        " kernel main { execute { flops [6*a] } iterate [2] { call inner() } } }"
    )
    assert isinstance(app, aspenpy.Application)
    rows = Source("kernel,time\nmain,12\ninner,40\n", "p.csv")
    found = aspenpy.fit(app, rows, machine=machine(), vary=["a"], regions={})
    assert found.values["a"] == pytest.approx(2)
    assert found.rms == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "code"),
    [("kernel,flops\ntriad,3\n", "no-time"), ("kernel,time\nother,3\n", "no-such-kernel")],
)
def test_profiles_that_fit_nothing(text: str, code: str) -> None:
    assert refusals_of_bandwidth(text, regions={}) == [code]
