"""The lines `// kind: cpu`, `// vendor: Intel`, `// year: 2014` that a machine's file begins with."""

from __future__ import annotations

import re

from aspenpy.record import Record

_LINE = re.compile(r"// *+(kind|vendor|year): *+(.*\S)")


class Header(Record):
    """What a machine is listed under; None for what its file does not say."""

    kind: str | None
    vendor: str | None
    year: int | None


def header(text: str) -> Header:
    """The header of a file's text: the comment lines that it begins with."""
    facts: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        match = _LINE.fullmatch(line.rstrip())
        if match:
            facts.setdefault(match[1], match[2])
    year = facts.get("year", "")
    return Header(facts.get("kind"), facts.get("vendor"), int(year) if re.fullmatch(r"[0-9]{1,4}", year) else None)
