"""Each kind of model under each choice of its options: it learns, is written and read, states what it learnt, and is
written as parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import measurements_path
from aspenpy.learn.estimators.cos import Cos, CosThrottling
from aspenpy.learn.estimators.cos_trace import cos_trace
from aspenpy.learn.estimators.model import LearntModel
from aspenpy.learn.estimators.model_files import KINDS, load_learnt, save_model, to_aspen
from aspenpy.learn.measurements.columns import read_numbers

Rows = list[dict[str, Any]]


def throttled(form: str) -> Rows:
    """Two codes that slow down beyond their inflections, 200 L2M/INST + 20 and 100 L2M/INST + 30 (equation 11)."""
    data = []
    for code, alpha, constant, beta in (("a", 200, 20, 1e-9), ("b", 100, 30, 2e-9)):
        for threads, misses in ((4, 2e7), (8, 4e7), (16, 6e7)):
            at = alpha * misses / 1e9 + constant
            for idle in range(0, 127, 2):
                beyond = (idle if form == "literal" else idle - at) if idle > at else 0
                data.append(
                    {
                        "application": code,
                        "threads": threads,
                        "idle_cycles": idle,
                        "llc_misses": misses,
                        "instructions": 1e9,
                        "runtime": 5 / threads + beta * misses * beyond,
                    }
                )
    return data


def data_of(kind: str, options: dict[str, Any]) -> Any:
    if kind == "cos-throttling":
        return throttled(options["form"])
    if options.get("form") == "clocks":
        return [
            {"application": code, "core_frequency": c, "memory_frequency": m, "runtime": size + 3e9 / c + 8e9 / m}
            for code, size in (("k", 0.5), ("l", 2)) for c in (1e9, 2e9) for m in (4e9, 5e9)
        ]  # fmt: skip
    return measurements_path(f"{kind.replace('-', '_')}_example")


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    small = {"bandwidth": {"trees": 5}}
    for kind, model in KINDS.items():
        for name, words in model.choices.items():
            for word in words:
                yield kind, {name: word}
        for name, value in model.defaults.items():
            if isinstance(value, bool) and name != "search":
                yield kind, {name: not value}
        if not model.choices:
            yield kind, small.get(kind, {})


CASES = [pytest.param(kind, options, id=" ".join([kind, *map(str, options.values())])) for kind, options in cases()]


def fitted(kind: str, options: dict[str, Any]) -> tuple[LearntModel, Any]:
    data = data_of(kind, options)
    return KINDS[kind](**options).fit(data), data


def numbers(value: Any) -> list[float]:
    """All numbers of a state, but those of trees."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, list | tuple):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize(("kind", "options"), CASES)
def test_learnt_written_and_read(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    model, data = fitted(kind, options)
    assert model.state_problem() is None
    save_model(model, tmp_path / "model.json")
    again = load_learnt(tmp_path / "model.json")
    assert type(again) is KINDS[kind]
    assert again.get_params() == {
        name: list(value) if isinstance(value, tuple) else value for name, value in model.get_params().items()
    }
    rows = model.select_rows(model.drop_unmeasured(model.sheet(data)))
    assert np.array_equal(again.predict(rows), model.predict(rows))
    assert model.score(rows) > 0.9
    assert [(table.title, table.rows) for table in again.findings()] == [
        (table.title, table.rows) for table in model.findings()
    ]
    assert list(again.constants()) == list(model.constants())
    assert model.training is not None
    for name, low, high in model.training.ranges:
        found = read_numbers(rows, name)
        assert (low, high) == (min(found), max(found))


@pytest.mark.parametrize(("kind", "options"), CASES)
def test_constants_are_what_was_learnt_and_become_parameters(kind: str, options: dict[str, Any]) -> None:
    model, _ = fitted(kind, options)
    constants = list(model.constants())
    if not constants:
        with pytest.raises(AspenError, match="has learnt no numbers that could be parameters"):
            to_aspen(model)
        return
    learnt = numbers(model.state)
    assert all(any(item.value == pytest.approx(number, rel=1e-12) for number in learnt) for item in constants)
    written = re.findall(r"^param (\w+) = (\S+)  // (.+)$", to_aspen(model), re.MULTILINE)
    assert [float(value) for _, value, _ in written] == [pytest.approx(item.value, rel=1e-8) for item in constants]
    assert [about for *_, about in written] == [item.about for item in constants]
    assert len({name for name, *_ in written}) == len(constants)
    assert all(name.startswith(kind.replace("-", "_") + "_") for name, *_ in written)


def test_inflections_of_each_code() -> None:
    model, _ = fitted("cos-throttling", {"form": "continuous"})
    (table,) = model.findings()
    assert [row[0] for row in table.rows] == ["a", "b"]
    for (_, alpha, constant, beta, start), (slope, offset, gain) in zip(
        table.rows, ((200, 20, 1e-9), (100, 30, 2e-9)), strict=True
    ):
        assert (alpha * 0.04 + constant, beta, start) == pytest.approx(
            (slope * 0.04 + offset, gain, 0), rel=1e-3, abs=1e-9
        )
    with pytest.raises(AspenError, match="has not learnt c"):
        model.predict([row | {"application": "c"} for row in throttled("continuous")[:2]])
    flat = [row | {"runtime": 1.0} for row in throttled("continuous") if row["idle_cycles"] < 4]
    with pytest.raises(AspenError, match="no series has an inflection"):
        CosThrottling().fit(flat)


def test_coefficients_of_each_code_on_both_clocks() -> None:
    """runtime = 0.5 + 3e9/fc + 8e9/fm, and 2 + the same."""
    model, _ = fitted("cos", {"form": "clocks"})
    (table,) = model.findings()
    assert [column.header for column in table.columns] == ["application", "1", "1/fc", "1/fm"]
    assert [row[0] for row in table.rows] == ["k", "l"]
    assert [list(row[1:]) for row in table.rows] == [pytest.approx([size, 3e9, 8e9], rel=1e-6) for size in (0.5, 2)]


@pytest.mark.parametrize("form", ["literal", "stall"])
@pytest.mark.parametrize("counted", ["cycles", "clock", "volume"])
def test_the_same_stalls_counted_otherwise(form: str, counted: str) -> None:
    """Stalled cycles over all cycles or over the clock are a time; a miss moves a line of 64 B."""
    names = ("threads", "core_frequency", "runtime", "stall_time", "instructions", "llc_misses")
    sheet = Cos().sheet(measurements_path("cos_example"))
    codes = [row["application"].value for row in sheet.rows]
    columns = zip(*(read_numbers(sheet, name) for name in names), strict=True)
    rows: Rows = [
        {"application": code, **dict(zip(names, map(float, values), strict=True))}
        for code, values in zip(codes, columns, strict=True)
    ]
    others = []
    for row in rows:
        other = dict(row)
        if counted == "volume":
            other["memory_volume"] = 64 * other.pop("llc_misses")
        else:
            other["stall_cycles"] = other.pop("stall_time") * row["core_frequency"]
            if counted == "cycles":
                other["cycles"] = row["runtime"] * row["core_frequency"]
        others.append(other)
    assert Cos(form=form).fit(others).predict(others) == pytest.approx(Cos(form=form).fit(rows).predict(rows), rel=1e-9)


def test_stages_where_neither_is_busy() -> None:
    """Nothing from 2 to 3; the two intervals of the core that meet are one stage."""
    assert [tuple(stage) for stage in cos_trace([(0, 1), (1, 2), (3, 5)], [(4, 6)])] == [
        ("compute", 0, 2),
        ("compute", 3, 4),
        ("overlap", 4, 5),
        ("stall", 5, 6),
    ]


def test_rows_outside_the_training() -> None:
    model, data = fitted("cos", {"form": "clocks"})
    assert model.warn_outside_training(model.sheet(data)) == ()
    beyond = [row | {"core_frequency": 2 * row["core_frequency"]} for row in data]
    (told,) = model.warn_outside_training(model.sheet(beyond))
    assert told.message == "`core_frequency` is outside the training range 1 GHz .. 2 GHz in 4 of 8 rows"
    assert told.hint == "such as 4 GHz"
    nearly = [row | {"core_frequency": row["core_frequency"] * (1 + 5e-7)} for row in data]
    assert model.warn_outside_training(model.sheet(nearly)) == (), "within rounding"
