"""Prices: what a requirement and a block take on the components that serve them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from aspenpy.cost.instances import Instances
from aspenpy.cost.sharing import norm
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.models.application.total import sum_terms
from aspenpy.models.machine.model import Place, Resource
from aspenpy.record import Record

if TYPE_CHECKING:
    from aspenpy.cost.caches.traffic import RequirementTraffic

MEMORY_RESOURCES = ("loads", "stores")
"""What a memory is asked for, and data that lie in a certain one."""

LAUNCH = "launch"
"""What a block is called to wait for before it begins."""

NOISE = "noise"
"""The name of the wait of an exchange for ranks which the system interrupts."""

LAUNCHED = ("core", "cache", "memory")
"""The types of components whose work begins with a launch: transfers over a link have a latency of their own."""


class Offer(Record):
    """Who serves a resource: the first component that offers it, depth first, or the memory in which data lie. One
    that others come before has an `alias`, `memory.resource`: what it serves overlaps with what they do. What of it is
    `assumed`, the resource or traits of it, is by a `rule` for cores of its kind and year."""

    resource: Resource
    place: Place
    alias: str | None = None
    assumed: frozenset[str] = frozenset()
    rule: str = ""

    @property
    def where(self) -> str:
        """The component as a path: `keeneland/node/x5660/core`."""
        return "/".join(self.place.path)


FASTEST = "the fastest algorithm"
"""The reason of a lower bound, where a library may choose another algorithm."""


class AppliedTrait(Record):
    """A trait that changed the time of a requirement, and the serial time after it (seconds)."""

    name: str
    arguments: tuple[flow.Argument, ...]
    formula: Expr
    time: Expr

    @property
    def seconds_by_path(self) -> dict[str, Expr]:
        """Seconds of an exchange by the path between ranks that they are due to; nothing for other traits."""
        return {}

    @property
    def is_exchange(self) -> bool:
        """Whether all ranks of a block take part."""
        return False

    def lower_bound(self, values: Callable[[Expr], Any]) -> str | None:
        """The reason why the time is a lower bound, such as the fastest algorithm, by the values of expressions, which
        are None where they differ from call to call; None for a time that is none."""
        return None


class RequirementCost(flow.Node):
    """A requirement on the component that serves it.

    `base` is the serial time before traits, `serial` behind them (seconds), `rounds` how many instances share the
    fullest component. `alone` are the seconds that they take without others on the same memory, `contention` those that
    others cost (`cost.sharing`), `time` both. `sending` are the seconds in which the fullest node sends or takes its
    part of what a file system serves, which `alone` is no less than. Where it says how it touches its data, `traffic`
    is what that moves between the caches, and the times are memory's with what they leave for it. What different
    `unit`s of a component do overlaps. `together` are the instances, or the cores over which ranks spread, that are
    so long busy. `beside` are other kinds of cores that work on it, by a `schedule`. It is `assumed` where its rate is
    that of a rule for such cores.
    """

    requirement: flow.Requirement
    offer: Offer | None
    base: Expr
    traits: tuple[AppliedTrait, ...]
    ignored: tuple[str, ...]
    serial: Expr
    rounds: Expr
    alone: Expr
    contention: Expr = graph.ZERO
    saturation: Expr = graph.ONE
    traffic: RequirementTraffic | None = None
    unit: str = ""
    together: Expr = graph.ONE
    sending: Expr | None = None
    beside: tuple[Offer, ...] = ()
    schedule: flow.Schedule | None = None
    assumed: bool = False

    @property
    def time(self) -> Expr:
        return norm(self.alone, self.contention)

    @property
    def exchanges(self) -> bool:
        """Whether it is an exchange among the ranks of its block, all at once."""
        return any(trait.is_exchange for trait in self.traits)

    @property
    def place(self) -> Place | None:
        """The component that serves it."""
        return None if self.offer is None else self.offer.place

    @property
    def server(self) -> str:
        """The resource that its time counts for, or the alias of the memory that serves it."""
        alias = None if self.offer is None else self.offer.alias
        return alias or self.requirement.resource


class LevelCost(Record):
    """Seconds in which a cache is busy with what a block moves through it: `alone`, and in `contention` with others."""

    name: str
    place: Place
    alone: Expr
    contention: Expr

    @property
    def time(self) -> Expr:
        return norm(self.alone, self.contention)


class Delay(Record):
    """Seconds of a block beside its work: the launch of an accelerator's kernel on a socket, the wait for ranks that
    the system interrupts on a node or core."""

    place: Place
    time: Expr


class ConflictGroup(Record):
    """Resources of one block that cannot overlap, and their time together (seconds)."""

    resources: tuple[str, ...]
    time: Expr


class Wavefront(Record):
    """Seconds of a block whose ranks work in turn: until the last of them begins, `fill`, and of its work if messages
    took no time, `silent`."""

    fill: Expr
    silent: Expr


class BlockCost(flow.Node):
    """A block on the machine: behind its launch, `work` takes as long as the slowest of its groups would alone, and in
    the 2-norm with that what others on the same memory cost. `even` is the work if no amount varied, where one does.
    An exchange waits for `noise`. Ranks of a `wavefront` begin one after the other."""

    block: flow.Block
    instances: Instances
    requirements: tuple[RequirementCost, ...]
    groups: tuple[ConflictGroup, ...]
    work: Expr
    levels: tuple[LevelCost, ...] = ()
    launch: Delay | None = None
    even: Expr | None = None
    noise: Delay | None = None
    wavefront: Wavefront | None = None

    @property
    def delays(self) -> dict[str, Delay]:
        """Seconds beside its work, by the name of that which is waited for."""
        named = {LAUNCH: self.launch, NOISE: self.noise}
        return {name: delay for name, delay in named.items() if delay is not None}

    @property
    def time(self) -> Expr:
        delays = [delay.time for delay in self.delays.values()]
        return graph.add(*delays, self.work) if delays else self.work


def first_largest(times: list[Expr]) -> list[Expr]:
    """Conditions, one for each time, that it is the largest, the first of equals. A time is compared with others only:
    with the largest of all it would be equal but for rounding, which long loops would have to look into."""
    largest = []
    for position, time in enumerate(times):
        before, after = times[:position], [other for other in times[position + 1 :] if other is not time]
        if any(other is time for other in before):
            largest.append(graph.compare("<", graph.ONE, graph.ZERO))
            continue
        above = graph.compare(">", time, _largest_of(before)) if before else graph.TRUE
        largest.append(
            graph.junction("and", above, graph.compare(">=", time, _largest_of(after)) if after else graph.TRUE)
        )
    return largest


def _largest_of(times: list[Expr]) -> Expr:
    return times[0] if len(times) == 1 else graph.apply("max", *times)


BRANCHES = "branches"

ALL_OTHERS = "*"
"""In place of the second resource of a conflict: the first overlaps with no other, and these still with each other."""


def conflict_groups(times: Mapping[str, Expr], conflicts: frozenset[tuple[str, str]]) -> tuple[ConflictGroup, ...]:
    """The resources of a block in groups that conflict, transitively through resources of the block, in the order in
    which they first appear. What conflicts with `ALL_OTHERS` adds to each group. Wrong guesses add to each resource
    that they conflict with, and these still overlap: the core does nothing useful until it is on the right way
    (Eyerman et al., TOCS 27(2), 2009)."""
    alone = next((first for first, second in conflicts if second == ALL_OTHERS), None)
    if alone is not None and alone in times and len(times) > 1:
        rest = {name: time for name, time in times.items() if name != alone}
        pairs = frozenset(pair for pair in conflicts if alone not in pair)
        return tuple(
            ConflictGroup((*group.resources, alone), graph.add(group.time, times[alone]))
            for group in conflict_groups(rest, pairs)
        )
    lost = {name for pair in conflicts if BRANCHES in pair for name in pair} & times.keys()
    if not lost > {BRANCHES}:
        return _connected_groups(times, conflicts)
    rest = {name: time for name, time in times.items() if name != BRANCHES}
    groups = _connected_groups(rest, frozenset(pair for pair in conflicts if BRANCHES not in pair))
    return tuple(
        group
        if lost.isdisjoint(group.resources)
        else ConflictGroup((*group.resources, BRANCHES), graph.add(group.time, times[BRANCHES]))
        for group in groups
    )


def _connected_groups(times: Mapping[str, Expr], conflicts: frozenset[tuple[str, str]]) -> tuple[ConflictGroup, ...]:
    leader = {name: name for name in times}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    order = {name: position for position, name in enumerate(times)}
    for first, second in conflicts:
        if first in leader and second in leader:
            low, high = sorted((find(first), find(second)), key=order.__getitem__)
            leader[high] = low
    members: dict[str, list[str]] = {}
    for name in times:
        members.setdefault(find(name), []).append(name)
    return tuple(ConflictGroup(tuple(names), sum_terms(times[name] for name in names)) for names in members.values())


def slowest(groups: tuple[ConflictGroup, ...]) -> Expr:
    """The time of a block: the longest of its groups."""
    return longest([group.time for group in groups])


def longest(times: list[Expr]) -> Expr:
    return graph.apply("max", *times) if len(times) > 1 else times[0] if times else graph.ZERO


LINK = "intracomm"
"""The resource that moves data between the sockets of a node."""


def over_link(offer: Offer, volume: Expr, instances: Iterable[Instances]) -> Expr:
    """Seconds of `volume` bytes to the devices that the instances use: each device's link carries an equal part, at its
    latency."""
    links = longest([each.count_used(offer.place) for each in instances])
    return graph.substitute([offer.resource.time], {offer.resource.argument: graph.div(volume, links)})[0]
