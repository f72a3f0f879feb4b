"""Ceilings: the most flops, or bytes, a second of a machine, with caches, memories and traits kept apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aspenpy.answers.peaks import Peak, redefine_parameters, value_of
from aspenpy.answers.scope import Setting
from aspenpy.cost.caches.level import Level, levels_of
from aspenpy.cost.instances import FILE_RESOURCES
from aspenpy.cost.target import target_of
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.machine.model import Component, Machine
from aspenpy.record import Record

COMPUTE = "flops"
MEMORY = ("loads", "stores")


class Ceiling(Record):
    """The most flops, or bytes, a second under some traits: of one of the `count` components, and of all. `peak` is
    the data sheet's rate of all of them, where the machine states one beside what is attained."""

    resources: tuple[str, ...]
    traits: tuple[str, ...]
    path: tuple[str, ...]
    count: float
    one: float
    rate: float
    peak: float | None = None

    @property
    def component(self) -> str:
        return self.path[-1]


def compute_ceilings(peaks: Iterable[Peak]) -> tuple[Ceiling, ...]:
    """The ceilings of flops, one for each combination of traits."""
    return tuple(_ceiling_of_peak(peak) for peak in peaks if peak.resource == COMPUTE and peak.of_all)


def memory_ceilings(
    peaks: Iterable[Peak], machine: Machine, socket: str | None, settings: Mapping[str, Setting]
) -> tuple[Ceiling, ...]:
    """The ceilings of memories. Loads and stores of one memory that take turns at the same rate are one ceiling."""
    ceilings: list[Ceiling] = []
    conflicts = target_of(machine, socket).conflicts
    together = not conflicts.isdisjoint((MEMORY, MEMORY[::-1]))
    definitions = redefine_parameters(machine, settings)
    for ceiling in (_ceiling_of_peak(peak) for peak in peaks if peak.resource in MEMORY and peak.of_all):
        if not ceiling.traits:
            ceiling = ceiling.replace(
                peak=_peak_of_data_sheet(machine.components[ceiling.component], ceiling.count, definitions)
            )
        same = [other for other in ceilings if together and _is_same_roof(other, ceiling)]
        if same:
            ceilings[ceilings.index(same[0])] = same[0].replace(resources=(*same[0].resources, *ceiling.resources))
        else:
            ceilings.append(ceiling)
    return tuple(ceilings)


def file_ceilings(peaks: Iterable[Peak]) -> tuple[Ceiling, ...]:
    """The ceilings of file systems, all their servers together. Reading and writing at one rate are one ceiling."""
    ceilings: dict[tuple[tuple[str, ...], float], Ceiling] = {}
    for ceiling in (_ceiling_of_peak(peak) for peak in peaks if peak.resource in FILE_RESOURCES and peak.of_all):
        same = ceilings.get((ceiling.path, ceiling.rate))
        resources = ceiling.resources if same is None else (*same.resources, *ceiling.resources)
        ceilings[ceiling.path, ceiling.rate] = ceiling.replace(resources=resources)
    return tuple(ceilings.values())


def cache_ceilings(machine: Machine, socket: str | None, settings: Mapping[str, Setting]) -> tuple[Ceiling, ...]:
    """The ceilings of the caches between a core and its memory that say their bandwidth, the nearest to the core
    first."""
    definitions = redefine_parameters(machine, settings)
    ceilings = []
    for level in levels_of(machine, socket):
        if level.bandwidth is None:
            continue
        one, count = value_of(level.bandwidth, definitions), value_of(level.place.count, definitions)
        if one is not None and count is not None:
            peak = _peak_of_data_sheet(level.place.component, float(count), definitions)
            ceilings.append(_ceiling_of_cache(level, float(one), float(count)).replace(peak=peak))
    return tuple(ceilings)


def _peak_of_data_sheet(component: Component, count: float, definitions: Mapping[Expr, Expr]) -> float | None:
    """The data sheet's rate of `count` components that state another rate as attained."""
    stated = component.value("bandwidth")
    if stated is None or component.value("attained_bandwidth") is None:
        return None
    one = value_of(stated, definitions)
    return None if one is None else float(one) * count


def _ceiling_of_cache(level: Level, one: float, count: float) -> Ceiling:
    if one <= 0:
        span = level.place.component.properties["bandwidth"].span
        fail("incomplete-cache", f"the `bandwidth` of the cache `{level.name}` is not above 0", span)
    return Ceiling(MEMORY, (), level.place.path, count=count, one=one, rate=one * count)


def _ceiling_of_peak(peak: Peak) -> Ceiling:
    one, count = float(peak.limit or 0), float(peak.count or 0)
    return Ceiling((peak.resource,), peak.traits, peak.path, count=count, one=one, rate=float(peak.of_all or 0))


def _is_same_roof(first: Ceiling, second: Ceiling) -> bool:
    return (first.path, first.traits, first.rate) == (second.path, second.traits, second.rate)
