"""Blocks that take no time though they touch data: what serves these states neither bandwidth nor latency."""

from __future__ import annotations

from collections.abc import Collection

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.caches.level import levels_of
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.models.application import flow


def blocks_without_time(prediction: Evaluation, ran: Collection[flow.Block]) -> list[Diagnostic]:
    """A warning for each block which ran in no time although its loads and stores, with a pattern, ask for data."""
    found = []
    for block in ran:
        cost = prediction.tree.blocks[block]
        asked = [item.requirement.amount for item in cost.requirements if item.traffic is not None]
        if not asked:
            continue
        try:
            seconds, *amounts = prediction.scope.values([cost.time, *asked], prediction.seed)
        except (AspenError, EvaluationError):
            continue  # depends on a loop, or on who calls the kernel
        if seconds == 0 and any(amount != 0 for amount in amounts):
            found.append(_warning(prediction, block))
    return found


def _warning(prediction: Evaluation, block: flow.Block) -> Diagnostic:
    silent = [level.name for level in levels_of(prediction.machine, prediction.socket) if level.bandwidth is None]
    name = f'the block "{block.label}"' if block.label else "this block"
    message = f"{name} takes no time: what serves its data states no bandwidth"
    hint = "a cache takes time by `property bandwidth`, and a core by requirements of its own"
    if silent:
        hint += f"; {', '.join(f'`{level}`' for level in silent)} {'has' if len(silent) == 1 else 'have'} none"
    return warning("no-time", message, block.span, hint=hint)
