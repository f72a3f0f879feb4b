"""What is odd about the accesses of blocks to their data: data that are touched many times without a pattern, and
blocks that take no time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from fractions import Fraction
from typing import Any

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.level import Level, levels_of
from aspenpy.cost.caches.patterns import Stencil
from aspenpy.cost.prices import MEMORY_RESOURCES, RequirementCost
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import term
from aspenpy.expr.printer import to_text
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.application import flow

MANY_TIMES = 4  # a block that asks for its data so often reuses them: a pass or two over all of them are compulsory


# -- data that a block touches many times without saying how: memory serves all, though a cache could --


def warn_of_reuse_without_pattern(prediction: Evaluation, ran: Collection[flow.Block]) -> list[Diagnostic]:
    """A warning for each data structure that would fit into the last cache of a socket, on machines whose caches serve
    what says how it is touched, and that a block which ran reads or writes many times over. What is larger may well
    come from memory each time, as tiles do."""
    levels = levels_of(prediction.machine, prediction.socket)
    if not any(level.bandwidth is not None for level in levels):
        return []
    first: dict[str | None, Diagnostic] = {}
    for target, found in _many_times(prediction, ran, _room(prediction, levels[-1])):
        first.setdefault(target, found)
    return list(first.values())


def _room(prediction: Evaluation, last: Level) -> Expr:
    """Bytes of the last caches of a socket."""
    places = prediction.machine.first_places(prediction.socket)
    sockets = next((place.count for place in places if place.component.type == "socket"), graph.ONE)
    return graph.div(graph.mul(last.capacity, last.place.count), sockets)


def _many_times(
    prediction: Evaluation, ran: Collection[flow.Block], room: Expr
) -> Iterator[tuple[str | None, Diagnostic]]:
    data = prediction.application.data
    for block in ran:
        for item in prediction.tree.blocks[block].requirements:
            need = item.requirement
            if not _is_plain(item) or need.target not in data:
                continue
            wanted = [graph.mul(block.parallelism, need.amount), data[need.target].size, room]
            values = prediction.scope.values_if_known(wanted, prediction.seed)
            if values is None or not all(isinstance(value, int | float | Fraction) for value in values):
                continue
            volume, size, fits = values
            if volume >= MANY_TIMES * size > 0 and size <= fits:
                yield need.target, _describe_repetition(need, float(volume), float(size))


def _is_plain(item: RequirementCost) -> bool:
    return item.offer is not None and item.traffic is None and item.requirement.resource in MEMORY_RESOURCES


def _describe_repetition(need: flow.Requirement, volume: float, size: float) -> Diagnostic:
    times = volume / size
    often = f"{times:,.0f}" if times >= 100 else f"{times:.3g}"
    message = (
        f"`{need.resource}` accesses `{need.target}` {often} times over ({format_quantity(volume, 'B')} of "
        f"{format_quantity(size, 'B')}) without a pattern: all of it counts as memory traffic"
    )
    hint = "with a pattern, such as `as nest(...)` or `as stencil(...)`, hits in the caches are counted"
    return warning("no-pattern", message, need.span, hint=hint)


# -- blocks that take no time: what serves their data states neither bandwidth nor latency --------


def blocks_without_time(prediction: Evaluation, ran: Collection[flow.Block]) -> list[Diagnostic]:
    """A warning for each block which ran in no time although its loads and stores, with a pattern, ask for data."""
    found = []
    for block in ran:
        cost = prediction.tree.blocks[block]
        asked = [item.requirement.amount for item in cost.requirements if item.traffic is not None]
        if not asked:
            continue
        seconds, *amounts = prediction.scope.values_if_known([cost.time, *asked], prediction.seed) or (None,)
        if seconds == 0 and any(amount != 0 for amount in amounts):
            found.append(_timeless(prediction, block))
    return found


def _timeless(prediction: Evaluation, block: flow.Block) -> Diagnostic:
    silent = [level.name for level in levels_of(prediction.machine, prediction.socket) if level.bandwidth is None]
    name = f'the block "{block.label}"' if block.label else "this block"
    message = f"{name} takes no time: the level that serves its data states no bandwidth"
    hint = "a cache takes time by `property bandwidth`, and a core by requirements of its own"
    if silent:
        hint += f"; {', '.join(f'`{level}`' for level in silent)} {'has' if len(silent) == 1 else 'have'} none"
    return warning("no-time", message, block.span, hint=hint)


SLACK = 1e-6  # the part of a sweep that rounding may make


def uneven_sweeps(prediction: Evaluation, accesses: Iterable[Access]) -> list[Diagnostic]:
    """A warning for each access of which it is certain."""
    return uneven(accesses, lambda ratio: prediction.scope.values([ratio], prediction.seed)[0])


def uneven(accesses: Iterable[Access], value: Callable[[Expr], Any]) -> list[Diagnostic]:
    """The warnings, with what gives an expression its value."""
    warnings = []
    for access in accesses:
        sweeps = _sweeps(access, value)
        if sweeps and abs(sweeps - round(sweeps)) > SLACK * max(1, sweeps):
            warnings.append(_uneven(access, sweeps))
            if isinstance(access.pattern, Stencil):
                layers = _value(access.pattern.extents[-1], value)
                warnings += _thin(access, None if layers is None else sweeps * layers)
    return warnings


def _sweeps(access: Access, value: Callable[[Expr], Any]) -> float | None:
    """How many; None where the pattern does not say, or where that depends on a loop or on who calls the kernel."""
    return None if access.sweep is None else _value(graph.div(access.accesses, access.sweep), value)


def _value(quotient: Expr, value: Callable[[Expr], Any]) -> float | None:
    try:
        ratio = value(term(quotient).expression())
    except (AspenError, EvaluationError):
        return None  # a value that is missing is an error of its own where it is needed
    return float(ratio) if isinstance(ratio, int | float | Fraction) else None


def _thin(access: Access, layers: float | None) -> list[Diagnostic]:
    """Layer conditions count whole layers: below one, simulated caches miss two to four times less often."""
    if layers is None or layers >= 1 - SLACK:
        return []
    need = access.requirement
    message = f"`{need.resource}` covers less than one layer of its stencil: its misses are overestimated several times"
    hint = f"it is {layers:.3g} of a layer along the last extent; access at least one layer, or give a smaller grid"
    return [warning("thin-stencil", message, need.span, hint=hint)]


def _uneven(access: Access, sweeps: float) -> Diagnostic:
    need = access.requirement
    assert access.sweep is not None
    message = f"`{need.resource}` makes {sweeps:.3g} sweeps of its pattern, not a whole number"
    hint = f"one sweep makes {to_text(access.sweep)} accesses"
    return warning("uneven-sweeps", message, need.span, hint=hint)
