"""Data that a block touches many times without saying how: memory serves all of it, though a cache could."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.caches.level import Level, levels_of
from aspenpy.cost.prices import MEMORY_RESOURCES, RequirementCost
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.dimensions import readable
from aspenpy.models.application import flow

MANY_TIMES = 4  # a block that asks for its data so often reuses them: a pass or two over all of them are compulsory


def reused_without_pattern(prediction: Evaluation, ran: Collection[flow.Block]) -> list[Diagnostic]:
    """A warning for each data structure that would fit into the last cache of a socket, on machines whose caches serve
    what says how it is touched, and that a block which ran reads or writes many times over. What is larger may well
    come from memory each time, as tiles do."""
    levels = levels_of(prediction.machine, prediction.socket)
    if not any(level.bandwidth is not None for level in levels):
        return []
    first: dict[str | None, Diagnostic] = {}
    for target, found in _warnings(prediction, ran, _room(prediction, levels[-1])):
        first.setdefault(target, found)
    return list(first.values())


def _room(prediction: Evaluation, last: Level) -> Expr:
    """Bytes of the last caches of a socket."""
    places = prediction.machine.first_places(prediction.socket)
    sockets = next((place.count for place in places if place.component.type == "socket"), graph.ONE)
    return graph.div(graph.mul(last.capacity, last.place.count), sockets)


def _warnings(
    prediction: Evaluation, ran: Collection[flow.Block], room: Expr
) -> Iterator[tuple[str | None, Diagnostic]]:
    data = prediction.application.data
    for block in ran:
        for item in prediction.tree.blocks[block].requirements:
            need = item.requirement
            if not _is_plain(item) or need.target not in data:
                continue
            wanted = [graph.mul(block.parallelism, need.amount), data[need.target].size, room]
            try:
                volume, size, fits = prediction.scope.values(wanted, prediction.seed)
            except (AspenError, EvaluationError):
                continue  # depends on a loop, or on who calls the kernel
            if not all(isinstance(value, int | float | Fraction) for value in (volume, size, fits)):
                continue
            if volume >= MANY_TIMES * size > 0 and size <= fits:
                yield need.target, _warning(need, float(volume), float(size))


def _is_plain(item: RequirementCost) -> bool:
    return item.offer is not None and item.traffic is None and item.requirement.resource in MEMORY_RESOURCES


def _warning(need: flow.Requirement, volume: float, size: float) -> Diagnostic:
    times = volume / size
    often = f"{times:,.0f}" if times >= 100 else f"{times:.3g}"
    message = (
        f"`{need.resource}` asks for `{need.target}` {often} times over ({readable(volume, 'B')} of "
        f"{readable(size, 'B')}) without a pattern: memory serves all of it"
    )
    hint = "with a pattern, such as `as nest(...)` or `as stencil(...)`, caches serve what they hold"
    return warning("no-pattern", message, need.span, hint=hint)
