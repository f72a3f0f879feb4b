"""EnergyRoofline: the energy roofline in closed form, for a device with constant rates; and its fit to measurements.

Choi, Bedard, Fowler and Vuduc, "A roofline model of energy", IPDPS 2013. W flops and Q bytes, of the intensity I = W/Q,
take the time of the slower and the energy of both:

    T = W * max(t_flop, t_byte / I)
    E = W * (e_flop + e_byte / I) + pi_0 * T
"""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.record import Record


class Fit(Record):
    """Constants that describe measured watts: joules a flop and a byte, and constant watts."""

    energy_per_flop: float
    energy_per_byte: float
    constant_power: float

    def power(self, flop_rate: float, byte_rate: float) -> float:
        """Watts at so many flops and bytes a second."""
        return self.constant_power + self.energy_per_flop * flop_rate + self.energy_per_byte * byte_rate


def fit(flop_rates: Sequence[float], byte_rates: Sequence[float], watts: Sequence[float]) -> Fit:
    """The constants with the least squares of relative errors, for rates a second. Raises ValueError for fewer than
    three measurements, watts that are not positive, and rates that do not tell the three constants apart."""
    import numpy

    if not len(watts) == len(flop_rates) == len(byte_rates) >= 3:
        raise ValueError("a fit needs as many flop rates and byte rates as watts, and three of each at least")
    measured = numpy.asarray(watts, dtype=float)
    if not (measured > 0).all():
        raise ValueError("watts have to be positive")
    columns = [numpy.asarray(flop_rates, float), numpy.asarray(byte_rates, float), numpy.ones(len(measured))]
    sizes = [abs(column).max() or 1.0 for column in columns]
    scaled = numpy.stack([column / size / measured for column, size in zip(columns, sizes, strict=True)], axis=1)
    found, _, rank, _ = numpy.linalg.lstsq(scaled, numpy.ones(len(measured)), rcond=1e-10)
    if rank < 3:
        raise ValueError("the rates do not tell the three constants apart: measure at other intensities")
    flop, byte, constant = (float(value / size) for value, size in zip(found, sizes, strict=True))
    return Fit(flop, byte, constant)


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
