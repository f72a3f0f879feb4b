"""What exchanges among ranks take on a machine's network: collectives, and the halos of a grid of ranks.

A requirement `messages [m] as allreduce` of a block in P instances is one allreduce among these P ranks. The traits are
the network's where the component that serves the messages says its topology and has no rule of its own for them;
docs/networks.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from aspenpy.cost.exchanges import ALL_PORTS, HALO
from aspenpy.cost.interconnect import Interconnect, enough, interconnect_of
from aspenpy.cost.network.choice import best, best_time
from aspenpy.cost.network.collectives import algorithms, cost
from aspenpy.cost.network.halo import MOST_DIMENSIONS, halo
from aspenpy.cost.network.shift import distance, off_node
from aspenpy.cost.network.topology import NetworkError, floor
from aspenpy.cost.prices import AppliedTrait, Offer
from aspenpy.cost.value_mistakes import ValueMistake
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import to_text
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, nearest
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record

SLACK = graph.number(1e-9)
"""The part by which rounding may make a number of ranks another one."""


class Exchange(AppliedTrait):
    """An exchange among `ranks` ranks of a block.

    Of a collective, `formula` is in the seconds `alpha` of a message and, for each byte, `beta` sent and `gamma`
    combined, whose values are in `parts`; `algorithm` is the one asked for, None for the fastest.
    """

    ranks: Expr
    size: Expr
    algorithm: str | None = None
    parts: tuple[Expr, Expr, Expr] | None = None

    def fastest(self, values: Callable[[Expr], Any]) -> str | None:
        """The algorithm, by the values of expressions; None for what has one way only."""
        if self.parts is None or self.algorithm is not None:
            return self.algorithm
        ranks, size, *parts = (Fraction(values(expr)) for expr in (self.ranks, self.size, *self.parts))
        return best(self.name, int(ranks), size, *parts)


def exchange_of(
    trait: flow.Trait,
    requirement: flow.Requirement,
    parallelism: Expr,
    offer: Offer,
    machine: Machine,
    network: Interconnect | None = None,
) -> Exchange:
    """An exchange among all instances of a block, on the machine's network or a variant of it. What is wrong with it is
    told when its time is needed."""
    try:
        among = Ranks(network or interconnect_of(machine, offer.place), parallelism)
        found = (_halo if trait.name == HALO else _collective)(trait, requirement, among)
    except (AspenError, NetworkError) as error:
        mistake = error.diagnostics[0] if isinstance(error, AspenError) else _told(error, trait)
        failed = graph.failure(mistake)
        return Exchange(trait.name, trait.arguments, failed, failed, parallelism, requirement.amount)
    time = enough(among.network, _within_the_machine(found.time, among, machine, trait))
    return found.replace(time=time)


def _told(error: NetworkError, trait: flow.Trait) -> Diagnostic:
    return Diagnostic("bad-exchange", error.message, trait.span, hint=error.hint)


class Ranks(Record):
    """So many ranks on a network, dealt out evenly, or so many to a node as it says."""

    network: Interconnect
    count: Expr

    @property
    def per_node(self) -> Expr:
        asked = self.network.ranks_per_node
        even = graph.apply("ceil", self.count / self.network.nodes)
        return even if asked is None else graph.apply("min", asked, self.count)

    @property
    def per_port(self) -> Expr:
        """Ranks that share a port."""
        return graph.apply("ceil", self.per_node * self.network.nodes / self.network.ports)

    @property
    def apart(self) -> Expr:
        """The part of all pairs of ranks that are on two nodes."""
        others = graph.apply("max", self.count - 1, 1)
        return graph.apply("max", 0, 1 - (self.per_node - 1) / others)

    @property
    def hops(self) -> Expr:
        """Links between the nodes of two ranks, the average of all pairs."""
        return self.apart * (self.network.topology.average_distance + self.network.topology.terminal_hops)

    def alpha(self, hops: Expr, apart: Expr) -> Expr:
        """Seconds of one message of no bytes in a round in which every rank sends one. Those of a port leave it one
        after the other, a gap apart (LogP)."""
        waiting = graph.apply("max", self.per_port * apart - 1, 0) * self.network.gap
        return self.network.latency + hops * self.network.hop_latency + waiting

    def beta(self, apart: Expr) -> Expr:
        """Seconds of each byte more: the ranks of a port share what it injects, and no link takes more than its
        bandwidth."""
        sharing = graph.apply("max", self.per_port * apart, 1)
        return graph.apply("max", sharing / self.network.injection, 1 / self.network.link)


# -- collectives -----------------------------------------------------------------------------------

ALPHA, BETA, GAMMA = (graph.symbol(name, "exchange") for name in ("alpha", "beta", "gamma"))


def _collective(trait: flow.Trait, requirement: flow.Requirement, among: Ranks) -> Exchange:
    """`as allreduce`, `as allreduce("ring")`, `as allreduce(n)` or both: by one algorithm or the fastest, among all
    ranks or n of them."""
    names = [argument for argument in trait.arguments if isinstance(argument, str)]
    counts = [argument for argument in trait.arguments if isinstance(argument, Expr)]
    if len(names) > 1 or len(counts) > 1:
        message = f"`{trait.name}` takes the name of an algorithm and a number of ranks, each once at most"
        fail("bad-exchange", message, trait.span, hint=f'such as `as {trait.name}("{algorithms(trait.name)[0].name}")`')
    ranks, size = counts[0] if counts else among.count, requirement.amount
    network = among.network
    gamma = graph.ZERO if network.combining is graph.ZERO else GAMMA
    if names:
        formula = cost(trait.name, names[0], ranks, size).time(ALPHA, BETA, gamma)
    else:
        formula = best_time(trait.name, ranks, size, ALPHA, BETA, gamma)
    parts = among.alpha(among.hops, among.apart), among.beta(among.apart), network.combining
    time = graph.substitute([formula], dict(zip((ALPHA, BETA, GAMMA), parts, strict=True)))[0]
    if trait.name == "alltoall":
        time = graph.apply("max", time, _crossing(ranks, size, among))
    algorithm = names[0] if names else None
    return Exchange(trait.name, trait.arguments, formula, time, ranks, size, algorithm, parts)


def _crossing(ranks: Expr, size: Expr, among: Ranks) -> Expr:
    """Seconds in which an alltoall gets through the bisection: m bytes for each pair of ranks of the two halves."""
    half = floor(ranks / 2)
    crossing = among.network.topology.crossing_time(half * (ranks - half) * size, among.network.link)
    return graph.if_else(graph.compare("==", among.apart, 0), 0, crossing)


# -- halos -----------------------------------------------------------------------------------------


def _halo(trait: flow.Trait, requirement: flow.Requirement, among: Ranks) -> Exchange:
    """`as halo(d)`, or `as halo(x, y, z)` for a grid of so many ranks that is not as long in each dimension: each rank
    sends its volume in equal parts to the neighbours on both sides along every dimension, one dimension after the
    other, or with "all_ports" all at once."""
    words = [argument for argument in trait.arguments if isinstance(argument, str)]
    for word in words:
        if word != ALL_PORTS:
            fail("bad-exchange", f"unknown word `{word}` of a halo", trait.span, hint=nearest(word, [ALL_PORTS]))
    grid = _grid(trait, among)
    face = requirement.amount / (2 * len(grid))
    times, stride = [], graph.ONE
    for length in reversed(grid):  # the last coordinate is the fastest, as in `network.placement`
        hops, apart = _neighbours(among, stride, len(grid))
        exchange = halo([length], [face], all_ports=bool(words))
        times.append(exchange.time(among.alpha(hops, apart), among.beta(apart)))
        stride = stride * length
    time = graph.apply("max", *times) if words and len(times) > 1 else graph.add(*times)
    if len(numbers_of(trait)) > 1:
        time = _of_all_ranks(time, graph.mul(*grid), among, trait)
    return Exchange(trait.name, trait.arguments, time, time, among.count, requirement.amount)


def numbers_of(trait: flow.Trait) -> list[Expr]:
    """The arguments of a trait that are no words."""
    return [argument for argument in trait.arguments if isinstance(argument, Expr)]


def _of_all_ranks(time: Expr, ranks: Expr, among: Ranks, trait: flow.Trait) -> Expr:
    """The time, if the grid is one of the ranks of the block; it may be off by rounding."""
    message = "the product of a halo's grid must be the number of ranks of its block"
    hint = f"the block runs in `{to_text(among.count)}` ranks"
    mistake = ValueMistake(code="wrong-grid", message=message, subject=ranks, span=trait.span, hint=hint)
    apart = graph.apply("abs", ranks - among.count)
    return graph.if_else(graph.compare("<=", apart, among.count * SLACK), time, graph.failure(mistake))


def _grid(trait: flow.Trait, among: Ranks) -> list[Expr]:
    """The ranks along each dimension."""
    numbers = numbers_of(trait)
    dimensions = graph.whole_number(numbers[0]) if len(numbers) == 1 else len(numbers)
    if dimensions is None or not 1 <= dimensions <= MOST_DIMENSIONS:
        message = f"a halo is exchanged in 1 to {MOST_DIMENSIONS} dimensions"
        hint = "write their number, `as halo(3)`, or the ranks along each, `as halo(x, y, z)`"
        fail("bad-exchange", message, trait.span, hint=hint)
    if len(numbers) > 1:
        return numbers
    return [graph.power(among.count, graph.div(1, dimensions))] * dimensions


def _neighbours(among: Ranks, stride: Expr, dimensions: int) -> tuple[Expr, Expr]:
    """Hops to the neighbour in the grid of ranks, `stride` ranks further, and how often it is on another node."""
    network, made = among.network, among.network.topology
    per_node, used = among.per_node, graph.apply("ceil", among.count / among.per_node)
    if network.placement == "random":
        return among.hops, among.apart
    if network.placement == "aligned":  # a node has a cube of the grid, the next cube is on the next node
        apart = graph.if_else(
            graph.compare("==", used, 1), 0, 1 / graph.power(per_node, graph.number(1) / graph.number(dimensions))
        )
        return apart * (graph.apply("min", made.diameter, 1) + made.terminal_hops), apart
    # of `cyclic` the nodes are filled in turn: on them, ranks next to each other are on nodes next to each other
    filled = per_node if network.placement == "block" else graph.ONE
    apart = off_node(stride, filled, used)
    return distance(made, stride, filled) + apart * made.terminal_hops, apart


# -- what is refused -------------------------------------------------------------------------------


def _within_the_machine(time: Expr, among: Ranks, machine: Machine, trait: flow.Trait) -> Expr:
    """The time, if there are nodes and cores for so many ranks."""
    cores, asked = among.network.cores, among.network.ranks_per_node
    if cores is not None:
        message = f"there are more ranks in `{trait.name}` than machine `{machine.name}` has cores"
        hint = f"it takes a core for each rank{_as_written(cores, machine)}"
        mistake = graph.failure(Diagnostic("too-many-ranks", message, trait.span, hint=hint))
        time = graph.if_else(graph.compare(">", among.count, cores), mistake, time)
    if asked is not None:
        message = f"there are more ranks in `{trait.name}` than the nodes of machine `{machine.name}` take"
        hint = f"`{among.network.component.name}.ranks_per_node` says how many each takes"
        mistake = graph.failure(Diagnostic("too-many-ranks", message, trait.span, hint=hint))
        time = graph.if_else(graph.compare(">", among.count, asked * among.network.nodes), mistake, time)
    return time


def _as_written(cores: Expr, machine: Machine) -> str:
    """How many cores there are, unless a setting changes that; nothing where the model does not say."""
    try:
        (number,) = evaluate_many([cores], None, 0, machine.definitions)
    except EvaluationError:
        return ""
    return f"; as it is written, it has {int(number):,}"
