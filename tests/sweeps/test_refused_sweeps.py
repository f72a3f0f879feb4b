"""Sweeps and searches from Python that are refused, each with its code and what it says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import aspenpy
from aspenpy.advice.alternatives import alternatives
from aspenpy.answers.expected_error import combine_classes
from aspenpy.explore.optimise import pareto
from aspenpy.explore.snapshot import read_snapshot
from aspenpy.sweeps.formats import format_of
from aspenpy.sweeps.grid import sample_columns
from tests.tiny import application, machine

APPLICATION = application("execute { flops [n*k] }", "param n = 4 in 1 .. 8 param k = 1")
MACHINE = machine()


def sweep(over: dict[str, Any], **options: Any) -> Any:
    return aspenpy.sweep(APPLICATION, MACHINE, over=over, **options)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "bad-sample: a sample is taken of the ranges of some axes, and they are not paired": (
        lambda: sweep({"n": [1, 2], "k": [1, 2]}, zip=[["n", "k"]], samples=4),
        "",
    ),
    "bad-sample: a sample has at least 1 point, not 0": (lambda: sample_columns({}, 0, "uniform", 1), ""),
    "too-long: a sample has at most 100,000,000 points, not 100,000,001": (
        lambda: sweep({"n": "1..8"}, samples=100_000_001, memory=10**13, yes=True),
        "",
    ),
    "too-large: the 100,000,000 values of the axes alone take 1.6 GB while they are made, and 1.5 GB may be used": (
        lambda: sweep({"n": "1..8"}, samples=100_000_000, memory=15 * 10**8, yes=True),
        "--memory-limit 1600MB (in Python, memory=...), or fewer points",
    ),
    "unknown-axis: `ranks` is paired with others, and is not a numeric axis of the sweep": (
        lambda: sweep({"n": [1, 2]}, zip=[["n", "ranks"]]),
        "",
    ),
    "unknown-axis: `n` is paired twice": (
        lambda: sweep({"n": [1, 2], "k": [1, 2]}, zip=[["n", "k"], ["n"]]),
        "",
    ),
    "uneven-axes: `n` has 2 values and `k` 3": (
        lambda: sweep({"n": [1, 2], "k": [1, 2, 3]}, zip=[["n", "k"]]),
        "axes that go side by side have the same number of values",
    ),
    "bad-cores: a sweep needs at least 1 core, not 0": (lambda: sweep({"n": [1, 2]}, cores=0), ""),
    "no-axis: a sweep goes over something": (lambda: sweep({}), "name it: n=1k..1M:log:200"),
    "no-metric: a sweep computes something": (
        lambda: sweep({"n": [1]}, metric=[]),
        "name it: runtime, energy, or a resource",
    ),
    "axis-set: `n` is set to a value and swept over": (
        lambda: sweep({"n": [1]}, set={"n": 2}),
        "leave one of the two",
    ),
    "bad-axis: `n` is sampled, and its range says how many points": (
        lambda: sweep({"n": "1..8:lin:3"}, samples=4),
        "leave the number out",
    ),
    "one-objective: a Pareto front needs two quantities to minimise or maximise, not one": (
        lambda: pareto(None, [None]),  # type: ignore[arg-type,list-item]
        "",
    ),
    "bad-samples: 12 is not a power of two, which Sobol's sequence needs to be uniform": (
        lambda: aspenpy.sensitivity(APPLICATION, MACHINE, vary="n=1..8", method="sobol", samples=12),
        "take 16",
    ),
    "no-such-component: `seconds` has no memory, so that there is no other one": (
        lambda: alternatives(MACHINE, None, "memory_kind", ()),
        "",
    ),
    "no-such-component: `seconds` has no interconnect, so that there is no other one": (
        lambda: alternatives(MACHINE, None, "topology", ()),
        "",
    ),
    "bad-snapshot: it is of the form `x`, not `aspenpy.snapshot/1`": (
        lambda: read_snapshot({"schema": "x"}, "it"),
        "write it anew",
    ),
    "empty-range: `n` has no two whole values from 1.5 to 2.5": (
        lambda: aspenpy.compare(APPLICATION, [MACHINE, aspenpy.load_machine("haswell")]).over("n", 1.5, 2.5),
        "",
    ),
    "sockets: 3 machines and 2 sockets": (
        lambda: aspenpy.compare(APPLICATION, [MACHINE, MACHINE, MACHINE], sockets=["cpu", "cpu"]),
        "name one socket for each machine",
    ),
    "unknown-format: cannot tell the format of `x.xyz` from its name": (
        lambda: format_of("x.xyz"),
        "the name of a result ends with .npz, .csv, .json, .parquet, .nc, .zarr",
    ),
}


@pytest.mark.parametrize("said", REFUSED)
def test_refused(said: str) -> None:
    ask, hint = REFUSED[said]
    with pytest.raises(aspenpy.AspenError) as error:
        ask()
    diagnostic = error.value.diagnostics[0]
    assert f"{diagnostic.code}: {diagnostic.message}" == said
    assert (diagnostic.hint or "") == hint


@pytest.mark.parametrize(
    ("package", "ask", "said"),
    [
        ("scipy.stats", lambda: sample_columns({}, 2, "sobol", 1), "the method `sobol` needs SciPy"),
        ("distributed", lambda: sweep({"n": [1, 2]}, client="tcp://x:1"), "a cluster needs Dask"),
    ],
)
def test_refused_without_a_package(
    package: str, ask: Callable[[], Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(aspenpy.AspenError, match=said) as error:
        ask()
    assert error.value.diagnostics[0].code.startswith("missing-")


def test_a_file_names_the_package_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aspenpy.sweeps.formats.find_spec", lambda name: None)
    for suffix in ("npz", "csv", "json"):
        format_of(f"x.{suffix}")
    with pytest.raises(aspenpy.AspenError) as error:
        format_of("x.parquet")
    assert error.value.diagnostics[0].code == "missing-package"
    assert error.value.diagnostics[0].message.startswith("a .parquet file needs pyarrow: pip install")


@pytest.mark.parametrize(
    ("seconds", "low", "unknown"),
    [
        ({"memory": 3.0, "caches": 1.0}, 0.698 * 0.75 + 0.762 * 0.25, {}),
        ({"memory": 1.0, "halo": 0.11}, 0.698, {"halo": 0.11 / 1.11}),  # less than a tenth
        ({"memory": 9.0, "halo": 1.0}, None, {"halo": 0.1}),
        ({"memory": 1.0, "halo": 0.0}, 0.698, {}),
        ({"halo": 1.0}, None, {"halo": 1.0}),
    ],
)
def test_classes_are_weighted_with_what_they_bound(
    seconds: dict[str, float], low: float | None, unknown: dict[str, float]
) -> None:
    found = combine_classes(seconds)
    assert found.low == (low if low is None else pytest.approx(low))
    assert (found.high is None) is (low is None)
    assert found.unknown == pytest.approx(unknown)
    assert list(found.classes) == sorted(found.classes, key=lambda name: -seconds[name])
