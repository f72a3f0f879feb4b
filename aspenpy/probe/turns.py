"""The capacities of caches, measured: where loads that wait for each other become slower."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log, sqrt

from aspenpy.probe.quantities import Quantities

NEAR = 1.5
"""The factor within which a measured turn agrees with what the system says: rings are a factor of 1.3 to 1.5 apart."""

STEEP = 1.3
"""A level ends where the next one is slower by this factor or more."""


def rings(found: Quantities, prefix: str = "ring_") -> dict[int, float]:
    """Seconds of a load by the bytes of the ring."""
    sizes = {name: name.removeprefix(prefix).removesuffix("_latency") for name in found if name.startswith(prefix)}
    return {int(size): found[name].value for name, size in sorted(sizes.items(), key=_size) if size.isdecimal()}


def _size(item: tuple[str, str]) -> tuple[int, str]:
    return len(item[1]), item[1]


def turn(latencies: Mapping[int, float], inside: float, beyond: float) -> float | None:
    """The bytes at which the latency passes the geometric mean of a level's and the next one's, between two rings by
    the logarithms of both; None where the two are too near to be told apart or no ring is slow enough."""
    if beyond < STEEP * inside:
        return None
    middle, before = sqrt(inside * beyond), None
    for size, seconds in sorted(latencies.items()):
        if seconds >= middle:
            if before is None or before[1] >= seconds:
                return float(size)
            share = (log(middle) - log(before[1])) / (log(seconds) - log(before[1]))
            return exp(log(before[0]) + share * (log(size) - log(before[0])))
        before = (size, seconds)
    return None


def agrees(measured: float, stated: float) -> bool:
    return stated / NEAR <= measured <= stated * NEAR
