"""Conditions on columns, against the same in Python; columns under the names that tools give them; formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.measurements.columns import KNOWN, evaluate_formula, read_numbers, recognise_columns
from aspenpy.learn.measurements.conditions import select_rows
from aspenpy.learn.measurements.sheet import tabulate_rows

ROWS = [
    {"threads": t, "clock_MHz": 1000 * c, "app": app, "Time (ms)": 10 * t}
    for t in (1, 4, 6, 8) for c in (1, 2) for app in ("lulesh", "co-md")
]  # fmt: skip
SHEET = recognise_columns(tabulate_rows(ROWS))

CONDITIONS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "threads in (4,6)": lambda row: row["threads"] in (4, 6),
    "threads not in (4, 6,)": lambda row: row["threads"] not in (4, 6),
    "threads in (4,6) and clock_MHz < 1500": lambda row: row["threads"] in (4, 6) and row["clock_MHz"] < 1500,
    "core_frequency >= 2 GHz": lambda row: row["clock_MHz"] == 2000,
    "not (threads == 1 or app = 'co-md')": lambda row: not (row["threads"] == 1 or row["app"] == "co-md"),
    "application == co-md or threads>6": lambda row: row["app"] == "co-md" or row["threads"] > 6,
    "`Time (ms)` <= 4e1 and app != lulesh": lambda row: row["Time (ms)"] <= 40 and row["app"] != "lulesh",
    "not not threads >= 8": lambda row: row["threads"] >= 8,
    "runtime > 0.05 s": lambda row: row["Time (ms)"] > 50,
    "threads == 1 or threads == 4 and clock_MHz == 1000": lambda row: (
        row["threads"] == 1 or (row["threads"] == 4 and row["clock_MHz"] == 1000)
    ),
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions(text: str) -> None:
    assert select_rows(SHEET, text) == [place for place, row in enumerate(ROWS) if CONDITIONS[text](row)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("thread in (4)", "did you mean `threads`"),
        ("threads in 4", "expected `(` and values behind `in`"),
        ("threads in (4", "expected `,` or `)`"),
        ("threads", "expected a comparison"),
        ("threads < lots", "compares numbers"),
        ("threads == 4 6", "expected `and`, `or` or the end"),
        ("threads == __import__('os')", "expected `and`, `or` or the end"),
        ("threads == 4; x", "`;` cannot stand here"),
        ("(" * 60 + "threads == 4" + ")" * 60, "more than 50 deep"),
        ("", "expected the name of a column, found the end"),
    ],
)
def test_what_is_no_condition(text: str, message: str) -> None:
    with pytest.raises(AspenError) as caught:
        select_rows(SHEET, text)
    assert message in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_known_columns_are_in_base_units() -> None:
    assert SHEET.names == ["threads", "core_frequency", "application", "runtime"]
    assert read_numbers(SHEET, "core_frequency")[:3].tolist() == [1e9, 1e9, 2e9]
    assert read_numbers(SHEET, "runtime")[0] == pytest.approx(0.01)


@pytest.mark.parametrize("name", KNOWN)
def test_no_two_known_columns_share_a_spelling_and_a_dimension(name: str) -> None:
    own = {name, *KNOWN[name].spellings.split()}
    for other, known in KNOWN.items():
        if other != name and known.dimension == KNOWN[name].dimension:
            assert not own & {other, *known.spellings.split()}, other


@pytest.mark.parametrize(
    ("header", "name", "value"),
    [
        ("Runtime (RDTSC) [s]", "runtime", 7.0),
        ("time/ms", "runtime", 0.007),
        ("E_pkg_J", "energy", 7.0),
        ("Energy DRAM [J]", "dram_energy", 7.0),
        ("Memory data volume [GBytes]", "memory_volume", 7e9),
        ("mem_MBs", "memory_bandwidth", 7e6),
        ("PAPI_TOT_INS", "instructions", 7.0),
        ("LLC-load-misses", "llc_misses", 7.0),
        ("power.draw [W]", "power", 7.0),
        ("my counter", "my counter", 7.0),
    ],
)
def test_spellings_of_tools(header: str, name: str, value: float) -> None:
    sheet = recognise_columns(tabulate_rows([{header: 7}]))
    assert sheet.names == [name]
    assert read_numbers(sheet, name)[0] == pytest.approx(value)
    assert select_rows(sheet, f"`{header.partition(' [')[0]}` == 7" if " [" in header else f"`{header}` == 7") == [0]


def test_formulas() -> None:
    threads = np.array([row["threads"] for row in ROWS])
    assert evaluate_formula("ceil(threads/3)*2", SHEET) == pytest.approx(2 * np.ceil(threads / 3))
    assert evaluate_formula("core_frequency^2/giga", SHEET)[0] == pytest.approx(1e9)
    for text in ("threads/(threads - 1)", "nothing + 1", "threads +", "{1, 2}"):
        with pytest.raises(AspenError):
            evaluate_formula(text, SHEET)


@pytest.mark.parametrize(("opens", "closes"), [("(", ")"), ("not ", ""), ("(not ", ")")])
def test_fifty_brackets_are_deep_enough(opens: str, closes: str) -> None:
    steps = 2 if "not" in opens and closes else 1
    negated = "not" in opens and (50 // steps) % 2 == 1
    deepest = opens * (50 // steps) + "threads == 4" + closes * (50 // steps)
    assert select_rows(SHEET, deepest) == [
        place for place, row in enumerate(ROWS) if (row["threads"] == 4) is not negated
    ]
    with pytest.raises(AspenError, match="brackets and `not` are more than 50 deep"):
        select_rows(SHEET, f"({deepest})")


NUMBERS = recognise_columns(
    tabulate_rows([{"word": word, "value": value} for word, value in (("a", 4), ("b", ""), ("c", "much"), ("4", 5.0))])
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        *(("value == 4", "a"), ("value != 4", "bc4"), ("value > 3", "a4"), ("value >= 5", "4"), ("value < 5", "a")),
        *(("value <= 4", "a"), ("value == much", "c"), ("value != much", "ab4"), ("value in (4, much)", "ac")),
        *(("value not in (4, 5)", "bc"), ("word == 4", "4"), ("word == '4'", "4"), ('word != "a"', "bc4")),
        *(("value == 4.000000003", "a"), ("value == 4.00000001", ""), ("value <= 3.999999997", "a")),
        *(("value < 4.000000003", ""), ("value > 3.999999997", "4"), ("value >= 4.000000003", "a4")),
        *(("value > -1", "a4"), ("value == +4e0", "a"), ("value == .4e1", "a"), ("word in (a, b,)", "ab")),
        *(("word == a or word == b and value == 5", "a"), ("(word == a or word == 4) and value == 5", "4")),
    ],
)
def test_numbers_texts_and_blanks(text: str, names: str) -> None:
    """Numbers are equal within a billionth; what is no number differs from each, and is in no order."""
    assert "".join(str(NUMBERS.rows[place]["word"].value) for place in select_rows(NUMBERS, text)) == names


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        *(("threads == 4 lots", "lots"), ("threads in (4 lots)", "lots"), ("clok > 3", "clok"), ("threads < x", "<")),
        *(("threads == 4 and", ""), ("threads = 4 = 5", "="), ("threads == 4 ? 3", "?")),
    ],
)
def test_the_word_that_is_wrong_is_marked(text: str, marked: str) -> None:
    with pytest.raises(AspenError) as refused:
        select_rows(SHEET, text)
    (found,) = refused.value.diagnostics
    assert found.span is not None
    assert found.span.text() == marked
    assert found.code in ("bad-condition", "unknown-column")
