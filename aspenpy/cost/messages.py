"""Times of exchanges among ranks on a machine's network: collectives, and the halos of a grid of ranks.

A requirement `messages [m] as allreduce` of a block in P instances is one allreduce among these P ranks. The traits are
the network's where the component that serves the messages says its topology and has no rule of its own for them;
docs/networks.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from aspenpy.cost.halos import RankPathUse, grid_of, halo_time, numbers_of
from aspenpy.cost.interconnect import Interconnect, interconnect_of, require_enough_nodes
from aspenpy.cost.network.by_rank import library_choice
from aspenpy.cost.network.collectives import algorithms, cost
from aspenpy.cost.network.cuts import crossing_times
from aspenpy.cost.network.levels import Among, ways_of_collective
from aspenpy.cost.network.mpi_choices import CALLED, LIBRARIES
from aspenpy.cost.network.schemes import (
    PathLevel,
    Pipeline,
    Scheme,
    best_algorithm,
    best_scheme,
    best_time,
    fastest_scheme,
    time_by_path,
)
from aspenpy.cost.network.topology import NetworkError
from aspenpy.cost.network_ranks import Ranks
from aspenpy.cost.path_levels import all_paths, levels_between, network_of_run, require_bound_ranks
from aspenpy.cost.paths import MESSAGE, Paths
from aspenpy.cost.prices import FASTEST, AppliedTrait, Offer
from aspenpy.cost.trait_names import HALO
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Machine

WORDS_OF_CUTS = {
    "bisection": "the bisection",
    "group": "the links of a group",
    "leaf": "the uplinks of a leaf switch",
    "plane": "the links between planes",
    "router": "the links of a router",
}
"""Words for the cuts of a network, by their names."""


class Exchange(AppliedTrait):
    """An exchange among `ranks` ranks of a block.

    Of a collective, `formula` is in the seconds `alpha` of a message and, for each byte, `beta` sent and `gamma`
    combined, whose values are in `parts`; `algorithm` is the one asked for, None for the fastest. Of a collective by
    levels, `schemes` are the ways to do it; other exchanges say in `paths` which they take, when, and for how long. Its
    time is a lower `bound` where the fastest algorithm is taken since nobody says which library chooses, and where it
    is that of one of the `cuts` of the network, whose seconds are by their names.
    """

    ranks: Expr
    size: Expr
    algorithm: str | None = None
    parts: tuple[Expr, Expr, Expr] | None = None
    schemes: tuple[Scheme, ...] = ()
    paths: tuple[RankPathUse, ...] = ()
    bound: bool = False
    cuts: tuple[tuple[str, Expr], ...] = ()

    @property
    def is_exchange(self) -> bool:
        return True

    def lower_bound(self, values: Callable[[Expr], Any]) -> str | None:
        time = values(self.time)
        if time is None:
            return FASTEST if self.bound else None
        for name, seconds in self.cuts:
            if time and values(seconds) == time:
                return name
        if not self.bound or values(self.ranks) == 1:
            return None
        in_pieces = self.schemes and isinstance(best_scheme(self.schemes, values), Pipeline)
        return None if in_pieces else FASTEST

    def through(self, cuts: dict[str, Expr]) -> Exchange:
        """The exchange where what it sends has to cross these cuts, too."""
        if not cuts:
            return self
        return self.replace(time=graph.apply("max", self.time, *cuts.values()), cuts=(*self.cuts, *cuts.items()))

    @property
    def seconds_by_path(self) -> dict[str, Expr]:
        """Seconds of a requirement by path; empty where they are not known by levels. What an alltoall takes through a
        bisection beside its messages is nobody's."""
        return time_by_path(self.schemes) if self.schemes else {use.name: use.seconds for use in self.paths}

    def fastest(self, values: Callable[[Expr], Any]) -> str | None:
        """The algorithm, or those of the phases of the fastest scheme, or the paths, by the values of expressions; None
        for what has one way only."""
        if self.schemes:
            return best_scheme(self.schemes, values).describe(values)
        if self.paths:
            return "over " + (" and ".join(each.name for each in self.paths if values(each.taken)) or "no path")
        if self.parts is None or self.algorithm is not None:
            return self.algorithm
        ranks, size, *parts = (Fraction(values(expr)) for expr in (self.ranks, self.size, *self.parts))
        return best_algorithm(self.name, int(ranks), size, *parts)


def exchange_of(
    trait: flow.Trait,
    requirement: flow.Requirement,
    parallelism: Expr,
    offer: Offer,
    paths: Paths,
    network: Interconnect | None = None,
) -> Exchange:
    """An exchange among all instances of a block, on the paths of a machine, or a variant of its network. What is wrong
    with it is told when its time is needed."""
    try:
        networks = [path.network for path in all_paths(paths)] if paths.by_level else []
        whole = network or (networks[-1] if networks else interconnect_of(paths.machine, offer.place))
        among = Ranks(network_of_run(whole, paths.ranks, parallelism), parallelism, paths.ranks)
        exchange = (_halo if trait.name == HALO else _collective)(trait, requirement, among, paths)
    except (AspenError, NetworkError) as error:
        mistake = error.diagnostics[0] if isinstance(error, AspenError) else _describe_error(error, trait)
        failed = graph.failure(mistake)
        return Exchange(trait.name, trait.arguments, failed, failed, parallelism, requirement.amount)
    if paths.ranks is None:
        time = _require_room(exchange.time, among, paths.machine, trait)
    else:
        time = paths.require_path(exchange.time, parallelism, trait.span)
    for each in networks or [whole]:
        time = require_enough_nodes(each, time)
    return exchange.replace(time=time)


def _describe_error(error: NetworkError, trait: flow.Trait) -> Diagnostic:
    return Diagnostic("bad-exchange", error.message, trait.span, hint=error.hint)


# -- collectives -----------------------------------------------------------------------------------

ALPHA, BETA, GAMMA = (graph.symbol(name, "exchange") for name in ("alpha", "beta", "gamma"))


def _collective(trait: flow.Trait, requirement: flow.Requirement, among: Ranks, paths: Paths) -> Exchange:
    """`as allreduce`, `as allreduce("ring")`, `as allreduce(n)` or both: by one algorithm or the fastest, among all
    ranks or n of them, in `as allreduce(n, s)` every s-th. `as allreduce("mpi")` calls MPI, where devices have NCCL or
    RCCL otherwise."""
    names = [argument for argument in trait.arguments if isinstance(argument, str)]
    counts = numbers_of(trait)
    if len(names) > 1 or len(counts) > 2:
        message = f"`{trait.name}` takes the name of an algorithm, a number of ranks and how far they are apart"
        fail("bad-exchange", message, trait.span, hint=f'such as `as {trait.name}("{algorithms(trait.name)[0].name}")`')
    ranks, size = counts[0] if counts else among.count, requirement.amount
    stride = counts[1] if len(counts) > 1 else graph.ONE
    ranks = _require_whole(stride, trait, ranks)
    called = next((name for name in names if name in CALLED), None)
    algorithm = names[0] if names and called is None else None
    if called in LIBRARIES:
        among = among.replace(network=among.network.replace(mpi=called))
    network = among.network
    if paths.by_level:
        levels = levels_between(ranks, paths, among.count, stride)
        if called is not None:
            levels = tuple(level.without_pieces for level in levels)
        elif network.mpi is None and any(level.all.pipelined for level in levels[:-1]):
            levels = (*levels[:-1], levels[-1].without_protocols)
        exchange = _by_level(trait, Among(levels, ranks, size), algorithm, paths, among)
        return _require_order(exchange, stride, trait, paths)
    container = among.container
    if network.threshold is not None or container is not None or (network.mpi is not None and algorithm is None):
        link = among.link(among.hops, among.apart).replace(container=container)
        level = PathLevel(network.component.name, ranks, ranks, ranks, ranks, link, link)
        exchange = _by_level(trait, Among((level,), ranks, size), algorithm, paths=None, senders=among)
        return exchange.through(_cuts(ranks, size, among)) if trait.name == "alltoall" else exchange
    gamma = graph.ZERO if network.combining is graph.ZERO else GAMMA
    if algorithm is not None:
        formula = cost(trait.name, algorithm, ranks, size).time(ALPHA, BETA, gamma)
    else:
        formula = best_time(trait.name, ranks, size, ALPHA, BETA, gamma)
    parts = among.alpha(among.hops, among.apart), among.beta(among.apart), network.combining
    time = graph.substitute([formula], dict(zip((ALPHA, BETA, GAMMA), parts, strict=True)))[0]
    exchange = Exchange(
        trait.name, trait.arguments, formula, time, ranks, size, algorithm, parts, bound=algorithm is None
    )
    return exchange.through(_cuts(ranks, size, among)) if trait.name == "alltoall" else exchange


def _by_level(trait: flow.Trait, among: Among, algorithm: str | None, paths: Paths | None, senders: Ranks) -> Exchange:
    """A collective whose phases are inside sockets, inside nodes and between nodes, while all of the `senders` send."""
    library, sending = senders.network.mpi, senders.count
    if library is not None and algorithm is None:
        ways = [library_choice(library, trait.name, among)]
    else:
        ways = ways_of_collective(trait.name, among, algorithm)
    bound, time = library is None and algorithm is None, fastest_scheme(ways)
    exchange = Exchange(
        trait.name, trait.arguments, time, time, among.count, among.size, schemes=tuple(ways), bound=bound
    )
    if trait.name == "alltoall" and paths is not None:
        for path, level in zip(all_paths(paths, sending), among.levels, strict=True):
            several = graph.compare(">", level.ends, 1)
            exchange = exchange.through(_cuts_of(path.network, level.ends, level.ranks, among.size, several))
    return exchange


def _cuts(ranks: Expr, size: Expr, among: Ranks) -> dict[str, Expr]:
    """Seconds in which an alltoall gets through each cut of the nodes that have ranks, or of all where no placement
    says which have."""
    net = among.network
    nodes = net.nodes if among.placement is None else among.nodes_in_use
    apart = graph.junction("and", graph.compare("!=", among.apart, 0), graph.compare(">", ranks, 1))
    return _cuts_of(net, nodes, ranks, size, apart)


def _cuts_of(net: Interconnect, nodes: Expr, ranks: Expr, size: Expr, crossed: Expr) -> dict[str, Expr]:
    """Seconds by the name of a cut of a network, `crossed` where any message takes it."""
    times = crossing_times(net.topology, nodes, net.ports / net.nodes, ranks, size, net.link)
    return {
        f"{WORDS_OF_CUTS[name]} of {net.component.name}": graph.if_else(crossed, seconds, 0)
        for name, seconds in times.items()
    }


# -- halos and single messages ---------------------------------------------------------------------


def _halo(trait: flow.Trait, requirement: flow.Requirement, among: Ranks, paths: Paths) -> Exchange:
    grid = grid_of(trait, requirement, among.count)
    time, uses = halo_time(grid, among, paths, trait)
    return Exchange(trait.name, trait.arguments, time, time, among.count, requirement.amount, paths=uses)


def message_of(requirement: flow.Requirement, parallelism: Expr, paths: Paths) -> Exchange:
    """A message of each rank to another, all at once, on the path that joins them all: inside a socket or a node where
    all of them are there, between nodes otherwise. Where no path is known but the network, those of a node send."""
    try:
        if not paths.by_level:
            return _message_between_nodes(requirement, parallelism, paths)
        levels = levels_between(parallelism, paths)
    except AspenError as error:
        failed = graph.failure(error.diagnostics[0])
        return Exchange(MESSAGE, (), failed, failed, parallelism, requirement.amount)
    time = levels[-1].all.message(requirement.amount)
    uses = [RankPathUse(levels[-1].path, graph.ONE, time)]
    for level in reversed(levels[:-1]):
        inside, here = graph.compare("==", level.ranks, parallelism), level.all.message(requirement.amount)
        time = graph.if_else(inside, here, time)
        uses = [_unless(inside, each) for each in uses]
        uses.append(RankPathUse(level.path, graph.if_else(inside, 1, 0), graph.if_else(inside, here, 0)))
    time = paths.require_path(time, parallelism, requirement.span)
    return Exchange(MESSAGE, (), time, time, parallelism, requirement.amount, paths=tuple(uses))


def _message_between_nodes(requirement: flow.Requirement, ranks: Expr, paths: Paths) -> Exchange:
    (path,) = all_paths(paths, ranks)
    on_a_node = require_bound_ranks(paths).on_a_node(ranks)
    sent = path.message(requirement.amount, path.network.topology.average_distance, on_a_node)
    time = paths.require_path(sent, ranks, requirement.span)
    uses = (RankPathUse(path.network.component.name, graph.ONE, time),)
    return Exchange(MESSAGE, (), time, time, ranks, requirement.amount, paths=uses)


def _unless(condition: Expr, use: RankPathUse) -> RankPathUse:
    return use.replace(taken=graph.if_else(condition, 0, use.taken), seconds=graph.if_else(condition, 0, use.seconds))


# -- what is refused -------------------------------------------------------------------------------


def _require_whole(stride: Expr, trait: flow.Trait, ranks: Expr) -> Expr:
    """The number of ranks; evaluating it fails where they are not a whole number of ranks apart."""
    mistake = Diagnostic("bad-exchange", "ranks are a whole number of ranks apart, from 1 on", trait.span)
    is_whole = graph.compare("==", graph.apply("floor", stride), stride)
    return graph.if_else(graph.junction("and", is_whole, graph.compare(">=", stride, 1)), ranks, graph.failure(mistake))


def _require_order(exchange: Exchange, stride: Expr, trait: flow.Trait, paths: Paths) -> Exchange:
    """The exchange; evaluating it fails where ranks are apart and are not placed one after the other."""
    if stride is graph.ONE or require_bound_ranks(paths).is_compact:
        return exchange
    message = f"`{trait.name}` is among ranks that are apart, which is priced where ranks fill a node before the next"
    mistake = graph.failure(Diagnostic("bad-exchange", message, trait.span, hint="leave out --distribution"))
    return exchange.replace(time=graph.if_else(graph.compare("==", stride, 1), exchange.time, mistake))


def _require_room(time: Expr, among: Ranks, machine: Machine, trait: flow.Trait) -> Expr:
    """The time; evaluating it fails where the machine has too few nodes or cores for the ranks."""
    cores, asked = among.network.cores, among.network.ranks_per_node
    if cores is not None:
        message = f"there are more ranks in `{trait.name}` than machine `{machine.name}` has cores"
        hint = f"it takes a core for each rank{_as_written(cores, machine)}"
        mistake = graph.failure(Diagnostic("too-many-ranks", message, trait.span, hint=hint))
        time = graph.if_else(graph.compare(">", among.count, cores), mistake, time)
    if asked is not None:
        message = f"there are more ranks in `{trait.name}` than the nodes of machine `{machine.name}` take"
        hint = f"`{among.network.component.name}.ranks_per_node` is the number on each node"
        mistake = graph.failure(Diagnostic("too-many-ranks", message, trait.span, hint=hint))
        time = graph.if_else(graph.compare(">", among.count, asked * among.network.nodes), mistake, time)
    return time


def _as_written(cores: Expr, machine: Machine) -> str:
    """The end of a hint with the number of cores that the model states; empty where it states none."""
    try:
        (number,) = evaluate_many([cores], None, 0, machine.definitions)
    except EvaluationError:
        return ""
    return f"; as it is written, it has {int(number):,}"
