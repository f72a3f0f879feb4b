"""Occupancy: whether the instances of a run fill the cores of its machine, and whether they take turns on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.prices import LAUNCHED, BlockCost
from aspenpy.expr import graph
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.models.application import flow
from aspenpy.models.application.total import Leaf, Total, Totals, of_kind, run_totals
from aspenpy.models.machine.model import Place

MANY_LANES = 32
"""From so many lanes on a core is an accelerator's: no program is written for one of them alone."""

FEW_TURNS = 4
"""From so many turns on a core, instances are pieces of work and not ranks."""

IDLE_PART = Fraction(1, 10)
"""Of the core-seconds of a block; less is left idle by all codes."""

MOST_BLOCKS = 1000


class Executions(Total):
    """How often a block is executed."""

    block: flow.Block


class Instances(Total):
    """Its instances, over all executions."""

    block: flow.Block


def filling_cores(prediction: Evaluation, widths: Mapping[flow.Block, float]) -> list[Diagnostic]:
    """A warning where even the widest block of a run leaves cores of one accelerator idle, and where its instances
    take turns on cores that would rather have one each. One rank on a processor is a question like any other."""
    tree = prediction.tree
    core = tree.residence.where.core
    computing = {block: width for block, width in widths.items() if _computes(tree.blocks[block])}
    if core is None or not computing:
        return []
    widest = max(computing, key=computing.__getitem__)
    sockets = [place for place in tree.machine.first_places(tree.socket) if place.path == core.path[: len(place.path)]]
    socket = next((place for place in sockets if place.component.type == "socket"), None)
    try:
        lanes = core.component.value("simd_width")
        asked = [core.count, graph.ONE if socket is None else socket.count, graph.ONE if lanes is None else lanes]
        cores, among, width = prediction.scope.values(asked, prediction.seed)
        if cores < 1 or among < 1:
            return []
        launched = socket is not None and socket.component.value("launch_latency") is not None
        return list(_told(widest, widths[widest], core, cores, cores / among, launched or width >= MANY_LANES))
    except (AspenError, OverflowError, TypeError):
        return []  # a value that is missing is an error of its own where it is needed


def _told(
    block: flow.Block, instances: float, core: Place, cores: float, of_socket: float, accelerator: bool
) -> Iterator[Diagnostic]:
    name = core.component.name
    if accelerator and instances < of_socket:
        message = f"{_number(instances)} of {_number(of_socket)} `{name}` busy: no block has more instances at once"
        hint = "`execute [n]` with an instance for each piece of work that can run beside the others"
        yield warning("idle-cores", message, block.span, hint=hint)
    if instances <= cores:
        return
    turns = ceil(instances / cores)
    left = turns * cores - instances
    if left > IDLE_PART * turns * cores or (not accelerator and instances < FEW_TURNS * cores):
        idle = f"; the last turn leaves {_number(left)} idle" if left else ""
        message = f"{_number(instances)} instances take turns on {_number(cores)} `{name}`{idle}"
        yield warning("more-than-cores", message, block.span, hint=f"{_number(cores)} instances run at once")


def instances_of_blocks(prediction: Evaluation) -> dict[flow.Block, float]:
    """The blocks that a run executes, and how many instances each has on average; none where a value is missing."""
    if len(prediction.tree.blocks) > MOST_BLOCKS:
        return {}
    try:
        totals = run_totals(_Leaf(), prediction.tree.entry)
        values = prediction.scope.values(list(totals.values()), prediction.seed)
        numbers = {key: float(value) for key, value in zip(totals, values, strict=True)}
    except (AspenError, OverflowError, TypeError):
        return {}  # is an error of its own where it is needed
    ran = {key.block: number for key, number in of_kind(Executions, numbers).items() if number > 0}
    return {block: numbers[Instances(block)] / number for block, number in ran.items()}


class _Leaf(Leaf):
    """Counts the executions of blocks, and their instances."""

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        return {Executions(block): graph.ONE, Instances(block): block.parallelism}


def _computes(cost: BlockCost) -> bool:
    return any(item.place is not None and item.place.component.type in LAUNCHED for item in cost.requirements)


def _number(value: float) -> str:
    return f"{value:,.4g}" if value != int(value) else f"{int(value):,}"
