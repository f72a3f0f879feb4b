"""Kinds of cores: one socket with performance and efficiency cores.

By the reference rules the first core that offers a resource serves all of it. A socket that says

    property schedule [balanced]  // or dynamic: parts are dealt out to all kinds of cores as these become free
    property schedule [static]    // each core has as many parts

has its other kinds work as well, and so does one of which a user asks it. Ranks that occupy a core each go to all kinds
where each kind says `property rank`, or where they are asked to occupy cores (`--bind core`) of such a socket: they
fill the first kind, then the next. What the kinds take together is in `cost/schedules.py`. Caches are those of the
first kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.models.application.flow import Schedule
from aspenpy.models.machine.model import Machine, Place, one_of

SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)

FIRST, BALANCED = "first", "balanced"
"""Further words of machines: the first kind of core works alone; the older name of `dynamic`."""

RANK = "rank"
"""The flag of a component that a rank occupies."""


def other_kinds(places: Sequence[Place]) -> list[Place]:
    """The kinds of cores behind the first one, in the same socket."""
    cores = [place for place in places if place.component.type == "core"]
    return [core for core in cores[1:] if _socket(core) == _socket(cores[0])]


def _socket(place: Place) -> tuple[str, ...]:
    """The path of the socket that a core is in, or of what it is in where there is none."""
    types = [parent.type for parent in place.parents]
    return place.path[: types.index("socket") + 1] if "socket" in types else place.path[:-1]


def working_kinds(places: Sequence[Place], asked: Schedule | None = None) -> tuple[Place, ...]:
    """Further kinds of cores that work beside the first one: a user asks for a schedule, their socket says one, or
    each kind says that a rank occupies it."""
    others = other_kinds(places)
    if not others:
        return ()
    (first, *_) = (place for place in places if place.component.type == "core")
    return tuple(
        core
        for core in others
        if asked is not None or _stated_schedule(core) != FIRST or (_has_ranks(first) and _has_ranks(core))
    )


def _has_ranks(core: Place) -> bool:
    """Whether a core says that a rank occupies it."""
    flag = core.component.properties.get(RANK)
    return flag is not None and flag.value is None


def _stated_schedule(core: Place) -> str:
    """The schedule of a block's parts, as the nearest component around a core states it."""
    stating = next((each for each in reversed(core.parents) if "schedule" in each.properties), core.component)
    return one_of(stating, "schedule", (FIRST, BALANCED, *SCHEDULES), FIRST)


def machine_schedule(core: Place | None) -> Schedule | None:
    """The schedule that a machine states around a core; None where it states none."""
    stated = FIRST if core is None else _stated_schedule(core)
    return None if stated == FIRST else "static" if stated == "static" else "dynamic"


def warn_of_idle_kinds(machine: Machine, socket: str | None, working: Sequence[Place]) -> list[Diagnostic]:
    """Warnings of kinds of cores that a socket has and that have no part in any work, beside those `working`."""
    first = machine.first_core(socket)
    warnings: list[Diagnostic] = []
    for core in other_kinds([*machine.first_places(socket)]):
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
            warnings.append(warning("idle-kind", message, core.component.name_span, hint=hint))
    return warnings


def all_cores(core: Place, others: Sequence[Place]) -> Place:
    """The first kind of core, counted with the others."""
    return core.replace(count=_sum_counts([core.count, *(other.count for other in others)])) if others else core


def _sum_counts(counts: Sequence[Expr]) -> Expr:
    """The sum of counts, as the product of their common factors with the sum of the rest."""
    products = [[*count.args] if count.kind == "mul" else [count] for count in counts]
    common = []
    for factor in [*products[0]]:
        if all(factor in factors for factors in products):
            common.append(factor)
            for factors in products:
                factors.remove(factor)
    return graph.mul(*common, graph.add(*(graph.mul(*factors) for factors in products)))
