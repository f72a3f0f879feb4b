"""Lists: the library; parameters and properties with values, units and ranges; trees of components and kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from aspenpy.answers.figures import Figures
from aspenpy.language import nodes
from aspenpy.language.source import Source, Span
from aspenpy.models.library import Kind, find_source, library_names
from aspenpy.models.machine.texts import Header, read_header
from aspenpy.record import Record
from aspenpy.tables.numbers import Amount, format_setting_with_unit
from aspenpy.tables.table import JSON, TEXT, Column, Paragraph, Report, Table, make_table


class Declared(Record):
    """A name with its value in base units (None where the model alone does not tell it), the base unit (empty for a
    plain number), the ends of its range if it has one, and how it was written."""

    name: str
    value: Any
    unit: str
    low: Any
    high: Any
    node: nodes.Parameter | nodes.Property


def declaration_table(key: str, declarations: Iterable[Declared]) -> Table:
    """The names with their values."""
    return make_table(DECLARED, declarations, key, title=key, sparse=True, media=TEXT + JSON)


def value_text(item: Declared) -> str | None:
    """A literal in the spelling of its author, who prefers 32 KiB to 32.8 kB."""
    if isinstance(item.node.value, nodes.Number):
        return item.node.value.spelling
    return None if item.value is None else format_setting_with_unit(Amount(item.value, item.unit))


def range_text(item: Declared) -> str | None:
    """The range as its author spelt it, with what else is said of the values."""
    node = item.node
    if isinstance(node, nodes.Property):
        return None
    if node.member_of is not None:
        return node.member_of
    words = (
        []
        if node.low is None or node.high is None
        else [f"{_text_of_span(node.low.span)} .. {_text_of_span(node.high.span)}"]
    )
    if node.per_rank:
        words.append("per rank")
    if node.counts is not None:
        words.append(f"with {_text_of_span(node.counts.span).removeprefix('with ')}")
    return " ".join(words) or None


def _write_definition(item: Declared) -> str | None:
    """The expression, in the spelling of its author; nothing for a plain number."""
    value = item.node.value
    return None if value is None or isinstance(value, nodes.Number) else _text_of_span(value.span)


def _text_of_span(span: Span | None) -> str:
    return " ".join(span.text().split()) if span else ""


DECLARED = (
    Column("name"),
    Column("value", get=value_text, media=TEXT),
    Column("value", media=JSON),
    Column("unit", media=JSON),
    Column("range", get=range_text, media=TEXT),
    Column("range", get=lambda it: None if it.low is None or it.high is None else [it.low, it.high], media=JSON),
    Column("defined as", key="definition", get=_write_definition, wrapped=True),
)

# -- trees as lines --------------------------------------------------------------------------------

Item = TypeVar("Item")


class ListingTree(Generic[Item]):
    """An item, and the trees of the items below it."""

    def __init__(self, item: Item, branches: list[ListingTree[Item]]) -> None:
        self.item = item
        self.branches = branches


def tree_lines(root: ListingTree[Item]) -> Iterator[tuple[str, Item]]:
    """Items, the root first, with the lines of the tree that lead to them."""
    waiting = [("", "", root)]
    while waiting:
        prefix, inner, tree = waiting.pop()
        yield prefix, tree.item
        last = len(tree.branches) - 1
        for position in reversed(range(len(tree.branches))):
            turn, below = ("└── ", "    ") if position == last else ("├── ", "│   ")
            waiting.append((inner + turn, inner + below, tree.branches[position]))


class Region(NamedTuple, Generic[Item]):
    """A name with what belongs to it, if anything does."""

    name: str
    item: Item | None


def tree_of_regions(items: Iterable[tuple[tuple[str, ...], Item]], root: str) -> ListingTree[Region[Item]]:
    """A tree of regions, each item a leaf in the last region of its path, or that region itself where it has a label
    of its own. Paths begin with the root; neighbours share what their paths have in common."""
    tree: ListingTree[Region[Item]] = ListingTree(Region(root, None), [])
    for path, item in items:
        place = tree
        inner = path[1:]
        leaf = inner[-1] if inner and inner[-1].startswith('"') else "block"
        for name in inner[:-1] if leaf != "block" else inner:
            if not place.branches or place.branches[-1].item.name != name or place.branches[-1].item.item is not None:
                place.branches.append(ListingTree(Region(name, None), []))
            place = place.branches[-1]
        place.branches.append(ListingTree(Region(leaf, item), []))
    return tree


Sources = Mapping[str, Source]  # models by name
Wanted = Callable[[str, Header], bool]  # whether a machine, of which the name and the header are given, is to be listed

COLUMNS = (
    Column("name", get=lambda item: item[0]),
    Column("what it is", key="summary", get=lambda item: summary(item[1]), wrapped=True),
)


def _header_column(name: str) -> Column:
    """Something that a machine's header says."""
    return Column(name, get=lambda item: getattr(read_header(item[1].text), name), media=JSON)


MACHINES = tuple(map(_header_column, ("kind", "vendor", "year")))


def sources(kind: Kind, wanted: Wanted | None = None) -> Sources:
    """The models of the library; with `wanted` only those."""
    by_name = {name: find_source(kind, name) for name in library_names(kind)}
    if wanted is None:
        return by_name
    return {name: source for name, source in by_name.items() if wanted(name, read_header(source.text))}


def report_library(kind: Kind, listed: Sources, figures: Mapping[str, Figures] | None = None) -> Report:
    """A table of the names with their summaries; of machines also kind, vendor and year, and `figures` by name."""
    heads = COLUMNS + MACHINES if kind == "machines" else COLUMNS
    if figures is not None:
        year = Column("year", get=lambda item: read_header(item[1].text).year, media=TEXT)
        words = Column("summary", get=lambda item: summary(item[1]), media=JSON)
        heads = (COLUMNS[0], year, *(_figure_column(*row, figures) for row in FIGURES), words, *MACHINES)
    nothing = () if listed else (Paragraph("There is none like that in the library."),)
    return Report(f"{kind}/1", "", {}, (make_table(heads, listed.items(), kind), *nothing))


NETWORK = ("layers", "hidden", "heads", "kv_heads", "experts", "vocabulary")
"""What a table of networks has a column for; other formats have all parameters."""


def report_networks(listed: Mapping[str, Mapping[str, Any]]) -> Report:
    """A table of networks: some of the parameters that stand for each, and where it was published."""
    others = {key for values in listed.values() for key in values} - {*NETWORK, "source"}
    columns = [
        Column("name", get=lambda item: item[0]),
        *(Column(key, "count", get=_parameter(key)) for key in NETWORK),
        *(Column(key, "count", get=_parameter(key), media=JSON) for key in sorted(others)),
        Column("published", get=_parameter("source"), wrapped=True),
    ]
    return Report("networks/1", "", {}, (make_table(columns, listed.items(), "networks"),))


def _parameter(key: str) -> Callable[[tuple[str, Mapping[str, Any]]], Any]:
    return lambda item: item[1].get(key)


def _figure_column(name: str, unit: str, figures: Mapping[str, Figures]) -> Column:
    return Column(name, None if unit else "share", unit=unit, get=lambda item: getattr(figures[item[0]], name))


FIGURES = (("flops", "flop/s"), ("bandwidth", "B/s"), ("capacity", "B"), ("watts", "W"), ("assumed", ""))
"""Figures that machines are sorted by besides their year, and their units."""


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
