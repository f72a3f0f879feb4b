"""The library as a report: names and what their models say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aspenpy.language.source import Source
from aspenpy.models.library import Kind, find, names
from aspenpy.models.machine.texts import Header, header
from aspenpy.tables.formats import objects
from aspenpy.tables.table import JSON, Column, Paragraph, Report, table

Sources = Mapping[str, Source]  # models by name
Wanted = Callable[[str, Header], bool]  # whether a machine, of which the name and the header are given, is to be listed

COLUMNS = (
    Column("name", get=lambda item: item[0]),
    Column("what it is", key="summary", get=lambda item: summary(item[1]), wrapped=True),
)


def _said(name: str) -> Column:
    """Something that a machine's header says."""
    return Column(name, get=lambda item: getattr(header(item[1].text), name), media=JSON)


MACHINES = tuple(map(_said, ("kind", "vendor", "year")))


def sources(kind: Kind, wanted: Wanted | None = None) -> Sources:
    """The models of the library; with `wanted` only those."""
    by_name = {name: find(kind, name) for name in names(kind)}
    if wanted is None:
        return by_name
    return {name: source for name, source in by_name.items() if wanted(name, header(source.text))}


def report_library(kind: Kind, listed: Sources) -> Report:
    """A table of the names with their summaries; of machines also kind, vendor and year."""
    heads = COLUMNS + MACHINES if kind == "machines" else COLUMNS
    nothing = () if listed else (Paragraph("There is none like that in the library."),)
    models = table(heads, listed.items())
    return Report("", {}, (models, *nothing), array=objects(models.within("json")))


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
