"""Parts of the models that learn, against closed forms and thresholds: at the limit, and one step to each side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.estimators.bandwidth import BandwidthSensitivity
from aspenpy.learn.estimators.leading_loads import COUNTERS, REGRESSIONS, LeadingLoads
from aspenpy.learn.estimators.model_files import KINDS
from aspenpy.learn.estimators.regression import (
    Moments,
    analyse_variance,
    draw_folds,
    estimate_unseen_spread,
    rows_by_code,
    select_by_cross_validation,
    select_stepwise,
    variance_inflation,
)
from aspenpy.learn.estimators.speedup import Spot, find_sweet_spots
from aspenpy.learn.estimators.training_rows import compare_devices, drop_rows_with_gaps, look_up_runs, require_one_scale
from aspenpy.learn.measurements.columns import find_base_rows, find_key_problem, rows_by_key
from aspenpy.learn.measurements.sheet import MeasurementSheet, make_sheet
from benchmarks.interval_core import leading_cycles

Rows = list[dict[str, Any]]


def refusal(call: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(AspenError) as caught:
        call(*arguments, **options)
    return str(caught.value)


# -- stepwise regression, against least squares ------------------------------------------------------


def residuals(matrix: np.ndarray, target: np.ndarray, places: list[int]) -> float:
    design = np.column_stack([np.ones(len(target)), matrix[:, places]])
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(left @ left)


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    """The target is 3 + 2 a - b and noise; c goes with a, d with nothing, and e is twice d."""
    draw = np.random.default_rng(5)
    a, b, d, noise = draw.normal(size=(4, 40))
    matrix = np.column_stack([a, 1e6 * b, a + 0.3 * draw.normal(size=40), d, 2 * d])
    return matrix, 3 + 2 * a - b + 0.1 * noise


@pytest.mark.parametrize("places", [[], [0], [1], [2, 0], [0, 1, 2], [0, 1, 3]])
def test_sums_of_squares(data: tuple[np.ndarray, np.ndarray], places: list[int]) -> None:
    moments = Moments(*data)
    assert moments.residual_squares(places) == pytest.approx(residuals(*data, places))
    others = [place for place in range(4) if place not in places]
    gains = [residuals(*data, places) - residuals(*data, [*places, place]) for place in others]
    assert moments.squares_removed(places, others) == pytest.approx(gains, rel=1e-6, abs=1e-9)


def test_what_is_collinear_gains_nothing(data: tuple[np.ndarray, np.ndarray]) -> None:
    assert Moments(*data).squares_removed([3], [4]) == [0.0]


@pytest.mark.parametrize("criterion", ["p", "aic", "bic"])
def test_criteria_of_steps(data: tuple[np.ndarray, np.ndarray], criterion: str) -> None:
    """The F test of the last counter; n ln(RSS/n) + 2 (k + 1), with ln n in place of 2 for BIC."""
    chosen, steps = select_stepwise(Moments(*data), "forward", criterion)
    assert chosen[:2] == [0, 1]
    assert all(step.entered for step in steps)
    seen: list[int] = []
    for step in steps:
        before, after = residuals(*data, seen), residuals(*data, [*seen, step.place])
        seen.append(step.place)
        freedom = 40 - len(seen) - 1
        expected = {
            "p": stats.f.sf((before - after) * freedom / after, 1, freedom),
            "aic": 40 * math.log(after / 40) + 2 * (len(seen) + 1),
            "bic": 40 * math.log(after / 40) + math.log(40) * (len(seen) + 1),
        }
        assert step.criterion == pytest.approx(expected[criterion], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("direction", ["backward", "both"])
def test_directions_keep_what_matters(data: tuple[np.ndarray, np.ndarray], direction: str) -> None:
    """BIC cannot be lessened by one counter more or less."""
    chosen, steps = select_stepwise(Moments(data[0][:, :4], data[1]), direction, "bic")

    def bic(places: set[int]) -> float:
        return 40 * math.log(residuals(*data, sorted(places)) / 40) + math.log(40) * (len(places) + 1)

    assert {0, 1} <= {*chosen}
    assert all(bic({*chosen} ^ {place}) > bic({*chosen}) for place in range(4))
    assert [step.entered for step in steps] == [direction == "both"] * len(steps)
    start = set(range(4)) if direction == "backward" else set()
    for step in steps:
        start ^= {step.place}
        assert step.criterion == pytest.approx(bic(start))


def test_too_few_rows_teach_no_counter() -> None:
    """A line through two points leaves no degree of freedom; three rows do for one counter."""
    column, target = np.array([[1.0], [2.0], [4.0], [3.0]]), np.array([1.0, 2.1, 3.9, 3.0])
    assert select_stepwise(Moments(column[:2], target[:2]), "forward", "aic")[0] == []
    assert select_stepwise(Moments(column[:3], target[:3]), "forward", "aic")[0] == [0]


def test_a_counter_enters_below_its_level_and_leaves_above() -> None:
    """p of the slope by Student's t: what is 0.07 does not enter, and does not leave either."""
    draw = np.random.default_rng(0)
    column = draw.normal(size=30)
    noise = draw.normal(size=30)
    noise -= noise.mean() + (noise @ column) / (column @ column) * column
    for wanted, enters, leaves in ((0.04, True, False), (0.07, False, False), (0.12, False, True)):
        low, high = 0.0, 2.0
        for _ in range(60):
            slope = (low + high) / 2
            low, high = (
                (slope, high) if stats.linregress(column, slope * column + noise).pvalue > wanted else (low, slope)
            )
        moments = Moments(column[:, None], high * column + noise)
        assert (select_stepwise(moments, "forward", "p")[0] == [0]) == enters
        assert (select_stepwise(moments, "backward", "p")[0] == []) == leaves


def test_variance_inflation() -> None:
    """1/(1 - r²) of two columns; 1 of one alone."""
    matrix = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, 5.0]])
    squared = np.corrcoef(matrix.T)[0, 1] ** 2
    assert variance_inflation(matrix) == pytest.approx([1 / (1 - squared)] * 2)
    assert variance_inflation(matrix[:, :1]) == [1.0]


def test_cross_validation_leaves_out_fold_by_fold(data: tuple[np.ndarray, np.ndarray]) -> None:
    """The root of the mean square of relative errors, each row by a regression without its fold."""
    matrix, target = data[0], data[1] + 20
    folds = [list(range(start, 40, 4)) for start in range(4)]
    chosen, steps = select_by_cross_validation(matrix, target, folds)
    assert chosen[:2] == [0, 1]
    places = [step.place for step in steps]
    for count, step in enumerate(steps, 1):
        squares = []
        for fold in folds:
            rest = [row for row in range(40) if row not in fold]
            design = np.column_stack([np.ones(40), matrix[:, places[:count]]])
            found = np.linalg.lstsq(design[rest], target[rest], rcond=None)[0]
            squares += [*(1 - design[fold] @ found / target[fold]) ** 2]
        assert step.criterion == pytest.approx(math.sqrt(np.mean(squares)), rel=1e-6)


# -- errors of what was left out ---------------------------------------------------------------------


def sheet(rows: Rows) -> MeasurementSheet:
    return make_sheet(rows)


def test_folds_are_codes_from_three_on() -> None:
    rows = [{"application": name, "runtime": 1.0} for name in "aabb"]
    assert rows_by_code(sheet(rows)) == [[0, 1], [2, 3]]
    assert sorted(map(tuple, draw_folds(sheet(rows)))) == [(0,), (1,), (2,), (3,)]
    three = sheet([*rows, {"application": "c", "runtime": 1.0}])
    assert draw_folds(three) == [[0, 1], [2, 3], [4]]
    many = draw_folds(sheet([{"application": "a", "runtime": 1.0}] * 23))
    assert sorted(len(fold) for fold in many) == [2] * 7 + [3] * 3
    assert sorted(place for fold in many for place in fold) == list(range(23))


def test_leave_one_out_is_that_of_the_hat_matrix() -> None:
    """With a row in each fold the error left out is e/(1 - h), and 1 + x (X'X)^-1 x' is 1/(1 - h): PRESS by (1 - h)."""
    draw = np.random.default_rng(3)
    column, target = draw.normal(size=(2, 12))
    folds = [[place] for place in range(12)]
    found = estimate_unseen_spread(column[:, None], target, folds, lambda _: [0], folds)
    design = np.column_stack([np.ones(12), column])
    hat = np.diag(design @ np.linalg.inv(design.T @ design) @ design.T)
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    assert found is not None
    assert found.variance == pytest.approx(np.mean(left**2 / (1 - hat)))
    assert (found.freedom, found.design_effect) == (11.0, 1.0)
    assert estimate_unseen_spread(column[:3, None], target[:3], folds[:3], lambda _: [0], folds[:3]) is None
    assert estimate_unseen_spread(column[:4, None], target[:4], folds[:4], lambda _: [0], folds[:4]) is not None


def test_spread_between_codes() -> None:
    """Means of ±2 by code and ±1 within: 4 between, 8/(8 - 4) = 2 within; of two rows each 4 and 2 (1 - 1/2)."""
    errors = np.array([3.0, 1, -1, -3, 3, 1, -1, -3])
    codes = [[0, 1], [2, 3], [4, 5], [6, 7]]
    found = analyse_variance(errors, codes, 0.5)
    between, within = (2 * 4 * 4) / 4, 8 / 4
    parts = between / 2, within / 2
    assert found.variance == pytest.approx(sum(parts))
    assert found.design_effect == pytest.approx(between / sum(parts))
    assert found.freedom == pytest.approx(sum(parts) ** 2 / (parts[0] ** 2 / 2.5 + parts[1] ** 2 / 4))
    alone = analyse_variance(np.array([1.0, -1, 2, -2]), [[0, 1], [2, 3]], 0.0)
    assert (alone.variance, alone.freedom, alone.design_effect) == (2.5, 3.0, 1.0)


# -- rows that can teach -----------------------------------------------------------------------------


def powers(*watts: float) -> MeasurementSheet:
    return sheet([{"device": "x", "runtime": 2.0, "energy": 2 * watt} for watt in watts])


def test_a_gap_between_powers_is_another_unit() -> None:
    require_one_scale(powers(10, 300))
    require_one_scale(sheet([{"runtime": 1.0, "energy": 1.0}, {"runtime": 1.0, "energy": ""}]))
    message = refusal(require_one_scale, powers(10, 601, 20, 602, 603))
    assert "10 W to 20 W in 2 rows and 601 W to 603 W in the others" in message
    assert "look at rows 1, 3" in message
    require_one_scale(
        sheet([{"device": name, "runtime": 1.0, "energy": watt} for name, watt in (("a", 1.0), ("b", 1000.0))])
    )


@pytest.mark.parametrize(("count", "listed"), [(10, "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"), (11, "8, 9, 10, ...")])
def test_rows_of_another_unit_are_named_up_to_ten(count: int, listed: str) -> None:
    text = " ".join(refusal(require_one_scale, powers(*[1.0] * count, *[100.0] * 20)).split())
    assert listed in text
    assert ("..." in text) == (count > 10)


@pytest.mark.parametrize(("blanks", "is_predictor"), [(0, True), (2, True), (3, False)])
def test_a_tenth_of_blanks_costs_rows_and_more_the_column(blanks: int, is_predictor: bool) -> None:
    """Of twenty rows."""
    rows = [{"device": "x", "c": "" if place < blanks else 1.0, "d": 2.0} for place in range(20)]
    found, notes = drop_rows_with_gaps(sheet(rows), ("c", "d"), required=False)
    assert ("c" in found.names) == is_predictor
    assert len(found.rows) == (20 - blanks if is_predictor else 20)
    assert len(notes) == (blanks > 0)
    required, _ = drop_rows_with_gaps(sheet(rows), ("c",), required=True)
    assert ("c" in required.names, len(required.rows)) == (True, 20 - blanks)


def test_short_lists_take_means_of_repeated_runs() -> None:
    """Of two runs of one code on `cpu` the mean counts, not the sum."""
    rows = [
        {"application": "a", "device": "cpu", "runtime": 4.0, "energy": 30.0},
        {"application": "a", "device": "cpu", "runtime": 6.0, "energy": 50.0},
        {"application": "a", "device": "gpu", "runtime": 5.0, "energy": 41.0},
    ]
    found = {item.device: item for item in compare_devices(sheet(rows), "energy")}
    assert (found["cpu"].energy, found["cpu"].time, found["cpu"].chosen) == (40.0, 5.0, True)
    assert not found["gpu"].chosen
    both = {item.device: item.chosen for item in compare_devices(sheet(rows), "both")}
    assert both == {"cpu": True, "gpu": False}, "as fast, and more energy"
    assert compare_devices(sheet(rows[:2]), "energy") == ()
    assert "no code ran on all" in refusal(compare_devices, sheet([rows[0], rows[2] | {"application": "b"}]), "energy")


def test_recorded_runs_of_an_input(tmp_path: Any) -> None:
    """Runs of another application, another input, or without an energy do not count."""
    file = tmp_path / "runs.csv"
    head = "application,input,m,device,runtime,energy\n"
    runs = ["a,n=1000,9,x,2,10", "a,n=1000,8,x,4,30", "a,n=1000,7,y,1,50", "a,n=9,7,x,9,900", "b,n=1000,7,x,9,900"]
    file.write_text(head + "\n".join([*runs, "a,n=1000,7,x,9,"]) + "\n", encoding="utf-8")
    found = look_up_runs(file, "a", {"n": 1e3})
    assert (found.runs, found.input) == (3, "n=1000.0")
    assert {item.device: (item.energy, item.time) for item in found.devices} == {"x": (20.0, 3.0), "y": (50.0, 1.0)}
    assert found.chosen.device == "x"
    assert look_up_runs(file, "a", {"n": 1000}, by="time").chosen.device == "y"
    (only,) = look_up_runs(file, "a", {"n": 1000, "m": 8}).devices
    assert (only.device, only.energy, only.time, only.chosen) == ("x", 30.0, 4.0, True)
    assert "no run of a with n=5" in refusal(look_up_runs, file, "a", {"n": 5})
    assert "no run of c" in refusal(look_up_runs, file, "c", {})


# -- base samples ------------------------------------------------------------------------------------


def test_bases() -> None:
    rows = [
        {"application": name, "core_frequency": clock, "runtime": seconds}
        for name, clock, seconds in (("a", 2e9, 1.0), ("a", 3e9, ""), ("a", 1e9, 2.0), ("b", 1e9, 3.0))
    ]
    found = sheet(rows)
    assert find_base_rows(found, "core_frequency", ("application",), "highest").tolist() == [0, 0, 0, 3]
    assert find_base_rows(found, "core_frequency", ("application",), "lowest").tolist() == [2, 2, 2, 3]
    assert rows_by_key([("x",), ("y",), ("x",)]) == {("x",): [0, 2], ("y",): [1]}
    message = refusal(
        find_base_rows, sheet([*rows, rows[1] | {"application": "c"}]), "core_frequency", ("application",), "lowest"
    )
    assert "c has no base sample" in message
    assert find_key_problem(("a", "b"), []) == "it has learnt no code"
    assert find_key_problem(("a", "b"), [(("x", "y"), 1)]) is None
    assert find_key_problem(("a",), [(("x", "y"), 1)]) == "its codes do not fit its columns"


# -- bandwidth, leading loads, speedups --------------------------------------------------------------


def memory_runs(**columns: Any) -> Rows:
    """Two codes at three memory clocks each; of the second the runtime doubles where the clock is halved."""
    return [
        {"application": name, "memory_frequency": clock, "runtime": 1 + part * (4 / clock - 1), "energy": 5.0,
         "power": 2.0, "threads": 1} | {key: values[code] for key, values in columns.items()}
        for code, (name, part) in enumerate((("a", 0.0), ("b", 1.0))) for clock in (4, 2, 1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"first": (1.0, 2.0), "second": (3.0, 4.0)}, ["first", "second"]),
        ({"second": (3.0, 4.0), "first": (1.0, 2.0)}, ["second", "first"]),
        ({"first": (1.0, 2.0), "dmm": (0.1, 0.2)}, ["dmm"]),
        ({"first": (1.0, 2.0), "compiler": ("gcc", "icc")}, ["first"]),
    ],
)
def test_predictors_by_default(columns: dict[str, tuple[Any, Any]], expected: list[str]) -> None:
    """Those of equation 3 where there are any; else what is a number, and neither time, energy nor clock."""
    model = BandwidthSensitivity(trees=100, depth=2, subsample=1.0).fit(memory_runs(**columns))
    assert model.state["predictors"] == expected
    assert model.state["clocks"] == ["memory_frequency"]
    assert [note.code for note in model.notes] == ["left-out"] * ("compiler" in columns)
    assert model.slowdowns(model.sheet(memory_runs(**columns))).tolist()[1:3] == pytest.approx([1, 1], abs=0.05)
    assert model.slowdowns(model.sheet(memory_runs(**columns))).tolist()[4:] == pytest.approx([2, 4], rel=0.05)


def test_columns_of_what_ran_predict_nothing() -> None:
    message = refusal(BandwidthSensitivity(trees=5).fit, memory_runs(input=("x", "y"), region=("r", "s")))
    assert "no column describes the code" in message


def test_what_matters_is_listed_by_its_share() -> None:
    names = {f"c{place:02}": (1.0, 2.0) for place in range(15)}
    model = BandwidthSensitivity(trees=30, depth=2, subsample=1.0).fit(memory_runs(**names))
    (found,) = model.findings()
    shares = [share for _, share in found.rows]
    assert len(shares) == 13
    assert shares == sorted(shares, reverse=True)
    assert sum(model.state["importances"]) == pytest.approx(1)
    assert found.title == "what matters, in 30 trees of depth 2 at rate 0.1"


@pytest.mark.parametrize("rival", REGRESSIONS)
def test_regressions_of_table_one_find_their_law(rival: str) -> None:
    """T(f')/T = f/f' + (1 - f/f') (0.2 + 0.01 x1 + 0.02 x2 + ...) exactly, so the coefficients are those."""
    above, below = REGRESSIONS[rival]
    draw = np.random.default_rng(7)
    rows: Rows = []
    for code in range(8):
        counts = {letter: float(draw.integers(1, 40)) for letter in COUNTERS}
        share = 0.2 + sum(0.01 * place * counts[letter] / counts[below] for place, letter in enumerate(above, 1))
        rows += [
            {COUNTERS[letter]: count for letter, count in counts.items()}
            | {"application": f"a{code}", "core_frequency": clock * 1e9}
            | {"runtime": 10 * (2 / clock + (1 - 2 / clock) * share)}
            for clock in (2.0, 1.6, 1.0)
        ]  # fmt: skip
    model = LeadingLoads(rival=rival).fit(rows)
    wanted = [0.2, *(0.01 * place for place in range(1, len(above) + 1))]
    assert model.state["coefficients"] == pytest.approx(wanted, rel=1e-6)
    assert model.predict(rows) == pytest.approx([row["runtime"] for row in rows])
    (found,) = model.findings()
    assert [name for name, _ in found.rows] == ["1", *(f"{letter}/{below}" for letter in above)]
    assert [constant.value for constant in model.constants()] == pytest.approx(wanted, rel=1e-6)


def test_bus_cycles_of_leading_loads() -> None:
    """1e9 cycles of 2 GHz are half a second that no clock changes, of a second; more than all cycles is refused."""
    row = {"application": "a", "core_frequency": 2e9, "runtime": 1.0, "leading_load_cycles": 1e9, "stall_cycles": 2e9}
    rows = [row, row | {"core_frequency": 1e9, "runtime": 1.5}]
    assert LeadingLoads().fit(rows).predict(rows) == pytest.approx([1.0, 1.5])
    assert LeadingLoads(rival="stall").fit(rows).predict(rows) == pytest.approx([1.0, 1.0])
    many = [one | {"stall_cycles": 2.001e9} for one in rows]
    assert "is more than all cycles" in refusal(LeadingLoads(rival="stall").fit(many).predict, many)


def test_leading_loads_of_intervals() -> None:
    """The second begins within the first, the third as the first ends, the fourth later."""
    assert leading_cycles([(0, 10), (5, 15), (10, 20), (25, 35)]) == 30
    assert leading_cycles([]) == 0


def test_sweet_spots() -> None:
    spots = [
        Spot(1, 1e9, 4.0, 1.0, 1.0, 4.0),
        Spot(2, 1e9, 2.5, 1.6, 1.2, 3.0),
        Spot(4, 1e9, 2.0, 2.0, 2.0, 4.0),
    ]
    assert [(aim, spot.processors) for aim, spot in find_sweet_spots(spots)] == [
        ("time", 4), ("energy", 1), ("energy-delay", 2),
    ]  # fmt: skip
    assert find_sweet_spots([Spot(1, 1e9, 4.0, 1.0, None, None)]) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_that_was_not_measured_is_unknown(kind: str) -> None:
    """In every row without its column, and where a cell of the column is blank."""
    model = KINDS[kind]()
    rows: Rows = [{"application": "a", "threads": count} for count in (1, 2, 4)]
    assert np.isnan(model.known_target(make_sheet(rows))).tolist() == [True] * 3
    known = [row | {model.target: cell} for row, cell in zip(rows, (2.5, "", 4.0), strict=True)]
    found = model.known_target(make_sheet(known))
    assert (found[0], found[2], np.isnan(found[1])) == (2.5, 4.0, True)
