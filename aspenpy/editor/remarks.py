"""Remarks: what is wrong with a file while it is being typed, and how to mend it."""

from __future__ import annotations

import re

from aspenpy.editor.meaning import Remark, Stretch
from aspenpy.editor.pieces import syntax_errors
from aspenpy.editor.text import move_offset
from aspenpy.language.source import Span
from aspenpy.record import NamedTuple


class Fix(NamedTuple):
    """A text in the place of another one."""

    title: str
    start: int
    end: int
    text: str


def syntax_remarks(path: str, text: str) -> list[Remark]:
    """The mistakes in the pieces of an application, found without reading the others again."""

    def place(span: Span | None, begin: int) -> Stretch:
        return Stretch(path, begin, begin) if span is None else Stretch(path, begin + span.start, begin + span.end)

    return [
        Remark(
            place(error.span, begin),
            error.severity,
            error.code,
            error.message,
            error.hint or "",
            tuple((place(item.span, begin), item.label) for item in error.related),
        )
        for begin, error in syntax_errors(text)
    ]


def move_remarks(remarks: list[Remark], path: str, start: int, end: int, length: int) -> list[Remark]:
    """Remarks after an edit of a file: moved with the text; what the edit touched is gone."""
    result = []
    for remark in remarks:
        place = _move_stretch(remark.place, path, start, end, length)
        if place is not None:
            related = ((_move_stretch(item, path, start, end, length), label) for item, label in remark.related)
            told = tuple((item, label) for item, label in related if item is not None)
            result.append(remark._replace(place=place, related=told))
    return result


def _move_stretch(place: Stretch, path: str, start: int, end: int, length: int) -> Stretch | None:
    if place.path != path:
        return place
    if place.end <= start:
        return place
    first, last = move_offset(place.start, start, end, length), move_offset(place.end, start, end, length)
    return None if first is None or last is None or place.start <= start else Stretch(path, first, last)


# -- mending ---------------------------------------------------------------------------------------

_QUOTED = re.compile(r"`([^`]+)`")
_WRITE = re.compile(r"write `([^`]+)`(?: for a quarter)?\Z")
_ARRAY = re.compile(r"write `param (\w+(?:\[\])+) = ")


def fixes(remark: Remark, text: str) -> list[Fix]:
    """What the hint of a remark proposes, where it can be put in the place of what is wrong."""
    start, end = remark.place.start, remark.place.end
    wrong = text[start:end]
    if remark.hint.startswith("did you mean"):
        spelled = next((word for word in reversed(_QUOTED.findall(remark.message)) if word in wrong), wrong)
        place = re.search(rf"(?<!\w){re.escape(spelled)}(?!\w)", wrong)
        if place is None:
            return []
        first, last = start + place.start(), start + place.end()
        return [Fix(f"Change to `{word}`", first, last, word) for word in _QUOTED.findall(remark.hint)]
    array = _ARRAY.match(remark.hint)
    if array is not None:
        return [Fix(f"Change to `{array[1]}`", start, end, array[1])]
    write = _WRITE.match(remark.hint)
    if write is not None and "..." not in write[1] and f"`{wrong}`" in remark.message:
        return [Fix(f"Change to `{write[1]}`", start, end, write[1])]
    return []
