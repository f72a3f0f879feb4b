"""Rank units: what each rank occupies of a machine, by its own word or as a user asks.

A machine says it by the flag `rank` on a component:

    core zen4_core { property rank ... }        // an MPI rank for each core
    socket nvidia_h100 { property rank ... }    // one for each device
    die mi250x_die { property rank ... }        // of which a board has two
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aspenpy.cost.kinds_of_cores import RANK
from aspenpy.cost.placement_options import DEVICE, NUMA, PlacementOptions
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Related, fail, suggest_nearest
from aspenpy.models.machine.model import Machine, Place


def find_bound_places(
    machine: Machine, places: Sequence[Place], options: PlacementOptions, others: Sequence[Place]
) -> list[Place]:
    """The components that a rank occupies: as the options ask, a core where they ask for cores, else as the machine
    flags it; several kinds of cores where `others` work beside the first. Empty where neither says it."""
    bind = options.bind
    if options.cores_per_rank is not None:
        if bind not in (None, "core") or options.ranks_per_device is not None:
            other = "`--ranks-per-device`" if bind in (None, "core") else f"`--bind {bind}`"
            message = f"`--cores-per-rank` says that each rank has cores of its own, {other} something else"
            fail("contradicting-placement", message, hint="leave one of them out")
        bind = "core"
    elif options.ranks_per_device is not None:
        if bind not in (None, DEVICE, "socket"):
            message = f"`--ranks-per-device` shares devices, but `--bind {bind}` gives each rank one to itself"
            fail("contradicting-placement", message, hint="leave one of them out")
        bind = DEVICE
    if bind is None:
        return _find_flagged_places(places, others)
    if bind == NUMA:
        return [find_domain(places) or _component("socket", machine, places)]
    if bind == DEVICE:
        dies = [place for place in _find_flagged_places(places, others) if place.component.type == "die"]
        return dies or [_component("socket", machine, places)]
    found = _component(bind, machine, places)
    return [found, *others] if bind == "core" else [found]


def find_domain(places: Iterable[Place]) -> Place | None:
    """The NUMA domain of a socket, which is what has a memory of its own there; None where none is in a socket."""
    return next((place for place in places if place.component.type == "memory" and "socket" in _types(place)), None)


def is_on_device(places: Sequence[Place], options: PlacementOptions) -> bool:
    """Whether each rank occupies an accelerator or a share of one, which a host drives: a socket with launches."""
    sockets = [place for place in places if place.component.type == "socket"]
    launched = any(place.component.value("launch_latency") is not None for place in sockets)
    return launched and options.bind in (None, DEVICE, "socket", *(place.component.name for place in sockets))


def count_host_cores(machine: Machine) -> Expr:
    """The cores of all hosts of a machine, sockets without launches. Raises AspenError where there are none."""
    counts = [
        place.count
        for place in machine.first_places()
        if place.component.type == "core"
        and any(each.type == "socket" and each.value("launch_latency") is None for each in place.parents)
    ]
    if not counts:
        message = f"`--cores-per-rank` counts cores of hosts, and machine `{machine.name}` states none"
        hint = "`--ranks-per-device` lets ranks share a device, `--bind core` gives each a core of one"
        fail("no-host", message, machine.root.name_span, hint=hint)
    return graph.add(*counts)


def _types(place: Place) -> list[str]:
    return [parent.type for parent in place.parents]


def _find_flagged_places(places: Sequence[Place], others: Sequence[Place]) -> list[Place]:
    """The components that the machine flags: one, or several kinds of cores. A `rank` with a value, such as a memory's,
    is a property like any other."""
    flags = [(place, place.component.properties.get(RANK)) for place in places]
    stated = [(place, flag) for place, flag in flags if flag is not None and flag.value is None]
    helpers = {place.path for place in others}
    for place, flag in stated:
        if place.path not in helpers and not _has_cores(place, places):
            kind, name = place.component.type, place.component.name
            message = f"a rank cannot occupy {kind} `{name}`: there is no core in it"
            fail("no-core-for-rank", message, flag.span, hint="`property rank` stands on a core, or on what has cores")
    if len(stated) > 1 and not all(place.path in helpers for place, _ in stated[1:]):
        (outer, first), (inner, second) = stated[:2]
        both = f"{describe_component(outer)}, and {describe_component(inner)}"
        message = f"two components say that a rank occupies them: {both}"
        related = (Related(first.span, "the other is said here"),) if first.span is not None else ()
        fail("two-ranks", message, second.span, hint="leave `property rank` on one of them", related=related)
    return [place for place, _ in stated]


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


def domain_parameter(machine: Machine, socket: str | None) -> str:
    """The parameter of a machine that says into how many NUMA domains a socket is divided: the number of its memories.
    Raises AspenError where there is none."""
    for place in machine.first_places(socket):
        if place.component.type == "memory" and "socket" in _types(place):
            around = place.parents[-1]
            count = next(part.quantity for part in around.parts if part.component == place.component.name)
            if count.kind == "symbol" and count.name in machine.declared:
                return str(count.name)
    message = f"machine `{machine.name}` does not say into how many NUMA domains its sockets can be divided"
    hint = "write `memory [domains] m` in the socket, with a parameter, and divide the bandwidth of one by it"
    fail("no-domains", message, machine.root.name_span, hint=hint)


def find_hardware_threads(cores: Sequence[Place]) -> Expr:
    """The hardware threads that each of these kinds of cores has. Raises AspenError where one does not state them."""
    for core in cores:
        if core.component.value("threads") is None:
            hint = "write `property threads [2]`, and `property smt_gain [1.25]`: what both attain, in units of one"
            message = f"core `{core.component.name}` does not state hardware threads"
            fail("no-hardware-threads", message, core.component.name_span, hint=hint)
    stated = [core.component.value("threads") or graph.ONE for core in cores]
    return stated[0] if len(stated) == 1 else graph.apply("min", *stated)


def describe_component(unit: Place, units: int = 1) -> str:
    """`a core, `zen4``, or `4 cores, `zen4``."""
    kind = "NUMA domain" if unit.component.type == "memory" else unit.component.type
    return f"a {kind}, `{unit.component.name}`" if units == 1 else f"{units} {kind}s, `{unit.component.name}`"


def suggest_more_places(unit: Place) -> str:
    """A hint that says how more ranks find a place."""
    if unit.component.type == "core":
        return f"take a machine with more of `{unit.component.name}`"
    parts = (part for parent in unit.parents[-1:] for part in parent.parts)
    counts = [part.quantity for part in parts if part.component == unit.component.name]
    if unit.component.type == "socket" and counts and counts[0].kind == "symbol":
        return f"have more of them: `--set {counts[0].name}=...`"
    return "let each occupy less, `--bind core`"
