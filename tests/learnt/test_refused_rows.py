"""Rows that cannot teach or be predicted, each with the reason that is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import measurements_path
from aspenpy.learn.estimators import bandwidth
from aspenpy.learn.estimators.model_files import KINDS, save_model
from aspenpy.learn.measurements.read import read_measurements

Row = dict[str, Any]


def clocks(**more: Any) -> list[Row]:
    """3 cycles at each of three clocks, on one thread."""
    return [{"threads": 1, "core_frequency": f, "runtime": 3e9 / f, **more} for f in (1e9, 2e9, 3e9)]


def loads(count: int, **more: Any) -> list[Row]:
    rows = clocks(instructions=1e9, llc_misses=1e6, cycles=3e9, bus_accesses=2e6, **more)
    return rows[:count]


def phases(count: int) -> list[Row]:
    """Runs at the highest memory clock and below, of so many codes."""
    return [
        {
            "application": f"a{code}",
            "memory_frequency": clock,
            "runtime": 1 + code % 3 * (1 - clock / 4e9),
            "x": code % 3,
        }
        for code in range(count)
        for clock in (4e9, 2e9)
    ]


def stall(rows: list[Row]) -> Any:
    return KINDS["cos"](form="stall").fit(rows)


CODES = [row | {"application": "a", "llc_misses": 1e6} for row in clocks()]

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no rows": (lambda: KINDS["cos"]().fit([]), "measurements|rows"),
    "target of another length": (
        lambda: KINDS["leading-loads"]().fit(measurements_path("leading_loads_example"), [1.0, 2.0]),
        r"y has the shape \(2,\), for \d+ rows",
    ),
    "no misses": (lambda: stall(clocks()), "needs a column `llc_misses` or `memory_volume`"),
    "no misses at all": (lambda: stall(clocks(llc_misses=0.0)), "the model: LLCM is zero in all rows"),
    "no misses of a code": (
        lambda: stall(clocks(llc_misses=0.0, application="a")),
        "^a: LLCM is zero in all rows|error: a: LLCM is zero in all rows",
    ),
    "base samples alone": (
        lambda: stall(clocks(llc_misses=1.0)[:1]),
        "the model has 0 rows to learn 1 coefficients from",
    ),
    "code that was not learnt": (
        lambda: stall(CODES).predict([row | {"application": "b"} for row in CODES]),
        "the model has not learnt application b",
    ),
    "no memory clock any more": (
        lambda: (
            KINDS["cos"](form="clocks")
            .fit([row | {"memory_frequency": m} for row in clocks() for m in (1e9, 2e9)])
            .predict(clocks())
        ),
        "the model learnt from the terms 1, 1/fc, 1/fm, and the rows have 1, 1/fc",
    ),
    "one row for two coefficients": (
        lambda: KINDS["leading-loads"](rival="M/C").fit(loads(2)),
        "1 rows at other clocks cannot teach 2 coefficients",
    ),
    "ratio to nothing": (
        lambda: KINDS["leading-loads"](rival="I/M").fit([row | {"llc_misses": 0.0} for row in loads(3)]),
        "is zero in some rows",
    ),
    "few runs for trees": (
        lambda: KINDS["bandwidth"](trees=2).fit(phases(bandwidth.LEAST_ROWS - 1)),
        f"{bandwidth.LEAST_ROWS - 1} runs? at lower clocks cannot teach trees, {bandwidth.LEAST_ROWS} at least can",
    ),
    "few runs for folds": (
        lambda: KINDS["bandwidth"](search=True).fit(phases(bandwidth.LEAST_ROWS)),
        f"{bandwidth.LEAST_ROWS} rows are too few for 10 folds",
    ),
    "a row less than two for each fold": (
        lambda: KINDS["bandwidth"](search=True).fit(phases(19)),
        "19 rows are too few for 10 folds",
    ),
    "a number too small to be measured": (
        lambda: KINDS["leading-loads"](rival="I/M").fit([row | {"llc_misses": 9e-61} for row in loads(3)]),
        "9e-61 is not a plausible measurement",
    ),
    "a number too large to be measured": (
        lambda: KINDS["leading-loads"](rival="I/M").fit([row | {"llc_misses": 1.1e60} for row in loads(3)]),
        "1.1e\\+60 is not a plausible measurement",
    ),
    "columns of rows": (
        lambda: read_measurements([{"a": 1}], {"b": "a"}),
        "columns are renamed in a file; rows from Python name theirs as they want",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refused(why: str) -> None:
    ask, message = REFUSED[why]
    with pytest.raises(AspenError, match=message):
        ask()


def test_just_enough_rows() -> None:
    """The first numbers of rows that are not refused above."""
    assert KINDS["leading-loads"](rival="M/C").fit(loads(3)).training is not None
    assert KINDS["bandwidth"](trees=2).fit(phases(bandwidth.LEAST_ROWS)).training is not None
    assert stall(clocks(llc_misses=1.0)[:2]).training is not None


def test_a_number_that_is_not_finite_is_not_saved(tmp_path: Path) -> None:
    model = stall(CODES)
    model.state["fitted"][0][1][0] = float("inf")
    with pytest.raises(AspenError, match="the model has learnt a number that is not finite"):
        save_model(model, tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


def test_the_best_of_a_grid_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the mean error over ten folds, the least first; what was watched counts each fold of each setting once."""
    joblib = pytest.importorskip("joblib")
    monkeypatch.setattr(bandwidth, "GRID", {"trees": (1, 30), "depth": (1,), "rate": (0.1, 0.3)})
    model = KINDS["bandwidth"](search=True)
    watched: list[tuple[int, int]] = []
    model.watch = lambda done, whole: watched.append((done, whole))
    with joblib.parallel_config("threading"):  # processes of its own take long to begin
        model.fit(phases(40))
    tried = model.state["tried"]
    errors = [error for *_, error in tried]
    assert errors == sorted(errors)
    assert sorted((trees, depth, rate) for trees, depth, rate, _ in tried) == [
        (1, 1, 0.1), (1, 1, 0.3), (30, 1, 0.1), (30, 1, 0.3)
    ]  # fmt: skip
    assert model.state["chosen"] == dict(zip(("trees", "depth", "rate"), tried[0], strict=False))
    assert model.state["chosen"]["trees"] == 30, "one small step learns less than thirty"
    assert [done for done, _ in watched] == sorted(done for done, _ in watched)
    assert watched[-1][0] == watched[-1][1]
    importances, table = model.findings()
    assert importances.title == "what matters, in 30 trees of depth 1 at rate {:g}".format(
        model.state["chosen"]["rate"]
    )
    assert [list(row) for row in table.rows] == [list(row) for row in tried]
