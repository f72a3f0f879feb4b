"""Pages as plain text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from aspenpy.tables.pages import render_text, table_lines
from aspenpy.tables.table import Column, Grid, Page, Paragraph, Table, Title

TABLE = Table(
    (Column("name"), Column("calls", str, "right"), Column("time", str, "unit"), Column("why")),
    (("one", 7, "12 ms", None), ("seventeen", 1000, "1.5 s", "it is slow")),
)


def test_table() -> None:
    assert table_lines(TABLE) == [
        "name       calls    time  why",
        "─────────  ─────  ──────  ──────────",
        "one            7   12 ms",
        "seventeen   1000  1.5 s   it is slow",
    ]


def test_facts_have_no_headers() -> None:
    facts = Table((Column(""), Column("")), (("runtime", "2 s"), ("seed", "1")), title="facts")
    assert table_lines(facts) == ["facts", "  runtime  2 s", "  seed     1"]


def test_page() -> None:
    page: Page = (Title("what"), Paragraph("one two three four"), Grid("set", (("n", "1"), ("m", "2"))))
    assert render_text(page, 12) == "what\n\none two\nthree four\n\nset\n  n  1\n  m  2"


WORDS = st.text("abcdefghijk", min_size=1, max_size=12)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1))
def test_columns_can_be_read_back(rows: list[tuple[str, str, str]]) -> None:
    columns = (Column("first"), Column("second", align="right"), Column("third"))
    _, rule, *lines = table_lines(Table(columns, tuple(rows)))
    spans = [found.span() for found in re.finditer("─+", rule)]
    assert [tuple(line[start:end].strip() for start, end in spans) for line in lines] == rows
