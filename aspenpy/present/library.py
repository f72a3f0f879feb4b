"""The library as a page and as JSON: names and what their models say of themselves."""

from __future__ import annotations

from typing import Any

from aspenpy.library import Kind, find, names
from aspenpy.present.page import Page
from aspenpy.present.table import Column, Table
from aspenpy.source import Source

COLUMNS = (Column("name"), Column("what it is", wrapped=True))


def page(kind: Kind) -> Page:
    """A table of the names with their summaries."""
    return (Table(COLUMNS, tuple(summaries(kind).items())),)


def as_json(kind: Kind) -> list[dict[str, Any]]:
    """A list of objects with `name` and `summary`."""
    return [{"name": name, "summary": text} for name, text in summaries(kind).items()]


def summaries(kind: Kind) -> dict[str, str]:
    return {name: summary(find(kind, name)) for name in names(kind)}


def summary(source: Source) -> str:
    """The first sentence of the comment that a model begins with, less the model's name."""
    written = []
    for line in source.text.splitlines():
        if not line.startswith("//") or not line.removeprefix("//").strip():
            break
        written.append(line.removeprefix("//").strip())
    text = " ".join(written)
    name, colon, rest = text.partition(": ")
    return rest if colon and name.isidentifier() else text
