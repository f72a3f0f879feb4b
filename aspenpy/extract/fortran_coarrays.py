"""Coarrays of Fortran 2008 and the collectives of 2018, which fparser does not read: what lies on other images becomes
messages, and the text that is left is Fortran 2003 (Reid, "Coarrays in the next Fortran Standard", ISO/IEC
JTC1/SC22/WG5 N1824, 2010; ISO/IEC 1539-1:2018, section 16.9).

A reference with an image, `a(1:n)[k]`, is a message of its bytes: one-sided, from the image that holds them or to it.
"""

from __future__ import annotations

import re

from aspenpy.extract import records as r
from aspenpy.extract.library_functions import COARRAY
from aspenpy.language.source import Span
from aspenpy.record import Record

COLLECTIVES = {
    "co_sum": "allreduce", "co_max": "allreduce", "co_min": "allreduce", "co_reduce": "allreduce",
    "co_broadcast": "broadcast",
}  # fmt: skip
"""The exchange of each collective in the language; with `result_image` those that combine are a `reduce`."""

BARRIERS = frozenset({"sync_all_", "sync_images_", "sync_team_"})
QUIET = frozenset({"sync_memory_"})

_SYNC = re.compile(r"(?i)^(\s*+(?:if\s*+\(.*\)\s*+)?)sync\s++(all|images|memory|team)\b[^!]*+")
_DECLARES = re.compile(r"(?i)::|^\s*+(?:allocate\s*+\(|dimension\b|codimension\b|real\b|integer\b|logical\b|complex\b)")
_STRINGS = re.compile(r"'[^']*+'|\"[^\"]*+\"")
_FUNCTIONS = re.compile(r"(?i)\b(this_image|num_images)\s*+\(\s*+\)")

IMAGE, IMAGES = "image_of_this__", "number_of_images__"
"""Names that stand for `this_image()` and `num_images()`."""


class RemoteReference(Record):
    """A part of an array on another image: its text without the image, and whether it is stored to."""

    text: str
    is_put: bool


def read_coarrays(text: str, is_comment: bool) -> tuple[str, tuple[RemoteReference, ...]]:
    """A line without what fparser does not read of coarrays, and the references to other images in it."""
    lower = text.lower()
    if is_comment or not ("[" in text or "sync" in lower or "_image" in lower):
        return text, ()
    masked = _STRINGS.sub(lambda match: "_" * len(match[0]), text).partition("!")[0]
    if match := _SYNC.match(masked):
        return f"{match[1]}call sync_{match[2].lower()}_()", ()
    found: list[RemoteReference] = []
    is_declaration = _DECLARES.search(masked) is not None
    pieces, at = [], 0
    while (opened := masked.find("[", at)) >= 0:
        closed = masked.find("]", opened)
        before = masked[:opened].rstrip()
        if closed < 0:
            break
        if not before or not (before[-1].isalnum() or before[-1] in "_)"):  # a list of elements
            pieces.append(text[at : opened + 1])
            at = opened + 1
            continue
        if not is_declaration:
            start = _find_designator(before)
            rest = masked[closed + 1 :].lstrip()
            is_put = rest.startswith("=") and not rest.startswith("==")
            found.append(RemoteReference(text[start : len(before)].strip(), is_put))
        pieces.append(text[at : len(before)])
        at = closed + 1
    whole = "".join(pieces) + text[at:]
    whole = re.sub(r"(?i)(?:,\s*+)?\bcodimension\b(?=\s*+(?:,|::))", "", whole) if is_declaration else whole
    names = {"this_image": IMAGE, "num_images": IMAGES}
    return _FUNCTIONS.sub(lambda match: names[match[1].lower()], whole), tuple(found)


def _find_designator(before: str) -> int:
    """Where the variable begins that a text ends with, with its subscripts and components."""
    at, depth = len(before) - 1, 0
    while at >= 0:
        letter = before[at]
        depth += (letter == ")") - (letter == "(")
        if depth < 0 or (depth == 0 and not (letter.isalnum() or letter in "_%()")):
            break
        at -= 1
    return at + 1


def send(exchange: str, note: str, volume: r.Expression, span: Span | None) -> r.Statement:
    """A message of `volume` bytes, or an exchange of all images."""
    call = r.Call(f"{COARRAY} {exchange}".strip(), note, (volume,), r.Type("void"), span)
    return r.ExpressionStatement(call, span)


def image_function(name: str, span: Span | None) -> r.Expression | None:
    """The call that a name of `this_image()` or `num_images()` stands for; None for other names."""
    if name not in (IMAGE, IMAGES):
        return None
    return r.Call(COARRAY, name, (), r.Type("integer", 4), span)
