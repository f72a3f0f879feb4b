"""What is wrong with a machine, and what is probably a mistake in it."""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.answers.checks.powers import impossible_powers
from aspenpy.answers.checks.values import circles, failures, start_of
from aspenpy.answers.scope import DEFAULT_SEED, circular
from aspenpy.cost.interconnect import concrete, interconnect_of
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, nearest
from aspenpy.language.lower import Origins
from aspenpy.models.application.ranges import range_warning, ranged
from aspenpy.models.machine.model import OWNER, Component, Machine, Property
from aspenpy.models.machine.words import WORDS


def check_machine(machine: Machine) -> list[Diagnostic]:
    """What is wrong with a machine, and what is probably a mistake in it."""
    return [
        *machine.warnings,
        *_broken_machine_values(machine),
        *(circular(found, None, machine) for found in circles(list(machine.definitions), machine.definitions)),
        *_unknown_machine_names(machine),
        *_ranges(machine),
        *_unused_machine_parameters(machine),
        *_unreachable_components(machine),
        *_idle_conflicts(machine),
        *_broken_networks(machine),
        *impossible_powers(machine),
    ]


def _machine_expressions(component: Component) -> Iterator[Expr]:
    yield from (part.quantity for part in component.parts)
    yield from (item.value for item in component.properties.values() if item.value is not None)
    yield from component.power.values()
    for resource in component.resources.values():
        yield resource.time
        yield from (trait.time for trait in resource.traits.values())


def _words(component: Component) -> Iterator[Property]:
    """Properties whose value is a word, not a name."""
    return (item for item in component.properties.values() if item.name in WORDS)


def _broken_machine_values(machine: Machine) -> list[Diagnostic]:
    exprs = [
        *machine.definitions.values(),
        *(e for item in machine.components.values() for e in _machine_expressions(item)),
    ]
    quantities = [
        graph.checked("quantity", part.quantity) for item in machine.components.values() for part in item.parts
    ]
    spans: Origins = {
        graph.checked("quantity", part.quantity): part.span
        for item in machine.components.values()
        for part in item.parts
        if part.span is not None
    }
    broken = [found for expr in dict.fromkeys(exprs) for found in failures(expr, machine.origins)]
    return broken + [found for expr in dict.fromkeys(quantities) for found in failures(expr, spans)]


def _ranges(machine: Machine) -> list[Diagnostic]:
    """Defaults outside the range that their parameter declares, and ranges upside down."""
    found = []
    for parameter, exprs in ranged(machine.parameters):
        try:
            values = evaluate_many(exprs, None, DEFAULT_SEED, machine.definitions)
        except EvaluationError:
            continue  # told where the value is broken
        found.append(range_warning(parameter, *values))
    return [warning for warning in found if warning is not None]


def _unknown_machine_names(machine: Machine) -> list[Diagnostic]:
    """Names in a machine that it does not define: an application might, but seldom should."""
    exprs = [
        *machine.definitions.values(),
        *(expr for component in machine.components.values() for expr in _machine_expressions(component)),
    ]
    words = {item.value for component in machine.components.values() for item in _words(component)}
    unknown = [
        symbol
        for symbol in graph.free_symbols(graph.array(exprs))
        if symbol not in machine.definitions and symbol.payload[1] in ("", OWNER) and symbol not in words
    ]
    return [
        Diagnostic(
            "unknown-name",
            f"unknown name `{symbol.payload[0]}`",
            machine.origins.get(symbol),
            hint=nearest(symbol.payload[0], machine.declared) or "the machine does not define it",
            severity="warning",
        )
        for symbol in sorted(unknown, key=lambda symbol: start_of(machine.origins.get(symbol)))
    ]


def _unused_machine_parameters(machine: Machine) -> list[Diagnostic]:
    exprs = [
        *machine.definitions.values(),
        *(e for item in machine.components.values() for e in _machine_expressions(item)),
    ]
    used = graph.free_symbols(graph.array(exprs))
    return [
        Diagnostic("unused-parameter", f"parameter `{node.name}` is never used", node.name_span, severity="warning")
        for node in machine.declared.values()
        if graph.symbol(node.name, OWNER) not in used
    ]


def _unreachable_components(machine: Machine) -> list[Diagnostic]:
    placed = {place.component.name for place in machine.first_places()}
    return [
        Diagnostic(
            "unused-component",
            f"{component.type} `{component.name}` is not part of machine `{machine.name}`",
            component.name_span,
            severity="warning",
        )
        for component in machine.components.values()
        if component.name not in placed
    ]


def _idle_conflicts(machine: Machine) -> list[Diagnostic]:
    """Conflicts of resources that nobody offers: probably misspelt."""
    offered = {name for component in machine.components.values() for name in component.resources}
    return [
        Diagnostic(
            "unknown-resource",
            f"no component offers the resource `{name}`",
            conflict.span,
            hint=nearest(name, offered),
            severity="warning",
        )
        for component in machine.node.components
        for conflict in component.items
        if isinstance(conflict, nodes.Conflict)
        for name in (conflict.first, conflict.second)
        if name not in offered
    ]


def _broken_networks(machine: Machine) -> list[Diagnostic]:
    """Networks that cannot be, or have another number of nodes than the machine."""
    found: list[Diagnostic] = []
    for place in machine.first_places():
        if "topology" not in place.component.properties:
            continue

        try:
            concrete(machine, interconnect_of(machine, place))
        except AspenError as error:
            found += error.diagnostics
    return found
