"""Tables on terminals that are too narrow for them: texts go on in new lines, numbers are never cut."""

from __future__ import annotations

import re

import pytest

from aspenpy.tables.numbers import format_count, seconds
from aspenpy.tables.table import Column, Table
from aspenpy.tables.terminal import least_width, narrow_column, render_terminal

TABLE = Table(
    (
        Column("exclusive/call", seconds, "unit"),
        Column("how often it is called", format_count, "right"),
        Column("kernel"),
        Column("waits for", wrapped=True),
    ),
    (
        (5.79, 932, "CalcFBHourglassForceForElems", "loads on the memory of the socket"),
        (0.000_013_5, 32_620, "evaluate_once", ""),
    ),
    title="where the time goes",
)
NATURAL = 2 + 14 + 22 + 28 + 33 + 3 * 2
"""The indent, headers or cells as they are, and the gaps."""

LEAST = 2 + 10 + 6 + 12 + 12 + 3 * 2
"""`exclusive/`, `32,620`, and twelve characters of each text."""


def lines(columns: int) -> list[str]:
    return re.sub("\x1b\\[[0-9;]*m", "", render_terminal((TABLE,), columns)).splitlines()


def test_widths() -> None:
    assert least_width(TABLE, NATURAL) == NATURAL
    assert least_width(TABLE, NATURAL - 1) <= NATURAL - 1
    assert least_width(TABLE, 20) == LEAST


@pytest.mark.parametrize("columns", [20, 40, LEAST, 60, 72, 80, 100, NATURAL, 200])
def test_nothing_is_lost(columns: int) -> None:
    shown = lines(columns)
    text = "\n".join(shown)
    assert all(number in text for number in ("5.79 s", "13.5 us", "932", "32,620"))
    assert "…" not in text
    assert max(map(len, shown)) <= max(columns, LEAST)
    letters = sorted("".join(text.split()))
    assert letters.count("─") > 0
    expected = "".join(
        ("exclusive/call", "howoftenitiscalled", "kernel", "waitsfor", "wherethetimegoes", "5.79s", "13.5us", "932",
         "32,620", "CalcFBHourglassForceForElems", "evaluate_once", "loadsonthememoryofthesocket")
    )  # fmt: skip
    assert [each for each in letters if each != "─"] == sorted(expected)


def test_picture() -> None:
    assert [line.rstrip() for line in lines(66)] == [
        "where the time goes",
        "                 how",
        "               often",
        "  exclusive/   it is",
        "        call  called  kernel                        waits for",
        "  ────────────────────────────────────────────────────────────────",
        "     5.79 s      932  CalcFBHourglassForceForElems  loads on the",
        "                                                    memory of the",
        "                                                    socket",
        "     13.5 us  32,620  evaluate_once",
    ]


@pytest.mark.parametrize(
    ("header", "columns", "lines"),
    [
        ("one two", 7, ["one two"]),
        ("one two", 6, ["   one", "   two"]),
        ("one two six", 7, ["one two", "    six"]),  # just as wide as the column
        ("one two six", 8, [" one two", "     six"]),
        ("inclusive/call", 14, ["inclusive/call"]),
        ("inclusive/call", 13, ["   inclusive/", "         call"]),
        ("of a/b cd", 6, ["of a/b", "    cd"]),
        ("", 3, ["   "]),
    ],
)
def test_a_header_takes_as_many_lines_as_it_needs(header: str, columns: int, lines: list[str]) -> None:
    """Of a column of numbers, as wide as the widest of them; words go on behind a stroke without a space."""
    head, *cells = narrow_column([header, " 12", "3"], columns)
    assert head.split("\n") == ([header] if len(header) == columns or not header else lines)
    if "\n" in head:
        assert cells == ["12".rjust(columns), "3".rjust(columns)]
