"""Texts that are cut: whole at the limit, and no longer than the limit one character beyond it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from aspenpy.expr import graph
from aspenpy.expr.printer import shorten_text
from aspenpy.generate.flow_comments import formula
from aspenpy.language.tokens import LiteralError, read_number, shorten_word_line
from aspenpy.report.explanation import LONGEST_FORMULA as LONGEST_EXPLAINED
from aspenpy.report.roofline_picture import LONGEST_ROOF
from aspenpy.tables.drawing import LONGEST_TITLE, drop_middle
from aspenpy.tables.numbers import format_setting
from aspenpy.traces.text_formats import shorten_line


def expression(length: int) -> graph.Expr:
    return graph.symbol("x" * length)


CUT: dict[str, tuple[int, Callable[[int], str]]] = {
    "an expression": (80, lambda length: shorten_text(expression(length))),
    "a formula in a comment of C": (300, lambda length: formula(expression(length))),
    "a formula of an explanation": (400, lambda length: shorten_text(expression(length), LONGEST_EXPLAINED)),
    "a stray line of a model": (40, lambda length: shorten_word_line("x" * length + "\nmore")),
    "a line of a trace": (60, lambda length: shorten_line(b"x" * length)),
    "a name in a picture": (34, lambda length: drop_middle("x" * length)),
    "a title of a picture": (90, lambda length: drop_middle("x" * length, LONGEST_TITLE)),
    "a roof of a picture": (44, lambda length: drop_middle("x" * length, LONGEST_ROOF)),
}


@pytest.mark.parametrize("what", CUT)
def test_a_text_is_whole_up_to_its_limit(what: str) -> None:
    limit, write = CUT[what]
    for length in (limit - 1, limit):
        assert write(length) == "x" * length
    cut = write(limit + 1)
    assert len(cut) <= limit
    assert cut != "x" * len(cut), "an ellipsis says that there is more"


def test_a_setting_is_whole_up_to_its_limit() -> None:
    """Of elements with one digit each: braces, and `, ` between them."""
    for count, is_whole in ((20, True), (21, False)):
        text = "{" + ", ".join("7" * count) + "}"
        assert (format_setting((7,) * count) == text) == is_whole
        assert len(format_setting((7,) * count)) == 60


def test_a_number_has_at_most_so_many_characters() -> None:
    assert read_number("7" * 4000) == int("7" * 4000)
    with pytest.raises(LiteralError, match="4,001 characters long; 4,000"):
        read_number("7" * 4001)
