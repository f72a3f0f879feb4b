"""The terminal, HTML and CSV say the same words as plain text."""

import csv
import html
import re
from collections.abc import Callable
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.language.diagnostics import warning
from aspenpy.tables.document import document_of, write_html
from aspenpy.tables.formats import write_csv
from aspenpy.tables.numbers import seconds
from aspenpy.tables.pages import escape_html, render_html, render_text
from aspenpy.tables.table import Column, Grid, Page, Paragraph, Report, Table, Title

PAGE: Page = (
    Title("a < b on <machine>"),
    Paragraph("Some words."),
    Table(
        (Column("kernel"), Column("time", seconds, "unit"), Column("why", wrapped=True)),
        (("k<1>", 0.0015, 'a "quoted", thing'), ("k2", Fraction(3, 2), None), ("k3", 12, "")),
        marked=frozenset([1]),
        title="kernels",
    ),
    Grid("set", (("n", "1/3"), ("m", "2")), "marked"),
)


def words(text: str) -> list[str]:
    return [word for word in text.split() if not set(word) <= {"─"}]


class Reader(HTMLParser):
    """The words between the tags; tags must be balanced."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data.replace(",", " , ").replace("=", " ").split()


def test_html() -> None:
    reader = Reader()
    reader.feed(render_html(PAGE))
    reader.close()
    assert reader.open == []
    expected = [word for word in words(render_text(PAGE)) if word]
    assert sorted("".join(reader.words).replace(",", "")) == sorted("".join(expected).replace(",", ""))


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[Page, int], list[str]]:
    """The lines on a terminal, without colours."""
    from aspenpy.tables.terminal import render_terminal

    monkeypatch.setenv("TERM", "xterm-256color")
    return lambda page, columns: re.sub(r"\x1b\[[0-9;]*m", "", render_terminal(page, columns)).splitlines()


def test_terminal(on_terminal: Callable[[Page, int], list[str]]) -> None:
    ours = [line for line in render_text(PAGE).splitlines() if "─" not in line]
    assert [line.rstrip() for line in on_terminal(PAGE, 100) if "─" not in line] == ours


def test_narrow_terminal(on_terminal: Callable[[Page, int], list[str]]) -> None:
    lines = on_terminal(PAGE, 30)
    assert max(map(len, lines)) <= 30
    assert words("\n".join(lines)) == words(render_text(PAGE, 30))


def test_csv() -> None:
    table = PAGE[2]
    assert isinstance(table, Table)
    assert list(csv.reader(write_csv(table).splitlines())) == [
        ["kernel", "time", "why"],
        ["k<1>", "0.0015", 'a "quoted", thing'],
        ["k2", "1.5", ""],
        ["k3", "12", ""],
    ]


@given(st.text())
def test_characters_of_html_are_escaped(text: str) -> None:
    assert escape_html(text) == html.escape(text)


def test_warnings_have_a_heading_and_a_place_to_link_to() -> None:
    report = Report(
        "work/1", "work", {}, (Paragraph("Some words."),), diagnostics=(warning("lost", "a <thing> is lost"),)
    )
    page = write_html(document_of(report, ()))
    assert re.search(r'<h2 id="warnings">Warnings</h2>\s*<ul>\s*<li>a &lt;thing&gt; is lost</li>', page)
    assert "Warnings" not in write_html(document_of(report.replace(diagnostics=()), ()))
