"""Documents as Markdown, for repositories and wikis. Pictures are left out: their tables say the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from aspenpy.tables.document import (
    Block,
    Code,
    Document,
    Link,
    Listing,
    Picture,
    Points,
    Section,
    Sentence,
    Sheet,
    Span,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def as_markdown(document: Document) -> str:
    parts = [f"# {_plain(document.title)}", *(_BLOCKS[type(block)](block) for block in document.blocks)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _plain(text: str) -> str:
    """Text in which nothing is markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _span(span: Span) -> str:
    if isinstance(span, Link):
        return f"[{_plain(span.text)}](#{span.anchor})"
    if isinstance(span, Code):
        return _code(span.text)
    return _plain(span)


def _code(text: str) -> str:
    """In more backticks than the text has in a row."""
    line = " ".join(text.split()).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence}{line}{fence}" if not longest else f"{fence} {line} {fence}"


def _words(words: tuple[Span, ...]) -> str:
    return "".join(_span(span) if isinstance(span, Link | Code) else _inner(span) for span in words)


def _inner(text: str) -> str:
    """Between other spans, where spaces at the ends count."""
    return _SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", text))


def _anchored(anchor: str) -> str:
    return f'<a id="{anchor}"></a>' if anchor else ""


def _sheet(part: Sheet) -> str:
    sides = ["--:" if place in part.numbers else ":--" for place in range(len(part.heads))]
    lines = [[_plain(head) for head in part.heads], sides, *([_span(cell) for cell in row] for row in part.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _listing(part: Listing) -> str:
    longest = max(map(len, re.findall("`+", part.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{part.text}\n{fence}"


_BLOCKS: dict[type[Block], Callable[[Any], str]] = {
    Section: lambda part: f"{'#' * (part.level + 1)} {_anchored(part.anchor)}{_plain(part.title)}",
    Sentence: lambda part: _anchored(part.anchor) + _words(part.words),
    Points: lambda part: "\n".join(f"* {_words(item)}" for item in part.items),
    Sheet: _sheet,
    Listing: _listing,
    Picture: lambda part: "",
}
