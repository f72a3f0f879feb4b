"""Placement of the ranks of a run: the numbers that its one placement gives for its number of ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aspenpy.answers.evaluation import Evaluation
from aspenpy.cost.placement_options import Rule
from aspenpy.cost.rank_units import describe_component, find_domain
from aspenpy.cost.ranks import RankPlacement, ratio_of_counts
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.machine.model import Place
from aspenpy.record import Record
from aspenpy.tables.numbers import count_of

MOST_SOCKETS = 16  # of a node whose sockets are drawn one by one


class RunPlacement(Record):
    """`ranks` of a run on `nodes` and `sockets`, with the most on one of each, bound to a component in words; `sockets`
    and `of_socket` are None on a machine without any, or where each rank has several. `on_sockets` are the ranks on
    each socket of the fullest node, which has `cores` cores to a socket, in `domains` NUMA domains, and `cores_of_rank`
    for each rank; parts of their work go to cores by a `schedule`, where that matters."""

    ranks: int
    nodes: int
    of_node: int
    sockets: int | None
    of_socket: int | None
    each: str
    distribution: str
    on_sockets: tuple[int, ...] = ()
    schedule: str = ""
    cores: float = 0.0
    cores_of_rank: float = 0.0
    domains: int = 1
    dealt_to_domains: bool = False

    def cores_in_domains(self, ranks: int) -> list[float]:
        """Cores with a rank in each NUMA domain of a socket with `ranks` ranks, which are dealt out to the domains in
        turn or fill each domain before the next."""
        size = self.cores / self.domains
        if self.dealt_to_domains and self.cores_of_rank <= size:
            return [
                min(size, len(range(domain, ranks, self.domains)) * self.cores_of_rank)
                for domain in range(self.domains)
            ]
        taken = ranks * self.cores_of_rank
        return [min(size, max(0.0, taken - domain * size)) for domain in range(self.domains)]

    def __str__(self) -> str:
        return "".join(self._words())

    def _words(self) -> Iterator[str]:
        yield f"{self.ranks:,} on {count_of(self.nodes, 'node')}"
        if self.nodes > 1:
            yield f", {_describe_most(self.ranks, self.nodes, self.of_node)} a node"
        if self.sockets is not None and self.of_socket is not None and self.sockets > self.nodes:
            yield f", {_describe_most(self.ranks, self.sockets, self.of_socket)} a socket"
        yield f": {self.each} each" if self.ranks > 1 else f": {self.each}"
        if self.ranks > 1:
            yield f"; {self.distribution}"
        if self.schedule:
            yield f"; {self.schedule} schedule"


def _describe_most(ranks: int, components: int, fullest: int) -> str:
    """The number of ranks on each component in words, or on the fullest where they do not come out even."""
    return f"{fullest:,}" if fullest * components == ranks else f"at most {fullest:,}"


def run_placement(prediction: Evaluation) -> RunPlacement | None:
    """The placement of the ranks of a run, those of the widest block; None where no block has ranks, or their number is
    known only inside of a kernel."""
    tree = prediction.tree
    placement = tree.residence.where.ranks
    counts = {cost.instances.count for cost in tree.blocks.values() if cost.instances.placement is not None}
    known = [count for count in counts if graph.free_symbols(count) <= tree.definitions.keys()]
    if placement is None or not known:
        return None
    ranks = known[0] if len(known) == 1 else graph.apply("max", *known)

    def values(exprs: list[Expr]) -> list[Any]:
        return prediction.scope.values(exprs, prediction.seed)

    try:
        where = tree.residence.where
        placed = count_placed(placement, ranks, [*where.machine.first_places(where.socket)], values)
    except (AspenError, OverflowError):
        return None  # the prediction of the time reports this error
    return placed.replace(schedule=_describe_schedules(prediction))


def count_placed(
    placement: RankPlacement, ranks: Expr, places: Sequence[Place], values: Callable[[list[Expr]], list[Any]]
) -> RunPlacement:
    """The placement of `ranks` ranks on these places, in numbers by the `values` of formulas."""
    asked = _formulas_by_name(placement, ranks, places)
    numbers = dict(zip(asked, values([*asked.values()]), strict=True))
    on_sockets = numbers.get("of_full_socket", 0) >= 1  # else a rank has several sockets, or there are none
    run = RunPlacement(
        int(numbers["ranks"]),
        int(numbers["nodes"]),
        int(numbers["of_node"]),
        sockets=int(numbers["sockets"]) if on_sockets else None,
        of_socket=int(numbers["of_socket"]) if on_sockets else None,
        each=_describe_each(placement),
        distribution=str(placement.distribution),
    )
    if not on_sockets or "cores" not in numbers or numbers["sockets_of_node"] > MOST_SOCKETS:
        return run
    sockets, takes = int(numbers["sockets_of_node"]), int(numbers["of_full_socket"])
    dealt = _deal_ranks(run.of_node, sockets, takes, placement.distribution.sockets)
    return run.replace(
        on_sockets=dealt,
        cores=float(numbers["cores"]),
        cores_of_rank=float(numbers["cores_of_rank"]),
        domains=max(1, int(numbers.get("domains", 1))),
        dealt_to_domains=placement.distribution.domains == "cyclic",
    )


def _formulas_by_name(placement: RankPlacement, ranks: Expr, places: Sequence[Place]) -> dict[str, Expr]:
    """Formulas to evaluate, by name; a machine without sockets or cores has fewer."""
    asked = {
        "ranks": ranks,
        "nodes": placement.nodes_used(ranks) if placement.node else graph.ONE,
        "of_node": placement.on_a_node(ranks),
    }
    socket = placement.socket
    if socket is None:
        return asked
    asked |= {
        "sockets": placement.components_used(socket, ranks),
        "of_socket": placement.fullest(socket, ranks),
        "of_full_socket": placement.ranks_per_component(socket),
        "sockets_of_node": ratio_of_counts(socket.count, placement.nodes),
    }
    domain = find_domain(places)
    asked |= {} if domain is None else {"domains": ratio_of_counts(domain.count, socket.count)}
    core = next((place for place in places if place.component.type == "core"), None)
    if core is None:
        return asked
    cores = ratio_of_counts(core.count, socket.count)
    return asked | {"cores": cores, "cores_of_rank": placement.places_of_rank(core)}


def _deal_ranks(ranks: int, sockets: int, takes: int, rule: Rule) -> tuple[int, ...]:
    """The ranks on each socket of a node."""
    if rule == "cyclic":
        return tuple(len(range(socket, ranks, sockets)) for socket in range(sockets))
    return tuple(max(0, min(takes, ranks - socket * takes)) for socket in range(sockets))


def _describe_schedules(prediction: Evaluation) -> str:
    """The schedules of blocks whose time depends on how their parts go to the cores of a rank."""
    others = prediction.tree.residence.where.others
    schedules = {
        cost.instances.schedule
        for cost in prediction.tree.blocks.values()
        if cost.instances.placement is not None and cost.block.width is not None and (others or cost.block.sizes)
    }
    return " and ".join(sorted(schedules, reverse=True))


def _describe_each(placement: RankPlacement) -> str:
    """Describes the cores and memory that each rank has."""
    host = "" if placement.host_cores is None else f" and {count_of(placement.host_cores, 'core')} of the host"
    return _describe_unit(placement) + host


def _describe_unit(placement: RankPlacement) -> str:
    names = ", then ".join(f"`{each.component.name}`" for each in placement.kinds or [placement.unit])
    if placement.units > 1:
        return f"{placement.units} cores, {names}"
    if placement.kinds and placement.sharers == 1:
        return f"a core, {names}"
    if placement.sharers > 1:
        return f"1/{placement.sharers} of {describe_component(placement.unit)}"
    return describe_component(placement.unit)


def spread_over(prediction: Evaluation) -> str | None:
    """Says what part of the machine instances that are no ranks are spread over; None for one node, or if unknown."""
    where = prediction.tree.residence.where
    share = where.share_of_machine
    try:
        nodes, part = (float(value) for value in prediction.scope.values([where.nodes, share], prediction.seed))
    except (AspenError, OverflowError):
        return None
    if nodes <= 1:
        return None
    used = nodes * part
    of = "one device of" if used < 1 else "all" if used == nodes else f"{int(used):,} of"
    said = "the machine does not say what a rank occupies" if where.rank_counts else "the model speaks of no ranks"
    return f"{of} {count_of(int(nodes), 'node')}: {said}"
