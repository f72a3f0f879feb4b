"""`aspenpy traffic`: its object, its rows, its picture, and what it tells beside them."""

import csv
import io
import json
from pathlib import Path

import pytest

import aspenpy
from aspenpy.cost.caches.reading import PATTERNS
from aspenpy.cost.trait_names import PATTERN_NAMES
from aspenpy.report.traffic import draw_traffic
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

ON = ("traffic", "cache_triad", "--machine", "cachegrind", "--set", "n=512")
"""Vectors of 1 MiB: 16,384 lines each, and three of them do not fit into 2 MiB."""


def test_json(run: Runner) -> None:
    found = json.loads(run(*ON, "--format", "json").out)
    assert [level["name"] for level in found["levels"]] == ["D1", "LL"]
    first, last = found["levels"]
    assert first == {
        "name": "D1",
        "reads": 2 * 512**2,
        "writes": 512**2,
        "read_misses": 32768,
        "write_misses": 16384,
        "bytes": 4 * 1024**2,
    }
    assert (last["reads"], last["writes"], last["bytes"]) == (32768, 16384, 4 * 1024**2)
    assert found["memory"] == {"bytes": 4 * 1024**2, "low": 4 * 1024**2, "high": 4 * 1024**2, "unit": "B"}


def test_what_was_asked_for() -> None:
    assert tuple(PATTERNS) == PATTERN_NAMES


def test_csv(run: Runner) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*ON, "--format", "csv").out)))
    assert [(row["resource"], row["array"], row["level"]) for row in rows[:2]] == [
        ("loads", "B", "D1"),
        ("loads", "B", "LL"),
    ]
    assert sum(float(row["misses"]) for row in rows if row["level"] == "LL") == 3 * 16384


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_picture(run: Runner, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"levels{suffix}"
    assert run(*ON, "--picture", str(picture)).status == 0
    assert picture.stat().st_size > 1000


def test_a_machine_without_caches(run: Runner) -> None:
    status, out, err = run("traffic", "cache_triad", "--machine", "simple")
    assert (status, out) == (2, "")
    assert "machine `simple` has no caches" in err
    assert "`aspenpy show haswell` has three levels of them" in err


def test_what_says_nothing_is_named(run: Runner) -> None:
    err = run("traffic", "stream", "--machine", "haswell").err
    assert "warning: `loads` has no access pattern: all of it counts as memory traffic" in err


def test_the_picture_shows_what_goes_past_the_caches() -> None:
    """Jacobi's sweeps say how much they load and store, but not in which order: all of it is memory's."""
    pytest.importorskip("matplotlib")
    found = aspenpy.traffic(aspenpy.load_application("jacobi"), aspenpy.load_machine("haswell"))
    resources = aspenpy.predict(found.prediction.case).resources
    (axes,) = draw_traffic(found).axes
    assert [bar.get_width() for bar in axes.patches] == [resources["loads"].amount + resources["stores"].amount]
    assert axes.get_xlim()[0] == 0
