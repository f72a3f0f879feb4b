"""Occupancy: whether the instances of a run fill the cores of its machine, and whether they take turns on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.cost import CostTree
from aspenpy.cost.prices import LAUNCHED, BlockCost
from aspenpy.expr import graph
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.models.application import flow
from aspenpy.models.application.total import OfBlocks, Total, Totals, of_kind
from aspenpy.models.machine.model import Place
from aspenpy.record import Record

MANY_LANES = 32  # from so many lanes on a core is an accelerator's: no program is written for one of them alone
MOST_TURNS_OF_RANKS = 4  # from so many turns on a core, instances are pieces of work and not ranks
SHORT_PART = Fraction(1, 20)  # of the runtime: what takes less may leave cores idle
IDLE_PART = Fraction(1, 10)  # of the core-seconds of a block; less is left idle by all codes

MOST_BLOCKS = 1000
"""Blocks of a run, each of which takes some 0.01 ms; larger ones are told nothing of cores and reuse."""


def warn_of_unlike_ranks(trees: Mapping[str, CostTree]) -> tuple[Diagnostic, ...]:
    """A warning where a rank has cores of one machine or socket and a whole device of another, or where one does not
    say what a rank has and another does; they are labelled."""
    placements = {label: tree.rank_placement for label, tree in trees.items()}
    having: dict[str, list[str]] = {}
    for label, placement in placements.items():
        if placement is not None:
            amount = "a {}" if placement.units == 1 else f"{placement.units} {{}}s"
            having.setdefault(amount.format(placement.unit.component.type), []).append(f"`{label}`")
    silent = [
        f"`{name}`" for name, tree in trees.items() if placements[name] is None and tree.residence.where.rank_counts
    ]
    if not having or len(having) + (1 if silent else 0) < 2:
        return ()
    kinds = " and ".join(f"{kind} of {', '.join(labels)}" for kind, labels in having.items())
    if silent:
        kinds += f", and the whole of {' and '.join(silent)}, which {'do' if len(silent) > 1 else 'does'} not say"
    hint = "`--bind socket` gives each rank a whole one everywhere"
    return (warning("unlike-ranks", f"each rank has {kinds}", hint=hint),)


class Executions(Total):
    """Total: how often a block is executed."""

    block: flow.Block


class Started(Total):
    """Total: how many instances of a block are started, over all its executions."""

    block: flow.Block


class BusyCores(Total):
    """Total: the cores that the instances of a block keep busy: several for each rank that shares its work out."""

    block: flow.Block


class BlockSeconds(Total):
    """Total: seconds of a block, over all its executions."""

    block: flow.Block


class Width(Record):
    """Mean number of a block's instances, number of cores that they keep busy, and its seconds over the run."""

    instances: float
    busy_cores: float
    seconds: float


def warn_of_idle_cores(prediction: Evaluation, widths: Mapping[flow.Block, Width]) -> list[Diagnostic]:
    """A warning where even the widest block of a run leaves cores of one accelerator idle, or of what each rank
    occupies, and where its instances take turns on cores that would rather have one each. One rank on a processor is a
    question like any other."""
    tree = prediction.tree
    core = tree.residence.where.drawing
    computing = {block: width for block, width in widths.items() if _has_computation(tree.blocks[block])}
    if core is None or not computing:
        return []
    widest = max(computing, key=lambda block: computing[block].busy_cores)
    sockets = [place for place in tree.machine.first_places(tree.socket) if place.path == core.path[: len(place.path)]]
    socket = next((place for place in sockets if place.component.type == "socket"), None)
    placement = tree.residence.where.ranks
    wanted = {
        "cores": graph.mul(core.count, tree.residence.where.share_of_machine),
        "sockets": graph.ONE if socket is None else socket.count,
        "lanes": core.component.value("simd_width") or graph.ONE,
        "cores of a rank": graph.ONE if placement is None else placement.places_of_rank(core),
    }
    known = prediction.scope.numbers_if_known(wanted, prediction.seed)
    if known is None or known["cores"] < 1 or known["sockets"] < 1:
        return []
    if known["cores of a rank"] > 1 and (ranks := _blocks_of_ranks(tree, computing)):
        return list(_describe_idle_cores(ranks, core, known["cores of a rank"], prediction))
    launched = socket is not None and socket.component.value("launch_latency") is not None
    accelerator = launched or known["lanes"] >= MANY_LANES
    of_socket = known["cores"] / known["sockets"]
    return list(_describe_idle_parts(widest, widths[widest].instances, core, known["cores"], of_socket, accelerator))


def warn_of_unplaced_blocks(prediction: Evaluation, widths: Mapping[flow.Block, Width]) -> list[Diagnostic]:
    """A warning where a block of several instances is spread over the whole machine while others are ranks, and takes
    a part of the time that matters."""
    tree = prediction.tree
    if not any(cost.instances.placement is not None for cost in tree.blocks.values()):
        return []
    spread = {
        block: width.seconds
        for block, width in widths.items()
        if tree.blocks[block].instances.placement is None and width.instances > 1
    }
    if not spread or sum(spread.values()) <= SHORT_PART * prediction.runtime:
        return []
    longest = max(spread, key=spread.__getitem__)
    others = "" if len(spread) == 1 else f" ({len(spread)} are)"
    message = (
        f"{_number(widths[longest].instances)} instances are spread over the whole machine, not over ranks{others}"
    )
    hint = "`execute [ranks] of [n]`, with as many ranks as other blocks have, runs where they do"
    return [warning("unplaced-block", message, longest.span, hint=hint)]


def _describe_idle_parts(
    block: flow.Block, instances: float, core: Place, cores: float, of_socket: float, accelerator: bool
) -> Iterator[Diagnostic]:
    name = core.component.name
    if accelerator and instances < of_socket:
        message = f"{_number(instances)} of {_number(of_socket)} `{name}` are busy: no block has more instances"
        hint = "`execute [n]` with an instance for each piece of work that can run beside the others"
        yield warning("idle-cores", message, block.span, hint=hint)
    if instances <= cores:
        return
    turns = ceil(instances / cores)
    left = turns * cores - instances
    if left > IDLE_PART * turns * cores or (not accelerator and instances < MOST_TURNS_OF_RANKS * cores):
        idle = f"; the last turn leaves {_number(left)} idle" if left else ""
        message = f"{_number(instances)} instances take turns on {_number(cores)} `{name}`{idle}"
        yield warning("more-than-cores", message, block.span, hint=f"{_number(cores)} instances run at once")


def _blocks_of_ranks(tree: CostTree, computing: Mapping[flow.Block, Width]) -> dict[flow.Block, Width]:
    """Blocks whose instances are ranks: they share their work out, or are as many as the blocks that do or that send
    messages."""
    numbers = {
        block.parallelism for block, cost in tree.blocks.items() if block.width is not None or _has_messages(cost)
    }
    return {block: width for block, width in computing.items() if block.parallelism in numbers}


def _describe_idle_cores(
    ranks: Mapping[flow.Block, Width], core: Place, of_rank: float, prediction: Evaluation
) -> Iterator[Diagnostic]:
    """A note on cores that ranks occupy and leave idle."""
    cores = f"{_number(of_rank)} `{core.component.name}`"
    hint = "`execute [ranks] of [n]` with a part for each piece of a rank's work that can run beside the others"
    narrow = {block: width.seconds for block, width in ranks.items() if block.width is None}
    if any(narrow.values()) and sum(narrow.values()) > SHORT_PART * prediction.runtime:
        longest = max(narrow, key=narrow.__getitem__)
        others = "" if len(narrow) == 1 else f" ({len(narrow)} do not)"
        message = f"a rank occupies {cores}, but this block states no width{others}: only one of them works"
        yield warning("narrow-rank", message, longest.span, hint=hint)
        return
    spread = {block: width.busy_cores / width.instances for block, width in ranks.items() if width.instances}
    widest = max(spread, key=spread.__getitem__, default=None)
    if widest is not None and of_rank - spread[widest] > IDLE_PART * of_rank:
        message = f"{_number(spread[widest])} of {cores} of a rank are busy: no block has more parts"
        if widest.sizes is not None and prediction.tree.blocks[widest].instances.schedule == "static":
            message = f"{_number(spread[widest])} of {cores} of a rank are busy on average: its parts are unequal"
            hint = "`dynamic` behind the parts, or `--schedule dynamic`, deals them out as cores become free"
        yield warning("idle-cores", message, widest.span, hint=hint)


def instances_of_blocks(prediction: Evaluation) -> dict[flow.Block, Width]:
    """The blocks that a run executes, and how many instances each has on average; none where a value is missing, which
    is an error of its own where it is needed."""
    if len(prediction.tree.blocks) > MOST_BLOCKS:
        return {}
    try:
        totals = _totals_of_tree(prediction.tree)
    except AspenError:  # calls that multiply make more of several totals for each block than of its runtime
        return {}
    numbers = prediction.scope.numbers_if_known(totals, prediction.seed) or {}
    ran = {key.block: number for key, number in of_kind(Executions, numbers).items() if number > 0}
    return {
        block: Width(
            numbers[Started(block)] / number,
            numbers.get(BusyCores(block), numbers[Started(block)]) / number,
            numbers.get(BlockSeconds(block), 0.0),
        )
        for block, number in ran.items()
    }


@lru_cache(maxsize=8)
def _totals_of_tree(tree: CostTree) -> Totals:
    """Totals of a tree that many cases share: a study asks at each of its points."""
    return tree.run_totals(OfBlocks(partial(_widths_of_block, tree)))


def _widths_of_block(tree: CostTree, block: flow.Block, kernel: flow.Kernel) -> Totals:
    """Always the executions of a block and its instances. Where ranks are bound and the block has a width, the cores
    that these keep busy; beside ranks, for a block without a width that computes, its seconds."""
    cost, placement = tree.blocks[block], tree.residence.where.ranks
    totals: Totals = {Executions(block): graph.ONE, Started(block): block.parallelism}
    if cost.instances.placement is not None and block.width is not None:
        totals[BusyCores(block)] = cost.instances.together
    elif placement is not None and _has_computation(cost):
        totals[BlockSeconds(block)] = cost.time
    return totals


def _has_computation(cost: BlockCost) -> bool:
    return any(item.place is not None and item.place.component.type in LAUNCHED for item in cost.requirements)


def _has_messages(cost: BlockCost) -> bool:
    return any(item.place is not None and item.place.component.type == "interconnect" for item in cost.requirements)


def _number(value: float) -> str:
    return f"{value:,.4g}" if value != int(value) else f"{int(value):,}"
