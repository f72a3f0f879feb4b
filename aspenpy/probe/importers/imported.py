"""What a file of another tool says of a host, and what all readers of such files share."""

from __future__ import annotations

import re
from typing import NoReturn

from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Source, Span
from aspenpy.probe.number import Numbers
from aspenpy.probe.topology import Topology
from aspenpy.record import Record

MOST = 10**6
"""The largest number of anything that there can be in a node."""

MOST_BYTES = 10**15

UNITS = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Imported(Record):
    """The topology and the numbers that a file has, either of which may be missing."""

    host: Topology | None
    numbers: Numbers


def refuse(source: Source, message: str, place: Span | None = None, hint: str | None = None) -> NoReturn:
    """Refuses a file, at a place in it."""
    fail("bad-topology", message, place or Span(source, 0, min(1, len(source.text))), hint=hint)


def count(text: str | None, without: int = 1, most: int = MOST) -> int:
    """A whole number from 1 on; `without` where the text is none, `most` where it is more."""
    found = re.match(r"\s*(\d{1,15})\b", text or "")
    return without if found is None else max(1, min(most, int(found[1])))


def size(text: str) -> int | None:
    """Bytes of `32K`, `1.25 MB`, `32 MiB (1 instance)`; None where there is no number."""
    found = re.match(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(?:i?[Bb])?\b", text.replace("k", "K"))
    return None if found is None else round(float(found[1]) * UNITS[found[2]])
