"""Ranks: where they live on a machine, and over what of it the work of each is spread.

A machine says what a rank occupies by the flag `rank` on a component:

    core zen4_core { property rank ... }        // an MPI rank for each core
    socket nvidia_h100 { property rank ... }    // one for each device

It counts where a model speaks of ranks: in blocks that say how far each rank can share its work out, `execute [ranks]
of [width]`, and in what ranks send each other. Amounts are those of one rank. A rank that occupies u cores shares its
work out in w = ceil(`width`) equal parts: they take ceil(w/u) turns, so that w/ceil(w/u) cores are at work on average,
its spread. Instances of a block without a width are as in Aspen: ceil(P/Q) of P take turns on each of Q
components.

Ranks fill a node before the next (`compact`). `scatter` gives every node the same number, of neighbours; `cyclic` deals
them out in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from aspenpy.cost.file_systems import is_file_system
from aspenpy.cost.value_mistakes import BoundMistake
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Related, fail, suggest_nearest
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Machine, Place
from aspenpy.record import Record

Distribution = Literal["compact", "scatter", "cyclic"]
DISTRIBUTIONS: tuple[Distribution, ...] = get_args(Distribution)

RANK = "rank"
"""The flag of a component that a rank occupies."""


class RankOptions(Record):
    """What a user asks of ranks against the machine's own word: what each occupies, a type of component or the name of
    one, how many a node takes, and how they are distributed over the nodes."""

    on: str | None = None
    per_node: int | None = None
    distribution: str | None = None


MACHINES_OWN = RankOptions()


class Binding(Record):
    """What a rank occupies, of which a node has `capacity` for ranks."""

    unit: Place
    nodes: Expr
    capacity: Expr
    distribution: Distribution = "compact"

    @property
    def places(self) -> Expr:
        """The ranks that the machine takes."""
        return self.unit.count if self._takes_all else graph.mul(self.capacity, self.nodes)

    @property
    def _takes_all(self) -> bool:
        """Whether a node takes as many ranks as it has places for."""
        return self.capacity is ratio(self.unit.count, self.nodes)

    def on_a_node(self, ranks: Expr) -> Expr:
        """The ranks on the fullest of the nodes."""
        if self.distribution == "compact":
            return graph.apply("min", ranks, self.capacity)
        return graph.apply("ceil", graph.div(ranks, self.nodes))

    def inside(self, place: Place, ranks: Expr) -> Expr:
        """The ranks on the fullest component of a place that has several of what each occupies."""
        if self.distribution == "compact":
            of_a_node = "node" in (place.component.type, *(parent.type for parent in place.parents))
            near = self.on_a_node(ranks) if of_a_node and not self._takes_all else ranks
            return graph.apply("min", near, ratio(self.unit.count, place.count))
        return graph.apply("ceil", graph.div(self.on_a_node(ranks), ratio(place.count, self.nodes)))

    def placed(self, value: Expr, ranks: Expr, machine: Machine, span: Span | None) -> Expr:
        """The value where the machine has places for so many ranks, told at the `span` where not."""
        each, more = f"each occupies {describe_component(self.unit)}", _more_places(self.unit)
        if not self._takes_all:
            each, more = "`--ranks-per-node` sets the number on a node", "put more on a node with `--ranks-per-node`"
        mistake = BoundMistake(
            code="too-many-ranks",
            message=f"more ranks than `{machine.name}` has places for: {each}",
            span=span,
            hint=more,
            value=ranks,
            bound=self.places,
            numbers=f"{{}} ranks, and `{machine.name}` has places for {{}}: {each}",
        )
        return graph.if_else(graph.compare("<=", ranks, self.places), value, graph.failure(mistake))


class Instances(Record):
    """The instances of a block on a machine: `count` of them, of which each keeps `spread` cores busy where it is a
    rank bound to some, of `cores`, in so many `parts`; `placed` is their count, refused where the machine has no places
    for so many."""

    count: Expr
    spread: Expr = graph.ONE
    binding: Binding | None = None
    cores: Expr = graph.ONE
    placed: Expr | None = None
    parts: Expr = graph.ONE

    @property
    def together(self) -> Expr:
        """Cores that they keep busy, if there are so many."""
        return graph.mul(self.count, self.spread)

    def share(self, amount: Expr) -> Expr:
        """What one core that an instance keeps busy does of its amount."""
        return amount if self.spread is graph.ONE else graph.div(amount, self.spread)

    def instances_at(self, place: Place) -> Expr:
        """Those that share the fullest component of a place."""
        if self.binding is None:
            return graph.apply("ceil", graph.div(self.count, place.count))
        if is_file_system(place):
            return graph.apply("ceil", graph.div(self._ranks, place.count))
        inside = ratio(place.count, self.binding.unit.count)
        return graph.if_else(graph.compare(">=", inside, 1), self._any, self._outside(place))

    def busy_at(self, place: Place) -> Expr:
        """The cores at work that share the fullest component of a place, or take turns on it."""
        if self.binding is None or is_file_system(place):
            return self.instances_at(place)
        inside = ratio(place.count, self.binding.unit.count)
        part = self._any
        if inside is not self.cores:  # of which no more than all are busy
            part = graph.mul(part, graph.apply("max", 1, graph.div(self.spread, inside)))
        return graph.if_else(graph.compare(">=", inside, 1), part, graph.mul(self._outside(place), self.spread))

    def count_used(self, place: Place) -> Expr:
        """How many of the components of a place have any work, one at least."""
        if self.binding is None or is_file_system(place):
            return graph.apply("min", graph.apply("max", self.count, 1), place.count)
        by_rank = graph.mul(self.count, ratio(place.count, self.binding.unit.count))
        used = graph.apply("ceil", by_rank) if self.binding.distribution == "compact" else self.count
        return graph.apply("min", graph.apply("max", used, by_rank, 1), place.count)

    def on_a_node(self, nodes: Expr) -> Expr:
        """Those on the fullest of so many nodes."""
        if self.binding is None:
            return graph.apply("ceil", graph.div(self.count, nodes))
        return self.binding.on_a_node(self._ranks)

    def part_on(self, place: Place) -> Expr:
        """Of what all ranks have alike, the part that is on the fullest component of a place."""
        if self.binding is None:
            return graph.div(1, place.count)
        inside = ratio(place.count, self.binding.unit.count)
        of_one = graph.div(self.instances_at(place), graph.apply("max", 1, inside))
        return graph.div(of_one, self._ranks)

    @property
    def _ranks(self) -> Expr:
        """Those of which the last may have less to do."""
        return graph.apply("ceil", self.placed or self.count)

    @property
    def _any(self) -> Expr:
        """1, and 0 where there are no instances."""
        return graph.apply("min", 1, self._ranks)

    def _outside(self, place: Place) -> Expr:
        """Ranks on the fullest component of a place that has several of what a rank occupies."""
        assert self.binding is not None
        return self.binding.inside(place, self._ranks)


def ratio(count: Expr, other: Expr) -> Expr:
    """The quotient of how often two components are there: products of quantities, of which both have those of what both
    are part of."""
    above, below = ([*each.args] if each.kind == "mul" else [each] for each in (count, other))
    for factor in [*below]:
        if factor in above:
            above.remove(factor)
            below.remove(factor)
    return graph.div(graph.mul(*above), graph.mul(*below))


def describe_component(unit: Place) -> str:
    """`a core, `zen4``."""
    return f"a {unit.component.type}, `{unit.component.name}`"


def _more_places(unit: Place) -> str:
    """How more ranks find a place."""
    if unit.component.type == "core":
        return f"take a machine with more of `{unit.component.name}`"
    parts = (part for parent in unit.parents[-1:] for part in parent.parts)
    counts = [part.quantity for part in parts if part.component == unit.component.name]
    if unit.component.type == "socket" and counts and counts[0].kind == "symbol":
        return f"have more of them: `--set {counts[0].payload[0]}=...`"
    return "let each occupy less, `--ranks-on core`"


ONE_INSTANCE = Instances(graph.ONE)


def binding_of(machine: Machine, socket: str | None, options: RankOptions) -> Binding | None:
    """What a rank occupies, by the machine or as a user asks; None where nobody says."""
    places = list(machine.first_places(socket))
    unit = _find_flagged_place(places) if options.on is None else _component(options.on, machine, places)
    if unit is None:
        if options != MACHINES_OWN:
            message = f"machine `{machine.name}` does not say what a rank occupies"
            hint = "say it with --ranks-on, or with `property rank` on a component"
            fail("unbound-ranks", message, machine.root.name_span, hint=hint)
        return None
    distribution = options.distribution or "compact"
    if distribution not in DISTRIBUTIONS:
        hint = suggest_nearest(distribution, DISTRIBUTIONS) or f"there are {', '.join(DISTRIBUTIONS)}"
        fail("unknown-distribution", f"unknown distribution of ranks `{distribution}`", hint=hint)
    nodes = next((place.count for place in places if place.component.type == "node"), graph.ONE)
    capacity = ratio(unit.count, nodes)
    if options.per_node is not None:
        capacity = _at_most(graph.number(_require_rank_count(options.per_node)), capacity, unit)
    return Binding(unit, nodes, capacity, distribution)


def _find_flagged_place(places: Sequence[Place]) -> Place | None:
    """What the machine flags. A `rank` with a value, such as a memory's, is a property like any other."""
    flags = [(place, place.component.properties.get(RANK)) for place in places]
    stated = [(place, flag) for place, flag in flags if flag is not None and flag.value is None]
    for place, flag in stated:
        if not _has_cores(place, places):
            kind, name = place.component.type, place.component.name
            message = f"a rank cannot occupy {kind} `{name}`: there is no core in it"
            fail("no-core-for-rank", message, flag.span, hint="`property rank` stands on a core, or on what has cores")
    if len(stated) > 1:
        (outer, first), (inner, second) = stated[:2]
        both = f"{describe_component(outer)}, and {describe_component(inner)}"
        message = f"two components say that a rank occupies them: {both}"
        related = (Related(first.span, "the other is said here"),) if first.span is not None else ()
        fail("two-ranks", message, second.span, hint="leave `property rank` on one of them", related=related)
    return stated[0][0] if stated else None


def _has_cores(place: Place, places: Sequence[Place]) -> bool:
    """Whether what computes is in it, or is it."""
    core = next((item for item in places if item.component.type == "core"), None)
    return core is None or core.path[: len(place.path)] == place.path


def _component(asked: str, machine: Machine, places: Sequence[Place]) -> Place:
    """The first component of a type or name."""
    for place in places:
        if asked in (place.component.type, place.component.name) and _has_cores(place, places):
            return place
    inhabited = [place.component for place in places if _has_cores(place, places)]
    types = dict.fromkeys(component.type for component in inhabited)
    names = [*types, *(component.name for component in inhabited)]
    hint = suggest_nearest(asked, names) or f"there are {', '.join(types)}"
    message = f"machine `{machine.name}` has no `{asked}` with cores for a rank to occupy"
    fail("no-such-component", message, machine.root.name_span, hint=hint)


def _require_rank_count(ranks: object) -> int:
    """A number of ranks that a user asks for on a node."""
    if not isinstance(ranks, int) or ranks < 1:
        fail("bad-ranks", f"a node takes a whole number of ranks from 1 on, not {ranks!r}")
    return ranks


def _at_most(asked: Expr, capacity: Expr, unit: Place) -> Expr:
    """Ranks on a node, refused where it has no place for so many."""
    each = f"each occupies {describe_component(unit)}"
    mistake = BoundMistake(
        code="too-many-ranks",
        message=f"more ranks on a node than there are places: {each}",
        span=unit.component.name_span,
        hint=f"ask for fewer with `--ranks-per-node`, or {_more_places(unit)}",
        value=asked,
        bound=capacity,
        numbers=f"{{}} ranks on a node, and it has places for {{}}: {each}",
    )
    return graph.if_else(graph.compare("<=", asked, capacity), asked, graph.failure(mistake))
