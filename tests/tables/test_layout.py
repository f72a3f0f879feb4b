"""Text in columns."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from aspenpy.tables.table import align_cells, arrange_in_columns, display_width, make_visible


def test_units_stand_under_each_other() -> None:
    assert align_cells(["831 ms", "1.2 s", "", "7"], "unit") == ["831 ms", "1.2 s ", "  ", "7   "]


def test_grid_fills_columns_from_the_top() -> None:
    entries = [("a", "1"), ("bb", "22"), ("c", "3"), ("d", "4"), ("e", "5")]
    assert arrange_in_columns(entries, 30) == ["a   1     c  3    e  5", "bb  22    d  4"]
    assert arrange_in_columns(entries, 18) == ["a   1     d  4", "bb  22    e  5", "c   3"]
    assert arrange_in_columns(entries, 1) == ["a   1", "bb  22", "c   3", "d   4", "e   5"]
    assert arrange_in_columns([], 30) == []


@given(st.lists(st.tuples(st.text("abc", min_size=1, max_size=9), st.text("123", min_size=1, max_size=9))))
def test_grid_keeps_all_entries(entries: list[tuple[str, str]]) -> None:
    lines = arrange_in_columns(entries, 60)
    words = " ".join(lines).split()
    assert sorted(words) == sorted(word for entry in entries for word in entry)
    assert all(len(line) <= 60 for line in lines)


def test_width_is_that_of_a_terminal() -> None:
    assert [display_width(text) for text in ("abc", "größer", "日本", "e\u0301")] == [3, 6, 4, 1]


@given(st.text())
def test_nothing_in_a_model_moves_the_cursor(text: str) -> None:
    assert all(unicodedata.category(char)[0] != "C" for char in make_visible(text))


def test_what_is_not_printable_is_named() -> None:
    assert make_visible("a\tb\nc\x1b[2J") == "a b c\\x1b[2J"
