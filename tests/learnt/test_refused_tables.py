"""Tables of measurements that are refused, each with its code and what it says; and the nearest that are not."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from aspenpy.advice.significant import _warn_of_few_runs
from aspenpy.answers.expected_error import ExpectedError
from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.estimators.speedup import predict_time, read_powers
from aspenpy.learn.fitting.measurements import drop_points_without_values
from aspenpy.learn.measurements.read import read_measurements
from aspenpy.learn.model_validation import warn_doubtful


def csv(folder: Path, text: str) -> Path:
    (folder / "runs.csv").write_text(text, encoding="utf-8")
    return folder / "runs.csv"


def refusal(error: pytest.ExceptionInfo[AspenError]) -> tuple[str, str, str | None]:
    (diagnostic,) = error.value.diagnostics
    return diagnostic.code, diagnostic.message, diagnostic.hint


def test_a_column_has_one_name(tmp_path: Path) -> None:
    path = csv(tmp_path, "x,y\n1,2\n")
    assert [item.name for item in read_measurements(path, {"a": "x", "b": "y"}).headings] == ["a", "b"]
    with pytest.raises(AspenError) as error:
        read_measurements(path, {"a": "x", "b": "x"})
    assert refusal(error) == ("column-twice", "one column was given two names", None)


def test_columns_of_parquet_are_those_that_it_has(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
    from pyarrow import parquet

    path = tmp_path / "runs.parquet"
    parquet.write_table(arrow.table({"runtime": [1.0, 3.0], "ranks": [2, 4]}), path)
    found = read_measurements(path, {"time": "runtime"})
    assert [float(row["time"].value) for row in found.rows] == [1.0, 3.0]
    with pytest.raises(AspenError) as error:
        read_measurements(path, {"runtime": "runtme"})
    assert refusal(error) == ("unknown-column", f"there is no column `runtme` in `{path}`", "did you mean `runtime`?")


def test_points_of_a_sweep_without_values_are_left_out(tmp_path: Path) -> None:
    kept = drop_points_without_values(read_measurements(csv(tmp_path, "runtime,reason\n1,\n,none\n3,\n")))
    assert [row["runtime"].value for row in kept.rows] == ["1", "3"]
    assert [item.name for item in kept.headings] == ["runtime"]
    with pytest.raises(AspenError) as error:
        drop_points_without_values(read_measurements(csv(tmp_path, "runtime,reason\n,none\n,no value\n")))
    assert refusal(error)[:2] == ("no-measurements", "all rows have a `reason` why nothing was measured")


@pytest.mark.parametrize(
    ("head", "watts"), [("power", [12.0, 8.0]), ("energy", [6.0, 2.0])], ids=["measured", "by the energy"]
)
def test_watts_of_runs(head: str, watts: list[float], tmp_path: Path) -> None:
    """Of 12 J in 2 s and of 8 J in 4 s; what is blank was not measured."""
    sheet = read_measurements(csv(tmp_path, f"runtime,{head}\n2,12\n4,8\n3,\n"))
    threads, clocks = [1.0, 2.0, 4.0], [1e9, 2e9, 3e9]
    assert read_powers(sheet, [0, 1, 2], threads, clocks) == [  # type: ignore[arg-type]
        [1.0, 1e9, watts[0]],
        [2.0, 2e9, watts[1]],
    ]


def test_no_watts_without_power_and_energy(tmp_path: Path) -> None:
    assert read_powers(read_measurements(csv(tmp_path, "runtime\n2\n")), [0], [1.0], [1e9]) == []  # type: ignore[arg-type]


HELD = {"sequential": [(1e9, 8.0), (1e9, 10.0), (2e9, 5.0)], "overheads": [(2, 1.0), (2, 2.0), (4, 0.5)], "on": 6e9}
HELD["off"] = 2.0  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("count", "clock", "time"),
    [
        (1, 1e9, 9.0),  # the mean of two runs
        (1, 2e9, 5.0),
        (1, 3e9, 4.0),  # nobody ran it: 2 s and 6e9 cycles
        (2, 1e9, 6.0),  # half of 9 s, and the mean of two overheads
        (4, 3e9, 1.5),
    ],
)
def test_times_by_equation_18(count: int, clock: float, time: float) -> None:
    assert predict_time(HELD, count, clock, "it") == time


def test_overheads_are_known_where_they_were_measured() -> None:
    with pytest.raises(AspenError) as error:
        predict_time(HELD, 8, 1e9, "it")
    assert refusal(error) == (
        "no-parallel",
        "it was not measured on 8 processors at the lowest clock",
        "the overhead is known on 2, 2, 4",
    )


@pytest.mark.parametrize(
    ("widest", "configurations", "more", "text", "hint"),
    [
        (None, 1, 2, "there is one run: the precision of the mean runtime is unknown", "2 more times"),
        (None, 2, 1, "each configuration ran once: the precision of the mean runtime is unknown", "1 more time"),
        (0.0512, 2, 3, "half the confidence interval of the mean runtime is up to 5.1 %", "3 more times"),
    ],
)
def test_few_runs_are_warned_of(widest: float | None, configurations: int, more: int, text: str, hint: str) -> None:
    samples = SimpleNamespace(widest=widest, configurations=configurations, more=more, metric="runtime")
    said = _warn_of_few_runs(SimpleNamespace(samples=samples))  # type: ignore[arg-type]
    assert (said.code, said.message, said.hint) == ("few-samples", text, f"measure each configuration {hint}")


@pytest.mark.parametrize(
    ("low", "high", "is_doubtful", "times"),
    [
        (0.8, 1.75, False, None),  # up to 1.75 nobody is warned
        (0.8, 1.76, True, "1.8"),
        (1 / 1.75, 1.2, False, None),
        (0.5, 1.2, True, "2.0"),  # a half is twice off
        (0.25, 3.0, True, "4.0"),
    ],
)
def test_intervals_that_are_doubtful(low: float, high: float, is_doubtful: bool, times: str | None) -> None:
    expected = ExpectedError(low, high, {"caches": 0.72, "memory": 0.1, "latency": 0.08}, {"halo": 0.1})
    assert expected.is_doubtful is is_doubtful
    assert expected.around(4.0) == (4 * low, 4 * high)
    if times is not None:
        assert warn_doubtful(expected).message == (
            f"such predictions are up to {times} times off: bound by caches (72% of it) and memory (10% of it) and "
            "halo (10% of it)"
        )


@pytest.mark.parametrize(("low", "high"), [(None, 2.0), (0.9, None), (None, None)])
def test_intervals_of_what_nobody_compared(low: float | None, high: float | None) -> None:
    expected = ExpectedError(low, high, {}, {"halo": 1.0})
    assert expected.is_doubtful
    assert expected.around(4.0) is None
    said = warn_doubtful(expected)
    assert (said.code, said.message) == (
        "uncertain",
        "nobody has compared such predictions with runs: bound by halo (100% of it)",
    )
