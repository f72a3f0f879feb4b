"""A Machine as a page and as JSON: its tree, what it offers at most, its properties and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aspenpy.analysis.peaks import Peak, peaks, together
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import excerpt
from aspenpy.machine.model import OWNER, Machine, Place
from aspenpy.machine.provenance import provenance
from aspenpy.present import declared
from aspenpy.present.declared import Declared
from aspenpy.present.numbers import Amount, amount, count, plain, unit_of_resource
from aspenpy.present.page import Page, Title
from aspenpy.present.table import Column, Table
from aspenpy.present.tree import Tree, drawn
from aspenpy.present.units import Units
from aspenpy.source import Span
from aspenpy.syntax import nodes
from aspenpy.syntax.lower import Lowering, guarded

if TYPE_CHECKING:
    from aspenpy.analysis.network import Network

COMPONENTS = (
    Column("component"),
    Column("type"),
    Column("in all", count, "right"),
    Column("static", amount, "unit"),
    Column("dynamic", amount, "unit"),
    Column("offers", wrapped=True),
)
PEAKS = (
    Column("resource"),
    Column("as"),
    Column("of one", amount, "unit"),
    Column("of all", amount, "unit"),
    Column("latency", amount, "unit"),
    Column("component", wrapped=True),
)
SOURCES = (Column("number"), Column("as written"), Column("line"), Column("comment", wrapped=True))
AS_ABOVE = "as above"
"""What is said of a number with the same comment as the one before, such as that of its component."""

FORMULAS = (Column("resource"), Column("as"), Column("seconds of an amount", wrapped=True), Column("component"))


def page(machine: Machine, summary: str | None = None) -> Page:
    """The tree, the peaks, what is no peak but a formula, properties, parameters, where
    the numbers are from."""
    found = peaks(machine)
    tables = (
        _components(machine),
        _peaks(found),
        _formulas(machine, found),
        *_networks(machine),
        declared.table("properties", _properties(machine)),
        declared.table("parameters", _parameters(machine)),
        _sources(machine),
    )
    title = f"machine {machine.name}: {summary}" if summary else f"machine {machine.name}"
    return (Title(title), *(table for table in tables if table.rows))


def as_json(machine: Machine, summary: str | None = None) -> dict[str, Any]:
    """One object; numbers in base units, null where the machine alone does not tell them."""
    return {
        "machine": machine.name,
        "summary": summary,
        "sockets": list(machine.sockets),
        "tree": _branch(machine, tree_of(machine)),
        "peaks": _peaks_object(peaks(machine)),
        "network": _network_object(machine),
        "properties": declared.objects(_properties(machine)),
        "parameters": declared.objects(_parameters(machine)),
        "sources": [
            {
                "name": origin.name,
                "written": origin.written,
                "file": origin.span.resolve().source.name,
                "line": origin.span.position().line,
                "comment": origin.comment,
            }
            for origin in provenance(machine)
        ],
    }


# -- the tree --------------------------------------------------------------------------------------


def tree_of(machine: Machine) -> Tree[Place]:
    """The places of a machine, each below the one it is part of."""
    root, *rest = machine.places()
    tree = Tree(root, [])
    last = {root.path: tree}
    for place in rest:
        inner = Tree(place, [])
        last[place.path[:-1]].branches.append(inner)
        last[place.path] = inner
    return tree


def _components(machine: Machine) -> Table:
    rows = [
        (prefix + place.component.name, place.component.type, *_numbers(machine, place), _offers(place))
        for prefix, place in drawn(tree_of(machine))
    ]
    kept = [number for number in range(len(COMPONENTS)) if any(row[number] is not None for row in rows)]
    return Table(
        tuple(COMPONENTS[number] for number in kept), tuple(tuple(row[number] for number in kept) for row in rows)
    )


def _numbers(machine: Machine, place: Place) -> tuple[Any, Amount | None, Amount | None]:
    """How many there are, and what one of them draws."""
    draws = [place.component.power.get(kind) for kind in ("static", "dynamic")]
    watts = [None if expr is None else _value(machine, expr) for expr in draws]
    static, dynamic = (None if value is None else Amount(value, "W") for value in watts)
    return _value(machine, place.count), static, dynamic


def _offers(place: Place) -> str | None:
    return ", ".join(place.component.resources) or None


def _branch(machine: Machine, tree: Tree[Place]) -> dict[str, Any]:
    found, static, dynamic = _numbers(machine, tree.item)
    return {
        "name": tree.item.component.name,
        "type": tree.item.component.type,
        "count": plain(found),
        "static_power": plain(static.value) if static else None,
        "dynamic_power": plain(dynamic.value) if dynamic else None,
        "resources": list(tree.item.component.resources),
        "parts": [_branch(machine, part) for part in tree.branches],
    }


def _value(machine: Machine, expr: Expr) -> Any:
    """The value; None where the machine alone does not tell it."""
    try:
        return evaluate_many([expr], None, 0, machine.definitions)[0]
    except EvaluationError:
        return None


# -- what it offers --------------------------------------------------------------------------------


def _peaks(found: Sequence[Peak]) -> Table:
    rows = []
    for peak in found:
        if peak.rate is None:
            continue
        one = Amount(peak.rate, _unit(peak))
        together = None if peak.count is None else Amount(peak.rate * peak.count, _unit(peak))
        latency = Amount(peak.latency, "s") if peak.latency else None
        rows.append((peak.resource, ", ".join(peak.traits) or None, one, together, latency, _component(peak, found)))
    return Table(PEAKS, tuple(rows), title="peaks")


def _unit(peak: Peak) -> str:
    """Of its rate."""
    return f"{unit_of_resource(peak.resource) or '1'}/s"


def _component(peak: Peak, found: Sequence[Peak]) -> str:
    """Its name; the way to it where that stands in several places."""
    name = peak.path[-1]
    return name if len({other.path for other in found if other.path[-1] == name}) == 1 else "/".join(peak.path)


def _formulas(machine: Machine, found: Sequence[Peak]) -> Table:
    """Times that are no straight line, and traits that take an argument."""
    rows = [
        (peak.resource, ", ".join(peak.traits) or None, excerpt(peak.formula), _component(peak, found))
        for peak in found
        if peak.rate is None
    ]
    for component in machine.components.values():
        for resource in component.resources.values():
            rows += [
                (resource.name, f"{trait.name}({trait.argument.payload[0]})", excerpt(trait.time), component.name)
                for trait in resource.traits.values()
                if trait.argument is not None
            ]
    return Table(FORMULAS, tuple(rows), title="formulas")


def _peaks_object(found: Sequence[Peak]) -> dict[str, Any]:
    """Of the whole machine, in flop/s and B/s, and each by itself."""
    return {
        "sp_flops": together(found, "flops", "sp"),
        "dp_flops": together(found, "flops", "dp"),
        "memory_bandwidth": together(found, "loads"),
        "resources": [_peak_object(peak) for peak in found],
    }


def _peak_object(peak: Peak) -> dict[str, Any]:
    return {
        "resource": peak.resource,
        "traits": list(peak.traits),
        "component": "/".join(peak.path),
        "count": plain(peak.count),
        "rate": plain(peak.rate),
        "unit": _unit(peak),
        "latency": plain(peak.latency),
        "formula": excerpt(peak.formula),
    }


# -- how its nodes are joined ----------------------------------------------------------------------


def _network(machine: Machine) -> Network | None:
    """None where the machine says no topology."""
    from aspenpy.analysis.network import Network, has_network

    return Network(machine) if has_network(machine) else None


def _networks(machine: Machine) -> tuple[Table, ...]:
    from aspenpy.present.network import figures

    found = _network(machine)
    return () if found is None else (figures(found),)


def _network_object(machine: Machine) -> dict[str, Any] | None:
    from aspenpy.present.network import figures_object

    found = _network(machine)
    return None if found is None else figures_object(found)


# -- what it declares ------------------------------------------------------------------------------


def _properties(machine: Machine) -> list[Declared]:
    found = []
    for node in machine.node.components:
        own = {item.name: item for item in node.items if isinstance(item, nodes.Property)}
        written = {name: item.value for name, item in own.items() if item.value is not None}
        units = Units(_expressions(machine) | written)
        for name, item in machine.components[node.name].properties.items():
            value = None if item.value is None else _value(machine, item.value)
            unit = units.of(written[name]) if name in written else ""
            found.append(Declared(f"{node.name}.{name}", value, unit, None, None, own[name]))
    return found


def _parameters(machine: Machine) -> list[Declared]:
    units = Units(_expressions(machine))
    lower = Lowering(lambda node: machine.lookup(node.name) or graph.symbol(node.name, OWNER), {})
    found = []
    for name, node in machine.declared.items():
        low, high = (None if end is None else _value(machine, guarded(lower, end)) for end in (node.low, node.high))
        value = _value(machine, graph.symbol(name, OWNER))
        found.append(Declared(name, value, units.of(node.value), low, high, node))
    return found


def _sources(machine: Machine) -> Table:
    """Each number that has a comment, and the line it stands on."""
    said = ""
    rows = []
    for origin in provenance(machine):
        comment = AS_ABOVE if origin.comment == said else origin.comment
        rows.append((origin.name, origin.written, _line(origin.span), comment))
        said = origin.comment
    return Table(SOURCES, tuple(rows), title="sources")


def _line(span: Span) -> str:
    return f"{Path(span.resolve().source.name).name}:{span.position().line}"


def _expressions(machine: Machine) -> dict[str, nodes.Expression]:
    return {name: node.value for name, node in machine.declared.items()}
