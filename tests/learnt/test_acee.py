"""ACEE: coefficients that are known, the search against every subset, intervals, assumptions, the short list."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.estimators.acee import Acee
from aspenpy.learn.estimators.regression import (
    Moments,
    analyse_variance,
    count_between_code_coefficients,
    select_stepwise,
    variance_inflation,
)
from aspenpy.learn.estimators.training_rows import compare_devices
from aspenpy.learn.estimators.validation import Split, check_assumptions, check_residuals, validate
from tests.thorough import slow
from tests.timing import is_done_in, seconds_of

DRAW = np.random.default_rng(11)
COUNTERS = DRAW.random((80, 6))
NOISE = DRAW.normal(size=80)


def rows(noise: float = 0.0) -> list[dict[str, float]]:
    """Power of 50 W + 3 c0 + 7 c3, over 1 to 2 s."""
    power = 50 + 3 * COUNTERS[:, 0] + 7 * COUNTERS[:, 3] + noise * NOISE
    times = 1 + COUNTERS[:, 5]
    return [
        {f"c{place}": float(value) for place, value in enumerate(counters[:5])}
        | {"runtime": time, "energy": watts * time}
        for counters, watts, time in zip(COUNTERS, power, times, strict=True)
    ]  # fmt: skip


@pytest.mark.parametrize("criterion", ["cv", "bic", "aic", "p"])
def test_coefficients_come_back(criterion: str) -> None:
    model = Acee(criterion=criterion).fit(rows())
    held = dict(
        zip(model.state["devices"][0][1]["predictors"], model.state["devices"][0][1]["coefficients"][1:], strict=True)
    )
    assert held["c0"] == pytest.approx(3)
    assert held["c3"] == pytest.approx(7)
    assert model.predict(rows()) == pytest.approx([row["energy"] for row in rows()])


def test_the_literal_form_is_a_regression_of_energies() -> None:
    """Equation 3.1, against NumPy's least squares."""
    data = rows(1.0)
    model = Acee(scale="amount", direction="none", predictors=("c0", "runtime")).fit(data)
    design = np.array([[1, row["c0"], row["runtime"]] for row in data])
    expected = design @ np.linalg.lstsq(design, np.array([row["energy"] for row in data]), rcond=None)[0]
    assert model.predict(data) == pytest.approx(expected)


@pytest.mark.parametrize("criterion", ["bic", "aic"])
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_the_search_finds_the_best_subset_where_counters_are_independent(direction: str, criterion: str) -> None:
    matrix, _ = np.linalg.qr(DRAW.normal(size=(60, 5)) - 0.0)
    matrix -= matrix.mean(axis=0)
    target = matrix @ [0, 5, 0, 2, 0.1] + 0.1 * DRAW.normal(size=60)

    def value(chosen: tuple[int, ...]) -> float:
        design = np.column_stack([np.ones(60), matrix[:, chosen]])
        left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        return 60 * math.log(left @ left / 60) + (2 if criterion == "aic" else math.log(60)) * (len(chosen) + 1)

    subsets = [chosen for size in range(6) for chosen in itertools.combinations(range(5), size)]
    chosen, _ = select_stepwise(Moments(matrix, target), direction, criterion)
    assert value(tuple(chosen)) == pytest.approx(min(map(value, subsets)))


def test_intervals_hold_what_they_promise() -> None:
    inside = []
    for seed in range(30):
        draw = np.random.default_rng(seed)
        x = draw.random(40)
        data = [{"c": float(a), "runtime": 1.0, "energy": float(20 + 5 * a + draw.normal())} for a in x]
        model = Acee(direction="none", predictors=("c",)).fit(data[:30])
        low, high = model.interval(model.sheet(data[30:]), 0.9)
        inside += [a <= row["energy"] <= b for a, b, row in zip(low, high, data[30:], strict=True)]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.06)


def held_out(seed: int, apart: float, codes: int = 8) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Runs of some codes to learn from, and of 16 others. Each code draws power of its own, normal with a deviation
    of `apart` W beside 1 W of each run; two of eight counters matter, and counters of a code are alike."""
    draw = np.random.default_rng(seed)
    seen, unseen = list[dict[str, Any]](), list[dict[str, Any]]()
    for code in range(codes + 16):
        own, counters = apart * draw.normal(), 2 * draw.random(8)
        for _ in range(draw.integers(4, 8)):
            here = counters + draw.random(8)
            time, power = 1 + draw.random(), 60 + 5 * here[0] + 3 * here[1] + own + draw.normal()
            named = {f"c{place}": float(value) for place, value in enumerate(here)}
            run = {"application": f"code {code}", "runtime": time, "energy": power * time} | named
            (seen if code < codes else unseen).append(run)
    return seen, unseen


@pytest.mark.parametrize(("apart", "options"), [(0.0, {}), (1.0, {}), (3.0, {}), (1.0, {"criterion": "bic"})])
def test_intervals_hold_codes_that_were_left_out(apart: float, options: dict[str, str]) -> None:
    """95 % of runs of 640 codes that the models have not seen lie in the interval, whether codes are alike or not."""
    inside = []
    for seed in range(40):
        data, others = held_out(seed, apart)
        model = Acee(**options).fit(data)
        low, high = model.interval(model.sheet(others), 0.95)
        inside += [a <= row["energy"] <= b for a, b, row in zip(low, high, others, strict=True)]
    assert 0.92 <= np.mean(inside) <= 0.98


def test_the_variance_of_codes_is_that_of_the_analysis_of_variance() -> None:
    """Two codes of two rows: means 2 and -2, 1 around them. Between: 2 (4 + 4)/2 = 8; within: 4/2 = 2; of a row of
    another code 8/2 + 2/2 = 5, with 25/(16/1 + 1/2) degrees of freedom, and 8/5 rows of a code count as one."""
    found = analyse_variance(np.array([3.0, 1.0, -3.0, -1.0]), [[0, 1], [2, 3]], 0)
    assert found == pytest.approx((5, 25 / 16.5, 8 / 5))
    assert analyse_variance(np.array([1.0, -1.0, 1.0, -1.0]), [[0, 1], [2, 3]], 0) == pytest.approx((1, 3, 1))


def test_coefficients_that_codes_determine() -> None:
    """An intercept, one counter that is the same in all runs of a code, one whose means are the same in all codes."""
    codes = [[0, 1], [2, 3], [4, 5]]
    matrix = np.array([[1, 0], [1, 1], [2, 0], [2, 1], [5, 0], [5, 1.0]])
    assert count_between_code_coefficients(matrix, codes) == pytest.approx(2)


def test_variance_inflation_is_that_of_the_regression_on_the_others() -> None:
    a, b = DRAW.random(200), DRAW.random(200)
    matrix = np.column_stack([a, a + 0.5 * b, b * b])
    for place, inflation in enumerate(variance_inflation(matrix)):
        others = np.column_stack([np.ones(200), np.delete(matrix, place, axis=1)])
        left = matrix[:, place] - others @ np.linalg.lstsq(others, matrix[:, place], rcond=None)[0]
        assert inflation == pytest.approx(np.var(matrix[:, place]) / np.var(left), rel=1e-6)


def checked(bend: float = 0.0, spread: float = 0.0, chain: float = 0.0, twin: float = 1.0) -> dict[str, bool]:
    """Which assumptions hold where a law of two counters is bent, its errors grow or follow each other, or the counters
    are alike."""
    draw = np.random.default_rng(5)
    a = draw.random(200)
    b = (1 - twin) * a + twin * draw.random(200)
    errors = draw.normal(size=200)
    for place in range(1, 200):
        errors[place] = chain * errors[place - 1] + math.sqrt(1 - chain**2) * errors[place]
    energy = 100 + 10 * a + 5 * b + bend * a**2 + errors * (1 + spread * a)
    data = [
        {"a": float(x), "b": float(y), "runtime": 1.0, "energy": float(e)} for x, y, e in zip(a, b, energy, strict=True)
    ]
    model = Acee(direction="none", predictors=("a", "b")).fit(data)
    found: dict[str, bool] = {}
    for item in check_assumptions(model, model.sheet(data)):
        found[item.name] = found.get(item.name, True) and item.holds
    return found


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"bend": 60.0}, "linearity"),
        ({"spread": 9.0}, "homoscedasticity"),
        ({"chain": 0.9}, "no autocorrelation"),
        ({"twin": 0.05}, "no collinearity"),
    ],
)
def test_assumptions_that_do_not_hold_are_seen(wrong: dict[str, float], name: str) -> None:
    assert all(checked().values())
    assert not checked(**wrong)[name]


@pytest.mark.parametrize("counters", [0, 1, 3])
@pytest.mark.parametrize("more", [2, 3, 4, 9])
def test_tests_of_residuals_need_more_rows_than_coefficients(counters: int, more: int) -> None:
    """Four more at least, and a counter beside the constant."""
    draw = np.random.default_rng(counters + 10 * more)
    rows = 1 + counters + more
    design = np.column_stack([np.ones(rows), draw.normal(size=(rows, counters))])
    names = [item.name for item in check_residuals(design, draw.normal(size=rows), "amount")]
    of_many = ["linearity", "homoscedasticity"] if counters and more > 3 else []
    assert names == [*of_many, "normality", "no autocorrelation"]


@pytest.mark.parametrize(("scale", "advised"), [("rate", False), ("amount", True)])
def test_a_scale_that_is_set_is_not_advised(scale: str, advised: bool) -> None:
    draw = np.random.default_rng(5)
    data = [{"a": a, "runtime": 1.0, "energy": 100 + 10 * a * (1 + draw.normal())} for a in 9 * draw.random(200)]
    model = Acee(direction="none", predictors=("a",), scale=scale).fit(data)
    (found,) = (item for item in check_assumptions(model, model.sheet(data)) if item.name == "homoscedasticity")
    assert not found.holds
    assert ("scale=rate" in found.meaning) == advised


@pytest.mark.parametrize("column", ["energy", "runtime"])
def test_columns_in_two_units_are_refused(column: str) -> None:
    """Every third application is in kJ, or in ms: its rows are named."""
    data = [row | {"application": str(place % 3)} for place, row in enumerate(rows(1.0))]
    wrong = [row | {column: row[column] / 1000 if row["application"] == "2" else row[column]} for row in data]
    message = refused(wrong)
    assert "in 26 rows" in message
    assert "rows 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, ..." in message
    Acee().fit(data)


def test_devices_may_differ_in_power() -> None:
    """A board of 5 W beside a node of 5 kW."""
    data = [row | {"device": device, "energy": row["energy"] * size} for device, size in (("board", 0.1), ("node", 100))
            for row in rows(1.0)]  # fmt: skip
    assert Acee(shortlist="all").fit(data).predict(data) == pytest.approx([row["energy"] for row in data], rel=0.1)


@pytest.mark.parametrize("options", [{}, {"predictors": ("c0", "c3")}, {"scale": "amount"}])
def test_rows_with_a_blank_counter_are_left_out(options: dict[str, Any]) -> None:
    """What is learnt is what the other rows teach, in each way to learn and to report."""
    data, gaps = rows(0.1), (7, 20)
    holed = [row | {"c3": ""} if place in gaps else row for place, row in enumerate(data)]
    model = Acee(**options).fit(holed)
    others = Acee(**options).fit([row for place, row in enumerate(data) if place not in gaps])
    assert model.state == others.state
    assert [note.message for note in model.notes if "c3" in note.message] == [
        "2 rows without a measured c3 left out: 8, 21"
    ]
    found = validate(model, model.sheet(holed), Split(train="c1 < 0.5"))
    assert len(found.rows) == 78


def test_a_counter_that_is_mostly_blank_is_no_predictor() -> None:
    data = [row | {"c3": "nan"} if place % 2 else row for place, row in enumerate(rows(0.1))]
    model = Acee().fit(data)
    assert model.require_fitted().rows == 80
    assert "`c3` is blank in 40 rows: not a predictor" in [note.message for note in model.notes]


def test_short_list() -> None:
    """Algorithm 1: of what ran on both; the third device is worse in both than the second."""
    data = [
        {"application": app, "device": device, "runtime": time, "energy": energy}
        for app in ("a", "b") for device, time, energy in (("cpu", 10.0, 90.0), ("gpu", 2.0, 95.0), ("old", 3.0, 99.0))
    ]  # fmt: skip
    sheet = Acee().sheet([*data, {"application": "c", "device": "cpu", "runtime": 1.0, "energy": 1e9}])
    chosen = {
        by: [item.device for item in compare_devices(sheet, by) if item.chosen]
        for by in ("energy", "time", "both", "all")
    }
    assert chosen == {"energy": ["cpu"], "time": ["gpu"], "both": ["cpu", "gpu"], "all": ["cpu", "gpu", "old"]}
    assert [item.energy for item in compare_devices(sheet, "energy")] == [180.0, 190.0, 198.0]


def refused(data: list[dict[str, Any]], **options: Any) -> str:
    with pytest.raises(AspenError) as caught:
        Acee(**options).fit(data)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"p": 1.0}, {"predictors": ("p",)}, "`p` is constant"),
        ({"c1": math.nan}, {"predictors": ("c1",)}, "`nan` is none"),
        ({"c1": ""}, {"predictors": ("c1",)}, "nothing stands here"),
        ({"energy": -3.0}, {}, "the energy is -3.0, and must be above zero"),
        ({"c1": "3 GHz"}, {"predictors": ("c1",)}, "has a unit of its own"),
        ({}, {"predictors": ("energy/runtime",)}, "contains what is to be predicted"),
        ({"pkg_watts": 3.0}, {"predictors": ("pkg_watts",)}, "contains what is to be predicted"),
        ({}, {"predictors": ("c0", "2*c0")}, "`2*c0` is `c0` under another name"),
        ({}, {"criterion": "luck"}, "`criterion` cannot be `luck`"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], options: dict[str, Any], message: str) -> None:
    assert message in refused([row | change for row in rows(0.1)], **options)


def test_a_copy_of_the_target_is_refused() -> None:
    data = [row | {"innocent": 3 * row["energy"] / row["runtime"]} for row in rows(0.1)]
    assert "the energy under another name" in refused(data)


def test_useless_counters_are_noted_and_too_many_refused() -> None:
    data = [row | {"flat": 1.0, "again": 2 * row["c0"], "text": "x", "void": ""} for row in rows(0.1)]
    notes = [note.message for note in Acee().fit(data).notes]
    for name, why in (
        ("flat", "is constant"),
        ("again", "is `c0` under"),
        ("text", "no numbers"),
        ("void", "no numbers"),
    ):
        assert any(f"`{name}`" in note and why in note for note in notes), name
    assert "6 rows cannot teach 5 predictors" in refused(rows()[:6])


@slow
def test_a_large_search_is_fast() -> None:
    """5,000 rows and 60 counters in 5 s of processor time at most."""
    draw = np.random.default_rng(0)
    matrix = draw.random((5000, 60))
    power = 50 + matrix[:, :7] @ np.arange(1, 8) + 0.5 * draw.normal(size=5000)
    data = [
        {f"c{place}": float(value) for place, value in enumerate(counters)} | {"runtime": 1.0, "energy": float(watts)}
        for counters, watts in zip(matrix, power, strict=True)
    ]
    sheet = Acee().sheet(data)
    assert is_done_in(5, lambda: seconds_of(lambda: Acee(criterion="bic").fit(sheet)))


def test_the_short_list_holds_for_all_that_is_left_out() -> None:
    """Two devices of which each is better in one: without code `b` the second would be better in both."""
    data = [
        {"application": app, "device": device, "c": c, "runtime": time, "energy": time * (watts + c)}
        for app, times in (("a", (2.0, 1.0)), ("b", (1.0, 4.0)), ("d", (2.0, 1.0)))
        for device, watts, time in zip(("cpu", "gpu"), (30.0, 20.0), times, strict=True)
        for c in (1.0, 2.0, 3.0, 4.0)
    ]
    model = Acee(shortlist="all", predictors=("c",), direction="none")
    found = validate(model, model.sheet(data), Split(leave_out="application"))
    assert found.test is not None
    assert found.test.n == 24
    assert found.test.max_error_percent == pytest.approx(0, abs=1e-9)
    both = validate(model.set_params(shortlist="both"), model.sheet(data), Split(leave_out="application"))
    assert both.test is not None
    assert both.test.n == 24
