"""Document: a report to be read from top to bottom, in sections, whose numbers link to where they are explained.

`document_html` writes it as one page, `document_markdown` as Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspenpy.record import Record


class Link(Record):
    """Words that lead to the place with an `anchor`."""

    text: str
    anchor: str


class Code(Record):
    """A command, a formula, or a line of a model."""

    text: str


Span = str | Link | Code
Words = tuple[Span, ...]


class Section(Record):
    """A heading; of the first `level` those that the contents list."""

    title: str
    anchor: str
    level: int = 1


class Sentence(Record):
    """A paragraph; with an `anchor`, where links lead to."""

    words: Words
    anchor: str = ""


class Points(Record):
    """A list of sentences."""

    items: tuple[Words, ...]


class Sheet(Record):
    """A table: its heads, and rows of cells; columns whose place is in `numbers` stand on the right."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Span, ...], ...]
    numbers: frozenset[int] = frozenset()


class Listing(Record):
    """Lines as they are typed or printed."""

    text: str


class Picture(Record):
    """What draws an SVG picture, where it is wanted, and what it shows."""

    draw: Callable[[], str]
    caption: str


Block = Section | Sentence | Points | Sheet | Listing | Picture


class Document(Record):
    """A title and what stands below it."""

    title: str
    blocks: tuple[Block, ...]


def anchor_of(kind: str, name: str) -> str:
    """An anchor of letters, digits and dashes alone."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return f"{kind}-{plain}"


def sheet(heads: Sequence[str], rows: Sequence[Sequence[Span]], numbers: Sequence[int] = ()) -> Sheet:
    return Sheet(tuple(heads), tuple(map(tuple, rows)), frozenset(numbers))
