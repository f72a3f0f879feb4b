"""Line: a line that somebody typed, and its parts, each of which knows where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.source import Source, Span, trim_span

COMMENT = "//"  # begins a comment, as in a model


def read_line(text: str, name: str = "<input>", number: int = 1) -> Span:
    """A line with neither the comment at its end nor white space around it; `number` is its line in what was typed."""
    source = Source(text, name, first_line=number)
    return trim_span(Span(source, 0, len(text.partition(COMMENT)[0])))


def first_word(span: Span) -> tuple[Span, Span]:
    """The first word, and what is behind it."""
    match = re.match(r"\S*", span.text())
    end = span.start + (match.end() if match else 0)
    return Span(span.source, span.start, end), trim_span(Span(span.source, end, span.end))


def around(span: Span, word: str) -> tuple[Span, Span] | None:
    """What stands before and behind the last such word; None where there is none."""
    matches = list(re.finditer(rf"(?<!\S){word}(?!\S)", span.text()))
    if not matches:
        return None
    start, end = span.start + matches[-1].start(), span.start + matches[-1].end()
    return trim_span(Span(span.source, span.start, start)), trim_span(Span(span.source, end, span.end))


def refuse_line(what: str, place: Span, usage: str) -> NoReturn:
    """Refuses a line in which something else should stand there."""
    fail("bad-line", f"expected {what}", place, hint=f"write `{usage}`")


def identifier(span: Span, what: str, usage: str) -> str:
    """The name that stands there."""
    text = span.text()
    if not re.fullmatch(r"[^\W\d]\w*", text):
        refuse_line(what, span, usage)
    return text


HINTS = {
    "--set": "set",
    "--socket": "socket",
    "--ranks-on": "ranks-on",
    "--ranks-per-node": "ranks-per-node",
    "--distribution": "distribution",
    "--kernel": "kernel",
}
"""What an option of the command line is called here."""

_OPTION = re.compile("|".join(HINTS))


@contextmanager
def place_errors(span: Span) -> Iterator[None]:
    """Errors without a place get that one in the line, and their hints the words of a session."""
    try:
        yield
    except AspenError as error:
        placed = (item.replace(span=item.span or span, hint=_in_a_session(item.hint)) for item in error.diagnostics)
        raise AspenError(*placed) from None


def _in_a_session(hint: str | None) -> str | None:
    return hint and _OPTION.sub(lambda option: HINTS[option[0]], hint)
