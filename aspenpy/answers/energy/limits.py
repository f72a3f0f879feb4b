"""Limits: whether an energy stays within a budget, and a power below a cap, and by how much."""

from __future__ import annotations

from typing import Literal

from aspenpy.answers.energy.account import Energy
from aspenpy.record import Record


class Verdict(Record):
    """What is allowed and what is drawn, in joules (`budget`) or watts (`power cap`). `of` names the kernel that draws
    most, or is None for the whole run."""

    limit: Literal["budget", "power cap"]
    allowed: float
    drawn: float
    unit: Literal["J", "W"]
    of: str | None = None

    @property
    def holds(self) -> bool:
        return self.drawn <= self.allowed

    @property
    def left(self) -> float:
        """What is left, in the unit; negative where the limit does not hold."""
        return self.allowed - self.drawn


def within_budget(energy: Energy, joules: float) -> Verdict:
    """Whether the run takes no more energy than that."""
    return Verdict("budget", joules, energy.value, "J")


def below_cap(energy: Energy, watts: float) -> Verdict:
    """Whether no kernel draws more power than that, on average over its own time."""
    name, drawn = strongest(energy)
    return Verdict("power cap", watts, drawn, "W", name)


def strongest(energy: Energy) -> tuple[str | None, float]:
    """The kernel that draws most power, and its watts; nothing for a run that takes no time."""
    powers = {kernel.name: kernel.power for kernel in energy.kernels if kernel.power is not None}
    if not powers:
        return None, 0.0
    name = max(powers, key=powers.__getitem__)
    return name, powers[name]
