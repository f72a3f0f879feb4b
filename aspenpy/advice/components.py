"""Hardware components: the characteristics of hardware that can be varied, and where a machine model has them.

The rows are the boxes of figure 4.9 of Umar's dissertation (Virginia Tech, 2018). A component of a machine model is
another thing: one kind of part in its tree (`models.machine.model.Component`).
"""

from __future__ import annotations

from typing import Literal

from aspenpy.record import Record

QUANTITY = ""  # in the place of a property: how many parts of that type their parent has

Steps = Literal["real", "whole", "doubling", "alternative"]
"""Which values there are: any number, whole numbers, the stated value halved and doubled, or other parts."""


class Location(Record):
    """Where a hardware component stands in a machine model: a property of the parts of a `type` (core, cache, memory),
    or how many of them there are (`QUANTITY`). Of caches `level` counts from the core, from 1 on."""

    type: str
    property: str
    level: int = 1


class HardwareComponent(Record):
    """A characteristic of hardware that can be varied.

    `unit` is that of its values, empty for a number. `locations` are looked for in order; the first that the machine
    states is varied. `physical` are the least and the greatest value that hardware can have, with the `source` of both:
    ranges are cut there. `sold` is the greatest that can be bought, and as what: where nobody states a range, a value
    is widened that far at most. `turned` is how somebody changes it on a machine that is there; without it a component
    is varied only where it is named. `down` says that it can be turned to less than what the machine states, and not to
    more, where no range is declared.
    """

    name: str
    title: str
    unit: str
    locations: tuple[Location, ...]
    physical: tuple[float, float]
    source: str
    steps: Steps = "real"
    sold: tuple[float, str] | None = None
    turned: str = ""
    down: bool = False


def _at(type_: str, *properties: str, level: int = 1) -> tuple[Location, ...]:
    return tuple(Location(type_, name, level) for name in properties)


MANY = 1e7  # parts: ten times the cores of the largest systems of the TOP500
CLOCKS, RATES = (1e8, 1e10), (1e6, 1e14)
CACHE_SIZES = (64.0, 2**32)

COMPONENTS: dict[str, HardwareComponent] = {
    item.name: item
    for item in (
        HardwareComponent(
            "clock", "core clock", "Hz", _at("core", "clock"), CLOCKS, "a bus clock; above all processors sold",
            turned="cpufreq, nvidia-smi -lgc", down=True
        ),
        HardwareComponent(
            "voltage", "core voltage", "V", (*_at("core", "voltage"), *_at("socket", "voltage")), (0.3, 2.0),
            "near the threshold of transistors; above all processors sold"),
        HardwareComponent(
            "uncore_clock", "clock of the uncore", "Hz", _at("socket", "uncore_clock"), CLOCKS, "as the core clock",
            sold=(5e9, "the ring of a Core i9-14900K: assumed")
        ),
        HardwareComponent(
            "cores", "cores of a socket", "", _at("core", QUANTITY), (1, 1e5), "at least one; above all sockets sold",
            "whole", turned="left idle by the batch system", down=True),
        HardwareComponent(
            "smt", "hardware threads of a core", "", _at("core", "threads"), (1, 8), "one to SMT8 of POWER9", "whole",
            turned="the firmware", down=True
        ),
        HardwareComponent(
            "simd_width", "SIMD width", "", _at("core", "simd_width"), (1, 1024),
            "one lane; 2,048-bit vectors of SVE on sixteen pipes", "doubling"),
        *(
            HardwareComponent(
                f"l{level}_capacity", f"capacity of the L{level} cache", "B", _at("cache", "capacity", level=level),
                CACHE_SIZES, "a line; above all caches sold", "doubling")
            for level in (1, 2, 3)
        ),
        HardwareComponent(
            "prefetch", "lines that a miss fetches", "", _at("cache", "prefetch", level=2), (1, 64),
            "the line alone; a page of 4 KiB in lines of 64 B", "doubling"),
        HardwareComponent(
            "memory_bandwidth", "memory bandwidth", "B/s", _at("memory", "bandwidth"), RATES, "above all memories sold",
            turned="channels without modules", down=True
        ),
        HardwareComponent(
            "memory_clock", "memory clock", "Hz", _at("memory", "clock", "channel_bandwidth"), CLOCKS,
            "as the core clock", turned="the firmware's speed of memory", down=True),
        HardwareComponent(
            "memory_latency", "memory latency", "s", _at("memory", "latency"), (1e-9, 1e-3),
            "a cache's; that of solid-state disks"),
        HardwareComponent(
            "memory_capacity", "memory capacity", "B", _at("memory", "capacity"), (2**20, 2**60), "1 MiB; 1 EiB",
            "doubling"),
        HardwareComponent(
            "sockets", "sockets of a node", "", _at("socket", QUANTITY), (1, 1024), "at least one", "whole",
            turned="left idle by the batch system", down=True
        ),
        HardwareComponent(
            "nodes", "nodes", "", _at("node", QUANTITY), (1, MANY), "at least one", "whole",
            turned="the batch system", down=True),
        HardwareComponent(
            "network_bandwidth", "bandwidth of a network port", "B/s", _at("interconnect", "bandwidth"), RATES,
            "above all networks sold", turned="another network"),
        HardwareComponent(
            "network_latency", "latency of the network", "s", _at("interconnect", "latency"), (1e-8, 1.0),
            "light through 3 m of cable; once around the earth, several times"),
        HardwareComponent("topology", "topology of the network", "", (), (0, 100), "of the library", "alternative"),
        HardwareComponent("memory_kind", "kind of memory", "", (), (0, 100), "of the library", "alternative"),
    )
}  # fmt: skip
"""By name."""
