"""Overlap: branches that run at once, on one socket or on several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from aspenpy.cost.prices import ALL_OTHERS, conflict_groups
from aspenpy.cost.target import Target
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application.total import RUNTIME, Total, Totals, add_totals, of_kind
from aspenpy.models.machine.model import Place

Conflicts = frozenset[tuple[str, str]]


class ExposedTransfers(Total):
    """Seconds of transfers outside of branches that overlap."""


class On(Total):
    """Seconds of blocks on a socket."""

    socket: str


class BusyOn(Total):
    """Seconds in which a resource is in use; the device is None for components that sockets share."""

    device: str | None
    resource: str


class Crossed(Total):
    """Total: the seconds in which a link is in use."""

    link: str | None


WAITING = ExposedTransfers()

IN_WHOLE = frozenset({RUNTIME, WAITING})


def device_of(place: Place | None, socket: str) -> str | None:
    """The socket that a component is part of, or that lacks it; None for what sockets share."""
    if place is None:
        return socket
    return socket if any(item.type == "socket" for item in (*place.parents, place.component)) else None


class Overlap:
    """Seconds of branches that run together.

    Branches that have a socket in common take as long as the slowest of the resources that they share and, where they
    keep the order of their blocks, as long as each alone, as on a single socket, once their data are there. What has no
    socket in common runs at once, and takes as long as the longest. What they share (the links, the interconnect, the
    memory of a node) serves one after the other.
    """

    def __init__(self, conflicts: Mapping[str, Conflicts], targets: Mapping[str, Target]) -> None:
        self.conflicts = frozenset(
            (
                _name_resource(first, socket, targets),
                second if second == ALL_OTHERS else _name_resource(second, socket, targets),
            )
            for socket, pairs in conflicts.items()
            for first, second in pairs
        )

    def overlap_branches(self, branches: Sequence[Totals], in_order: bool) -> Totals:
        """The totals of all, in which the runtime is that of the whole, transfers included."""
        together = add_totals(branches)
        parties = list(_group_branches(branches))
        if len(parties) == 1:
            whole = self._overlapped_time(branches, in_order)
        else:
            times = [
                self._overlapped_time(party, in_order)
                if len(party) > 1
                else graph.add(*(party[0].get(part, graph.ZERO) for part in (RUNTIME, WAITING)))
                for party in parties
            ]
            links = of_kind(Crossed, together).values()
            common = [time for key, time in of_kind(BusyOn, together).items() if key.device is None]
            whole = graph.apply("max", *times, *links, *common)
        kept = {key: worth for key, worth in together.items() if key not in IN_WHOLE}
        return {RUNTIME: whole, **kept}

    def _overlapped_time(self, branches: Sequence[Totals], in_order: bool) -> Expr:
        together = add_totals(branches)
        busy = {_join_names(key.device, key.resource): time for key, time in of_kind(BusyOn, together).items()}
        times = [group.time for group in conflict_groups(busy, self.conflicts)]
        if in_order:
            times += [branch[RUNTIME] for branch in branches if RUNTIME in branch]
        longest = graph.apply("max", *times) if len(times) > 1 else graph.add(*times)
        waiting = together.get(WAITING)
        return longest if waiting is None else graph.add(longest, waiting)


def _group_branches(branches: Sequence[Totals]) -> Iterator[list[Totals]]:
    """The branches in groups with sockets in common. A branch without a socket is in no group."""
    parties: list[tuple[set[str], list[Totals]]] = []
    for branch in branches:
        sockets = {key.socket for key in of_kind(On, branch)}
        joined = [party for party in parties if party[0] & sockets]
        parties = [party for party in parties if not party[0] & sockets]
        sockets = sockets.union(*(party[0] for party in joined))
        parties.append((sockets, [*(item for party in joined for item in party[1]), branch]))
    return (party for _, party in parties)


def _join_names(device: str | None, resource: str) -> str:
    return f"{device or ''}/{resource}"


def _name_resource(resource: str, socket: str, targets: Mapping[str, Target]) -> str:
    offer = targets[socket].offers.get(resource)
    return _join_names(device_of(offer.place if offer else None, socket), resource)
