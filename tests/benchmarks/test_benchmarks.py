"""The benchmarks measure something that works."""

import pytest

from benchmarks import expr_large, parse_memory, parse_time, sobol_million, sweep_points
from benchmarks.measure import Benchmark, Reading, Subject, measured, seconds
from benchmarks.models import application_text
from benchmarks.run import BENCHMARKS, is_right


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: benchmark.title)
def test_result_is_right(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps of a twentieth of the points, a sixty-fourth of the samples, a fifth of texts and requirements."""
    for module in (parse_time, parse_memory):
        monkeypatch.setattr(module, "application_text", lambda size: application_text(size // 5))
    monkeypatch.setattr(expr_large, "REQUIREMENTS", expr_large.REQUIREMENTS // 5)
    monkeypatch.setattr(sweep_points, "POINTS", sweep_points.POINTS // 20)
    monkeypatch.setattr(sobol_million, "SAMPLES", sobol_million.SAMPLES // 64)
    assert is_right(benchmark)


def test_the_best_of_each_column() -> None:
    values, baselines = iter([0.0, 5.0, 900.0, 6.0]), iter([0.0, 2.0, 1.0, 7.0])
    subject = Subject(lambda: next(values), lambda: next(baselines), bool)
    # The first of each is a warming up; then 5, 900, 6 against 2, 1, 7.
    assert measured(Benchmark("", "", 1, lambda: subject, lambda action: action()), 3) == Reading(5.0, 1.0)


def test_short_actions_are_repeated_until_the_clock_sees_them() -> None:
    calls: list[None] = []
    assert 0 < seconds(lambda: calls.append(None)) < 1e-4
    assert len(calls) > 100
