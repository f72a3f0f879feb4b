"""Uncertain: between which values a run lies, by what is not known of the machine and by the model's own error."""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.sampled import Sampled, sampled

RATES = ("memory_bandwidth", "memory_latency", "network_bandwidth", "network_latency")
DEVIATION = 0.1  # of what a machine attains, where nobody says; clocks and counts are known

ERROR = 0.12
STATED_BY = "the median error of 138 kernels on GPUs that the library's rules were compared with (docs/nodes.md)"


class Uncertain:
    """Runtime and energy over samples in which components vary by relative standard `deviations`, and the model's own
    relative `error` with who states it."""

    def __init__(
        self, space: DesignSpace, deviations: Mapping[str, float] | None = None, error: float | None = None
    ) -> None:
        stated = {item.component for item in space.ranges}
        chosen = dict.fromkeys(RATES, DEVIATION) if deviations is None else deviations
        self.deviations = {name: part for name, part in chosen.items() if name in stated}
        self.error = ERROR if error is None else error
        self.stated_by = STATED_BY if error is None else "as the user states it"
        found: tuple[Sampled, Sampled | None] = sampled(space, self.deviations)
        self.runtime, self.energy = found

    @property
    def runtime_ends(self) -> tuple[float, float]:
        """The samples' interval, made wider by the model's error at both ends (s)."""
        return self.runtime.low / (1 + self.error), self.runtime.high * (1 + self.error)
