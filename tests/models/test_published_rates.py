"""Bandwidths and products beside published ones: the page is current, errors bounded, and no order contradicted."""

from itertools import combinations
from pathlib import Path
from statistics import median

import pytest

from benchmarks.published_rates import RATES, PublishedRate, compare, write_table

PAGE = Path(__file__).parents[2] / "docs" / "systems.md"
START, END = "<!-- rates -->\n", "<!-- end of rates -->"


@pytest.fixture(scope="module")
def rows() -> list[tuple[PublishedRate, float]]:
    return compare()


def test_the_table_of_the_page_is_current(
    rows: list[tuple[PublishedRate, float]], request: pytest.FixtureRequest
) -> None:
    before, _, rest = PAGE.read_text().partition(START)
    table, _, after = rest.partition(END)
    fresh = "\n".join([*write_table(rows), ""])
    if request.config.getoption("--update-pictures"):
        PAGE.write_text(before + START + fresh + END + after)
        return
    assert table == fresh


def test_rates_that_a_machine_states_are_reached(rows: list[tuple[PublishedRate, float]]) -> None:
    for rate, model in rows:
        if rate.states:
            assert model == pytest.approx(rate.value, rel=0.03), rate.machine


def test_other_rates(rows: list[tuple[PublishedRate, float]]) -> None:
    off = [max(model / rate.value, rate.value / model) for rate, model in rows if not rate.states]
    assert len(off) >= 7
    assert median(off) <= 1.12
    assert max(off) <= 1.40  # Piz Daint's check of P100


@pytest.mark.parametrize("quantity", ["triad", "double", "single", "bf16"])
def test_no_order_is_contradicted(rows: list[tuple[PublishedRate, float]], quantity: str) -> None:
    """Of machines whose published values differ by more than 15 %."""
    found = [(rate.value, model) for rate, model in rows if rate.quantity == quantity]
    apart = [(one, other) for one, other in combinations(sorted(found), 2) if other[0] > 1.15 * one[0]]
    assert apart
    assert all(other[1] > one[1] for one, other in apart)


def test_sources_are_named() -> None:
    assert all(len(rate.source) > 10 for rate in RATES)
    assert len({(rate.machine, rate.quantity) for rate in RATES}) == len(RATES)
