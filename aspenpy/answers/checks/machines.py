"""Checks of a machine: errors and probable mistakes."""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.answers.checks.values import certain_errors, circular_definitions, collect_errors, start_of
from aspenpy.answers.energy.power import power_of
from aspenpy.answers.energy.voltage import require_known_curve
from aspenpy.answers.scope import DEFAULT_SEED, circle_mistake
from aspenpy.cost.assumed import OF_CORES, YEAR
from aspenpy.cost.interconnect import interconnect_of, topology_in_numbers
from aspenpy.cost.kinds_of_cores import RANK, warn_of_idle_kinds, working_kinds
from aspenpy.cost.path_levels import all_paths
from aspenpy.cost.paths import Paths, paths_of
from aspenpy.cost.placement_options import MACHINES_OWN
from aspenpy.cost.ranks import place_ranks
from aspenpy.cost.trait_names import TRANSLATIONS
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, drop_repeats, suggest_nearest, warning
from aspenpy.language.dimensions import format_quantity
from aspenpy.language.lower import Origins
from aspenpy.language.source import Span
from aspenpy.language.statements import is_of_library
from aspenpy.models.machine.model import OWNER, Component, Machine
from aspenpy.models.machine.properties import WORDS
from aspenpy.models.machine.sheets import suggest_family
from aspenpy.models.machine.variants import is_included
from aspenpy.models.model import range_warnings

INHABITED = ("node", "socket", "core")  # what ranks live on: a memory may have a property `rank` of another meaning

HINTS = {"design_power": "the dynamic power is the design power less the idle power: `dynamic power [95 W - 10 W]`"}
"""Hints by the law that is broken."""


def check_machine(machine: Machine) -> list[Diagnostic]:
    """Errors and probable mistakes of a machine."""
    return [
        *machine.warnings,
        *_check_machine_values(machine),
        *(
            circle_mistake(found, None, machine)
            for found in circular_definitions(list(machine.definitions), machine.definitions)
        ),
        *_check_machine_names(machine),
        *range_warnings(
            machine.parameters, lambda exprs: evaluate_many(exprs, None, DEFAULT_SEED, machine.definitions)
        ),
        *_check_unused_machine_parameters(machine),
        *_check_assumed_cores(machine),
        *_check_reachable(machine),
        *_check_conflicts(machine),
        *_check_networks(machine),
        *_check_rank_flags(machine),
        *(
            found
            for socket in machine.sockets or (None,)
            for found in warn_of_idle_kinds(machine, socket, working_kinds([*machine.first_places(socket)]))
        ),
        *check_powers(machine),
        *_check_voltages(machine),
    ]


def _check_machine_values(machine: Machine) -> list[Diagnostic]:
    broken = [error for expr in dict.fromkeys(machine.expressions) for error in certain_errors(expr, machine.origins)]
    parts = [part for component in machine.components.values() for part in component.parts]
    spans: Origins = {graph.checked("quantity", part.quantity): part.span for part in parts if part.span is not None}
    quantities = dict.fromkeys(graph.checked("quantity", part.quantity) for part in parts)
    return broken + [error for expr in quantities for error in certain_errors(expr, spans)]


def _check_machine_names(machine: Machine) -> list[Diagnostic]:
    """Names in a machine that it does not define: an application might, but seldom should."""
    properties = [item for component in machine.components.values() for item in component.properties.values()]
    defined = {*machine.definitions, *(item.value for item in properties if item.name in WORDS)}
    used = graph.free_symbols(graph.array(machine.expressions))
    unknown = [symbol for symbol in used if symbol not in defined and symbol.owner in ("", OWNER)]
    return [
        warning(
            "unknown-name",
            f"unknown name `{symbol.name}`",
            machine.origins.get(symbol),
            hint=suggest_nearest(symbol.name, machine.declared) or "the machine does not define it",
        )
        for symbol in sorted(unknown, key=lambda symbol: start_of(machine.origins.get(symbol)))
    ]


def _check_unused_machine_parameters(machine: Machine) -> list[Diagnostic]:
    used = graph.free_symbols(graph.array(machine.expressions))
    return [
        warning("unused-parameter", f"parameter `{node.name}` is never used", node.name_span)
        for node in machine.declared.values()
        if graph.symbol(node.name, OWNER) not in used and node.name not in machine.passed_over
    ]


def _check_assumed_cores(machine: Machine) -> Iterator[Diagnostic]:
    """Warns of cores whose vectors are those that `general_core` assumes; the library's say so themselves."""
    for name, base in machine.bases.items():
        core = machine.components[name]
        if (
            base == "general_core"
            and not is_of_library(core.span)
            and is_of_library(core.properties["simd_width"].span)
        ):
            message = f"core `{name}` has two pipes of 256 bits by assumption, half of what AVX-512 with two pipes does"
            yield warning("assumed-core", message, core.name_span, hint=suggest_family())


def _check_reachable(machine: Machine) -> list[Diagnostic]:
    placed = {place.component.name for place in machine.first_places()} | {*machine.bases.values()}
    return [
        warning(
            "unused-component",
            f"{component.type} `{component.name}` is not part of machine `{machine.name}`",
            component.name_span,
        )
        for component in machine.components.values()
        if component.name not in placed and not _may_be_left_out(component.span, machine)
    ]


def _may_be_left_out(span: Span | None, machine: Machine) -> bool:
    """Whether a component is from a file that is used in part: one of the user's own that the machine includes, or one
    of the library beside variants."""
    return bool(machine.bases) if is_of_library(span) else is_included(span)


def _check_conflicts(machine: Machine) -> list[Diagnostic]:
    """Conflicts with a name that nothing offers, so probably misspelt. Components offer resources (cores with a year,
    those assumed of their kind), a cache offers its name, a TLB the lookup of pages."""
    offered = {name for component in machine.components.values() for name in component.resources}
    if any(YEAR in component.properties for component in machine.components.values()):
        offered |= {*OF_CORES}
    for component in machine.components.values():
        offered |= {component.name} if component.type == "cache" else set()
        offered |= {TRANSLATIONS} if "tlb_latency" in component.properties else set()
    return [
        warning(
            "unknown-resource",
            f"no component offers the resource `{name}`",
            conflict.span,
            hint=suggest_nearest(name, offered),
        )
        for component in machine.node.components
        for conflict in component.items
        if isinstance(conflict, nodes.Conflict)
        for name in (conflict.first, conflict.second)
        if name not in offered
    ]


def _check_networks(machine: Machine) -> list[Diagnostic]:
    """Networks whose sizes make no network, or have another number of nodes than the machine."""
    errors: list[Diagnostic] = []
    inner = set()
    for paths in _paths_between_ranks(machine):
        inner |= {place.path for place, container in paths.places if container.parents}
        with collect_errors(errors):
            for path in all_paths(paths):
                topology_in_numbers(machine, path.network)
    for place in machine.first_places():
        with collect_errors(errors):
            if "topology" in place.component.properties and place.path not in inner:
                topology_in_numbers(machine, interconnect_of(machine, place))
    return list(dict.fromkeys(errors))


def _paths_between_ranks(machine: Machine) -> Iterator[Paths]:
    """The paths between ranks of each kind of socket, where ranks live there."""
    for socket in machine.sockets or (None,):
        try:
            paths = paths_of(machine, socket, place_ranks(machine, socket, MACHINES_OWN))
        except AspenError:  # `_check_rank_flags` has it
            continue
        if paths.by_level:
            yield paths


def _check_rank_flags(machine: Machine) -> list[Diagnostic]:
    """Flags `rank` where no rank can live, or where there are too many of them; and flags with a value, which says
    nothing there."""
    diagnostics: list[Diagnostic] = []
    for socket in machine.sockets or (None,):
        with collect_errors(diagnostics):
            place_ranks(machine, socket, MACHINES_OWN)
    for component in machine.components.values():
        flag = component.properties.get(RANK)
        if flag is not None and flag.value is not None and component.type in INHABITED:
            message = f"`{RANK}` with a value does not say that a rank occupies {component.type} `{component.name}`"
            diagnostics.append(warning("valued-rank", message, flag.span, hint=f"write `property {RANK}`"))
    return drop_repeats(diagnostics)


def _check_voltages(machine: Machine) -> list[Diagnostic]:
    """Errors for values of `voltage_curve` outside of the known words."""
    diagnostics: list[Diagnostic] = []
    for component in machine.components.values():
        with collect_errors(diagnostics):
            require_known_curve(component)
    return diagnostics


def check_powers(machine: Machine) -> Iterator[Diagnostic]:
    """Powers that the energy model would refuse. A machine that states a design power without an idle power is
    accepted, as long as nobody asks for its energy."""
    origins: Origins = dict(machine.origins)
    for component in machine.components.values():
        try:
            power = power_of(machine, component, origins)
        except AspenError as error:
            yield from (diagnostic for diagnostic in error.diagnostics if diagnostic.code == "power-twice")
            continue
        stated = dict(_find_stated_watts(component))
        origins |= {watts: span for watts, span in stated.items() if span is not None}
        for watts in (power.static, power.dynamic, *stated):
            if watts is not None:
                yield from _check_watts(watts, machine, origins)
        yield from _check_cap(component, machine)


def _find_stated_watts(component: Component) -> Iterator[tuple[Expr, Span | None]]:
    """The watts of the model that responds, which fail where they are negative, and where they are stated."""
    for name in ("idle_power", "sleep_power", "active_core_power", "uncore_power"):
        declared = component.properties.get(name)
        if declared is not None and declared.value is not None:
            yield graph.checked("power", declared.symbol), declared.span


def _check_cap(component: Component, machine: Machine) -> Iterator[Diagnostic]:
    """A power cap that the idle power reaches: nothing would ever be done."""
    cap, idle = (component.properties.get(name) for name in ("power_cap", "idle_power"))
    if cap is None or idle is None or cap.value is None or idle.value is None:
        return
    try:
        cap_watts, idle_watts = evaluate_many([cap.symbol, idle.symbol], None, DEFAULT_SEED, machine.definitions)
    except EvaluationError:
        return
    if cap_watts <= idle_watts:
        stated = f"the power cap of {component.type} `{component.name}`, {format_quantity(cap_watts, 'W')},"
        message = f"{stated} is not above its idle power"
        yield Diagnostic(
            "impossible-power", message, cap.span, hint=f"it consumes {format_quantity(idle_watts, 'W')} without work"
        )


def _check_watts(watts: Expr, machine: Machine, origins: Origins) -> Iterator[Diagnostic]:
    """The error of a power that is negative or no number. Values that fail for another reason are reported where they
    are defined."""
    try:
        evaluate_many([watts], None, DEFAULT_SEED, machine.definitions)
    except EvaluationError as error:
        if error.node is watts and watts.kind == "checked":
            yield Diagnostic("impossible-power", error.reason, origins.get(watts), hint=HINTS.get(str(watts.payload)))
