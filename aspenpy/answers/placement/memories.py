"""Memories: what the sockets of a machine compute from, and the way from one to another."""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.cost.compute import Target, target
from aspenpy.cost.prices import Offer
from aspenpy.cost.transfer import LINK, over_link
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.models.machine.model import Machine

HOST = 0  # the memory of the first socket, which all ways lead through


class Memories:
    """The memories by number, the host's first. Sockets whose `loads` the same component serves share one."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        if not machine.sockets:
            message = f"machine `{machine.name}` has no component of type `socket` to place kernels on"
            fail("no-socket", message, machine.root.name_span)
        self.targets = {socket: target(machine, socket) for socket in machine.sockets}
        paths = {socket: _memory(socket, where) for socket, where in self.targets.items()}
        numbers = {path: number for number, path in enumerate(dict.fromkeys(paths.values()))}
        self.of_socket = {socket: numbers[path] for socket, path in paths.items()}
        self.names = tuple(
            next(socket for socket, number in self.of_socket.items() if number == wanted)
            for wanted in range(len(numbers))
        )

    def link(self, source: int, destination: int) -> Offer | None:
        """What joins two memories, one of which is the host's: the link that the other's socket offers."""
        return self.targets[self.names[max(source, destination)]].offers.get(LINK)

    def transfer(self, source: int, destination: int, volume: Expr) -> Expr:
        """Seconds in which so many bytes get from one memory to another, one of which is the host's."""
        offer = self.link(source, destination)
        if offer is None:
            socket = self.names[max(source, destination)]
            message = f"no link joins socket `{socket}` to `{self.names[HOST]}`: nothing there offers `{LINK}`"
            hint = f"declare one in it: link L {{ resource {LINK}(volume) [latency + volume/bandwidth] }}"
            return graph.failure(Diagnostic("no-link", message, self.machine.components[socket].name_span, hint=hint))
        return over_link(offer, volume)


def _memory(socket: str, where: Target) -> tuple[str, ...]:
    """The path of what serves the loads of a socket, which has a memory of its own where nothing does."""
    offer = where.offers.get("loads")
    return (socket,) if offer is None else offer.place.path


def way(held: int, memory: int) -> Iterator[tuple[int, int]]:
    """The hops, through the host, by which data held by some memories (a bit each) get to another."""
    if held >> memory & 1:
        return
    if not held >> HOST & 1:
        yield (held & -held).bit_length() - 1, HOST
    if memory != HOST:
        yield HOST, memory
