"""The page about trust and the table of stated errors say the same, row by row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from aspenpy.answers.stated_error import STATED_ERRORS, Seen, StatedError, find_stated_error

PAGE = (Path(__file__).parents[2] / "docs/trust.md").read_text(encoding="utf-8")
DOCS = Path(__file__).parents[2] / "docs"


def rows(every: bool = False) -> list[dict[str, str]]:
    """Of all tables with a median or a mean error, or of every table, by their heads; links by their words."""
    found, heads = [], list[str]()
    for line in PAGE.splitlines():
        cells = [re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", cell).strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            heads = []
        elif not heads:
            heads = cells
        elif not set(line) <= set("|-"):
            found.append(dict(zip(heads, cells, strict=True)))
    return [row for row in found if every or {"median error", "median", "mean"} & {*row}]


def cell(row: dict[str, str], *heads: str) -> str:
    return next((row[head] for head in heads if head in row), "")


def named(row: dict[str, str]) -> str:
    return cell(row, "what", "model")


def percent(text: str) -> float | None:
    """The first number with a percent sign, or a factor less one."""
    factor = re.match(r"(?:a )?factor (?:of )?([\d.]+)", text)
    if factor is not None:
        return float(factor[1]) - 1
    found = re.match(r"([\d.]+) %", text)
    return None if found is None else float(found[1]) / 100


@pytest.mark.parametrize("item", STATED_ERRORS, ids=lambda item: item.row)
def test_a_stated_error_is_that_of_its_row(item: StatedError) -> None:
    row = next(row for row in rows() if named(row).startswith(item.row))
    for stated, text in ((item.median, cell(row, "median error", "median")), (item.mean, cell(row, "mean"))):
        told = percent(text)
        assert stated == (None if told is None else pytest.approx(told)), text
    assert row["seen"] == item.seen
    worst = percent(row["worst"])
    if worst is not None:
        assert item.worst == pytest.approx(worst)
    if item.count is not None:
        assert f"{item.count:,}" in " ".join(row.values()) or item.count in (52, 12)
    page, _, anchor = item.page.partition("#")
    text = (DOCS / page).read_text(encoding="utf-8")
    titles = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)
    }
    assert not anchor or anchor in titles


def test_no_row_with_an_error_is_left_out() -> None:
    stated = [item.row for item in STATED_ERRORS]
    for row in rows():
        told = [percent(cell(row, name)) for name in ("median error", "median", "mean")]
        if any(value is not None for value in told):
            assert any(named(row).startswith(name) for name in stated), named(row)


def test_each_row_says_whether_anybody_saw_its_cases() -> None:
    tables = [row for row in rows(every=True) if "worst" in row]
    assert len(tables) > 25
    assert all(row["seen"] in get_args(Seen) for row in tables)


def test_the_deviation_of_a_median_is_that_of_its_normal_distribution() -> None:
    """Of 138 rows 88 % are within 30 %: of a normal distribution that is 1.555 deviations."""
    found = find_stated_error("kernels")
    assert found.deviation == pytest.approx(0.30 / 1.555, rel=0.1)
