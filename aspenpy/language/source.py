"""Source and Span: where a piece of a model was written.

A span is two offsets and a source. Lines and columns exist only where they are printed.
"""

from __future__ import annotations

import gc
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager

from aspenpy.record import NamedTuple


class Source:
    """The text of one file (or of a string given in Python), with the files it includes. A line out of a longer text
    is its `first_line`.

    `include` splices another file's tokens into this one's. Their offsets start where the text so
    far ends, so that one pair of integers says both which file and where in it.

    `in_library` is the way to a file from the folder of the library, where it was found there and not
    by a path that the user gave. `checked` is whether its dimensions are known to agree.
    """

    __slots__ = ("checked", "first_line", "in_library", "included", "name", "path", "text")

    def __init__(
        self,
        text: str,
        name: str = "<text>",
        path: str | None = None,
        first_line: int = 1,
        in_library: str | None = None,
    ) -> None:
        self.text, self.name, self.path = text, name, path
        self.first_line, self.in_library = first_line, in_library
        self.included: list[tuple[int, Source]] = []
        self.checked = False

    def splice(self, other: Source) -> int:
        """Adds an included file and returns the offset at which its text begins."""
        last_base, last = self.included[-1] if self.included else (0, self)
        base = last_base + len(last.text) + 1
        self.included.append((base, other))
        return base

    def with_text(self, text: str) -> Source:
        """The same file with another text, and nothing included."""
        return Source(text, self.name, self.path, self.first_line, self.in_library)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and (self.name, self.text) == (other.name, other.text)

    def __hash__(self) -> int:
        return hash((self.name, self.text))

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"


class Position(NamedTuple):
    """Line and column, both counted from 1."""

    line: int
    column: int


class Span(NamedTuple):
    """The characters from `start` up to `end` of a source (see `Source.splice` for included files)."""

    source: Source
    start: int
    end: int

    def resolve(self) -> Span:
        """The same place, told in the offsets of the file it is in."""
        if self.start <= len(self.source.text) or not self.source.included:
            return Span(self.source, self.start, max(self.start, min(self.end, len(self.source.text))))
        index = bisect_right(self.source.included, self.start, key=lambda entry: entry[0]) - 1
        base, file = self.source.included[index]
        return Span(file, self.start - base, max(self.start - base, min(self.end - base, len(file.text))))

    def position(self) -> Position:
        """Line and column of the first character in its own file."""
        source, start, _ = self.resolve()
        line = source.text.count("\n", 0, start) + source.first_line
        return Position(line, start - (source.text.rfind("\n", 0, start) + 1) + 1)

    def end_position(self) -> Position:
        """Line and column just behind the last character in its own file."""
        source, _, end = self.resolve()
        return Span(source, end, end).position()

    def text(self) -> str:
        """The characters themselves."""
        source, start, end = self.resolve()
        return source.text[start:end]

    def place(self) -> str:
        """File, line and column as a reader wants them: files of the library without the way to it."""
        source = self.resolve().source
        if source.in_library is None:
            return str(self)
        line, column = self.position()
        return f"{source.in_library}:{line}:{column} in the library"

    def __str__(self) -> str:
        line, column = self.position()
        return f"{self.resolve().source.name}:{line}:{column}"


# -- parts of a text, each of which knows where it stands -----------------------------------------

_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def trim_span(span: Span) -> Span:
    """The span without white space at its ends."""
    text = span.text()
    start = span.start + len(text) - len(text.lstrip())
    return Span(span.source, start, max(start, span.start + len(text.rstrip())))


def split_at_commas(span: Span) -> list[Span]:
    """The parts between commas that stand in no brackets; of nothing none."""
    cuts = [place for place in _offsets_outside_brackets(span) if span.source.text[place] == ","]
    starts, ends = [span.start, *(place + 1 for place in cuts)], [*cuts, span.end]
    parts = [trim_span(Span(span.source, start, end)) for start, end in zip(starts, ends, strict=True)]
    return parts if len(parts) > 1 or parts[0].text() else []


def split_at_sign(span: Span, sign: str) -> tuple[Span, Span] | None:
    """Parts before and behind the first such sign outside brackets; None where there is none."""
    text = span.source.text
    for place in _offsets_outside_brackets(span):
        if text.startswith(sign, place, span.end):
            before, behind = Span(span.source, span.start, place), Span(span.source, place + len(sign), span.end)
            return trim_span(before), trim_span(behind)
    return None


def _offsets_outside_brackets(span: Span) -> list[int]:
    """The offsets of the characters that stand in no brackets."""
    depth, places = 0, []
    for index in range(span.start, span.end):
        depth = max(0, depth + _BRACKETS.get(span.source.text[index], 0))
        if not depth:
            places.append(index)
    return places


# -- garbage collection ----------------------------------------------------------------------------


MANY_NODES = 2_000
"""New objects from which on it is worth to keep the collector from looking through them."""


@contextmanager
def pause_collection() -> Iterator[None]:
    """Looking for cycles in a million new nodes that have none takes a third of the time of making them.

    Freezing and thawing hands the nodes to the oldest generation, so that the next look at the youngest
    need not go through all of them. What others have frozen is left as it is; Python counts that object by
    object, which takes longer than all else in a server that froze its heap, so that it is asked for many nodes only.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_count()[0] > MANY_NODES and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
