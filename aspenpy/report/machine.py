"""A Machine as a report: its tree, what it offers at most, what it declares; two machines side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from aspenpy.answers.network import Network, has_network
from aspenpy.answers.peaks import Peak, combined_rate, peaks, value_of
from aspenpy.answers.side_by_side import LARGE, Pair, SideBySide
from aspenpy.cost.assumed import YEAR
from aspenpy.expr import graph
from aspenpy.expr.printer import shorten_text
from aspenpy.language import nodes
from aspenpy.language.dimensions import format_quantity, unit_symbol
from aspenpy.language.lower import Lowering, lower_guarded
from aspenpy.language.source import Span
from aspenpy.language.statements import declarations_by_name
from aspenpy.models.machine.model import OWNER, Machine, Place
from aspenpy.models.machine.properties import PROPERTY_DIMENSIONS
from aspenpy.models.machine.texts import STANDINGS, NumberOrigin, provenance
from aspenpy.models.units import Units
from aspenpy.report import network as networks
from aspenpy.report.listings import Declared, ListingTree, declaration_table, tree_lines
from aspenpy.tables.formats import rows_as_objects
from aspenpy.tables.numbers import Amount, unit_of_resource
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import DATA, JSON, TEXT, Column, Paragraph, Report, Table, make_columns, make_table

UNITS = {
    "tree": {"static_power": "W", "dynamic_power": "W"},
    "peaks": {"sp_flops": "flop/s", "dp_flops": "flop/s", "memory_bandwidth": "B/s", "latency": "s"},
}
PEAKS = (
    Column("resource"),
    Column("as", get=lambda peak: ", ".join(peak.traits) or None, media=TEXT),
    Column("traits", media=JSON),
    Column("of one", "amount", get=lambda peak: Amount(peak.rate, unit_of(peak)), media=TEXT),
    Column("of all", "amount", get=lambda peak: _rate_of_all(peak), media=TEXT),
    Column("count", media=JSON),
    Column("rate", media=JSON),
    Column("unit", get=lambda peak: unit_of(peak), media=JSON),
    Column("latency", unit="s", get=lambda peak: peak.latency or None, media=TEXT),
    Column("latency", media=JSON),
    Column("formula", get=lambda peak: shorten_text(peak.formula), media=JSON),
)
SOURCES = (
    Column("number", get="name", media=TEXT),
    Column("name", media=JSON),
    Column("as written", key="written"),
    Column("known"),
    Column("file", get=lambda origin: origin.span.resolve().source.name, media=JSON),
    Column("line", get=lambda origin: origin.span.position().line, media=JSON),
    Column("line", get=lambda origin: _first_line(origin.span), media=TEXT),
    Column("comment", wrapped=True),
)
AS_ABOVE = "as above"  # what is said of a number with the same comment as the one before, such as that of its component


def report_machine(machine: Machine, summary: str | None = None) -> Report:
    """Tree, peaks, formulas, properties, parameters and sources; null where the machine alone gives no value."""
    rates_of_all = peaks(machine)
    network = Network(machine) if has_network(machine) else None
    origins = provenance(machine)
    data = {
        "machine": machine.name,
        "summary": summary,
        "sockets": list(machine.sockets),
        "tree": _branch_as_data(machine, tree_of(machine)),
        "peaks": {
            "sp_flops": combined_rate(rates_of_all, "flops", "sp"),
            "dp_flops": combined_rate(rates_of_all, "flops", "dp"),
            "memory_bandwidth": combined_rate(rates_of_all, "loads"),
            "resources": rows_as_objects(make_table(_peak_columns(rates_of_all), rates_of_all).select_columns("json")),
        },
        "network": network and networks.figures_object(network),
    }
    rates = [peak for peak in rates_of_all if peak.rate is not None]
    counts = Counter(origin.known for origin in origins)
    shares = ", ".join(f"{counts[standing]} {standing}" for standing in STANDINGS if counts[standing])
    parts = (
        _tabulate_components(machine),
        make_table(_peak_columns(rates_of_all), rates, title="peaks", media=TEXT),
        _formulas_table(machine, rates_of_all),
        *(() if network is None else (networks.figures(network),)),
        declaration_table("properties", properties_of(machine)),
        declaration_table("parameters", parameters_of(machine)),
        make_table(SOURCES, _mark_repeats(origins), title="sources", media=TEXT),
        *((Paragraph(f"of {len(origins)} numbers {shares}"),) if origins else ()),
        make_table(SOURCES, origins, "sources", media=JSON),
    )
    headline = f"machine {machine.name}: {summary}" if summary else f"machine {machine.name}"
    units = UNITS if network is None else {**UNITS, "network": networks.UNITS}
    return Report("machine/1", headline, data, parts, tuple(machine.warnings), units=units)


register_report(Machine, report_machine)


# -- the tree --------------------------------------------------------------------------------------


def tree_of(machine: Machine) -> ListingTree[Place]:
    """The places of a machine, each below the one it is part of."""
    root, *rest = machine.places()
    tree = ListingTree(root, [])
    last = {root.path: tree}
    for place in rest:
        inner = ListingTree(place, [])
        last[place.path[:-1]].branches.append(inner)
        last[place.path] = inner
    return tree


def _tabulate_components(machine: Machine) -> Table:
    rows = tuple(
        (prefix + place.component.name, _type_of(machine, place), *_numbers(machine, place), _describe_offers(place))
        for prefix, place in tree_lines(tree_of(machine))
    )
    heads = (
        *make_columns("component type"),
        Column("in all", "count"),
        Column("static", unit="W"),
        Column("dynamic", unit="W"),
        Column("offers", wrapped=True),
    )
    return Table(heads, rows, media=TEXT, sparse=True)


def _type_of(machine: Machine, place: Place) -> str:
    """The type of a component, and the component that it is like."""
    base = machine.bases.get(place.component.name)
    return place.component.type + (f" like {base}" if base else "")


def _numbers(machine: Machine, place: Place) -> tuple[Any, Any, Any]:
    """Number of a component, and the watts that one consumes."""
    watts = [place.component.power.get(kind) for kind in ("static", "dynamic")]
    static, dynamic = (None if expr is None else value_of(expr, machine.definitions) for expr in watts)
    return value_of(place.count, machine.definitions), static, dynamic


def _describe_offers(place: Place) -> str | None:
    return ", ".join(place.component.resources) or None


def _branch_as_data(machine: Machine, tree: ListingTree[Place]) -> dict[str, Any]:
    count, static, dynamic = _numbers(machine, tree.item)
    return {
        "name": tree.item.component.name,
        "type": tree.item.component.type,
        **({"like": machine.bases[name]} if (name := tree.item.component.name) in machine.bases else {}),
        "count": count,
        "static_power": static,
        "dynamic_power": dynamic,
        "resources": list(tree.item.component.resources),
        "parts": [_branch_as_data(machine, part) for part in tree.branches],
    }


# -- what it offers --------------------------------------------------------------------------------


def _peak_columns(known: Sequence[Peak]) -> tuple[Column, ...]:
    name = Column("component", get=lambda peak: _describe_component(peak, known), wrapped=True, media=TEXT)
    path = Column("component", get=lambda peak: "/".join(peak.path), media=JSON)
    return (*PEAKS, name, path)


def unit_of(peak: Peak) -> str:
    """The unit of the rate of a peak."""
    return f"{unit_of_resource(peak.resource) or '1'}/s"


def _rate_of_all(peak: Peak) -> Amount | None:
    return None if peak.rate is None or peak.count is None else Amount(peak.rate * peak.count, unit_of(peak))


def _describe_component(peak: Peak, known: Sequence[Peak]) -> str:
    """The name of a component; its path where it stands in several places."""
    name = peak.path[-1]
    return name if len({other.path for other in known if other.path[-1] == name}) == 1 else "/".join(peak.path)


def _formulas_table(machine: Machine, known: Sequence[Peak]) -> Table:
    """Times that are no straight line, and traits that take an argument."""
    rows = [
        (
            peak.resource,
            ", ".join(peak.traits) or None,
            shorten_text(peak.formula),
            _describe_component(peak, known),
        )
        for peak in known
        if peak.rate is None
    ]
    for component in machine.components.values():
        for resource in component.resources.values():
            rows += [
                (resource.name, f"{trait.name}({trait.argument.name})", shorten_text(trait.time), component.name)
                for trait in resource.traits.values()
                if trait.argument is not None
            ]
    heads = (*make_columns("resource as"), Column("seconds of an amount", wrapped=True), Column("component"))
    return Table(heads, tuple(rows), title="formulas", media=TEXT)


# -- what it declares ------------------------------------------------------------------------------


def properties_of(machine: Machine) -> list[Declared]:
    """The properties of the components, under their full names."""
    declared = []
    for node in machine.node.components:
        own = declarations_by_name(nodes.Property, node.items)
        written = {name: item.value for name, item in own.items() if item.value is not None}
        units = Units(_expressions_by_name(machine) | written)
        for name, item in machine.components[node.name].properties.items():
            value = None if item.value is None else value_of(item.value, machine.definitions)
            unit = units.of(written[name]) or _conventional_unit(name, written[name]) if name in written else ""
            declared.append(Declared(f"{node.name}.{name}", value, unit, low=None, high=None, node=own[name]))
    return declared


def _conventional_unit(name: str, written: nodes.Expression) -> str:
    """The unit of a property of that name where its formula does not tell; a number without one stays as it is."""
    dimension = None if isinstance(written, nodes.Number) else PROPERTY_DIMENSIONS.get(name)
    return "" if dimension is None else unit_symbol(dimension)


def parameters_of(machine: Machine) -> list[Declared]:
    """The parameters with their values; None where the machine alone does not tell it."""
    units, known = Units(_expressions_by_name(machine)), machine.definitions
    lower = Lowering(lambda node: machine.lookup(node.name) or graph.symbol(node.name, OWNER), {})
    declared = []
    for name, node in machine.declared.items():
        low, high = (
            None if end is None else value_of(lower_guarded(lower, end), known) for end in (node.low, node.high)
        )
        value = value_of(graph.symbol(name, OWNER), known)
        declared.append(Declared(name, value, units.of(node.value), low=low, high=high, node=node))
    return declared


def _mark_repeats(origins: Sequence[NumberOrigin]) -> Iterator[NumberOrigin]:
    """The numbers, with `AS_ABOVE` in the place of a comment that is that of the one before."""
    said = ""
    for origin in origins:
        yield origin.replace(comment=AS_ABOVE) if origin.comment == said else origin
        said = origin.comment


def _first_line(span: Span) -> str:
    return f"{Path(span.resolve().source.name).name}:{span.position().line}"


def _expressions_by_name(machine: Machine) -> dict[str, nodes.Expression]:
    return {name: node.value for name, node in machine.declared.items()}


# -- two machines side by side ---------------------------------------------------------------------


def report_side_by_side(side_by_side: SideBySide) -> Report:
    """Report with each property of two machines, and the change from the first to the second; large ones stand out."""
    first, second = side_by_side.titles
    columns = (
        Column("part"),
        Column("property", get="name"),
        Column(first, align="right", media=TEXT, get=lambda pair: _format_side(pair, pair.first)),
        Column(second, align="right", media=TEXT, get=lambda pair: _format_side(pair, pair.second)),
        Column(first, media=DATA, get="first"),
        Column(second, media=DATA, get="second"),
        Column("unit", media=DATA),
        Column("change", _format_percent, "right"),
    )
    marked = frozenset(index for index, pair in enumerate(side_by_side.pairs) if abs(pair.change or 0) > LARGE)
    changed = len(marked)
    both = sum(pair.change is not None for pair in side_by_side.pairs)
    data = {"machines": [side_by_side.first.name, side_by_side.second.name], "differ": changed, "compared": both}
    title = f"{first} and {second}: {changed} of {both} properties differ by more than {LARGE:.0%}"
    return Report(
        "machine_differences/1", title, data, (make_table(columns, side_by_side.pairs, "properties", marked=marked),)
    )


register_report(SideBySide, report_side_by_side)


def _format_percent(value: float) -> str:
    return f"{100 * value:+.0f} %"


def _format_side(pair: Pair, value: float | None) -> str | None:
    if value is None:
        return None
    return f"{value:g}" if pair.name == YEAR else format_quantity(value, pair.unit)
