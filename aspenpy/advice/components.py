"""Hardware components: the characteristics of hardware that can be varied, and where a machine model has them.

The rows are the boxes of figure 4.9 of Umar's dissertation (Virginia Tech, 2018). A component of a machine model is
another thing: one kind of part in its tree (`models.machine.model.Component`).
"""

from __future__ import annotations

from aspenpy.record import Record

QUANTITY = ""  # in the place of a property: how many parts of that type their parent has


class Location(Record):
    """Where a hardware component stands in a machine model: a property of the parts of a type (core, cache, memory), or
    how many of them there are (`QUANTITY`)."""

    type: str
    property: str


class HardwareComponent(Record):
    """A characteristic of hardware that can be varied.

    `unit` is that of its values, empty for a number. `locations` are looked for in order; the first that the machine
    states is varied. `whole` values only, such as cores. `physical` are the least and the greatest value that hardware
    can have, with the `source` of both: ranges are cut there.
    """

    name: str
    title: str
    unit: str
    locations: tuple[Location, ...]
    physical: tuple[float, float]
    source: str
    whole: bool = False


COMPONENTS: dict[str, HardwareComponent] = {
    item.name: item
    for item in (
        HardwareComponent(
            "clock",
            "core clock",
            "Hz",
            (Location("core", "clock"),),
            (100e6, 6.2e9),
            "Intel Core i9-14900KS, 6.2 GHz: the highest clock that was sold; 100 MHz: the bus clock",
        ),
        HardwareComponent(
            "cores",
            "cores of a socket",
            "",
            (Location("core", QUANTITY),),
            (1, 1024),
            "at least one; 1,024 are beyond every processor sold",
            whole=True,
        ),
    )
}
"""By name."""


class KnownCounter(Record):
    """A counter, or a group of counters, that is known to measure some hardware components: the `tool` that reads it
    (likwid, perf, ncu, nvprof), its `name` there (a group, an event or a metric; `*` stands for any part of one), the
    names of the components, the closest first, and the `source` that says so."""

    tool: str
    name: str
    components: tuple[str, ...]
    source: str
