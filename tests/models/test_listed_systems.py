"""Linpack and HPCG of the library's systems from data sheets, beside the lists: the page has what the benchmark finds,
and the half that was held back is no worse than the page says."""

import os
import re
from itertools import combinations
from pathlib import Path
from statistics import median

import pytest

from benchmarks.listed_systems import SYSTEMS, Reached, compare, grid_rows, is_held_back, write_table

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("ASPENPY_SHARED", ROOT.parent / "shared")) / "data"
PAGE = ROOT / "docs" / "systems.md"
START, END = "<!-- listed -->\n", "<!-- end of listed -->"
needs_lists = pytest.mark.skipif(
    not (DATA / "hardware" / "machines_today.csv").exists(),
    reason="the rows of the lists are not beside the checkout (see ASPENPY_SHARED)",
)


@pytest.fixture(scope="module")
def rows() -> list[Reached]:
    return list(compare(DATA))


@needs_lists
def test_the_table_of_the_page_is_current(rows: list[Reached], request: pytest.FixtureRequest) -> None:
    before, _, rest = PAGE.read_text().partition(START)
    table, _, after = rest.partition(END)
    fresh = "\n".join([*write_table(rows), ""])
    if request.config.getoption("--update-pictures"):
        PAGE.write_text(before + START + fresh + END + after)
        return
    kept = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    found = {(row.machine, {"rmax": "Linpack", "hpcg": "HPCG"}[row.benchmark]): row for row in rows}
    assert {(name.strip("`"), benchmark) for name, benchmark, *_ in kept} == found.keys()
    for name, benchmark, model, known, ratio, standing, half in kept:
        row = found[name.strip("`"), benchmark]
        assert float(model) == pytest.approx(row.model, rel=0.006)
        assert float(known) == pytest.approx(row.published, rel=0.001)
        assert float(ratio) == pytest.approx(row.ratio, abs=0.006)
        assert (standing, half == "held back") == (row.known, row.held_back)


def off(rows: list[Reached], benchmark: str) -> list[float]:
    """Factors by which the rows that were held back are off."""
    return [max(row.ratio, 1 / row.ratio) for row in rows if row.benchmark == benchmark and row.held_back]


@needs_lists
def test_systems_that_were_held_back(rows: list[Reached]) -> None:
    assert median(off(rows, "rmax")) <= 1.10
    assert max(off(rows, "rmax")) <= 1.30  # Leonardo
    assert median(off(rows, "hpcg")) <= 1.35
    assert max(off(rows, "hpcg")) <= 1.65  # JUWELS Booster


def contradicted(rows: list[Reached], benchmark: str) -> set[tuple[str, str]]:
    """Pairs of systems that the lists tell apart by 15 % and more, and that the model puts into the other order."""
    found = [row for row in rows if row.benchmark == benchmark]
    pairs = combinations(sorted(found, key=lambda row: row.published), 2)
    apart = [(less, more) for less, more in pairs if more.published > 1.15 * less.published]
    assert len(apart) > 40
    return {(less.machine, more.machine) for less, more in apart if less.model > more.model}


@needs_lists
def test_orders_of_systems(rows: list[Reached]) -> None:
    assert contradicted(rows, "rmax") == set()
    assert contradicted(rows, "hpcg") == {
        ("titan", "piz_daint"),
        ("wisteria", "juwels_booster"),
        ("alps", "lumi_g"),
    }


def test_halves_are_drawn_by_names_alone() -> None:
    held = [name for name, run in SYSTEMS.items() if is_held_back(run.system)]
    assert 7 <= len(held) <= 14


def test_systems_that_are_run_have_so_many_nodes() -> None:
    for name, run in SYSTEMS.items():
        text = (ROOT / "models" / "machines" / f"{name}.aspen").read_text()
        stated = re.search(rf"^param {name}_nodes = (\d+) ", text, re.MULTILINE)
        assert stated is not None
        assert run.nodes <= int(stated[1]), name


def test_grids_are_nearly_square() -> None:
    assert [grid_rows(ranks) for ranks in (12, 64, 97, 23328)] == [3, 8, 1, 144]
