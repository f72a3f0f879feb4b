"""Published results of the library's machines beside what is predicted of them: errors are bounded, rows outside of the
aims say why, no order is contradicted, and the pages have the tables."""

import re
from itertools import combinations
from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.published import (
    AIMS,
    PublishedComparison,
    PublishedComparisons,
    _predict,
    compare_with_published,
    published_results,
)
from aspenpy.models.library import library_names
from aspenpy.tables.numbers import Amount, format_amount

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "systems.md"
BOUNDS = {
    ("triad", "seen"): (1.03, 1.10),
    ("triad", "stated"): (1.01, 1.03),
    ("product", "seen"): (1.10, 1.40),  # Xeon Max, small products
    ("product", "stated"): (1.01, 1.03),
    ("Linpack", "seen"): (1.08, 1.22),  # Eos
    ("Linpack", "held back"): (1.08, 1.30),  # Leonardo
    ("HPCG", "seen"): (1.2, 1.52),  # Titan
    ("HPCG", "held back"): (1.23, 1.36),  # JUWELS Booster
    ("power", "seen"): (1.12, 1.36),  # MareNostrum 5
    ("power", "held back"): (1.12, 1.30),  # Keeneland
}
"""The median and the worst factor by which results of a benchmark and half are off."""


@pytest.fixture(scope="module")
def found() -> PublishedComparisons:
    return compare_with_published()


def test_every_benchmark_is_as_close_as_the_page_says(found: PublishedComparisons) -> None:
    assert {(item.benchmark, item.half) for item in found.summaries} == BOUNDS.keys()
    for item in found.summaries:
        middle, worst = BOUNDS[item.benchmark, item.half]
        assert item.median_factor <= middle, item.benchmark
        assert item.worst.factor <= worst, item.worst.published.machine


def test_results_outside_of_the_aims_say_why(found: PublishedComparisons) -> None:
    assert all(row.published.why for row in found.outside)
    assert {row.published.machine for row in found.rows if row.published.why} == {
        row.published.machine for row in found.outside
    }


def test_results_are_of_the_library_and_have_sources() -> None:
    rows = published_results()
    assert len(rows) > 150
    assert {row.machine for row in rows} <= set(library_names("machines"))
    assert {row.benchmark for row in rows} == AIMS.keys()
    assert all(len(row.source) > 6 for row in rows)
    assert len({(row.machine, row.what, row.source) for row in rows}) == len(rows)


def test_machines_are_chosen_by_name() -> None:
    assert {row.machine for row in published_results(["grace", "titan"])} == {"grace", "titan"}


def test_a_linpack_by_hand() -> None:
    """Blue Gene/Q attains 0.85 of 12.8 Gflop/s on each of 16 cores of 98,304 nodes in products: no more is possible."""
    (row,) = [row for row in compare_with_published(["sequoia"]).rows if row.published.what == "Linpack"]
    assert row.published.value == 16.3248e15
    assert 0.8 * 98304 * 204.8e9 < row.predicted < 98304 * 204.8e9
    assert row.ratio == row.predicted / row.published.value


def contradicted(rows: list[PublishedComparison]) -> tuple[int, set[tuple[str, str]]]:
    """Pairs of machines whose results differ by 15 % and more, and those that are put into the other order."""
    pairs = combinations(sorted(rows, key=lambda row: row.published.value), 2)
    apart = [(less, more) for less, more in pairs if more.published.value > 1.15 * less.published.value]
    wrong = [(less, more) for less, more in apart if less.predicted > more.predicted]
    return len(apart), {(less.published.machine, more.published.machine) for less, more in wrong}


def test_orders_of_machines(found: PublishedComparisons) -> None:
    whats: dict[str, list[PublishedComparison]] = {}
    for row in found.rows:
        whats.setdefault(row.published.what, []).append(row)
    orders = {what: contradicted(rows) for what, rows in whats.items()}
    assert sum(pairs for pairs, _ in orders.values()) > 1000
    assert {what: wrong for what, (_, wrong) in orders.items() if wrong} == CONTRADICTED


CONTRADICTED = {
    "product dp": {("xeon_max_9480", "grace")},
    "product fp16": {("max_1550", "h100_pcie")},
    "product sp": {("rtx_5090", "mi300a")},
    "Linpack": {("eos", "summit"), ("sequoia", "hawk")},
    "HPCG": {
        ("alps", "lumi_g"),
        ("cori_knl", "abci"),
        ("cori_knl", "piz_daint"),
        ("selene", "perlmutter_gpu"),
        ("titan", "abci"),
        ("titan", "piz_daint"),
    },
    "power": {("gordon", "frontier"), ("perlmutter_gpu", "cori_knl"), ("perlmutter_gpu", "marenostrum_5_acc")},
}
"""Each with the smaller in front."""


def test_systems_that_are_run_have_so_many_nodes() -> None:
    for row in published_results():
        text = (ROOT / "models" / "machines" / f"{row.machine}.aspen").read_text(encoding="utf-8")
        stated = re.search(rf"^param {row.machine}_nodes = (\d+) ", text, re.MULTILINE)
        nodes = row.settings.get(f"{row.machine}_nodes")
        if nodes is not None:
            assert stated is not None
            assert int(nodes) <= int(stated[1]) or row.machine in LARGER, row.machine


LARGER = {"marenostrum_5_gpp", "frontier", "perlmutter_gpu", "cori_knl"}
"""A list has more nodes than the machine of today, or than its operator says."""


def test_the_page_has_what_the_command_says(found: PublishedComparisons, request: pytest.FixtureRequest) -> None:
    before, start, rest = PAGE.read_text(encoding="utf-8").partition("<!-- published -->\n")
    table, end, after = rest.partition("<!-- end of published -->")
    fresh = "\n".join(write_table(found))
    if request.config.getoption("--update-pictures"):
        PAGE.write_text(before + start + fresh + "\n" + end + after, encoding="utf-8")
        return
    kept, now = ([line.split("|")[1:-1] for line in text.strip().splitlines()[2:]] for text in (table, fresh))
    assert sorted(cells[:2] + cells[3:] for cells in kept) == sorted(cells[:2] + cells[3:] for cells in now)
    ratios = {tuple(cells[:2] + cells[3:]): float(cells[2]) for cells in now}
    for cells in kept:
        assert float(cells[2]) == pytest.approx(ratios[tuple(cells[:2] + cells[3:])], abs=0.006)


def write_table(found: PublishedComparisons) -> list[str]:
    """The rows of systems, the worst first."""
    lines = ["| machine | what | ratio | published | half | source |", "|---|---|---:|---:|---|---|"]
    for row in found.rows:
        given = row.published
        value = format_amount(Amount(given.value, given.unit))
        source = f"{given.source}: {given.why}" if row.outside else given.source
        lines.append(f"| `{given.machine}` | {given.what} | {row.ratio:.2f} | {value} | {given.half} | {source} |")
    return lines


def test_flops_of_a_linpack_are_those_that_it_counts() -> None:
    """2/3 n^3 + 3/2 n^2 over the time of the run: of so small a system the second term is a tenth."""
    (row,) = [row for row in published_results(["sequoia"]) if row.what == "Linpack"]
    settings = {"n": 24, "block": 4, "ranks": 1, "grid_rows": 1}
    run = aspenpy.predict(aspenpy.load_application("hpl"), aspenpy.load_machine("sequoia"), set=settings, bind="node")
    attained = _predict(row.replace(settings={name: str(value) for name, value in settings.items()}))
    assert attained * run.runtime == pytest.approx(2 / 3 * 24**3 + 3 / 2 * 24**2)
