"""Tables on terminals that are too narrow for them: texts go on in new lines, numbers are never cut."""

from __future__ import annotations

import re

import pytest

from aspenpy.tables.numbers import format_count, seconds
from aspenpy.tables.table import Column, Table
from aspenpy.tables.terminal import least_width, render_terminal

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
