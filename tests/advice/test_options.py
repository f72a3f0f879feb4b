"""Options of `aspenpy advise`: what each takes, at its limits, below and above."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.shell import advice_options as options
from aspenpy.shell.failure import CommandError


def given(**values: Any) -> Any:
    return SimpleNamespace(**values)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "-inf", "three", ""])
def test_numbers_of_runs_are_above_zero(text: str) -> None:
    with pytest.raises(CommandError, match="--runs: expected a number above 0"):
        options._read_runs(text)


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("0.5", 0.5), ("1e-9", 1e-9), ("1e300", 1e300)])
def test_numbers_of_runs(text: str, number: float) -> None:
    assert options._read_runs(text) == number


@pytest.mark.parametrize("price", [0.0, -1.0, float("inf"), float("nan")])
def test_prices_are_above_zero(price: float) -> None:
    with pytest.raises(CommandError, match="--price: expected a number above 0"):
        options.price_of(given(price=price))


def test_a_price_is_that_of_a_node() -> None:
    assert options.price_of(given(price=1e-3)) == 1e-3
    assert options.price_of(given(price=None)) is None


@pytest.mark.parametrize(("texts", "expected"), [([], "runtime"), (["energy"], "energy"), (["edp"], "edp")])
def test_one_objective(texts: list[str], expected: str) -> None:
    assert options.objective_of(given(minimise=texts)) == expected


@pytest.mark.parametrize("texts", [["speed"], ["runtime", "energy"], ["runtime,energy"], ["runtime,speed"]])
def test_other_objectives_are_refused(texts: list[str]) -> None:
    with pytest.raises(CommandError, match="--minimise: expected one of runtime"):
        options.objective_of(given(minimise=texts))


@pytest.mark.parametrize(("text", "number"), [("0", 0.0), ("0.25", 0.25), ("0.999", 0.999)])
def test_deviations(text: str, number: float) -> None:
    assert options.uncertain_of(given(uncertain=f"clock={text}")) == {"clock": number}


@pytest.mark.parametrize("text", ["1", "-0.1", "nan", "much"])
def test_deviations_are_below_one(text: str) -> None:
    with pytest.raises(CommandError, match="--uncertain: expected a number from 0 to below 1"):
        options.uncertain_of(given(uncertain=f"clock={text}"))


def test_no_deviations() -> None:
    assert options.uncertain_of(given(uncertain="")) is None


@pytest.mark.parametrize("error", [-1e-9, options.MOST_ERROR, float("nan")])
def test_errors_outside_their_range(error: float) -> None:
    with pytest.raises(CommandError, match="--error: expected a number from 0 on"):
        options.require_error(given(error=error))


@pytest.mark.parametrize("error", [None, 0.0, options.MOST_ERROR * 0.999])
def test_errors_within_their_range(error: float | None) -> None:
    options.require_error(given(error=error))


def test_budgets_have_units() -> None:
    found = options.budget_of(given(budget=["power=2 kW", "time=3 s,energy=1 kJ"]))
    assert (found.power, found.time, found.energy) == (2000, 3, 1000)
    with pytest.raises(CommandError, match=r"--budget: expected .*, not `speed`"):
        options.budget_of(given(budget=["speed=3"]))
    with pytest.raises((CommandError, AspenError)):
        options.budget_of(given(budget=["power=3 s"]))


@pytest.mark.parametrize(
    ("text", "label", "settings"),
    [
        ("nx=20,ny=30", "", {"nx": "20", "ny": "30"}),
        ("small: nx=20", "small", {"nx": "20"}),
        (" large : nx=20 , ny=2*nx", "large", {"nx": "20", "ny": "2*nx"}),
    ],
)
def test_inputs(text: str, label: str, settings: dict[str, str]) -> None:
    found = options.input_of(text)
    assert (found.label, {name: str(value).strip() for name, value in found.settings.items()}) == (label, settings)


@pytest.mark.parametrize("name", ["report.pdf", "report", "html", "report.html.gz"])
def test_other_documents_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"the name of a report ends with \.html, \.md, \.json"):
        options.require_document(given(output=str(tmp_path / name)))


@pytest.mark.parametrize("name", ["report.html", "report.MD", "a.b.json"])
def test_documents(name: str, tmp_path: Path) -> None:
    options.require_document(given(output=str(tmp_path / name)))


def test_runs_are_of_several_applications() -> None:
    with pytest.raises(CommandError, match="--runs says how often each of several applications runs"):
        options.decide_for(None, None, given(runs="a=3"))  # type: ignore[arg-type]


@pytest.mark.parametrize(("runs", "inputs"), [("other=3", []), ("", ["other: n=3"])])
def test_runs_and_inputs_are_of_the_applications_named(runs: str, inputs: list[str]) -> None:
    option = "--runs" if runs else "--input"
    with pytest.raises(CommandError, match=f"{option}: expected one of comd, hpcg, not `other`"):
        options.group_for(["comd", "hpcg"], None, given(runs=runs, input=inputs))  # type: ignore[arg-type]


def test_a_table_for_a_program_is_no_report() -> None:
    with pytest.raises(CommandError, match="--format csv --output -: a report is written as Markdown or JSON"):
        options.require_document(given(output="-", format="csv"))
