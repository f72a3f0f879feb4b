"""The numbers of two machines side by side, part by part."""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.answers.checks.plausibility import RANGES
from aspenpy.answers.peaks import value_of
from aspenpy.cost.caches.level import levels_of
from aspenpy.models.machine.model import Component, Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result

LARGE = 0.2
"""A change that is marked."""


class Pair(Record):
    """A property of both machines, in its base unit; None where one does not state it as a number."""

    part: str
    name: str
    unit: str
    first: float | None
    second: float | None

    @property
    def change(self) -> float | None:
        """The change from the first to the second, relative to the first."""
        if self.first is None or self.second is None:
            return None
        return (self.second / self.first - 1) if self.first else (0.0 if not self.second else None)


class SideBySide(Record, Result):
    """Two machines, the first kind of socket of each, and their properties by part."""

    first: Machine
    second: Machine
    titles: tuple[str, str]
    pairs: tuple[Pair, ...]


def side_by_side(first: Machine, second: Machine, titles: tuple[str, str]) -> SideBySide:
    """Compares core, caches, memory and socket of two machines, property by property."""
    parts = [dict(_list_parts(machine)) for machine in (first, second)]
    pairs = []
    for part in dict.fromkeys([*parts[0], *parts[1]]):
        components = [found.get(part) for found in parts]
        values = [
            _numbers_of(machine, component) for machine, component in zip((first, second), components, strict=True)
        ]
        kind = next(component.type for component in components if component is not None)
        for name in dict.fromkeys([*values[0], *values[1]]):
            limits = RANGES.get((kind, name))
            pairs.append(Pair(part, name, limits.unit if limits else "", values[0].get(name), values[1].get(name)))
    return SideBySide(first, second, titles, tuple(pairs))


def _list_parts(machine: Machine) -> Iterator[tuple[str, Component]]:
    """The first socket, core, memory, and the caches from the core outwards."""
    socket = machine.sockets[0] if machine.sockets else None
    places = list(machine.first_places(socket))
    for kind in ("socket", "core"):
        yield from ((kind, place.component) for place in places if place.component.type == kind)
    for number, level in enumerate(levels_of(machine, socket), 1):
        yield f"cache {number}", level.place.component
    yield from ((kind, place.component) for kind in ("memory",) for place in places if place.component.type == kind)


def _numbers_of(machine: Machine, component: Component | None) -> dict[str, float]:
    if component is None:
        return {}
    known = {
        name: value_of(item.value, machine.definitions)
        for name, item in component.properties.items()
        if item.value is not None
    }
    return {name: float(value) for name, value in known.items() if value is not None and not isinstance(value, tuple)}
