"""Classification: what an application, or one of its kernels, is bound by, in time and in energy.

Step 1 of Prometheus (Umar, dissertation, Virginia Tech, 2018, section 4.3.1): by the roofline (Williams, Waterman and
Patterson, CACM 52(4), 2009) and by the roofline of energy (Choi, Bedard, Fowler and Vuduc, IPDPS 2013).
"""

from __future__ import annotations

from typing import Literal

from aspenpy.record import Record

ApplicationClass = Literal["arithmetic", "cache", "memory", "network", "latency", "I/O"]
"""What runs may be bound by: flops and other work of cores, a level of cache, a memory, messages between ranks, times
that do not go with an amount (launches, barriers, start-up of messages), files."""

CLASSES: tuple[ApplicationClass, ...] = ("arithmetic", "cache", "memory", "network", "latency", "I/O")


class BoundShare(Record):
    """A part of a run: the `time` (0 to 1, of its runtime) in which it is bound by one class at one `component` (the
    name of a component of the machine), and the `energy` (0 to 1) that this takes; None where power is not stated."""

    bound: ApplicationClass
    component: str | None
    time: float
    energy: float | None = None


class Classification(Record):
    """A kernel's own blocks, or the whole application (`kernel` is None).

    `bound` is the class with the largest share of time, `energy_bound` that of energy (None without power), at the
    component of the first of `shares`, which are ordered by time. `time` is in seconds, `energy` in joules. `intensity`
    are flops for each byte that crosses the memory bus, None where there are none of either. `time_balance` (flop/B) is
    the intensity at which flops and bytes take equal times, peak over bandwidth; `energy_balance` (flop/B) that at
    which they take equal energies, joules a byte over joules a flop.
    """

    kernel: str | None
    bound: ApplicationClass
    energy_bound: ApplicationClass | None
    shares: tuple[BoundShare, ...]
    time: float
    energy: float | None
    intensity: float | None
    time_balance: float | None
    energy_balance: float | None

    @property
    def time_distance(self) -> float | None:
        """The intensity over the balance of time: above 1 on the side of arithmetic."""
        return _ratio(self.intensity, self.time_balance)

    @property
    def energy_distance(self) -> float | None:
        """The intensity over the balance of energy: above 1 flops take more energy than bytes."""
        return _ratio(self.intensity, self.energy_balance)


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below
