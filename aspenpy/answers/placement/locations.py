"""Locations: the memories that sockets compute from, and which of them hold a data structure, by the conditions that
decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from aspenpy.cost.instances import Instances
from aspenpy.cost.prices import LINK, Offer, over_link
from aspenpy.cost.target import Target, target_of
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record

HOST = 0  # the memory of the first socket, which all ways lead through


class Memories:
    """The memories by number, the host's first. Sockets whose `loads` the same component serves share one."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        if not machine.sockets:
            message = f"machine `{machine.name}` has no component of type `socket` to place kernels on"
            fail("no-socket", message, machine.root.name_span)
        self.targets = {socket: target_of(machine, socket) for socket in machine.sockets}
        paths = {socket: _path_of_memory(socket, where) for socket, where in self.targets.items()}
        numbers = {path: number for number, path in enumerate(dict.fromkeys(paths.values()))}
        self.of_socket = {socket: numbers[path] for socket, path in paths.items()}
        self.names = tuple(
            next(socket for socket, number in self.of_socket.items() if number == wanted)
            for wanted in range(len(numbers))
        )

    def link(self, source: int, destination: int) -> Offer | None:
        """The link between the host's memory and another one; the socket of the other memory offers it."""
        return self.targets[self.names[max(source, destination)]].offers.get(LINK)

    def transfer(self, source: int, destination: int, volume: Expr, instances: Instances) -> Expr:
        """Seconds in which `volume` bytes get from one memory to another, one of which is the host's, for a block with
        such instances."""
        offer = self.link(source, destination)
        if offer is None:
            socket = self.names[max(source, destination)]
            message = f"no link joins socket `{socket}` to `{self.names[HOST]}`: nothing there offers `{LINK}`"
            hint = f"declare one in it: link L {{ resource {LINK}(volume) [latency + volume/bandwidth] }}"
            return graph.failure(Diagnostic("no-link", message, self.machine.components[socket].name_span, hint=hint))
        return over_link(offer, volume, [instances])


def _path_of_memory(socket: str, where: Target) -> tuple[str, ...]:
    """The path of what serves the loads of a socket, which has a memory of its own where nothing does."""
    offer = where.offers.get("loads")
    return (socket,) if offer is None else offer.place.path


def route_between(held: int, memory: int) -> Iterator[tuple[int, int]]:
    """The hops, through the host, by which data held by some memories (a bit each) get to another."""
    if held >> memory & 1:
        return
    if not held >> HOST & 1:
        yield (held & -held).bit_length() - 1, HOST
    if memory != HOST:
        yield HOST, memory


# -- where a data structure is --------------------------------------------------------------------


class Fork(Record):
    """One place where the condition holds, and another where it does not."""

    condition: Expr
    holds: Location
    fails: Location


Location = int | Fork  # the memories that hold it, a bit each; or a tree of conditions with those at its leaves
State = Mapping[str, Location]  # where each data structure is
Moves = dict[tuple[int, int], Expr]  # how often data go from one memory to another


def fork_location(condition: Expr, holds: Location, fails: Location) -> Location:
    """The tree in which no condition is asked twice on a way to a leaf, and none in vain: equal ones are equal."""
    holds, fails = _assume_condition(holds, condition, True), _assume_condition(fails, condition, False)
    if condition.kind == "boolean":
        return holds if condition is graph.TRUE else fails
    return holds if holds == fails else Fork(condition, holds, fails)


def _assume_condition(where: Location, condition: Expr, truth: bool) -> Location:
    """The tree where the condition is known to hold, or not to."""
    if not isinstance(where, Fork):
        return where
    if where.condition is condition:
        return _assume_condition(where.holds if truth else where.fails, condition, truth)
    holds, fails = _assume_condition(where.holds, condition, truth), _assume_condition(where.fails, condition, truth)
    return holds if holds == fails else Fork(where.condition, holds, fails)


def touch_location(where: Location, memory: int, writes: bool) -> tuple[Location, Moves]:
    """Location of data after a socket touched them, and the moves. Memories on the way keep copies unless it writes."""
    if isinstance(where, Fork):
        holds, if_so = touch_location(where.holds, memory, writes)
        fails, if_not = touch_location(where.fails, memory, writes)
        moves = {
            hop: graph.if_else(where.condition, if_so.get(hop, graph.ZERO), if_not.get(hop, graph.ZERO))
            for hop in dict.fromkeys((*if_so, *if_not))
        }
        return fork_location(where.condition, holds, fails), moves
    hops = tuple(route_between(where, memory))
    reached = 1 << memory | (1 << HOST if hops else 0) | where
    return (1 << memory if writes else reached), dict.fromkeys(hops, graph.ONE)


def conditions(where: Location) -> list[Expr]:
    if not isinstance(where, Fork):
        return []
    return [where.condition, *conditions(where.holds), *conditions(where.fails)]


def put_in(where: Location, bindings: Mapping[Expr, Expr]) -> Location:
    """The tree with the arguments of a call put into its conditions."""
    if not isinstance(where, Fork):
        return where
    condition = graph.substitute([where.condition], bindings)[0]
    return fork_location(condition, put_in(where.holds, bindings), put_in(where.fails, bindings))


def decide_memories(where: Location, holds: Callable[[Expr], bool]) -> int:
    """The memories that hold it, given which conditions hold."""
    while isinstance(where, Fork):
        where = where.holds if holds(where.condition) else where.fails
    return where
