"""The library as a page and as JSON: names and what their models say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aspenpy.library import Kind, find, names
from aspenpy.machine.header import Header, header
from aspenpy.present.page import Page, Paragraph
from aspenpy.present.table import Column, Table
from aspenpy.source import Source

COLUMNS = (Column("name"), Column("what it is", wrapped=True))

Sources = Mapping[str, Source]
"""Models by name."""

Wanted = Callable[[str, Header], bool]
"""Whether a machine, of which the name and the header are given, is to be listed."""


def sources(kind: Kind, wanted: Wanted | None = None) -> Sources:
    """The models of the library; with `wanted` only those."""
    found = {name: find(kind, name) for name in names(kind)}
    if wanted is None:
        return found
    return {name: source for name, source in found.items() if wanted(name, header(source.text))}


def page(listed: Sources) -> Page:
    """A table of the names with their summaries."""
    if not listed:
        return (Paragraph("There is none like that in the library."),)
    return (Table(COLUMNS, tuple((name, summary(source)) for name, source in listed.items())),)


def as_json(kind: Kind, listed: Sources) -> list[dict[str, Any]]:
    """A list of objects with `name` and `summary`, of machines also with `kind`, `vendor` and `year`."""
    found: list[dict[str, Any]] = []
    for name, source in listed.items():
        found.append({"name": name, "summary": summary(source)})
        if kind == "machines":
            said = header(source.text)
            found[-1] |= {"kind": said.kind, "vendor": said.vendor, "year": said.year}
    return found


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
