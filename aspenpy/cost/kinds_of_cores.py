"""Kinds of cores: one socket with performance and efficiency cores.

By the reference rules the first core that offers a resource serves all of it. A socket that says

    property schedule [balanced]  // a dynamic schedule over all kinds of cores

has its other kinds work as well. Parts are dealt out as cores become free, so that the rates of all cores add: N equal
parts that take t_1 on each of Q_1 cores, and t_2 on each of Q_2, take

    max(min(t_1, t_2), N/(Q_1/t_1 + Q_2/t_2))

no less than one part takes on the faster kind. That a whole number of parts runs on each core is left out: the last
ones end up to one part later. A rank that occupies several kinds of cores deals its own parts out in the same way.
Ranks that occupy a core each are bound to the kind that says `rank`; caches are those of the first kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.prices import Offer, RequirementCost
from aspenpy.cost.ranks import Instances
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.models.machine.model import Machine, Place, one_of

SCHEDULES = ("first", "balanced")
"""Who works on the parts of a block: the first kind of core, or all kinds as they become free."""


def other_kinds(places: Sequence[Place]) -> list[Place]:
    """The kinds of cores behind the first one, in the same socket."""
    cores = [place for place in places if place.component.type == "core"]
    return [core for core in cores[1:] if _socket(core) == _socket(cores[0])]


def _socket(place: Place) -> tuple[str, ...]:
    """The path of the socket that a core is in, or of what it is in where there is none."""
    types = [parent.type for parent in place.parents]
    return place.path[: types.index("socket") + 1] if "socket" in types else place.path[:-1]


def helping(places: Sequence[Place]) -> tuple[Place, ...]:
    """Further kinds of cores that work beside the first one, since their socket says so."""
    others = other_kinds(places)
    return tuple(core for core in others if _schedule(core) == "balanced")


def _schedule(core: Place) -> str:
    """How the parts of a block are dealt out: by the nearest component around a core that says it."""
    stating = next((each for each in reversed(core.parents) if "schedule" in each.properties), core.component)
    return one_of(stating, "schedule", SCHEDULES, SCHEDULES[0])


def idle_kinds(machine: Machine, socket: str | None) -> list[Diagnostic]:
    """Warnings of kinds of cores that a socket has and that have no part in any work."""
    places = [*machine.first_places(socket)]
    working, first = helping(places), machine.first_core(socket)
    found: list[Diagnostic] = []
    for core in other_kinds(places):
        name, offered = core.component.name, core.component.resources
        assert first is not None
        alone = [each for each in first.component.resources if each in offered and core not in working]
        missing = [each for each in first.component.resources if each not in offered]
        names = ", ".join(f"`{each}`" for each in alone or missing)
        if alone:
            message = f"core `{name}` stands idle: `{first.component.name}` serves all of {names}"
            hint = "`property schedule [balanced]` on their socket deals the parts of a block out to both"
        elif missing:
            message = f"core `{name}` does not offer {names}: `{first.component.name}` works alone on it"
            hint = "give both kinds of cores of a socket the same resources, at their own rates"
        if alone or missing:
            found.append(warning("idle-kind", message, core.component.name_span, hint=hint))
    return found


def all_cores(core: Place | None, others: Sequence[Place]) -> Place | None:
    """The first kind of core, counted with the others."""
    return core if core is None or not others else core.replace(count=graph.add(core.count, *(o.count for o in others)))


def on_all_kinds(cost: RequirementCost, others: Sequence[tuple[Offer, Expr]], instances: Instances) -> RequirementCost:
    """The price of a requirement on the first kind of core, shared out to the others too, with the seconds that one
    instance takes on each of those."""
    assert cost.place is not None
    placement = instances.placement
    if placement is not None and placement.unit.component.type == "core":
        return cost
    speeds = [_quotient(cost.serial, seconds) for _, seconds in others]
    counts = [instances.available(place) for place in (cost.place, *(offer.place for offer, _ in others))]
    if placement is not None:
        counts = [placement.of_rank(count) for count in counts]
    cores = graph.add(counts[0], *(graph.mul(count, speed) for count, speed in zip(counts[1:], speeds, strict=True)))
    if placement is None:
        least = graph.div(graph.apply("min", 1, graph.apply("ceil", instances.count)), graph.apply("max", 1, *speeds))
        rounds = graph.apply("max", least, graph.div(instances.count, cores))
    else:
        rounds = graph.mul(cost.rounds, graph.div(instances.spread, graph.apply("min", instances.parts, cores)))
    kinds = tuple(offer for offer, _ in others)
    return cost.replace(rounds=rounds, alone=graph.mul(rounds, cost.serial), beside=kinds)


def _quotient(first: Expr, second: Expr) -> Expr:
    """How fast another kind works in units of the first: alike where there is nothing to do."""
    return graph.if_else(graph.compare(">", second, 0), graph.div(first, second), graph.ONE)
