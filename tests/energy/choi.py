"""EnergyRoofline: the energy roofline in closed form, for a device with constant rates; and its fit to measurements.

Choi, Bedard, Fowler and Vuduc, "A roofline model of energy", IPDPS 2013. W flops and Q bytes, of the intensity I = W/Q,
take the time of the slower and the energy of both:

    T = W * max(t_flop, t_byte / I)
    E = W * (e_flop + e_byte / I) + pi_0 * T
"""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.answers.energy.choi import Fit
from aspenpy.record import Record


class EnergyRoofline(Record):
    """`energy_per_flop` and `energy_per_byte` in joules, `constant_power` in watts, `flop_rate` and `byte_rate` in
    flops and bytes a second."""

    energy_per_flop: float
    energy_per_byte: float
    constant_power: float
    flop_rate: float
    byte_rate: float

    @property
    def time_balance(self) -> float:
        """Flops a byte from which on arithmetic takes longer."""
        return self.flop_rate / self.byte_rate

    @property
    def energy_balance(self) -> float:
        """Flops a byte from which on arithmetic takes more energy, constant power set aside."""
        return self.energy_per_byte / self.energy_per_flop

    @property
    def actual_energy_per_flop(self) -> float:
        """Joules of a flop with the constant power in the time it takes: e_flop + pi_0 * t_flop."""
        return self.energy_per_flop + self.constant_power / self.flop_rate

    @property
    def flop_efficiency(self) -> float:
        """The part of that which goes into the flop itself, 0 to 1."""
        return self.energy_per_flop / self.actual_energy_per_flop

    @property
    def effective_energy_balance(self) -> float:
        """Flops a byte at which half of the greatest efficiency is reached, constant power included: the intensity
        that is I = h * B_e + (1 - h) * max(0, B_t - I), with h the flop's efficiency."""
        share = self.flop_efficiency
        beyond = share * self.energy_balance
        return beyond if beyond >= self.time_balance else (beyond + (1 - share) * self.time_balance) / (2 - share)

    def flops_per_joule(self, intensity: float) -> float:
        """At so many flops a byte."""
        return 1 / (
            self.energy_per_flop + self.energy_per_byte / intensity + self.constant_power / self.rate(intensity)
        )

    def rate(self, intensity: float) -> float:
        """Flops a second."""
        return min(self.flop_rate, intensity * self.byte_rate)

    def power(self, intensity: float) -> float:
        """Watts."""
        return self.rate(intensity) / self.flops_per_joule(intensity)


def mean_error(fitted: Fit, flop_rates: Sequence[float], byte_rates: Sequence[float], watts: Sequence[float]) -> float:
    """The mean of |predicted - measured| / measured."""
    errors = [
        abs(fitted.power(flops, volume) - measured) / measured
        for flops, volume, measured in zip(flop_rates, byte_rates, watts, strict=True)
    ]
    return sum(errors) / len(errors)
