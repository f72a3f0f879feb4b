"""Warnings about the data of a run: data touched many times without a pattern, blocks that take no time, and sizes
below zero or beyond the memory.

A runtime may need no size: what needs one refuses it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.caches.level import Level, levels_of
from aspenpy.cost.prices import MEMORY_RESOURCES, RequirementCost
from aspenpy.expr import evaluate, graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.dimensions import format_quantity
from aspenpy.language.lower import Origins
from aspenpy.models.application import flow
from aspenpy.models.application.declarations import Data

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
    for target, found in _find_repeated(prediction, ran, _bytes_of_last_caches(prediction, levels[-1])):
        first.setdefault(target, found)
    return list(first.values())


def _bytes_of_last_caches(prediction: Evaluation, last: Level) -> Expr:
    """Bytes of the last caches of a socket."""
    places = prediction.machine.first_places(prediction.socket)
    sockets = next((place.count for place in places if place.component.type == "socket"), graph.ONE)
    return graph.div(graph.mul(last.capacity, last.place.count), sockets)


def _find_repeated(
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


def warn_of_timeless_blocks(prediction: Evaluation, ran: Collection[flow.Block]) -> list[Diagnostic]:
    """A warning for each block which ran in no time although its loads and stores, with a pattern, ask for data."""
    warnings = []
    for block in ran:
        cost = prediction.tree.blocks[block]
        asked = [item.requirement.amount for item in cost.requirements if item.traffic is not None]
        if not asked:
            continue
        seconds, *amounts = prediction.scope.values_if_known([cost.time, *asked], prediction.seed) or (None,)
        if seconds == 0 and any(amount != 0 for amount in amounts):
            warnings.append(_warn_timeless(prediction, block))
    return warnings


def _warn_timeless(prediction: Evaluation, block: flow.Block) -> Diagnostic:
    silent = [level.name for level in levels_of(prediction.machine, prediction.socket) if level.bandwidth is None]
    name = f'the block "{block.label}"' if block.label else "this block"
    message = f"{name} takes no time: the level that serves its data states no bandwidth"
    hint = "a cache takes time by `property bandwidth`, and a core by requirements of its own"
    if silent:
        hint += f"; {', '.join(f'`{level}`' for level in silent)} {'has' if len(silent) == 1 else 'have'} none"
    return warning("no-time", message, block.span, hint=hint)


def warn_of_negative_sizes(
    structures: Iterable[Data], definitions: Mapping[Expr, Expr], origins: Origins, seed: int
) -> list[Diagnostic]:
    """A warning for each of some data structures that has one."""
    run = evaluate.ExactEvaluation({}, seed, definitions)
    warnings = []
    for data in structures:
        try:
            run.compute([data.size])
        except evaluate.EvaluationError as error:  # any other is told by whoever needs the size
            if error.node.kind == "checked" and error.node.payload == "size":
                span = origins.get(error.node) or data.span
                warnings.append(warning("no-value", error.reason, span, hint=error.hint))
    return warnings


def warn_of_full_memory(prediction: Evaluation) -> list[Diagnostic]:
    """A warning where the data structures that the kernel touches are larger than the memory they lie in. Which are
    touched is looked into only where some say where they lie, or all that are declared together would not fit."""
    if prediction.tree.residence.memories:
        return _check_touched_bytes(prediction)
    offer = prediction.tree.residence.where.offers.get("loads")
    stated = None if offer is None else offer.place.component.value("capacity")
    sizes = [item.size for item in prediction.application.data.values()]
    if offer is None or stated is None or not sizes:
        return []
    # Ranks that are bound to components lie in the memory of each; other instances have the memories of all.
    bound = any(cost.instances.placement is not None for cost in prediction.tree.blocks.values())
    together = [graph.add(*sizes), stated if bound else graph.mul(offer.place.count, stated)]
    try:
        declared, capacity = prediction.scope.values(together, prediction.seed)
    except AspenError:
        return []  # a size without a value is told by whoever needs it
    return _check_touched_bytes(prediction) if declared > capacity else []


def _check_touched_bytes(prediction: Evaluation) -> list[Diagnostic]:
    try:
        from aspenpy.answers.footprint import Footprint

        warnings = Footprint(prediction.case.changed(socket=prediction.socket)).warn_of_overflow()
        return [
            item.replace(hint=item.hint or "`aspenpy memory` shows which kernels touch which data") for item in warnings
        ]
    except AspenError:
        return []  # too many ways through the model to tell, or a size without a value
