"""Paths between ranks: inside a socket, between the sockets or devices of a node, between nodes.

A path is a component of type `interconnect` that offers `messages`. It joins what stands in the component that it is a
part of: in a socket the ranks there, in a node its sockets, where these have a path of their own, or else its ranks, in
the machine the nodes. `property joins [NAME]` leaves it to the ranks on one kind of socket. A message takes the path of
the smallest component that both ends are in; the outermost path is the one that serves `messages`.

Paths inside a node count where it is known which ranks are there: where a rank is bound to what it occupies
(`cost.ranks`). Such a path has as many ports as its quantity says; where it stands once, one for each end.
"""

from __future__ import annotations

from aspenpy.cost.ranks import RankPlacement
from aspenpy.cost.value_mistakes import BoundMistake
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Machine, Place, word_of_property
from aspenpy.record import Record

INTERCONNECT, MESSAGES = "interconnect", "messages"
"""The type of a path, and the resource that it offers."""

PROGRESS, IN_CALLS = ("asynchronous", "in_calls"), "in_calls"
"""Words of the property `progress`: messages go on beside work, as hardware sees to it, or in the library's calls."""

MESSAGE = "message"
"""What a message without an exchange is called."""


class Paths(Record):
    """The paths between the ranks on a machine, innermost first, each with what it stands in; `ranks` is where they
    live, if anybody says what each occupies."""

    machine: Machine
    socket: str | None = None
    ranks: RankPlacement | None = None
    places: tuple[tuple[Place, Place], ...] = ()

    @property
    def by_level(self) -> bool:
        """Whether it is known which messages stay inside a node, and what they take there."""
        return self.ranks is not None and any(len(place.path) > 2 for place, _ in self.places)

    def serves(self, place: Place) -> bool:
        """Whether messages that a component serves take these paths; not of ranks on cores without a path inside."""
        network = "topology" in place.component.properties and self.ranks and self.ranks.unit.component.type != "core"
        return bool(self.by_level or network) and self.end_in(place)

    def end_in(self, place: Place) -> bool:
        """Whether the outermost path is a component's."""
        return bool(self.places) and self.places[-1][0].path == place.path

    def require_path(self, value: Expr, ranks: Expr, span: Span | None) -> Expr:
        """The value where the machine has places for `ranks` ranks and some path joins them; otherwise a failure at the
        `span`."""
        assert self.ranks is not None
        outermost = self.places[-1][1] if self.places else None
        if outermost is not None and outermost.parents:
            within = self.ranks.fullest(outermost, ranks)
            mistake = BoundMistake(
                code="no-path",
                message=f"no interconnect of machine `{self.machine.name}` joins so many ranks",
                span=span,
                hint=f"one in `{self.machine.root.name}` joins its nodes",
                value=ranks,
                bound=within,
                numbers=f"no interconnect of machine `{self.machine.name}` joins {{}} ranks, but {{}} of them",
            )
            value = graph.if_else(graph.compare("<=", ranks, within), value, graph.failure(mistake))
        return self.ranks.require_places(value, ranks, self.machine, span)


def paths_of(machine: Machine, socket: str | None, ranks: RankPlacement | None) -> Paths:
    """The paths on the way from the machine to what a rank occupies, or to the socket."""
    places = list(machine.first_places(socket))
    by_path = {place.path: place for place in places}
    found: dict[tuple[str, ...], Place] = {}
    for place in places:
        path = place.component.type == INTERCONNECT and MESSAGES in place.component.resources
        if path and _joins(machine, place, socket, ranks):
            found.setdefault(place.path[:-1], place)
    if ranks is not None:
        unit = ranks.unit.path
        found = {path: place for path, place in found.items() if len(path) < len(unit) and unit[: len(path)] == path}
    inwards = sorted(found, key=len, reverse=True)
    return Paths(machine, socket, ranks, tuple((found[path], by_path[path]) for path in inwards))


def _joins(machine: Machine, place: Place, socket: str | None, ranks: RankPlacement | None) -> bool:
    """Whether an interconnect joins the ranks on a socket, by its property `joins`; it joins all without one."""
    component = place.component
    named = word_of_property(component, "joins")
    if named is None:
        return True
    if named not in machine.components:
        span = component.properties["joins"].span
        message = f"{component.type} `{component.name}` joins `{named}`, and machine `{machine.name}` has none"
        fail("no-such-component", message, span, hint=suggest_nearest(named, machine.components))
    return named == socket or (ranks is not None and named in ranks.unit.path)
